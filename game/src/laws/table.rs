//! The rules that differ between editions and modes of play, with one row for each topic.
//!
//! As in `articles.rs`, a row lists editions from the oldest to the newest; an edition that is not listed has the rule
//! of the edition before. The sources are in `articles.rs`, by topic. A function without documentation is documented at
//! the method of [`Rules`](super::Rules) with the same name, or at the type that it returns.

use super::edition::Edition::{self, *};
use super::edition::Mode;
use super::edition::Play::{self, *};

/// The penalty for an illegal move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Penalty {
    /// The opponent gets extra minutes; the player's offence number `loses_at` loses the game.
    Minutes {
        /// The minutes.
        minutes: u8,
        /// The offence that loses, counted from 1.
        loses_at: u32,
    },
    /// As [`Self::Minutes`], but from an article of the quickplay finish (1997).
    QuickplayFinish {
        /// The minutes.
        minutes: u8,
        /// The offence that loses, counted from 1.
        loses_at: u32,
    },
    /// The first offence loses.
    LosesAtOnce,
    /// As [`Self::Minutes`], but only if the opponent claims before making the next move.
    OnClaim {
        /// The minutes.
        minutes: u8,
        /// The offence that loses, counted from 1.
        loses_at: u32,
    },
    /// The opponent may claim a win before making the next move.
    WinOnClaim,
    /// As [`Self::Minutes`] with `loses_at` 2; the number of minutes is an open point.
    OpenMinutes,
}

/// The treatment of a press without a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PressWithoutMove {
    /// The edition has no rule.
    NoRule,
    /// The arbiter may penalise it.
    Discretion,
    /// It is an illegal move.
    AsIllegal,
}

/// The condition on which fivefold repetition ends the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fivefold {
    /// Five times in alternate moves of each player: plies p, p + 4 and so on to p + 16.
    Consecutive,
    /// In any order.
    AnyOrder,
}

/// The moment at which seventy-five moves without pawn move or capture end the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeventyFive {
    /// When the last move is completed.
    Completed,
    /// When the last move is made.
    Made,
}

/// The persons who may call a fallen flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagCall {
    /// The arbiter or a player.
    Arbiter,
    /// The arbiter, or a player who stops the clocks and still has time (2014: A.4c).
    ArbiterOrTimelyClaim,
    /// The arbiter or a player, who may stop the clocks; that player's own time does not matter (2023: A.5.3, A.5.5).
    ArbiterOrClaim,
    /// Only a player, who stops both clocks with their own flag still up; the arbiter does not intervene.
    Claim,
}

/// The remedy for an illegal position that was not corrected in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IllegalPositionRemedy {
    /// Go back to the last legal position.
    GoBack,
    /// The arbiter intervenes if possible.
    Intervene,
    /// Wait until the next move is completed; if the position is still illegal, the game is drawn.
    WaitThenDraw,
    /// Nothing is done.
    Leave,
}

/// The cost of a wrong claim of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimCost {
    /// The claimant loses half of the remaining time, at most three minutes; the opponent gets three.
    HalfTheTime,
    /// The opponent gets this number of minutes.
    Minutes(u8),
}

/// The arbiter's options on a claim in the last two minutes of a quickplay finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quickplay {
    /// Declare the game drawn, or postpone the decision (1997).
    DrawOrPostpone,
    /// As [`Self::DrawOrPostpone`], or reject the claim.
    Decide,
    /// As [`Self::Decide`]; in addition, a player may ask for an increment instead (since 2014). The event must have
    /// announced it.
    DecideOrIncrement,
}

/// The rule on a press before the opponent has put displaced pieces back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DisplacedPress {
    /// The player has the right to press.
    Allowed,
    /// The edition has no rule.
    Silent,
    /// It is treated as a press without a move.
    Offence,
}

type ByEdition<T> = &'static [(Edition, T)];

/// The rule in an edition: the last of `changes` up to this edition, or `first` before any change.
fn since<T: Copy>(first: T, changes: ByEdition<T>, edition: Edition) -> T {
    let change = changes.iter().rfind(|(since, _)| *since <= edition);
    change.map_or(first, |(_, rule)| *rule)
}

// Named by the minutes and by the offence that loses: `TWO_OF_THREE` is two minutes, and the third offence loses.
const TWO_OF_TWO: Penalty = Penalty::Minutes {
    minutes: 2,
    loses_at: 2,
};
const TWO_OF_THREE: Penalty = Penalty::Minutes {
    minutes: 2,
    loses_at: 3,
};
const ONE_OF_TWO: Penalty = Penalty::Minutes {
    minutes: 1,
    loses_at: 2,
};
const CLAIMED: Penalty = Penalty::OnClaim {
    minutes: 2,
    loses_at: 3,
};
const FINISH: Penalty = Penalty::QuickplayFinish {
    minutes: 2,
    loses_at: 3,
};
const AT_ONCE: Penalty = Penalty::LosesAtOnce;
const WIN: Penalty = Penalty::WinOnClaim;

