//! All boards of an emulation: who plays what, what goes wrong when, and what there is to report. No I/O.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_game::events::GameResult;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::emulator::hand::{
    Chance, Ending, Setting, Sitting, SittingSettings, Temperament, Truth, ms,
};
use kiebitz_hardware::emulator::{BoardSettings, ClockSide, EmulatedBus, EmulatedBusSettings};
use kiebitz_protocol::{LongSerialNumber, SerialNumber};

use super::fault::{Boards, EmulatedFault, Fault};
use super::games::ScriptedGame;
use super::played_table::PlayedTable;
use super::{Emulation, Hands, Wiring};
use crate::system_time::Speed;

/// Boards with players.
#[derive(Debug)]
pub(super) struct Rehearsal {
    tables: Vec<RehearsalTable>,
    /// The line that all boards share; `None`: each board has its own.
    bus: Option<EmulatedBus>,
    games: Vec<ScriptedGame>,
    chance: Chance,
    /// What goes wrong or is put right, and when; the earliest first.
    faults: VecDeque<(Timestamp, usize, EmulatedFault)>,
    output: VecDeque<(usize, RehearsalOutput)>,
}

/// What happens at a table or on the bus: bytes for the port, and reports for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RehearsalOutput {
    /// Sent by the board, or on the bus.
    Bytes(Vec<u8>),
    /// The cable of a board with its own line was pulled out.
    Unplugged,
    /// It was plugged in again.
    Plugged,
    /// Anything else, in words.
    Words(String),
}

#[derive(Debug)]
struct RehearsalTable {
    played: PlayedTable,
    temperament: Temperament,
    serial: String,
    /// The state of play that was reported last.
    reported: Truth,
    /// When it is due next.
    due: Option<Timestamp>,
}

impl Rehearsal {
    /// `emulation.boards` tables, at each of which the first game is about to begin. `games` has at least one.
    pub(super) fn new(now: Timestamp, emulation: &Emulation, games: Vec<ScriptedGame>) -> Self {
        let mut chance = Chance::new(emulation.seed);
        let mut rehearsal = Self {
            tables: Vec::new(),
            bus: bus(now, emulation, &mut chance),
            games,
            chance,
            faults: VecDeque::new(),
            output: VecDeque::new(),
        };
        let first = match emulation.lines {
            Wiring::Own { .. } => FIRST_SERIAL,
            Wiring::Bus { .. } => 1,
        };
        for nth in 0..emulation.boards {
            let temperament = emulation.hands.of(nth);
            let serial = format!("{:05}", first + nth);
            let board = board(&mut rehearsal.chance, &serial);
            let sitting = sitting(&mut rehearsal.chance, temperament, emulation.speed);
            let Some(game) = rehearsal.games.get(nth % rehearsal.games.len().max(1)) else {
                break;
            };
            let sitting = Sitting::new(now, sitting, game.script.clone());
            let played = match (&mut rehearsal.bus, emulation.lines) {
                (Some(bus), _) => PlayedTable::on_bus(now, board, sitting, bus),
                (None, lines) => {
                    let powered = lines == Wiring::Own { powered: true };
                    Some(PlayedTable::alone(now, board, sitting, powered))
                }
            };
            let Some(played) = played else { break };
            rehearsal.tables.push(RehearsalTable {
                played,
                temperament,
                serial,
                reported: Truth::default(),
                due: Some(now),
            });
        }
        for fault in &emulation.faults {
            rehearsal.schedule(now, fault);
        }
        rehearsal
    }

    /// A table's board and players, in words.
    pub(super) fn describe(&self, table: usize) -> String {
        self.tables.get(table).map_or_else(String::new, |table| {
            format!(
                "serial number {}, {} hands",
                table.serial,
                Hands::name(table.temperament)
            )
        })
    }

    /// Lets something go wrong when its time comes.
    pub(super) fn schedule(&mut self, now: Timestamp, fault: &Fault) {
        let tables = match fault.boards {
            Boards::All => 0..self.tables.len(),
            Boards::One(number) => number - 1..number,
        };
        let at = now + fault.at;
        for table in tables {
            self.queue(at, table, fault.trouble);
            if let (Some(lasts), Some(undone)) = (fault.lasts, fault.trouble.undone()) {
                self.queue(at + lasts, table, undone);
            }
        }
    }

