//! Decides which ply a press of the clock completes, and derives White's side of the clock from presses.
//!
//! A clock reading is up to a second late, so a press may belong to the player's previous ply and not to the ply in
//! progress. It belongs to a ply that is not announced yet if the piece of that ply was lifted at least **pause** ago,
//! and otherwise to the player's last announced ply. Presses alternate: once the reply has been pressed, a missing
//! press for the ply before it will not come any more.
//!
//! White's side of the clock is learned from votes. A clock that is started at the start position decides at once,
//! because White's time runs first. A press by the player of the only ply since the last press counts as one vote, and
//! so does a running clock that is plugged in during a game.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::{CLOCK_REPORT_PERIOD, ONE_SCAN_APART};
use shakmaty::Color;

use super::Tracker;
use super::finding::Finding;
use super::line::Press;
use super::node::{NodeId, PlyStatus};
use super::tree::Tree;
use crate::clock::{Clock, ClockChange, SURE_VOTES, Side};
use crate::events::{CompletedBy, SettledBy};

impl Tracker {
    pub(super) fn clock_changed(&mut self, now: Timestamp, change: ClockChange) {
        match change {
            ClockChange::Connected => self.clock_connected(now),
            ClockChange::Started => {
                self.clock_after_jolt(now);
                self.clock_started(now);
            }
            ClockChange::Pressed(side) => {
                self.clock_after_jolt(now);
                self.clock_pressed(now, side);
            }
            _ => {}
        }
        self.announce(now, Finding::Clock(change));
    }

    /// Learns White's side from a clock started at the start position: White's time runs first (Laws Art. 6.6).
    fn clock_started(&mut self, now: Timestamp) {
        let begins = |tree: &Tree| tree.node(tree.tip()).ply == 0 && tree.best() == tree.root();
        let at_start = self.gap_since.is_none() && self.tree().is_some_and(begins);
        if let (true, Some(side)) = (at_start, self.clock.turn()) {
            self.vote_white(now, side, SURE_VOTES);
        }
    }

    /// Learns White's side from a running clock plugged in during a game: it runs for the side to move.
    fn clock_connected(&mut self, now: Timestamp) {
        let turn = self.tree().and_then(|tree| {
            let tip = tree.node(tree.tip());
            (tip.ply > 0 && tip.differs.is_empty()).then(|| tip.state.turn())
        });
        // The mover of the last ply may not have pressed yet. In a gap, a press is better evidence than this clock.
        let unknown = self.clock.white_side().is_none() && self.gap_since.is_none();
        let runs = self
            .clock
            .turn()
            .filter(|_| unknown && self.clock.running() == Some(true));
        if let Some((turn, runs)) = turn.zip(runs) {
            self.vote_white(now, runs.of(turn), 1);
        }
    }

    pub(super) fn clock_pressed(&mut self, now: Timestamp, side: Side) {
        if let Some(mover) = self.sole_mover_since_press(now) {
            self.vote_white(now, side.of(mover), 1);
        }
        let elapsed = self.clock.end_turn(now, !self.recovering());
        let Some(color) = self.clock.color_of(side) else {
            return;
        };
        // The side to move rules out lines: see turn_fits().
        self.note_examined(0);
        self.sensors.pressed(now, color);
        if let Some(line) = &mut self.line {
            line.tree.press(&self.sensors, now);
        }
        self.credit_press(now, color, elapsed);
    }

    /// The player of the only ply since the last press; `None` if there are several, since a press may belong to any of
    /// them.
    fn sole_mover_since_press(&self, now: Timestamp) -> Option<Color> {
        let tree = self.tree()?;
        let pressed = self.clock.pressed_at();
        // The clock may have run for a second before a clock reading said so.
        let waits = |since: Timestamp| {
            Some(since) > pressed && since < now && self.clock.ran_at(since + CLOCK_REPORT_PERIOD)
        };
        let path = tree.path(tree.best());
        let mut waiting = path
            .iter()
            .map(|id| tree.node(*id))
            .filter(|node| !node.completed && waits(node.since));
        let sole = waiting.next().filter(|_| waiting.next().is_none())?;
        Some(sole.mover())
    }

    /// Credits a press to the ply in progress or, if it was reported late, to the player's last announced ply.
    fn credit_press(&mut self, now: Timestamp, color: Color, elapsed: Option<Duration>) {
        let Some(tree) = self.tree() else { return };
        // A press confirms the position on the board, which may differ from the announced one.
        let (announced, best_line) = (tree.path(tree.tip()), tree.path(tree.best()));
        let own = announced
            .iter()
            .rposition(|id| tree.node(*id).mover() == color && best_line.contains(id));
        let own_is_last = own.is_some_and(|own| own + 1 == announced.len());
        let unannounced = best_line
            .get(announced.len())
            .map(|id| tree.node(*id))
            .filter(|node| node.mover() == color);
        let unannounced = unannounced.or_else(|| tree.suspected(color).map(|id| tree.node(id)));
        let for_unannounced = unannounced.is_some_and(|node| node.lifted_at + self.model.pause <= now);
        // Of the plies before the clock was started, only the last one can be followed by a press.
        let waits = |id: &NodeId| {
            let node = tree.node(*id);
            !node.completed && (own_is_last || self.clock.ran_at(node.since))
        };
        // Presses alternate: once the reply has been pressed, a press for the ply before it will not come any more.
        let replied = |own: &usize| {
            announced
                .get(own + 1)
                .is_some_and(|reply| tree.node(*reply).completed)
        };
        let own_pending = own
            .filter(|own| !replied(own))
            .map(|own| announced[own])
            .filter(waits);
        if for_unannounced || own_is_last || own_pending.is_none() {
            self.note_press(color, Press { at: now, elapsed });
        }
        if let Some(own) = own_pending.filter(|_| !for_unannounced) {
            self.complete(now, own, CompletedBy::Press, elapsed);
        }
    }

