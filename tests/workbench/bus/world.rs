//! Boards on a bus with their players, and kiebitz polling them, in virtual time.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use kiebitz::tools::emulate::plies;
use kiebitz_game::events::{Event, EventKind, ExplainedEvent};
use kiebitz_game::hall::{Hall, LineId, Names};
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::emulator::hand::{
    Chance, Deed, Ending, Script, Setting, Sitting, SittingSettings, Temperament, ms,
};
use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard, EmulatedBus, EmulatedBusSettings};
use kiebitz_hardware::{BusFigures, BusLine, Line, LineSettings, Observed, Timestamp};
use kiebitz_protocol::{BusAddress, SerialNumber};
use shakmaty::Position;

use super::report;
use crate::hands::games::{Game, Taste};
use crate::hands::hall::OPENING;
use crate::soak::faults::{AWAY, Fault, Plan};
use crate::soak::table::{Played, damaged};
use crate::soak::verdict::{self, Wrong};

/// The boards and players on the line.
#[derive(Debug, Clone, Copy)]
pub struct Bus<'h> {
    pub boards: u16,
    /// Games played at each board, one after another.
    pub games: usize,
    /// Temperaments, assigned to the boards in turn.
    pub hands: &'h [Temperament],
    pub taste: Taste,
    /// Damaged answers per thousand.
    pub damaged_answers: u16,
    /// Whether the line fails and boards lose their power.
    pub faults: bool,
}

pub struct World {
    now: Timestamp,
    bus: EmulatedBus,
    tables: BTreeMap<BusAddress, Table>,
    hall: Hall,
    line: LineId,
    /// Receives the same bytes as the hall and collects the observations for failure reports.
    tap: BusLine,
    faults: VecDeque<(Timestamp, Fault)>,
    /// Whether bytes on the line are being lost, changed and inserted.
    garbage: bool,
    /// Whether all bytes from the boards are being lost.
    silent: bool,
    faulty: bool,
    chance: Chance,
}

pub struct Table {
    sitting: Sitting,
    pub games: Vec<Game>,
    /// When each ply of each game was completed.
    pub landed: Vec<Vec<Timestamp>>,
    pub deeds: Vec<(Timestamp, Deed)>,
    pub observed: Vec<Observed>,
    pub events: Vec<Event>,
}

impl Table {
    pub fn setting(&self) -> &Setting {
        self.sitting.setting()
    }

    fn play(&mut self, bus: &mut EmulatedBus, address: BusAddress, now: Timestamp) {
        while let Some((at, deed)) = self.sitting.poll_deed(now) {
            let board = bus.board_mut(at, address).expect("nobody unplugs it");
            self.sitting.setting().perform(board, at, deed);
            self.deeds.push((at, deed));
        }
        let truth = self.sitting.truth();
        if truth.games > 0 {
            self.landed.resize_with(truth.games, Vec::new);
            self.landed[truth.games - 1].resize(truth.plies, now);
        }
    }
}

impl World {
    pub fn new(seed: u64, wanted: &Bus<'_>) -> Self {
        let mut chance = Chance::new(seed);
        let settings = EmulatedBusSettings {
            damaged_answers: wanted.damaged_answers,
            seed: chance.bits(),
            ..EmulatedBusSettings::default()
        };
        let mut bus = EmulatedBus::new(OPENING, settings);
        let mut tables = BTreeMap::new();
        for number in 1..=wanted.boards {
            let temperament = wanted.hands[usize::from(number - 1) % wanted.hands.len()];
            let table = table(&mut chance, temperament, wanted);
            let serial: [u8; 5] = format!("{number:05}").into_bytes().try_into().unwrap();
            let board = BoardSettings {
                serial: SerialNumber::new(serial),
                clock_phase: chance.time(ms(0, 400)),
                seed: chance.bits(),
                ..BoardSettings::default()
            };
            let board = table.setting().board(OPENING, board, table.sitting.standing());
            tables.insert(bus.attach(OPENING, board).expect("an address"), table);
        }
        let faults = if wanted.faults {
            faults(&mut chance, usize::from(wanted.boards))
        } else {
            VecDeque::new()
        };
        let mut hall = Hall::new("bus", Names::Recorded);
        let line = hall.add("bus", Line::keeping(LineSettings::of(LineMode::Bus)));
        hall.open(OPENING, line);
        let mut tap = BusLine::new();
        tap.handle_opened(OPENING);
        Self {
            now: OPENING,
            bus,
            tables,
            hall,
            line,
            tap,
            faults,
            garbage: false,
            silent: false,
            faulty: wanted.faults,
            chance,
        }
    }

