//! Alarms of the hall, computed from the events and from the health of the outputs. Each alarm is raised once and
//! cleared once.
//!
//! Alarms about devices and outputs come and go, for example if kiebitz is restarted several times. They are raised only
//! once they have lasted for a while, and cleared only once they have been over for a while. If one comes again before
//! it is cleared, nothing is sent.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{DecidedBy, EndReason, Event, GameResult, Incident, color, rfc3339, time};
use kiebitz_game::laws::{IncidentKind, Language, Severity, title, word};
use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shakmaty::Color;

use crate::outputs::shared::record::BoardRecord;
use crate::outputs::shared::reports::OutputReport;
use crate::tournament::Tournament;

/// Subject of an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AlarmKind {
    /// An incident.
    Incident(IncidentKind),
    /// A game that is drawn under the Laws although the players may go on: fivefold repetition, 75 moves, or a position
    /// in which neither side can checkmate.
    Draw,
    /// An output that fails.
    Output,
}

/// A problem that needs somebody's attention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Alarm {
    pub(crate) kind: AlarmKind,
    pub(crate) severity: Severity,
    /// Name of the board; `None` if the alarm is about an output.
    pub(crate) board: Option<String>,
    pub(crate) table: Option<u32>,
    /// Number of the incident; `None` for other kinds.
    pub(crate) incident: Option<u64>,
    #[serde(with = "color::option")]
    pub(crate) color: Option<Color>,
    pub(crate) white: Option<String>,
    pub(crate) black: Option<String>,
    #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
    pub(crate) since: Timestamp,
    /// Table or board, and subject, as in "Table 7: Illegal move", or "Table South 7: Illegal move" at a hub.
    pub(crate) title: String,
    /// Advice to the arbiter, or the problem.
    pub(crate) text: String,
}

/// A message to send about an alarm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AlarmChange {
    /// The alarm with this key is raised.
    Raised(String, Alarm),
    /// The alarm with this key is over.
    Cleared(String, Alarm),
}

/// State of the boards and outputs, and the alarms that have been sent.
#[derive(Debug)]
pub(crate) struct Alarms {
    language: Language,
    /// Kinds of alarms to send; empty for all.
    kinds: BTreeSet<AlarmKind>,
    /// Boards with known events. Alarms of other boards stay raised.
    boards: BTreeMap<String, AlarmBoard>,
    /// The pairings, with the halls of a hub.
    tournament: Arc<Tournament>,
    /// Start of each output's failure, and its problem.
    failing: BTreeMap<String, (Timestamp, String)>,
    /// Alarms that were raised and not yet cleared, as they were sent.
    sent: BTreeMap<String, Alarm>,
    /// Time at which the problem of a sent alarm ended, until the alarm is cleared or the problem recurs.
    over_since: BTreeMap<String, Timestamp>,
    /// Alarms that began before this time are not raised. `None` before the first call of `changes`.
    not_before: Option<Timestamp>,
    /// Recent forward steps of the computer's clock: time and size.
    steps: Vec<(Timestamp, Duration)>,
}

#[derive(Debug, Default)]
struct AlarmBoard(BoardRecord);

/// Maximum age of an alarm to raise at startup. An older one was raised before the restart, or is too old to be useful.
const RECENT: Duration = Duration::from_secs(10 * 60);
/// Minimum duration of an output's failure that raises an alarm. Shorter failures often end without intervention.
const FAILS: Duration = Duration::from_secs(60);
/// Minimum absence of a board or a clock that raises an alarm. A restart of kiebitz takes less.
const MISSING: Duration = Duration::from_secs(30);
/// Time for which a device or an output must work again before its alarm is cleared. After a restart, an output needs
/// some time to detect that it still fails.
const STAYS_OVER: Duration = Duration::from_secs(60);
/// Duration of the alarm for a drawn game.
const DRAWN: Duration = Duration::from_secs(5 * 60);

