//! Resumes from the journal: the game in progress, the open incidents, and announcements.

use core::time::Duration;

use shakmaty::Bitboard;

use super::claims::Offered;
use super::history::Placed;
use super::{Game, LineEntry, OpenGame, Referee, Resumed, Verdict};
use crate::command::Announced;
use crate::events::incidents::Incidents;
use crate::events::pairing::{CountingGame, MIN_PLIES};
use crate::events::{Clock, ResumableGame};
use crate::laws::Regulations;

impl OpenGame {
    fn of(resumed: &Resumed) -> Self {
        let entries = resumed.plies.iter().map(|(ply, record)| LineEntry {
            ply: Box::new(ply.clone()),
            reported_at: resumed.last_ts,
            settled: record.settled,
            completed: record.completed.map(|by| (by, record.clock, record.elapsed_ms)),
            offered: Offered::default(),
            entered: record.entered.clone(),
        });
        let placed = resumed.placed.iter().map(|(ply, state)| Placed {
            ply: *ply,
            state: state.clone(),
        });
        let shown = resumed.verdict.as_ref().is_some_and(Verdict::is_shown);
        Self {
            id: Game {
                number: resumed.number,
                id: resumed.id.clone(),
            },
            start: resumed.start.state.clone(),
            published: entries.collect(),
            ended: resumed.verdict.is_some(),
            claim_after: None,
            shown_at: resumed.ended.filter(|_| shown),
            verdict: resumed.verdict.clone(),
            players: resumed.players.clone(),
            placed: placed.collect(),
            goes_on_dead: false,
            pairing_asked: resumed.plies.len() >= MIN_PLIES as usize,
        }
    }
}

impl Referee {
    /// Sets the number of games after which the board continues to count.
    pub(crate) fn count_after(&mut self, games: u32) {
        self.games = games;
    }

    pub(crate) fn resume(&mut self, resumed: Resumed) {
        let (start, line) = resumed.line();
        // A clock that does not run after the restart counts as stopped.
        let runs = |clock: Clock| clock.running.is_some();
        self.clock.ran = resumed
            .plies
            .iter()
            .any(|(_, record)| record.clock.is_some_and(runs));
        let game = OpenGame::of(&resumed);
        let expected = line.into_iter().zip(&game.published);
        self.line = expected
            .map(|(ply, entry)| LineEntry {
                ply: Box::new(ply),
                ..entry.clone()
            })
            .collect();
        self.start = Some(start);
        self.white_side = resumed.white_side;
        self.games = resumed.number;
        self.watch.resume_game(resumed.started, resumed.verdict.is_none());
        if let Some(control) = resumed.time_control {
            self.regulations.set_time_control(control);
        }
        self.game = Some(game);
    }

    pub(crate) fn resume_last_paired(&mut self, last: Option<CountingGame>) {
        self.last_paired = last;
    }

    /// Loads an earlier game for a command about it; `None` unloads it.
    pub(crate) fn recall(&mut self, game: Option<&ResumableGame>) {
        let resumed = game.and_then(Resumed::new);
        self.recalled = resumed.as_ref().map(OpenGame::of);
    }

    /// Whether the game with this id is in memory, so that the journal need not be read.
    pub(crate) fn has_game(&self, id: &str) -> bool {
        let mut games = [&self.game, &self.previous].into_iter().flatten();
        games.any(|game| game.id.id == id)
    }

    /// The game with this id, if it is loaded.
    pub(crate) fn game_with(&self, id: &str) -> Option<&Game> {
        let games = [&self.game, &self.previous, &self.recalled];
        let mut games = games.into_iter().flatten();
        games.find(|game| game.id.id == id).map(|game| &game.id)
    }

    /// Sets the amount by which the computer's clock is ahead of the times that the referee gets. Ids and rounds use
    /// the computer's clock.
    pub(crate) fn set_ahead(&mut self, ahead: Duration) {
        self.ahead = ahead;
        self.regulations.rounds.set_ahead(ahead);
    }

    /// Replaces the regulations that were configured `before`. Settings and announcements by command stay.
    pub(crate) fn regulate(&mut self, before: &Regulations, regulations: Regulations) {
        let current = core::mem::replace(&mut self.regulations, regulations);
        self.regulations.rounds.take_over(&current.rounds);
        if current.time_control != before.time_control
            && let Some(control) = current.time_control
        {
            self.regulations.set_time_control(control);
        }
    }

    /// Squares whose pieces the board did not read before the restart. The pieces are assumed to stand there.
    #[must_use]
    pub(crate) fn unseen(&self) -> Bitboard {
        self.watch.unseen()
    }

    pub(crate) fn resume_incidents(&mut self, incidents: &Incidents) {
        self.watch.resume(incidents);
    }

