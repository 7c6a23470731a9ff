//! Boards on pseudo-terminals with players, and their faults.

use core::future::poll_fn;
use core::task::Poll;
use core::time::Duration;
use std::collections::VecDeque;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use kiebitz::system_time::LiveTime;
use kiebitz::tools::emulate::EmulatedPort;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::emulator::hand::Chance;

use super::daemon::{self, Daemon};
use super::{Broker, Soak};
use kiebitz_workbench::soak::faults::{Fault, Plan};
use kiebitz_workbench::soak::table::{Pace, Table};

/// The boards, in real time.
pub(super) struct Room {
    tables: Vec<Table>,
    /// `None` while the cable is unplugged.
    ports: Vec<Option<EmulatedPort>>,
    links: Vec<PathBuf>,
    faults: VecDeque<(Timestamp, Fault)>,
    began: Timestamp,
    ends: Timestamp,
    /// No game is dealt after this time.
    last: Timestamp,
    last_check: Timestamp,
    /// Times and kinds of the faults.
    log: String,
    happened: [usize; 4],
    /// Whether every third end of the daemon is an orderly stop. It blocks the room while the daemon waits for its
    /// broker.
    ends_orderly: bool,
}

/// Short games, which end within the soak.
const PACE: Pace = Pace {
    thinking: 1..2,
    plies: 8..24,
};
/// Longest time that a cable stays unplugged, in milliseconds.
const LONGEST_OUT: u64 = 12_000;
/// A line with 9600 baud transfers two bytes in this time.
const TICK: Duration = Duration::from_millis(2);
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

impl Room {
    pub(super) fn new(soak: Soak, time: &LiveTime, directory: &Path) -> Self {
        let mut chance = Chance::new(soak.seed);
        let began = time.now();
        let length = Duration::from_secs(60 * u64::from(soak.minutes));
        let tables = (0..soak.boards).map(|nth| Table::new(began, nth, PACE, true, &mut chance));
        let tables: Vec<Table> = tables.collect();
        let links: Vec<PathBuf> = (0..soak.boards).map(|nth| daemon::link(directory, nth)).collect();
        let ports = links
            .iter()
            .map(|link| Some(EmulatedPort::open(Some(link)).unwrap()))
            .collect();
        // All faults end before the last game does.
        let troubled = (began + START, length.saturating_sub(START + QUIET));
        let mut faults =
            VecDeque::from(
                soak.plan()
                    .schedule(&mut chance, soak.boards, LONGEST_OUT, troubled),
            );
        faults.push_front((began, Fault::Start));
        Self {
            tables,
            ports,
            links,
            faults,
            began,
            ends: began + length,
            last: began + length.saturating_sub(LAST_DEALT),
            last_check: began,
            log: String::new(),
            happened: [0; 4],
            ends_orderly: soak.broker == Broker::Steady,
        }
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter()
    }

    pub(super) fn since_start(&self, at: Timestamp) -> Duration {
        at.saturating_duration_since(self.began)
    }

    /// Whether the time is over and all games have ended.
    pub(super) fn is_over(&self, time: &LiveTime) -> bool {
        let done = self.tables.iter().all(|table| table.player.is_done());
        done && self.faults.is_empty() && time.now() >= self.ends
    }

    pub(super) fn report(&self) -> String {
        let games: usize = self.tables.iter().map(|table| table.dealt.len()).sum();
        let plies: usize = self.tables.iter().map(|table| table.played.len()).sum();
        let [unplugs, stops, bursts, silences] = self.happened;
        format!(
            "{games} games, {plies} plies; {unplugs} unplugs, {stops} stops, {bursts} bursts, {silences} silences;"
        )
    }

    /// Faults, one on each line.
    pub(super) fn log(&self) -> &str {
        &self.log
    }

    /// Checks that all planned faults happened.
    pub(super) fn all_happened(&self, plan: Plan) {
        let planned = [plan.unplugs, plan.restarts, plan.bursts, plan.silences];
        assert_eq!(self.happened, planned);
    }

