//! Boards that go on where their events end.

use kiebitz_hardware::Timestamp;

use super::Board;
use crate::command::Announced;
use crate::events::incidents::Incidents;
use crate::events::pairing::{EVENT_SPAN, LastPaired};
use crate::events::{Event, EventKind, ResumableGame};
use crate::laws::Regulations;
use crate::referee::Resumed;

/// What the stored events of a board tell of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BoardPast {
    /// The seq of its last event.
    pub last_seq: u64,
    /// The port where it was last connected; `None` if it never was.
    pub port: Option<String>,
    /// When its moves were last followed; `None` if they never were.
    pub followed: Option<Timestamp>,
    /// Its last game, ended or not.
    pub game: Option<ResumableGame>,
    /// The game before the last one.
    pub game_before: Option<ResumableGame>,
    /// The incidents, open and closed.
    pub incidents: Incidents,
    /// The events about pairings, oldest first; moves only of the last [`EVENT_SPAN`].
    pub paired: Vec<Event>,
    /// Whether an arbiter had it forgotten after it was last connected.
    pub forgotten: bool,
}

impl BoardPast {
    /// The past that the events of one board tell, oldest first and from the first one. A store with many games gets the
    /// same with less work by reading the last two games alone.
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

/// Index of the last event before an open gap. A gap begins with a lost connection, or with a connection that no loss
/// precedes since then the program was not running; `board.recovered` closes it. The first connection opens none.
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
    /// A board of that name in `stream` that goes on after `past`, not plugged in yet.
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
