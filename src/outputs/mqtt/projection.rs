//! Turns the events and the status of one board into messages.

use core::time::Duration;
use std::sync::Arc;

use kiebitz_game::command::Announced;
use kiebitz_game::events::incidents::Incidents;
use kiebitz_game::events::record::{GameRecord, Games};
use kiebitz_game::events::{EndReason, Event, EventKind, Flag, Incident, color, version_text};
use kiebitz_game::hall::ROUNDS;
use kiebitz_hardware::Timestamp;
use serde_json::Value;
use shakmaty::{ByColor, Color};

use super::brief::Brief;
use super::health::{Health, HealthView, LineHealth};
use super::message::Message;
use super::payload::{BoardState, Dated, Placement};
use super::public::PublicProjection;
use super::topics::BoardTopics;
use crate::clock::ClockView;
use crate::outputs::pgn::pgn;
use crate::outputs::shared::board_status::BoardView;
use crate::outputs::shared::record::BoardRecord;

/// Turns the events and the view of one board into messages: every event in order, followed by the retained messages
/// that have changed.
///
/// A retained message is published when its content changes, but not when only its time does. The clock is published
/// when the running side changes, when the time of a side that is not running changes, and when a reading differs by
/// more than two seconds from a client's own countdown.
///
/// Messages for spectators may be delayed. [`advance`](Self::advance) returns them when they are due.
#[derive(Debug)]
pub struct Projection {
    topics: Topics,
    record: BoardRecord,
    board: BoardState,
    published: LastPublished,
    brief: Brief,
    /// Players of the next game.
    announced: Announced,
    line: LineHealth,
    /// The message for Home Assistant; `None` if disabled.
    discovery: Option<Message>,
    public: PublicProjection,
    /// Whether the game comes from the journal and has not been published yet.
    resumed: bool,
    /// The board has not reported its placement since the start of kiebitz. Until then, the retained messages for
    /// placement and clock stay unchanged.
    awaits_placement: bool,
    /// The arbiter has removed the board with `forget`. Only events are published until it connects again.
    forgotten: bool,
}

#[derive(Debug)]
struct Topics {
    state: Arc<str>,
    placement: Arc<str>,
    clock: Arc<str>,
    game: Arc<str>,
    pgn: Arc<str>,
    events: Arc<str>,
    incidents: Arc<str>,
    health: Arc<str>,
}

/// The content last published on each topic.
#[derive(Debug, Default)]
struct LastPublished {
    board: Option<BoardState>,
    placement: Option<Placement>,
    clock: Option<ClockView>,
    /// The side that lost on time, as published to spectators.
    lost_on_time: Option<Flag>,
    pgn: Option<String>,
    incidents: Option<Vec<Incident>>,
    health: Option<Health>,
    public: Option<bool>,
    discovery: bool,
}

impl Projection {
    /// The projection of a board without events. `host` is that of the daemon.
    #[must_use]
    pub fn new(topics: &BoardTopics, board: &str, stream: &str, host: &str) -> Self {
        Self {
            topics: Topics {
                state: topics.state().into(),
                placement: topics.placement().into(),
                clock: topics.clock().into(),
                game: topics.game().into(),
                pgn: topics.pgn().into(),
                events: topics.events().into(),
                incidents: topics.incidents().into(),
                health: topics.health().into(),
            },
            record: BoardRecord::default(),
            board: BoardState::unknown(board, stream, host),
            published: LastPublished::default(),
            brief: Brief::new(&topics.brief()),
            announced: Announced::default(),
            line: LineHealth::default(),
            discovery: None,
            public: PublicProjection::new(topics),
            resumed: false,
            awaits_placement: false,
            // The record of rounds has events, but no state to publish.
            forgotten: board == ROUNDS,
        }
    }

    #[must_use]
    pub(crate) fn with_discovery(mut self, discovery: Option<Message>) -> Self {
        self.discovery = discovery;
        self
    }

    /// Delays all messages for spectators by `delay`.
    #[must_use]
    pub fn with_public_delay(mut self, delay: Duration) -> Self {
        self.public.set_delay(delay);
        self
    }

    /// Changes the delay for spectators, including that of messages that are still waiting.
    pub(crate) fn set_public_delay(&mut self, delay: Duration) {
        self.public.set_delay(delay);
    }

