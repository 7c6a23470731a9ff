//! The daemon is stopped and started again while games begin, go on and end: every game comes out as if it had been there.
//! In virtual time.

#[cfg(target_os = "linux")]
mod day;
mod rebuilt;

use core::time::Duration;
use std::collections::VecDeque;
use std::fmt::Write;
use std::path::Path;

use kiebitz::config::Config;
use kiebitz::events::Event;
use kiebitz::restart::Alone;
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::emulator::hand::{Chance, Sitting, ms};
use kiebitz_hardware::emulator::{BoardSettings, EmulatedBus, EmulatedBusSettings};
use kiebitz_hardware::{LineSettings, Timestamp};
use kiebitz_protocol::BusAddress;

use crate::hands::hall::OPENING;
use crate::soak::table::{self, Dealer, Pace, Table};
use crate::soak::verdict::{self, Published, Wrong};
use crate::watcher::{Port, Watcher};

/// How the boards are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wiring {
    /// Each on a port of its own, which is known to have one board.
    Single,
    /// Each on a port of its own; what is on it has to be found out.
    Auto,
    /// All on one line.
    Bus,
}

/// An end of the daemon.
#[derive(Debug, Clone, Copy)]
struct Stop {
    at: Timestamp,
    /// It is started again after this time.
    down: Duration,
    /// SIGTERM; else SIGKILL.
    terminated: bool,
}

/// A round with stops.
#[derive(Debug, Clone, Copy)]
struct Round {
    seed: u64,
    wiring: Wiring,
    boards: usize,
    lasting: Duration,
    /// Without it, it is how games come out that nothing disturbs.
    stops: bool,
    /// What becomes of the files meanwhile.
    damage: Option<Damage>,
}

/// What happens to a daemon's files while it is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    /// The recordings are gone.
    NoRecordings,
    /// The last kilobyte of every recording is gone.
    ShortRecordings,
    /// The first hundred bytes of each port's last chunks are others.
    OtherRecordings,
}

/// What is left of a round.
struct Outcome {
    dealers: Vec<Dealer>,
    events: Vec<Vec<Event>>,
    alone: Vec<(String, Alone)>,
    stops: Vec<Stop>,
}

/// Games that come to their end between two stops, now and then.
const PACE: Pace = Pace {
    thinking: 1..6,
    plies: 8..50,
};
/// After the round, until everything is published.
const AFTERWARDS: Duration = Duration::from_secs(60);
/// A commit of the journal waits for the disk.
const COMMIT: Duration = Duration::from_millis(20);

/// The boards with their players.
enum Hall {
    Ports(Vec<Table>),
    Line {
        bus: Box<EmulatedBus>,
        seats: Vec<(BusAddress, Sitting, Dealer)>,
        opens_at: Option<Timestamp>,
    },
}

struct World {
    round: Round,
    now: Timestamp,
    hall: Hall,
    watcher: Watcher,
    chance: Chance,
    stops: VecDeque<Stop>,
    starts_at: Option<Timestamp>,
    commit_at: Option<Timestamp>,
}

impl Round {
    fn play(self) -> Outcome {
        let directory = tempfile::tempdir().unwrap();
        let mut world = World::new(self, &directory);
        let stops: Vec<Stop> = world.stops.iter().copied().collect();
        world.play_to_the_end();
        let boards = 0..self.boards;
        let events = boards.map(|nth| world.events(nth)).collect();
        let dealers = match world.hall {
            Hall::Ports(tables) => tables.into_iter().map(|table| table.dealer).collect(),
            Hall::Line { seats, .. } => seats.into_iter().map(|(_, _, dealer)| dealer).collect(),
        };
        Outcome {
            dealers,
            events,
            alone: world.watcher.alone,
            stops,
        }
    }

    /// Plays the round and returns what is wrong.
    fn wrong(self) -> (Outcome, Vec<Wrong>) {
        let outcome = self.play();
        let boards = outcome.dealers.iter().zip(&outcome.events).enumerate();
        let wrong =
            boards.flat_map(|(nth, (dealer, events))| verdict::not_exactly_right(nth, dealer, events));
        let wrong = wrong.collect();
        (outcome, wrong)
    }
}

/// The numbers of a pause are as frequent as the issue of a restart is: seconds for systemd, minutes for people.
const DOWN: [u64; 4] = [2, 20, 65, 300];

fn stops(chance: &mut Chance, round: &Round) -> VecDeque<Stop> {
    let mut at = OPENING + Duration::from_secs(30);
    let mut stops = VecDeque::new();
    while at < OPENING + round.lasting {
        at = at + chance.time(ms(20_000, 150_000));
        let down = Duration::from_secs(chance.pick(DOWN));
        stops.push_back(Stop {
            at,
            down,
            terminated: chance.percent(50),
        });
        at = at + down;
    }
    stops
}

