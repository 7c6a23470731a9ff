//! Computes the claim sheets of a game from its moves, whether or not an event announced a claim. The sheets list
//! evidence and do not decide claims.

use std::collections::BTreeMap;

use kiebitz_game::events::ClaimReason;
use kiebitz_game::events::record::GameRecord;
use kiebitz_game::laws::Edition;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, EnPassantMode, Position};

use super::claims::{ClaimSheet, Claims, Countdown, Difference, Near, Occurrence, Offer, Repeated};
use super::model::PlyNote;
use super::position::{
    QuietPlies, castling_mode, castling_text, en_passant_text, fen_before, irreversible, legal,
};

/// A claim that an event announced.
#[derive(Debug, Clone)]
pub(super) struct AnnouncedClaim {
    pub(super) reason: ClaimReason,
    pub(super) article: String,
    pub(super) edition: Edition,
    pub(super) offer: Offer,
}

/// A legal position of the game, and the ply after which it was on the board.
#[derive(Debug)]
struct ReachedPosition {
    ply: u32,
    fen: String,
}

/// Computes the claim sheets of a game. `announced` are the claims that events announced.
pub(super) fn of(record: &GameRecord, notes: &[PlyNote], announced: &[AnnouncedClaim]) -> Claims {
    let mode = castling_mode(record);
    let game = ClaimedGame {
        record,
        notes,
        reached_positions: reached_positions(record, mode),
        quiet: QuietPlies::of(record),
    };
    let mut sheets = game.threefold(announced, mode);
    sheets.extend(game.fifty(announced));
    let last = record.moves.last().map_or(0, |entry| entry.ply);
    Claims {
        sheets,
        repeated: game.repeated(),
        countdown: game.countdown(last),
    }
}

/// The positions after each ply, the start position included. Positions that are illegal are left out, as they cannot
/// repeat under the Laws.
fn reached_positions(record: &GameRecord, mode: CastlingMode) -> Vec<ReachedPosition> {
    let start = core::iter::once((0, &record.start_fen));
    let plies = record.moves.iter().map(|entry| (entry.ply, &entry.fen));
    start
        .chain(plies)
        .filter_map(|(ply, fen)| {
            let position = legal(fen, mode)?;
            let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
            Some(ReachedPosition { ply, fen })
        })
        .collect()
}

struct ClaimedGame<'g> {
    record: &'g GameRecord,
    notes: &'g [PlyNote],
    reached_positions: Vec<ReachedPosition>,
    quiet: QuietPlies,
}

