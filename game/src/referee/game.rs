//! Keeps the published game in step with the tracker's line.

use kiebitz_hardware::Timestamp;

use super::claims::Offered;
use super::words::{index, move_of};
use super::{Game, LineEntry, MIN_PLIES_FROM_POSITION, MIN_PLIES_WITHOUT_CLOCK, OpenGame, Referee};
use crate::events::{Clock, CompletedBy, CorrectionReason, EventKind, ExplainedEvent, SettledBy, time_text};
use crate::position::{Orientation, Variant};

/// Marks of a ply of the line, to be published.
#[derive(Clone, Copy)]
struct Marks {
    reported_at: Timestamp,
    settled: Option<SettledBy>,
    completed: Option<(CompletedBy, Option<Clock>, Option<u64>)>,
}

impl Marks {
    const fn of(entry: &LineEntry) -> Self {
        Self {
            reported_at: entry.reported_at,
            settled: entry.settled,
            completed: entry.completed,
        }
    }
}

impl Referee {
    /// Whether a ply may be part of the game. A ply whose piece was lifted while the clock was stopped is not, unless
    /// its mover pressed the clock: only a running clock is pressed.
    fn counts(&self, entry: &LineEntry) -> bool {
        // A position found on a board may not be a game at all. A running clock, further plies or a game in progress
        // prove that it is one.
        let found = self
            .start
            .as_ref()
            .is_some_and(|start| start.variant == Variant::FromPosition && !start.goes_on)
            && !self.given
            && self.game.is_none();
        if found && !self.clock.ran && (self.clock.connected || self.line.len() < MIN_PLIES_FROM_POSITION) {
            return false;
        }
        if !self.clock.connected || self.clock.running {
            return true;
        }
        match self.clock.stopped_at {
            Some(stopped) => {
                let ply = &entry.ply;
                let ran = entry.is_pressed() || ply.inferred && self.ran_in_gap(stopped);
                ran || ply.lifted_at < stopped
            }
            None => {
                let pressed = self.line.iter().any(LineEntry::is_pressed);
                pressed || !self.clock.ran && self.line.len() >= MIN_PLIES_WITHOUT_CLOCK
            }
        }
    }

    /// Publishes the plies of the line that count and are not published yet. Returns the event that withdraws plies, if
    /// there is one.
    pub(super) fn follow(&mut self, now: Timestamp, reason: CorrectionReason) -> Option<&mut ExplainedEvent> {
        if self.game.as_ref().is_some_and(|game| game.ended) || self.start.is_none() {
            return None;
        }
        let counted = self.line.iter().take_while(|entry| self.counts(entry)).count();
        let clock_stopped = self.clock.connected && !self.clock.running && self.clock.stopped_at.is_some();
        if self.game.is_none() {
            if counted == 0 {
                return None;
            }
            self.begin(now);
        }
        let game = self.game.as_ref()?;
        let same = |(old, new): &(&LineEntry, &LineEntry)| {
            old.ply.uci == new.ply.uci && old.reported_at == new.reported_at
        };
        let common = game.published.iter().zip(&self.line).take_while(same).count();
        // Pieces being set up or cleared away can look like another line, so settled plies stay until the clock runs.
        // Plies from the board's memory were played before the clock stopped.
        let remembered = reason == CorrectionReason::Recovered
            && self.line.get(common).is_some_and(|entry| entry.ply.inferred);
        let certain = game
            .published
            .get(common)
            .is_some_and(|entry| entry.settled.is_some() && !remembered);
        if clock_stopped && (certain || (common < game.published.len() && common >= counted)) {
            return None;
        }
        let replaced = game
            .published
            .get(common)
            .map(|entry| entry.ply.uci.map(|uci| uci.to_string()));
        for at in common..counted {
            // A previous ply of the loop may have ended the game.
            self.game()?;
            let entry = self.line[at].clone();
            let replaces = replaced.clone().filter(|_| at == common);
            self.publish_ply(now, entry, replaces, reason);
        }
        if counted <= common {
            self.withdraw_surplus(now, reason)
        } else {
            None
        }
    }

