//! Two players at a table through one game after another, and what they have really played.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_protocol::{Dump, Field, Piece};

use super::chance::{Chance, Span, ms};
use super::{Deed, Manner, Opponents, Ply, Setting, Temperament};
use crate::time::Timestamp;

/// Who plays, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SittingSettings {
    /// How board and clock stand.
    pub setting: Setting,
    /// How both players play.
    pub temperament: Temperament,
    /// How long they think and rest, in hundredths of what the temperament does. Hands take their time all the same.
    pub thinking: u32,
    /// The same seed, the same play.
    pub seed: u64,
}

/// A game to be acted out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// What stands on the board before the first ply, numbered with the connector on White's left.
    pub start: Dump,
    /// What is played.
    pub plies: Vec<Ply>,
    /// What the players do then.
    pub ending: Ending,
}

/// What players do after the last ply. The clock is stopped in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Nothing.
    Stops,
    /// Kings to e4 and d5.
    WhiteWins,
    /// Kings to d4 and e5.
    BlackWins,
    /// Kings to d4 and e4.
    Draw,
}

/// What has really happened so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Truth {
    /// Games whose clock was started.
    pub games: usize,
    /// Plies of the last of them whose pieces stand as they should.
    pub plies: usize,
    /// Whether that game is over: its clock was stopped.
    pub over: bool,
}

/// Two players who play one game after another: what they do, when it is due.
///
/// They set up the pieces, start the clock, play, stop the clock, show the result, rest, and begin with the next game.
/// [`Player`](crate::emulator::Player) lets them do it on a board of its own; on any other board [`Setting::perform`]
/// does what [`poll_deed`](Self::poll_deed) returns.
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
    /// The game being played, and those after it.
    scripts: VecDeque<Script>,
    /// Whether the pieces were ever made ready for a game.
    prepared: bool,
    /// How far the game was decided on; `None`: its pieces are still to be set up.
    decided: Option<usize>,
    /// What was decided on, in the order of time.
    agenda: VecDeque<(Timestamp, Act)>,
    /// What stands on the board.
    standing: Dump,
    truth: Truth,
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Deed(Deed),
    GameBegins,
    PlyStands,
    GameOver,
}

