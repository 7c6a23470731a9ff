//! The referee: starts and ends games on the tracker's line of play, and leaves out what is not part of them.
//!
//! While the clock is stopped, nothing is added to a game and nothing is taken from it: what happens on the board then
//! is a result being shown, an arbiter's work, or analysis. When the clock runs again, the game follows the position on
//! the board.

mod claims;
mod dead;
mod ending;
mod game;
mod gap;
mod history;
mod orders;
mod pairing;
mod playing;
mod result;
mod resume;
mod resumed;
mod watch;
mod words;

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::KnownOutcome;

use crate::clock::{ClockChange, Side};
use crate::command::CloseIncident;
use crate::events::pairing::CountingGame;
use crate::events::{
    Clock, CompletedBy, CorrectionReason, DecidedBy, Decision, EndReason, EventKind, ExplainedEvent,
    GameResult, Players, Ply, SettledBy,
};
use crate::laws::{DrawnStart, Regulations};
use crate::model::Model;
use crate::position::{State, Variant, is_chess960};
use crate::tracker::{Finding, Start};
use claims::Offered;
use dead::Unsearched;
use history::{History, Placed};
pub use playing::Playing;
pub(crate) use resumed::Resumed;
use watch::{GameStatus, News, Watch};
use words::index;

/// A game's number on its board and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Game {
    /// From 1.
    pub number: u32,
    /// Day, board and number, as in "2026-11-21-board-1-2".
    pub id: String,
}

/// Applies the Laws to one board's line of play.
#[derive(Debug, Default)]
pub(crate) struct Referee {
    board: String,
    regulations: Regulations,
    start: Option<Start>,
    /// The start position was set by command: what is played from it is a game.
    given: bool,
    /// The next start position is set by command.
    start_is_given: bool,
    /// The game that the line continues after a gap cut it off.
    continues: Option<String>,
    /// The line as the tracker has it.
    line: Vec<LineEntry>,
    /// How many games began on this board.
    games: u32,
    game: Option<OpenGame>,
    /// The previous game, until the next one begins: the arbiter can still change its record.
    previous: Option<OpenGame>,
    /// The last game before this one that counts for a pairing.
    last_paired: Option<CountingGame>,
    /// An earlier game, while a command about it is carried out.
    recalled: Option<OpenGame>,
    /// Who will play the next game, as announced by command.
    announced: Option<Players>,
    /// Positions that are still to be searched for whether anybody can mate.
    unsearched: Option<Unsearched>,
    clock: ClockState,
    white_side: Option<Side>,
    watch: Watch,
    events: Vec<ExplainedEvent>,
    /// When it was last found that something may have been played unwatched, if no ply that was watched since is beyond
    /// doubt.
    unwatched: Option<Timestamp>,
    /// The board went away, and how the line went on meanwhile has not been told yet. What was moved while the clock was
    /// stopped need not be play because it runs again.
    away: bool,
    /// By how much the computer's clock is ahead of the times that come in here.
    ahead: Duration,
}

/// A game that has begun, and whose record can still change.
#[derive(Debug)]
struct OpenGame {
    id: Game,
    start: State,
    /// The plies published, each as in the line when it was published.
    published: Vec<LineEntry>,
    ended: bool,
    /// The last ply after which a draw could be claimed.
    claim_after: Option<u32>,
    /// When the players showed its result.
    shown_at: Option<Timestamp>,
    /// How it ended.
    verdict: Option<Verdict>,
    players: Option<Players>,
    placed: Vec<Placed>,
    /// The arbiter let it go on although its position was proposed as dead.
    goes_on_dead: bool,
    /// The arbiter was asked which pairing it counts for, or there is no need to.
    pairing_asked: bool,
}

impl OpenGame {
    /// Whether a draw can be claimed after its last ply.
    fn has_claim(&self) -> bool {
        let last = self.published.last().map(|entry| entry.ply.number);
        self.claim_after.is_some() && self.claim_after == last
    }