    pub(super) async fn play_for(&mut self, time: &LiveTime, daemon: &mut Daemon, lasting: Duration) {
        let end = time.now() + lasting;
        while time.now() < end {
            self.advance(time, daemon).await;
        }
    }

    /// Advances boards, players and faults to the current time, then yields for a moment.
    pub(super) async fn advance(&mut self, time: &LiveTime, daemon: &mut Daemon) {
        let now = time.now();
        while let Some((at, fault)) = self.faults.pop_front_if(|(at, _)| *at <= now) {
            self.play(at);
            self.apply_fault(at, fault, daemon);
        }
        self.play(now);
        for nth in 0..self.tables.len() {
            while let Some(bytes) = self.written(nth).await {
                self.tables[nth].player.handle_bytes(now, &bytes);
            }
        }
        self.play(now);
        if now >= self.last_check + CHECK_INTERVAL {
            self.last_check = now;
            daemon.measure();
            for port in self.ports.iter_mut().flatten() {
                port.maintain(now).unwrap();
            }
        }
        time.until(now + TICK).await;
    }

    /// Bytes that the host has written to a board, if any.
    async fn written(&mut self, nth: usize) -> Option<Vec<u8>> {
        let port = self.ports[nth].as_ref()?;
        let mut buffer = [0; 64];
        let read = poll_fn(|cx| Poll::Ready(port.poll_read(cx, &mut buffer))).await;
        match read {
            Poll::Ready(read) => Some(buffer[..read.unwrap()].to_vec()),
            Poll::Pending => None,
        }
    }

    /// Advances the players and sends the bytes of their boards.
    fn play(&mut self, now: Timestamp) {
        for (table, port) in self.tables.iter_mut().zip(&mut self.ports) {
            table.due = table.player.poll_deadline();
            while let Some(due) = table.due.filter(|due| *due <= now) {
                while let Some((_, bytes)) = table.player.poll_transmit(due) {
                    let bytes = if table.garbage {
                        table.damaged(&bytes)
                    } else {
                        bytes
                    };
                    if let Some(port) = port {
                        port.send(&bytes).unwrap();
                    }
                }
                table.follow(due, self.last);
            }
        }
    }

    fn apply_fault(&mut self, now: Timestamp, fault: Fault, daemon: &mut Daemon) {
        writeln!(self.log, "{:7.3} {fault:?}", self.since_start(now).as_secs_f64()).unwrap();
        match fault {
            Fault::Unplug(nth) => {
                self.happened[0] += 1;
                self.tables[nth].player.unplug(now);
                self.ports[nth] = None;
            }
            Fault::Plug(nth) => {
                self.tables[nth].player.plug(now, has_own_power(nth));
                self.ports[nth] = Some(EmulatedPort::open(Some(&self.links[nth])).unwrap());
            }
            Fault::Garbage(nth) => {
                self.happened[2] += 1;
                self.tables[nth].garbage = true;
            }
            Fault::Clean(nth) => self.tables[nth].garbage = false,
            Fault::Silent(nth) => {
                self.happened[3] += 1;
                self.tables[nth].player.silence(now, true);
            }
            Fault::Heard(nth) => self.tables[nth].player.silence(now, false),
            Fault::Stop => {
                self.happened[1] += 1;
                if self.ends_orderly && self.happened[1].is_multiple_of(3) {
                    // A signal in the first milliseconds kills the process, as it has no handler yet.
                    assert!(matches!(daemon.stop(), Some(0) | None));
                } else {
                    daemon.kill();
                }
            }
            Fault::Start => daemon.start(),
        }
    }
}

/// Every other board has its own power, so it keeps its memory while the cable is unplugged.
const fn has_own_power(nth: usize) -> bool {
    nth.is_multiple_of(2)
}

/// Time before the first fault, in which boards are found.
const START: Duration = Duration::from_secs(8);
/// Time without faults at the end.
const QUIET: Duration = Duration::from_secs(8);
/// Approximate duration of two games: the next game is dealt when a game begins.
const LAST_DEALT: Duration = Duration::from_secs(80);
