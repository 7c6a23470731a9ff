//! One board, from observations to numbered events: tracker and referee in a row.

use core::time::Duration;
use std::collections::BTreeMap;

use kiebitz_hardware::{Observation, Observed, Timestamp};
use shakmaty::Bitboard;

use super::allowance::Allowance;
use super::presence::Presence;
use super::steps::Steps;
use crate::clock::{ClockFace, Side};
use crate::command::{Announced, Answer, Command, Order, Refusal};
use crate::events::incidents::Incidents;
use crate::events::pairing::CountingGame;
use crate::events::{EventKind, ExplainedEvent, Incident};
use crate::laws::{DrawnStart, Regulations};
use crate::model::Model;
use crate::position::start::Drawn;
use crate::position::{Orientation, Seen};
use crate::referee::{Playing, Referee, Resumed};
use crate::tracker::Tracker;

/// The pipeline of one board. The daemon and a replay drive it in the same way: before it handles an observation, every
/// deadline up to the observation's time fires with its own time.
#[derive(Debug)]
pub struct Board {
    name: String,
    stream: String,
    seq: u64,
    /// Seqs to skip: the event after the first seq of a pair gets the number after the second one.
    jumps: BTreeMap<u64, u64>,
    presence: Presence,
    tracker: Tracker,
    referee: Referee,
    pending_events: Vec<ExplainedEvent>,
    was_connected: bool,
    last_input: Option<Timestamp>,
    forgotten: bool,
    /// Events from before the board counted as connected. They are published when it connects.
    early: Vec<ExplainedEvent>,
    /// Changes of squares since the last call of [`take_seen`](Self::take_seen).
    seen: Seen,
    /// Steps of the computer's clock, which the board's own time does not have.
    steps: Steps,
    /// Limit of the recorded commands without an effect.
    without_effect: Allowance,
}

impl Board {
    /// Creates a board that is not plugged in yet. Its events form `stream`, and `regulations` apply to its games.
    #[must_use]
    pub fn new(name: &str, stream: &str, regulations: Regulations) -> Self {
        let mut tracker = Tracker::new();
        tracker.expect_start(drawn(&regulations));
        Self {
            name: name.to_owned(),
            stream: stream.to_owned(),
            seq: 0,
            jumps: BTreeMap::new(),
            presence: Presence::new(),
            tracker,
            referee: Referee::new(name, regulations),
            pending_events: Vec::new(),
            was_connected: false,
            last_input: None,
            forgotten: name == super::ROUNDS,
            early: Vec::new(),
            seen: Seen::default(),
            steps: Steps::default(),
            without_effect: Allowance::default(),
        }
    }

    /// Sets the model of boards and hands. Call before the first observation.
    #[must_use]
    pub fn following(mut self, model: &'static Model) -> Self {
        self.tracker = Tracker::following(model);
        self.tracker.expect_start(drawn(self.referee.regulations()));
        self.referee.follow_model(model);
        self
    }

    /// Starts counting events after `seq`, and games from a number that cannot have been used before.
    pub(super) fn begun_after(mut self, seq: u64) -> Self {
        self.seq = seq;
        // A board never has more games than events. If `seq` is a time in microseconds instead of a count, dividing it
        // by a million is safe because a game takes at least a second.
        let games = u32::try_from(seq).or_else(|_| u32::try_from(seq / 1_000_000));
        self.referee.count_after(games.unwrap_or(u32::MAX - 1));
        self
    }

    /// Continues from the journal: with the seq of the board's last event, the time until which its moves were
    /// `followed`, and its last game.
    pub(super) fn resume_game(
        mut self,
        last_seq: u64,
        followed: Option<Timestamp>,
        game: Option<Resumed>,
    ) -> Self {
        self.seq = last_seq;
        if let Some(game) = game {
            let followed = followed.unwrap_or(game.last_ts);
            let (start, line) = game.line();
            let settled = game.plies.iter().map(|(_, record)| record.settled.is_some());
            let plies = line.iter().zip(settled);
            self.tracker.resume(followed, &start, plies, game.doubt);
            self.tracker.resume_clock(game.white_side, game.halted());
            if let Some(before) = &game.before {
                self.tracker.resume_after(before);
            }
            self.referee.resume(game);
        } else if let Some(followed) = followed {
            self.tracker.resume_without_line(followed);
        }
        self
    }

