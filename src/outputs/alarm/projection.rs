//! What somebody in the hall has to know now, wherever they are: each thing is raised once and cleared once.
//!
//! It follows from the events and from how the outputs fare.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{DecidedBy, EndReason, Event, GameResult, Incident, color, rfc3339, time};
use kiebitz_game::laws::{IncidentKind, Language, Severity, title, word};
use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shakmaty::Color;

use crate::outputs::shared::record::BoardRecord;
use crate::outputs::shared::reports::OutputReport;
use crate::tournament::table_of;

/// What an alarm is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AlarmKind {
    /// An incident.
    Incident(IncidentKind),
    /// A game that is drawn by the Laws although the players may go on: by fivefold repetition, by seventy-five moves, or
    /// because nobody can checkmate any more.
    Draw,
    /// An output that does not get what happens to where it belongs.
    Output,
}

/// Something that somebody has to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Alarm {
    pub(crate) kind: AlarmKind,
    pub(crate) severity: Severity,
    /// The board's name; `None`: it is about no board.
    pub(crate) board: Option<String>,
    pub(crate) table: Option<u32>,
    /// The incident's number.
    pub(crate) incident: Option<u64>,
    #[serde(with = "color::option")]
    pub(crate) color: Option<Color>,
    pub(crate) white: Option<String>,
    pub(crate) black: Option<String>,
    #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
    pub(crate) since: Timestamp,
    /// Where it is and what it is, as in "Table 7: Illegal move".
    pub(crate) title: String,
    /// What the arbiter is advised.
    pub(crate) text: String,
}

/// What is to be told of an alarm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AlarmChange {
    /// It is raised, under that key.
    Raised(String, Alarm),
    /// It is over.
    Cleared(String, Alarm),
}

/// All alarms of the hall, and what somebody has been told of them.
#[derive(Debug)]
pub(crate) struct Alarms {
    language: Language,
    /// What is wanted; empty: all.
    kinds: BTreeSet<AlarmKind>,
    /// Those of which something was heard: of the others what was raised stays.
    boards: BTreeMap<String, AlarmBoard>,
    /// Since when outputs fail.
    failing: BTreeMap<String, (Timestamp, String)>,
    /// What was raised and not cleared, as told.
    told: BTreeMap<String, Alarm>,
    /// What began before is told only if it was before: it is from another day.
    not_before: Option<Timestamp>,
    /// When the computer's clock was set forward lately, and by how much.
    steps: Vec<(Timestamp, Duration)>,
}

/// A board.
#[derive(Debug, Default)]
struct AlarmBoard(BoardRecord);

/// What was open so long before the start was told by then, or is of no use any more.
const RECENT: Duration = Duration::from_secs(10 * 60);
/// An output that fails for a moment helps itself.
const FAILS: Duration = Duration::from_secs(60);
/// A drawn game is no news after that.
const DRAWN: Duration = Duration::from_secs(5 * 60);

impl AlarmKind {
    /// The kind itself, and the one whose incidents take the place of its own.
    fn with_successor(self) -> impl Iterator<Item = Self> {
        let both = Self::Incident(IncidentKind::TwoFlags);
        let is_flag = self == Self::Incident(IncidentKind::FlagFall);
        core::iter::once(self).chain(is_flag.then_some(both))
    }

    const DRAW: &'static str = "draw";
    const OUTPUT: &'static str = "output";

    /// Its name in the configuration and in what is sent.
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

impl AlarmChange {
    /// The key and the alarm.
    pub(crate) const fn alarm(&self) -> (&String, &Alarm) {
        match self {
            Self::Raised(key, alarm) | Self::Cleared(key, alarm) => (key, alarm),
        }
    }
}

impl Alarms {
    /// Alarms of these kinds, or of all if there are none, of which `told` were raised and not cleared.
    pub(crate) fn new(language: Language, kinds: &[AlarmKind], told: BTreeMap<String, Alarm>) -> Self {
        Self {
            language,
            kinds: kinds.iter().flat_map(|kind| kind.with_successor()).collect(),
            boards: BTreeMap::new(),
            failing: BTreeMap::new(),
            told,
            not_before: None,
            steps: Vec::new(),
        }
    }

    /// Takes in an event.
    pub(crate) fn take(&mut self, event: &Event) {
        let AlarmBoard(record) = self.boards.entry(event.board.clone()).or_default();
        record.take(event);
    }

    /// Goes on with what the journal has of a board.
    pub(crate) fn resume(&mut self, board: &str, events: &[Event]) {
        self.boards.entry(board.to_owned()).or_default();
        events.iter().for_each(|event| self.take(event));
    }

    /// The computer's clock was set forward by `by` at `at`. No time has passed.
    pub(crate) fn set_forward(&mut self, at: Timestamp, by: Duration) {
        let of_now = |(step, _): &&(Timestamp, Duration)| self.passed(*step, at) < FAILS.max(DRAWN);
        self.steps = self.steps.iter().filter(of_now).copied().collect();
        self.steps.push((at, by));
    }

    /// The time that has passed since then.
    fn passed(&self, since: Timestamp, now: Timestamp) -> Duration {
        let steps = self.steps.iter().filter(|(at, _)| *at >= since);
        let steps = steps.fold(Duration::ZERO, |all, (_, by)| all.saturating_add(*by));
        now.saturating_duration_since(since).saturating_sub(steps)
    }

