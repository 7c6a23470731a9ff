//! A look at the boards of a bus that leaves no trace.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use kiebitz_hardware::{BusLine, BusSettings, Identity, Observation, Observed, Timestamp};
use kiebitz_protocol::{BusAddress, BusAnswer, BusCommand, BusCommandKind, BusData, BusDecoder, ClockReport};

/// Finds the boards of a bus and asks each for version, clock and pieces, again and again.
///
/// It never asks for changes: a board forgets them once it has told them, and a daemon that is started afterwards would
/// miss them. So a [`BusLine`] only searches, and what it would poll is left to this.
#[derive(Debug)]
pub(super) struct BusLook {
    phase: Phase,
    decoder: BusDecoder,
    boards: BTreeSet<BusAddress>,
    observations: VecDeque<(BusAddress, Observed)>,
    /// Every board was asked for everything at least once.
    pub(super) complete: bool,
    search_due: Timestamp,
    opened_at: Timestamp,
    close: Option<&'static str>,
}

#[derive(Debug)]
enum Phase {
    Search(Box<BusLine>),
    Ask(Round),
    Rest { until: Timestamp },
}

/// The questions of one round.
#[derive(Debug, Default)]
struct Round {
    waiting: VecDeque<BusCommand>,
    asked: Option<Asked>,
    /// How many questions in a row each board has left without an answer.
    unanswered: BTreeMap<BusAddress, u32>,
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    command: BusCommand,
    /// When the answer is no longer waited for; `None` before the question is written.
    over_at: Option<Timestamp>,
    tries: u32,
}

