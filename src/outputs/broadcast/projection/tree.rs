//! The JSON files in livechesscloud's format, for other programs: relays, viewers, clubs' own pages.

use kiebitz_game::events::record::MoveRecord;
use kiebitz_game::events::{EndReason, GameResult, PlayerFacts, Players};
use kiebitz_game::position::Variant;
use kiebitz_hardware::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use shakmaty::Color;

use super::game::ShownGame;
use super::rounds::Slot;
use crate::clock::{ClockView, taken_seconds};
use crate::outputs::pgn;

/// `tournament.json`.
#[derive(Debug, Serialize)]
pub(in crate::outputs) struct TournamentFile<'t> {
    pub(in crate::outputs) id: &'t str,
    pub(in crate::outputs) name: &'t str,
    pub(in crate::outputs) location: Option<&'t str>,
    pub(in crate::outputs) country: Option<&'t str>,
    pub(in crate::outputs) website: Option<&'t str>,
    pub(in crate::outputs) rules: &'static str,
    /// "ANY" for an event of Chess960, else "STANDARD". Readers use the position numbers of the games only with "ANY".
    pub(in crate::outputs) chess960: &'static str,
    pub(in crate::outputs) timecontrol: Option<&'t str>,
    pub(in crate::outputs) rounds: Vec<RoundSummary>,
    /// Serial numbers of the boards in the order of the tables.
    pub(in crate::outputs) eboards: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(in crate::outputs) struct RoundSummary {
    pub(in crate::outputs) count: usize,
    pub(in crate::outputs) live: usize,
}

/// `round-N/index.json`. It is written pairing by pairing, because thousands of them take much memory as values.
#[derive(Serialize)]
struct Index<'i> {
    date: Option<&'i str>,
    #[serde(serialize_with = "pairings")]
    pairings: &'i [Slot<'i>],
}

#[derive(Serialize)]
struct IndexPairing {
    black: IndexPlayer,
    live: bool,
    result: &'static str,
    white: IndexPlayer,
}

#[derive(Debug, Serialize)]
pub(in crate::outputs) struct IndexPlayer {
    federation: Option<String>,
    fideid: Option<u32>,
    fname: Option<String>,
    gender: Option<&'static str>,
    lname: Option<String>,
    mname: Option<&'static str>,
    title: Option<String>,
}