    /// Continues from the journal. `connected` is the board's last `board.connected`; `presence` is the last event
    /// about its connection.
    pub fn resume(
        &mut self,
        connected: Option<&Event>,
        presence: Option<&Event>,
        game: Option<GameRecord>,
        announced: Announced,
    ) {
        self.announced = announced;
        for event in [connected, presence].into_iter().flatten() {
            self.board.apply(event.ts, &event.kind);
        }
        self.record.games = game.map_or_else(Games::new, Games::with);
        // The broker may have restarted too and lost its retained messages.
        self.resumed = true;
        self.awaits_placement = true;
    }

    /// Continues the messages for spectators from the journal. `events` begin with the game that spectators had at
    /// `now`. Returns the retained messages that spectators already have.
    pub fn resume_public(&mut self, now: Timestamp, events: &[Event]) -> Vec<Message> {
        self.public.resume(now, events);
        self.public.release(now)
    }

    /// Continues with incidents from the journal.
    pub fn resume_incidents(&mut self, incidents: Incidents) {
        self.record.incidents = incidents;
    }

    /// Processes the events of one step, possibly none, and the view of the board after it.
    pub fn project<'e>(
        &mut self,
        now: Timestamp,
        events: impl IntoIterator<Item = &'e Event>,
        view: BoardView<'_>,
    ) -> Vec<Message> {
        let mut messages = Vec::new();
        let mut game_changed = core::mem::take(&mut self.resumed);
        let mut names_changed = game_changed || self.published.board.is_none();
        for event in events {
            if event.kind.is_forget() {
                messages.push(Message::event(&self.topics.events, event));
                messages.extend(self.forget());
                continue;
            }
            names_changed |= matches!(event.kind, EventKind::CommandTaken { .. });
            self.forgotten &= !matches!(event.kind, EventKind::BoardConnected { .. });
            self.announced.apply(event);
            messages.push(Message::event(&self.topics.events, event));
            self.public.take(now, event);
            game_changed |= self.record.apply(event).games;
            self.board.apply(event.ts, &event.kind);
            self.awaits_placement &= !matches!(event.kind, EventKind::BoardConnected { .. });
        }
        self.board.orientation = view.orientation.or(self.board.orientation);
        self.board.version = view
            .version
            .map(version_text)
            .or_else(|| self.board.version.take());
        self.board.battery = view.battery;
        self.board.table = view.table;
        if self.forgotten {
            return messages;
        }
        if game_changed {
            self.project_game(&mut messages);
        }
        if game_changed || names_changed {
            let (game, next) = (self.record.game(), self.announced.players());
            messages.extend(self.brief.messages(game, next));
        }
        self.project_retained(now, view, &mut messages);
        messages.extend(self.public.release(now));
        messages
    }

    /// Time of the next call of [`advance`](Self::advance), unless events come earlier.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        self.public.poll_deadline()
    }

    /// Returns the messages for spectators that are due by `now`.
    pub fn advance(&mut self, now: Timestamp) -> Vec<Message> {
        self.public.release(now)
    }

    /// Follows a step of the computer's clock, forward by `by`: the delay for spectators stays the same in real time.
    pub fn set_forward(&mut self, by: Duration) {
        self.public.set_forward(by);
    }

    /// Whether the arbiter has removed the board and it has not connected since.
    pub(crate) const fn is_forgotten(&self) -> bool {
        self.forgotten
    }

    /// Marks the board as removed before the restart.
    pub(crate) fn stay_forgotten(&mut self) {
        self.forgotten = true;
    }

    /// Publishes the board's health again. Called every minute, so that clients can recognise an old one if kiebitz is
    /// gone.
    pub(crate) fn refresh(&mut self, now: Timestamp, line: LineHealth) -> Vec<Message> {
        self.line = line;
        if self.forgotten {
            return Vec::new();
        }
        (self.published.health, self.published.public) = (None, None);
        self.project_health(now)
    }

    /// State, game and incidents of the board, for the summary of the round.
    pub(crate) fn summary(&self) -> (&BoardState, Option<&GameRecord>, &Incidents) {
        (&self.board, self.record.game(), &self.record.incidents)
    }

    fn project_health(&mut self, now: Timestamp) -> Vec<Message> {
        let mut messages = Vec::new();
        let health = Health::of(&self.board, &self.record.incidents);
        if self.published.health.as_ref() != Some(&health) {
            let view = HealthView {
                health: &health,
                line: self.line,
                as_of: now,
            };
            messages.push(Message::retained(&self.topics.health, &view));
            self.published.health = Some(health);
        }
        let connected = self.board.connected;
        if self.published.public != Some(connected) {
            messages.push(self.public.presence(now, &self.board.board, connected));
            self.published.public = Some(connected);
        }
        messages
    }

    /// Clears all retained topics of the board.
    fn forget(&mut self) -> Vec<Message> {
        self.forgotten = true;
        self.record = BoardRecord::default();
        self.announced = Announced::default();
        self.published = LastPublished::default();
        self.brief.forget();
        let Topics {
            state,
            placement,
            clock,
            game,
            pgn,
            events: _,
            incidents,
            health,
        } = &self.topics;
        let own = [state, placement, clock, game, pgn, incidents, health];
        let mut messages: Vec<Message> = own
            .into_iter()
            .chain(self.brief.topics())
            .chain(self.discovery.as_ref().map(|message| &message.topic))
            .map(Message::cleared)
            .collect();
        messages.extend(self.public.forget());
        messages
    }

    fn project_game(&mut self, messages: &mut Vec<Message>) {
        let Some(game) = self.record.game() else { return };
        messages.push(Message::retained(&self.topics.game, game));
        let text = pgn(game);
        if self.published.pgn.as_ref() != Some(&text) {
            messages.push(Message::pgn(&self.topics.pgn, text.clone()));
            self.published.pgn = Some(text);
        }
    }

    fn project_retained(&mut self, now: Timestamp, view: BoardView<'_>, messages: &mut Vec<Message>) {
        let published = &mut self.published;
        if published.board.as_ref() != Some(&self.board) {
            messages.push(Message::retained(&self.topics.state, &self.board));
            published.board = Some(self.board.clone());
        }
        let open = self.record.incidents.open();
        if published
            .incidents
            .as_ref()
            .is_none_or(|published| !open.eq(published.iter()))
        {
            let open: Vec<Incident> = self.record.incidents.open().cloned().collect();
            messages.push(Message::retained(&self.topics.incidents, &open));
            published.incidents = Some(open);
        }
        if !core::mem::replace(&mut published.discovery, true) {
            messages.extend(self.discovery.clone());
        }
        messages.extend(self.project_health(now));
        if self.awaits_placement {
            return;
        }
        let published = &mut self.published;
        let placement = Placement::new(view.placement, view.expected);
        if published.placement.as_ref() != Some(&placement) {
            let dated = Dated {
                content: &placement,
                as_of: now,
            };
            messages.push(Message::retained(&self.topics.placement, &dated));
            published.placement = Some(placement);
        }
        let clock = ClockView::new(view.clock);
        let lost = lost_on_time(&self.record.incidents, self.record.game());
        let changed = published.clock.is_none_or(|published| published.differs(&clock));
        if changed {
            messages.push(Message::retained(&self.topics.clock, &clock));
            published.clock = Some(clock);
        }
        if changed || published.lost_on_time != lost {
            let flag = lost.filter(|_| clock.as_of.is_some());
            self.public.take_clock(now, &ClockView { flag, ..clock });
            published.lost_on_time = lost;
        }
    }
}

/// The side whose flag decides the game. A clock also shows the flag of a finished period, which does not decide it.
fn lost_on_time(incidents: &Incidents, game: Option<&GameRecord>) -> Option<Flag> {
    let by_result = || {
        let game = game.filter(|game| game.ended.is_some() && game.reason == Some(EndReason::Flag))?;
        Some(!game.result.winner()?)
    };
    let mut lost = ByColor::<bool>::default();
    for incident in incidents.open() {
        match (incident.case.as_str(), incident.color) {
            ("flag_fall.fallen", Some(player)) => lost[player] = true,
            ("two_flags.draw" | "two_flags.draw_in_any_order", _) => lost = ByColor::new_with(|_| true),
            ("two_flags.first_known", _) => {
                let first = incident.evidence.values.get("color").and_then(Value::as_str);
                for player in Color::ALL {
                    lost[player] |= first == Some(color::as_str(player));
                }
            }
            _ => {}
        }
    }
    if let Some(player) = by_result() {
        lost[player] = true;
    }
    Flag::of(lost)
}

#[cfg(test)]
mod tests;
