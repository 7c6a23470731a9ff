//! Goes back when reports were lost while the port was open, and follows the board's memory from there.
//!
//! Two signs prove a loss: a dump shows a change that was not reported, or a report repeats what was known already. The
//! session in kiebitz-hardware then reads the board's memory (`session/watch.rs` has the conditions). Whenever a dump
//! agrees with all reports, the tracker sets a checkpoint. When the memory comes, the line goes back to the checkpoint
//! and is followed again from the record. Findings are held meanwhile; at the end `telling` reports only how the new
//! line differs from what was announced.

use kiebitz_hardware::Timestamp;
use kiebitz_protocol::Field;
use shakmaty::ByColor;

use super::Tracker;
use super::hearing::Hearing;
use super::line::Press;
use super::sensors::Sensors;
use super::tree::Tree;
use crate::clock::Side;
use crate::model::{IN_HANDS, MAX_SUSPICION, REMEMBERED_PLIES};
use crate::position::State;

/// What was known when a dump last agreed with all that had been reported.
#[derive(Debug)]
pub(super) struct Checkpoint {
    pub(super) at: Timestamp,
    pub(super) sensors: Sensors,
    /// The side whose clock was not running, and its time in seconds.
    pub(super) halted: Option<(Side, u32)>,
    tree: Tree,
    /// How many states had been passed before the tree's root.
    pub(super) passed: usize,
    pressed: ByColor<Option<Press>>,
}

impl Tracker {
    /// Checks the line after a dump. `agrees`: the dump showed only what had been reported.
    pub(super) fn check_dump(&mut self, now: Timestamp, agrees: bool) {
        if matches!(self.hearing, Hearing::Suspect(since) if now > since + MAX_SUSPICION) {
            self.hearing = Hearing::Sure;
            if let Some(line) = &mut self.line {
                line.checkpoint = None;
            }
        }
        // In a gap nothing could be reported: the first dump after it is no sign of a loss.
        if !agrees && self.gap_since.is_none() {
            self.hearing.suspect(now);
        }
        // Where the line makes no sense, it may have gone wrong earlier.
        if self.hearing.is_sure() && self.gap_since.is_none() && self.unexplained() <= IN_HANDS {
            self.set_checkpoint(now);
        }
    }

    /// Sets a checkpoint: all that was played until `at` is known. None is set while the memory is read, nor for a polled
    /// board, which tells of all that has happened.
    pub(super) fn set_checkpoint(&mut self, at: Timestamp) {
        let known = self.polled.is_none() && !self.recovering();
        let Some(line) = self.line.as_mut().filter(|_| known) else {
            return;
        };
        line.checkpoint = Some(Checkpoint {
            at,
            sensors: self.sensors.clone(),
            // What the clock shows is of another time than what is played back.
            halted: self.clock.halted().filter(|_| self.playback.is_none()),
            tree: line.tree.clone(),
            passed: line.passed.len(),
            pressed: line.pressed,
        });
    }

    /// What was known when the line was last known to be right.
    pub(super) fn checkpoint(&self) -> Option<&Checkpoint> {
        self.line.as_ref()?.checkpoint.as_ref()
    }

    /// A report repeated what was known already. The board reports only changes, so another report was lost.
    pub(super) fn field_repeated(&mut self, now: Timestamp, field: Field) {
        if self.sensors.known() && self.hearing.unheard().is_none() {
            self.sensors.repeated(now, field);
            self.disturbed = true;
            self.hearing.suspect(now);
        }
    }

    /// The states that the line has passed beyond doubt, the latest first. Its start position is left out, for it may be
    /// that of the next game.
    pub(super) fn earlier(&self, at: Timestamp) -> impl Iterator<Item = Checkpoint> {
        let (turned, model) = (self.sensors.turned(), self.model);
        let passed = self.line.iter().flat_map(move |line| {
            let root = &line.tree.node(line.tree.root()).state;
            let states = line.passed.iter().chain(std::iter::once(root)).zip(0..);
            let states: Vec<(&State, u32)> = states.skip(1).collect();
            states.into_iter().rev().map(move |(state, ply)| Checkpoint {
                at,
                sensors: Sensors::showing(at, state.board(), turned),
                halted: None,
                tree: Tree::new(model, state.clone(), ply, at),
                passed: ply as usize,
                pressed: ByColor::default(),
            })
        });
        passed.take(REMEMBERED_PLIES)
    }

    /// Goes back to the checkpoint. [`tell_held`](Self::tell_held) tells how the line that is followed from there differs
    /// from what was told.
    pub(super) fn rewind(&mut self) {
        self.hearing.trust();
        let Some(line) = &mut self.line else { return };
        let Some(checkpoint) = line.checkpoint.take() else {
            return;
        };
        line.passed.truncate(checkpoint.passed);
        line.tree = checkpoint.tree;
        // What was withdrawn since then is announced again where it was right after all. What was reconstructed, and play
        // has refuted, was not.
        let path = line.tree.path(line.tree.tip());
        let told = line.announcements.still_holds(&line.plies());
        let unannounced = told
            .checked_sub(line.passed.len())
            .and_then(|at| path.get(at).copied());
        if let Some(withdrawn) = unannounced {
            if line.tree.node(withdrawn).inferred {
                line.tree.remove(withdrawn);
            } else {
                line.tree.withdraw(withdrawn);
            }
        }
        line.pressed = checkpoint.pressed;
        line.doubt = None;
        line.announcements.held = Some(self.findings.len());
        self.gap_since = Some(checkpoint.at);
    }
}
