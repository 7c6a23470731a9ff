//! The game as its events tell it: what the game topic, PGN and reports are made of.

use kiebitz_hardware::Timestamp;
use serde::Serialize;

use crate::event::{Clock, Event, EventKind, Move, Players, rfc3339, rfc3339_option};

/// One game: a projection of its events, complete at every moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GameRecord {
    /// Its id, as in the events.
    pub game: String,
    /// The board it is played on.
    pub board: String,
    /// The stream of events that it was read from.
    pub stream: String,
    /// Counts the changes: a client that has this revision has the whole of it.
    pub revision: u64,
    /// When it was started.
    #[serde(serialize_with = "rfc3339")]
    pub started: Timestamp,
    /// When it ended; `None` while it is played.
    #[serde(serialize_with = "rfc3339_option")]
    pub ended: Option<Timestamp>,
    /// Names of the players, once told.
    pub players: Option<Players>,
    /// The time control, once told.
    pub time_control: Option<String>,
    /// The start position.
    pub start_fen: String,
    /// standard, chess960 or from_position.
    pub variant: &'static str,
    /// Where White sits: "normal" with the connector on White's left, else "turned".
    pub orientation: &'static str,
    /// White's side of the clock, "left" or "right", once known.
    pub white_side: Option<&'static str>,
    /// Edition of the Laws.
    pub laws: Option<String>,
    /// Mode of play.
    pub mode: Option<String>,
    /// The plies, none of them withdrawn.
    pub moves: Vec<MoveRecord>,
    /// The position after the last ply.
    pub fen: String,
    /// 1-0, 0-1, 1/2-1/2, or * while it is played and where nobody knows.
    pub result: String,
    /// What ended it; `None` while it is played.
    pub reason: Option<&'static str>,
    /// Who ended it: board, laws or arbiter.
    pub by: Option<&'static str>,
    /// The result stands; false while the Laws want the arbiter's word on it.
    pub confirmed: bool,
    /// Counts the changes that spectators see, as `revision` counts all.
    #[serde(skip)]
    pub public_revision: u64,
}

/// One ply of a game.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MoveRecord {
    /// 1 is the first of the game.
    pub ply: u32,
    /// white or black.
    pub color: &'static str,
    /// UCI; `None` where irregular play was more than one piece going from one square to another.
    pub uci: Option<String>,
    /// English SAN; `None` for irregular play.
    pub san: Option<String>,
    /// The position after it.
    pub fen: String,
    /// Letter of the captured piece: p, n, b, r, q.
    pub captured: Option<String>,
    /// The clock when the ply was completed, before that when it was made.
    pub clock: Option<Clock>,
    /// The mover's time for it, in milliseconds.
    pub elapsed_ms: Option<u64>,
    /// False for an irregular move.
    pub legal: bool,
    /// Found by reconstruction over a gap, not watched.
    pub inferred: bool,
    /// What settled it (press, reply, shape); `None`: it may still be corrected.
    pub settled: Option<&'static str>,
    /// What completed it in the sense of the Laws (press, own_next_move, game_end); `None`: not yet.
    pub completed: Option<&'static str>,
}

/// The current game of one board: the one being played, and after its end until the next one starts, the last one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Games {
    current: Option<GameRecord>,
}

impl Games {
    /// Of a board that has not told any event.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Of a board whose current game is known.
    #[must_use]
    pub fn with(game: GameRecord) -> Self {
        Self { current: Some(game) }
    }

    /// The current game.
    #[must_use]
    pub fn current(&self) -> Option<&GameRecord> {
        self.current.as_ref()
    }

    /// Takes in the board's next event. Returns whether the current game is another than before.
    pub fn apply(&mut self, event: &Event) -> bool {
        if let Some(game) = GameRecord::from_started(event) {
            self.current = Some(game);
            return true;
        }
        self.current.as_mut().is_some_and(|game| game.apply(event))
    }
}

impl GameRecord {
    /// The game that a `game.started` starts; `None` for other events.
    #[must_use]
    pub fn from_started(event: &Event) -> Option<Self> {
        let EventKind::GameStarted {
            start_fen,
            variant,
            orientation,
            white_side,
            laws,
            mode,
            players,
            time_control,
            ..
        } = &event.kind
        else {
            return None;
        };
        Some(Self {
            game: event.game.clone()?,
            board: event.board.clone(),
            stream: event.stream.clone(),
            revision: 1,
            started: event.ts,
            ended: None,
            players: players.clone(),
            time_control: time_control.clone(),
            start_fen: start_fen.clone(),
            variant,
            orientation,
            white_side: *white_side,
            laws: laws.clone(),
            mode: mode.clone(),
            moves: Vec::new(),
            fen: start_fen.clone(),
            result: "*".to_owned(),
            reason: None,
            by: None,
            confirmed: false,
            public_revision: 1,
        })
    }

