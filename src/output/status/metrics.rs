//! The status for Prometheus, in its text format.

use core::fmt::{Display, Write};

use kiebitz_hardware::Timestamp;

use super::{BoardStatus, Status};

/// The media type of [`metrics`].
pub(crate) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All numbers of a status.
pub(crate) fn metrics(status: &Status) -> String {
    let mut text = Text::default();
    let version = format!("{{version=\"{}\"}}", escaped(status.version));
    text.metric("info", "gauge", "The program's version.", [(version, 1)]);
    let (storage, delivery) = (&status.daemon.storage, &status.daemon.delivery);
    let number = |value: bool| u64::from(value);
    text.one(
        "start_time_seconds",
        "gauge",
        "When it was started, since 1970.",
        seconds(status.started),
    );
    text.one(
        "journal_ok",
        "gauge",
        "Whether the journal takes events.",
        number(storage.journal.ok),
    );
    text.one(
        "journal_waiting_events",
        "gauge",
        "Events that are not kept yet.",
        storage.journal.waiting,
    );
    text.one(
        "journal_lost_events_total",
        "counter",
        "Events that are never kept.",
        storage.journal.lost,
    );
    text.one(
        "recordings_ok",
        "gauge",
        "Whether bytes are recorded.",
        number(storage.recordings.ok),
    );
    if let Some(connected) = status.broker {
        text.one(
            "broker_connected",
            "gauge",
            "Whether the broker is connected.",
            number(connected),
        );
        text.one(
            "outbox_queued_messages",
            "gauge",
            "Messages that the broker does not have.",
            delivery.queued,
        );
        text.one(
            "outbox_behind_boards",
            "gauge",
            "Boards of which events wait in the journal.",
            delivery.behind,
        );
        text.one(
            "delivered_events_total",
            "counter",
            "Events that the broker has.",
            delivery.events,
        );
        text.one(
            "delivery_seconds_total",
            "counter",
            "How long they took, from what happened to the broker's word.",
            delivery.all_ms as f64 / 1000.0,
        );
    }
    let machine = &status.daemon.machine;
    let disk = machine.disk;
    text.perhaps(
        "disk_free_bytes",
        "Room on the journal's disk.",
        disk.map(|disk| disk.free_bytes),
    );
    text.perhaps("disk_size_bytes", "Its size.", disk.map(|disk| disk.size_bytes));
    text.perhaps(
        "temperature_celsius",
        "The computer's temperature.",
        machine.temperature_c,
    );
    text.perhaps(
        "under_voltage",
        "Whether the power supply is too weak.",
        machine.under_voltage.map(number),
    );
    text.perhaps(
        "memory_bytes",
        "What kiebitz has in memory.",
        machine.memory_bytes,
    );
    boards(&mut text, &status.boards);
    text.0
}

fn boards(text: &mut Text, boards: &[BoardStatus]) {
    text.board(
        "connected",
        "gauge",
        "Whether the board answers.",
        boards,
        |board| Some(u64::from(board.connected)),
    );
    text.board("playing", "gauge", "Whether a game is played.", boards, |board| {
        Some(u64::from(board.playing))
    });
    text.board("clock", "gauge", "Whether a clock answers.", boards, |board| {
        Some(u64::from(board.clock))
    });
    text.board(
        "battery_percent",
        "gauge",
        "Charge of the board's own battery.",
        boards,
        |board| board.battery,
    );
    text.board(
        "heard_seconds",
        "gauge",
        "When something was last heard of it, since 1970.",
        boards,
        |board| board.line.heard.map(seconds),
    );
    text.board(
        "messages_total",
        "counter",
        "Messages that came whole.",
        boards,
        |board| Some(board.line.messages),
    );
    text.board(
        "damaged_bytes_total",
        "counter",
        "Bytes of damaged messages, and of none.",
        boards,
        |board| Some(board.line.damaged_bytes),
    );
}

fn seconds(at: Timestamp) -> f64 {
    at.as_micros() as f64 / 1e6
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn metric<V: Display>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (String, V)>,
    ) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.0,
            "# HELP kiebitz_{name} {help}\n# TYPE kiebitz_{name} {kind}"
        );
        for (labels, value) in samples {
            let _ = writeln!(self.0, "kiebitz_{name}{labels} {value}");
        }
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.metric(name, kind, help, [(String::new(), value)]);
    }

    fn perhaps(&mut self, name: &str, help: &str, value: Option<impl Display>) {
        self.metric(name, "gauge", help, value.map(|value| (String::new(), value)));
    }

    fn board<V: Display>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        boards: &[BoardStatus],
        value: impl Fn(&BoardStatus) -> Option<V>,
    ) {
        let sample = |board: &BoardStatus| {
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

/// A label's value: backslash, quotation mark and line feed are escaped.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
