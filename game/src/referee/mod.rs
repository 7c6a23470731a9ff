//! The referee: starts and ends games on the tracker's line of play, and decides which plies belong to them.
//!
//! While the clock is stopped, no ply is added to a game or removed from it: the players show a result, the arbiter
//! works on the board, or somebody analyses. When the clock runs again, the game follows the position on the board.

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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Game {
    /// Number of the game on its board, from 1.
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
    /// Whether a command set the start position. Any play from such a position is a game.
    given: bool,
    /// Whether the next start position is one set by command.
    start_is_given: bool,
    /// Id of the game that the line continues after a gap.
    continues: Option<String>,
    line: Vec<LineEntry>,
    /// Number of games that have begun on this board.
    games: u32,
    game: Option<OpenGame>,
    /// The previous game until the next one begins. The arbiter can still change its record.
    previous: Option<OpenGame>,
    /// The last game before this one that counts for a pairing.
    last_paired: Option<CountingGame>,
    /// An earlier game, while a command about it is carried out.
    recalled: Option<OpenGame>,
    /// Players of the next game, as announced by command.
    announced: Option<Players>,
    /// Settled positions for which a search must still decide whether a side can mate.
    unsearched: Option<Unsearched>,
    clock: ClockState,
    white_side: Option<Side>,
    watch: Watch,
    events: Vec<ExplainedEvent>,
    /// Time at which the last gap with possible unobserved play was found; `None` once an observed ply after it is
    /// settled.
    unwatched: Option<Timestamp>,
    /// Whether the board is disconnected and the tracker has not reported yet how the line continued. Pieces moved
    /// while the clock was stopped are not play just because the clock runs again.
    away: bool,
    /// Amount by which the computer's clock is ahead of the times that the referee gets.
    ahead: Duration,
}

/// A game that has begun, and whose record can still change.
#[derive(Debug)]
struct OpenGame {
    id: Game,
    start: State,
    /// The published plies, each as in the line at the time of its publication.
    published: Vec<LineEntry>,
    ended: bool,
    /// The last ply after which a draw could be claimed.
    claim_after: Option<u32>,
    /// Time at which the players showed the result.
    shown_at: Option<Timestamp>,
    verdict: Option<Verdict>,
    players: Option<Players>,
    placed: Vec<Placed>,
    /// Whether the arbiter let the game continue although its position was proposed as dead.
    goes_on_dead: bool,
    /// Whether the arbiter was asked for the game's pairing, or need not be asked.
    pairing_asked: bool,
}

impl OpenGame {
    fn has_claim(&self) -> bool {
        let last = self.published.last().map(|entry| entry.ply.number);
        self.claim_after.is_some() && self.claim_after == last
    }

    /// Whether only the board has shown the end of the game. Such an end can be changed and is withdrawn if play
    /// continues.
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub result: GameResult,
    pub reason: EndReason,
    /// Authority that decided the result.
    pub by: DecidedBy,
    /// False until the arbiter confirms the result, if the Laws require that.
    pub confirmed: bool,
    /// Arbiter who decided the result, and when; `None` if no arbiter did.
    pub decided: Option<Decision>,
}

/// A ply of the line, with its completion.
#[derive(Debug, Clone)]
struct LineEntry {
    ply: Box<Ply>,
    /// Time of the tracker's report.
    reported_at: Timestamp,
    settled: Option<SettledBy>,
    /// Act of completion, with the clock at that time and the time spent on the move in milliseconds.
    completed: Option<(CompletedBy, Option<Clock>, Option<u64>)>,
    offered: Offered,
    /// Arbiter who entered the ply, and when; `None` if it was observed on the board.
    entered: Option<Decision>,
}

impl LineEntry {
    fn is_pressed(&self) -> bool {
        self.completed.is_some_and(|(by, ..)| by == CompletedBy::Press)
    }
}

#[derive(Debug, Default)]
struct ClockState {
    connected: bool,
    running: bool,
    /// Whether the clock has run since the start position was set up.
    ran: bool,
    stopped_at: Option<Timestamp>,
}

/// Number of plies from which a clock that was never started counts as unused by the players.
const MIN_PLIES_WITHOUT_CLOCK: usize = 4;
/// Number of plies from which play from a position without history and without a clock counts as a game.
const MIN_PLIES_FROM_POSITION: usize = 3;
/// Maximum number of plies that a guest of honour makes before the clock is started. They are taken back.
const MAX_CEREMONIAL_PLIES: usize = 2;

impl Referee {
    #[must_use]
    pub(crate) fn new(board: &str, regulations: Regulations) -> Self {
        Self {
            board: board.to_owned(),
            regulations,
            ..Self::default()
        }
    }

    /// Sets the time until which the board's squares are known; `None` if the board reports changes at once.
    pub(crate) fn polled(&mut self, until: Option<Timestamp>) {
        self.watch.polled(until);
    }

    /// Sets the model of boards and hands. Call before the first finding.
    pub(crate) fn follow_model(&mut self, model: &'static Model) {
        self.watch.follow(model);
    }

    #[must_use]
    pub(crate) fn regulations(&self) -> &Regulations {
        &self.regulations
    }

