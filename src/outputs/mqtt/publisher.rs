//! Turns the events and the status of several boards into messages.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kiebitz_game::command::Announced;
use kiebitz_game::events::Event;
use kiebitz_game::events::incidents::Incidents;
use kiebitz_game::events::record::GameRecord;
use kiebitz_hardware::Timestamp;

use super::health::LineHealth;
use super::home_assistant;
use super::message::Message;
use super::payload::{DaemonHealth, DaemonState, Dated};
use super::projection::Projection;
use super::round::RoundTotals;
use super::settings::MqttConfig;
use super::topics::{Prefix, TopicError};
use crate::outputs::shared::board_status::BoardView;

/// Turns the events of one stream into messages: a [`Projection`] for each board, and the daemon's state.
///
/// Does not send the messages: pass them to an [`Outbox`](super::Outbox). A board that was not [added](Self::add) is
/// not published.
#[derive(Debug)]
pub struct Publisher {
    prefix: Prefix,
    host: String,
    daemon_topic: Arc<str>,
    round_topic: Arc<str>,
    home_assistant: bool,
    stream: String,
    started: Timestamp,
    projections: BTreeMap<String, Projection>,
    /// When delayed messages for spectators are due, with the board.
    waiting: BTreeSet<(Timestamp, String)>,
    /// The daemon's state announced last, with its time and boards.
    announced: Option<(Timestamp, Vec<String>, Option<DaemonHealth>)>,
    /// The summary of the round published last.
    round: Option<RoundTotals>,
    /// Whether a board has changed since the last summary.
    changed: bool,
    refreshed: Option<Timestamp>,
}

/// Maximum interval between two publications of the daemon's state, and of the boards' health.
const ANNOUNCED_EVERY: Duration = Duration::from_secs(60);

impl Publisher {
    /// Creates a publisher for the boards of `stream`, with prefix and host of `config`. `started` is the start time of
    /// the daemon.
    ///
    /// # Errors
    ///
    /// Fails with [`TopicError`] if the host name cannot be part of a topic.
    pub fn new(config: &MqttConfig, stream: &str, started: Timestamp) -> Result<Self, TopicError> {
        let host = config.daemon().to_owned();
        Ok(Self {
            daemon_topic: config.prefix().daemon_state(&host)?.into(),
            round_topic: config.prefix().daemon_round(&host)?.into(),
            home_assistant: config.home_assistant,
            prefix: config.prefix().clone(),
            host,
            stream: stream.to_owned(),
            started,
            projections: BTreeMap::new(),
            waiting: BTreeSet::new(),
            announced: None,
            round: None,
            changed: true,
            refreshed: None,
        })
    }

    /// Adds a board with a delay for spectators. Returns false if the board was added already; its delay then stays
    /// unchanged, see [`delay_by`](Self::delay_by).
    ///
    /// # Errors
    ///
    /// Fails with [`TopicError`] if the board's name cannot be part of a topic.
    pub fn add(&mut self, board: &str, public_delay: Duration) -> Result<bool, TopicError> {
        if self.projections.contains_key(board) {
            return Ok(false);
        }
        let topics = self.prefix.board(board)?;
        let discovery = || {
            let prefix = self.prefix.to_string();
            home_assistant::discovery(&topics, &self.daemon_topic, &prefix, board)
        };
        let projection = Projection::new(&topics, board, &self.stream, &self.host)
            .with_public_delay(public_delay)
            .with_discovery(self.home_assistant.then(discovery));
        self.projections.insert(board.to_owned(), projection);
        Ok(true)
    }

    /// Names of the published boards, in order.
    pub fn boards(&self) -> impl Iterator<Item = &str> {
        self.projections.keys().map(String::as_str)
    }

    /// Continues a board from the journal, see [`Projection::resume`].
    pub fn resume(
        &mut self,
        board: &str,
        connected: Option<&Event>,
        presence: Option<&Event>,
        game: Option<GameRecord>,
        announced: Announced,
    ) {
        if let Some(projection) = self.projections.get_mut(board) {
            projection.resume(connected, presence, game, announced);
        }
    }

    /// Marks a board as removed before the restart.
    pub fn stay_forgotten(&mut self, board: &str) {
        if let Some(projection) = self.projections.get_mut(board) {
            projection.stay_forgotten();
        }
    }

    /// Continues a board with incidents from the journal.
    pub fn resume_incidents(&mut self, board: &str, incidents: Incidents) {
        if let Some(projection) = self.projections.get_mut(board) {
            projection.resume_incidents(incidents);
        }
    }

    /// Continues a board's messages for spectators from the journal, see [`Projection::resume_public`].
    pub fn resume_public(&mut self, board: &str, events: &[Event]) -> Vec<Message> {
        let Some(projection) = self.projections.get_mut(board) else {
            return Vec::new();
        };
        let messages = projection.resume_public(self.started, events);
        self.wait(board);
        messages
    }

