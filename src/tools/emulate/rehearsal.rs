//! All boards of an emulation with their games, faults and reports. No I/O.

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

#[derive(Debug)]
pub(super) struct Rehearsal {
    tables: Vec<RehearsalTable>,
    /// The bus that all boards share; `None` if each board has its own line.
    bus: Option<EmulatedBus>,
    games: Vec<ScriptedGame>,
    chance: Chance,
    /// Scheduled faults and repairs: time, table and kind, the earliest first.
    faults: VecDeque<(Timestamp, usize, EmulatedFault)>,
    output: VecDeque<(usize, RehearsalOutput)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RehearsalOutput {
    /// Bytes from the board or the bus for the port.
    Bytes(Vec<u8>),
    /// The cable of a board on its own line was pulled out.
    Unplugged,
    /// The cable was plugged in again.
    Plugged,
    Report(String),
}

#[derive(Debug)]
struct RehearsalTable {
    played: PlayedTable,
    temperament: Temperament,
    serial: String,
    /// State of play at the last report.
    reported: Truth,
    /// Whether the players begin the next game as soon as it is set up, although players wait before each game.
    may_begin: bool,
    /// Time at which the table must be advanced.
    due: Option<Timestamp>,
}

impl Rehearsal {
    /// Creates `emulation.boards` tables, each with its first game about to begin. `games` must not be empty.
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
        for table_index in 0..emulation.boards {
            let temperament = emulation.hands.of(table_index);
            let serial = format!("{:05}", first + table_index);
            let board = board(&mut rehearsal.chance, &serial);
            let sitting = sitting(&mut rehearsal.chance, temperament, emulation.speed);
            let Some(game) = rehearsal.games.get(table_index % rehearsal.games.len().max(1)) else {
                break;
            };
            let mut sitting = Sitting::new(now, sitting, game.script.clone());
            if emulation.waits {
                sitting.hold_before_games(now);
            }
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
                may_begin: false,
                due: Some(now),
            });
        }
        for fault in &emulation.faults {
            rehearsal.schedule(now, fault);
        }
        rehearsal
    }

    /// Returns whether any players are paused.
    pub(super) fn waits(&self) -> bool {
        self.tables.iter().any(|table| table.played.waits())
    }

    pub(super) fn describe(&self, table: usize) -> String {
        self.tables.get(table).map_or_else(String::new, |table| {
            format!(
                "serial number {}, {} hands",
                table.serial,
                Hands::name(table.temperament)
            )
        })
    }

    /// Schedules a fault relative to `now`, and its repair if the fault has a duration.
    pub(super) fn schedule(&mut self, now: Timestamp, fault: &Fault) {
        let tables = match fault.boards {
            Boards::All => 0..self.tables.len(),
            Boards::One(number) => number - 1..number,
        };
        let at = now + fault.at;
        for table in tables {
            self.queue(at, table, fault.trouble);
            if let (Some(lasts), Some(repair)) = (fault.lasts, fault.trouble.repair()) {
                self.queue(at + lasts, table, repair);
            }
        }
    }

    /// Resumes all paused players, except those whose start is scheduled: they are late on purpose.
    pub(super) fn start_waiting(&mut self, now: Timestamp) {
        for table in 0..self.tables.len() {
            let waits = self.tables.get(table).is_some_and(|table| table.played.waits());
            if waits && !self.is_start_scheduled(table) {
                self.queue(now, table, EmulatedFault::Start);
            }
        }
    }

    /// Begins a round: resumes all paused players like [`start_waiting`](Self::start_waiting). The others begin their
    /// next game as soon as it is set up.
    pub(super) fn start_round(&mut self, now: Timestamp) {
        for table in &mut self.tables {
            table.may_begin = !table.played.waits();
        }
        self.start_waiting(now);
    }

    fn is_start_scheduled(&self, table: usize) -> bool {
        let mut faults = self.faults.iter();
        faults.any(|(_, late, trouble)| *late == table && *trouble == EmulatedFault::Start)
    }

    fn queue(&mut self, at: Timestamp, table: usize, trouble: EmulatedFault) {
        let index = self.faults.partition_point(|(before, ..)| *before <= at);
        self.faults.insert(index, (at, table, trouble));
    }

    /// Handles bytes that the host has written to a table's own line, or to the bus, which is line 0.
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

    /// Returns the next output with its table, counted from 0. The bus has the number 0. The outputs of each table are
    /// in the order of time.
    pub(super) fn poll_output(&mut self) -> Option<(usize, RehearsalOutput)> {
        self.output.pop_front()
    }

    /// Returns the time at which [`advance`](Self::advance) is due if no host writes.
    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        let fault = self.faults.front().map(|(at, ..)| *at);
        let bus = self.bus.as_ref().and_then(EmulatedBus::poll_deadline);
        [self.due(), fault, bus].into_iter().flatten().min()
    }

    /// Returns the earliest time at which a table is due.
    fn due(&self) -> Option<Timestamp> {
        self.tables.iter().filter_map(|table| table.due).min()
    }

    pub(super) fn advance(&mut self, now: Timestamp) {
        while let Some((at, table, trouble)) = self.faults.pop_front_if(|(at, ..)| *at <= now) {
            self.play_on(at);
            self.inject(at, table, trouble);
        }
        self.play_on(now);
    }

    /// Advances all due tables. On the bus all actions must happen in the order of time.
    fn play_on(&mut self, now: Timestamp) {
        while let Some(due) = self.due().filter(|due| *due <= now) {
            for table_index in 0..self.tables.len() {
                self.play(due, table_index);
            }
        }
        while let Some((_, bytes)) = self.bus.as_mut().and_then(|bus| bus.poll_transmit(now)) {
            self.output.push_back((0, RehearsalOutput::Bytes(bytes)));
        }
    }

    fn play(&mut self, now: Timestamp, table_index: usize) {
        let Some(table) = self.tables.get_mut(table_index) else {
            return;
        };
        if table.due.is_none_or(|due| due > now) {
            return;
        }
        table.played.advance(now, &mut self.bus);
        if table.may_begin && table.played.waits() {
            table.may_begin = false;
            table.played.inject(now, EmulatedFault::Start, &mut self.bus);
        }
        if let PlayedTable::Alone { player, .. } = &mut table.played {
            while let Some((_, bytes)) = player.poll_transmit(now) {
                self.output
                    .push_back((table_index, RehearsalOutput::Bytes(bytes)));
            }
        }
        let truth = table.played.truth();
        let before = core::mem::replace(&mut table.reported, truth);
        if truth != before {
            self.report(now, table_index, truth, before);
        }
        if let Some(table) = self.tables.get_mut(table_index) {
            table.due = table.played.poll_deadline();
        }
    }

    /// Reports the beginning and the end of games, and adds the next game when one begins.
    fn report(&mut self, now: Timestamp, table_index: usize, truth: Truth, before: Truth) {
        let begins = truth.games > before.games;
        if begins {
            let title = self.game(table_index, truth.games).map(|game| game.title.clone());
            let next = self
                .game(table_index, truth.games + 1)
                .map(|game| game.script.clone());
            if let (Some(table), Some(next)) = (self.tables.get_mut(table_index), next) {
                table.played.add(now, next);
            }
            self.announce(
                table_index,
                format!("game {}, {}", truth.games, title.unwrap_or_default()),
            );
        }
        if truth.over
            && (begins || !before.over)
            && let Some(game) = self.game(table_index, truth.games)
        {
            let text = describe_end(game, truth);
            self.announce(table_index, text);
        }
    }

    /// Returns the game with this number, counted from 1, at a table. Games are dealt to the tables in turn and start
    /// over when all are used.
    fn game(&self, table: usize, number: usize) -> Option<&ScriptedGame> {
        let index = table + number.saturating_sub(1) * self.tables.len();
        self.games.get(index.checked_rem(self.games.len())?)
    }

    fn announce(&mut self, table: usize, text: String) {
        self.output.push_back((table, RehearsalOutput::Report(text)));
    }

    fn inject(&mut self, now: Timestamp, table_index: usize, trouble: EmulatedFault) {
        let Some(table) = self.tables.get_mut(table_index) else {
            let last = self.tables.len();
            return self.announce(
                table_index,
                format!("there is no such board; the last board is board-{last}"),
            );
        };
        let changed = table.played.inject(now, trouble, &mut self.bus);
        if trouble == EmulatedFault::Garbage {
            self.garble(now, table_index);
        }
        if let Some(table) = self.tables.get_mut(table_index) {
            table.due = table.played.poll_deadline();
        }
        let output = match trouble {
            _ if !changed => RehearsalOutput::Report(format!("is {trouble} already")),
            EmulatedFault::Unplug if self.bus.is_none() => RehearsalOutput::Unplugged,
            EmulatedFault::Plug if self.bus.is_none() => RehearsalOutput::Plugged,
            _ => RehearsalOutput::Report(trouble.to_string()),
        };
        self.output.push_back((table_index, output));
    }

    /// Puts bytes that no board sends on the line of a table.
    fn garble(&mut self, now: Timestamp, table_index: usize) {
        let count = 3 + self.chance.below(40);
        let bytes: Vec<u8> = (0..count).map(|_| self.chance.bits().to_le_bytes()[0]).collect();
        match self.tables.get_mut(table_index).map(|table| &mut table.played) {
            Some(PlayedTable::Alone { player, .. }) => player.garble(now, &bytes),
            Some(PlayedTable::OnBus(_)) => self.output.push_back((0, RehearsalOutput::Bytes(bytes))),
            None => {}
        }
    }
}

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

fn describe_end(game: &ScriptedGame, truth: Truth) -> String {
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
        // With equal seeds, all boards on a bus would answer at the same moment.
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
            // The usual orientation; all other settings vary from board to board.
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

/// Returns the thinking time of the players, in percent of real time.
fn thinking(speed: Speed) -> u32 {
    match speed {
        Speed::Max => 0,
        // The cast saturates.
        Speed::Times(times) => (100.0 / times).round() as u32,
    }
}

/// Serial number of the first board, if boards have their own lines.
const FIRST_SERIAL: usize = 10_001;

#[cfg(test)]
mod tests;
