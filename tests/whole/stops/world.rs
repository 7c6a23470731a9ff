//! Boards with players, and a daemon that is stopped and started again. In virtual time.

use core::time::Duration;
use std::collections::VecDeque;
use std::fmt::Write;

use kiebitz::config::Config;
use kiebitz_game::events::Event;
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::emulator::hand::{Chance, Sitting, ms};
use kiebitz_hardware::emulator::{BoardSettings, EmulatedBus, EmulatedBusSettings};
use kiebitz_hardware::{LineSettings, Timestamp};
use kiebitz_protocol::BusAddress;

use super::{Round, Stop, Wiring};
use crate::watcher::{Port, Watcher};
use kiebitz_workbench::hands::hall::OPENING;
use kiebitz_workbench::soak::table::{self, Dealer, Pace, Table};
use kiebitz_workbench::soak::verdict;

/// Length of games. Some of them must end between two stops.
const PACE: Pace = Pace {
    thinking: 1..6,
    plies: 8..50,
};
/// Time after the round within which everything must be published.
const AFTERWARDS: Duration = Duration::from_secs(60);
/// Duration of a commit to the journal.
const COMMIT: Duration = Duration::from_millis(20);

/// The boards with their players.
pub(super) enum Hall {
    Ports(Vec<Table>),
    Line {
        bus: Box<EmulatedBus>,
        seats: Vec<(BusAddress, Sitting, Dealer)>,
        opens_at: Option<Timestamp>,
    },
}

pub(super) struct World {
    round: Round,
    pub(super) now: Timestamp,
    pub(super) hall: Hall,
    pub(super) watcher: Watcher,
    chance: Chance,
    pub(super) stops: VecDeque<Stop>,
    starts_at: Option<Timestamp>,
    commit_at: Option<Timestamp>,
}

/// Downtimes in seconds: a few for a restart by systemd, minutes for a restart by hand.
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
    pub(super) fn new(round: Round, directory: &tempfile::TempDir) -> Self {
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
                // On a bus, every board answers a ping after a delay of its own.
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

    pub(super) fn play_to_the_end(&mut self) {
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

    pub(super) fn events(&self, nth: usize) -> Vec<Event> {
        verdict::journaled(&self.watcher.journal, &table::name(nth))
    }

    pub(super) fn next_at(&self) -> Option<Timestamp> {
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

    pub(super) fn step(&mut self, now: Timestamp) {
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

    /// Advances boards and players to the current time, and passes their bytes to the daemon.
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

    /// Passes the daemon's bytes to the boards, and closes the ports that it gives up.
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
            // A killed daemon may have written bytes without recording them.
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
            damage.apply(&self.watcher.recordings());
        }
        self.watcher.start(now);
        let mut soon = || Some(now + self.chance.time(ms(10, 1500)));
        match &mut self.hall {
            Hall::Ports(tables) => tables.iter_mut().for_each(|table| table.opens_at = soon()),
            Hall::Line { opens_at, .. } => *opens_at = soon(),
        }
    }
}

pub(super) fn names(boards: usize) -> Config {
    let mut text = String::new();
    for nth in 0..boards {
        let (serial, name) = (table::serial(nth), table::name(nth));
        writeln!(text, "[[board]]\nserial = \"{serial}\"\nname = \"{name}\"").unwrap();
    }
    Config::parse("stops.toml".as_ref(), &text).unwrap()
}
