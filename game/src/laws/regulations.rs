//! What applies at a board: the rules, the time control, the start, the rounds, and the language of the advice.

use core::str::FromStr;

use shakmaty::{Bitboard, Board, Color, Role, Square};
use thiserror::Error;

use super::articles::Topic;
use super::catalogue::Language;
use super::edition::Mode;
use super::rounds::{DefaultTime, Rounds};
use super::rules::Rules;
use super::situation::DrawnStart;
use super::time_control::TimeControl;

/// What applies at a board.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Regulations {
    /// The Laws.
    pub rules: Rules,
    /// The mode of play was named; else it follows from the time control.
    pub mode_is_named: bool,
    /// The time control; `None`: not configured.
    pub time_control: Option<TimeControl>,
    /// The position that games begin from; `None`: not configured, and any start position will do.
    pub drawn_start: Option<DrawnStart>,
    /// When rounds begin; none: not configured.
    pub rounds: Rounds,
    /// How late a player may come; `None`: the rules of the event do not say it.
    pub default_time: Option<DefaultTime>,
    /// Before both players have made so many moves they may not agree to a draw without the arbiter's consent (2023:
    /// 9.1.1); `None`: they may.
    pub no_draw_before_move: Option<u32>,
    /// Whether a player with less than two minutes may claim a draw, as announced for the event (2023: Guidelines III.2);
    /// `None`: not known.
    pub quickplay_finish: Option<bool>,
    /// The name of the event, for files and reports; `None`: not configured.
    pub event: Option<String>,
    /// Where it takes place; `None`: not configured.
    pub site: Option<String>,
    /// The language of the advice.
    pub language: Language,
}

impl Regulations {
    /// The time control for events and files: as PGN writes it, or as arbiters do where PGN cannot express it.
    #[must_use]
    pub fn time_control_text(&self) -> Option<String> {
        let control = self.time_control.as_ref()?;
        Some(control.pgn().unwrap_or_else(|| control.to_string()))
    }

    /// The time control as it was typed; `None`: there is none, or nobody typed it.
    #[must_use]
    pub fn time_control_typed(&self) -> Option<String> {
        let control = self.time_control.as_ref()?;
        control.typed().map(str::to_owned)
    }

    /// The mode that follows from the time control, with the articles for it (2023: A.1, B.1); `None`: there is no time control.
    #[must_use]
    pub fn mode_of_time(&self) -> Option<(Mode, &'static str)> {
        let control = self.time_control.as_ref()?;
        let mode = control.mode(self.rules.edition);
        let article = Rules { mode, ..self.rules }.article(Topic::Mode);
        Some((mode, article))
    }

    /// Play goes on with this time control. The mode follows from it, unless another one was named.
    pub fn set_time_control(&mut self, control: TimeControl) {
        let mode = control.mode(self.rules.edition);
        self.time_control = Some(control);
        if !self.mode_is_named {
            self.rules.mode = mode;
        }
    }

    /// How late a player may come, in minutes: by the rules of the event, and by the edition where they do not say it
    /// (2023: 6.7.1). `None`: the edition requires them to say it.
    #[must_use]
    pub fn default_minutes(&self) -> Option<u32> {
        self.rules
            .default_minutes(self.default_time.map(DefaultTime::minutes))
    }
}

/// A text that does not name a start position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{text:?} is not a start position; expected \"standard\", \"chess960\", or the pieces of a Chess960 start \
     from a to h, as in \"bbqnnrkr\""
)]
pub struct InvalidDrawnStart {
    /// The text.
    pub text: String,
}

/// "standard", "chess960" for any position of it, or the pieces from a to h of the one that was drawn.
impl FromStr for DrawnStart {
    type Err = InvalidDrawnStart;

    fn from_str(text: &str) -> Result<Self, InvalidDrawnStart> {
        match text {
            "standard" => Ok(Self::Standard),
            "chess960" => Ok(Self::Chess960(None)),
            pieces => {
                let placement = drawn(pieces).ok_or_else(|| InvalidDrawnStart {
                    text: text.to_owned(),
                })?;
                Ok(Self::Chess960(Some(placement)))
            }
        }
    }
}

/// The placement of a Chess960 start (2023: Guidelines II): the king between the rooks, the bishops on squares of both
/// colours.
fn drawn(pieces: &str) -> Option<String> {
    let rank = pieces.to_ascii_lowercase();
    let board = Board::from_ascii_board_fen(
        format!("{rank}/pppppppp/8/8/8/8/PPPPPPPP/{}", rank.to_ascii_uppercase()).as_bytes(),
    )
    .ok()?;
    let of = |role: Role| board.by_piece(role.of(Color::White)) & Bitboard::from(shakmaty::Rank::First);
    let counted = [
        (Role::King, 1),
        (Role::Queen, 1),
        (Role::Rook, 2),
        (Role::Bishop, 2),
        (Role::Knight, 2),
    ];
    if counted.iter().any(|(role, count)| of(*role).count() != *count) {
        return None;
    }
    let file = |square: Square| square.file();
    let king = of(Role::King).first().map(file)?;
    let (left, right) = (
        of(Role::Rook).first().map(file)?,
        of(Role::Rook).last().map(file)?,
    );
    let light = (of(Role::Bishop) & Bitboard::LIGHT_SQUARES).count();
    (left < king && king < right && light == 1).then(|| board.board_fen().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_positions_are_named_or_drawn() {
        assert_eq!("standard".parse(), Ok(DrawnStart::Standard));
        assert_eq!("chess960".parse(), Ok(DrawnStart::Chess960(None)));
        let drawn = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR".to_owned();
        assert_eq!("BBQNNRKR".parse(), Ok(DrawnStart::Chess960(Some(drawn))));
    }

    /// Guidelines II of 2023: king between the rooks, bishops on opposite colours.
    #[test]
    fn what_cannot_be_drawn_is_refused() {
        for text in [
            "",
            "rnbqkbnr/8",
            "rnbqkbn",
            "krbqnbnr",
            "rbnbkqnr",
            "rnbqkbnp",
            "rrbqkbnn",
            "8",
            "rnbqkbnß",
        ] {
            assert!(text.parse::<DrawnStart>().is_err(), "{text}");
        }
        assert!("rnbqkbnr".parse::<DrawnStart>().is_ok());
    }

    #[test]
    fn time_control_is_written_as_pgn_where_possible() {
        let pgn = |text: &str| {
            let regulations = Regulations {
                time_control: text.parse().ok(),
                ..Regulations::default()
            };
            regulations.time_control_text()
        };
        assert_eq!(pgn("90+30").as_deref(), Some("5400+30"));
        assert_eq!(
            pgn("90 min, delay 10 s").as_deref(),
            Some("90 min, delay 10 s from move 1")
        );
        assert_eq!(pgn("none"), None);
    }
}
