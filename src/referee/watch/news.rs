//! What the watchers are told of.

use shakmaty::{ByColor, Color};

use crate::referee::LineEntry;
use crate::tracker::{ClockChange, Completion, Finding, Withdrawal};

/// What is new, for the watchers.
#[derive(Debug)]
pub(in crate::referee) enum News {
    /// A line of play begins.
    Started,
    /// This ply was told, or told anew instead of the one that is handed on.
    Played(u32, Option<Box<LineEntry>>),
    /// From this ply on all is withdrawn: these plies.
    Retracted(u32, Withdrawal, Vec<LineEntry>),
    /// A ply was completed.
    Completed(u32, Completion),
    /// A player pressed his clock, and no ply of his that was told earlier is completed by it.
    Pressed(Color),
    Clock(ClockChange),
    /// A reading of the clock.
    Times(ByColor<u64>),
    Squares,
    Away,
    /// What happened while the board was away is known, or given up.
    Back,
    Over,
    /// The players sit at each other's pieces, after so many moves made by both.
    Reversed(u32),
    /// A deadline, or that something was found that speaks of the game alone.
    Time,
}

impl News {
    /// What a finding says to the watchers; the line is still as it was before it.
    pub(in crate::referee) fn of(finding: &Finding, line: &[LineEntry]) -> Option<Self> {
        let at = |ply: u32| usize::try_from(ply).unwrap_or(usize::MAX).saturating_sub(1);
        Some(match finding {
            Finding::Start(_) => Self::Started,
            Finding::Made(ply) => Self::Played(ply.number, None),
            Finding::Amended { ply, .. } => {
                Self::Played(ply.number, line.get(at(ply.number)).cloned().map(Box::new))
            }
            Finding::Retracted { ply, reason } => {
                Self::Retracted(*ply, *reason, line.get(at(*ply)..).unwrap_or_default().to_vec())
            }
            Finding::Completed { ply, by, .. } => Self::Completed(*ply, *by),
            Finding::Clock(change) => Self::Clock(*change),
            Finding::Away => Self::Away,
            Finding::Recovered { .. } => Self::Back,
            // What the game makes of them is what counts.
            Finding::Settled { .. } | Finding::ResultShown { .. } | Finding::WhiteSide(_) => Self::Time,
            Finding::Times { .. } | Finding::Squares(_) => return None,
        })
    }
}
