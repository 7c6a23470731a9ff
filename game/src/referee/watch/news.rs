//! What the watchers take in.

use shakmaty::{ByColor, Color};

use crate::clock::ClockChange;
use crate::events::{CompletedBy, CorrectionReason, Decision};
use crate::laws::{ClaimRuling, Situation};
use crate::referee::LineEntry;
use crate::tracker::Finding;

/// What is new, for the watchers.
#[derive(Debug)]
pub(in crate::referee) enum News {
    /// A line of play begins.
    Started,
    /// The tracker found this ply. The reason is given if it takes the place of another one.
    Played(u32, Option<CorrectionReason>),
    /// All plies from this one on were withdrawn: these.
    Retracted(u32, CorrectionReason, Vec<LineEntry>),
    /// A ply was completed.
    Completed(u32, CompletedBy),
    /// A player pressed their clock, and that completed none of their known plies.
    Pressed(Color),
    Clock(ClockChange),
    /// A reading of the clock.
    Times(ByColor<u64>),
    Squares,
    /// Many pieces slid at once.
    Jolted,
    /// They stand as before, or play goes on although some do not.
    Steadied,
    Away,
    /// What happened while the board was away is known, or given up.
    Back,
    Over,
    /// The players sit at each other's pieces; both have made this many moves.
    Reversed(u32),
    /// An arbiter has withdrawn that: the names are right now.
    NamesPutRight,
    /// A draw is shown on the board before the event allows players to agree to one; both have made this many moves.
    EarlyDraw {
        made: u32,
        limit: u32,
    },
    /// Another game is played at a table whose game of the round is over.
    SecondGame {
        round: u32,
        table: u32,
        first: String,
        second: String,
    },
    /// The arbiter has decided which pairing the game with that id counts for.
    Assigned(String),
    /// A game begins for another pairing than the last.
    NextRound,
    /// The arbiter has entered a result.
    ResultEntered,
    /// A player claims something by the arbiter's word.
    Claimed(Color, Box<Situation>),
    /// The arbiter has ruled on the claim of that number; without a closing it stays open.
    Ruled(u64, Box<Situation>, Option<(ClaimRuling, Decision)>),
    /// A finding concerns the game alone.
    Game,
    /// All findings until now are known: it is time to compare the board with the line of play.
    Time,
}

impl News {
    /// What a finding means to the watchers; `line` is the line before it.
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
            Finding::Recovered { .. } => Self::Back,
            // Only their effect on the game counts.
            Finding::Settled { .. } | Finding::ResultShown { .. } | Finding::WhiteSide(_) => Self::Game,
            Finding::Times { .. } | Finding::Squares(_) => return None,
        })
    }
}