impl World {
    fn new(round: Round, directory: &tempfile::TempDir) -> Self {
        let mut chance = Chance::new(round.seed);
        let settings = match round.wiring {
            Wiring::Single => LineSettings::of(LineMode::Single),
            Wiring::Bus => LineSettings::of(LineMode::Bus),
            Wiring::Auto => LineSettings::default(),
        };
        let port = |nth: usize| Port {
            path: format!("/dev/ttyEMU{nth}"),
            settings: settings.clone(),
        };
        let (hall, ports) = if round.wiring == Wiring::Bus {
            let seed = chance.bits();
            let settings = EmulatedBusSettings {
                seed,
                ..EmulatedBusSettings::default()
            };
            let mut bus = EmulatedBus::new(OPENING, settings);
            let seats = (0..round.boards).map(|nth| {
                let (mut dealer, script) = Dealer::new(nth, PACE, false, &mut chance);
                let begins = OPENING + Duration::from_secs(15);
                let sitting = Sitting::new(begins, dealer.settings(), script);
                // On a bus every board answers a ping at a moment of its own.
                let board = BoardSettings {
                    seed: chance.bits(),
                    ..dealer.board(nth)
                };
                let board = sitting.setting().board(OPENING, board, sitting.standing());
                (bus.attach(OPENING, board).unwrap(), sitting, dealer)
            });
            let seats = seats.collect();
            let hall = Hall::Line {
                bus: Box::new(bus),
                seats,
                opens_at: None,
            };
            (hall, vec![port(0)])
        } else {
            let tables = (0..round.boards).map(|nth| Table::new(OPENING, nth, PACE, false, &mut chance));
            let tables = tables.map(|table| Table {
                opens_at: None,
                ..table
            });
            (
                Hall::Ports(tables.collect()),
                (0..round.boards).map(port).collect(),
            )
        };
        let watcher = Watcher::new(directory.path(), names(round.boards), ports);
        let mut stops = stops(&mut chance, &round);
        if !round.stops {
            stops.clear();
        }
        let mut world = Self {
            round,
            now: OPENING,
            hall,
            watcher,
            chance,
            stops,
            starts_at: None,
            commit_at: None,
        };
        world.start();
        world
    }

    fn play_to_the_end(&mut self) {
        let mut over_at = None;
        while let Some(now) = self.next_at() {
            if self.is_done() && self.stops.is_empty() && self.starts_at.is_none() {
                let over_at = *over_at.get_or_insert(now);
                if now > over_at + AFTERWARDS {
                    break;
                }
            }
            self.step(now);
        }
        self.watcher.keep();
    }

    fn is_done(&self) -> bool {
        match &self.hall {
            Hall::Ports(tables) => tables.iter().all(|table| table.player.is_done()),
            Hall::Line { seats, .. } => seats.iter().all(|(_, sitting, _)| sitting.is_done()),
        }
    }

    fn events(&self, nth: usize) -> Vec<Event> {
        verdict::journaled(&self.watcher.journal, &table::name(nth))
    }

    fn next_at(&self) -> Option<Timestamp> {
        let stop = self.stops.front().map(|stop| stop.at);
        let own = [self.watcher.poll_deadline(), stop, self.starts_at, self.commit_at];
        let boards: Vec<Option<Timestamp>> = match &self.hall {
            Hall::Ports(tables) => tables
                .iter()
                .flat_map(|table| [table.due, table.opens_at])
                .collect(),
            Hall::Line { bus, seats, opens_at } => {
                let players = seats.iter().map(|(_, sitting, _)| sitting.poll_deadline());
                players.chain([bus.poll_deadline(), *opens_at]).collect()
            }
        };
        let all = own.into_iter().chain(boards).flatten();
        all.min().map(|at| at.max(self.now))
    }

    fn step(&mut self, now: Timestamp) {
        self.now = now;
        self.watcher.advance(now);
        if self.commit_at.is_some_and(|at| at <= now) {
            self.watcher.keep();
            self.commit_at = None;
        }
        if let Some(stop) = self.stops.pop_front_if(|stop| stop.at <= now) {
            self.stop(stop);
        }
        if self.starts_at.take_if(|at| *at <= now).is_some() {
            self.start();
        }
        self.play();
        self.serve();
        if self.commit_at.is_none() && self.watcher.unkept() > 0 {
            self.commit_at = Some(now + COMMIT);
        }
    }

