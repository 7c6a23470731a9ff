//! Texts of a report. Each language has its own file; a new one also needs a line in [`Words::of`].

mod english;
mod german;

use super::claims::Difference;
use super::model::Note;
use super::position::Irreversible;
use crate::clock::taken;
use kiebitz_game::events::Recovery;
use kiebitz_game::laws::Language;
use shakmaty::Color;

/// All texts of a report in one language. A name in braces is a placeholder for [`fill`].
pub(super) struct Words {
    pub(super) title: &'static str,
    pub(super) confidential: &'static str,
    pub(super) made_from: &'static str,
    pub(super) cut_at: &'static str,
    pub(super) summary: &'static str,
    pub(super) round: &'static str,
    pub(super) violations: &'static str,
    pub(super) no_violations: &'static str,
    pub(super) other_incidents: &'static str,
    pub(super) open: &'static str,
    pub(super) is_open: &'static str,
    pub(super) nothing_open: &'static str,
    pub(super) open_result: &'static str,
    pub(super) open_confirmation: &'static str,
    pub(super) gaps: &'static str,
    pub(super) no_gaps: &'static str,
    pub(super) gap_at: &'static str,
    pub(super) gap_read: &'static str,
    pub(super) gap_worked_out: &'static str,
    pub(super) gap_missing: &'static str,
    pub(super) and_more: &'static str,
    pub(super) decision: &'static str,
    pub(super) signatures: &'static str,
    pub(super) signed_arbiter: &'static str,
    pub(super) signed_at: &'static str,
    pub(super) no_games: &'static str,
    pub(super) games: &'static str,
    pub(super) game: &'static str,
    pub(super) continues: &'static str,
    pub(super) white: &'static str,
    pub(super) black: &'static str,
    pub(super) white_clock: &'static str,
    pub(super) black_clock: &'static str,
    pub(super) board: &'static str,
    pub(super) table: &'static str,
    pub(super) from_to: &'static str,
    pub(super) time_control: &'static str,
    pub(super) start: &'static str,
    pub(super) result: &'static str,
    pub(super) not_given: &'static str,
    pub(super) score: &'static str,
    pub(super) no_moves: &'static str,
    pub(super) number: &'static str,
    pub(super) clock: &'static str,
    pub(super) took: &'static str,
    pub(super) marks: &'static str,
    pub(super) mark_inferred: &'static str,
    pub(super) mark_order: &'static str,
    pub(super) mark_irregular: &'static str,
    pub(super) mark_unpressed: &'static str,
    pub(super) mark_unsettled: &'static str,
    pub(super) mark_incident: &'static str,
    pub(super) curve: &'static str,
    pub(super) curve_text: &'static str,
    pub(super) incidents: &'static str,
    pub(super) no_incidents: &'static str,
    pub(super) outside: &'static str,
    pub(super) advice: &'static str,
    pub(super) articles: &'static str,
    pub(super) opened: &'static str,
    pub(super) updated_often: &'static str,
    pub(super) updated: &'static str,
    pub(super) closed: &'static str,
    pub(super) counts: &'static str,
    pub(super) counts_not: &'static str,
    pub(super) still_open: &'static str,
    pub(super) at_ply: &'static str,
    pub(super) before_game: &'static str,
    pub(super) changes: &'static str,
    pub(super) empty: &'static str,
    pub(super) time: &'static str,
    pub(super) frame: &'static str,
    pub(super) clock_showed: &'static str,
    pub(super) runs: &'static str,
    pub(super) stands: &'static str,
    pub(super) flag: &'static str,
    pub(super) both_flags: &'static str,
    pub(super) in_capture: &'static str,
    pub(super) packet: &'static str,
    pub(super) packets: &'static str,
    pub(super) on_port: &'static str,
    pub(super) until: &'static str,
    pub(super) diagram: &'static str,
    pub(super) set_up: &'static str,
    pub(super) squares_at_once: &'static str,
    pub(super) marked: &'static str,
    pub(super) to_move_white: &'static str,
    pub(super) to_move_black: &'static str,
    pub(super) claims: &'static str,
    pub(super) claims_are: &'static str,
    pub(super) threefold: &'static str,
    pub(super) fifty: &'static str,
    pub(super) shows_times: &'static str,
    pub(super) shows_intended: &'static str,
    pub(super) shows_moves: &'static str,
    pub(super) claimable: &'static str,
    pub(super) claimable_with: &'static str,
    pub(super) key: &'static str,
    pub(super) position_claimed: &'static str,
    pub(super) after: &'static str,
    pub(super) starts: &'static str,
    pub(super) castling: &'static str,
    pub(super) en_passant: &'static str,
    pub(super) seen: &'static str,
    pub(super) watched: &'static str,
    pub(super) inferred: &'static str,
    pub(super) order_uncertain: &'static str,
    pub(super) none: &'static str,
    pub(super) near: &'static str,
    pub(super) near_side: &'static str,
    pub(super) near_castling: &'static str,
    pub(super) near_en_passant: &'static str,
    pub(super) near_no_en_passant: &'static str,
    pub(super) repeated: &'static str,
    pub(super) never_repeated: &'static str,
    pub(super) stood_after: &'static str,
    pub(super) last_capture: &'static str,
    pub(super) last_pawn: &'static str,
    pub(super) last_start: &'static str,
    pub(super) half_moves: &'static str,
    pub(super) corrections: &'static str,
    pub(super) withdrawn: &'static str,
    pub(super) instead: &'static str,
    pub(super) reason: &'static str,
    pub(super) notes: &'static str,
    pub(super) event_heading: &'static str,
    pub(super) gap_memory: &'static str,
    pub(super) gap_inferred: &'static str,
    pub(super) gap_unknown: &'static str,
    pub(super) end_not_watched: &'static str,
    pub(super) board_gone: &'static str,
    pub(super) board_back: &'static str,
    pub(super) clock_gone: &'static str,
    pub(super) clock_back: &'static str,
    pub(super) battery_low: &'static str,
    pub(super) time_set: [&'static str; 2],
    pub(super) amendments: &'static str,
    pub(super) by_heading: &'static str,
    pub(super) command: &'static str,
    pub(super) refused: &'static str,
    pub(super) answered: &'static str,
    pub(super) last_moves: &'static str,
    pub(super) changed_result: &'static str,
    pub(super) goes_on: &'static str,
    pub(super) changed_players: &'static str,
    pub(super) changed_time_control: &'static str,
    pub(super) changed_moves: &'static str,
    pub(super) changed_position: &'static str,
    pub(super) changed_note: &'static str,
    pub(super) without_result: &'static str,
    pub(super) no_result: &'static str,
    pub(super) by_board: &'static str,
    pub(super) by_laws: &'static str,
    pub(super) by_arbiter: &'static str,
    pub(super) unconfirmed: &'static str,
    pub(super) adjournment: &'static str,
    pub(super) adjournment_use: &'static str,
    pub(super) adjourned_position: &'static str,
    pub(super) seals: &'static str,
    pub(super) sealed_number: &'static str,
    pub(super) time_used: &'static str,
    pub(super) time_left: &'static str,
    pub(super) untimed: &'static str,
    pub(super) unsettled: &'static str,
    pub(super) draw_offer: &'static str,
    pub(super) resumption: &'static str,
    pub(super) checked_by: &'static str,
    pub(super) occurrences: &'static str,
    /// Names of the months, January first.
    pub(super) months: [&'static str; 12],
    pub(super) day: &'static str,
    pub(super) modes: &'static [Word],
    /// Sources of the endings of incidents.
    pub(super) closers: &'static [Word],
    pub(super) closings: &'static [Word],
    /// Reasons of withdrawn moves.
    pub(super) withdrawals: &'static [Word],
    pub(super) standings: &'static str,
    pub(super) after_round: &'static str,
    /// Sentence about the tie-breaks in use.
    pub(super) ranked_by: &'static str,
    pub(super) equal_points: &'static str,
    /// Sentence for an event whose rounds are not known game by game.
    pub(super) rounds_unknown: &'static str,
    /// Names of the tie-breaks.
    pub(super) tie_breaks: &'static [Word],
    /// Short names of the tie-breaks, as FIDE writes them.
    pub(super) tie_break_heads: &'static [Word],
    pub(super) player: &'static str,
    pub(super) rating: &'static str,
    pub(super) points: &'static str,
    pub(super) played_games: &'static str,
    pub(super) team: &'static str,
    pub(super) match_points: &'static str,
    pub(super) board_points: &'static str,
    pub(super) actions: &'static [Word],
    /// Names and values of the arguments of commands.
    pub(super) arguments: &'static [Word],
    /// Authors of commands that are not names of persons, such as `arbiter`.
    pub(super) people: &'static [Word],
    pub(super) roles: [&'static str; 6],
}

/// A word of the event format, and its text for readers.
pub(super) type Word = (&'static str, &'static str);

impl Words {
    pub(super) const fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &english::WORDS,
            Language::German => &german::WORDS,
        }
    }

    pub(super) fn color(&self, color: Color) -> &'static str {
        color.fold_wb(self.white, self.black)
    }