    /// Takes in the next event. Returns whether it changed the game; events of other games do not.
    pub fn apply(&mut self, event: &Event) -> bool {
        if event.game.as_ref() != Some(&self.game) {
            return false;
        }
        let mut public = !matches!(event.kind, EventKind::MoveSettled { .. });
        let changed = match &event.kind {
            EventKind::MoveMade(played) | EventKind::MoveAmended { played, .. } => {
                self.withdraw(played.ply);
                self.moves.push(MoveRecord::of(played));
                true
            }
            EventKind::MoveRetracted { ply, .. } => self.withdraw(*ply),
            EventKind::MoveSettled { ply, by } => self.mark(*ply, |entry| entry.settled = Some(by)),
            EventKind::MoveCompleted {
                ply,
                by,
                clock,
                elapsed_ms,
            } => self.mark(*ply, |entry| {
                entry.completed = Some(by);
                public = clock.is_some() && entry.clock != *clock;
                entry.clock = clock.or(entry.clock);
                entry.elapsed_ms = *elapsed_ms;
            }),
            EventKind::GameEnded {
                result,
                reason,
                by,
                confirmed,
            } => {
                self.ended = Some(event.ts);
                self.result.clone_from(result);
                self.reason = Some(reason);
                self.by = Some(by);
                self.confirmed = *confirmed;
                true
            }
            EventKind::BoardConnected { .. }
            | EventKind::BoardRecovered { .. }
            | EventKind::BoardDisconnected { .. }
            | EventKind::ClockBatteryLow {}
            | EventKind::ClockConnected {}
            | EventKind::ClockDisconnected {}
            | EventKind::ClaimAvailable { .. }
            | EventKind::CommandTaken { .. }
            | EventKind::GameAmended { .. }
            | EventKind::GameStarted { .. }
            | EventKind::IncidentClosed { .. }
            | EventKind::IncidentOpened(_)
            | EventKind::IncidentUpdated(_) => false,
        };
        if changed {
            let last = self.moves.last();
            self.fen = last.map_or_else(|| self.start_fen.clone(), |entry| entry.fen.clone());
            self.revision += 1;
            self.public_revision += u64::from(public);
        }
        changed
    }

    /// Takes back `ply` and all later ones. Returns whether there were any.
    fn withdraw(&mut self, ply: u32) -> bool {
        let before = self.moves.len();
        self.moves.retain(|entry| entry.ply < ply);
        self.moves.len() < before
    }

    fn mark(&mut self, ply: u32, mark: impl FnOnce(&mut MoveRecord)) -> bool {
        let entry = self.moves.iter_mut().rev().find(|entry| entry.ply == ply);
        entry.map(mark).is_some()
    }
}

