//! Goes back to a checkpoint after reports were lost, and follows the board's memory from there.
//!
//! Either of two signs proves a loss while the port is open: a dump shows a change that was not reported, or a report
//! repeats a known content. The session in kiebitz-hardware then reads the board's memory once no square changes
//! (`session/watch.rs` has the conditions). The tracker sets a checkpoint whenever a dump agrees with all reports. When
//! the memory comes, the line goes back to the checkpoint, or to the start of a gap, and follows the record. Findings
//! are held meanwhile; at the end, `announcements` reports only how the new line differs from the announced one.

use kiebitz_hardware::Timestamp;
use kiebitz_protocol::Field;
use shakmaty::ByColor;

use super::Tracker;
use super::hearing::{Hearing, Unheard};
use super::line::{LineOfPlay, Press};
use super::sensors::Sensors;
use super::tree::Tree;
use crate::events::DoubtfulPlies;
use crate::model::{IN_HANDS, MAX_SUSPICION, REMEMBERED_PLIES};
use crate::position::State;

#[derive(Debug, Clone)]
pub(super) struct Mark {
    pub(super) tree: Tree,
    /// Number of states before the tree's root.
    pub(super) passed: usize,
    pressed: ByColor<Option<Press>>,
    doubt: Option<DoubtfulPlies>,
}

impl LineOfPlay {
    pub(super) fn mark(&self) -> Mark {
        Mark {
            tree: self.tree.clone(),
            passed: self.passed.len(),
            pressed: self.pressed,
            doubt: self.doubt,
        }
    }
}

impl Tracker {
    /// Checks the line after a dump. `agrees` is true if all changes in the dump had been reported.
    pub(super) fn check_dump(&mut self, now: Timestamp, agrees: bool) {
        if matches!(self.hearing, Hearing::Suspect(since) if now > since + MAX_SUSPICION) {
            self.hearing = Hearing::Sure;
            if let Some(line) = &mut self.line {
                line.checkpoint = None;
            }
        }
        // In a gap nothing could be reported, so the first dump after it is not a sign of a loss.
        if !agrees && self.gap_since.is_none() {
            self.hearing.suspect(now);
        }
        // A line that leaves many squares unexplained may have gone wrong earlier.
        if self.hearing.is_sure() && self.gap_since.is_none() && self.unexplained() <= IN_HANDS {
            self.set_checkpoint(now);
        }
    }

    /// Sets a checkpoint: all plies until `at` are known. A polled board needs none, because it reports every change.
    pub(super) fn set_checkpoint(&mut self, at: Timestamp) {
        let known = self.polled.is_none() && !self.recovering();
        let Some(line) = self.line.as_mut().filter(|_| known) else {
            return;
        };
        line.checkpoint = Some(Unheard {
            heard_until: at,
            clock_until: at,
            before: self.sensors.clone(),
            // During playback, the clock's reading is from another time.
            halted: self.clock.halted().filter(|_| self.playback.is_none()),
            mark: Some(line.mark()),
            rewinds: true,
            ..Unheard::default()
        });
    }

    pub(super) fn checkpoint(&self) -> Option<&Unheard> {
        self.line.as_ref()?.checkpoint.as_ref()
    }

    /// Handles a report without a change. The board reports only changes, so the report of a change in between was
    /// lost.
    pub(super) fn field_repeated(&mut self, now: Timestamp, field: Field) {
        if self.sensors.known() && self.hearing.unheard().is_none() {
            self.sensors.repeated(now, field);
            self.disturbed = true;
            self.hearing.suspect(now);
        }
    }

    /// Returns a checkpoint for each state before the tree's root and for the root, the latest first. The start
    /// position is left out, because the next game may begin from it.
    pub(super) fn earlier(&self, at: Timestamp) -> impl Iterator<Item = Unheard> {
        let (turned, model) = (self.sensors.turned(), self.model);
        let passed = self.line.iter().flat_map(move |line| {
            let root = &line.tree.node(line.tree.root()).state;
            let states = line.passed.iter().chain(std::iter::once(root)).zip(0..);
            let states: Vec<(&State, u32)> = states.skip(1).collect();
            states.into_iter().rev().map(move |(state, ply)| Unheard {
                heard_until: at,
                clock_until: at,
                before: Sensors::showing(at, state.board(), turned),
                mark: Some(Mark {
                    tree: Tree::new(model, state.clone(), ply, at),
                    passed: ply as usize,
                    pressed: ByColor::default(),
                    doubt: None,
                }),
                rewinds: true,
                ..Unheard::default()
            })
        });
        passed.take(REMEMBERED_PLIES)
    }

    /// Takes the line back to `mark`, its state at `at`. Findings are held until
    /// [`announce_held`](Self::announce_held).
    pub(super) fn rewind(&mut self, at: Timestamp, mark: Mark) {
        self.hearing.trust();
        let reaches = |line: &&mut LineOfPlay| line.passed.len() >= mark.passed;
        let Some(line) = self.line.as_mut().filter(reaches) else {
            return;
        };
        line.checkpoint = None;
        line.passed.truncate(mark.passed);
        line.tree = mark.tree;
        line.doubt = mark.doubt;
        // Plies that were withdrawn since become candidates again, because the record may confirm them. Inferred plies
        // among them were refuted and are removed.
        let path = line.tree.path(line.tree.tip());
        let still_announced = line.announcements.still_holds(&line.plies());
        let unannounced = still_announced
            .checked_sub(line.passed.len())
            .and_then(|at| path.get(at).copied());
        if let Some(withdrawn) = unannounced {
            if line.tree.node(withdrawn).inferred {
                line.tree.remove(withdrawn);
                line.doubt = None;
            } else {
                line.tree.withdraw(withdrawn);
            }
        }
        line.pressed = mark.pressed;
        line.announcements.held = Some(self.findings.len());
        self.gap_since = Some(self.gap_since.map_or(at, |began| began.min(at)));
    }
}