/// Builds `round-N/index.json`.
pub(in crate::outputs) fn index(date: Option<&str>, slots: &[Slot<'_>]) -> Vec<u8> {
    let index = Index {
        date,
        pairings: slots,
    };
    serde_json::to_vec(&index).unwrap_or_default()
}

fn pairings<S: Serializer>(slots: &[Slot<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(slots.iter().map(|slot| {
        let players = slot.players();
        IndexPairing {
            black: player(players.as_ref(), Color::Black),
            live: slot.is_live(),
            result: pgn::result(slot.result()),
            white: player(players.as_ref(), Color::White),
        }
    }))
}

pub(in crate::outputs) fn player(players: Option<&Players>, color: Color) -> IndexPlayer {
    let name = players
        .and_then(|players| players.name(color))
        .unwrap_or_default();
    let facts = players.and_then(|players| players.facts(color));
    let facts = facts.cloned().unwrap_or_default();
    let PlayerFacts {
        fide_id,
        title,
        rating: _,
        federation,
        team: _,
    } = facts;
    let (last, first) = name.split_once(',').unwrap_or((name, ""));
    let part = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    IndexPlayer {
        federation,
        fideid: fide_id,
        fname: part(first),
        gender: None,
        lname: part(last),
        mname: None,
        title,
    }
}

/// `round-N/game-M.json`, also of a game that has not begun. `clock` contains the time from which viewers count down,
/// delay included. `unplayed_start` is the number of the start position of games that have not begun; `None` while it is
/// not drawn.
pub(in crate::outputs) fn game(
    slot: &Slot<'_>,
    clock: Option<(ClockView, Timestamp)>,
    unplayed_start: Option<u16>,
) -> Value {
    let shown = slot.game;
    let number = match shown.map(|shown| &shown.record) {
        Some(record) if record.variant == Variant::Chess960 => {
            Some(number_of_start(&record.start_fen).unwrap_or(USUAL_START))
        }
        Some(_) => Some(USUAL_START),
        None => unplayed_start,
    };
    json!({
        "live": slot.is_live(),
        "serialNr": shown.and_then(|shown| shown.serial.as_ref()),
        "firstMove": shown.and_then(ShownGame::first_move).map(millis),
        "chess960": number,
        "result": result_word(slot.result(), slot.reason()),
        "comment": null,
        "clock": clock.and_then(|(clock, since)| clock_of(clock, since)),
        "moves": shown.map(moves).unwrap_or_default(),
    })
}

fn moves(shown: &ShownGame) -> Vec<String> {
    let moves = pgn::regular_moves(&shown.record).iter();
    moves.map(|entry| played(shown, entry)).collect()
}

/// A move, followed by the player's remaining time and the time taken for the move, in whole seconds.
///
/// An unknown remaining time is omitted, and so is a time taken of zero. At least one of them is written, because a move
/// without times means to readers that the program guessed it.
fn played(shown: &ShownGame, entry: &MoveRecord) -> String {
    let san = entry.san.as_deref().unwrap_or_default();
    let left = entry.clock.map(|clock| clock.times_ms()[entry.color] / 1000);
    let measured = entry.elapsed_ms.map(taken_seconds);
    match (left, measured) {
        (Some(left), None | Some(0)) => format!("{san} {left}"),
        (Some(left), Some(took)) => format!("{san} {left}+{took}"),
        (None, Some(took)) => format!("{san} +{took}"),
        (None, None) => format!("{san} +{}", taken_seconds(shown.took_ms(entry))),
    }
}

pub(in crate::outputs) fn clock_of(clock: ClockView, since: Timestamp) -> Option<Value> {
    let (white, black) = (clock.white_ms?, clock.black_ms?);
    Some(json!({
        "white": white / 1000,
        "black": black / 1000,
        "run": clock.running.map(Color::is_white),
        "time": millis(since),
    }))
}

pub(in crate::outputs) fn millis(at: Timestamp) -> i64 {
    at.as_micros() / 1000
}

/// livechesscloud's word for a result; `None` if there is no result yet, or no word for it.
pub(in crate::outputs) const fn result_word(
    result: GameResult,
    reason: Option<EndReason>,
) -> Option<&'static str> {
    match (result, reason) {
        (GameResult::WhiteWins, Some(EndReason::Default)) => Some("WHITEFORFAIT"),
        (GameResult::BlackWins, Some(EndReason::Default)) => Some("BLACKFORFAIT"),
        (GameResult::WhiteWins, _) => Some("WHITEWIN"),
        (GameResult::BlackWins, _) => Some("BLACKWIN"),
        (GameResult::Draw, _) => Some("DRAW"),
        (
            GameResult::BothLose | GameResult::HalfForWhite | GameResult::HalfForBlack | GameResult::Unknown,
            _,
        ) => None,
    }
}

/// Number of the standard start position in Chess960.
pub(in crate::outputs) const USUAL_START: u16 = 518;

/// The standard number, 0 to 959, of a Chess960 start position; `None` if the FEN is not one.
pub(in crate::outputs) fn number_of_start(fen: &str) -> Option<u16> {
    let rank: Vec<char> = fen.split('/').next()?.to_ascii_lowercase().chars().collect();
    if rank.len() != 8 {
        return None;
    }
    let at = |piece: char| {
        rank.iter()
            .enumerate()
            .filter(move |(_, c)| **c == piece)
            .map(|(at, _)| at)
    };
    let light = at('b').find(|at| at % 2 == 1)?;
    let dark = at('b').find(|at| at % 2 == 0)?;
    // The numbering counts the queen's square among those left by the bishops, and the knights' squares among those
    // left by bishops and queen.
    let left: Vec<char> = rank.iter().copied().filter(|piece| *piece != 'b').collect();
    let queen = left.iter().position(|piece| *piece == 'q')?;
    let left: Vec<char> = left.into_iter().filter(|piece| *piece != 'q').collect();
    let mut knights = left
        .iter()
        .enumerate()
        .filter(|(_, piece)| **piece == 'n')
        .map(|(at, _)| at);
    let (one, other) = (knights.next()?, knights.next()?);
    let pairs = (0..5).flat_map(|one| (one + 1..5).map(move |other| (one, other)));
    let pair = pairs.into_iter().position(|pair| pair == (one, other))?;
    let number = 96 * pair + 16 * queen + 4 * (dark / 2) + light / 2;
    u16::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_positions_have_their_usual_numbers() {
        for (rank, number) in [
            ("bbqnnrkr", 0),
            ("rnbqkbnr", 518),
            ("rkrnnqbb", 959),
            ("bqnbnrkr", 1),
            ("nrkrqnbb", 367),
        ] {
            let fen = format!(
                "{rank}/pppppppp/8/8/8/8/PPPPPPPP/{} w - - 0 1",
                rank.to_uppercase()
            );
            assert_eq!(number_of_start(&fen), Some(number), "{rank}");
        }
        assert_eq!(number_of_start("8/8/8/8/8/8/8/8 w - - 0 1"), None);
        assert_eq!(number_of_start(""), None);
    }
}
