//! The rules at a board, and the decisions of the referee that depend on them.

use shakmaty::{ByColor, Color};

use super::articles::{self, Topic};
use super::edition::{Edition, Mode, Play};
use super::points::{OpenPoints, Penalties1997, ReversedLimit};
use super::table::{
    self, ClaimCost, Fivefold, FlagCall, IllegalPositionRemedy, Penalty, PressWithoutMove, Quickplay,
    SeventyFive,
};

/// The rules at a board: an edition of the Laws, the mode of play with its supervision, and the points left open.
///
/// ```
/// use kiebitz_game::laws::{Edition, Fivefold, Mode, Rules, Topic};
///
/// let rules = Rules { edition: Edition::Fide2018, mode: Mode::Blitz, supervised: false, ..Rules::default() };
/// assert!(rules.stands_once_answered());
/// assert_eq!(rules.fivefold(), Some(Fivefold::AnyOrder));
/// assert_eq!(rules.article(Topic::Window), "A.4.2, B.4");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The edition.
    pub edition: Edition,
    /// The mode of play.
    pub mode: Mode,
    /// Whether rapid or blitz is supervised well enough for the competition rules to apply (2023: A.4, B.2). It makes
    /// no difference in standard play.
    pub supervised: bool,
    /// The decisions on open points.
    pub points: OpenPoints,
}

/// The consequence of two fallen flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TwoFlags {
    /// This player's flag fell first: they lose, unless the opponent cannot mate (6.9).
    Loses(Color),
    /// The order is unknown, and another period follows: the game goes on.
    PlayOn,
    /// The order is unknown, in the last period: the game is drawn.
    Draw,
    /// The game is drawn in any order (1997: B.8; 2009: A4d3).
    DrawInAnyOrder,
    /// The order is unknown, and so is whether it is the last period.
    ByPeriod,
}

impl Default for Rules {
    /// The newest edition, standard play.
    fn default() -> Self {
        Self {
            edition: Edition::default(),
            mode: Mode::default(),
            supervised: true,
            points: OpenPoints::default(),
        }
    }
}

