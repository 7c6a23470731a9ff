//! Reports the difference between the announced plies and the plies of the line.
//!
//! Only this module emits `Finding::Made`, `Finding::Amended` and `Finding::Retracted`.

use kiebitz_hardware::Timestamp;
use shakmaty::Board;

use super::Tracker;
use super::finding::Finding;
use super::line::LineOfPlay;
use super::node::{NodeId, Played};
use crate::events::{CorrectionReason, Ply};

#[derive(Debug, Default)]
pub(super) struct Announcements {
    /// All announced plies that were not withdrawn, from the first one on.
    pub(super) announced: Vec<AnnouncedPly>,
    /// Descriptions of plies that are not announced yet, each with the length of the queue of findings at that time.
    unannounced: Vec<(usize, Ply)>,
    /// Length of the queue of findings at the start of a playback from a checkpoint, during which announcements wait;
    /// `None` outside such a playback.
    pub(super) held: Option<usize>,
}

/// Placement after an announced ply, and how the ply was played: [`Played::Root`] if that is not known any more.
pub(super) type AnnouncedPly = (Board, Played);

fn is_same((a, b): &(&AnnouncedPly, &AnnouncedPly)) -> bool {
    a.0 == b.0 && (a.1 == b.1 || [a.1, b.1].contains(&Played::Root))
}

impl LineOfPlay {
    pub(super) fn plies(&self) -> Vec<AnnouncedPly> {
        let tree = &self.tree;
        let announced = core::iter::once(tree.root()).chain(tree.path(tree.tip()));
        let announced = announced.map(|id| (tree.node(id).state.board().clone(), tree.node(id).played));
        let passed = self.passed.iter();
        let passed = passed.map(|state| (state.board().clone(), Played::Root));
        passed.chain(announced).skip(1).collect()
    }
}

impl Announcements {
    /// Number of announced plies, from the first one on, that the line still has.
    pub(super) fn still_holds(&self, plies: &[AnnouncedPly]) -> usize {
        self.announced.iter().zip(plies).take_while(is_same).count()
    }
}

impl Tracker {
    pub(super) fn note_unannounced(&mut self, ply: Ply) {
        let waiting = self.findings.len();
        if let Some(line) = &mut self.line {
            let unannounced = &mut line.announcements.unannounced;
            unannounced.retain(|(_, other)| other.number < ply.number);
            unannounced.push((waiting, ply));
        }
    }

    /// Announces new plies, replaced plies or withdrawals. `reason` and `odds` are about the withdrawn plies.
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

    /// Withdraws a ply and all plies after it. A doubtful reconstructed ply is withdrawn with all plies reconstructed
    /// along with it.
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

    /// Announces, after a playback from a checkpoint, how the line has changed, and then the findings held meanwhile.
    /// Drops held confirmations and completions of plies that were replaced later.
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