    pub(super) fn begin(&mut self, now: Timestamp) {
        let Some(start) = &self.start else { return };
        let event = EventKind::GameStarted {
            start_fen: start.state.fen(),
            variant: start.variant,
            orientation: Orientation::of(start.turned),
            continues: self.continues.take(),
            white_side: self.white_side,
            laws: Some(self.regulations.rules.edition),
            mode: Some(self.regulations.rules.mode),
            players: self.announced.clone(),
            time_control: self.regulations.time_control_text(),
            time_control_typed: self.regulations.time_control_typed(),
            event: self.regulations.event.clone(),
            site: self.regulations.site.clone(),
            round: self.regulations.rounds.number(now),
        };
        let start = start.state.clone();
        self.last_paired = self.counting_before().or_else(|| self.last_paired.take());
        self.previous = None;
        self.watch.game_begins();
        self.games += 1;
        let began = time_text(now + self.ahead);
        let day = began.split('T').next().unwrap_or_default();
        let id = Game {
            number: self.games,
            id: format!("{day}-{}-{}", self.board, self.games),
        };
        self.game = Some(OpenGame {
            id,
            start,
            published: Vec::new(),
            ended: false,
            claim_after: None,
            shown_at: None,
            verdict: None,
            players: self.announced.take(),
            placed: Vec::new(),
            goes_on_dead: false,
            pairing_asked: false,
        });
        self.publish(now, event);
        self.close_questions_of_other_rounds(now);
    }

    pub(super) fn publish_ply(
        &mut self,
        now: Timestamp,
        entry: LineEntry,
        replaces: Option<Option<String>>,
        reason: CorrectionReason,
    ) {
        let ply = entry.ply.clone();
        let played = move_of(&ply);
        let at = Some(ply.stood_at).filter(|at| *at != now);
        let event = match replaces {
            Some(replaces) => EventKind::MoveAmended {
                played,
                replaces,
                reason,
            },
            None => EventKind::MoveMade(played),
        };
        let (number, marks) = (ply.number, Marks::of(&entry));
        if let Some(game) = &mut self.game {
            game.keep(index(number));
            game.published.push(LineEntry {
                settled: None,
                completed: None,
                offered: Offered::default(),
                ..entry
            });
        }
        let made = self.publish(now, event);
        made.event.at = at;
        made.ply = Some(ply);
        self.ask_for_pairing(now);
        self.publish_marks(now, number, marks, None);
    }

    /// Withdraws published plies beyond the end of the line. Returns the event of the withdrawal, if there is one.
    pub(super) fn withdraw_surplus(
        &mut self,
        now: Timestamp,
        reason: CorrectionReason,
    ) -> Option<&mut ExplainedEvent> {
        let keep = self.line.len();
        let game = self.game.as_mut()?;
        if game.ended || game.published.len() <= keep {
            return None;
        }
        let ply = game.published[keep].ply.number;
        game.keep(keep);
        Some(self.publish(now, EventKind::MoveRetracted { ply, reason }))
    }

    /// Marks a ply of the line as settled (with these log-odds) or completed. Publishes the mark if the ply is
    /// published.
    pub(super) fn mark(
        &mut self,
        now: Timestamp,
        ply: u32,
        odds: Option<i64>,
        mark: impl Fn(&mut LineEntry),
    ) {
        let Some(entry) = self.line.get_mut(index(ply)) else {
            return;
        };
        mark(entry);
        let marks = Marks::of(entry);
        self.publish_marks(now, ply, marks, odds);
    }

    /// Publishes that a ply was settled or completed, unless that is published already.
    fn publish_marks(&mut self, now: Timestamp, ply: u32, marks: Marks, odds: Option<i64>) {
        let Some(game) = &mut self.game else { return };
        let Some(known) = game
            .published
            .get_mut(index(ply))
            .filter(|known| known.reported_at == marks.reported_at)
        else {
            return;
        };
        if game.ended {
            return;
        }
        let settled = marks.settled.filter(|_| known.settled.is_none());
        // A press from the board's memory has better times than the line that was inferred before.
        let has_news = |(by, clock, _): &(CompletedBy, Option<Clock>, Option<u64>)| match known.completed {
            None => true,
            Some((_, known, _)) => *by == CompletedBy::Press && clock.is_some() && *clock != known,
        };
        let completed = marks.completed.filter(has_news);
        known.settled = marks.settled;
        known.completed = marks.completed;
        if let Some(by) = settled {
            self.publish(now, EventKind::MoveSettled { ply, by }).odds = odds;
        }
        if let Some((by, clock, elapsed_ms)) = completed {
            let completed = EventKind::MoveCompleted {
                ply,
                by,
                clock,
                elapsed_ms,
            };
            self.publish(now, completed);
        }
        self.judge(now, ply, settled.is_some(), completed.is_some());
    }

