//! Two players who play one game after another, with the true state of the game.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_protocol::{Dump, Field, Piece};

use super::chance::{Chance, Span, ms};
use super::{Deed, Manner, Opponents, Ply, Setting, Temperament};
use crate::time::Timestamp;

/// Settings of a [`Sitting`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SittingSettings {
    /// Arrangement of board and clock.
    pub setting: Setting,
    /// Temperament of both players.
    pub temperament: Temperament,
    /// Factor for thinking times and pauses between games, in percent. Hand motions are not affected.
    pub thinking: u32,
    /// Seed of all random choices. The same seed gives the same play.
    pub seed: u64,
}

/// A game to play.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Contents of the board before the first ply, numbered with the connector on White's left.
    pub start: Dump,
    /// Plies of the game.
    pub plies: Vec<Ply>,
    /// Actions after the last ply.
    pub ending: Ending,
}

/// Actions after the last ply. The clock is stopped in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The result is not shown on the board.
    Stops,
    /// The kings go to e4 and d5.
    WhiteWins,
    /// The kings go to d4 and e5.
    BlackWins,
    /// The kings go to d4 and e4.
    Draw,
}

/// True state of the play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Truth {
    /// Number of games whose clock was started.
    pub games: usize,
    /// Number of completed plies in the last of these games.
    pub plies: usize,
    /// Whether that game is over, that is, its clock was stopped.
    pub over: bool,
}

/// Two players who play one game after another. Produces a sequence of actions with their times.
///
/// They set up the pieces, start the clock, play, stop the clock, show the result, rest, and begin the next game.
/// [`Player`](crate::emulator::Player) performs the actions on its own board; for any other board, pass the result of
/// [`poll_deed`](Self::poll_deed) to [`Setting::perform`].
///
/// ```
/// use kiebitz_hardware::Timestamp;
/// use kiebitz_hardware::emulator::hand::{Color, Ending, Ply, Script, Setting, Sitting, SittingSettings, Temperament};
/// use kiebitz_protocol::{Field, Piece};
///
/// let (e2, e4) = (Field::new(52).unwrap(), Field::new(36).unwrap());
/// let mut start = [None; Field::COUNT];
/// start[e2.index()] = Some(Piece::WhitePawn);
/// let script = Script { start, plies: vec![Ply::quiet(Color::White, e2, e4)], ending: Ending::Stops };
/// let settings = SittingSettings {
///     setting: Setting::PLAIN,
///     temperament: Temperament::Calm,
///     thinking: 100,
///     seed: 1,
/// };
/// let mut sitting = Sitting::new(Timestamp::from_micros(1_789_000_000_000_000), settings, script);
/// while let Some(due) = sitting.poll_deadline() {
///     while sitting.poll_deed(due).is_some() {}
/// }
/// assert_eq!((sitting.truth().plies, sitting.truth().over), (1, true));
/// assert_eq!(sitting.standing()[e4.index()], Some(Piece::WhitePawn));
/// ```
#[derive(Debug, Clone)]
pub struct Sitting {
    settings: SittingSettings,
    began: Timestamp,
    opponents: Opponents,
    chance: Chance,
    /// The current game and those after it.
    scripts: VecDeque<Script>,
    /// Whether the pieces have been set up for a game before.
    prepared: bool,
    /// Number of plies of the current game decided so far. `None` if its pieces have not been set up yet.
    plies_decided: Option<usize>,
    /// Decided actions, in the order of time.
    agenda: VecDeque<(Timestamp, Act)>,
    standing: Dump,
    truth: Truth,
    /// Start of the current pause; `None` while play continues.
    held: Option<Timestamp>,
    /// Whether play pauses before each game.
    holds_before_games: bool,
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Deed(Deed),
    /// Pieces and clock are set for another game.
    GameReady,
    GameBegins,
    PlyCompleted,
    GameOver,
}

impl Sitting {
    /// Creates players who sit down at a board on which the first game is set up.
    #[must_use]
    pub fn new(now: Timestamp, settings: SittingSettings, first: Script) -> Self {
        let mut chance = Chance::new(settings.seed);
        let hands = Chance::new(chance.bits());
        let mut sitting = Self {
            settings,
            began: now,
            opponents: Opponents::sit_down(first.start, Duration::ZERO, hands),
            chance,
            prepared: false,
            plies_decided: None,
            agenda: VecDeque::new(),
            standing: first.start,
            truth: Truth::default(),
            held: None,
            holds_before_games: false,
            scripts: VecDeque::from([first]),
        };
        sitting.decide_ahead();
        sitting
    }