    /// Whether it is over by what the board showed alone: that can be changed, and is withdrawn when play goes on.
    fn is_shown(&self) -> bool {
        self.ended && self.verdict.as_ref().is_some_and(Verdict::is_shown)
    }

    /// Drops all plies after the first `plies`.
    fn keep(&mut self, plies: usize) {
        self.published.truncate(plies);
        self.placed
            .retain(|placed| usize::try_from(placed.ply).is_ok_and(|ply| ply <= plies));
    }
}

/// How a game ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The result.
    pub result: GameResult,
    /// What ended it.
    pub reason: EndReason,
    /// Who or what decided it.
    pub by: DecidedBy,
    /// False until the arbiter confirms it, where the Laws ask for that.
    pub confirmed: bool,
    /// Which arbiter decided it, and when; `None` where it was not an arbiter.
    pub decided: Option<Decision>,
}

/// A ply of the line, with what is known of its completion.
#[derive(Debug, Clone)]
struct LineEntry {
    ply: Box<Ply>,
    /// When the tracker found it.
    reported_at: Timestamp,
    settled: Option<SettledBy>,
    /// How, with the clock then and the time that the move took, in milliseconds.
    completed: Option<(CompletedBy, Option<Clock>, Option<u64>)>,
    offered: Offered,
    /// Which arbiter entered it, and when; `None` if it was seen on the board.
    entered: Option<Decision>,
}

impl LineEntry {
    /// Whether the press of the player who made it completed it.
    fn is_pressed(&self) -> bool {
        self.completed.is_some_and(|(by, ..)| by == CompletedBy::Press)
    }
}

#[derive(Debug, Default)]
struct ClockState {
    connected: bool,
    running: bool,
    /// It has run since the start position was set up.
    ran: bool,
    stopped_at: Option<Timestamp>,
}

/// From this many plies on with a clock that was never started, the players are playing without it.
const MIN_PLIES_WITHOUT_CLOCK: usize = 4;
/// From this many plies on, play from a position without history and without a clock is a game.
const MIN_PLIES_FROM_POSITION: usize = 3;
/// A guest of honour makes at most this many plies before the clock is started; they are taken back.
const MAX_CEREMONIAL_PLIES: usize = 2;

impl Referee {
    /// A referee for the board of that name, under these regulations and without a game.
    #[must_use]
    pub(crate) fn new(board: &str, regulations: Regulations) -> Self {
        Self {
            board: board.to_owned(),
            regulations,
            ..Self::default()
        }
    }

    /// What happened on the board is known until then; `None`: it tells at once.
    pub(crate) fn polled(&mut self, until: Option<Timestamp>) {
        self.watch.polled(until);
    }

    /// Takes boards and hands to be like that. To be called before anything is found.
    pub(crate) fn follow_model(&mut self, model: &'static Model) {
        self.watch.follow(model);
    }

    /// What applies at the board.
    #[must_use]
    pub(crate) fn regulations(&self) -> &Regulations {
        &self.regulations
    }