    /// Checks whether a published ply, now settled or completed, ends the game or allows a draw claim.
    fn judge(&mut self, now: Timestamp, ply: u32, settled: bool, completed: bool) {
        if settled {
            self.check_for_end(now, ply);
        }
        if completed {
            self.check_for_end_by_completion(now);
        }
        if settled {
            self.offer_threefold(now, ply);
        }
        if settled || completed {
            self.offer_fifty(now);
        }
    }

    /// Number of the last ply of the game in progress.
    pub(super) fn last_ply(&self) -> Option<u32> {
        let game = self.game.as_ref().filter(|game| !game.ended)?;
        Some(game.published.last()?.ply.number)
    }

    pub(super) fn note_completed(&mut self, ply: u32, by: CompletedBy, clock: Option<Clock>) {
        let published = self.game.as_mut().map(|game| &mut game.published);
        if let Some(entry) = published.and_then(|published| published.get_mut(index(ply))) {
            entry.completed = Some((by, clock, None));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::clock::ClockChange;
    use crate::events::CorrectionReason;
    use crate::laws::Edition;
    use crate::referee::tests::table::{Table, WHITE_WINS};
    use crate::tracker::Finding;

    /// Reports of White's last move were lost, and then the clock was stopped. The board's memory contains the move.
    #[test]
    fn plies_from_memory_count_while_the_clock_is_stopped() {
        let mut table = Table::new(Edition::Fide2023);
        table.finds(Finding::Clock(ClockChange::Connected));
        table.finds(Finding::Clock(ClockChange::Started));
        table.plays("e4 e5 d3").passes(1);
        table.finds(Finding::Clock(ClockChange::Stopped));
        table.passes(3).remembers("Nf3");
        let published = &table.referee.game.as_ref().expect("a game").published;
        let sans: Vec<_> = published
            .iter()
            .filter_map(|entry| entry.ply.san.clone())
            .collect();
        assert_eq!(sans, ["e4", "e5", "Nf3"]);
    }

    /// The clock is stopped during the set-up of pieces, after the first of them had looked like a move.
    #[test]
    fn pieces_being_set_up_are_withdrawn_while_the_clock_is_stopped() {
        let mut table = Table::new(Edition::Fide2023);
        table.finds(Finding::Clock(ClockChange::Connected));
        table.finds(Finding::Clock(ClockChange::Started));
        table.plays("e4 e5 Nf3 Nf6 Ng1");
        table.finds(Finding::Clock(ClockChange::Stopped));
        table.finds(Finding::Retracted {
            ply: 5,
            reason: CorrectionReason::SetUp,
            odds: None,
        });
        let published = &table.referee.game.as_ref().expect("a game").published;
        assert_eq!(published.len(), 4);
    }

    /// The result was shown before the gap. A king's way to the centre in the board's memory opens no incident.
    #[test]
    fn kings_from_memory_on_their_way_to_the_centre_are_not_moves() {
        let mut table = Table::new(Edition::Fide2023);
        table.plays("e4 e5").passes(20).shows(WHITE_WINS);
        assert_eq!(table.published(), ["1-0 kings by board?"]);
        table.recalls("e1d4");
        assert_eq!(table.published(), [""; 0]);
        let published = &table.referee.game.as_ref().expect("a game").published;
        assert_eq!(published.len(), 2);
    }

    /// The king is put on a square beside the one from which it went to the centre.
    #[test]
    fn kings_put_away_after_the_result_are_not_moves() {
        let mut table = Table::new(Edition::Fide2023);
        table.plays("e4 e5").passes(5).shows(WHITE_WINS);
        table.infers("Ke2", false);
        let published = &table.referee.game.as_ref().expect("a game").published;
        assert_eq!(published.len(), 2);
    }
}