impl BusLook {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Rest {
                until: Timestamp::from_micros(i64::MAX),
            },
            decoder: BusDecoder::new(),
            boards: BTreeSet::new(),
            observations: VecDeque::new(),
            complete: false,
            search_due: Timestamp::from_micros(i64::MAX),
            opened_at: Timestamp::from_micros(i64::MAX),
            close: None,
        }
    }

    pub(super) fn handle_opened(&mut self, now: Timestamp) {
        *self = Self::new();
        self.opened_at = now;
        self.search(now);
    }

    pub(super) fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        match &mut self.phase {
            Phase::Search(line) => line.handle_bytes(now, bytes),
            Phase::Ask(round) => {
                if let Some(over_at) = round.asked.as_mut().and_then(|asked| asked.over_at.as_mut()) {
                    *over_at = (*over_at).max(now + GAP);
                }
                self.hear(now, bytes);
            }
            Phase::Rest { .. } => {}
        }
    }

    pub(super) fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]) {
        match &mut self.phase {
            Phase::Search(line) => line.handle_sent(now, bytes),
            Phase::Ask(round) => {
                if let Some(asked) = &mut round.asked {
                    asked.over_at = Some(now + TIME_OUT);
                }
            }
            Phase::Rest { .. } => {}
        }
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        match &self.phase {
            Phase::Search(line) => line.poll_deadline(),
            Phase::Ask(round) => match round.asked {
                Some(asked) => asked.over_at,
                None => Some(self.opened_at),
            },
            Phase::Rest { until } => Some(*until),
        }
    }

    /// The next question to write.
    pub(super) fn poll_transmit(&mut self, now: Timestamp) -> Option<Vec<u8>> {
        if let Phase::Search(line) = &mut self.phase {
            line.handle_deadline(now);
            if self.boards.is_empty() && now.saturating_duration_since(self.opened_at) >= NOBODY_TIME {
                self.close = Some(NOBODY);
                self.phase = Phase::Rest {
                    until: Timestamp::from_micros(i64::MAX),
                };
                return None;
            }
            let bytes = line.poll_transmit(now)?;
            if searches(&bytes) {
                return Some(bytes);
            }
            // The search is over: this was the first question of the polling.
            let found: BTreeSet<BusAddress> = line.boards().collect();
            self.begin(now, found);
        }
        if let Phase::Rest { until } = self.phase
            && until <= now
        {
            if self.search_due <= now {
                self.search(now);
                return self.poll_transmit(now);
            }
            self.ask(&[BusCommandKind::Board, BusCommandKind::Clock]);
        }
        self.next_question(now)
    }

    /// Why the port is to be closed, told once.
    pub(super) fn poll_close(&mut self) -> Option<String> {
        self.close.take().map(str::to_owned)
    }

    pub(super) fn poll_observation(&mut self) -> Option<(BusAddress, Observed)> {
        self.observations.pop_front()
    }

    fn search(&mut self, now: Timestamp) {
        let mut line = BusLine::polling(BusSettings::default());
        line.handle_opened(now);
        self.phase = Phase::Search(Box::new(line));
    }

    /// The search has found these boards: each is asked what it is from now on.
    fn begin(&mut self, now: Timestamp, found: BTreeSet<BusAddress>) {
        let left: Vec<BusAddress> = self.boards.difference(&found).copied().collect();
        for address in left {
            self.leave(now, address);
        }
        for address in &found {
            if self.boards.insert(*address) {
                self.tell(now, *address, Observation::Opened);
                self.identify(now, *address, None);
            }
        }
        self.search_due = now + SEARCH_PERIOD;
        self.ask(&[
            BusCommandKind::Version,
            BusCommandKind::Board,
            BusCommandKind::Clock,
        ]);
    }

    fn ask(&mut self, kinds: &[BusCommandKind]) {
        let boards = self.boards.iter();
        let waiting = boards.flat_map(|address| {
            kinds.iter().map(|kind| BusCommand {
                kind: *kind,
                address: *address,
            })
        });
        self.phase = Phase::Ask(Round {
            waiting: waiting.collect(),
            ..Round::default()
        });
    }

    fn next_question(&mut self, now: Timestamp) -> Option<Vec<u8>> {
        let Phase::Ask(round) = &mut self.phase else {
            return None;
        };
        if let Some(asked) = &mut round.asked {
            if asked.over_at.is_none_or(|over_at| now < over_at) {
                return None;
            }
            self.decoder.reset();
            if asked.tries < MOST_TRIES {
                (asked.tries, asked.over_at) = (asked.tries + 1, None);
                return Some(asked.command.encode().to_vec());
            }
            let address = asked.command.address;
            round.asked = None;
            let unanswered = round.unanswered.entry(address).or_default();
            *unanswered += 1;
            // Old boards do not tell their version in the form known; one that owes two answers is not there.
            if *unanswered >= 2 {
                round.waiting.retain(|command| command.address != address);
                self.leave(now, address);
                return self.next_question(now);
            }
        }
        if let Some(command) = round.waiting.pop_front() {
            round.asked = Some(Asked {
                command,
                over_at: None,
                tries: 1,
            });
            return Some(command.encode().to_vec());
        }
        self.complete = true;
        self.phase = Phase::Rest { until: now + REST };
        None
    }

    fn hear(&mut self, now: Timestamp, bytes: &[u8]) {
        let mut decoder = core::mem::take(&mut self.decoder);
        decoder.feed(bytes, |decoded| {
            if let Ok(answer) = decoded {
                self.take_answer(now, &answer);
            }
        });
        self.decoder = decoder;
    }

    fn take_answer(&mut self, now: Timestamp, answer: &BusAnswer<'_>) {
        let Phase::Ask(round) = &mut self.phase else {
            return;
        };
        let asked = round
            .asked
            .filter(|asked| asked.command.address == answer.address);
        let Some(asked) = asked else { return };
        let address = answer.address;
        let observation = match (asked.command.kind, answer.data) {
            (BusCommandKind::Version, BusData::Version { major, minor }) => {
                Some(Observation::Identified(identity(address, Some((major, minor)))))
            }
            (BusCommandKind::Board, BusData::Board(dump)) => Some(Observation::Board {
                dump,
                not_before: now,
            }),
            (BusCommandKind::Clock, BusData::Clock(ClockReport::Times(times))) => Some(Observation::Clock {
                times,
                not_before: now,
            }),
            (BusCommandKind::Clock, BusData::Clock(ClockReport::Absent(_))) => Some(Observation::ClockAbsent),
            (BusCommandKind::Clock, BusData::Clock(ClockReport::Ack(_))) => None,
            _ => return,
        };
        round.asked = None;
        round.unanswered.remove(&address);
        if let Some(observation) = observation {
            self.tell(now, address, observation);
        }
    }

    fn leave(&mut self, now: Timestamp, address: BusAddress) {
        self.boards.remove(&address);
        let reason = NO_ANSWER.to_owned();
        self.tell(now, address, Observation::Closed { reason });
    }

    fn identify(&mut self, now: Timestamp, address: BusAddress, version: Option<(u8, u8)>) {
        self.tell(now, address, Observation::Identified(identity(address, version)));
    }

    fn tell(&mut self, at: Timestamp, address: BusAddress, observation: Observation) {
        self.observations
            .push_back((address, Observed { at, observation }));
    }
}

fn identity(address: BusAddress, version: Option<(u8, u8)>) -> Identity {
    Identity {
        serial: Some(address.to_string()),
        version,
        ..Identity::default()
    }
}

/// Whether a command serves to find boards. To repeat what it told last does a board no harm.
fn searches(bytes: &[u8]) -> bool {
    let kind = bytes.first().copied().and_then(BusCommandKind::from_id);
    matches!(
        kind,
        Some(BusCommandKind::Ping | BusCommandKind::IgnoreNextPing | BusCommandKind::RepeatChanges)
    )
}

/// A board that has not begun to answer by then will not: 20 ms at most, and the time on the line and in a converter.
const TIME_OUT: Duration = Duration::from_millis(120);
/// An answer goes on without such a gap.
const GAP: Duration = Duration::from_millis(60);
const MOST_TRIES: u32 = 3;
/// Between two rounds.
const REST: Duration = Duration::from_millis(500);
/// How often boards that came or went are looked for.
const SEARCH_PERIOD: Duration = Duration::from_secs(20);
/// Two searches, and the pause between them.
const NOBODY_TIME: Duration = Duration::from_secs(8);
const NOBODY: &str = "no board answers on the bus";
const NO_ANSWER: &str = "the board does not answer on the bus";