    /// Takes in what the tracker found. Call [`compare`](Self::compare) after the last finding of an observation.
    pub(crate) fn handle(&mut self, now: Timestamp, finding: Finding) {
        let news = News::of(&finding, &self.line);
        match finding {
            Finding::Squares(snapshot) => {
                self.watch.scan(now, &snapshot);
                self.watch(now, News::Squares);
            }
            Finding::Times { clock, sure } => {
                self.watch.read_clock(clock, sure);
                self.watch(now, News::Times(clock.times_ms()));
            }
            // The watchers alone have to know.
            Finding::Jolted | Finding::Steadied => {}
            Finding::Away => self.away = true,
            Finding::Start(start) => self.start_set_up(now, start),
            Finding::Made(ply) => self.played(now, ply, CorrectionReason::MovedOn),
            Finding::Amended { ply, reason } => self.played(now, ply, reason),
            Finding::Retracted { ply, reason, odds } => {
                self.line.truncate(index(ply));
                // Kings on their way to the centre and pieces being set up were never a move, whether the clock runs or not.
                let withdrawal = if matches!(reason, CorrectionReason::Kings | CorrectionReason::SetUp) {
                    self.withdraw_surplus(now, reason)
                } else {
                    self.follow(now, reason)
                };
                if let Some(withdrawal) = withdrawal {
                    withdrawal.odds = odds;
                }
            }
            Finding::Settled { ply, by, odds } => {
                if let Some(entry) = self.line.get(index(ply)).filter(|_| by != SettledBy::Shape) {
                    let watched_since = |gap: Timestamp| !entry.ply.inferred && entry.reported_at >= gap;
                    self.unwatched = self.unwatched.filter(|gap| !watched_since(*gap));
                }
                self.mark(now, ply, odds, |entry| entry.settled = Some(by));
            }
            Finding::Completed {
                ply,
                by,
                clock,
                elapsed,
            } => {
                let elapsed = elapsed.and_then(|e| u64::try_from(e.as_millis()).ok());
                self.mark(now, ply, None, |entry| {
                    entry.completed = Some((by, clock, elapsed))
                });
                let published = self.game.as_ref().map_or(0, |game| game.published.len());
                let counts_now =
                    |entry: &LineEntry| entry.ply.inferred || entry.is_pressed() && index(ply) >= published;
                if self.line.get(index(ply)).is_some_and(counts_now) {
                    self.follow(now, CorrectionReason::Recovered);
                }
                self.check_for_play(now);
            }
            Finding::ResultShown { outcome, by } => self.result_shown(now, outcome, by),
            Finding::Recovered {
                by,
                changes,
                from,
                to,
            } => self.gap_closed(now, by, changes, (from, to)),
            Finding::Clock(change) => self.clock_changed(now, change),
            Finding::WhiteSide(side) => self.white_side_found(now, side),
        }
        if let Some(news) = news {
            self.watch(now, news);
        }
    }

    /// Compares the board with the line of play, once all findings of an observation are in: plies that are found
    /// together accuse nobody of the positions between them.
    pub(crate) fn compare(&mut self, now: Timestamp) {
        self.watch(now, News::Time);
    }

    /// The next game says it when it starts; one that is being played has to be told.
    fn white_side_found(&mut self, now: Timestamp, white_side: Side) {
        let news = self.white_side.replace(white_side) != Some(white_side);
        if news && self.game().is_some() {
            self.publish(now, EventKind::ClockSides { white_side });
        }
    }

    /// When the referee wants [`handle_deadline`](Self::handle_deadline) to be called, unless something is found
    /// before; `None`: nothing is pending.
    #[must_use]
    pub(crate) fn poll_deadline(&self) -> Option<Timestamp> {
        let search_due = self.unsearched.map(|unsearched| unsearched.due);
        let deadlines = [self.watch.poll_deadline(), search_due];
        deadlines.into_iter().flatten().min()
    }

    /// Time has passed without a finding.
    pub(crate) fn handle_deadline(&mut self, now: Timestamp) {
        if self.unsearched.is_some_and(|unsearched| unsearched.due <= now) {
            self.search_for_dead_position(now, u32::MAX);
        }
        self.compare(now);
    }

    /// Whether there is an incident of that number for the arbiter to decide.
    fn has_incident(&self, number: u64) -> bool {
        self.watch.can_be_decided(number)
    }

    /// A decision that somebody makes now, with the time that its event gets.
    fn decision(&self, now: Timestamp, by: &str) -> Decision {
        Decision {
            by: by.to_owned(),
            at: now + self.ahead,
        }
    }

    /// An arbiter decides an incident.
    fn close_incident(&mut self, now: Timestamp, by: &str, close: &CloseIncident) {
        let decision = self.decision(now, by);
        for (ts, event) in self.watch.decide(now, decision, close) {
            self.publish(ts, event);
        }
    }

    /// The arbiter has set the position or the moves.
    fn board_is_set(&mut self, now: Timestamp) {
        for (ts, event) in self.watch.set_by_arbiter(now) {
            self.publish(ts, event);
        }
    }

