//! Input of the watchers.

use shakmaty::{ByColor, Color};

use crate::clock::ClockChange;
use crate::events::{CompletedBy, CorrectionReason, Decision, Recovery};
use crate::laws::{ClaimRuling, Situation};
use crate::referee::LineEntry;
use crate::tracker::Finding;

#[derive(Debug)]
pub(in crate::referee) enum News {
    /// A line of play begins.
    Started,
    /// The tracker found a ply. The reason is given if the ply replaces another one.
    Played(u32, Option<CorrectionReason>),
    /// The plies from this number on were withdrawn; the list contains them.
    Retracted(u32, CorrectionReason, Vec<LineEntry>),
    Completed(u32, CompletedBy),
    /// A player pressed the clock without completing one of their known plies.
    Pressed(Color),
    Clock(ClockChange),
    Times(ByColor<u64>),
    Squares,
    /// Many pieces slid at once.
    Jolted,
    /// The jolted pieces stand as before, or play continues although some do not.
    Steadied,
    Away,
    /// The moves made while the board was away are known or given up.
    Back(Recovery),
    Over,
    /// The players have exchanged colours and have both made this many moves.
    Reversed(u32),
    /// An arbiter has withdrawn the exchange of colours: the names are right now.
    NamesPutRight,
    /// The board shows a draw before the regulations allow players to agree to one. Both have made this many moves.
    EarlyDraw {
        made: u32,
        limit: u32,
    },
    /// Another game is played on a board whose game of the round is over.
    SecondGame {
        round: u32,
        table: u32,
        first: String,
        second: String,
        /// Whether the first game has a result.
        has_result: bool,
    },
    /// The arbiter has decided the pairing of the game with this id.
    Assigned(String),
    /// A game begins for another pairing than the last one.
    NextRound,
    ResultEntered,
    /// A player's claim, entered by the arbiter.
    Claimed(Color, Box<Situation>),
    /// The arbiter has ruled on the claim with this number. Without a closing, the claim stays open.
    Ruled(u64, Box<Situation>, Option<(ClaimRuling, Decision)>),
    /// A finding that only concerns the game.
    Game,
    /// All findings up to now are in, so the board can be compared with the line of play.
    Time,
}

impl News {
    /// Converts a finding to news. `line` is the line before the finding.
    pub(in crate::referee) fn of(finding: &Finding, line: &[LineEntry]) -> Option<Self> {
        let at = |ply: u32| usize::try_from(ply).unwrap_or(usize::MAX).saturating_sub(1);
        Some(match finding {
            Finding::Start(_) => Self::Started,
            Finding::Made(ply) => Self::Played(ply.number, None),
            Finding::Amended { ply, reason } => Self::Played(ply.number, Some(*reason)),
            Finding::Retracted { ply, reason, .. } => {
                Self::Retracted(*ply, *reason, line.get(at(*ply)..).unwrap_or_default().to_vec())
            }
            Finding::Completed { ply, by, .. } => Self::Completed(*ply, *by),
            Finding::Clock(change) => Self::Clock(*change),
            Finding::Jolted => Self::Jolted,
            Finding::Steadied => Self::Steadied,
            Finding::Away => Self::Away,
            Finding::Recovered { by, .. } => Self::Back(*by),
            // The watchers need only the effect of these findings on the game.
            Finding::Settled { .. } | Finding::ResultShown { .. } | Finding::WhiteSide(_) => Self::Game,
            Finding::Times { .. } | Finding::Squares(_) => return None,
        })
    }
}
