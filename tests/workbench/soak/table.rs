//! A board with its players and its line.

use core::ops::Range;
use core::time::Duration;

use kiebitz::tools::emulate::plies;
use kiebitz_game::hall::LineId;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::emulator::hand::{
    Chance, Ending, Script, Setting, Sitting, SittingSettings, Temperament, Truth, ms,
};
use kiebitz_hardware::emulator::{BoardSettings, Player};
use kiebitz_protocol::{LongSerialNumber, SerialNumber};
use shakmaty::fen::Fen;
use shakmaty::{EnPassantMode, Position};

use crate::hands::games::{Game, Taste};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    /// When the ply was completed.
    pub at: Timestamp,
    /// From 0.
    pub game: usize,
    /// From 1.
    pub ply: usize,
    pub uci: String,
    /// The placement after the ply.
    pub placement: String,
}

/// Deals games to the players of a board and records their plies.
pub struct Dealer {
    chance: Chance,
    /// The games, in order.
    pub dealt: Vec<Game>,
    endings: Vec<Ending>,
    pace: Pace,
    /// Whether the players show a result on the board after each game that does not end by the Laws.
    results: bool,
    settings: SittingSettings,
    pub played: Vec<Played>,
    noted: Truth,
}

pub trait Players {
    fn truth(&self) -> Truth;
    fn add(&mut self, now: Timestamp, script: Script);
}

impl Players for Player {
    fn truth(&self) -> Truth {
        Self::truth(self)
    }

    fn add(&mut self, now: Timestamp, script: Script) {
        Self::add(self, now, script);
    }
}

impl Players for Sitting {
    fn truth(&self) -> Truth {
        Self::truth(self)
    }

    fn add(&mut self, now: Timestamp, script: Script) {
        Self::add(self, now, script);
    }
}

pub struct Table {
    pub player: Player,
    pub dealer: Dealer,
    /// The line, while its port is open.
    pub open: Option<LineId>,
    /// When the port will be opened next.
    pub opens_at: Option<Timestamp>,
    pub plugged: bool,
    pub garbage: bool,
    pub due: Option<Timestamp>,
}

impl core::ops::Deref for Table {
    type Target = Dealer;

    fn deref(&self) -> &Dealer {
        &self.dealer
    }
}

/// Pace of play, and length of games.
#[derive(Debug, Clone)]
pub struct Pace {
    /// Factor for the thinking time of the players' temperament.
    pub thinking: Range<usize>,
    /// Maximum number of plies of a game.
    pub plies: Range<usize>,
}

impl Pace {
    /// Pace of a round of two hours.
    pub const ROUND: Self = Self {
        thinking: 4..20,
        plies: 20..81,
    };
}

impl Dealer {
    /// Creates the dealer of a board, and the players' first game.
    pub fn new(nth: usize, pace: Pace, results: bool, chance: &mut Chance) -> (Self, Script) {
        let mut chance = Chance::new(chance.bits());
        let settings = SittingSettings {
            setting: Setting::random(&mut chance),
            temperament: Temperament::UNHURRIED[nth % Temperament::UNHURRIED.len()],
            thinking: 100 * among(&mut chance, &pace.thinking) as u32,
            seed: chance.bits(),
        };
        let first = game(&mut chance, &pace);
        let script = script(&first, results, &mut chance);
        let dealer = Self {
            endings: vec![script.ending],
            pace,
            results,
            settings,
            chance,
            dealt: vec![first],
            played: Vec::new(),
            noted: Truth::default(),
        };
        (dealer, script)
    }

    pub fn settings(&self) -> SittingSettings {
        self.settings.clone()
    }

    /// Returns the settings of board `nth`.
    pub fn board(&mut self, nth: usize) -> BoardSettings {
        BoardSettings {
            serial: serial(nth).as_bytes().try_into().ok().and_then(SerialNumber::new),
            long_serial: long_serial(nth)
                .as_bytes()
                .try_into()
                .ok()
                .and_then(LongSerialNumber::new),
            clock_phase: self.chance.time(ms(0, 400)),
            ..BoardSettings::default()
        }
    }

    /// Records the players' plies since the last call. Deals another game when they begin one before `last`. Returns a
    /// description of the progress, if there is any.
    pub fn follow(&mut self, now: Timestamp, last: Timestamp, players: &mut impl Players) -> Option<String> {
        let (truth, noted) = (players.truth(), self.noted);
        if truth == noted {
            return None;
        }
        self.noted = truth;
        if truth.games > noted.games && now < last {
            let game = game(&mut self.chance, &self.pace);
            let script = script(&game, self.results, &mut self.chance);
            self.endings.push(script.ending);
            players.add(now, script);
            self.dealt.push(game);
        }
        let from = if truth.games == noted.games {
            noted.plies
        } else {
            0
        };
        let mut words = format!("game {} begins or ends ({truth:?})", truth.games);
        for ply in from..truth.plies {
            let played = self.ply(now, truth.games - 1, ply);
            words = format!("game {} ply {}: {} stands", truth.games, ply + 1, played.uci);
            self.played.push(played);
        }
        Some(words)
    }