impl AlarmKind {
    /// Returns the kind and, for a flag fall, the kind of the incident that replaces it when both flags are down.
    fn with_successor(self) -> impl Iterator<Item = Self> {
        let both = Self::Incident(IncidentKind::TwoFlags);
        let is_flag = self == Self::Incident(IncidentKind::FlagFall);
        core::iter::once(self).chain(is_flag.then_some(both))
    }

    /// Whether the alarm is about a device or an output, which may fail repeatedly within a short time.
    const fn comes_and_goes(self) -> bool {
        matches!(
            self,
            Self::Output | Self::Incident(IncidentKind::BoardDisconnected | IncidentKind::ClockDisconnected)
        )
    }

    const DRAW: &'static str = "draw";
    const OUTPUT: &'static str = "output";

    /// Name of the kind in the configuration and in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Incident(kind) => kind.as_str(),
            Self::Draw => Self::DRAW,
            Self::Output => Self::OUTPUT,
        }
    }
}

impl fmt::Display for AlarmKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for AlarmKind {
    type Err = <IncidentKind as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            Self::DRAW => Ok(Self::Draw),
            Self::OUTPUT => Ok(Self::Output),
            _ => text.parse().map(Self::Incident),
        }
    }
}

impl Serialize for AlarmKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for AlarmKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl Alarm {
    /// Whether both alarms are about the same device or output, even if their incidents have different numbers.
    fn is_same_problem_as(&self, other: &Self) -> bool {
        let subject = |alarm: &Self| {
            (
                alarm.kind,
                alarm.color,
                alarm.board.is_none().then(|| alarm.title.clone()),
            )
        };
        self.kind.comes_and_goes() && self.board == other.board && subject(self) == subject(other)
    }
}

fn output_key(name: &str) -> String {
    format!("output {name}")
}

impl AlarmChange {
    pub(crate) const fn alarm(&self) -> (&String, &Alarm) {
        match self {
            Self::Raised(key, alarm) | Self::Cleared(key, alarm) => (key, alarm),
        }
    }
}

impl Alarms {
    /// Creates the alarms. `kinds` are those to send, or all if it is empty; `sent` were raised before the restart and
    /// not cleared.
    pub(crate) fn new(language: Language, kinds: &[AlarmKind], sent: BTreeMap<String, Alarm>) -> Self {
        Self {
            language,
            kinds: kinds.iter().flat_map(|kind| kind.with_successor()).collect(),
            boards: BTreeMap::new(),
            tournament: Arc::default(),
            failing: BTreeMap::new(),
            sent,
            over_since: BTreeMap::new(),
            not_before: None,
            steps: Vec::new(),
        }
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        let AlarmBoard(record) = self.boards.entry(event.board.clone()).or_default();
        record.apply(event);
    }

    /// Sets the pairings. At a hub, they have the names of the halls.
    pub(crate) fn pair(&mut self, tournament: Arc<Tournament>) {
        self.tournament = tournament;
    }

    /// Restores a board from its events in the journal.
    pub(crate) fn resume(&mut self, board: &str, events: &[Event]) {
        self.boards.entry(board.to_owned()).or_default();
        events.iter().for_each(|event| self.apply(event));
    }

    /// Records that the computer's clock was set forward by `by` at `at`, which does not count as elapsed time.
    pub(crate) fn set_forward(&mut self, at: Timestamp, by: Duration) {
        let is_recent = |(step, _): &&(Timestamp, Duration)| self.elapsed(*step, at) < FAILS.max(DRAWN);
        self.steps = self.steps.iter().filter(is_recent).copied().collect();
        self.steps.push((at, by));
    }

    /// Returns the time since `since`, without steps of the computer's clock.
    fn elapsed(&self, since: Timestamp, now: Timestamp) -> Duration {
        let steps = self.steps.iter().filter(|(at, _)| *at >= since);
        let steps = steps.fold(Duration::ZERO, |all, (_, by)| all.saturating_add(*by));
        now.saturating_duration_since(since).saturating_sub(steps)
    }

