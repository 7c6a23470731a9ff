//! The consequences of a situation: its severity, the articles that apply, and the advice for the arbiter.

mod claims;
mod game;
mod offences;
mod time;
mod touch;

use std::collections::BTreeMap;

use offences::Offence;
use serde_json::Value;
use shakmaty::Color;

use super::articles::Topic;
use super::rules::Rules;
use super::situation::Situation;

/// Advice for the arbiter.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The severity of the situation.
    pub severity: Severity,
    /// The articles on which the advice is based, as in "7.5.1, 7.5.5"; empty if the edition has none.
    pub article: String,
    /// Whether all these article numbers were checked against the text of the edition.
    pub checked: bool,
    /// The key of the text in the catalogues, as in "illegal_move.completed".
    pub case: &'static str,
    /// Values of the text's placeholders, by name.
    pub values: BTreeMap<String, Value>,
}

vocabulary! {
    "severity"
    /// The severity of a situation.
    pub enum Severity {
        /// For the record only.
        Info = "info",
        /// Possibly harmless; worth checking if somebody complains.
        Hint = "hint",
        /// The arbiter should act, or should know at once.
        Advice = "advice",
        /// An offence is complete.
        Violation = "violation",
    }
}

impl Rules {
    /// The consequences of a situation under these rules.
    ///
    /// `color` is the player concerned; `None` if unknown, or if the situation concerns no single player.
    #[must_use]
    pub fn advise(&self, situation: &Situation, color: Option<Color>) -> Advice {
        let draft = Draft::new(self, color);
        match situation {
            Situation::IllegalMove {
                fault,
                stage,
                offence,
                opponent_can_mate,
                times,
            } => {
                let offence = Offence::new(*offence, *opponent_can_mate, *times);
                draft.with("fault", fault.name()).illegal_move(*stage, offence)
            }
            Situation::PromotionNotReplaced {
                square,
                stage,
                offence,
                opponent_can_mate,
                times,
            } => {
                let offence = Offence::new(*offence, *opponent_can_mate, *times);
                draft
                    .with("square", square.to_string())
                    .promotion(*stage, offence)
            }
            Situation::PressedWithoutMove {
                offence,
                opponent_can_mate,
                times,
            } => draft.pressed(Offence::new(*offence, *opponent_can_mate, *times)),
            Situation::PressedBeforeRelease => draft.pressed_early(),
            Situation::TwoHandsSuspected { pieces } => draft.two_hands(*pieces),
            Situation::PromotionExchanged {
                square,
                stood,
                now,
                pressed,
            } => draft.promotion_exchanged(*square, *stood, *now, *pressed),
            Situation::TouchedNotMoved { touch, due, played } => draft.touched(*touch, due, played),
            Situation::CastlingRookFirst { together } => draft.rook_first(*together),
            Situation::AdjustedOffTurn { square } => draft.adjusted(*square),
            Situation::DisplacedPieces { found_later } => draft.displaced(*found_later),
            Situation::Jolted { wrong, times, left } => draft.jolted(wrong, *times, *left),
            Situation::WrongStart { drawn, moves } => draft.wrong_start(drawn, *moves),
            Situation::BoardRotated { quarter, moves } => draft.rotated(*quarter, *moves),
            Situation::ColorsReversed { moves } => draft.reversed(*moves),
            Situation::IllegalPosition { kings } => draft.illegal_position(*kings),
            Situation::FlagFall {
                completed,
                required,
                last_period,
                opponent_can_mate,
                opponent_broke,
                next_period_missing,
            } => {
                let draft = draft.mate(*opponent_can_mate, true);
                let draft = draft.progress(*completed, *required, *last_period);
                if required.is_some_and(|required| !last_period && completed >= &required) {
                    draft.period_over(*next_period_missing)
                } else {
                    draft.flag(*opponent_broke)
                }
            }
            Situation::TwoFlags {
                first,
                last_period,
                broke,
            } => match broke.filter(|(color, broken)| broken.is_offence() && *first != Some(*color)) {
                Some((color, broken)) => draft.two_flags_after_offence(color, broken),
                None => draft.two_flags(*first, *last_period),
            },
            Situation::ClockInconsistent {
                missing_s,
                increments_of,
                should,
                moves,
            } => {
                let draft = draft.clock_setting(*moves);
                draft.inconsistent(*missing_s, *increments_of, *should)
            }
            Situation::TimeTrouble { players } => draft.time_trouble(*players),
            Situation::LateStart {
                minutes,
                default_time,
                defaulted,
            } => draft.late(*minutes, *default_time, *defaulted),
            Situation::ClockStopped { why } => draft.clock_stopped(*why),
            Situation::RecordUncertain => draft.record_uncertain(),
            Situation::ContinuedAfterEnd => draft.continued_after_end(),
            Situation::ClockDisconnected => draft.clock_gone(),
            Situation::EarlyDraw { made, limit } => draft.early_draw(*made, *limit),
            Situation::SecondGame {
                round,
                table,
                first,
                second,
                has_result,
            } => draft.second_game((*round, *table), (first, second), *has_result),
            Situation::DrawClaimed(claim) => draft.draw_claim(claim),
            Situation::TwoMinuteClaimed(claim) => draft.two_minute_claim(claim),
            Situation::ClaimRuled {
                kind,
                ruling,
                values,
                times,
            } => draft.claim_ruled(*kind, *ruling, values, *times),
            Situation::BoardDisconnected => draft.board_gone(),
            Situation::PieceNotSeen {
                square,
                piece,
                playing,
            } => draft.not_seen(*square, *piece, *playing),
            Situation::SensorFault { square } => draft.sensor_fault(*square),
        }
    }
}

/// Advice under construction: collects the values of the placeholders.
struct Draft<'a> {
    rules: &'a Rules,
    color: Option<Color>,
    values: BTreeMap<String, Value>,
}

impl<'a> Draft<'a> {
    fn new(rules: &'a Rules, color: Option<Color>) -> Self {
        let draft = Self {
            rules,
            color,
            values: BTreeMap::new(),
        };
        draft.for_player(color)
    }

    /// Sets the player concerned, and the placeholders for this player and the opponent.
    fn for_player(mut self, color: Option<Color>) -> Self {
        self.color = color;
        let name = color.map_or("unknown", name);
        self.with("color", name).with("opponent", name)
    }

    fn with(mut self, placeholder: &str, value: impl Into<Value>) -> Self {
        self.values.insert(placeholder.to_owned(), value.into());
        self
    }

    /// Finishes the advice with the articles on these topics.
    fn done(self, severity: Severity, case: &'static str, topics: &[Topic]) -> Advice {
        let mut articles: Vec<&str> = Vec::new();
        let checked = topics.iter().all(|topic| self.rules.is_checked(*topic));
        let cited = topics.iter().map(|topic| self.rules.article(*topic));
        for article in cited.flat_map(|articles| articles.split(", ")) {
            if !article.is_empty() && !articles.contains(&article) {
                articles.push(article);
            }
        }
        Advice {
            severity,
            article: articles.join(", "),
            checked,
            case,
            values: self.values,
        }
    }
}

fn name(color: Color) -> &'static str {
    color.fold_wb("white", "black")
}

/// A clock time as displays show it, as in "1:08:40"; fractions of a second are cut off.
fn clock_text(ms: u64) -> String {
    let seconds = ms / 1000;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
