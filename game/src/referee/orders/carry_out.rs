//! Carries out checked commands.

use kiebitz_hardware::Timestamp;
use shakmaty::ByColor;

use super::moves::{CorrectedMoves, uci};
use super::{Seats, WhichGame};
use crate::events::{
    CompletedBy, CorrectionReason, DecidedBy, Decision, EndReason, EventKind, ExplainedEvent, GameResult,
    Players, Ply, SettledBy,
};
use crate::laws::{Mode, TimeControl};
use crate::position::State;
use crate::referee::claims::Offered;
use crate::referee::history::Placed;
use crate::referee::watch::News;
use crate::referee::words::move_of;
use crate::referee::{LineEntry, Referee, Verdict};

impl Referee {
    pub(super) fn set_players(
        &mut self,
        now: Timestamp,
        by: &str,
        which: WhichGame,
        players: Players,
        seats: Seats,
    ) {
        let Some(game) = self.game_of_mut(which) else {
            self.announced = Some(players);
            return;
        };
        let before = game.players.replace(players.clone());
        let is_played = !game.ended;
        let id = game.id.id.clone();
        self.correct_last_paired(&id, &players);
        let are_exchanged = before.is_some_and(|before| players.are_exchanged(&before));
        let players = Some(players);
        self.amend(
            now,
            which,
            Amended {
                players,
                ..Amended::by(by)
            },
        );
        if which != WhichGame::Current || !is_played {
            return;
        }
        let is_withdrawn = self.watch.are_reversed() && (are_exchanged || seats == Seats::Right);
        if is_withdrawn {
            self.watch(now, News::NamesPutRight);
        } else if are_exchanged && seats == Seats::Reversed {
            // Only a person can see that the players have exchanged colours (Art. 7.3). This command reports it.
            let made = ByColor::new_with(|color| self.moves_made(color));
            let moves = self.regulations.rules.reversed_moves(made);
            self.watch(now, News::Reversed(moves));
        }
    }

    /// Assigns a game to a pairing by an arbiter's decision.
    pub(super) fn assign(&mut self, now: Timestamp, by: &str, which: WhichGame, players: Players) {
        let Some(game) = self.game_of_mut(which) else {
            return;
        };
        game.pairing_asked = true;
        game.players = Some(players.clone());
        let id = game.id.id.clone();
        let amended = Amended {
            players: Some(players),
            assigned: true,
            ..Amended::by(by)
        };
        self.amend(now, which, amended);
        self.watch(now, News::Assigned(id));
    }

    pub(super) fn set_time_control(&mut self, now: Timestamp, by: &str, control: TimeControl) {
        let before = self.regulations.rules.mode;
        self.regulations.set_time_control(control);
        if self.game().is_some() {
            let mode = self.regulations.rules.mode;
            let (time_control, time_control_typed) = (
                self.regulations.time_control_text(),
                self.regulations.time_control_typed(),
            );
            self.amend(
                now,
                WhichGame::Current,
                Amended {
                    time_control,
                    time_control_typed,
                    mode: Some(mode).filter(|mode| *mode != before),
                    ..Amended::by(by)
                },
            );
        }
    }

    /// Sets the start of the round. Games are checked for a late start from this round on.
    pub(super) fn start_round(&mut self, now: Timestamp, begins: Timestamp) {
        self.regulations.rounds.announce(begins);
        self.watch(now, News::Time);
    }

    pub(super) fn set_result(&mut self, now: Timestamp, by: &str, which: WhichGame, verdict: Verdict) {
        let decision = self.decision(now, by);
        let Some(game) = self.game_of_mut(which) else {
            return;
        };
        // Repeating the same result keeps the first decision.
        let same = game
            .verdict
            .as_ref()
            .filter(|before| (before.result, before.reason) == (verdict.result, verdict.reason));
        let decision = same.and_then(|before| before.decided.clone()).unwrap_or(decision);
        let verdict = verdict.of(decision);
        if !game.ended && which == WhichGame::Current {
            self.end(now, None, verdict);
            return;
        }
        game.ended = true;
        game.verdict = Some(verdict.clone());
        let id = game.id.id.clone();
        self.enter_result_of_last_paired(&id, verdict.result);
        let result = Some((verdict.result, Some(verdict.reason)));
        self.amend(
            now,
            which,
            Amended {
                result,
                ..Amended::by(by)
            },
        );
    }

