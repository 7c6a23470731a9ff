//! Reports were lost without the line going away: the board's memory tells what they were, and the line is followed
//! once more from where it was last known to be right.

use core::mem;

use kiebitz_hardware::Timestamp;
use shakmaty::{Board, ByColor};

use super::Tracker;
use super::clock::Side;
use super::finding::{Finding, Ply, Withdrawal};
use super::memory::Gap;
use super::sensors::Sensors;
use super::tree::Tree;

/// What was known when a dump last showed nothing but what had been reported.
#[derive(Debug)]
pub(super) struct Checkpoint {
    pub(super) at: Timestamp,
    pub(super) sensors: Sensors,
    /// The side whose clock stood, and its time in seconds.
    pub(super) halted: Option<(Side, u32)>,
    tree: Tree,
    /// How many states had been passed before the tree's root.
    passed: usize,
    pressed: ByColor<Option<Timestamp>>,
}

/// The line as it was told, from a checkpoint's root on.
#[derive(Debug)]
pub(super) struct Followed {
    /// The ply of the root.
    root: u32,
    /// The placements behind it.
    told: Vec<Board>,
    /// Those of them that had been told by the checkpoint.
    then: Vec<Board>,
    /// How many findings had been told.
    findings: usize,
}

/// A placement of the line, with the ply that led there if it is told anew.
type Told = (Board, Option<(Timestamp, Box<Ply>)>);

/// What is still not known after so long is not found out by going back.
const LONGEST: core::time::Duration = core::time::Duration::from_secs(90);

/// So many plies are the most that are told wrongly before it is seen.
const EARLIER: usize = 12;

impl Tracker {
    /// A dump has come. `agrees`: it showed nothing that had not been reported.
    pub(super) fn checked(&mut self, now: Timestamp, agrees: bool) {
        if self.suspect.is_some_and(|since| now > since + LONGEST) {
            self.suspect = None;
            self.checkpoint = None;
        }
        // What the first dump behind a gap shows was not reported, but nobody listened.
        if !agrees && self.gap.is_none() && self.missing.is_none() {
            self.suspect.get_or_insert(now);
        }
        let open = self.gap.is_some() || self.missing.is_some() || self.asked;
        // Where the line makes no sense, it may have been left before.
        if self.suspect.is_none() && !open && self.makes_sense() {
            self.set_checkpoint(now);
        }
    }

    /// All that was played until `at` is known.
    pub(super) fn set_checkpoint(&mut self, at: Timestamp) {
        self.checkpoint = self.line.as_ref().map(|line| Checkpoint {
            at,
            sensors: self.sensors.clone(),
            halted: self.clock.halted(),
            tree: line.tree.clone(),
            passed: line.passed.len(),
            pressed: self.pressed,
        });
    }

    /// The board reports changes alone: a report of what was known already shows that another one was lost.
    pub(super) fn told_again(&mut self, now: Timestamp) {
        if self.sensors.known() && self.gap.is_none() && self.missing.is_none() {
            self.suspect.get_or_insert(now);
        }
    }

    /// Where to go back to when the memory is asked for with the line open, as it is when reports were lost: to the last
    /// checkpoint.
    pub(super) fn rewinds_to(&self) -> Option<Gap> {
        let checkpoint = self.checkpoint.as_ref()?;
        let passed = self.line.as_ref()?.passed.len();
        (passed >= checkpoint.passed).then(|| Gap::since(checkpoint))
    }

    /// Where the line has been, the latest first, as far as it is beyond doubt. Not its start position, which may be that
    /// of the next game.
    pub(super) fn earlier(&self, at: Timestamp) -> impl Iterator<Item = Checkpoint> {
        let turned = self.sensors.turned();
        let passed = self.line.iter().flat_map(move |line| {
            let root = line.tree.node(line.tree.root()).ply;
            (1..root)
                .zip(line.passed.iter().enumerate().skip(1).rev())
                .map(move |(back, (passed, state))| Checkpoint {
                    at,
                    sensors: Sensors::showing(at, state.board(), turned),
                    halted: None,
                    tree: Tree::new(state.clone(), root - back, at),
                    passed,
                    pressed: ByColor::default(),
                })
        });
        passed.take(EARLIER)
    }

    /// Goes back to the checkpoint. What is told from now on is set against what was told already, in
    /// [`set_against`](Self::set_against).
    pub(super) fn rewind(&mut self) -> Option<Followed> {
        self.suspect = None;
        let checkpoint = self.checkpoint.take()?;
        let line = self.line.as_mut()?;
        let states = |tree: &Tree| -> Vec<Board> {
            let path = tree.path(tree.tip());
            path.iter()
                .map(|id| tree.node(*id).state.board().clone())
                .collect()
        };
        let root = checkpoint.tree.node(checkpoint.tree.root()).ply;
        let mut told: Vec<Board> = line
            .passed
            .iter()
            .skip(checkpoint.passed + 1)
            .map(|state| state.board().clone())
            .collect();
        if line.passed.len() > checkpoint.passed {
            told.push(line.tree.node(line.tree.root()).state.board().clone());
        }
        told.extend(states(&line.tree));
        let mut then = states(&checkpoint.tree);
        line.passed.truncate(checkpoint.passed);
        line.tree = checkpoint.tree;
        // What was withdrawn since then is told again where it was right after all.
        then.truncate(common(&then, &told));
        let path = line.tree.path(line.tree.tip());
        if let Some(withdrawn) = path.get(then.len()) {
            line.tree.withdraw(*withdrawn);
        }
        self.pressed = checkpoint.pressed;
        self.doubt = None;
        self.gap = Some(checkpoint.at);
        Some(Followed {
            root,
            told,
            then,
            findings: self.findings.len(),
        })
    }

    /// Leaves out of what was told since the line was rewound what had been told before, and withdraws what turned out
    /// to be otherwise.
    pub(super) fn set_against(&mut self, followed: Followed) {
        let Followed {
            root,
            told,
            then,
            findings,
        } = followed;
        let again: Vec<(Timestamp, Finding)> = self.findings.drain(findings..).collect();
        let of_line = again
            .iter()
            .position(|(_, finding)| matches!(finding, Finding::Start(_)))
            .unwrap_or(again.len());
        let index = |ply: u32| usize::try_from(ply.saturating_sub(root + 1)).unwrap_or(usize::MAX);
        let mut line: Vec<Told> = then.into_iter().map(|board| (board, None)).collect();
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
        let common = common(&boards, &told);
        let mut withdraws = told.len() > common;
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

/// The ply that a mark is of.
fn ply_of(finding: &Finding) -> Option<u32> {
    match finding {
        Finding::Settled { ply, .. } | Finding::Completed { ply, .. } => Some(*ply),
        _ => None,
    }
}