    /// Plays all games, and then runs until kiebitz has published its last events.
    pub fn run(&mut self) {
        while self.tables.values().any(|table| !table.sitting.is_done()) {
            self.step();
        }
        let end = self.now + if self.faulty { AFTER_FAULTS } else { AFTER_ALL };
        while self.now < end {
            self.step();
        }
    }

    /// Reopens a port that the hall has closed, as the daemon does.
    fn reopen(&mut self) {
        while let Some((line, reason)) = self.hall.poll_close() {
            assert!(self.faulty, "the bus answers: {reason}");
            self.hall.close(self.now, line, &reason);
            self.tap.handle_closed(self.now, &reason);
            self.hall.open(self.now, line);
            self.tap.handle_opened(self.now);
        }
    }

    fn step(&mut self) {
        self.reopen();
        while let Some((line, bytes)) = self.hall.poll_write(self.now) {
            assert_eq!(line, self.line);
            self.bus.handle_bytes(self.now, &bytes);
            self.hall.sent(self.now, line, &bytes);
            self.tap.handle_sent(self.now, &bytes);
        }
        let players = self
            .tables
            .values()
            .filter_map(|table| table.sitting.poll_deadline());
        let fault = self.faults.front().map(|(at, _)| *at);
        let others = [self.hall.poll_deadline(), self.bus.poll_deadline(), fault];
        let next = players.chain(others.into_iter().flatten()).min();
        let next = next.expect("boards are always asked").max(self.now);
        self.now = next;
        while let Some((_, fault)) = self.faults.pop_front_if(|(at, _)| *at <= next) {
            self.inject(fault);
        }
        for (address, table) in &mut self.tables {
            table.play(&mut self.bus, *address, self.now);
        }
        while let Some((at, bytes)) = self.bus.poll_transmit(self.now) {
            if self.silent {
                continue;
            }
            let bytes = if self.garbage {
                damaged(&mut self.chance, &bytes)
            } else {
                bytes
            };
            self.tap.handle_bytes(at, &bytes);
            self.hall.receive(at, self.line, &bytes);
        }
        self.hall.advance(self.now);
        while let Some((address, observed)) = self.tap.poll_observation() {
            self.tables
                .get_mut(&address)
                .expect("a board")
                .observed
                .push(observed);
        }
        for ExplainedEvent { event, .. } in self.hall.take_events() {
            let number = event.board.parse().ok().and_then(BusAddress::new);
            let table = number.and_then(|address| self.tables.get_mut(&address));
            table
                .expect("boards are called like their address")
                .events
                .push(event);
        }
    }

    fn inject(&mut self, fault: Fault) {
        let now = self.now;
        let nth = |board: usize| BusAddress::new(board as u16 + 1).expect("an address");
        match fault {
            Fault::Garbage(_) => self.garbage = true,
            Fault::Clean(_) => self.garbage = false,
            Fault::Silent(_) => self.silent = true,
            Fault::Heard(_) => self.silent = false,
            Fault::Unplug(board) => self.board(nth(board)).power_off(now),
            Fault::Plug(board) => self.board(nth(board)).power_on(now),
            Fault::Stop | Fault::Start => unreachable!("the daemon is not restarted"),
        }
    }