    /// The player whose clock ran at the first reading after the gap. `None` unless that reading shows a missed press, or
    /// if White's side is in doubt.
    pub(super) fn turn_after_missed_press(&self) -> Option<Color> {
        let turn = self.clock.turn_after_missed_press();
        let side = turn.filter(|_| self.clock.is_sure())?;
        self.clock.color_of(side)
    }

    /// Completes the last plies if the first clock reading after the gap shows that their presses were missed.
    pub(super) fn complete_missed_presses(&mut self, now: Timestamp) {
        let Some(tree) = self.tree() else { return };
        let (path, turn) = (tree.path(tree.tip()), tree.node(tree.tip()).state.turn());
        if self.turn_after_missed_press() != Some(turn) {
            return;
        }
        let pressed = 1 + usize::from(self.clock.both_presses_missed());
        let unpressed = |id: &&NodeId| tree.node(**id).inferred && !tree.node(**id).completed;
        let inferred = path.iter().rev().take_while(unpressed).count();
        for id in &path[path.len().saturating_sub(pressed.max(inferred))..] {
            let node = self.tree().map(|tree| tree.node(*id));
            let Some(node) = node.filter(|node| !node.completed) else {
                continue;
            };
            let clock = self.clock.shown_at_missed_press(node.mover(), !node.inferred);
            self.complete_at(now, *id, CompletedBy::Press, None, clock);
        }
    }

    /// Keeps a press for an unannounced ply, and lets it support the player's suspected irregular move.
    fn note_press(&mut self, color: Color, press: Press) {
        let Some(line) = &mut self.line else { return };
        line.pressed[color] = Some(press);
        while let Some(suspected) = line.tree.suspected(color) {
            // If the opponent has pressed since, this press belongs to another ply.
            let stood = line.tree.node(suspected).landed.at + self.model.doubt;
            if self.sensors.has_pressed_since(stood, !color) {
                break;
            }
            line.tree.mark(suspected).backed = true;
        }
    }

    /// Forgets the presses after `at`: the board's memory has them as well, in order with the plies.
    pub(super) fn forget_presses_after(&mut self, at: Timestamp) {
        self.clock.forget_presses_after(at);
        self.sensors.forget_presses_after(at);
        if let Some(line) = &mut self.line {
            for pressed in line.pressed.iter_mut() {
                pressed.take_if(|press| press.at > at);
            }
        }
    }

    /// Counts evidence that `side` is White's, and announces White's side when it becomes known or changes.
    pub(super) fn vote_white(&mut self, now: Timestamp, side: Side, weight: i8) {
        if self.clock.vote_white(side, weight)
            && let Some(side) = self.clock.white_side()
        {
            self.announce(now, Finding::WhiteSide(side));
        }
    }

    /// Marks a ply as completed in the sense of the Laws (Art. 6.2.1).
    pub(super) fn complete(
        &mut self,
        now: Timestamp,
        id: NodeId,
        by: CompletedBy,
        elapsed: Option<Duration>,
    ) {
        let Some(tree) = self.tree() else { return };
        let inferred = |id: NodeId| tree.node(id).inferred;
        let first_inferred = inferred(id) && !tree.node(id).parent.is_some_and(inferred);
        // Without a press, keep the times of `move.made`: the present ones include later thinking.
        let clock = if by != CompletedBy::Press {
            None
        } else if first_inferred {
            self.clock.shown_at_missed_press(tree.node(id).mover(), false)
        } else {
            let (node, rest) = (tree.node(id), self.model.rest);
            let late = now > node.since + rest && self.playback.is_none();
            let then = late.then(|| self.clock.shown_at_press(node.mover(), node.since));
            then.flatten().or_else(|| self.clock.shown())
        };
        self.complete_at(now, id, by, elapsed, clock);
    }

    fn complete_at(
        &mut self,
        now: Timestamp,
        id: NodeId,
        by: CompletedBy,
        elapsed: Option<Duration>,
        clock: Option<Clock>,
    ) {
        let Some(line) = &mut self.line else { return };
        let node = line.tree.mark(id);
        node.completed = true;
        node.pressed |= by == CompletedBy::Press;
        let ply = node.ply;
        // The squares are scanned one after another, so they may still change within a scan of the press.
        let stood = now >= node.since + ONE_SCAN_APART && !self.may_miss_reports();
        if by == CompletedBy::Press && stood {
            self.confirm(now, id, SettledBy::Press);
        }
        self.announce(
            now,
            Finding::Completed {
                ply,
                by,
                clock,
                elapsed,
            },
        );
    }

    /// Confirms a ply unless it is a candidate, confirmed already or ambiguous. Returns whether it did.
    pub(super) fn confirm(&mut self, now: Timestamp, id: NodeId, by: SettledBy) -> bool {
        let Some(line) = &mut self.line else { return false };
        if line.tree.node(id).standing != PlyStatus::Announced || line.tree.is_ambiguous_line(id) {
            return false;
        }
        let odds = line.tree.rivals(id).first().map(|(_, against)| *against);
        let ply = line.tree.confirm(id);
        self.announce(now, Finding::Settled { ply, by, odds });
        true
    }

    /// The mover's last press, if it came at or after `lifted_at`.
    pub(super) fn pressed_since(&self, mover: Color, lifted_at: Timestamp) -> Option<Press> {
        let line = self.line.as_ref()?;
        line.pressed[mover].filter(|press| press.at >= lifted_at)
    }
}