    /// The outputs fare so at `now`.
    pub(crate) fn look(&mut self, now: Timestamp, outputs: &BTreeMap<String, OutputReport>) {
        self.failing
            .retain(|name, _| outputs.get(name).is_some_and(|report| !report.ok));
        for (name, report) in outputs.iter().filter(|(_, report)| !report.ok) {
            let (_, problem) = self.failing.entry(name.clone()).or_insert((now, String::new()));
            *problem = report.problems.join("; ");
        }
    }

    /// What is to be told at `now`: first what is over. What was told is to be [noted](Self::note).
    pub(crate) fn changes(&mut self, now: Timestamp) -> Vec<AlarmChange> {
        let not_before = *self.not_before.get_or_insert_with(|| now.saturating_sub(RECENT));
        let mut wanted = self.wanted(now);
        wanted.retain(|key, alarm| self.told.contains_key(key) || alarm.since >= not_before);
        let is_over = |(key, alarm): &(&String, &Alarm)| {
            let is_known = alarm
                .board
                .as_ref()
                .is_none_or(|board| self.boards.contains_key(board));
            is_known && !wanted.contains_key(*key)
        };
        let over = self.told.iter().filter(is_over);
        let over = over.map(|(key, alarm)| AlarmChange::Cleared(key.clone(), alarm.clone()));
        let over: Vec<AlarmChange> = over.collect();
        let mut fresh: Vec<(String, Alarm)> = wanted
            .into_iter()
            .filter(|(key, _)| !self.told.contains_key(key))
            .collect();
        // The gravest first, and of those the oldest.
        fresh.sort_by_key(|(_, alarm)| (core::cmp::Reverse(alarm.severity), alarm.since));
        let fresh = fresh
            .into_iter()
            .map(|(key, alarm)| AlarmChange::Raised(key, alarm));
        over.into_iter().chain(fresh).collect()
    }

    /// That was told.
    pub(crate) fn note(&mut self, change: AlarmChange) {
        match change {
            AlarmChange::Raised(key, alarm) => self.told.insert(key, alarm),
            AlarmChange::Cleared(key, _) => self.told.remove(&key),
        };
    }

    /// Alarms that are raised and not cleared, by key.
    pub(crate) const fn raised(&self) -> &BTreeMap<String, Alarm> {
        &self.told
    }

    /// The boards that something was heard of, with their tables.
    pub(crate) fn boards(&self) -> impl Iterator<Item = (&str, Option<u32>)> {
        self.boards
            .iter()
            .map(|(name, board)| (&**name, board.table(name)))
    }

    fn wanted(&self, now: Timestamp) -> BTreeMap<String, Alarm> {
        let of_boards = self.boards.iter().flat_map(|(name, board)| {
            let incidents = board.0.incidents.open();
            let incidents = incidents
                // A hint may be nothing: it waits at the desk.
                .filter(|incident| incident.severity >= Severity::Advice)
                .map(|incident| board.of_incident(self.language, name, incident));
            let drawn = board.drawn(self.language, name);
            incidents.chain(drawn.filter(|(_, alarm)| self.passed(alarm.since, now) < DRAWN))
        });
        let of_outputs = self
            .failing
            .iter()
            .filter(|(_, (since, _))| self.passed(*since, now) >= FAILS)
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
                (format!("output {name}"), alarm)
            });
        let all = of_boards.chain(of_outputs);
        all.filter(|(_, alarm)| self.kinds.is_empty() || self.kinds.contains(&alarm.kind))
            .collect()
    }
}

impl AlarmBoard {
    fn table(&self, name: &str) -> Option<u32> {
        let players = self.0.game().and_then(|game| game.players.as_ref());
        players
            .and_then(|players| players.table)
            .or_else(|| table_of(name))
    }

    fn of_incident(&self, language: Language, name: &str, incident: &Incident) -> (String, Alarm) {
        let kind = AlarmKind::Incident(incident.kind);
        let opened = self.0.since(incident);
        let alarm = Alarm {
            severity: incident.severity,
            incident: Some(incident.incident),
            color: incident.color,
            since: opened.unwrap_or(incident.evidence.from),
            text: incident.advice.clone(),
            ..self.alarm(language, name, kind, title(language, incident.kind))
        };
        (format!("{name} {}", incident.incident), alarm)
    }

    /// The game is drawn, and the players may not know.
    fn drawn(&self, language: Language, name: &str) -> Option<(String, Alarm)> {
        let game = self.0.game()?;
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
            text: word(language, "alarm", reason.as_str()).to_owned(),
            ..self.alarm(language, name, AlarmKind::Draw, word(language, "alarm", "draw"))
        };
        Some((format!("{name} draw {}", game.game), alarm))
    }

    fn alarm(&self, language: Language, name: &str, kind: AlarmKind, what: &str) -> Alarm {
        let table = self.table(name);
        let place = match table {
            Some(table) => format!("{} {table}", word(language, "alarm", "table")),
            None => format!("{} {name}", word(language, "alarm", "board")),
        };
        let players = self.0.game().and_then(|game: &GameRecord| game.players.as_ref());
        let named = |color: Color| players.and_then(|players| players.name(color)).map(str::to_owned);
        Alarm {
            kind,
            severity: Severity::Advice,
            board: Some(name.to_owned()),
            table,
            incident: None,
            color: None,
            white: named(Color::White),
            black: named(Color::Black),
            since: Timestamp::from_micros(0),
            title: format!("{place}: {what}"),
            text: String::new(),
        }
    }
}

#[cfg(test)]
mod tests;