    fn queue(&mut self, at: Timestamp, table: usize, trouble: EmulatedFault) {
        let place = self.faults.partition_point(|(before, ..)| *before <= at);
        self.faults.insert(place, (at, table, trouble));
    }

    /// The host has written these bytes to a table's own line, or to the bus, which is line 0.
    pub(super) fn handle_bytes(&mut self, now: Timestamp, line: usize, bytes: &[u8]) {
        self.advance(now);
        if let Some(bus) = &mut self.bus {
            return bus.handle_bytes(now, bytes);
        }
        let Some(table) = self.tables.get_mut(line) else {
            return;
        };
        if let PlayedTable::Alone { player, .. } = &mut table.played {
            player.handle_bytes(now, bytes);
        }
        table.due = table.played.poll_deadline();
    }

    /// What happened at which table, counted from 0, or was sent on its line; the bus is line 0. The order is that of
    /// time for each table.
    pub(super) fn poll_output(&mut self) -> Option<(usize, RehearsalOutput)> {
        self.output.pop_front()
    }

    /// When [`advance`](Self::advance) is due if no host writes.
    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        let fault = self.faults.front().map(|(at, ..)| *at);
        let bus = self.bus.as_ref().and_then(EmulatedBus::poll_deadline);
        [self.due(), fault, bus].into_iter().flatten().min()
    }

    /// When a table is due next.
    fn due(&self) -> Option<Timestamp> {
        self.tables.iter().filter_map(|table| table.due).min()
    }

    /// Time has come to `now`.
    pub(super) fn advance(&mut self, now: Timestamp) {
        while let Some((at, table, trouble)) = self.faults.pop_front_if(|(at, ..)| *at <= now) {
            self.play_on(at);
            self.suffer(at, table, trouble);
        }
        self.play_on(now);
    }

    /// Plays on at all tables that are due. On the bus everything must be done in the order of time.
    fn play_on(&mut self, now: Timestamp) {
        while let Some(due) = self.due().filter(|due| *due <= now) {
            for nth in 0..self.tables.len() {
                self.play(due, nth);
            }
        }
        while let Some((_, bytes)) = self.bus.as_mut().and_then(|bus| bus.poll_transmit(now)) {
            self.output.push_back((0, RehearsalOutput::Bytes(bytes)));
        }
    }

    fn play(&mut self, now: Timestamp, nth: usize) {
        let Some(table) = self.tables.get_mut(nth) else {
            return;
        };
        if table.due.is_none_or(|due| due > now) {
            return;
        }
        table.played.advance(now, &mut self.bus);
        if let PlayedTable::Alone { player, .. } = &mut table.played {
            while let Some((_, bytes)) = player.poll_transmit(now) {
                self.output.push_back((nth, RehearsalOutput::Bytes(bytes)));
            }
        }
        let truth = table.played.truth();
        let before = core::mem::replace(&mut table.reported, truth);
        if truth != before {
            self.report(now, nth, truth, before);
        }
        if let Some(table) = self.tables.get_mut(nth) {
            table.due = table.played.poll_deadline();
        }
    }

    /// Reports games that begin and end, and deals the next one.
    fn report(&mut self, now: Timestamp, nth: usize, truth: Truth, before: Truth) {
        let begins = truth.games > before.games;
        if begins {
            let words = self.game(nth, truth.games).map(|game| game.title.clone());
            let next = self.game(nth, truth.games + 1).map(|game| game.script.clone());
            if let (Some(table), Some(next)) = (self.tables.get_mut(nth), next) {
                table.played.add(now, next);
            }
            self.announce(
                nth,
                format!("game {}, {}", truth.games, words.unwrap_or_default()),
            );
        }
        if truth.over
            && (begins || !before.over)
            && let Some(game) = self.game(nth, truth.games)
        {
            let words = ended(game, truth);
            self.announce(nth, words);
        }
    }

    /// The game of a number, from 1, at a table: to the tables in turn, and round again.
    fn game(&self, table: usize, number: usize) -> Option<&ScriptedGame> {
        let dealt = table + number.saturating_sub(1) * self.tables.len();
        self.games.get(dealt.checked_rem(self.games.len())?)
    }

    fn announce(&mut self, table: usize, words: String) {
        self.output.push_back((table, RehearsalOutput::Words(words)));
    }

    fn suffer(&mut self, now: Timestamp, nth: usize, trouble: EmulatedFault) {
        let Some(table) = self.tables.get_mut(nth) else {
            let last = self.tables.len();
            return self.announce(
                nth,
                format!("there is no such board; the last board is board-{last}"),
            );
        };
        let changed = table.played.suffer(now, trouble, &mut self.bus);
        if trouble == EmulatedFault::Garbage {
            self.garble(now, nth);
        }
        if let Some(table) = self.tables.get_mut(nth) {
            table.due = table.played.poll_deadline();
        }
        let output = match trouble {
            _ if !changed => RehearsalOutput::Words(format!("is {trouble} already")),
            EmulatedFault::Unplug if self.bus.is_none() => RehearsalOutput::Unplugged,
            EmulatedFault::Plug if self.bus.is_none() => RehearsalOutput::Plugged,
            _ => RehearsalOutput::Words(trouble.to_string()),
        };
        self.output.push_back((nth, output));
    }

    /// Puts bytes that no board sends on the line of a table.
    fn garble(&mut self, now: Timestamp, nth: usize) {
        let count = 3 + self.chance.below(40);
        let bytes: Vec<u8> = (0..count).map(|_| self.chance.bits().to_le_bytes()[0]).collect();
        match self.tables.get_mut(nth).map(|table| &mut table.played) {
            Some(PlayedTable::Alone { player, .. }) => player.garble(now, &bytes),
            Some(PlayedTable::OnBus(_)) => self.output.push_back((0, RehearsalOutput::Bytes(bytes))),
            None => {}
        }
    }
}