impl Sitting {
    /// Players who sit down before the pieces of their first game.
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
            decided: None,
            agenda: VecDeque::new(),
            standing: first.start,
            truth: Truth::default(),
            scripts: VecDeque::from([first]),
        };
        sitting.look_ahead();
        sitting
    }

    /// One more game, when those before it are over.
    pub fn add(&mut self, now: Timestamp, script: Script) {
        if self.scripts.is_empty() {
            let idle = now.saturating_duration_since(self.began);
            self.opponents.hand().rest_until(idle);
        }
        self.scripts.push_back(script);
        self.look_ahead();
    }

    /// How board and clock stand.
    #[must_use]
    pub const fn setting(&self) -> &Setting {
        &self.settings.setting
    }

    /// What has really happened.
    #[must_use]
    pub const fn truth(&self) -> Truth {
        self.truth
    }

    /// What really stands on the board, numbered with the connector on White's left.
    #[must_use]
    pub const fn standing(&self) -> &Dump {
        &self.standing
    }

    /// Whether all games are over and nothing is left to do.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.scripts.is_empty() && self.agenda.is_empty()
    }

    /// When the players do something next; `None`: all games are over.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        self.agenda.front().map(|(at, _)| *at)
    }

    /// The next thing that is done to the board or its clock at `now` or before, and when.
    #[must_use]
    pub fn poll_deed(&mut self, now: Timestamp) -> Option<(Timestamp, Deed)> {
        let due = |(at, _): &(Timestamp, Act)| *at <= now;
        while self.agenda.front().is_some_and(due)
            && let Some((at, act)) = self.agenda.pop_front()
        {
            self.look_ahead();
            match act {
                Act::Deed(deed) => {
                    if let Deed::Stands(field, contents) = deed {
                        self.standing[field.index()] = contents;
                    }
                    return Some((at, deed));
                }
                Act::GameBegins => {
                    self.truth = Truth {
                        games: self.truth.games + 1,
                        ..Truth::default()
                    }
                }
                Act::PlyStands => self.truth.plies += 1,
                Act::GameOver => self.truth.over = true,
            }
        }
        None
    }

    /// Decides on what comes next until nothing decided later can come before it.
    fn look_ahead(&mut self) {
        loop {
            let settled = self.began + self.opponents.hand().now();
            if self.agenda.front().is_some_and(|(at, _)| *at <= settled) || !self.decide() {
                return;
            }
        }
    }

    /// Decides on the next part of the play. Returns whether there was any left.
    fn decide(&mut self) -> bool {
        let Some(script) = self.scripts.front() else {
            return false;
        };
        match self.decided {
            None => {
                let start = script.start;
                self.prepare(&start);
                self.decided = Some(0);
            }
            Some(nth) => match script.plies.get(nth).copied() {
                Some(ply) => {
                    let SittingSettings {
                        temperament,
                        thinking,
                        ..
                    } = self.settings;
                    let made = self.opponents.play(&ply, temperament, thinking, &mut self.chance);
                    self.note_steps();
                    self.note(made.landed, Act::PlyStands);
                    self.decided = Some(nth + 1);
                }
                None => {
                    let ending = script.ending;
                    self.end(ending);
                    self.decided = None;
                    self.scripts.pop_front();
                }
            },
        }
        true
    }

    /// The pieces are set up and the clock is started.
    fn prepare(&mut self, start: &Dump) {
        let first = !core::mem::replace(&mut self.prepared, true);
        let rest = self.rest();
        let hand = self.opponents.hand();
        hand.set_up(start);
        if !first {
            hand.act(Deed::SetClock);
        }
        hand.wait(rest);
        let setting = Setting {
            // Where the last game left the lever does not matter then.
            black_presses_first: self.settings.setting.black_presses_first || !first,
            ..self.settings.setting.clone()
        };
        self.opponents.start_clock(&setting);
        let begins = self.opponents.hand().now();
        self.note_steps();
        self.note(begins, Act::GameBegins);
    }

    /// The clock is stopped, the result is shown.
    fn end(&mut self, ending: Ending) {
        let rest = self.rest();
        let hand = self.opponents.hand();
        hand.wait(AFTER_LAST_PLY);
        hand.tidy_up();
        hand.act(Deed::StopClock);
        let over = hand.now();
        hand.wait(AFTER_LAST_PLY);
        if let Some(fields) = ending.fields() {
            let black_first = self.chance.percent(50);
            show_kings(&mut self.opponents, fields, black_first);
        }
        self.opponents.hand().wait(rest);
        self.note_steps();
        self.note(over, Act::GameOver);
    }

    fn rest(&self) -> Span {
        REST.percent(self.settings.thinking, MIN_REST)
    }

    fn note_steps(&mut self) {
        for step in self.opponents.hand().take_steps() {
            self.note(step.at, Act::Deed(step.deed));
        }
    }

    /// Puts it on the agenda, after what happens at the same time.
    fn note(&mut self, at: Duration, act: Act) {
        let at = self.began + at;
        let place = self.agenda.partition_point(|(before, _)| *before <= at);
        self.agenda.insert(place, (at, act));
    }
}

impl Ending {
    /// Where White's and Black's kings go.
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

/// Both kings go to these fields, whichever has the shorter way; what stands there is taken off.
fn show_kings(opponents: &mut Opponents, (one, other): (Field, Field), black_first: bool) {
    let hand = opponents.hand();
    let king = |king| Field::all().find(|field| hand.standing()[field.index()] == Some(king));
    let (white, black) = (king(Piece::WhiteKing), king(Piece::BlackKing));
    let crossed = white == Some(other) || black == Some(one);
    let (white_to, black_to) = if crossed { (other, one) } else { (one, other) };
    let mut ways = [(white, white_to), (black, black_to)];
    if black_first {
        ways.reverse();
    }
    for (from, to) in ways {
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

const AFTER_LAST_PLY: Span = ms(1200, 2500);
/// Before a game, and after its result was shown.
const REST: Span = ms(3000, 8000);
/// The shortest rest, long enough for a host to see the pieces stand.
const MIN_REST: Duration = Duration::from_millis(2500);

const D5: u8 = 27;
const E5: u8 = 28;
const D4: u8 = 35;
const E4: u8 = 36;
