//! The games of a round as they were last written, so that only changed games are written again.
//!
//! Most pairings of a large event are on no board. They have no texts of their own here, only their parts of the files of
//! the round. So thousands of them take little more memory than these files.

use core::ops::Range;
use std::collections::BTreeMap;

use axum::body::Bytes;
use kiebitz_game::events::pairing::EnteredResult;
use kiebitz_hardware::Timestamp;

use super::rounds::Slot;
use super::{Broadcast, tree, wall};
use crate::clock::ClockView;
use crate::outputs::broadcast::files::PublishedFile;
use crate::outputs::pgn;

#[derive(Debug, Default)]
pub(super) struct WrittenRound {
    /// `games.pgn` of the round.
    pub(super) pgn: Bytes,
    /// `wall.json` of the round: its head, and a card for each game. Empty if it is not made.
    pub(super) wall: Bytes,
    /// The games by table.
    games: BTreeMap<u32, WrittenGame>,
}

#[derive(Debug)]
struct WrittenGame {
    /// `None` for a pairing without a game and without a result that an arbiter has entered. Its content follows from
    /// pairings and facts alone.
    stamp: Option<Box<GameStamp>>,
    /// The part of `games.pgn` with the game; `None` if the game is left out.
    pgn: Option<Range<usize>>,
    /// The part of `wall.json` with the card; `None` if that file is not made.
    card: Option<Range<usize>>,
    /// The files of a game on a board.
    files: Option<Box<GameFiles>>,
}

/// Identifies the data from which the content of a game was made.
#[derive(Debug, PartialEq, Eq)]
struct GameStamp {
    game: Option<(String, u64)>,
    entered: Option<EnteredResult>,
    clock: Option<(ClockView, Timestamp)>,
}

/// The files of a game on a board, which most changes of the round leave as they are.
#[derive(Debug)]
pub(super) struct GameFiles {
    /// `game-M.json`.
    pub(super) json: PublishedFile,
    /// `board-M.json`, with the moves.
    pub(super) moves: PublishedFile,
}

/// Composes the two files of a round that contain all its games.
struct RoundWriter {
    pgn: Vec<u8>,
    /// `None` if only the PGN is wanted.
    wall: Option<Vec<u8>>,
}

impl RoundWriter {
    /// Begins the files. `before` has their last content, which has about the same size.
    fn begin(head: Option<&wall::Head>, before: &WrittenRound) -> Self {
        let wall = head.map(|head| {
            let mut wall = Vec::with_capacity(before.wall.len());
            wall.extend_from_slice(b"{\"head\":");
            wall.append(&mut serde_json::to_vec(head).unwrap_or_default());
            wall.extend_from_slice(b",\"games\":[");
            wall
        });
        Self {
            pgn: Vec::with_capacity(before.pgn.len()),
            wall,
        }
    }

    /// Adds a game. Returns its part of the file.
    fn add_pgn(&mut self, game: &[u8]) -> Range<usize> {
        if !self.pgn.is_empty() {
            self.pgn.push(b'\n');
        }
        append(&mut self.pgn, game)
    }

    /// Adds a card. Returns its part of the file, if the file is made.
    fn add_card(&mut self, card: &[u8]) -> Option<Range<usize>> {
        let wall = self.wall.as_mut()?;
        if !wall.ends_with(b"[") {
            wall.push(b',');
        }
        Some(append(wall, card))
    }

    /// Ends the files, without spare capacity.
    fn finish(self) -> (Bytes, Bytes) {
        let mut wall = self.wall.unwrap_or_default();
        if !wall.is_empty() {
            wall.extend_from_slice(b"]}");
        }
        let [pgn, wall] = [self.pgn, wall].map(|file| Bytes::from(file.into_boxed_slice()));
        (pgn, wall)
    }
}

fn append(file: &mut Vec<u8>, part: &[u8]) -> Range<usize> {
    let begin = file.len();
    file.extend_from_slice(part);
    begin..file.len()
}

impl WrittenRound {
    /// Returns the PGN of the game at a table; `None` if `games.pgn` leaves it out.
    pub(super) fn pgn_of(&self, table: u32) -> Option<&[u8]> {
        self.pgn.get(self.games.get(&table)?.pgn.clone()?)
    }

    /// Returns the PGN of the game at a table as a file, which is a part of `games.pgn`.
    pub(super) fn pgn_file_of(&self, table: u32) -> Option<PublishedFile> {
        Some(PublishedFile::of(self.pgn.slice_ref(self.pgn_of(table)?)))
    }

    /// Returns the files of the game at a table; `None` without a game on a board.
    pub(super) fn files_of(&self, table: u32) -> Option<&GameFiles> {
        self.games.get(&table)?.files.as_deref()
    }
}

impl Broadcast {
    /// Writes the games of a round. Copies those that have not changed since `before`. Without `head`, only the PGN is
    /// written.
    pub(super) fn write_round(
        &self,
        head: Option<&wall::Head>,
        slots: &[Slot<'_>],
        mut before: WrittenRound,
    ) -> WrittenRound {
        let is_whole = head.is_some();
        let mut writer = RoundWriter::begin(head, &before);
        let mut games = BTreeMap::new();
        for slot in slots {
            let stamp = self.stamp_of(slot);
            let known = before.games.remove(&slot.table);
            let game = match known.filter(|known| known.stamp == stamp) {
                Some(known) => WrittenGame {
                    pgn: { known.pgn }
                        .and_then(|part| before.pgn.get(part))
                        .map(|game| writer.add_pgn(game)),
                    card: { known.card }
                        .and_then(|part| before.wall.get(part))
                        .and_then(|card| writer.add_card(card)),
                    ..known
                },
                None => self.write_game(slot, stamp, is_whole, &mut writer),
            };
            games.insert(slot.table, game);
        }
        let (pgn, wall) = writer.finish();
        WrittenRound { pgn, wall, games }
    }

    fn stamp_of(&self, slot: &Slot<'_>) -> Option<Box<GameStamp>> {
        let is_known = slot.game.is_some() || slot.entered.is_some();
        is_known.then(|| {
            Box::new(GameStamp {
                game: { slot.game }.map(|game| (game.record.game.clone(), game.record.revision)),
                entered: slot.entered.cloned(),
                clock: slot.game.and_then(|game| self.clock_of(game)),
            })
        })
    }

    fn write_game(
        &self,
        slot: &Slot<'_>,
        stamp: Option<Box<GameStamp>>,
        is_whole: bool,
        writer: &mut RoundWriter,
    ) -> WrittenGame {
        let clock = slot.game.and_then(|game| self.clock_of(game));
        let pgn = self.pgn(self.tournament.rounds.get(&slot.round), slot);
        let drawn = self.unplayed_start();
        let start = pgn.is_some().then(|| drawn.as_deref().unwrap_or(pgn::STANDARD));
        let card = is_whole.then(|| wall::card(slot, start, clock));
        let files = slot.game.filter(|_| is_whole).map(|game| {
            Box::new(GameFiles {
                json: PublishedFile::new(self.json_of(slot)),
                moves: PublishedFile::new(wall::moves(&game.record)),
            })
        });
        WrittenGame {
            stamp,
            pgn: pgn.map(|game| writer.add_pgn(game.as_bytes())),
            card: card.and_then(|card| writer.add_card(card.as_bytes())),
            files,
        }
    }

    /// Returns the content of `game-M.json`.
    pub(super) fn json_of(&self, slot: &Slot<'_>) -> String {
        let clock = slot.game.and_then(|game| self.clock_of(game));
        tree::game(slot, clock, self.unplayed_number()).to_string()
    }
}