    /// Boards and players do what is due, and the daemon hears it.
    fn play(&mut self) {
        let (now, last) = (self.now, OPENING + self.round.lasting);
        match &mut self.hall {
            Hall::Ports(tables) => {
                for (nth, table) in tables.iter_mut().enumerate() {
                    if table.opens_at.take_if(|at| *at <= now).is_some() {
                        self.watcher.open(now, nth);
                    }
                    if table.due.is_none_or(|due| due > now) {
                        continue;
                    }
                    while let Some((_, bytes)) = table.player.poll_transmit(now) {
                        if self.watcher.is_open(nth) {
                            self.watcher.receive(now, nth, &bytes);
                        }
                    }
                    table.follow(now, last);
                }
            }
            Hall::Line { bus, seats, opens_at } => {
                if opens_at.take_if(|at| *at <= now).is_some() {
                    self.watcher.open(now, 0);
                }
                for (address, sitting, dealer) in seats.iter_mut() {
                    while let Some((at, deed)) = sitting.poll_deed(now) {
                        let board = bus.board_mut(at, *address).unwrap();
                        sitting.setting().perform(board, at, deed);
                    }
                    dealer.follow(now, last, sitting);
                }
                while let Some((at, bytes)) = bus.poll_transmit(now) {
                    if self.watcher.is_open(0) {
                        self.watcher.receive(at.max(now), 0, &bytes);
                    }
                }
            }
        }
    }

    /// Writes what the daemon wants written, and closes what it gives up.
    fn serve(&mut self) {
        let now = self.now;
        while let Some((nth, bytes)) = self.watcher.poll_write(now) {
            self.write(nth, &bytes);
            self.watcher.sent(now, nth, &bytes);
        }
        while let Some((nth, reason)) = self.watcher.poll_close() {
            self.watcher.close(now, nth, &reason);
            let soon = Some(now + self.chance.time(ms(100, 3000)));
            match &mut self.hall {
                Hall::Ports(tables) => tables[nth].opens_at = soon,
                Hall::Line { opens_at, .. } => *opens_at = soon,
            }
        }
    }

    fn write(&mut self, nth: usize, bytes: &[u8]) {
        let now = self.now;
        match &mut self.hall {
            Hall::Ports(tables) => {
                tables[nth].player.handle_bytes(now, bytes);
                tables[nth].due = tables[nth].player.poll_deadline();
            }
            Hall::Line { bus, .. } => bus.handle_bytes(now, bytes),
        }
    }

    fn stop(&mut self, stop: Stop) {
        let now = self.now;
        if stop.terminated {
            self.watcher.stop(now);
        } else {
            // What was to be written may have been, without anybody having noted it.
            if self.chance.percent(50)
                && let Some((nth, bytes)) = self.watcher.poll_write(now)
            {
                self.write(nth, &bytes);
            }
            self.watcher.kill();
        }
        self.commit_at = None;
        self.starts_at = Some(now + stop.down);
        match &mut self.hall {
            Hall::Ports(tables) => tables.iter_mut().for_each(|table| table.opens_at = None),
            Hall::Line { opens_at, .. } => *opens_at = None,
        }
    }

    fn start(&mut self) {
        let now = self.now;
        if let Some(damage) = self.round.damage {
            damage.happen(&self.watcher.recordings());
        }
        self.watcher.start(now);
        let mut soon = || Some(now + self.chance.time(ms(10, 1500)));
        match &mut self.hall {
            Hall::Ports(tables) => tables.iter_mut().for_each(|table| table.opens_at = soon()),
            Hall::Line { opens_at, .. } => *opens_at = soon(),
        }
    }
}

fn names(boards: usize) -> Config {
    let mut text = String::new();
    for nth in 0..boards {
        let (serial, name) = (table::serial(nth), table::name(nth));
        writeln!(text, "[[board]]\nserial = \"{serial}\"\nname = \"{name}\"").unwrap();
    }
    Config::parse("stops.toml".as_ref(), &text).unwrap()
}

/// At most this many games in a thousand may come out otherwise than without the stops: those whose last ply nobody can
/// tell from the pieces being set up, because what came between was not seen, and on a bus not kept by the board.
const MAX_OTHERWISE: [(Wiring, usize); 3] = [(Wiring::Single, 10), (Wiring::Auto, 10), (Wiring::Bus, 25)];