impl Rules {
    /// The articles on the topic, as in "7.5.1"; empty if this edition has none.
    #[must_use]
    pub fn article(&self, topic: Topic) -> &'static str {
        articles::article(topic, self.edition, self.play()).trim_end_matches('†')
    }

    /// Whether these article numbers were checked against the text of the edition.
    pub(super) fn is_checked(&self, topic: Topic) -> bool {
        !articles::article(topic, self.edition, self.play()).ends_with('†')
    }

    /// The penalty for an illegal move, with open points decided: never [`Penalty::OpenMinutes`], and
    /// [`Penalty::QuickplayFinish`] only if the penalties of 1997 are limited to the quickplay finish.
    #[must_use]
    pub fn penalty(&self) -> Penalty {
        match table::penalty(self.edition, self.play()) {
            Penalty::OpenMinutes => Penalty::Minutes {
                minutes: self.points.blitz_2023_minutes,
                loses_at: 2,
            },
            Penalty::QuickplayFinish { minutes, loses_at }
                if self.points.penalties_1997 == Penalties1997::Always =>
            {
                Penalty::Minutes { minutes, loses_at }
            }
            penalty => penalty,
        }
    }

    /// Whether an illegal move that would lose is a draw if the opponent cannot mate (2023: 7.5.5; not in 1997).
    #[must_use]
    pub fn penalty_spares(&self) -> bool {
        table::penalty_spares(self.edition)
    }

    /// Whether an illegal move stands once the opponent has made their next move (2023: A.5.2).
    #[must_use]
    pub fn stands_once_answered(&self) -> bool {
        table::stands_once_answered(self.edition, self.play())
    }

    /// Whether an illegal move that stands is counted among the player's offences.
    #[must_use]
    pub fn standing_counts(&self) -> bool {
        self.points.standing_move_counts
    }

    /// Whether the arbiter deals with illegal moves without a claim (1997: C.3; 2009: A4c).
    #[must_use]
    pub fn acts_on_illegal_moves(&self) -> bool {
        !matches!(self.penalty(), Penalty::OnClaim { .. } | Penalty::WinOnClaim)
    }

    /// The remedy for an illegal position that was not corrected in time (2023: A.5.4).
    #[must_use]
    pub fn illegal_position(&self) -> IllegalPositionRemedy {
        table::illegal_position(self.edition, self.play())
    }

    /// Whether players may agree, without the arbiter, to correct an illegal move that stands (2023: A.5.2; not before
    /// 2014).
    #[must_use]
    pub fn players_may_agree(&self) -> bool {
        table::players_may_agree(self.edition)
    }

    /// Whether the penalty for an illegal move is given only if a player asks for a ruling (1997: B.5).
    #[must_use]
    pub fn penalty_on_request(&self) -> bool {
        table::penalty_on_request(self.edition, self.play())
    }

    /// Whether the Laws leave the minutes for an illegal move open (2023: A.3 and 7.5.5, in supervised blitz).
    #[must_use]
    pub fn penalty_is_open(&self) -> bool {
        table::penalty(self.edition, self.play()) == Penalty::OpenMinutes
    }

    /// Whether a pawn left on the last rank becomes a queen where it stands (2023: 7.5.2; not before 2014).
    #[must_use]
    pub fn becomes_queen(&self) -> bool {
        table::becomes_queen(self.edition)
    }

    /// The treatment of a press without a move (2023: 7.5.3).
    #[must_use]
    pub fn pressed_without_move(&self) -> PressWithoutMove {
        table::pressed_without_move(self.edition)
    }

    /// Whether making a move with two hands is treated as an illegal move (2023: 7.5.4).
    #[must_use]
    pub fn two_hands_as_illegal(&self) -> bool {
        table::two_hands_as_illegal(self.edition)
    }

    /// Whether Article 4 applies only at a player's request (1997: B.5; 2009: A4b).
    #[must_use]
    pub fn touch_on_request(&self) -> bool {
        table::touch_on_request(self.edition, self.play())
    }

    /// Number of moves that each player completes before a wrong start can no longer be corrected (2023: A.5.1.2), nor
    /// the setting of a clock changed (2023: A.5.1.1); `None` if both are possible during the whole game.
    #[must_use]
    pub fn start_limit(&self) -> Option<u32> {
        table::start_limit(self.edition, self.play())
    }

    /// Whether a game with reversed colours ends and is replayed, given the moves made by each player (2023: 7.3).
    #[must_use]
    pub fn reversed_is_void(&self, made: ByColor<u32>) -> bool {
        table::reversed_limit(self.edition).is_some_and(|limit| self.reversed_moves(made) < limit)
    }

    /// The moves that count towards the limit of Art. 7.3.
    #[must_use]
    pub fn reversed_moves(&self, made: ByColor<u32>) -> u32 {
        match self.points.reversed_limit {
            ReversedLimit::Both => made.white.min(made.black),
            ReversedLimit::Either => made.white.max(made.black),
        }
    }

    /// The condition on which fivefold repetition ends the game (2023: 9.6.1); `None` if it never does.
    #[must_use]
    pub fn fivefold(&self) -> Option<Fivefold> {
        table::fivefold(self.edition)
    }

    /// The condition on which seventy-five moves end the game (2023: 9.6.2); `None` if they never do.
    #[must_use]
    pub fn seventy_five(&self) -> Option<SeventyFive> {
        table::seventy_five(self.edition)
    }

    /// Whether a position that was restored counts as a new occurrence of itself.
    #[must_use]
    pub fn reinstated_counts(&self) -> bool {
        self.points.reinstated_counts
    }

    /// Whether a resignation is a draw if the opponent cannot mate (5.1.2, since 2023).
    #[must_use]
    pub fn resignation_spares(&self) -> bool {
        table::resignation_spares(self.edition)
    }

    /// Whether a right to castle counts for repetition until it is lost (9.2). In 1997, a right that every next move
    /// loses does not count.
    #[must_use]
    pub fn forced_king_keeps_right(&self) -> bool {
        table::forced_king_keeps_right(self.edition)
    }

    /// The cost of a wrong claim of a draw (2023: 9.5.3).
    #[must_use]
    pub fn wrong_claim(&self) -> ClaimCost {
        table::wrong_claim(self.edition, self.play())
    }

    /// The arbiter's options on a claim of a draw in the last two minutes (1997: 10.2; 2023: Guidelines III.5); `None`
    /// if this mode has no such claims.
    #[must_use]
    pub fn quickplay(&self) -> Option<Quickplay> {
        table::quickplay(self.edition, self.play())
    }

    /// The persons who may call a fallen flag (6.8; 2023: A.5.3, A.5.5).
    #[must_use]
    pub fn flag_call(&self) -> FlagCall {
        table::flag_call(self.edition, self.play())
    }

    /// The consequence of two fallen flags.
    ///
    /// `first` is the player whose flag fell first, and `last_period` whether this is the last period, each if known.
    #[must_use]
    pub fn two_flags(&self, first: Option<Color>, last_period: Option<bool>) -> TwoFlags {
        if table::two_flags_draw(self.edition, self.play()) {
            return TwoFlags::DrawInAnyOrder;
        }
        match (first, last_period) {
            (Some(color), _) => TwoFlags::Loses(color),
            (None, Some(true)) => TwoFlags::Draw,
            (None, Some(false)) => TwoFlags::PlayOn,
            (None, None) => TwoFlags::ByPeriod,
        }
    }

    /// Whether the players have to write the moves (8.1): not in rapid and blitz (1997: B.3; 2023: A.2).
    #[must_use]
    pub fn players_write(&self) -> bool {
        self.mode == Mode::Standard
    }

    /// Whether a win on time or by an illegal move needs mating material instead of any way to mate (1997: C.4).
    #[must_use]
    pub fn needs_mating_material(&self) -> bool {
        table::needs_mating_material(self.edition, self.play())
    }

    /// Whether a player in time trouble is exempt from writing for the rest of the period, even with more than five
    /// minutes again (8.4).
    #[must_use]
    pub fn exempt_for_period(&self) -> bool {
        table::exempt_for_period(self.edition)
    }

    /// Minutes after the start of the round within which a player may arrive (2023: 6.7.1). `of_event` is the value in
    /// the rules of the event. `None` if the edition leaves it to the event, and the event does not specify it.
    #[must_use]
    pub fn default_minutes(&self, of_event: Option<u32>) -> Option<u32> {
        of_event.or_else(|| table::default_minutes(self.edition))
    }

    /// The mode of play and its supervision.
    #[must_use]
    pub fn play(&self) -> Play {
        self.mode.play(self.supervised)
    }
}