    /// Returns the messages of one board after a step. `events` may include those of other boards, or be empty.
    pub fn project<'e>(
        &mut self,
        now: Timestamp,
        board: &str,
        events: impl IntoIterator<Item = &'e Event>,
        view: BoardView<'_>,
    ) -> Vec<Message> {
        let Some(projection) = self.projections.get_mut(board) else {
            return Vec::new();
        };
        let own = events.into_iter().filter(|event| event.board == board);
        let messages = projection.project(now, own, view);
        self.changed |= !messages.is_empty();
        self.wait(board);
        messages
    }

    /// Time of the next call of [`advance`](Self::advance), unless events come earlier.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        self.waiting.first().map(|(due, _)| *due)
    }

    /// Returns the messages for spectators that are due by `now`.
    pub fn advance(&mut self, now: Timestamp) -> Vec<Message> {
        let mut messages = Vec::new();
        while self.waiting.first().is_some_and(|(due, _)| *due <= now) {
            let Some((_, board)) = self.waiting.pop_first() else {
                break;
            };
            if let Some(projection) = self.projections.get_mut(&board) {
                messages.extend(projection.advance(now));
                self.wait(&board);
            }
        }
        messages
    }

    /// Changes the delay for spectators of each board.
    pub fn delay_by(&mut self, public_delay: impl Fn(&str) -> Duration) {
        for (board, projection) in &mut self.projections {
            projection.set_public_delay(public_delay(board));
        }
    }

    /// Follows a step of the computer's clock, forward by `by`: all delays, intervals and the uptime stay the same in
    /// real time.
    pub fn set_forward(&mut self, by: Duration) {
        for projection in self.projections.values_mut() {
            projection.set_forward(by);
        }
        self.waiting = core::mem::take(&mut self.waiting)
            .into_iter()
            .map(|(due, board)| (due + by, board))
            .collect();
        self.started = self.started + by;
        if let Some((announced, ..)) = &mut self.announced {
            *announced = *announced + by;
        }
        self.refreshed = self.refreshed.map(|refreshed| refreshed + by);
    }

    /// Returns the daemon's state if it is due: if the boards or urgent parts of the health have changed, or a minute
    /// has passed.
    pub fn announce(
        &mut self,
        now: Timestamp,
        boards: Vec<String>,
        health: Option<DaemonHealth>,
    ) -> Option<Message> {
        if let Some((at, announced, before)) = &self.announced
            && now < *at + ANNOUNCED_EVERY
            && *announced == boards
            && urgent(before.as_ref()) == urgent(health.as_ref())
        {
            return None;
        }
        let state = DaemonState::online(&self.host, self.started, now, boards.clone(), health.clone());
        self.announced = Some((now, boards, health));
        Some(Message::retained(&self.daemon_topic, &state))
    }

    /// Returns the summary of the round if it has changed.
    pub fn summarize(&mut self, now: Timestamp) -> Option<Message> {
        if !core::mem::take(&mut self.changed) {
            return None;
        }
        let round = RoundTotals::of(self.projections.values());
        if self.round.as_ref() == Some(&round) {
            return None;
        }
        let content = Dated {
            content: &round,
            as_of: now,
        };
        let message = Message::retained(&self.round_topic, &content);
        self.round = Some(round);
        Some(message)
    }

    /// Returns the boards' health every minute. `line` returns the counters of the connection to a board.
    pub fn refresh(&mut self, now: Timestamp, line: impl Fn(&str) -> LineHealth) -> Vec<Message> {
        if self
            .refreshed
            .is_some_and(|refreshed| now < refreshed + ANNOUNCED_EVERY)
        {
            return Vec::new();
        }
        self.refreshed = Some(now);
        let boards = self.projections.iter_mut();
        boards
            .flat_map(|(board, projection)| projection.refresh(now, line(board)))
            .collect()
    }

    /// Records when the next messages of a board for spectators are due. An outdated entry is harmless, because
    /// `advance` then finds nothing to publish.
    fn wait(&mut self, board: &str) {
        let due = self.projections.get(board).and_then(Projection::poll_deadline);
        if let Some(due) = due {
            self.waiting.insert((due, board.to_owned()));
        }
    }
}

/// The parts of the health whose changes are published at once: problems of journal, recordings, disk, power supply and
/// outputs, and the round. All others are published once a minute.
fn urgent(health: Option<&DaemonHealth>) -> Option<impl PartialEq> {
    let DaemonHealth {
        storage,
        machine,
        outputs,
        round,
        ..
    } = health?;
    let failing: Vec<&String> = outputs.values().flat_map(|report| &report.problems).collect();
    let both = [&storage.journal, &storage.recordings];
    let problems = both.map(|keeping| (keeping.ok, keeping.problem.as_deref()));
    Some((
        problems,
        machine.disk.is_some(),
        machine.under_voltage,
        failing,
        *round,
    ))
}

#[cfg(test)]
mod tests {
    use kiebitz_game::events::EventKind;

    use super::*;

    const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    fn publisher() -> Publisher {
        let config = MqttConfig::from_url("mqtt://localhost").expect("a URL");
        Publisher::new(&config.with_daemon("pi"), "live", START).expect("a host name")
    }