    pub(super) fn note(&self, note: &Note) -> String {
        match note {
            Note::Gap { by, changes, .. } => match by {
                Recovery::Memory => fill(self.gap_memory, &[("n", &changes.to_string())]),
                Recovery::Inferred => self.gap_inferred.to_owned(),
                Recovery::Undecidable => self.gap_unknown.to_owned(),
            },
            Note::EndNotWatched { .. } => self.end_not_watched.to_owned(),
            Note::BoardDisconnected { reason, .. } if reason.is_empty() => self.board_gone.to_owned(),
            Note::BoardDisconnected { reason, .. } => format!("{}: {reason}", self.board_gone),
            Note::BoardConnected { .. } => self.board_back.to_owned(),
            Note::ClockDisconnected { .. } => self.clock_gone.to_owned(),
            Note::ClockConnected { .. } => self.clock_back.to_owned(),
            Note::ClockBatteryLow { .. } => self.battery_low.to_owned(),
            Note::TimeSet { by_ms, .. } => {
                let by = taken(by_ms.unsigned_abs());
                fill(self.time_set[usize::from(*by_ms < 0)], &[("by", &by)])
            }
        }
    }

    pub(super) fn difference(&self, difference: &Difference) -> String {
        match difference {
            Difference::Side => self.near_side.to_owned(),
            Difference::Castling { had } => fill(self.near_castling, &[("had", self.or_none(had))]),
            Difference::EnPassant { had: Some(square) } => fill(self.near_en_passant, &[("square", square)]),
            Difference::EnPassant { had: None } => self.near_no_en_passant.to_owned(),
        }
    }

