//! Reports the difference between what was announced and what now counts as played.
//!
//! This is the only place that emits `Finding::Made`, `Finding::Amended` and `Finding::Retracted`.

use kiebitz_hardware::Timestamp;
use shakmaty::Board;

use super::Tracker;
use super::finding::Finding;
use super::line::LineOfPlay;
use super::node::{NodeId, Played};
use crate::events::{CorrectionReason, Ply};

/// What was announced of a line.
#[derive(Debug, Default)]
pub(super) struct Announcements {
    /// All its plies that were announced and not withdrawn, from the first one on.
    pub(super) announced: Vec<AnnouncedPly>,
    /// Plies as they are to be announced, each with the number of findings that were waiting when it was found.
    unannounced: Vec<(usize, Ply)>,
    /// A record is played back from a checkpoint on, and nothing is announced before its end: how many findings were waiting when
    /// that began.
    pub(super) held: Option<usize>,
}

/// What stood after a ply that was announced, and how it was played: [`Played::Root`] where that is not known any more.
pub(super) type AnnouncedPly = (Board, Played);

fn is_same((a, b): &(&AnnouncedPly, &AnnouncedPly)) -> bool {
    a.0 == b.0 && (a.1 == b.1 || [a.1, b.1].contains(&Played::Root))
}

impl LineOfPlay {
    /// The plies that count as played.
    pub(super) fn plies(&self) -> Vec<AnnouncedPly> {
        let tree = &self.tree;
        let announced = core::iter::once(tree.root()).chain(tree.path(tree.tip()));
        let announced = announced.map(|id| (tree.node(id).state.board().clone(), tree.node(id).played));
        let passed = self.passed.iter();
        let passed = passed.map(|state| (state.board().clone(), Played::Root));
        // The start position is no ply.
        passed.chain(announced).skip(1).collect()
    }
}

impl Announcements {
    /// How many of the plies that were announced are still those of the line.
    pub(super) fn still_holds(&self, plies: &[AnnouncedPly]) -> usize {
        self.announced.iter().zip(plies).take_while(is_same).count()
    }
}

impl Tracker {
    /// Notes how a ply is to be announced that now counts as played.
    pub(super) fn note_unannounced(&mut self, ply: Ply) {
        let waiting = self.findings.len();
        if let Some(line) = &mut self.line {
            let unannounced = &mut line.announcements.unannounced;
            unannounced.retain(|(_, other)| other.number < ply.number);
            unannounced.push((waiting, ply));
        }
    }

    /// Tells how the line differs from what was announced: new plies, others in their place, or fewer. `reason`: why what was
    /// announced is withdrawn; `odds`: the log-odds against it.
    pub(super) fn announce_line(&mut self, now: Timestamp, reason: CorrectionReason, odds: Option<i64>) {
        let Some(line) = self
            .line
            .as_mut()
            .filter(|line| line.announcements.held.is_none())
        else {
            return;
        };
        let plies = line.plies();
        let same = line.announcements.still_holds(&plies);
        let announced = &mut line.announcements.announced;
        let mut withdraws = announced.len() > same;
        announced.truncate(same);
        let mut unannounced = core::mem::take(&mut line.announcements.unannounced).into_iter();
        let mut findings = Vec::new();
        for (played, number) in plies.into_iter().zip(1_u32..).skip(same) {
            let Some((_, ply)) = unannounced.find(|(_, ply)| ply.number == number) else {
                break;
            };
            announced.push(played);
            let ply = Box::new(ply);
            findings.push(match core::mem::take(&mut withdraws) {
                true => Finding::Amended { ply, reason },
                false => Finding::Made(ply),
            });
        }
        if withdraws {
            let ply = u32::try_from(same + 1).unwrap_or(u32::MAX);
            findings.push(Finding::Retracted { ply, reason, odds });
        }
        for finding in findings {
            self.announce(now, finding);
        }
    }

    /// Withdraws a ply of the line with all that follows it, and where it was reconstructed, all that was with it.
    pub(super) fn retract(&mut self, now: Timestamp, id: NodeId, reason: CorrectionReason, odds: i64) {
        let ply = self.tree().map(|tree| tree.node(id).ply);
        if ply.is_some_and(|ply| self.refutes(now, ply, odds)) {
            return;
        }
        if let Some(line) = &mut self.line {
            line.tree.remove(id);
        }
        self.announce_line(now, reason, Some(odds));
    }

    /// Tells what a record has shown of the line that was played back from a checkpoint on, and then all else. What was
    /// confirmed of a ply that then turned out to be another one is left out.
    pub(super) fn announce_held(&mut self, now: Timestamp) {
        let Some(line) = &mut self.line else { return };
        let Some(waiting) = line.announcements.held.take() else {
            return;
        };
        let unannounced = line.announcements.unannounced.iter();
        let found: Vec<(usize, u32)> = unannounced.map(|(at, ply)| (*at, ply.number)).collect();
        let others = self.findings.split_off(waiting.min(self.findings.len()));
        self.announce_line(now, CorrectionReason::Recovered, None);
        let announced = self
            .line
            .as_ref()
            .map_or(0, |line| line.announcements.announced.len());
        for (finding, at) in others.into_iter().zip(waiting..) {
            let holds = match &finding.1 {
                Finding::Settled { ply, .. } | Finding::Completed { ply, .. } => {
                    *ply as usize <= announced
                        && !found.iter().any(|(found, number)| number == ply && *found > at)
                }
                _ => true,
            };
            if holds {
                self.findings.push_back(finding);
            }
        }
    }
}