    fn topics(messages: &[Message]) -> Vec<&str> {
        messages.iter().map(|message| &*message.topic).collect()
    }

    fn boards(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn state_is_announced_when_boards_change_and_every_minute() {
        let mut publisher = publisher();
        let mut announced = |seconds, names: &[&str]| {
            let now = START + Duration::from_secs(seconds);
            publisher.announce(now, boards(names), None).is_some()
        };
        assert!(announced(0, &[]));
        assert!(!announced(1, &[]));
        assert!(announced(2, &["board-1"]));
        assert!(!announced(61, &["board-1"]));
        assert!(announced(62, &["board-1"]));
    }

    #[test]
    fn a_clock_step_announces_nothing_and_keeps_the_uptime() {
        let mut publisher = publisher();
        let step = Duration::from_secs(93_600);
        let now = |seconds| START + Duration::from_secs(seconds);
        assert!(publisher.announce(now(0), boards(&["a"]), None).is_some());
        publisher.refresh(now(0), |_| LineHealth::default());
        publisher.set_forward(step);
        assert!(publisher.announce(now(59) + step, boards(&["a"]), None).is_none());
        let message = publisher.announce(now(60) + step, boards(&["a"]), None);
        let state = message.expect("a minute has passed").payload;
        let state: serde_json::Value = serde_json::from_slice(&state).expect("JSON");
        assert_eq!(state["uptime_s"], 60);
    }

    #[test]
    fn another_round_is_announced_at_once() {
        let mut publisher = publisher();
        let mut announced = |round| {
            let health = DaemonHealth {
                round,
                ..DaemonHealth::default()
            };
            let message = publisher.announce(START, Vec::new(), Some(health))?;
            let state: serde_json::Value = serde_json::from_slice(&message.payload).expect("JSON");
            Some(state["round"].clone())
        };
        assert_eq!(announced(None), Some(serde_json::Value::Null));
        assert_eq!(announced(None), None);
        assert_eq!(announced(Some(3)), Some(3.into()));
        assert_eq!(announced(Some(3)), None);
    }

    #[test]
    fn announcement_has_the_uptime_and_the_boards() {
        let now = START + Duration::from_secs(90);
        let message = publisher()
            .announce(now, boards(&["a", "b"]), None)
            .expect("the first");
        assert_eq!(&*message.topic, "kiebitz/daemons/pi/state");
        assert!(message.is_retained());
        let state: serde_json::Value = serde_json::from_slice(&message.payload).expect("JSON");
        assert_eq!(state["uptime_s"], 90);
        assert_eq!(state["boards"], serde_json::json!(["a", "b"]));
    }

    #[test]
    fn a_board_gets_its_own_events_alone() {
        let mut publisher = publisher();
        for board in ["b", "a"] {
            assert_eq!(publisher.add(board, Duration::ZERO), Ok(true));
        }
        assert_eq!(publisher.add("a", Duration::ZERO), Ok(false));
        assert_eq!(publisher.boards().collect::<Vec<_>>(), ["a", "b"]);
        let event = |board: &str| Event {
            v: 1,
            stream: "live".to_owned(),
            seq: 1,
            ts: START,
            at: None,
            board: board.to_owned(),
            game: None,
            kind: EventKind::ClockConnected {},
        };
        let placement = shakmaty::Board::empty();
        let view = BoardView {
            placement: &placement,
            expected: None,
            clock: None,
            orientation: None,
            version: None,
            battery: None,
            table: None,
        };
        let events = [event("a"), event("b"), event("c")];
        let messages = publisher.project(START, "a", &events, view);
        let event_topics: Vec<&str> = topics(&messages)
            .into_iter()
            .filter(|topic| topic.ends_with("/events"))
            .collect();
        assert_eq!(event_topics, ["kiebitz/boards/a/events"]);
        assert!(publisher.project(START, "c", &events, view).is_empty());
    }

    #[test]
    fn the_round_is_published_when_it_changes_and_health_every_minute() {
        let mut publisher = publisher();
        publisher.add("a", Duration::ZERO).expect("a name");
        let mut at = |seconds| {
            let now = START + Duration::from_secs(seconds);
            let round = publisher.summarize(now);
            let round = round.map(|message| serde_json::from_slice::<serde_json::Value>(&message.payload));
            let health = publisher.refresh(now, |_| LineHealth::default());
            (round.map(|round| round.expect("JSON")), health.len())
        };
        let (round, health) = at(0);
        let round = round.expect("the first");
        assert_eq!(round["boards"], 1);
        assert_eq!((&round["connected"], &round["playing"]), (&0.into(), &0.into()));
        assert_eq!(round["attention"], serde_json::json!([]));
        assert_eq!(health, 2, "its own, and that for spectators");
        assert_eq!(at(59), (None, 0));
        assert_eq!(at(60), (None, 2));
    }

    #[test]
    fn a_name_that_cannot_be_part_of_a_topic_is_refused() {
        let mut publisher = publisher();
        assert!(publisher.add("board+1", Duration::ZERO).is_err());
        assert_eq!(publisher.boards().count(), 0);
    }
}