    /// Handles a finding of the tracker. Call [`compare`](Self::compare) after the last finding of an observation.
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
            // Only the watchers need these findings.
            Finding::Jolted | Finding::Steadied => {}
            Finding::Away => self.away = true,
            Finding::Start(start) => self.start_set_up(now, start),
            Finding::Made(ply) => self.handle_ply(now, ply, CorrectionReason::MovedOn),
            Finding::Amended { ply, reason } => self.handle_ply(now, ply, reason),
            Finding::Retracted { ply, reason, odds } => {
                self.line.truncate(index(ply));
                // Kings on their way to the centre and pieces being set up were never moves, even if the clock runs.
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

    /// Compares the board with the line of play after all findings of an observation. Plies that are found together
    /// must not open incidents about the positions between them.
    pub(crate) fn compare(&mut self, now: Timestamp) {
        self.watch(now, News::Time);
    }

    /// Stores White's side of the clock. A game in progress publishes it; otherwise the next game.started has it.
    fn white_side_found(&mut self, now: Timestamp, white_side: Side) {
        let news = self.white_side.replace(white_side) != Some(white_side);
        if news && self.game().is_some() {
            self.publish(now, EventKind::ClockSides { white_side });
        }
    }

    /// Time at which [`handle_deadline`](Self::handle_deadline) is due if no finding comes earlier; `None` if nothing
    /// is pending.
    #[must_use]
    pub(crate) fn poll_deadline(&self) -> Option<Timestamp> {
        let search_due = self.unsearched.map(|unsearched| unsearched.due);
        let deadlines = [self.watch.poll_deadline(), search_due];
        deadlines.into_iter().flatten().min()
    }

    pub(crate) fn handle_deadline(&mut self, now: Timestamp) {
        if self.unsearched.is_some_and(|unsearched| unsearched.due <= now) {
            self.search_for_dead_position(now, u32::MAX);
        }
        self.compare(now);
    }

    fn has_incident(&self, number: u64) -> bool {
        self.watch.can_be_decided(number)
    }

    /// Creates a decision made now. Its time is that of the event.
    fn decision(&self, now: Timestamp, by: &str) -> Decision {
        Decision {
            by: by.to_owned(),
            at: now + self.ahead,
        }
    }

    fn close_incident(&mut self, now: Timestamp, by: &str, close: &CloseIncident) {
        let decision = self.decision(now, by);
        for (ts, event) in self.watch.decide(now, decision, close) {
            self.publish(ts, event);
        }
    }

    /// Notifies the watchers that the arbiter has set the position or the moves.
    fn board_is_set(&mut self, now: Timestamp) {
        for (ts, event) in self.watch.set_by_arbiter(now) {
            self.publish(ts, event);
        }
    }

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

    /// Whether the game of the tracker's line has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.game.as_ref().is_some_and(|game| game.ended)
    }

    /// The game in progress.
    #[must_use]
    pub(crate) fn game(&self) -> Option<&Game> {
        self.game.as_ref().filter(|game| !game.ended).map(|game| &game.id)
    }

    /// Takes the events since the last call, in order and not numbered yet.
    pub(crate) fn take_events(&mut self) -> Vec<ExplainedEvent> {
        core::mem::take(&mut self.events)
    }

    /// Publishes an event of the current game. Returns the event, so that the caller can add details.
    fn publish(&mut self, ts: Timestamp, kind: EventKind) -> &mut ExplainedEvent {
        // Events of boards and clocks after the end do not belong to the game.
        let of_device = matches!(
            kind,
            EventKind::ClockConnected {}
                | EventKind::ClockDisconnected {}
                | EventKind::ClockBatteryLow {}
                | EventKind::BoardRecovered { .. }
        );
        let game = self.game.as_ref().filter(|game| !(of_device && game.ended));
        let game = game.map(|game| game.id.id.as_str());
        let event = ExplainedEvent::new(ts, &self.board, game, kind);
        self.events.push_mut(event)
    }

    /// Handles a ply that extends or changes the line.
    fn handle_ply(&mut self, now: Timestamp, ply: Box<Ply>, reason: CorrectionReason) {
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
        // The watchers compare the board with the last two positions.
        if let Some(older) = self.line.iter_mut().nth_back(1) {
            older.ply.after.forget_moves();
        }
        self.line.push(entry);
        self.follow(now, reason);
        self.check_for_play(now);
    }

    /// Whether a ply from the board's memory was the last one of a game whose result was shown afterwards. An irregular
    /// ply is rather a king on its way to show the result.
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
        // An array that would be two swapped pieces in standard chess may be the drawn Chess960 position.
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

    /// Keeps the finished game as the previous one when its pieces are set up again. Its record stays open until the
    /// next game begins.
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

    /// Handles a result shown on the board. If the board showed another result before, the players have corrected the
    /// kings.
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
            // In the board's memory, the last plies cannot be told from hands that put the pieces back.
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
    /// Whether kings or a result piece on the board show the result, without a confirmation.
    fn is_shown(&self) -> bool {
        let sign = matches!(self.reason, EndReason::Kings | EndReason::ResultPiece);
        sign && self.by == DecidedBy::Board && !self.confirmed
    }

    /// Creates a result shown on the board, which is only a proposal.
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