    /// Publishes the result of a pairing that no board has a game for.
    pub(super) fn set_table_result(
        &mut self,
        now: Timestamp,
        by: &str,
        (round, table): (u32, u32),
        verdict: Verdict,
    ) {
        let event = EventKind::TableResult {
            round,
            table,
            result: verdict.result,
            reason: verdict.reason,
            by: by.to_owned(),
        };
        self.publish_for(now, WhichGame::Next, event);
    }

    /// Records a game that was not played because a player did not come. The clock was never started.
    pub(super) fn forfeit(&mut self, now: Timestamp, by: &str, verdict: Verdict) {
        self.begin(now);
        self.end_by_arbiter(now, by, verdict);
    }

    pub(super) fn end_by_arbiter(&mut self, now: Timestamp, by: &str, verdict: Verdict) {
        let decision = self.decision(now, by);
        self.end(now, None, verdict.of(decision));
    }

    /// Continues an ended game. Plies since its end belong to the game.
    pub(super) fn go_on(&mut self, now: Timestamp, by: &str) {
        let dead = |verdict: &Verdict| verdict.reason == EndReason::DeadPosition;
        let was_dead = self
            .game
            .as_ref()
            .and_then(|game| game.verdict.as_ref())
            .is_some_and(dead);
        self.reopen();
        if let Some(game) = &mut self.game {
            game.goes_on_dead |= was_dead;
        }
        let result = Some((GameResult::Unknown, None));
        self.amend(
            now,
            WhichGame::Current,
            Amended {
                result,
                ..Amended::by(by)
            },
        );
        self.follow(now, CorrectionReason::Arbiter);
    }

    /// Continues the game from a position that has not occurred in it.
    pub(super) fn set_position(&mut self, now: Timestamp, by: &str, state: State) {
        let position = Some(state.fen());
        let Some(game) = &mut self.game else { return };
        let ply = u32::try_from(game.published.len()).unwrap_or(u32::MAX);
        self.line = game.published.clone();
        // The board must now show this position instead of the one after the last ply.
        match self.line.last_mut() {
            Some(last) => last.ply.after.clone_from(&state),
            None => self
                .start
                .iter_mut()
                .for_each(|start| start.state.clone_from(&state)),
        }
        game.placed.push(Placed { ply, state });
        self.amend(
            now,
            WhichGame::Current,
            Amended {
                position,
                ..Amended::by(by)
            },
        );
    }

    pub(super) fn correct_moves(
        &mut self,
        now: Timestamp,
        by: &str,
        which: WhichGame,
        moves: CorrectedMoves,
    ) {
        let decision = self.decision(now, by);
        let Some(game) = self.game_of_mut(which) else {
            return;
        };
        let withdrawn = game.published.get(moves.stay).map(|entry| entry.ply.clone());
        game.keep(moves.stay);
        let ply = u32::try_from(moves.stay).unwrap_or(u32::MAX);
        let put_back = moves.position.clone().map(|state| Placed { ply, state });
        game.placed.extend(put_back);
        for entry in game.published.iter_mut().filter(|entry| entry.settled.is_none()) {
            entry.settled = Some(SettledBy::Arbiter);
        }
        let entries = moves.entered.iter().map(|ply| LineEntry {
            ply: Box::new(ply.clone()),
            reported_at: now,
            settled: Some(SettledBy::Arbiter),
            completed: Some((CompletedBy::Arbiter, None, None)),
            offered: Offered::default(),
            entered: Some(decision.clone()),
        });
        game.published.extend(entries);
        let all = game
            .published
            .iter()
            .map(|entry| uci(&entry.ply).unwrap_or_default());
        let amended = match &moves.position {
            Some(state) => Amended {
                position: Some(state.fen()),
                ..Amended::by(by)
            },
            None => Amended {
                moves: Some(all.collect()),
                ..Amended::by(by)
            },
        };
        if which == WhichGame::Current && !game.ended {
            self.line = game.published.clone();
        }
        self.amend(now, which, amended);
        self.publish_corrected(now, which, withdrawn.as_deref(), &moves);
    }