    pub(crate) fn resume_announced(&mut self, announced: &Announced) {
        self.announced = announced.players().cloned();
        if let Some(begins) = announced.round() {
            self.regulations.rounds.announce(begins);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use shakmaty::{CastlingMode, Chess};

    use kiebitz_hardware::Timestamp;

    use super::*;
    use crate::clock::ClockChange;
    use crate::events::CompletedBy;
    use crate::events::{Event, EventKind, ExplainedEvent, ResumableGame};
    use crate::laws::{Regulations, Rules};
    use crate::position::{State, Variant};
    use crate::referee::tests::table::Table;
    use crate::tracker::{Finding, Start};

    /// A restart interrupted a game. Its incident closes when the next game begins, and the number is not reused. The
    /// incident about the turned board stays open.
    #[test]
    fn incidents_from_the_journal_close_with_their_game_and_numbers_continue() {
        let opened = |number: u64, kind: &str| -> Event {
            let time = "2026-11-21T14:03:07.412345Z";
            let event = json!({
                "v": 1, "stream": "live", "seq": number, "ts": time, "board": "b", "type": "incident.opened",
                "incident": number, "kind": kind, "color": null, "ply": 4, "severity": "advice", "article": "",
                "edition": "fide-2023", "case": format!("{kind}.half"), "advice": "a", "squares": ["e4"],
                "evidence": {
                    "from": time, "to": time, "fen": null, "clock": null, "changes": [], "values": {},
                },
            });
            serde_json::from_value(event).expect("an event")
        };
        let mut incidents = Incidents::default();
        for (number, kind) in [(7, "displaced_pieces"), (8, "illegal_move"), (9, "board_rotated")] {
            incidents.apply(&opened(number, kind));
        }
        let mut referee = Referee::new("b", Regulations::default());
        referee.resume_incidents(&incidents);
        let start = |turned| {
            Finding::Start(Start {
                variant: Variant::Standard,
                state: State::legal(Chess::new(), CastlingMode::Standard),
                turned,
                goes_on: false,
            })
        };
        let now = Timestamp::from_micros(1_795_269_600_000_000);
        let mut opened_and_closed = |turned| {
            referee.handle(now, start(turned));
            let events = referee.take_events();
            let number = |explained: &ExplainedEvent| match &explained.event.kind {
                EventKind::IncidentClosed { incident, .. } => Some(-(*incident as i64)),
                EventKind::IncidentOpened(incident) => Some(incident.incident as i64),
                _ => None,
            };
            events.iter().filter_map(number).collect::<Vec<i64>>()
        };
        assert_eq!(opened_and_closed(true), [-7, -8], "the board is turned as before");
        assert_eq!(opened_and_closed(false), [-9]);
        assert_eq!(opened_and_closed(true), [10]);
    }

    fn made(table: &mut Table) -> Vec<String> {
        let events = table.referee.take_events().into_iter();
        let made = events.filter_map(|explained| match explained.event.kind {
            EventKind::MoveMade(made) => made.san,
            _ => None,
        });
        made.collect()
    }

    /// The clock is stopped when the board reconnects. The clock ran when the last ply was made, or the memory contains
    /// a press.
    #[test]
    fn a_game_with_a_clock_continues_with_plies_from_memory() {
        let goes_on = |running: Option<shakmaty::Color>, pressed: bool| {
            let mut table = Table::of("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", Rules::default());
            table.makes("e4");
            let mut events = table.journaled();
            for event in &mut events {
                if let EventKind::MoveMade(made) = &mut event.kind {
                    let (white_ms, black_ms) = (540_000, 600_000);
                    made.clock = Some(Clock {
                        white_ms,
                        black_ms,
                        running,
                        flag: None,
                    });
                }
            }
            let game = ResumableGame::of(&events).expect("a game");
            table.referee = Referee::new("b", Regulations::default());
            table.referee.resume(Resumed::new(&game).expect("positions"));
            table.now = game.last_ts + Duration::from_secs(60);
            table.finds(Finding::Clock(ClockChange::Connected)).recalls("Kd7");
            if pressed {
                table.completes(2, CompletedBy::Press);
            }
            made(&mut table)
        };
        assert_eq!(goes_on(Some(shakmaty::Color::Black), false), ["Kd7"]);
        assert_eq!(goes_on(None, true), ["Kd7"]);
        assert_eq!(goes_on(None, false), [""; 0]);
    }

    /// Without a clock, play from a position found on a board counts as a game only after some plies. A game from the
    /// journal counts already.
    #[test]
    fn a_game_from_a_position_continues_with_its_next_ply() {
        let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
        let mut table = Table::of(fen, Rules::default());
        table.makes("e4");
        let game = ResumableGame::of(&table.journaled()).expect("a game");
        table.referee = Referee::new("b", Regulations::default());
        table.referee.resume(Resumed::new(&game).expect("positions"));
        table.makes("Kd7");
        assert_eq!(made(&mut table), ["Kd7"]);
    }
}