    pub(super) fn irreversible(&self, last: Option<Irreversible>) -> &'static str {
        match last {
            Some(Irreversible::Capture) => self.last_capture,
            Some(Irreversible::PawnMove) => self.last_pawn,
            None => self.last_start,
        }
    }

    pub(super) fn or_none<'t>(&self, text: &'t str) -> &'t str
    where
        'static: 't,
    {
        if text == "-" { self.none } else { text }
    }
}

/// Returns the text for a word of the event format, or the word itself if the list lacks it.
pub(super) fn label<'t>(list: &[Word], word: &'t str) -> &'t str
where
    'static: 't,
{
    list.iter()
        .find(|(known, _)| *known == word)
        .map_or(word, |(_, text)| text)
}

/// Replaces the placeholders in a template. Values are not searched for placeholders.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let Some((name, after_name)) = after.split_once('}') else {
            rest = after;
            break;
        };
        let value = values.iter().find(|(known, _)| *known == name);
        text.push_str(value.map_or("", |(_, value)| value));
        rest = after_name;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use kiebitz_game::events::{Action, ClosedBy, CorrectionReason, IncidentEnd};
    use kiebitz_game::laws::Mode;

    use super::*;

    fn assert_same_words<W: Copy>(list: &[Word], words: &[W], as_str: impl Fn(W) -> &'static str) {
        let known: Vec<&str> = list.iter().map(|(known, _)| *known).collect();
        for word in words {
            assert!(known.contains(&as_str(*word)), "{}", as_str(*word));
        }
        assert_eq!(known.len(), words.len(), "{known:?}");
    }

    #[test]
    fn every_language_has_every_word_and_no_other() {
        for language in Language::ALL {
            let words = Words::of(*language);
            assert_same_words(words.modes, Mode::ALL, Mode::as_str);
            assert_same_words(words.closers, ClosedBy::ALL, ClosedBy::as_str);
            assert_same_words(words.closings, IncidentEnd::ALL, IncidentEnd::as_str);
            assert_same_words(words.withdrawals, CorrectionReason::ALL, CorrectionReason::as_str);
            assert_same_words(words.actions, Action::ALL, Action::as_str);
        }
    }
}