/// Rounds with stops beside the same rounds without.
fn rounds(wiring: Wiring) {
    let (mut games, mut stops, mut otherwise) = (0, 0, Vec::new());
    for seed in 1..=5 {
        let round = Round {
            seed,
            wiring,
            boards: 12,
            lasting: Duration::from_secs(1500),
            stops: true,
            damage: None,
        };
        let (outcome, wrong) = round.wrong();
        let (calm, known) = Round {
            stops: false,
            ..round
        }
        .wrong();
        assert_eq!(outcome.alone, [], "every restart is a replay");
        games += outcome
            .dealers
            .iter()
            .map(|dealer| dealer.dealt.len())
            .sum::<usize>();
        stops += outcome.stops.len();
        let known: Vec<_> = known.iter().map(|wrong| (wrong.board, &wrong.words)).collect();
        for wrong in wrong {
            if known.contains(&(wrong.board, &wrong.words)) {
                continue;
            }
            assert!(
                outcome.is_at_a_stop(wrong.at),
                "seed {seed}: {} has nothing to do with a stop",
                wrong.words
            );
            otherwise.push(format!("seed {seed}, board-{}: {}", wrong.board + 1, wrong.words));
        }
        otherwise.extend(other_results(&outcome, &calm).map(|words| format!("seed {seed}: {words}")));
    }
    let allowed = MAX_OTHERWISE.iter().find(|(of, _)| *of == wiring);
    let allowed = allowed.map_or(0, |(_, thousandths)| games * thousandths / 1000);
    assert!(
        otherwise.len() <= allowed,
        "{} of {games} games, {stops} stops\n{}",
        otherwise.len(),
        otherwise.join("\n")
    );
}

/// Games with the same moves and another result.
fn other_results(outcome: &Outcome, calm: &Outcome) -> impl Iterator<Item = String> {
    let boards = outcome.events.iter().zip(&calm.events);
    boards.flat_map(|(events, calm)| {
        let (games, calm) = (verdict::games(events), verdict::games(calm));
        let pairs = games.into_iter().filter_map(move |game| {
            let same = |other: &&Published| {
                let moves =
                    |game: &Published| game.moves.iter().map(|(_, m)| m.san.clone()).collect::<Vec<_>>();
                other.id == game.id && moves(other) == moves(&game)
            };
            let other = calm.iter().find(same)?;
            let (result, without) = (game.result, other.result);
            (result != without).then(|| format!("{}: {result:?} instead of {without:?}", game.id))
        });
        pairs.collect::<Vec<_>>()
    })
}

impl Outcome {
    /// Whether a stop had to do with what was played at that time.
    fn is_at_a_stop(&self, at: Timestamp) -> bool {
        self.stops.iter().any(|stop| {
            let from = stop.at.saturating_sub(BEFORE);
            (from..stop.at + stop.down + AFTER).contains(&at)
        })
    }
}

/// What stood on a board before a stop, and what was thought about after it, belongs to it.
const BEFORE: Duration = Duration::from_secs(10);
const AFTER: Duration = Duration::from_secs(90);

#[test]
fn single_boards_are_stopped_anywhere_in_their_games() {
    rounds(Wiring::Single);
}

#[test]
fn boards_on_ports_of_unknown_mode_are_stopped_anywhere_in_their_games() {
    rounds(Wiring::Auto);
}

#[test]
fn boards_on_a_bus_are_stopped_anywhere_in_their_games() {
    rounds(Wiring::Bus);
}

impl Damage {
    fn happen(self, recordings: &Path) {
        let Ok(files) = std::fs::read_dir(recordings) else {
            return;
        };
        for file in files {
            let path = file.unwrap().path();
            let mut bytes = std::fs::read(&path).unwrap();
            match self {
                Self::NoRecordings => std::fs::remove_file(&path).unwrap(),
                Self::ShortRecordings => {
                    bytes.truncate(bytes.len().saturating_sub(1000));
                    std::fs::write(&path, &bytes).unwrap();
                }
                Self::OtherRecordings => {
                    let at = bytes.len() / 2;
                    bytes.iter_mut().skip(at).take(100).for_each(|byte| *byte ^= 0x5a);
                    std::fs::write(&path, &bytes).unwrap();
                }
            }
        }
    }
}

/// The boards go on from the journal, which says so: numbers go on, and every game that no stop touched is right.
fn damaged(damage: Damage) {
    let round = Round {
        seed: 7,
        wiring: Wiring::Single,
        boards: 6,
        lasting: Duration::from_secs(900),
        stops: true,
        damage: Some(damage),
    };
    let (outcome, wrong) = round.wrong();
    assert!(!outcome.alone.is_empty(), "that is noticed");
    for events in &outcome.events {
        let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
        assert!(numbers.is_sorted_by(|one, next| *next == one + 1), "{numbers:?}");
        assert!(events.is_sorted_by_key(|event| event.ts), "time goes on");
    }
    for wrong in wrong {
        assert!(outcome.is_at_a_stop(wrong.at), "{}", wrong.words);
    }
}

#[test]
fn boards_go_on_from_the_journal_where_recordings_are_gone() {
    damaged(Damage::NoRecordings);
}

#[test]
fn boards_go_on_from_the_journal_where_recordings_are_short() {
    damaged(Damage::ShortRecordings);
}

#[test]
fn boards_go_on_from_the_journal_where_recordings_are_damaged() {
    damaged(Damage::OtherRecordings);
}
