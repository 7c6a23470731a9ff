//! What there is to claims of a draw: the sheet with which arbiter and players check one (E23 9.2, 9.3).
//!
//! It is worked out from the moves, whether or not a claim was told to be possible, and decides nothing.

use std::collections::BTreeMap;

use kiebitz_hardware::Timestamp;
use serde::Serialize;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Color, EnPassantMode, Position};

use super::model::PlyNote;
use super::position::{
    Irreversible, QuietPlies, castling_mode, castling_text, en_passant_text, fen_before, irreversible, legal,
};
use crate::events::record::GameRecord;
use crate::events::{ClaimReason, Clock, color, rfc3339};
use crate::laws::Edition;

/// What there is to claims of a draw in a game.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Claims {
    /// One for every position and every count that could be claimed.
    pub sheets: Vec<ClaimSheet>,
    /// Every position that stood more than once, the most frequent first.
    pub repeated: Vec<Repeated>,
    /// The count of moves at the end.
    pub countdown: Countdown,
}

/// What is needed to check a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClaimSheet {
    /// threefold or fifty_moves.
    pub reason: ClaimReason,
    /// The article, where the event names it.
    pub article: Option<String>,
    /// The edition of the Laws, where the event names it.
    pub edition: Option<Edition>,
    /// The position claimed, or the last one counted.
    pub fen: String,
    /// What makes positions the same: placement, side to move, castling rights, and the en passant square where a
    /// capture there is possible (E23 9.2.3).
    pub key: String,
    /// The moments at which it could be claimed.
    pub offers: Vec<Offer>,
    /// When the position stood on the board.
    pub occurrences: Vec<Occurrence>,
    /// When the same pieces stood on the same squares, and why it was another position.
    pub near: Vec<Near>,
    /// The count of moves.
    pub countdown: Countdown,
}

/// A moment at which a draw could be claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// When it was told.
    #[serde(serialize_with = "rfc3339")]
    pub ts: Timestamp,
    /// Whose it was.
    #[serde(serialize_with = "color::serialize")]
    pub color: Color,
    /// The last ply made.
    pub ply: u32,
    /// The move that he would have had to announce, in English SAN; `None`: it stood on the board.
    pub intended: Option<String>,
}

/// A position that stood on the board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Occurrence {
    /// The ply after which it did; 0 is the start.
    pub ply: u32,
    /// When it came about.
    #[serde(serialize_with = "rfc3339")]
    pub at: Timestamp,
    /// The clock.
    pub clock: Option<Clock>,
    /// Castling rights as in FEN, "-" for none.
    pub castling: String,
    /// The square of a possible capture en passant.
    pub en_passant: Option<String>,
    /// Not watched: found over a gap.
    pub inferred: bool,
    /// False: perhaps in another place among the plies found with it.
    pub order_certain: bool,
}

/// The same pieces on the same squares, in another position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Near {
    /// The ply after which it stood.
    pub ply: u32,
    /// What was different.
    pub differences: Vec<Difference>,
}

/// What makes one position another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Difference {
    /// The other side was to move.
    Side,
    /// Other castling rights: those it had, as in FEN.
    Castling {
        /// As in "KQkq", "-" for none.
        had: String,
    },
    /// Another capture en passant: on this square, or none.
    EnPassant {
        /// As in "d6".
        had: Option<String>,
    },
}

/// A position that stood more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repeated {
    /// The position.
    pub fen: String,
    /// The plies after which it stood, 0 for the start.
    pub plies: Vec<u32>,
}

/// How many moves were made without a capture or a pawn move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Countdown {
    /// Half-moves, those that the start position brought with it included.
    pub half_moves: u32,
    /// The last ply that took or moved a pawn; 0: none since the start.
    pub last_ply: u32,
    /// What that one did.
    pub last: Option<Irreversible>,
}

/// What an event told of a claim.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) reason: ClaimReason,
    pub(super) article: String,
    pub(super) edition: Edition,
    pub(super) offer: Offer,
}

/// A position of the game.
#[derive(Debug)]
struct Standing {
    ply: u32,
    fen: String,
}