/// The bus, if there is to be one.
fn bus(now: Timestamp, emulation: &Emulation, chance: &mut Chance) -> Option<EmulatedBus> {
    let Wiring::Bus { damaged } = emulation.lines else {
        return None;
    };
    let settings = EmulatedBusSettings {
        damaged_answers: damaged.per_mille(),
        seed: chance.bits(),
        ..EmulatedBusSettings::default()
    };
    Some(EmulatedBus::new(now, settings))
}

fn ended(game: &ScriptedGame, truth: Truth) -> String {
    let result = match game.script.ending {
        Ending::Stops => "the players stop",
        Ending::WhiteWins => GameResult::WhiteWins.as_str(),
        Ending::BlackWins => GameResult::BlackWins.as_str(),
        Ending::Draw => GameResult::Draw.as_str(),
    };
    format!("{result} after {} plies, {}", truth.plies, game.title)
}

fn board(chance: &mut Chance, serial: &str) -> BoardSettings {
    let long_serial = format!("{serial:0>10}");
    BoardSettings {
        serial: serial.as_bytes().try_into().ok().and_then(SerialNumber::new),
        long_serial: long_serial
            .as_bytes()
            .try_into()
            .ok()
            .and_then(LongSerialNumber::new),
        clock_phase: chance.time(ms(0, 400)),
        // With the same seed boards on a bus would always answer at the same moment.
        seed: serial.parse().unwrap_or_default(),
        ..BoardSettings::default()
    }
}

fn sitting(chance: &mut Chance, temperament: Temperament, speed: Speed) -> SittingSettings {
    let (time, increment) = match temperament {
        Temperament::Blitz => (Duration::from_secs(180), Duration::from_secs(2)),
        _ => (Duration::from_secs(5400), Duration::from_secs(30)),
    };
    SittingSettings {
        setting: Setting {
            // As most boards are placed; everything else differs from board to board.
            turned: false,
            white_side: Some(ClockSide::Right),
            time,
            increment,
            ..Setting::random(chance)
        },
        temperament,
        thinking: thinking(speed),
        seed: chance.bits(),
    }
}

/// How long the players think, in percent of real time.
fn thinking(speed: Speed) -> u32 {
    match speed {
        Speed::Max => 0,
        // A float that is too large becomes the largest integer.
        Speed::Times(times) => (100.0 / times).round() as u32,
    }
}

/// Serial number of the first board on its own line.
const FIRST_SERIAL: usize = 10_001;

#[cfg(test)]
mod tests;