    pub(crate) fn update_outputs(&mut self, now: Timestamp, outputs: &BTreeMap<String, OutputReport>) {
        self.failing
            .retain(|name, _| outputs.get(name).is_some_and(|report| !report.ok));
        for (name, report) in outputs.iter().filter(|(_, report)| !report.ok) {
            let (_, problem) = self.failing.entry(name.clone()).or_insert((now, String::new()));
            *problem = report.problems.join("; ");
        }
    }

    /// Returns the messages to send at `now`, cleared alarms first. The caller must [`note`](Self::note) each one that
    /// was sent.
    pub(crate) fn changes(&mut self, now: Timestamp) -> Vec<AlarmChange> {
        let not_before = *self.not_before.get_or_insert_with(|| now.saturating_sub(RECENT));
        let mut wanted = self.wanted(now);
        wanted.retain(|key, alarm| self.sent.contains_key(key) || alarm.since >= not_before);
        let over = self.over(now, &wanted);
        let mut fresh: Vec<(String, Alarm)> = wanted
            .into_iter()
            .filter(|(key, alarm)| !self.sent.contains_key(key) && self.is_due(now, alarm))
            .collect();
        // Order by descending severity, then by age.
        fresh.sort_by_key(|(_, alarm)| (core::cmp::Reverse(alarm.severity), alarm.since));
        let fresh = fresh
            .into_iter()
            .map(|(key, alarm)| AlarmChange::Raised(key, alarm));
        over.into_iter().chain(fresh).collect()
    }

    /// Returns the messages about alarms that are over at `now`.
    fn over(&mut self, now: Timestamp, wanted: &BTreeMap<String, Alarm>) -> Vec<AlarmChange> {
        let is_over = |(key, alarm): &(&String, &Alarm)| {
            let is_known = alarm
                .board
                .as_ref()
                .is_none_or(|board| self.boards.contains_key(board));
            let recurs = || wanted.values().any(|other| alarm.is_same_problem_as(other));
            is_known && !wanted.contains_key(*key) && !recurs()
        };
        let over: BTreeMap<String, Alarm> = self
            .sent
            .iter()
            .filter(is_over)
            .map(|(key, alarm)| (key.clone(), alarm.clone()))
            .collect();
        self.over_since.retain(|key, _| over.contains_key(key));
        for key in over.keys() {
            self.over_since.entry(key.clone()).or_insert(now);
        }
        over.into_iter()
            .filter(|(key, alarm)| {
                let since = self.over_since.get(key).copied().unwrap_or(now);
                !alarm.kind.comes_and_goes() || self.elapsed(since, now) >= STAYS_OVER
            })
            .map(|(key, alarm)| AlarmChange::Cleared(key, alarm))
            .collect()
    }

    /// Returns whether an alarm that was not sent must be sent: it has lasted long enough, and does not repeat an alarm
    /// that was sent and not yet cleared.
    fn is_due(&self, now: Timestamp, alarm: &Alarm) -> bool {
        let is_missing = matches!(alarm.kind, AlarmKind::Incident(_)) && alarm.kind.comes_and_goes();
        let lasts = !is_missing || self.elapsed(alarm.since, now) >= MISSING;
        lasts && !self.sent.values().any(|sent| sent.is_same_problem_as(alarm))
    }

    pub(crate) fn note(&mut self, change: AlarmChange) {
        match change {
            AlarmChange::Raised(key, alarm) => self.sent.insert(key, alarm),
            AlarmChange::Cleared(key, _) => self.sent.remove(&key),
        };
    }

    /// Returns the alarms that were raised and not yet cleared, by key.
    pub(crate) const fn raised(&self) -> &BTreeMap<String, Alarm> {
        &self.sent
    }

    /// Returns the boards with known events, and their tables.
    pub(crate) fn boards(&self) -> impl Iterator<Item = (&str, Option<u32>)> {
        self.boards
            .iter()
            .map(|(name, board)| (&**name, board.table(&self.tournament, name)))
    }