#[cfg(test)]
mod tests {
    use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard, EmulatedBus, EmulatedBusSettings};
    use kiebitz_protocol::{Field, Piece, SerialNumber};

    use super::*;

    const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    struct World {
        bus: EmulatedBus,
        look: BusLook,
        now: Timestamp,
        asked: BTreeSet<u8>,
    }

    impl World {
        fn new(boards: u16, settings: EmulatedBusSettings) -> Self {
            let mut bus = EmulatedBus::new(START, settings);
            for number in 1..=boards {
                bus.attach(START, board(number)).unwrap();
            }
            let mut look = BusLook::new();
            look.handle_opened(START);
            let asked = BTreeSet::new();
            let now = START;
            Self {
                bus,
                look,
                now,
                asked,
            }
        }

        fn run(&mut self, seconds: u64) -> Vec<(u16, Observation)> {
            let end = self.now + Duration::from_secs(seconds);
            let mut told = Vec::new();
            while self.now < end {
                while let Some(bytes) = self.look.poll_transmit(self.now) {
                    self.asked.insert(bytes[0]);
                    self.bus.handle_bytes(self.now, &bytes);
                    self.look.handle_sent(self.now, &bytes);
                }
                let due = [self.look.poll_deadline(), self.bus.poll_deadline()];
                let next = due.into_iter().flatten().min().unwrap_or(end);
                self.now = next.clamp(self.now, end);
                while let Some((at, bytes)) = self.bus.poll_transmit(self.now) {
                    self.look.handle_bytes(at, &bytes);
                }
                while let Some((address, observed)) = self.look.poll_observation() {
                    told.push((address.number(), observed.observation));
                }
            }
            told
        }
    }

    fn board(number: u16) -> EmulatedBoard {
        let digits = format!("{number:05}").into_bytes().try_into().unwrap();
        let settings = BoardSettings {
            serial: SerialNumber::new(digits),
            seed: number.into(),
            ..BoardSettings::default()
        };
        EmulatedBoard::new(START, settings)
    }

    fn dumps(told: &[(u16, Observation)]) -> BTreeSet<u16> {
        let dumps = told
            .iter()
            .filter(|(_, what)| matches!(what, Observation::Board { .. }));
        dumps.map(|(number, _)| *number).collect()
    }

    #[test]
    fn every_board_of_a_row_is_found_and_its_changes_are_left_to_others() {
        let mut world = World::new(12, EmulatedBusSettings::default());
        let told = world.run(15);
        assert!(world.look.complete);
        assert_eq!(dumps(&told), (1..=12).collect());
        let versions = told.iter().filter(
            |(_, what)| matches!(what, Observation::Identified(identity) if identity.version == Some((1, 8))),
        );
        assert_eq!(versions.count(), 12);
        world.run(60);
        let kinds = world.asked.iter().map(|id| BusCommandKind::from_id(*id).unwrap());
        for kind in kinds {
            assert!(
                matches!(
                    kind,
                    BusCommandKind::Ping
                        | BusCommandKind::IgnoreNextPing
                        | BusCommandKind::RepeatChanges
                        | BusCommandKind::Version
                        | BusCommandKind::Board
                        | BusCommandKind::Clock
                ),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn damaged_answers_are_asked_for_again() {
        let settings = EmulatedBusSettings {
            damaged_answers: 100,
            ..EmulatedBusSettings::default()
        };
        let told = World::new(6, settings).run(30);
        assert_eq!(dumps(&told), (1..=6).collect());
    }

    #[test]
    fn a_row_without_boards_is_given_up() {
        let mut world = World::new(0, EmulatedBusSettings::default());
        assert_eq!(world.run(7), []);
        assert_eq!(world.look.poll_close(), None);
        world.run(4);
        assert_eq!(world.look.poll_close().as_deref(), Some(NOBODY));
        assert_eq!(world.look.poll_close(), None);
    }

    #[test]
    fn boards_that_come_and_go_are_told_and_changes_are_seen() {
        let mut world = World::new(2, EmulatedBusSettings::default());
        world.run(10);
        let e2 = Field::new(52).unwrap();
        let now = world.now;
        let one = BusAddress::new(1).unwrap();
        world
            .bus
            .board_mut(now, one)
            .unwrap()
            .set(now, e2, Some(Piece::WhitePawn));
        let told = world.run(5);
        let shown = told.iter().any(|(number, what)| {
            *number == 1 && matches!(what, Observation::Board { dump, .. } if dump[52].is_some())
        });
        assert!(shown, "{told:?}");

        world.bus.detach(world.now, one).unwrap();
        world.bus.attach(world.now, board(3)).unwrap();
        let told = world.run(40);
        assert!(
            told.iter()
                .any(|(number, what)| *number == 1 && matches!(what, Observation::Closed { .. }))
        );
        assert!(dumps(&told).contains(&3));
    }
}
