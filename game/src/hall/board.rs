//! One board from observations to events: tracker and referee in a row.

use core::time::Duration;
use std::collections::BTreeMap;

use kiebitz_hardware::{Observation, Observed, Recall, Timestamp};
use shakmaty::Bitboard;

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

/// The pipeline of one board. Live operation and replay drive it the same way: before an observation is taken
/// in, every deadline up to its time fires, with the deadline as its time.
#[derive(Debug)]
pub struct Board {
    name: String,
    stream: String,
    seq: u64,
    /// Numbers that are left out: after the event with the first number the one after the second follows.
    jumps: BTreeMap<u64, u64>,
    presence: Presence,
    tracker: Tracker,
    referee: Referee,
    pending_events: Vec<ExplainedEvent>,
    /// The board has been connected at least once.
    met: bool,
    heard: Option<Timestamp>,
    /// The arbiter had it forgotten, and it has not come back.
    forgotten: bool,
    /// Events from before the board counted as connected. They are published when it does.
    early: Vec<ExplainedEvent>,
    /// What squares did since that was asked last.
    seen: Seen,
    /// The steps of the computer's clock, which the board's own time does not have.
    steps: Steps,
}

impl Board {
    /// A board of that name, not plugged in yet, whose events form `stream`; `regulations` apply to its games.
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
            met: false,
            heard: None,
            forgotten: false,
            early: Vec::new(),
            seen: Seen::default(),
            steps: Steps::default(),
        }
    }

    /// The same, which takes boards and hands to be like that. To be called before anything is observed.
    #[must_use]
    pub fn following(mut self, model: &'static Model) -> Self {
        self.tracker = Tracker::following(model);
        self.tracker.expect_start(drawn(self.referee.regulations()));
        self.referee.follow_model(model);
        self
    }

    /// Begins to count events after that seq. Its games are counted anew as well, from a number that is as safe.
    pub(super) fn begun_after(mut self, seq: u64) -> Self {
        self.seq = seq;
        // No board has had more games than events. What counts no events is microseconds, and a game takes a second.
        let games = u32::try_from(seq).or_else(|_| u32::try_from(seq / 1_000_000));
        self.referee.count_after(games.unwrap_or(u32::MAX - 1));
        self
    }

    /// Goes on where the journal ends: with the number of the board's last event, when the board was last `followed`,
    /// and its last game.
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

    /// The number of its last event.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        self.seq
    }

    /// Goes on counting after that number, if it is higher.
    pub(super) fn count_on_after(&mut self, number: u64) {
        self.seq = self.seq.max(number);
    }

    /// Leaves out numbers: after the event with the first number of a pair the one after the second follows.
    pub(super) fn leave_out(&mut self, jumps: Option<&BTreeMap<u64, u64>>) {
        self.jumps = jumps.cloned().unwrap_or_default();
    }

    /// Goes on with the incidents of the journal.
    pub(super) fn with_incidents(mut self, incidents: &Incidents) -> Self {
        self.referee.resume_incidents(incidents);
        self.tracker.believe_unseen(self.referee.unseen());
        self
    }

    /// Goes on with what the journal has of the next game and of the round.
    pub(super) fn with_announced(mut self, announced: &Announced) -> Self {
        self.referee.resume_announced(announced);
        self
    }

    /// Goes on with the last game before this one that counts for a pairing.
    pub(super) fn with_last_paired(mut self, last: Option<CountingGame>) -> Self {
        self.referee.resume_last_paired(last);
        self
    }

    /// The computer's clock has been set forward before the board was met.
    pub(super) fn follow(&mut self, steps: &Steps) {
        self.steps = steps.clone();
        self.referee.set_ahead(steps.ahead());
    }

    /// The computer's clock was set by so many milliseconds; if that was forward, it is the last of the steps.
    pub(super) fn set_clock(&mut self, now: Timestamp, steps: &Steps, by_ms: i64) {
        self.follow(steps);
        if self.presence.is_connected() {
            self.emit_now(now, EventKind::TimeSet { by_ms });
        }
    }

    /// Other regulations apply than `before`; what the arbiter has changed of those stays so.
    pub(super) fn regulate(&mut self, before: &Regulations, regulations: Regulations) {
        self.referee.regulate(before, regulations);
        self.tracker.expect_start(drawn(self.referee.regulations()));
    }

    /// The board's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is played on it.
    #[must_use]
    pub fn regulations(&self) -> &Regulations {
        self.referee.regulations()
    }

    /// The pieces that the sensors show; result pieces are left out.
    #[must_use]
    pub fn placement(&self) -> &shakmaty::Board {
        self.tracker.placement()
    }

    /// The placement after the last ply announced, and the squares on which the board differs from it; `None` until a game
    /// is followed.
    #[must_use]
    pub fn expected(&self) -> Option<(&shakmaty::Board, Bitboard)> {
        self.tracker.expected()
    }

    /// Where White sits; `None` until a start position has shown it.
    #[must_use]
    pub fn orientation(&self) -> Option<Orientation> {
        self.tracker.orientation()
    }

    /// Whether a clock answers.
    #[must_use]
    pub fn has_clock(&self) -> bool {
        self.tracker.has_clock()
    }

    /// The last clock reading; `None` until White's side is known.
    #[must_use]
    pub fn clock(&self) -> Option<ClockFace> {
        self.tracker.clock().map(|face| ClockFace {
            as_of: face.as_of + self.ahead(),
            ..face
        })
    }

    /// White's side of the clock; `None` until known.
    #[must_use]
    pub fn white_side(&self) -> Option<Side> {
        self.tracker.white_side()
    }

    /// The side on which the clock's lever is up: the one that was not pressed last. `None` without a clock.
    #[must_use]
    pub fn lever_up(&self) -> Option<Side> {
        self.tracker.lever_up()
    }

    /// Version of the board's firmware, major and minor number; `None`: it has not said it.
    #[must_use]
    pub fn version(&self) -> Option<(u8, u8)> {
        self.presence.version()
    }

    /// Whether the board is there and has sent its placement.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.presence.is_connected()
    }

    /// Whether the arbiter had it forgotten, and it has not come back.
    #[must_use]
    pub fn is_forgotten(&self) -> bool {
        self.forgotten
    }

    /// The same board, which the arbiter had forgotten, or not.
    pub(super) fn with_forgotten(self, forgotten: bool) -> Self {
        Self { forgotten, ..self }
    }

    /// Where it is, or was, plugged in; empty: nowhere yet.
    #[must_use]
    pub fn port(&self) -> &str {
        self.presence.port()
    }

    /// Its serial number, the long one where it has one.
    #[must_use]
    pub fn serial(&self) -> Option<&str> {
        self.presence.serial()
    }

    /// When something was last heard of the board; `None`: not yet.
    #[must_use]
    pub fn heard(&self) -> Option<Timestamp> {
        self.heard.map(|heard| heard + self.ahead())
    }

    /// Charge of the board's own battery in percent, 0 to 100; `None`: it has none, or does not report it.
    #[must_use]
    pub fn battery(&self) -> Option<u8> {
        self.presence.battery()
    }

    /// The board is plugged in at that port from now on.
    pub fn sit(&mut self, port: &str) {
        self.presence.sit(port);
    }

    /// Takes in an observation of the board. Every deadline up to that time fires first, as its own time.
    pub fn observe(&mut self, observed: &Observed) {
        self.advance(observed.at);
        if !matches!(
            observed.observation,
            Observation::Opened | Observation::Closed { .. }
        ) {
            self.heard = Some(observed.at);
        }
        let presence = self.presence.observe(&observed.observation);
        let is_report = matches!(observed.observation, Observation::Field { .. });
        let before = is_report.then(|| self.tracker.placement().clone());
        // The first dump may show which way round the board stands.
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
            self.met = true;
            for mut explained in core::mem::take(&mut self.early) {
                explained.event.ts = observed.at;
                self.emit(explained);
            }
        }
        self.rule();
    }

    /// Carries out a command, if that is possible. Every deadline up to that time fires first, as its own time.
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
        let about = command.game().and_then(|id| self.referee.game_with(id));
        let game = about.or_else(|| self.referee.game());
        let game = game.map(|game| game.id.as_str());
        self.emit(ExplainedEvent::new(now, &self.name, game, event));
        if let Ok(checked) = checked {
            self.forgotten |= command.order == Order::Forget;
            if let Some(given) = self.referee.given(&checked) {
                self.tracker.correct(now, given);
            }
            self.referee.carry_out(now, &command.by, checked);
            self.rule();
        }
        self.referee.recall(None);
        answer
    }

    /// The id of the game that a command names, if the board does not have it any more.
    #[must_use]
    pub fn lacks<'c>(&self, command: &'c Command) -> Option<&'c str> {
        command.game().filter(|id| !self.referee.has_game(id))
    }

    /// Whether its memory may tell what was played while it was not heard, and has not been asked for.
    pub(super) fn wants_memory(&self) -> Recall {
        self.tracker.wants_memory()
    }

    /// When [`advance`](Self::advance) is due if nothing arrives before.
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

    /// What is open for the arbiter, the oldest first.
    pub fn open_incidents(&self) -> impl Iterator<Item = &Incident> {
        self.referee.open_incidents()
    }

    /// Whether no game is being played.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.referee.game().is_none()
    }

    /// Time has come to `now`: every deadline up to it fires, each with its own time.
    pub fn advance(&mut self, now: Timestamp) {
        while let Some(deadline) = self.poll_deadline().filter(|deadline| *deadline <= now) {
            // A finding comes before what the referee says to it.
            if self.tracker.poll_deadline() == Some(deadline) {
                self.tracker.handle_deadline(deadline);
            } else {
                self.referee.handle_deadline(deadline);
            }
            self.rule();
        }
    }

    /// By how much the computer's clock is ahead of the times that the tracker knows.
    #[must_use]
    pub fn ahead(&self) -> Duration {
        self.steps.ahead()
    }

    /// Takes what squares did since the last call, however quickly: of a picture that is shown now and then a piece that was
    /// lifted and put back is not seen to have been away.
    pub fn take_seen(&mut self) -> Seen {
        core::mem::take(&mut self.seen)
    }

    /// Takes the events since the last call, in order.
    pub fn take_events(&mut self) -> Vec<ExplainedEvent> {
        std::mem::take(&mut self.pending_events)
    }

    fn rule(&mut self) {
        let mut found_at = None;
        while let Some((now, finding)) = self.tracker.poll_finding() {
            self.referee.handle(now, finding);
            found_at = Some(now);
        }
        self.referee.polled(self.tracker.silent_since());
        if let Some(now) = found_at {
            self.referee.compare(now);
        }
        for explained in self.referee.take_events() {
            if self.is_early(&explained.event.kind) {
                self.early.push(explained);
            } else {
                self.emit(explained);
            }
        }
    }

    /// Whether an event must wait for `board.connected`: all events before the board is met, and those on a clock at
    /// any time. What was played last before a cable was pulled does not wait until it is plugged in again.
    fn is_early(&self, event: &EventKind) -> bool {
        let of_clock = matches!(
            event,
            EventKind::ClockConnected {} | EventKind::ClockDisconnected {} | EventKind::ClockBatteryLow {}
        );
        !self.presence.is_connected() && (of_clock || !self.met)
    }

    /// Publishes an event that does not come from the referee.
    fn emit_now(&mut self, now: Timestamp, kind: EventKind) {
        let game = self.referee.game().map(|game| game.id.as_str());
        self.emit(ExplainedEvent::new(now, &self.name, game, kind));
    }

    /// Publishes an event: it gets its number, and the times of the computer's clock.
    fn emit(&mut self, mut explained: ExplainedEvent) {
        self.seq = self.jumps.get(&self.seq).copied().unwrap_or(self.seq) + 1;
        let then = |at: Timestamp| self.steps.then(at);
        let event = &mut explained.event;
        event.stream.clone_from(&self.stream);
        event.seq = self.seq;
        event.ts = self.steps.now(event.ts);
        event.at = event.at.map(then);
        event.kind.date(then);
        if let Some(ply) = &mut explained.ply {
            ply.date(then);
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

/// The start position that games should begin from, by the regulations.
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
