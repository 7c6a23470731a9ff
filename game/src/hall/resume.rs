//! Resumes boards from their stored events.

use kiebitz_hardware::Timestamp;

use super::Board;
use crate::command::Announced;
use crate::events::incidents::Incidents;
use crate::events::pairing::{EVENT_SPAN, LastPaired};
use crate::events::{Event, EventKind, ResumableGame};
use crate::laws::Regulations;
use crate::referee::Resumed;

/// State of a board according to its stored events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BoardPast {
    /// Seq of the last event.
    pub last_seq: u64,
    /// Port of the last connection; `None` if the board was never connected.
    pub port: Option<String>,
    /// Time until which the moves were followed; `None` if they never were.
    pub followed: Option<Timestamp>,
    /// Last game, ended or not.
    pub game: Option<ResumableGame>,
    /// Game before the last one.
    pub game_before: Option<ResumableGame>,
    /// The incidents, open and closed.
    pub incidents: Incidents,
    /// Events about pairings, oldest first. Moves are included only from the last [`EVENT_SPAN`].
    pub paired: Vec<Event>,
    /// Whether an arbiter had the board forgotten after its last connection.
    pub forgotten: bool,
}

impl BoardPast {
    /// Computes the state from all events of one board, oldest first. A store with many games can get the same with
    /// less work by reading only the last two games.
    #[must_use]
    pub fn of(events: &[Event]) -> Self {
        let mut past = Self::default();
        let Some(last) = events.last() else {
            return past;
        };
        past.last_seq = last.seq;
        past.followed = Some(events.get(followed_until(events)).unwrap_or(last).ts);
        let since = last.ts.saturating_sub(EVENT_SPAN);
        let mut games = Vec::new();
        for event in events {
            past.incidents.apply(event);
            match &event.kind {
                EventKind::BoardConnected { port, .. } => {
                    past.port = Some(port.clone());
                    past.forgotten = false;
                }
                EventKind::GameStarted { .. } => games.push(event.game.as_deref()),
                kind => past.forgotten |= kind.is_forget(),
            }
            if event.ts >= since || !matches!(event.kind, EventKind::MoveMade(_)) {
                past.paired.push(event.clone());
            }
        }
        let mut games = games.into_iter().rev().map(|id| {
            let events = events.iter().filter(|event| event.game.as_deref() == id);
            ResumableGame::of(&events.cloned().collect::<Vec<_>>())
        });
        past.game = games.next().flatten();
        past.game_before = games.next().flatten();
        past
    }
}

/// Index of the last event before an open gap. A gap begins with a lost connection, or with a connection without a
/// preceding loss, because then the program was not running; `board.recovered` closes it. The first connection opens no
/// gap.
fn followed_until(events: &[Event]) -> usize {
    let recovered = |event: &Event| matches!(event.kind, EventKind::BoardRecovered { .. });
    let settled = events.iter().rposition(recovered).unwrap_or(0);
    let gap = (settled + 1..events.len()).find_map(|at| match events[at].kind {
        EventKind::BoardConnected { .. } => Some(at - 1),
        EventKind::BoardDisconnected { .. } => Some(at),
        _ => None,
    });
    gap.unwrap_or_else(|| events.len().saturating_sub(1))
}

impl Board {
    /// Creates a board that continues after `past` and is not plugged in yet.
    #[must_use]
    pub fn resumed(name: &str, stream: &str, regulations: Regulations, past: &BoardPast) -> Self {
        let game = past.game.as_ref().and_then(Resumed::new);
        let game = game.map(|game| game.after(past.game_before.as_ref()));
        let mut board = Self::new(name, stream, regulations);
        if let Some(port) = &past.port {
            board.sit(port);
        }
        let board = board.resume_game(past.last_seq, past.followed, game);
        let board = board.with_incidents(&past.incidents);
        let (mut announced, mut last_paired) = (Announced::default(), LastPaired::default());
        for event in &past.paired {
            announced.apply(event);
            last_paired.apply(event);
        }
        let board = board.with_last_paired(last_paired.into_game());
        board.with_announced(&announced).with_forgotten(past.forgotten)
    }
}