    /// Seq of the last event.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        self.seq
    }

    /// Raises the last seq to `number` if it is higher.
    pub(super) fn count_on_after(&mut self, number: u64) {
        self.seq = self.seq.max(number);
    }

    /// Sets the seqs to skip: the event after the first seq of a pair gets the number after the second one.
    pub(super) fn leave_out(&mut self, jumps: Option<&BTreeMap<u64, u64>>) {
        self.jumps = jumps.cloned().unwrap_or_default();
    }

    pub(super) fn with_incidents(mut self, incidents: &Incidents) -> Self {
        self.referee.resume_incidents(incidents);
        self.tracker.believe_unseen(self.referee.unseen());
        self
    }

    /// Restores the announcements for the next game and the round from the journal.
    pub(super) fn with_announced(mut self, announced: &Announced) -> Self {
        self.referee.resume_announced(announced);
        self
    }

    pub(super) fn with_last_paired(mut self, last: Option<CountingGame>) -> Self {
        self.referee.resume_last_paired(last);
        self
    }

    /// Applies the steps of the computer's clock from before the hall met the board.
    pub(super) fn follow(&mut self, steps: &Steps) {
        self.steps = steps.clone();
        self.referee.set_ahead(steps.ahead());
    }

    /// Records that the computer's clock was set by `by_ms` milliseconds. `steps` already contains the step if it was
    /// forward.
    pub(super) fn set_clock(&mut self, now: Timestamp, steps: &Steps, by_ms: i64) {
        self.follow(steps);
        if self.presence.is_connected() {
            self.emit_now(now, EventKind::TimeSet { by_ms });
        }
    }

    /// Replaces the regulations `before`. Settings that the arbiter has changed stay as they are.
    pub(super) fn regulate(&mut self, before: &Regulations, regulations: Regulations) {
        self.referee.regulate(before, regulations);
        self.tracker.expect_start(drawn(self.referee.regulations()));
    }

    /// Name of the board.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Regulations of the board's games.
    #[must_use]
    pub fn regulations(&self) -> &Regulations {
        self.referee.regulations()
    }

    /// Pieces that the sensors report, without result pieces.
    #[must_use]
    pub fn placement(&self) -> &shakmaty::Board {
        self.tracker.placement()
    }

    /// Placement after the last announced ply, and the squares on which the board differs from it; `None` until the
    /// tracker follows a game.
    #[must_use]
    pub fn expected(&self) -> Option<(&shakmaty::Board, Bitboard)> {
        self.tracker.expected()
    }

    /// Side of the board on which White sits; `None` until a start position has shown it.
    #[must_use]
    pub fn orientation(&self) -> Option<Orientation> {
        self.tracker.orientation()
    }

    /// Whether a clock answers.
    #[must_use]
    pub fn has_clock(&self) -> bool {
        self.tracker.has_clock()
    }

    /// Last clock reading; `None` while White's side is unknown.
    #[must_use]
    pub fn clock(&self) -> Option<ClockFace> {
        self.tracker.clock().map(|face| ClockFace {
            as_of: face.as_of + self.ahead(),
            ..face
        })
    }

    /// White's side of the clock; `None` while unknown.
    #[must_use]
    pub fn white_side(&self) -> Option<Side> {
        self.tracker.white_side()
    }

    /// Side on which the clock's lever is up: the side that was not pressed last. `None` without a clock.
    #[must_use]
    pub fn lever_up(&self) -> Option<Side> {
        self.tracker.lever_up()
    }

    /// Times on the left and the right side of the clock in milliseconds, also before White's side is known. `None`
    /// while the clock runs, and without a clock.
    #[must_use]
    pub fn standing_ms(&self) -> Option<[u64; 2]> {
        self.tracker.standing_ms().filter(|_| self.has_clock())
    }

    /// Firmware version, major and minor number; `None` until the board has reported it.
    #[must_use]
    pub fn version(&self) -> Option<(u8, u8)> {
        self.presence.version()
    }

    /// Whether the board is plugged in and has sent its placement.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.presence.is_connected()
    }

    /// Whether the board is hidden: it was removed by the command `forget` and has not reconnected, or it is the
    /// [record of rounds](super::ROUNDS).
    #[must_use]
    pub fn is_forgotten(&self) -> bool {
        self.forgotten
    }

    pub(super) fn with_forgotten(mut self, forgotten: bool) -> Self {
        self.forgotten |= forgotten;
        self
    }

    /// Current or last port of the board; empty if it was never plugged in.
    #[must_use]
    pub fn port(&self) -> &str {
        self.presence.port()
    }

    /// Serial number, the long one if the board has one.
    #[must_use]
    pub fn serial(&self) -> Option<&str> {
        self.presence.serial()
    }

    /// Time of the last input from the board; `None` before the first.
    #[must_use]
    pub fn heard(&self) -> Option<Timestamp> {
        self.last_input.map(|last_input| last_input + self.ahead())
    }

    /// Charge of the board's own battery in percent, 0 to 100; `None` if it has none or does not report it.
    #[must_use]
    pub fn battery(&self) -> Option<u8> {
        self.presence.battery()
    }

    /// Sets the port of the board.
    pub fn sit(&mut self, port: &str) {
        self.presence.sit(port);
    }

    /// Handles an observation. Every deadline up to its time fires first, with its own time.
    pub fn observe(&mut self, observed: &Observed) {
        self.advance(observed.at);
        if !matches!(
            observed.observation,
            Observation::Opened | Observation::Closed { .. }
        ) {
            self.last_input = Some(observed.at);
        }
        if matches!(observed.observation, Observation::Closed { .. }) {
            // The referee must have the last moves before the board is away.
            self.tracker.play_back_held(observed.at);
            self.process_findings();
        }
        let presence = self.presence.observe(&observed.observation);
        let is_report = matches!(observed.observation, Observation::Field { .. });
        let before = is_report.then(|| self.tracker.placement().clone());
        // The tracker must have the first dump before the event: the dump may show the orientation of the board.
        self.tracker.observe(observed);
        if let Some(before) = before {
            self.seen.note(&before, self.tracker.placement());
        }
        if let Some(event) = presence {
            self.forgotten &= !self.presence.is_connected();
            let event = self.oriented(event);
            self.emit_now(observed.at, event);
        }
        if self.presence.is_connected() {
            self.was_connected = true;
            for mut explained in core::mem::take(&mut self.early) {
                explained.event.ts = observed.at;
                self.emit(explained);
            }
        }
        self.process_findings();
    }

    /// Carries out a command, unless it is refused. Every deadline up to `now` fires first, with its own time.
    ///
    /// A command that changes nothing is recorded only within an [allowance](Allowance), as no replay needs it.
    pub fn command(&mut self, now: Timestamp, command: &Command) -> Answer {
        self.advance(now);
        self.referee.recall(command.recalled.as_deref());
        let checked = match command.order {
            Order::Forget if self.presence.is_connected() => Err(Refusal::Connected {
                board: self.name.clone(),
            }),
            _ => self.referee.check(now, &command.by, &command.order),
        };
        let outcome = checked.as_ref().map(|checked| checked.note().map(str::to_owned));
        let answer = command.answer(outcome, self.referee.regulations().language);
        let event = EventKind::CommandTaken {
            id: command.id.clone(),
            action: command.action,
            by: command.by.clone(),
            arguments: command.arguments.clone(),
            error: answer.error.clone(),
            note: answer.note.clone(),
        };
        if self.is_recorded(now, command, &answer) {
            let about = command.game().and_then(|id| self.referee.game_with(id));
            let game = about.or_else(|| self.referee.game());
            let game = game.map(|game| game.id.as_str());
            self.emit(ExplainedEvent::new(now, &self.name, game, event));
        }
        if let Ok(checked) = checked {
            self.forgotten |= command.order == Order::Forget;
            if let Some(given) = self.referee.given(&checked) {
                self.tracker.correct(now, given);
            }
            self.referee.carry_out(now, &command.by, checked);
            self.process_findings();
        }
        self.referee.recall(None);
        answer
    }

    /// Whether a command becomes an event. Counts it if it has no effect.
    fn is_recorded(&mut self, now: Timestamp, command: &Command, answer: &Answer) -> bool {
        if answer.ok && command.order != Order::Identify {
            return true;
        }
        let is_recorded = command.always_recorded || self.without_effect.is_left(now);
        if is_recorded {
            self.without_effect.take(now);
        }
        is_recorded
    }

    /// Id of the game that a command names, if the board no longer has that game.
    #[must_use]
    pub fn lacks<'c>(&self, command: &'c Command) -> Option<&'c str> {
        command.game().filter(|id| !self.referee.has_game(id))
    }

    /// Whether the board's memory is wanted, because nothing else shows the moves made while the board was not observed.
    pub(super) fn wants_memory(&self) -> bool {
        self.tracker.wants_memory()
    }

    /// Time at which [`advance`](Self::advance) is due if no input arrives earlier.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        let deadlines = [self.tracker.poll_deadline(), self.referee.poll_deadline()];
        deadlines.into_iter().flatten().min()
    }

    /// The last game, until the pieces are set up for the next one.
    #[must_use]
    pub fn playing(&self) -> Option<Playing> {
        self.referee.playing()
    }

    /// The open incidents, oldest first.
    pub fn open_incidents(&self) -> impl Iterator<Item = &Incident> {
        self.referee.open_incidents()
    }

    /// Whether no game is in progress.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.referee.game().is_none()
    }

    /// Advances time to `now`: every deadline up to `now` fires with its own time.
    pub fn advance(&mut self, now: Timestamp) {
        while let Some(deadline) = self.poll_deadline().filter(|deadline| *deadline <= now) {
            // At equal times, the tracker's findings come before the referee's reaction to them.
            if self.tracker.poll_deadline() == Some(deadline) {
                self.tracker.handle_deadline(deadline);
            } else {
                self.referee.handle_deadline(deadline);
            }
            self.process_findings();
        }
    }

    /// Amount by which the computer's clock is ahead of the times in the tracker.
    #[must_use]
    pub fn ahead(&self) -> Duration {
        self.steps.ahead()
    }

    /// Takes the changes of squares since the last call, however short. Comparing placements from time to time would
    /// miss a piece that was lifted and put back in between.
    pub fn take_seen(&mut self) -> Seen {
        core::mem::take(&mut self.seen)
    }

    /// Takes the events since the last call, in order.
    pub fn take_events(&mut self) -> Vec<ExplainedEvent> {
        std::mem::take(&mut self.pending_events)
    }

    fn process_findings(&mut self) {
        let mut found_at = None;
        while let Some((now, finding)) = self.tracker.poll_finding() {
            self.referee.handle(now, finding);
            found_at = Some(now);
        }
        self.referee.polled(self.tracker.silent_since());
        if let Some(now) = found_at {
            self.referee.compare(now);
        }
        self.tracker.set_ended(self.referee.has_ended());
        for explained in self.referee.take_events() {
            if self.is_early(&explained.event.kind) {
                self.early.push(explained);
            } else {
                self.emit(explained);
            }
        }
    }

    /// Whether an event must wait for `board.connected`. All events before the first connection wait, and events of the
    /// clock at any time. The last moves before a cable was pulled do not wait for the reconnection. The result of another
    /// table does not wait either, as this board may never be plugged in.
    fn is_early(&self, event: &EventKind) -> bool {
        if matches!(event, EventKind::TableResult { .. }) {
            return false;
        }
        let of_clock = matches!(
            event,
            EventKind::ClockConnected {} | EventKind::ClockDisconnected {} | EventKind::ClockBatteryLow {}
        );
        !self.presence.is_connected() && (of_clock || !self.was_connected)
    }

    /// Publishes an event that does not come from the referee.
    fn emit_now(&mut self, now: Timestamp, kind: EventKind) {
        let game = self.referee.game().map(|game| game.id.as_str());
        self.emit(ExplainedEvent::new(now, &self.name, game, kind));
    }

    /// Publishes an event with its seq and with times of the computer's clock.
    fn emit(&mut self, mut explained: ExplainedEvent) {
        self.seq = self.jumps.get(&self.seq).copied().unwrap_or(self.seq) + 1;
        let to_system_time = |at: Timestamp| self.steps.to_past_system_time(at);
        let event = &mut explained.event;
        event.stream.clone_from(&self.stream);
        event.seq = self.seq;
        event.ts = self.steps.to_system_time(event.ts);
        event.at = event.at.map(to_system_time);
        event.kind.date(to_system_time);
        if let Some(ply) = &mut explained.ply {
            ply.date(to_system_time);
        }
        self.pending_events.push(explained);
    }

    fn oriented(&self, mut event: EventKind) -> EventKind {
        if let EventKind::BoardConnected { orientation, .. } = &mut event {
            *orientation = self.tracker.orientation();
        }
        event
    }
}

/// Start position that the regulations prescribe.
fn drawn(regulations: &Regulations) -> Drawn {
    match &regulations.drawn_start {
        None => Drawn::Any,
        Some(DrawnStart::Standard) => Drawn::Usual,
        Some(DrawnStart::Chess960(drawn)) => {
            let placement = drawn.as_ref().and_then(|fen| fen.split(' ').next());
            placement
                .and_then(|placement| placement.parse().ok())
                .map_or(Drawn::Chess960, Drawn::Placement)
        }
    }
}