    /// Passes what is new to the watchers.
    fn watch(&mut self, now: Timestamp, news: News) {
        let ended = self.game.as_ref().map(|game| game.ended);
        let status = GameStatus {
            now,
            start: self.start.as_ref(),
            given: self.given,
            line: &self.line,
            begun: ended == Some(false),
            over: ended == Some(true),
            claim: self.game.as_ref().is_some_and(OpenGame::has_claim),
            shown: self.game.as_ref().is_some_and(OpenGame::is_shown),
            clock: &self.clock,
            white_side: self.white_side,
            regulations: &self.regulations,
            face: self.watch.face(),
        };
        for (ts, event) in self.watch.handle(&status, news) {
            self.publish(ts, event);
        }
    }

    /// The game that is being played.
    #[must_use]
    pub(crate) fn game(&self) -> Option<&Game> {
        self.game.as_ref().filter(|game| !game.ended).map(|game| &game.id)
    }

    /// The events since the last call, in order. They are not numbered yet.
    pub(crate) fn take_events(&mut self) -> Vec<ExplainedEvent> {
        core::mem::take(&mut self.events)
    }

    /// Publishes an event of the current game. Returns it, so that the caller can add what else is known of it.
    fn publish(&mut self, ts: Timestamp, kind: EventKind) -> &mut ExplainedEvent {
        // What boards and clocks do after the end is no part of the game.
        let of_line = matches!(
            kind,
            EventKind::ClockConnected {}
                | EventKind::ClockDisconnected {}
                | EventKind::ClockBatteryLow {}
                | EventKind::BoardRecovered { .. }
        );
        let game = self.game.as_ref().filter(|game| !(of_line && game.ended));
        let game = game.map(|game| game.id.id.as_str());
        let event = ExplainedEvent::new(ts, &self.board, game, kind);
        self.events.push_mut(event)
    }

    /// The line goes on, or goes another way, with this ply.
    fn played(&mut self, now: Timestamp, ply: Box<Ply>, reason: CorrectionReason) {
        self.line.truncate(index(ply.number));
        if ply.inferred {
            self.unwatched = Some(now);
        }
        let entry = LineEntry {
            ply,
            reported_at: now,
            settled: None,
            completed: None,
            offered: Offered::default(),
            entered: None,
        };
        if self.was_left_out(&entry.ply) {
            self.publish_ply(now, entry.clone(), None, reason);
        }
        self.check_last_ply(now, &entry.ply);
        self.line.push(entry);
        self.follow(now, reason);
        self.check_for_play(now);
    }

    /// Whether a ply read from the board's memory was the last one of a game whose result has been shown since. An irregular
    /// one is a king on its way to show it.
    fn was_left_out(&self, ply: &Ply) -> bool {
        self.game.as_ref().is_some_and(|game| {
            let before = game.shown_at.is_some_and(|shown| ply.lifted_at < shown);
            game.ended
                && before
                && ply.recovered
                && ply.played.is_some()
                && game.published.len() == index(ply.number)
        })
    }

    fn start_set_up(&mut self, now: Timestamp, mut start: Start) {
        // What would be a swap in the usual game can have been drawn.
        let drawn = matches!(self.regulations.drawn_start, Some(DrawnStart::Chess960(_)));
        if drawn && start.variant == Variant::WrongStart && is_chess960(start.state.board()) {
            start.variant = Variant::Chess960;
        }
        let ceremonial = self.game.as_ref().is_some_and(|game| {
            !game.ended && !self.clock.ran && game.published.len() <= MAX_CEREMONIAL_PLIES
        });
        let same = self
            .start
            .as_ref()
            .is_some_and(|old| old.state.board() == start.state.board());
        self.line.clear();
        if start.goes_on && self.game.is_some() {
            self.cut_off(now, &start);
        } else if ceremonial && same {
            self.withdraw_surplus(now, CorrectionReason::Takeback);
        } else {
            self.end_by_laws_first(now);
            if self.game().is_some() {
                self.end(now, None, Verdict::board(GameResult::Unknown, EndReason::Reset));
            }
            self.keep_previous();
        }
        if !start.goes_on {
            self.clock.ran = self.clock.running;
            self.clock.stopped_at = None;
        }
        self.given = core::mem::take(&mut self.start_is_given);
        self.start = Some(start);
    }