#[rustfmt::skip]
pub(super) fn penalty(edition: Edition, play: Play) -> Penalty {
    match play {
        S  => since(FINISH, &[(Fide2009, TWO_OF_THREE), (Fide2014, TWO_OF_TWO)], edition),
        Rs => since(FINISH, &[(Fide2009, TWO_OF_THREE), (Fide2014, TWO_OF_TWO), (Fide2023, ONE_OF_TWO)], edition),
        Ru => since(FINISH, &[(Fide2009, CLAIMED), (Fide2014, AT_ONCE), (Fide2018, TWO_OF_TWO), (Fide2023, ONE_OF_TWO)], edition),
        Bs => since(WIN, &[(Fide2009, TWO_OF_THREE), (Fide2014, ONE_OF_TWO), (Fide2023, Penalty::OpenMinutes)], edition),
        Bu => since(WIN, &[(Fide2014, AT_ONCE), (Fide2018, ONE_OF_TWO)], edition),
    }
}

pub(super) fn penalty_spares(edition: Edition) -> bool {
    since(false, &[(Fide2009, true)], edition)
}

pub(super) fn stands_once_answered(edition: Edition, play: Play) -> bool {
    match play {
        S | Rs => false,
        Ru => since(false, &[(Fide2014, true)], edition),
        Bs => since(true, &[(Fide2009, false)], edition),
        Bu => true,
    }
}

pub(super) fn players_may_agree(edition: Edition) -> bool {
    since(false, &[(Fide2014, true)], edition)
}

pub(super) fn penalty_on_request(edition: Edition, play: Play) -> bool {
    matches!(play, Rs | Ru) && since(true, &[(Fide2009, false)], edition)
}

pub(super) fn illegal_position(edition: Edition, play: Play) -> IllegalPositionRemedy {
    use IllegalPositionRemedy::{GoBack, Intervene, Leave, WaitThenDraw};
    match play {
        S | Rs => GoBack,
        Ru => since(
            GoBack,
            &[(Fide2009, Intervene), (Fide2014, WaitThenDraw)],
            edition,
        ),
        Bs => since(Leave, &[(Fide2009, GoBack)], edition),
        Bu => since(Leave, &[(Fide2009, Intervene), (Fide2014, WaitThenDraw)], edition),
    }
}

pub(super) fn becomes_queen(edition: Edition) -> bool {
    since(false, &[(Fide2014, true)], edition)
}

pub(super) fn pressed_without_move(edition: Edition) -> PressWithoutMove {
    since(
        PressWithoutMove::NoRule,
        &[
            (Fide2014, PressWithoutMove::Discretion),
            (Fide2017, PressWithoutMove::AsIllegal),
        ],
        edition,
    )
}

pub(super) fn press_while_displaced(edition: Edition) -> DisplacedPress {
    since(
        DisplacedPress::Allowed,
        &[
            (Fide2009, DisplacedPress::Silent),
            (Fide2017, DisplacedPress::Offence),
        ],
        edition,
    )
}

/// Whether a player who displaced pieces may be penalised for it.
pub(super) fn displacing_may_cost(edition: Edition) -> bool {
    since(false, &[(Fide2009, true)], edition)
}

pub(super) fn two_hands_as_illegal(edition: Edition) -> bool {
    since(false, &[(Fide2017, true)], edition)
}

pub(super) fn touch_on_request(edition: Edition, play: Play) -> bool {
    match play {
        S => false,
        Rs | Bs => since(true, &[(Fide2009, false)], edition),
        Ru | Bu => since(true, &[(Fide2014, false)], edition),
    }
}

/// Number of moves by each player up to which a wrong start is corrected and the setting of a clock changed; `None` if
/// this is possible during the whole game.
pub(super) fn start_limit(edition: Edition, play: Play) -> Option<u32> {
    match play {
        S => None,
        Rs | Bs => since(Some(3), &[(Fide2009, None)], edition),
        Ru | Bu => since(Some(3), &[(Fide2014, Some(10))], edition),
    }
}

/// Whether the [limit](start_limit) only bars claims by the players. Since 2014, it bars any change.
pub(super) fn limit_bars_claims(edition: Edition) -> bool {
    since(true, &[(Fide2014, false)], edition)
}

/// The pieces that may no longer castle in a game that continues from a wrong start (2009: A4a; 2014: A.4a).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CastlingLost {
    /// The edition has no special rule.
    NoRule,
    /// A king that began on the queen's square.
    SwappedKing,
    /// A king or a rook that began on a wrong square.
    Misplaced,
}

pub(super) fn castling_lost(edition: Edition) -> CastlingLost {
    since(
        CastlingLost::NoRule,
        &[
            (Fide2009, CastlingLost::SwappedKing),
            (Fide2014, CastlingLost::Misplaced),
        ],
        edition,
    )
}