    fn publish_corrected(
        &mut self,
        now: Timestamp,
        which: WhichGame,
        withdrawn: Option<&Ply>,
        moves: &CorrectedMoves,
    ) {
        let reason = CorrectionReason::Arbiter;
        if let (Some(withdrawn), true) = (withdrawn, moves.entered.is_empty()) {
            let ply = withdrawn.number;
            self.publish_for(now, which, EventKind::MoveRetracted { ply, reason });
        }
        for (nth, entered) in moves.entered.iter().enumerate() {
            let played = move_of(entered);
            let event = match withdrawn.filter(|_| nth == 0) {
                Some(withdrawn) => EventKind::MoveAmended {
                    played,
                    replaces: uci(withdrawn),
                    reason,
                },
                None => EventKind::MoveMade(played),
            };
            let ply = entered.number;
            let (clock, elapsed_ms) = (None, None);
            self.publish_for(now, which, event);
            self.publish_for(
                now,
                which,
                EventKind::MoveSettled {
                    ply,
                    by: SettledBy::Arbiter,
                },
            );
            self.publish_for(
                now,
                which,
                EventKind::MoveCompleted {
                    ply,
                    by: CompletedBy::Arbiter,
                    clock,
                    elapsed_ms,
                },
            );
        }
        if let (WhichGame::Current, Some(last)) = (which, moves.entered.last()) {
            self.check_for_end(now, last.number);
            self.offer_threefold(now, last.number);
            self.offer_fifty(now);
        }
    }

    /// Begins another game on the board. A game in progress becomes void (Art. 7.2.1).
    pub(super) fn start_new_game(&mut self, now: Timestamp, by: &str, named: Option<Players>) {
        let mut same_players = None;
        if self.game().is_some() {
            self.end_by_arbiter(now, by, Verdict::arbiter(GameResult::Unknown, EndReason::Void));
            same_players = self.game.as_ref().and_then(|game| game.players.clone());
            // The new game is played with the right colours (Art. 7.3).
            if self.watch.are_reversed() {
                same_players = same_players.map(|players| players.exchanged());
            }
        }
        self.keep_previous();
        let before = same_players.or_else(|| self.announced.take());
        self.announced = match named {
            Some(named) => Some(named.over(before.as_ref())),
            None => before,
        };
        self.start_is_given = true;
    }

    pub(super) fn annotate(&mut self, now: Timestamp, by: &str, which: WhichGame, text: String) {
        let note = Some(text);
        let amended = Amended {
            note,
            ..Amended::by(by)
        };
        self.amend(now, which, amended);
    }

    fn amend(&mut self, now: Timestamp, which: WhichGame, amended: Amended) {
        let (result, reason) = amended
            .result
            .map_or((None, None), |(result, reason)| (Some(result), reason));
        let event = EventKind::GameAmended {
            by: amended.by,
            result,
            reason,
            players: amended.players,
            time_control: amended.time_control,
            time_control_typed: amended.time_control_typed,
            mode: amended.mode,
            moves: amended.moves,
            position: amended.position,
            note: amended.note,
            assigned: amended.assigned,
        };
        self.publish_for(now, which, event);
    }

    fn publish_for(&mut self, now: Timestamp, which: WhichGame, kind: EventKind) {
        let game = self.game_of(which).map(|game| game.id.id.as_str());
        let event = ExplainedEvent::new(now, &self.board, game, kind);
        self.events.push(event);
    }
}

/// Changes of an arbiter, for a `game.amended` event.
#[derive(Debug)]
struct Amended {
    by: String,
    result: Option<(GameResult, Option<EndReason>)>,
    players: Option<Players>,
    time_control: Option<String>,
    time_control_typed: Option<String>,
    mode: Option<Mode>,
    moves: Option<Vec<String>>,
    position: Option<String>,
    note: Option<String>,
    assigned: bool,
}

impl Amended {
    fn by(by: &str) -> Self {
        Self {
            by: by.to_owned(),
            result: None,
            players: None,
            time_control: None,
            time_control_typed: None,
            mode: None,
            moves: None,
            position: None,
            note: None,
            assigned: false,
        }
    }
}

impl Verdict {
    pub(super) fn arbiter(result: GameResult, reason: EndReason) -> Self {
        Self {
            result,
            reason,
            by: DecidedBy::Arbiter,
            confirmed: true,
            decided: None,
        }
    }

    /// The same verdict, decided by an arbiter.
    fn of(self, decision: Decision) -> Self {
        Self {
            decided: Some(decision),
            ..self
        }
    }
}