    /// The game is over and its pieces have been set up again; its record stays open until the next game begins.
    fn keep_previous(&mut self) {
        self.previous = self.game.take().or_else(|| self.previous.take());
    }

    fn clock_changed(&mut self, now: Timestamp, change: ClockChange) {
        let event = match change {
            ClockChange::Connected => {
                self.clock = ClockState {
                    connected: true,
                    ran: self.clock.ran,
                    stopped_at: self.clock.ran.then_some(now),
                    ..ClockState::default()
                };
                EventKind::ClockConnected {}
            }
            ClockChange::Disconnected => {
                self.clock = ClockState {
                    ran: self.clock.ran,
                    ..ClockState::default()
                };
                EventKind::ClockDisconnected {}
            }
            ClockChange::BatteryLow => EventKind::ClockBatteryLow {},
            ClockChange::Started => {
                self.clock.running = true;
                self.clock.ran = true;
                self.clock.stopped_at = None;
                if self.game.is_none() && self.start.is_some() && self.line.is_empty() {
                    self.begin(now);
                }
                if !self.away {
                    self.follow(now, CorrectionReason::Takeback);
                }
                return;
            }
            ClockChange::Stopped => {
                self.clock.running = false;
                self.clock.stopped_at = Some(now);
                return;
            }
            ClockChange::Pressed(_) => return,
        };
        self.publish(now, event);
    }

    /// The board shows a result. Where it showed another one before, the kings have been put right.
    fn result_shown(&mut self, now: Timestamp, outcome: KnownOutcome, by: EndReason) {
        self.end_by_laws_first(now);
        let verdict = Verdict::board(outcome.into(), by);
        let ends = self.game.as_ref().is_some_and(|game| match &game.verdict {
            Some(before) if game.ended => game.is_shown() && *before != verdict,
            _ => !game.ended && !game.published.is_empty(),
        });
        if ends {
            self.end(now, None, verdict);
            if let Some(game) = &mut self.game {
                game.shown_at.get_or_insert(now);
            }
            self.report_early_draw(now);
        }
    }

    /// The history of the game being played.
    fn history(&self) -> Option<History<'_>> {
        let game = self.game.as_ref().filter(|game| !game.ended)?;
        let rules = &self.regulations.rules;
        Some(History::new(&game.start, &game.published, &game.placed, rules))
    }

    fn end(&mut self, now: Timestamp, at: Option<Timestamp>, verdict: Verdict) {
        let event = EventKind::GameEnded {
            result: verdict.result,
            reason: verdict.reason,
            by: verdict.by,
            confirmed: verdict.confirmed,
            // In the memory, the last plies and the hands that put the pieces back look alike.
            end_certain: !(self.unwatched.is_some() && verdict.by == DecidedBy::Board),
            decided_by: verdict.decided.as_ref().map(|decided| decided.by.clone()),
        };
        self.publish(now, event).event.at = at;
        self.unsearched = None;
        if let Some(game) = &mut self.game {
            game.ended = true;
            game.verdict = Some(verdict);
        }
    }
}

impl Verdict {
    /// Whether it is a result that the board shows, by kings or by a result piece, and that nobody has confirmed.
    fn is_shown(&self) -> bool {
        let sign = matches!(self.reason, EndReason::Kings | EndReason::ResultPiece);
        sign && self.by == DecidedBy::Board && !self.confirmed
    }

    /// A result shown on the board is a proposal.
    fn board(result: GameResult, reason: EndReason) -> Self {
        Self {
            result,
            reason,
            by: DecidedBy::Board,
            confirmed: false,
            decided: None,
        }
    }
}

#[cfg(test)]
mod tests;
