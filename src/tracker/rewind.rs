//! Reports were lost while the port was open: the board's memory holds them, and the line is followed again from where it
//! was last known to be right.

use core::mem;

use kiebitz_hardware::Timestamp;
use kiebitz_protocol::Field;
use shakmaty::{Board, ByColor};

use super::Tracker;
use super::finding::{Finding, Ply, Withdrawal};
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

/// The line as it was announced, from a checkpoint's root on.
#[derive(Debug)]
pub(super) struct Rewound {
    /// The ply of the root.
    root: u32,
    /// The announced placements after it.
    announced: Vec<Board>,
    /// The first of them: those that had been announced by the time of the checkpoint.
    by_checkpoint: Vec<Board>,
    /// How many findings were waiting before the line was rewound.
    findings: usize,
}

/// A placement of the line, with the ply that led there and its time if it was announced after the line was rewound.
type ReplayedPlacement = (Board, Option<(Timestamp, Box<Ply>)>);

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

    /// Goes back to the checkpoint. What is announced from now on is compared with what was announced before by
    /// [`reconcile`](Self::reconcile).
    pub(super) fn rewind(&mut self) -> Option<Rewound> {
        self.hearing.trust();
        let line = self.line.as_mut()?;
        let checkpoint = line.checkpoint.take()?;
        let states = |tree: &Tree| -> Vec<Board> {
            let path = tree.path(tree.tip());
            path.iter()
                .map(|id| tree.node(*id).state.board().clone())
                .collect()
        };
        let root = checkpoint.tree.node(checkpoint.tree.root()).ply;
        let mut announced: Vec<Board> = line
            .passed
            .iter()
            .skip(checkpoint.passed + 1)
            .map(|state| state.board().clone())
            .collect();
        if line.passed.len() > checkpoint.passed {
            announced.push(line.tree.node(line.tree.root()).state.board().clone());
        }
        announced.extend(states(&line.tree));
        let mut by_checkpoint = states(&checkpoint.tree);
        line.passed.truncate(checkpoint.passed);
        line.tree = checkpoint.tree;
        // What was withdrawn since then is announced again where it was right after all. What was reconstructed, and play
        // has refuted, was not.
        by_checkpoint.truncate(common(&by_checkpoint, &announced));
        let path = line.tree.path(line.tree.tip());
        if let Some(withdrawn) = path.get(by_checkpoint.len()).copied() {
            if line.tree.node(withdrawn).inferred {
                line.tree.remove(withdrawn);
            } else {
                line.tree.withdraw(withdrawn);
            }
        }
        line.pressed = checkpoint.pressed;
        line.doubt = None;
        self.gap_since = Some(checkpoint.at);
        Some(Rewound {
            root,
            announced,
            by_checkpoint,
            findings: self.findings.len(),
        })
    }

    /// Removes from what was announced since the line was rewound what had been announced before, and withdraws what
    /// turned out to be different.
    pub(super) fn reconcile(&mut self, rewound: Rewound) {
        let Rewound {
            root,
            announced,
            by_checkpoint,
            findings,
        } = rewound;
        let again: Vec<(Timestamp, Finding)> = self.findings.drain(findings..).collect();
        let of_line = again
            .iter()
            .position(|(_, finding)| matches!(finding, Finding::Start(_)))
            .unwrap_or(again.len());
        let index = |ply: u32| usize::try_from(ply.saturating_sub(root + 1)).unwrap_or(usize::MAX);
        let mut line: Vec<ReplayedPlacement> = by_checkpoint.into_iter().map(|board| (board, None)).collect();
        let mut others = Vec::new();
        let mut rest = again.into_iter();
        for (at, finding) in rest.by_ref().take(of_line) {
            match finding {
                Finding::Made(ply) | Finding::Amended { ply, .. } => {
                    line.truncate(index(ply.number));
                    others.retain(|(_, other)| ply_of(other).is_none_or(|number| number < ply.number));
                    line.push((ply.after.board().clone(), Some((at, ply))));
                }
                Finding::Retracted { ply, .. } => {
                    line.truncate(index(ply));
                    others.retain(|(_, other)| ply_of(other).is_none_or(|number| number < ply));
                }
                other => others.push((at, other)),
            }
        }
        let boards: Vec<Board> = line.iter().map(|(board, _)| board.clone()).collect();
        let common = common(&boards, &announced);
        let mut withdraws = announced.len() > common;
        let now = others.last().map(|(at, _)| *at);
        for (_, ply) in line.into_iter().skip(common) {
            let Some((at, ply)) = ply else { continue };
            let finding = if mem::take(&mut withdraws) {
                let reason = Withdrawal::Recovered;
                Finding::Amended { ply, reason }
            } else {
                Finding::Made(ply)
            };
            self.findings.push_back((at, finding));
        }
        if let Some(at) = now.filter(|_| withdraws) {
            let ply = root + 1 + u32::try_from(common).unwrap_or(u32::MAX - root - 1);
            let reason = Withdrawal::Recovered;
            self.findings.push_back((at, Finding::Retracted { ply, reason }));
        }
        self.findings.extend(others);
        self.findings.extend(rest);
    }
}

/// How many placements two lines begin with alike.
fn common(a: &[Board], b: &[Board]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The ply that a confirmation or completion is about.
fn ply_of(finding: &Finding) -> Option<u32> {
    match finding {
        Finding::Settled { ply, .. } | Finding::Completed { ply, .. } => Some(*ply),
        _ => None,
    }
}
