//! The regulations at a board: the rules, the time control, the start, the rounds, and the language of the advice.

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

/// The regulations at a board.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Regulations {
    /// The rules of play.
    pub rules: Rules,
    /// Whether the mode of play was configured; otherwise it follows from the time control.
    pub mode_is_named: bool,
    /// The time control; `None` if not configured.
    pub time_control: Option<TimeControl>,
    /// The start position of games; `None` if not configured, so that any start position is accepted.
    pub drawn_start: Option<DrawnStart>,
    /// The start times of rounds; empty if not configured.
    pub rounds: Rounds,
    /// The default time of the event; `None` if the rules of the event do not specify it.
    pub default_time: Option<DefaultTime>,
    /// Number of moves that both players must make before they may agree to a draw without the arbiter's consent (2023:
    /// 9.1.1); `None` if there is no such limit.
    pub no_draw_before_move: Option<u32>,
    /// Whether a player with less than two minutes may claim a draw, as announced for the event (2023: Guidelines
    /// III.2); `None` if unknown.
    pub quickplay_finish: Option<bool>,
    /// The name of the event, for files and reports; `None` if not configured.
    pub event: Option<String>,
    /// The venue; `None` if not configured.
    pub site: Option<String>,
    /// The language of the advice.
    pub language: Language,
}

impl Regulations {
    /// The time control for events and files: in PGN notation, or in arbiters' notation if PGN cannot express it.
    #[must_use]
    pub fn time_control_text(&self) -> Option<String> {
        let control = self.time_control.as_ref()?;
        Some(control.pgn().unwrap_or_else(|| control.to_string()))
    }

    /// The time control as it was typed; `None` without a time control, or if it was not typed.
    #[must_use]
    pub fn time_control_typed(&self) -> Option<String> {
        let control = self.time_control.as_ref()?;
        control.typed().map(str::to_owned)
    }

    /// The mode that follows from the time control, with the articles that define it (2023: A.1, B.1); `None` without a
    /// time control.
    #[must_use]
    pub fn mode_of_time(&self) -> Option<(Mode, &'static str)> {
        let control = self.time_control.as_ref()?;
        let mode = control.mode(self.rules.edition);
        let article = Rules { mode, ..self.rules }.article(Topic::Mode);
        Some((mode, article))
    }

    /// Sets the time control. The mode follows from it, unless it was configured.
    pub fn set_time_control(&mut self, control: TimeControl) {
        let mode = control.mode(self.rules.edition);
        self.time_control = Some(control);
        if !self.mode_is_named {
            self.rules.mode = mode;
        }
    }

    /// Most minutes by which a player may be late: by the rules of the event, else by the edition (2023: 6.7.1). `None`
    /// if the edition leaves it to the event, and the event does not specify it.
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

/// Parses "standard", "chess960" for any of its positions, or the pieces from a to h of the drawn position.
impl FromStr for DrawnStart {
    type Err = InvalidDrawnStart;

    fn from_str(text: &str) -> Result<Self, InvalidDrawnStart> {
        match text {
            "standard" => Ok(Self::Standard),
            "chess960" => Ok(Self::Chess960(None)),
            pieces => {
                let placement = chess960_placement(pieces).ok_or_else(|| InvalidDrawnStart {
                    text: text.to_owned(),
                })?;
                Ok(Self::Chess960(Some(placement)))
            }
        }
    }
}

/// The placement of a Chess960 start (2023: Guidelines II): the king between the rooks, the bishops on squares of both
/// colours.
fn chess960_placement(pieces: &str) -> Option<String> {
    let rank = pieces.to_ascii_lowercase();
    let board = Board::from_ascii_board_fen(
        format!("{rank}/pppppppp/8/8/8/8/PPPPPPPP/{}", rank.to_ascii_uppercase()).as_bytes(),
    )
    .ok()?;
    let first_rank =
        |role: Role| board.by_piece(role.of(Color::White)) & Bitboard::from(shakmaty::Rank::First);
    let counted = [
        (Role::King, 1),
        (Role::Queen, 1),
        (Role::Rook, 2),
        (Role::Bishop, 2),
        (Role::Knight, 2),
    ];
    if counted
        .iter()
        .any(|(role, count)| first_rank(*role).count() != *count)
    {
        return None;
    }
    let file = |square: Square| square.file();
    let king = first_rank(Role::King).first().map(file)?;
    let (left, right) = (
        first_rank(Role::Rook).first().map(file)?,
        first_rank(Role::Rook).last().map(file)?,
    );
    let light = (first_rank(Role::Bishop) & Bitboard::LIGHT_SQUARES).count();
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
    fn an_impossible_chess960_start_is_refused() {
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
    fn a_time_control_is_written_as_pgn_if_possible() {
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