    fn board(&mut self, address: BusAddress) -> &mut EmulatedBoard {
        let board = self.bus.board_mut(self.now, address);
        board.expect("nobody unplugs it")
    }

    pub fn games(&self) -> usize {
        self.tables.values().map(|table| table.games.len()).sum()
    }

    /// Returns the boards with a wrongly published game. With faults, differences in reported gaps do not count.
    pub fn failing(&self) -> impl Iterator<Item = u16> {
        let right = |table: &Table| {
            if self.faulty {
                table.unreported().is_empty()
            } else {
                table.is_right()
            }
        };
        let wrong = self.tables.iter().filter(move |(_, table)| !right(table));
        wrong.map(|(address, _)| address.number())
    }

    pub fn failures(&self) -> Vec<String> {
        self.failing().map(|board| self.describe(board)).collect()
    }

    /// Describes the actions and events at a board around the first wrongly published ply.
    pub fn describe(&self, board: u16) -> String {
        let address = BusAddress::new(board).expect("an address");
        let table = &self.tables[&address];
        let unreported: String = table
            .unreported()
            .iter()
            .filter(|_| self.faulty)
            .map(|wrong| {
                let at = wrong.at.saturating_duration_since(OPENING).as_secs_f64();
                format!("{at:9.3} {}\n", wrong.words)
            })
            .collect();
        format!("board {address}\n{unreported}{}", report::describe(table))
    }

    /// Formats the traffic, corrections and delays.
    pub fn figures(&self) -> String {
        let BusFigures {
            answers,
            questions,
            damaged,
            silent,
            repeats,
            ..
        } = self.tap.figures();
        let plies: usize = self
            .tables
            .values()
            .flat_map(|table| &table.landed)
            .map(Vec::len)
            .sum();
        let corrections: usize = self
            .tables
            .values()
            .map(|table| crate::hands::verdict::corrections(&table.events))
            .sum();
        let mut delays: Vec<u64> = self.tables.values().flat_map(Table::delays).collect();
        delays.sort_unstable();
        let share = |percent: usize| {
            delays
                .get(delays.len() * percent / 100)
                .copied()
                .unwrap_or_default()
        };
        format!(
            "{} games, {plies} plies, in {} s; {questions} questions, {answers} answered, {damaged} damaged, {silent} \
             without answer, {repeats} repeats; {corrections} corrections; from the piece standing to the \
             move being published {} ms half the time, {} ms in 99 of 100",
            self.games(),
            self.now.saturating_duration_since(OPENING).as_secs(),
            share(50),
            share(99),
        )
    }
}

impl Table {
    /// Returns the published moves of each game, without retracted ones.
    pub fn published(&self) -> Vec<Vec<String>> {
        let mut games: Vec<Vec<String>> = Vec::new();
        for event in &self.events {
            if let EventKind::GameStarted { .. } = event.kind {
                games.push(Vec::new());
            }
            let Some(published) = games.last_mut() else {
                continue;
            };
            match &event.kind {
                EventKind::MoveMade(m) | EventKind::MoveAmended { played: m, .. } => {
                    published.truncate(m.ply as usize - 1);
                    published.push(m.uci.clone().unwrap_or_else(|| "irregular".to_owned()));
                }
                EventKind::MoveRetracted { ply, .. } => published.truncate(*ply as usize - 1),
                _ => {}
            }
        }
        games
    }

    pub fn played(&self) -> Vec<Vec<String>> {
        self.games.iter().map(Game::uci).collect()
    }

    /// Returns the differences between played and published moves that are not reported as a gap.
    fn unreported(&self) -> Vec<Wrong> {
        let played = self.landed.iter().enumerate().flat_map(|(nth, landed)| {
            let game = &self.games[nth];
            let plies = landed.iter().enumerate();
            plies.map(move |(ply, at)| Played::of(game, *at, nth, ply))
        });
        let played: Vec<Played> = played.collect();
        verdict::unreported(
            0,
            (&played, |_| format!("{:?}", self.setting().white_side)),
            &self.events,
        )
    }