/// Whether a turned board must be corrected. If not, it may be.
pub(super) fn rotated_must(edition: Edition) -> bool {
    since(false, &[(Fide2009, true)], edition)
}

/// Number of moves from which a game with reversed colours continues; `None` if it always does, unless the arbiter
/// rules otherwise.
pub(super) fn reversed_limit(edition: Edition) -> Option<u32> {
    since(None, &[(Fide2017, Some(10))], edition)
}

pub(super) fn fivefold(edition: Edition) -> Option<Fivefold> {
    since(
        None,
        &[
            (Fide2014, Some(Fivefold::Consecutive)),
            (Fide2017, Some(Fivefold::AnyOrder)),
        ],
        edition,
    )
}

pub(super) fn seventy_five(edition: Edition) -> Option<SeventyFive> {
    since(
        None,
        &[
            (Fide2014, Some(SeventyFive::Completed)),
            (Fide2017, Some(SeventyFive::Made)),
        ],
        edition,
    )
}

pub(super) fn forced_king_keeps_right(edition: Edition) -> bool {
    since(false, &[(Fide2009, true)], edition)
}

pub(super) fn resignation_spares(edition: Edition) -> bool {
    since(false, &[(Fide2023, true)], edition)
}

pub(super) fn flag_call(edition: Edition, play: Play) -> FlagCall {
    use FlagCall::{Arbiter, ArbiterOrClaim, ArbiterOrTimelyClaim, Claim};
    match play {
        S => Arbiter,
        Rs | Bs => since(Claim, &[(Fide2009, Arbiter)], edition),
        Ru | Bu => since(
            Claim,
            &[(Fide2014, ArbiterOrTimelyClaim), (Fide2017, ArbiterOrClaim)],
            edition,
        ),
    }
}

/// Whether an arbiter who leaves flags to the players may announce that both are down (2009: A4d).
pub(super) fn may_announce_two_flags(edition: Edition) -> bool {
    since(false, &[(Fide2009, true)], edition)
}

/// Whether two fallen flags are a draw in any order.
pub(super) fn two_flags_draw(edition: Edition, play: Play) -> bool {
    match play {
        S => false,
        Rs | Bs => since(true, &[(Fide2009, false)], edition),
        Ru | Bu => since(true, &[(Fide2014, false)], edition),
    }
}

pub(super) fn needs_mating_material(edition: Edition, play: Play) -> bool {
    matches!(play, Bs | Bu) && since(true, &[(Fide2009, false)], edition)
}

pub(super) fn exempt_for_period(edition: Edition) -> bool {
    since(false, &[(Fide2017, true)], edition)
}

pub(super) fn wrong_claim(edition: Edition, play: Play) -> ClaimCost {
    use ClaimCost::{HalfTheTime, Minutes};
    const SINCE_2009: (Edition, ClaimCost) = (Fide2009, Minutes(3));
    match play {
        S => since(HalfTheTime, &[SINCE_2009, (Fide2014, Minutes(2))], edition),
        Rs | Ru => since(
            HalfTheTime,
            &[SINCE_2009, (Fide2014, Minutes(2)), (Fide2023, Minutes(1))],
            edition,
        ),
        Bs | Bu => since(HalfTheTime, &[SINCE_2009, (Fide2014, Minutes(1))], edition),
    }
}

pub(super) fn quickplay(edition: Edition, play: Play) -> Option<Quickplay> {
    use Quickplay::{Decide, DecideOrIncrement, DrawOrPostpone};
    match play {
        S | Rs | Ru => since(
            Some(DrawOrPostpone),
            &[(Fide2009, Some(Decide)), (Fide2014, Some(DecideOrIncrement))],
            edition,
        ),
        Bs => since(None, &[(Fide2009, Some(Decide)), (Fide2014, None)], edition),
        Bu => None,
    }
}

/// Default time, in minutes, if the rules of the event do not specify one; `None` if they must.
pub(super) fn default_minutes(edition: Edition) -> Option<u32> {
    since(
        Some(60),
        &[(Fide2009, Some(0)), (Fide2014, None), (Fide2017, Some(0))],
        edition,
    )
}

/// The mode of a game in which a player has `seconds` for sixty moves.
pub(super) fn mode(edition: Edition, seconds: u64) -> Mode {
    // The first second of rapid and of standard play. 1997 counts a whole hour as rapid.
    const CHANGES: ByEdition<(u64, u64)> = &[(Fide2009, (900, 3600)), (Fide2014, (601, 3600))];
    let (rapid, standard) = since((900, 3601), CHANGES, edition);
    match seconds {
        _ if seconds >= standard => Mode::Standard,
        _ if seconds >= rapid => Mode::Rapid,
        _ => Mode::Blitz,
    }
}