impl ClaimedGame<'_> {
    fn threefold(&self, announced: &[AnnouncedClaim], mode: CastlingMode) -> Vec<ClaimSheet> {
        let mut claimed: BTreeMap<&str, (u32, String, Vec<&AnnouncedClaim>)> = BTreeMap::new();
        for (fen, plies) in self.groups() {
            if let (Some(third), true) = (plies.get(2), plies.len() >= 3) {
                claimed.insert(key(fen), (*third, fen.to_owned(), Vec::new()));
            }
        }
        let positions: Vec<(String, &AnnouncedClaim)> = announced
            .iter()
            .filter(|announced| announced.reason == ClaimReason::Threefold)
            .filter_map(|announced| Some((self.claimed_fen(&announced.offer, mode)?, announced)))
            .collect();
        for (fen, announced) in &positions {
            let entry = claimed
                .entry(key(fen))
                .or_insert_with(|| (announced.offer.ply, fen.clone(), Vec::new()));
            entry.2.push(announced);
        }
        let mut sheets: Vec<(u32, ClaimSheet)> = claimed
            .into_values()
            .map(|(ply, fen, announced)| (ply, self.sheet(ClaimReason::Threefold, fen, &announced)))
            .collect();
        sheets.sort_by_key(|(ply, _)| *ply);
        sheets.into_iter().map(|(_, sheet)| sheet).collect()
    }

    /// The claimed position: the one on the board, or the one after the move to be announced. `None` if that move is
    /// not legal.
    fn claimed_fen(&self, offer: &Offer, mode: CastlingMode) -> Option<String> {
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

    /// Returns a sheet for each sequence without capture or pawn move that reached fifty moves or was claimed.
    fn fifty(&self, announced: &[AnnouncedClaim]) -> Vec<ClaimSheet> {
        let mut stretches: BTreeMap<u32, (u32, Vec<&AnnouncedClaim>)> = BTreeMap::new();
        for entry in &self.record.moves {
            let began = self.quiet.reset_before(entry.ply);
            if self.quiet.after(entry.ply) >= FIFTY_MOVES {
                stretches.entry(began).or_default().0 = entry.ply;
            }
        }
        for announced in announced
            .iter()
            .filter(|announced| announced.reason == ClaimReason::FiftyMoves)
        {
            let began = self.quiet.reset_before(announced.offer.ply);
            let stretch = stretches.entry(began).or_default();
            stretch.0 = stretch.0.max(announced.offer.ply);
            stretch.1.push(announced);
        }
        let sheets = stretches.into_values().map(|(last, announced)| {
            let fen = fen_before(self.record, last.saturating_add(1)).to_owned();
            let mut sheet = self.sheet(ClaimReason::FiftyMoves, fen, &announced);
            sheet.countdown = self.countdown(last);
            sheet.occurrences.clear();
            sheet.near.clear();
            sheet
        });
        sheets.collect()
    }

    fn sheet(&self, reason: ClaimReason, fen: String, announced: &[&AnnouncedClaim]) -> ClaimSheet {
        let key = key(&fen).to_owned();
        let occurrences: Vec<Occurrence> = self
            .matching(&key)
            .map(|position| self.occurrence(position))
            .collect();
        let counted = announced
            .last()
            .map(|announced| announced.offer.ply)
            .or_else(|| occurrences.last().map(|occurrence| occurrence.ply));
        ClaimSheet {
            reason,
            article: announced.last().map(|announced| announced.article.clone()),
            edition: announced.last().map(|announced| announced.edition),
            near: self.near_positions(&key),
            offers: announced
                .iter()
                .map(|announced| announced.offer.clone())
                .collect(),
            countdown: self.countdown(counted.unwrap_or_default()),
            occurrences,
            fen,
            key,
        }
    }

    fn matching<'s>(&'s self, key: &'s str) -> impl Iterator<Item = &'s ReachedPosition> {
        self.reached_positions
            .iter()
            .filter(move |position| self::key(&position.fen) == key)
    }

    fn occurrence(&self, position: &ReachedPosition) -> Occurrence {
        let entry = self.record.moves.iter().find(|entry| entry.ply == position.ply);
        let note = self.notes.iter().find(|note| note.ply == position.ply);
        Occurrence {
            ply: position.ply,
            at: note.map_or(self.record.started, |note| note.made),
            clock: entry.and_then(|entry| entry.clock),
            castling: castling_text(&position.fen).to_owned(),
            en_passant: en_passant_text(&position.fen).map(str::to_owned),
            inferred: entry.is_some_and(|entry| entry.inferred),
            order_certain: note.is_none_or(|note| note.order_certain),
        }
    }

    fn near_positions(&self, key: &str) -> Vec<Near> {
        let same_pieces = self
            .reached_positions
            .iter()
            .filter(|position| placement(&position.fen) == placement(key) && self::key(&position.fen) != key);
        same_pieces
            .map(|position| Near {
                ply: position.ply,
                differences: differences(&position.fen, key),
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

    /// Returns the FEN of each position's first occurrence, and the plies after which it occurred.
    fn groups(&self) -> Vec<(&str, Vec<u32>)> {
        let mut groups: BTreeMap<&str, (&str, Vec<u32>)> = BTreeMap::new();
        for position in &self.reached_positions {
            let group = groups
                .entry(key(&position.fen))
                .or_insert((&position.fen, Vec::new()));
            group.1.push(position.ply);
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

/// The first four fields of a FEN, which are equal for equal positions. The en passant square must be one on which a
/// capture is legal.
fn key(fen: &str) -> &str {
    let end = fen.match_indices(' ').nth(3).map(|(at, _)| at);
    end.and_then(|end| fen.get(..end)).unwrap_or(fen)
}

fn placement(fen: &str) -> &str {
    fen.split(' ').next().unwrap_or_default()
}

fn differences(other: &str, claimed: &str) -> Vec<Difference> {
    let mut differences = Vec::new();
    if other.split(' ').nth(1) != claimed.split(' ').nth(1) {
        differences.push(Difference::Side);
    }
    if castling_text(other) != castling_text(claimed) {
        differences.push(Difference::Castling {
            had: castling_text(other).to_owned(),
        });
    }
    if en_passant_text(other) != en_passant_text(claimed) {
        differences.push(Difference::EnPassant {
            had: en_passant_text(other).map(str::to_owned),
        });
    }
    differences
}

/// Half-moves in fifty moves by each player (E23 9.3).
const FIFTY_MOVES: u32 = 100;