    /// Describes the players at this board, and the ending of a game.
    pub fn describe(&self, game: usize) -> String {
        let SittingSettings {
            temperament, setting, ..
        } = &self.settings;
        let clock = if setting.white_side.is_some() {
            "clock"
        } else {
            "no clock"
        };
        format!("{temperament:?}, {clock}, {:?}", self.endings[game])
    }

    fn ply(&self, at: Timestamp, nth: usize, ply: usize) -> Played {
        Played::of(&self.dealt[nth], at, nth, ply)
    }
}

impl Played {
    /// The ply of a game, both counted from 0.
    pub fn of(game: &Game, at: Timestamp, nth: usize, ply: usize) -> Self {
        let mut position = game.start.clone();
        for m in &game.moves[..=ply] {
            position.play_unchecked(*m);
        }
        Self {
            at,
            game: nth,
            ply: ply + 1,
            uci: game.moves[ply].to_uci(game.mode).to_string(),
            placement: position.board().to_string(),
        }
    }
}

impl Table {
    pub fn new(now: Timestamp, nth: usize, pace: Pace, results: bool, chance: &mut Chance) -> Self {
        let (mut dealer, script) = Dealer::new(nth, pace, results, chance);
        let sitting = Sitting::new(now, dealer.settings(), script);
        Self {
            player: Player::new(now, dealer.board(nth), sitting),
            dealer,
            open: None,
            opens_at: Some(now),
            plugged: true,
            garbage: false,
            due: Some(now),
        }
    }

    /// See [`Dealer::follow`].
    pub fn follow(&mut self, now: Timestamp, last: Timestamp) -> Option<String> {
        let words = self.dealer.follow(now, last, &mut self.player);
        self.due = self.player.poll_deadline();
        words
    }

    /// Damages bytes as a loose contact does.
    pub fn damaged(&mut self, bytes: &[u8]) -> Vec<u8> {
        damaged(&mut self.dealer.chance, bytes)
    }

    /// Returns a time at which the host notices a plugged-in board, or retries.
    pub fn soon(&mut self, now: Timestamp) -> Timestamp {
        now + self.dealer.chance.time(ms(100, 3000))
    }
}

/// Damages bytes as a loose contact does.
pub fn damaged(chance: &mut Chance, bytes: &[u8]) -> Vec<u8> {
    let mut left = Vec::new();
    for byte in bytes {
        match chance.below(12) {
            0 => {}
            1 => left.push(byte ^ (1 << chance.below(8))),
            2 => left.extend([*byte, chance.bits().to_le_bytes()[0]]),
            _ => left.push(*byte),
        }
    }
    left
}

pub fn name(nth: usize) -> String {
    format!("board-{}", nth + 1)
}

pub fn serial(nth: usize) -> String {
    format!("{:05}", 10_001 + nth)
}

fn long_serial(nth: usize) -> String {
    format!("{:0>10}", serial(nth))
}

fn among(chance: &mut Chance, range: &Range<usize>) -> usize {
    range.start + chance.below(range.len())
}

fn game(chance: &mut Chance, pace: &Pace) -> Game {
    let start = chance.percent(20).then(|| chance.below(960));
    let taste = chance.pick([Taste::Any, Taste::Special]);
    let plies = among(chance, &pace.plies);
    Game::random(chance, start, taste, plies)
}

fn script(game: &Game, results: bool, chance: &mut Chance) -> Script {
    let mut position = game.start.clone();
    let mut script = Script {
        start: plies::dump(position.board()),
        plies: Vec::new(),
        ending: chance.pick([Ending::Stops, Ending::WhiteWins, Ending::BlackWins, Ending::Draw]),
    };
    for m in &game.moves {
        script.plies.push(plies::ply(&position, *m));
        position.play_unchecked(*m);
    }
    if position.is_game_over() {
        script.ending = Ending::Stops;
    } else if results && script.ending == Ending::Stops {
        script.ending = Ending::Draw;
    }
    script
}

pub fn placement(fen: &str) -> String {
    fen.split_whitespace().next().unwrap().to_owned()
}

/// Returns the placement in which a game starts.
pub fn start_placement(game: &Game) -> String {
    let fen = Fen::from_position(&game.start, EnPassantMode::Legal).to_string();
    placement(&fen)
}

pub const ROUND: Duration = Duration::from_secs(7200);