/// Works out what there is to claims in a game, of which these were told.
pub(super) fn of(record: &GameRecord, notes: &[PlyNote], told: &[Told]) -> Claims {
    let mode = castling_mode(record);
    let game = Game {
        record,
        notes,
        standings: standings(record, mode),
        quiet: QuietPlies::of(record),
    };
    let mut sheets = game.threefold(told, mode);
    sheets.extend(game.fifty(told));
    let last = record.moves.last().map_or(0, |entry| entry.ply);
    Claims {
        sheets,
        repeated: game.repeated(),
        countdown: game.countdown(last),
    }
}

/// The positions that stood on the board, the start included; irregular ones are none in the sense of the Laws.
fn standings(record: &GameRecord, mode: CastlingMode) -> Vec<Standing> {
    let start = core::iter::once((0, &record.start_fen));
    let plies = record.moves.iter().map(|entry| (entry.ply, &entry.fen));
    start
        .chain(plies)
        .filter_map(|(ply, fen)| {
            let position = legal(fen, mode)?;
            let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
            Some(Standing { ply, fen })
        })
        .collect()
}

struct Game<'g> {
    record: &'g GameRecord,
    notes: &'g [PlyNote],
    standings: Vec<Standing>,
    quiet: QuietPlies,
}

impl Game<'_> {
    fn threefold(&self, told: &[Told], mode: CastlingMode) -> Vec<ClaimSheet> {
        let mut claimed: BTreeMap<&str, (u32, String, Vec<&Told>)> = BTreeMap::new();
        for (fen, plies) in self.groups() {
            if let (Some(third), true) = (plies.get(2), plies.len() >= 3) {
                claimed.insert(key(fen), (*third, fen.to_owned(), Vec::new()));
            }
        }
        let positions: Vec<(String, &Told)> = told
            .iter()
            .filter(|told| told.reason == ClaimReason::Threefold)
            .filter_map(|told| Some((self.claimed(&told.offer, mode)?, told)))
            .collect();
        for (fen, told) in &positions {
            let entry = claimed
                .entry(key(fen))
                .or_insert_with(|| (told.offer.ply, fen.clone(), Vec::new()));
            entry.2.push(told);
        }
        let mut sheets: Vec<(u32, ClaimSheet)> = claimed
            .into_values()
            .map(|(ply, fen, told)| (ply, self.sheet(ClaimReason::Threefold, fen, &told)))
            .collect();
        sheets.sort_by_key(|(ply, _)| *ply);
        sheets.into_iter().map(|(_, sheet)| sheet).collect()
    }

    /// The position that could be claimed: the one on the board, or that after the move to be announced.
    fn claimed(&self, offer: &Offer, mode: CastlingMode) -> Option<String> {
        let fen = match offer.ply {
            0 => &self.record.start_fen,
            ply => &self.record.moves.iter().find(|entry| entry.ply == ply)?.fen,
        };
        let mut position = legal(fen, mode)?;
        if let Some(intended) = &offer.intended {
            let san: SanPlus = intended.parse().ok()?;
            let played = san.san.to_move(&position).ok()?;
            position = position.play(played).ok()?;
        }
        Some(Fen::from_position(&position, EnPassantMode::Legal).to_string())
    }

    /// One sheet for every stretch without capture or pawn move that was long enough.
    fn fifty(&self, told: &[Told]) -> Vec<ClaimSheet> {
        let mut stretches: BTreeMap<u32, (u32, Vec<&Told>)> = BTreeMap::new();
        for entry in &self.record.moves {
            let began = self.quiet.reset_before(entry.ply);
            if self.quiet.after(entry.ply) >= FIFTY_MOVES {
                stretches.entry(began).or_default().0 = entry.ply;
            }
        }
        for told in told.iter().filter(|told| told.reason == ClaimReason::FiftyMoves) {
            let began = self.quiet.reset_before(told.offer.ply);
            let stretch = stretches.entry(began).or_default();
            stretch.0 = stretch.0.max(told.offer.ply);
            stretch.1.push(told);
        }
        let sheets = stretches.into_values().map(|(last, told)| {
            let fen = fen_before(self.record, last.saturating_add(1)).to_owned();
            let mut sheet = self.sheet(ClaimReason::FiftyMoves, fen, &told);
            sheet.countdown = self.countdown(last);
            sheet.occurrences.clear();
            sheet.near.clear();
            sheet
        });
        sheets.collect()
    }

    fn sheet(&self, reason: ClaimReason, fen: String, told: &[&Told]) -> ClaimSheet {
        let key = key(&fen).to_owned();
        let occurrences: Vec<Occurrence> = self.matching(&key).map(|at| self.occurrence(at)).collect();
        let counted = told
            .last()
            .map(|told| told.offer.ply)
            .or_else(|| occurrences.last().map(|occurrence| occurrence.ply));
        ClaimSheet {
            reason,
            article: told.last().map(|told| told.article.clone()),
            edition: told.last().map(|told| told.edition),
            near: self.near(&key),
            offers: told.iter().map(|told| told.offer.clone()).collect(),
            countdown: self.countdown(counted.unwrap_or_default()),
            occurrences,
            fen,
            key,
        }
    }

    fn matching<'s>(&'s self, key: &'s str) -> impl Iterator<Item = &'s Standing> {
        self.standings.iter().filter(move |at| self::key(&at.fen) == key)
    }

    fn occurrence(&self, at: &Standing) -> Occurrence {
        let entry = self.record.moves.iter().find(|entry| entry.ply == at.ply);
        let note = self.notes.iter().find(|note| note.ply == at.ply);
        Occurrence {
            ply: at.ply,
            at: note.map_or(self.record.started, |note| note.made),
            clock: entry.and_then(|entry| entry.clock),
            castling: castling_text(&at.fen).to_owned(),
            en_passant: en_passant_text(&at.fen).map(str::to_owned),
            inferred: entry.is_some_and(|entry| entry.inferred),
            order_certain: note.is_none_or(|note| note.order_certain),
        }
    }

    fn near(&self, key: &str) -> Vec<Near> {
        let same_pieces = self
            .standings
            .iter()
            .filter(|at| placement(&at.fen) == placement(key) && self::key(&at.fen) != key);
        same_pieces
            .map(|at| Near {
                ply: at.ply,
                differences: differences(&at.fen, key),
            })
            .collect()
    }

    fn repeated(&self) -> Vec<Repeated> {
        let mut repeated: Vec<Repeated> = self
            .groups()
            .into_iter()
            .filter(|(_, plies)| plies.len() > 1)
            .map(|(fen, plies)| Repeated {
                fen: fen.to_owned(),
                plies,
            })
            .collect();
        repeated.sort_by_key(|repeated| {
            (
                core::cmp::Reverse(repeated.plies.len()),
                repeated.plies.first().copied(),
            )
        });
        repeated
    }

    /// The plies of each position, with the FEN of its first.
    fn groups(&self) -> Vec<(&str, Vec<u32>)> {
        let mut groups: BTreeMap<&str, (&str, Vec<u32>)> = BTreeMap::new();
        for at in &self.standings {
            let group = groups.entry(key(&at.fen)).or_insert((&at.fen, Vec::new()));
            group.1.push(at.ply);
        }
        groups.into_values().collect()
    }

    fn countdown(&self, ply: u32) -> Countdown {
        let last_ply = self.quiet.reset_before(ply);
        let entry = self.record.moves.iter().find(|entry| entry.ply == last_ply);
        Countdown {
            half_moves: self.quiet.after(ply),
            last_ply,
            last: entry.and_then(|entry| irreversible(fen_before(self.record, last_ply), entry)),
        }
    }
}

/// The part of a FEN that makes positions the same, where its en passant square is one of a legal capture.
fn key(fen: &str) -> &str {
    let end = fen.match_indices(' ').nth(3).map(|(at, _)| at);
    end.and_then(|end| fen.get(..end)).unwrap_or(fen)
}

fn placement(fen: &str) -> &str {
    fen.split(' ').next().unwrap_or_default()
}

fn differences(there: &str, here: &str) -> Vec<Difference> {
    let mut differences = Vec::new();
    if there.split(' ').nth(1) != here.split(' ').nth(1) {
        differences.push(Difference::Side);
    }
    if castling_text(there) != castling_text(here) {
        differences.push(Difference::Castling {
            had: castling_text(there).to_owned(),
        });
    }
    if en_passant_text(there) != en_passant_text(here) {
        differences.push(Difference::EnPassant {
            had: en_passant_text(there).map(str::to_owned),
        });
    }
    differences
}

/// Half-moves after which fifty moves by each player are made (E23 9.3).
const FIFTY_MOVES: u32 = 100;