    /// Adds a game, to be played after all games added before.
    pub fn add(&mut self, now: Timestamp, script: Script) {
        if self.scripts.is_empty() {
            let idle = now.saturating_duration_since(self.began);
            self.opponents.hand().rest_until(idle);
        }
        self.scripts.push_back(script);
        self.decide_ahead();
    }

    /// Pauses play at `now` until [`release`](Self::release). Returns `false` if it is paused already.
    pub fn hold(&mut self, now: Timestamp) -> bool {
        let was_paused = self.held.is_some();
        self.held = self.held.or(Some(now));
        !was_paused
    }

    /// Pauses play at `now`, and again before each later game, once its pieces and clock are set.
    pub fn hold_before_games(&mut self, now: Timestamp) {
        self.hold(now);
        self.holds_before_games = true;
    }

    /// Resumes play at `now`. All scheduled actions are delayed by the length of the pause. Returns whether play was
    /// paused.
    pub fn release(&mut self, now: Timestamp) -> bool {
        let Some(since) = self.held.take() else {
            return false;
        };
        let pause = now.saturating_duration_since(since);
        self.began = self.began + pause;
        for (at, _) in &mut self.agenda {
            *at = *at + pause;
        }
        true
    }

    /// Returns whether play is paused until [`release`](Self::release).
    #[must_use]
    pub const fn waits(&self) -> bool {
        self.held.is_some()
    }

    /// Returns the arrangement of board and clock.
    #[must_use]
    pub const fn setting(&self) -> &Setting {
        &self.settings.setting
    }

    /// Returns the true state of play.
    #[must_use]
    pub const fn truth(&self) -> Truth {
        self.truth
    }

    /// Returns the current contents of the board, numbered with the connector on White's left.
    #[must_use]
    pub const fn standing(&self) -> &Dump {
        &self.standing
    }

