//! The status in the text format of Prometheus.

use core::fmt::Write;

use kiebitz_hardware::Timestamp;

use super::{BoardSummary, Status};
use crate::outputs::mqtt::{DeliveryState, Machine, StorageState};

/// Media type of [`metrics`].
pub(crate) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A metric without labels: name, type, help text, and value if known.
type Number = (&'static str, &'static str, &'static str, Option<f64>);

const GAUGE: &str = "gauge";
const COUNTER: &str = "counter";

pub(crate) fn metrics(status: &Status) -> String {
    let mut text = MetricsText::default();
    let version = format!("{{version=\"{}\"}}", escaped(status.version));
    text.metric("info", GAUGE, "Version of the program.", [(version, 1.0)]);
    let started = Some(seconds(status.started));
    text.numbers([(
        "start_time_seconds",
        GAUGE,
        "Start time, in seconds since 1970.",
        started,
    )]);
    text.numbers(storage(&status.daemon.storage));
    if let Some(connected) = status.broker {
        text.numbers(delivery(connected, &status.daemon.delivery));
    }
    text.numbers(machine(&status.daemon.machine));
    let outputs = status.daemon.outputs.iter();
    let health = outputs.map(|(name, report)| {
        let label = format!("{{output=\"{}\"}}", escaped(name));
        (label, f64::from(u8::from(report.ok)))
    });
    text.metric("output_ok", GAUGE, "Whether an output works.", health);
    boards(&mut text, &status.boards);
    text.0
}

fn storage(storage: &StorageState) -> [Number; 4] {
    let (journal, recordings) = (&storage.journal, &storage.recordings);
    let [waiting, lost] = [journal.waiting, journal.lost].map(|events| Some(events as f64));
    [
        (
            "journal_ok",
            GAUGE,
            "Whether the journal stores events.",
            number_of(journal.ok),
        ),
        (
            "journal_waiting_events",
            GAUGE,
            "Events that are not stored yet.",
            waiting,
        ),
        (
            "journal_lost_events_total",
            COUNTER,
            "Events that will never be stored.",
            lost,
        ),
        (
            "recordings_ok",
            GAUGE,
            "Whether bytes are recorded.",
            number_of(recordings.ok),
        ),
    ]
}

fn delivery(connected: bool, delivery: &DeliveryState) -> [Number; 5] {
    let [queued, behind] = [delivery.queued, delivery.behind].map(|count| Some(count as f64));
    let took = delivery.all_ms as f64 / 1000.0;
    let took_help = "Total time from the events to their acknowledgement by the broker.";
    [
        (
            "broker_connected",
            GAUGE,
            "Whether the broker is connected.",
            number_of(connected),
        ),
        (
            "outbox_queued_messages",
            GAUGE,
            "Messages not yet acknowledged by the broker.",
            queued,
        ),
        (
            "outbox_behind_boards",
            GAUGE,
            "Boards with events waiting in the journal for the broker.",
            behind,
        ),
        (
            "delivered_events_total",
            COUNTER,
            "Events acknowledged by the broker.",
            Some(delivery.events as f64),
        ),
        ("delivery_seconds_total", COUNTER, took_help, Some(took)),
    ]
}

fn machine(machine: &Machine) -> [Number; 5] {
    let [free, size] = [
        machine.disk.map(|disk| disk.free_bytes),
        machine.disk.map(|disk| disk.size_bytes),
    ];
    let bytes = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64);
    let weak = machine.under_voltage.and_then(number_of);
    [
        (
            "disk_free_bytes",
            GAUGE,
            "Free space on the journal's disk.",
            bytes(free),
        ),
        (
            "disk_size_bytes",
            GAUGE,
            "Size of the journal's disk.",
            bytes(size),
        ),
        (
            "temperature_celsius",
            GAUGE,
            "Temperature of the computer.",
            machine.temperature_c,
        ),
        (
            "under_voltage",
            GAUGE,
            "Whether the power supply is too weak.",
            weak,
        ),
        (
            "memory_bytes",
            GAUGE,
            "Memory used by kiebitz.",
            bytes(machine.memory_bytes),
        ),
    ]
}

fn boards(text: &mut MetricsText, boards: &[BoardSummary]) {
    let mut each = |name, kind, help, value: &dyn Fn(&BoardSummary) -> Option<f64>| {
        text.board(name, kind, help, boards, value);
    };
    each("connected", GAUGE, "Whether the board answers.", &|board| {
        number_of(board.connected)
    });
    each("playing", GAUGE, "Whether a game is being played.", &|board| {
        number_of(board.playing)
    });
    each("clock", GAUGE, "Whether a clock answers.", &|board| {
        number_of(board.clock)
    });
    each(
        "battery_percent",
        GAUGE,
        "Charge of the board's own battery.",
        &|board| board.battery.map(f64::from),
    );
    each(
        "heard_seconds",
        GAUGE,
        "Time of the last message from the board, in seconds since 1970.",
        &|board| board.line.heard.map(seconds),
    );
    each(
        "messages_total",
        COUNTER,
        "Complete messages from the board.",
        &|board| Some(board.line.messages as f64),
    );
    each(
        "damaged_bytes_total",
        COUNTER,
        "Bytes from the board that belong to no complete message.",
        &|board| Some(board.line.damaged_bytes as f64),
    );
}

fn number_of(value: bool) -> Option<f64> {
    Some(f64::from(u8::from(value)))
}

fn seconds(at: Timestamp) -> f64 {
    at.as_micros() as f64 / 1e6
}

#[derive(Default)]
struct MetricsText(String);

impl MetricsText {
    fn metric(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (String, f64)>,
    ) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        let _ = writeln!(
            self.0,
            "# HELP kiebitz_{name} {help}\n# TYPE kiebitz_{name} {kind}"
        );
        for (labels, value) in samples {
            let _ = writeln!(self.0, "kiebitz_{name}{labels} {value}");
        }
    }

    fn numbers(&mut self, numbers: impl IntoIterator<Item = Number>) {
        for (name, kind, help, value) in numbers {
            self.metric(name, kind, help, value.map(|value| (String::new(), value)));
        }
    }

    fn board(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        boards: &[BoardSummary],
        value: impl Fn(&BoardSummary) -> Option<f64>,
    ) {
        let sample = |board: &BoardSummary| {
            let labels = format!("{{board=\"{}\"}}", escaped(&board.board));
            value(board).map(|value| (labels, value))
        };
        self.metric(
            &format!("board_{name}"),
            kind,
            help,
            boards.iter().filter_map(sample),
        );
    }
}

/// Escapes backslash, quotation mark and line feed in a label's value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