    fn is_right(&self) -> bool {
        self.published() == self.played()
    }

    /// Returns the delay of each ply from its completion to its publication, in milliseconds.
    fn delays(&self) -> Vec<u64> {
        let mut games = self.landed.iter();
        let mut landed: &[Timestamp] = &[];
        let mut delays = Vec::new();
        for event in &self.events {
            match &event.kind {
                EventKind::GameStarted { .. } => landed = games.next().map_or(&[], Vec::as_slice),
                EventKind::MoveMade(m) => {
                    let at = landed.get(m.ply as usize - 1).copied().unwrap_or(event.ts);
                    delays.push(event.ts.saturating_duration_since(at).as_millis() as u64);
                }
                _ => {}
            }
        }
        delays
    }
}

/// The line fails six times a minute, and every board loses its power once.
fn faults(chance: &mut Chance, boards: usize) -> VecDeque<(Timestamp, Fault)> {
    let none = Plan {
        unplugs: 0,
        restarts: 0,
        bursts: 0,
        silences: 0,
        away: AWAY,
    };
    let line = Plan {
        bursts: 10,
        silences: 5,
        ..none
    };
    let power = Plan {
        unplugs: boards,
        ..none
    };
    let time = (OPENING + BOARDS_ARE_FOUND, FAULTY);
    let mut faults = line.schedule(chance, 1, 0, time);
    faults.extend(power.schedule(chance, boards, LONGEST_WITHOUT_POWER, time));
    faults.sort_by_key(|(at, _)| *at);
    faults.into()
}

fn table(chance: &mut Chance, temperament: Temperament, wanted: &Bus<'_>) -> Table {
    let games: Vec<Game> = (0..wanted.games)
        .map(|_| {
            let start = chance.percent(40).then(|| chance.below(960));
            let plies = 20 + chance.below(41);
            Game::random(chance, start, wanted.taste, plies)
        })
        .collect();
    let settings = SittingSettings {
        setting: Setting::random(chance),
        temperament,
        thinking: 100,
        seed: chance.bits(),
    };
    let mut scripts = games.iter().map(|game| script(chance, game));
    let first = scripts.next().expect("a game");
    let mut sitting = Sitting::new(OPENING + BOARDS_ARE_FOUND, settings, first);
    for script in scripts {
        sitting.add(OPENING, script);
    }
    Table {
        sitting,
        games,
        landed: Vec::new(),
        deeds: Vec::new(),
        observed: Vec::new(),
        events: Vec::new(),
    }
}

fn script(chance: &mut Chance, game: &Game) -> Script {
    let mut position = game.start.clone();
    let start = plies::dump(position.board());
    let plies = game.moves.iter().map(|m| {
        let ply = plies::ply(&position, *m);
        position.play_unchecked(*m);
        ply
    });
    Script {
        start,
        plies: plies.collect(),
        ending: chance.pick([Ending::Stops, Ending::WhiteWins, Ending::BlackWins, Ending::Draw]),
    }
}

/// Grace period after the last game in runs with faults. Boards may be without power when the game ends.
const AFTER_FAULTS: Duration = Duration::from_secs(60);
/// Duration of the period with faults.
const FAULTY: Duration = Duration::from_secs(150);
/// Longest power loss of a board, in milliseconds.
const LONGEST_WITHOUT_POWER: u64 = 30_000;
/// Time until all boards are found. For 30 boards it takes 5 to 10 s.
const BOARDS_ARE_FOUND: Duration = Duration::from_secs(15);
/// Grace period after the last game: two polling rounds, and the longest resting time before a move is published.
const AFTER_ALL: Duration = Duration::from_secs(15);