    /// Returns whether all games are over and no action is left.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.scripts.is_empty() && self.agenda.is_empty()
    }

    /// Returns the time of the next action, or `None` if all games are over or play is paused.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        if self.held.is_some() {
            return None;
        }
        self.agenda.front().map(|(at, _)| *at)
    }

    /// Returns the next action due by `now`, with its time.
    #[must_use]
    pub fn poll_deed(&mut self, now: Timestamp) -> Option<(Timestamp, Deed)> {
        if self.held.is_some() {
            return None;
        }
        let due = |(at, _): &(Timestamp, Act)| *at <= now;
        while self.agenda.front().is_some_and(due)
            && let Some((at, act)) = self.agenda.pop_front()
        {
            self.decide_ahead();
            match act {
                Act::Deed(deed) => {
                    if let Deed::Stands(field, contents) = deed {
                        self.standing[field.index()] = contents;
                    }
                    return Some((at, deed));
                }
                Act::GameReady if self.holds_before_games => {
                    self.held = Some(at);
                    return None;
                }
                Act::GameReady => {}
                Act::GameBegins => {
                    self.truth = Truth {
                        games: self.truth.games + 1,
                        ..Truth::default()
                    }
                }
                Act::PlyCompleted => self.truth.plies += 1,
                Act::GameOver => self.truth.over = true,
            }
        }
        None
    }

    /// Schedules actions until no later decision can add one before the first action on the agenda.
    fn decide_ahead(&mut self) {
        loop {
            let decided_until = self.began + self.opponents.hand().now();
            if self.agenda.front().is_some_and(|(at, _)| *at <= decided_until) || !self.decide() {
                return;
            }
        }
    }

    /// Schedules the next part of the play. Returns `false` if all games are over.
    fn decide(&mut self) -> bool {
        let Some(script) = self.scripts.front() else {
            return false;
        };
        match self.plies_decided {
            None => {
                let start = script.start;
                self.prepare(&start);
                self.plies_decided = Some(0);
            }
            Some(nth) => match script.plies.get(nth).copied() {
                Some(ply) => {
                    let SittingSettings {
                        temperament,
                        thinking,
                        ..
                    } = self.settings;
                    let made = self.opponents.play(&ply, temperament, thinking, &mut self.chance);
                    self.schedule_steps();
                    self.schedule(made.landed, Act::PlyCompleted);
                    self.plies_decided = Some(nth + 1);
                }
                None => {
                    let ending = script.ending;
                    self.end(ending);
                    self.plies_decided = None;
                    self.scripts.pop_front();
                }
            },
        }
        true
    }

    /// Sets up the pieces and starts the clock.
    fn prepare(&mut self, start: &Dump) {
        let first = !core::mem::replace(&mut self.prepared, true);
        let rest = self.rest();
        let hand = self.opponents.hand();
        hand.set_up(start);
        if !first {
            hand.act(Deed::SetClock);
        }
        hand.wait(rest);
        let ready = hand.now();
        let setting = Setting {
            // In later games Black always presses first, so the position of the lever does not matter.
            black_presses_first: self.settings.setting.black_presses_first || !first,
            ..self.settings.setting.clone()
        };
        self.opponents.start_clock(&setting);
        let begins = self.opponents.hand().now();
        if !first {
            // Before the steps, the first of which may be at the same time.
            self.schedule(ready, Act::GameReady);
        }
        self.schedule_steps();
        self.schedule(begins, Act::GameBegins);
    }

    /// Stops the clock and shows the result.
    fn end(&mut self, ending: Ending) {
        let rest = self.rest();
        let hand = self.opponents.hand();
        hand.wait(END_PAUSE);
        hand.tidy_up();
        hand.act(Deed::StopClock);
        let over = hand.now();
        hand.wait(END_PAUSE);
        if let Some(fields) = ending.fields() {
            let black_first = self.chance.percent(50);
            show_kings(&mut self.opponents, fields, black_first);
        }
        self.opponents.hand().wait(rest);
        self.schedule_steps();
        self.schedule(over, Act::GameOver);
    }

    fn rest(&self) -> Span {
        REST.percent(self.settings.thinking, MIN_REST)
    }

    fn schedule_steps(&mut self) {
        for step in self.opponents.hand().take_steps() {
            self.schedule(step.at, Act::Deed(step.deed));
        }
    }

    /// Puts an action on the agenda, after others at the same time.
    fn schedule(&mut self, at: Duration, act: Act) {
        let at = self.began + at;
        let place = self.agenda.partition_point(|(before, _)| *before <= at);
        self.agenda.insert(place, (at, act));
    }
}

impl Ending {
    /// Returns the target squares of White's and Black's kings.
    const fn fields(self) -> Option<(Field, Field)> {
        let (white, black) = match self {
            Self::Stops => return None,
            Self::WhiteWins => (E4, D5),
            Self::BlackWins => (D4, E5),
            Self::Draw => (D4, E4),
        };
        match (Field::new(white), Field::new(black)) {
            (Some(white), Some(black)) => Some((white, black)),
            _ => None,
        }
    }
}

/// Moves the kings to these squares and removes other pieces from them. Swaps the squares if a king is already on the
/// square of the other.
fn show_kings(opponents: &mut Opponents, (one, other): (Field, Field), black_first: bool) {
    let hand = opponents.hand();
    let king = |king| Field::all().find(|field| hand.standing()[field.index()] == Some(king));
    let (white, black) = (king(Piece::WhiteKing), king(Piece::BlackKing));
    let crossed = white == Some(other) || black == Some(one);
    let (white_to, black_to) = if crossed { (other, one) } else { (one, other) };
    let mut moves = [(white, white_to), (black, black_to)];
    if black_first {
        moves.reverse();
    }
    for (from, to) in moves {
        let Some(from) = from.filter(|from| *from != to) else {
            continue;
        };
        if hand.standing()[to.index()].is_some() {
            hand.lift(to);
            hand.wait(ms(300, 800));
        }
        hand.travel(from, to, false, &Manner::PLAIN);
        hand.wait(ms(500, 1000));
    }
}

const END_PAUSE: Span = ms(1200, 2500);
/// Pause before a game, and after the result was shown.
const REST: Span = ms(3000, 8000);
/// Minimum pause, long enough for a host to detect the pieces at rest.
const MIN_REST: Duration = Duration::from_millis(2500);

const D5: u8 = 27;
const E5: u8 = 28;
const D4: u8 = 35;
const E4: u8 = 36;