    fn wanted(&self, now: Timestamp) -> BTreeMap<String, Alarm> {
        let of_boards = self.boards.iter().flat_map(|(name, board)| {
            let incidents = board.0.incidents.open();
            let incidents = incidents
                // Hints may turn out to be nothing; they are only shown at the desk.
                .filter(|incident| incident.severity >= Severity::Advice)
                .map(|incident| self.of_incident(name, board, incident));
            let drawn = self.drawn(name, board);
            incidents.chain(drawn.filter(|(_, alarm)| self.elapsed(alarm.since, now) < DRAWN))
        });
        let of_outputs = self
            .failing
            .iter()
            .filter(|(name, (since, _))| {
                // After a restart, an output that failed before is still the same alarm.
                self.elapsed(*since, now) >= FAILS || self.sent.contains_key(&output_key(name))
            })
            .map(|(name, (since, problem))| {
                let alarm = Alarm {
                    kind: AlarmKind::Output,
                    severity: Severity::Advice,
                    board: None,
                    table: None,
                    incident: None,
                    color: None,
                    white: None,
                    black: None,
                    since: *since,
                    title: format!("{}: {name}", word(self.language, "alarm", "output")),
                    text: problem.clone(),
                };
                (output_key(name), alarm)
            });
        let all = of_boards.chain(of_outputs);
        all.filter(|(_, alarm)| self.kinds.is_empty() || self.kinds.contains(&alarm.kind))
            .collect()
    }

    fn of_incident(&self, name: &str, board: &AlarmBoard, incident: &Incident) -> (String, Alarm) {
        let kind = AlarmKind::Incident(incident.kind);
        let opened = board.0.since(incident);
        let alarm = Alarm {
            severity: incident.severity,
            incident: Some(incident.incident),
            color: incident.color,
            since: opened.unwrap_or(incident.evidence.from),
            text: incident.advice.clone(),
            ..self.alarm(name, board, kind, title(self.language, incident.kind))
        };
        (format!("{name} {}", incident.incident), alarm)
    }

    /// Returns the alarm for a game that is drawn under the Laws, which its players may not have noticed.
    fn drawn(&self, name: &str, board: &AlarmBoard) -> Option<(String, Alarm)> {
        let game = board.0.game()?;
        let ended = game.ended?;
        if game.result != GameResult::Draw || game.by != Some(DecidedBy::Laws) {
            return None;
        }
        let reason = game.reason.filter(|reason| {
            matches!(
                reason,
                EndReason::Fivefold | EndReason::SeventyFiveMoves | EndReason::DeadPosition
            )
        })?;
        let alarm = Alarm {
            since: ended,
            text: word(self.language, "alarm", reason.as_str()).to_owned(),
            ..self.alarm(name, board, AlarmKind::Draw, word(self.language, "alarm", "draw"))
        };
        Some((format!("{name} draw {}", game.game), alarm))
    }

    fn alarm(&self, name: &str, board: &AlarmBoard, kind: AlarmKind, subject: &str) -> Alarm {
        let table = board.table(&self.tournament, name);
        let place = match table {
            Some(table) => {
                let word = word(self.language, "alarm", "table");
                format!("{word} {}", self.tournament.table_name(table))
            }
            None => format!("{} {name}", word(self.language, "alarm", "board")),
        };
        let players = board.0.game().and_then(|game: &GameRecord| game.players.as_ref());
        let name_of = |color: Color| players.and_then(|players| players.name(color)).map(str::to_owned);
        Alarm {
            kind,
            severity: Severity::Advice,
            board: Some(name.to_owned()),
            table,
            incident: None,
            color: None,
            white: name_of(Color::White),
            black: name_of(Color::Black),
            since: Timestamp::from_micros(0),
            title: format!("{place}: {subject}"),
            text: String::new(),
        }
    }
}

impl AlarmBoard {
    fn table(&self, tournament: &Tournament, name: &str) -> Option<u32> {
        let players = self.0.game().and_then(|game| game.players.as_ref());
        players
            .and_then(|players| players.table)
            .or_else(|| tournament.table_of(name))
    }
}

#[cfg(test)]
mod tests;