impl MoveRecord {
    fn of(played: &Move) -> Self {
        Self {
            ply: played.ply,
            color: played.color,
            uci: played.uci.clone(),
            san: played.san.clone(),
            fen: played.fen.clone(),
            captured: played.captured.clone(),
            clock: played.clock,
            elapsed_ms: None,
            legal: played.legal,
            inferred: played.inferred,
            settled: None,
            completed: None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An event of the game "g" on the board "b".
    pub(crate) fn event(seq: u64, kind: EventKind) -> Event {
        let ts = Timestamp::from_micros(1_789_000_000_000_000 + i64::try_from(seq).unwrap_or(0));
        let (stream, board) = ("live".to_owned(), "b".to_owned());
        Event {
            v: 1,
            stream,
            seq,
            ts,
            at: None,
            board,
            game: Some("g".to_owned()),
            kind,
        }
    }

    pub(crate) fn started(start_fen: &str, variant: &'static str) -> EventKind {
        EventKind::GameStarted {
            start_fen: start_fen.to_owned(),
            variant,
            orientation: "normal",
            continues: None,
            white_side: None,
            laws: None,
            mode: None,
            players: None,
            time_control: None,
        }
    }

    /// A legal ply whose position is no more than its name.
    pub(crate) fn ply(ply: u32, uci: &str, san: &str) -> Move {
        Move {
            ply,
            color: if ply % 2 == 1 { "white" } else { "black" },
            uci: Some(uci.to_owned()),
            san: Some(san.to_owned()),
            fen: format!("after {uci}"),
            captured: None,
            clock: Some(clock(600)),
            legal: true,
            inferred: false,
            order_certain: true,
        }
    }

    pub(crate) fn clock(seconds: u64) -> Clock {
        Clock {
            white_ms: seconds * 1000,
            black_ms: seconds * 1000,
            running: Some("white"),
            flag: None,
        }
    }

    fn game(kinds: Vec<EventKind>) -> Games {
        let mut games = Games::new();
        for (seq, kind) in (1..).zip(kinds) {
            games.apply(&event(seq, kind));
        }
        games
    }

    fn moves(games: &Games) -> Vec<&str> {
        let game = games.current().expect("a game was started");
        game.moves
            .iter()
            .filter_map(|entry| entry.uci.as_deref())
            .collect()
    }

    #[test]
    fn completed_ply_has_the_clock_of_its_completion() {
        let games = game(vec![
            started("start", "standard"),
            EventKind::MoveMade(ply(1, "e2e4", "e4")),
            EventKind::MoveCompleted {
                ply: 1,
                by: "press",
                clock: Some(clock(590)),
                elapsed_ms: Some(10_000),
            },
        ]);
        let first = &games.current().expect("a game").moves[0];
        assert_eq!(first.clock, Some(clock(590)));
        assert_eq!(first.elapsed_ms, Some(10_000));
        assert_eq!(first.completed, Some("press"));
    }

    #[test]
    fn amended_ply_takes_the_later_ones_with_it() {
        let games = game(vec![
            started("start", "standard"),
            EventKind::MoveMade(ply(1, "e2e4", "e4")),
            EventKind::MoveMade(ply(2, "e7e5", "e5")),
            EventKind::MoveMade(ply(3, "g1f3", "Nf3")),
            EventKind::MoveAmended {
                played: ply(2, "e7e6", "e6"),
                replaces: Some("e7e5".to_owned()),
                reason: "moved_on",
            },
        ]);
        assert_eq!(moves(&games), ["e2e4", "e7e6"]);
        assert_eq!(games.current().expect("a game").fen, "after e7e6");
    }

    #[test]
    fn retracted_first_ply_leaves_the_start_position() {
        let games = game(vec![
            started("start", "standard"),
            EventKind::MoveMade(ply(1, "e2e4", "e4")),
            EventKind::MoveMade(ply(2, "e7e5", "e5")),
            EventKind::MoveRetracted {
                ply: 1,
                reason: "takeback",
            },
        ]);
        assert!(moves(&games).is_empty());
        let current = games.current().expect("a game");
        assert_eq!(current.fen, "start");
        assert_eq!(current.revision, 4);
    }

    #[test]
    fn what_was_amended_is_no_longer_settled() {
        let games = game(vec![
            started("start", "standard"),
            EventKind::MoveMade(ply(1, "e2e4", "e4")),
            EventKind::MoveSettled { ply: 1, by: "press" },
            EventKind::MoveAmended {
                played: ply(1, "d2d4", "d4"),
                replaces: Some("e2e4".to_owned()),
                reason: "arbiter",
            },
        ]);
        assert_eq!(games.current().expect("a game").moves[0].settled, None);
    }

    #[test]
    fn finished_game_stays_current_until_the_next_one_starts() {
        let ended = EventKind::GameEnded {
            result: "1-0".to_owned(),
            reason: "checkmate",
            by: "laws",
            confirmed: true,
        };
        let mut games = game(vec![started("start", "standard"), ended]);
        let current = games.current().expect("the finished game");
        assert_eq!(
            (current.result.as_str(), current.reason),
            ("1-0", Some("checkmate"))
        );
        assert!(current.ended.is_some());

        assert!(games.apply(&event(3, started("another", "from_position"))));
        assert_eq!(games.current().expect("the next game").result, "*");
    }

    #[test]
    fn revision_counts_changes_only() {
        let mut games = game(vec![started("start", "standard")]);
        assert!(!games.apply(&event(2, EventKind::ClockBatteryLow {})));
        assert!(!games.apply(&event(3, EventKind::MoveSettled { ply: 7, by: "press" })));
        assert_eq!(games.current().expect("a game").revision, 1);
        let mut elsewhere = event(4, EventKind::MoveMade(ply(1, "e2e4", "e4")));
        elsewhere.game = None;
        assert!(!games.apply(&elsewhere));
    }
}
