//! Link previews: `round-N/board-M.html` and `.png` for each game, and the tags of the main page.

use std::collections::BTreeMap;

use kiebitz_game::events::{GameResult, Players};
use shakmaty::Color;

use super::rounds::Slot;
use super::{Broadcast, wall};
use crate::outputs::broadcast::files::{Files, PublishedFile};
use crate::outputs::broadcast::page;
use crate::outputs::broadcast::preview::{self, Preview};
use crate::outputs::pgn;

/// Number of plies after which a game in progress gets a new picture. Sites keep the first picture that they fetch, so
/// a picture after each ply would be wasted effort.
const PLIES_PER_PICTURE: usize = 10;

#[derive(Debug)]
pub(super) struct Picture {
    position: (String, Option<String>),
    png: PublishedFile,
}

impl Broadcast {
    /// Adds the pages and pictures of a round's games on boards.
    pub(super) fn put_previews(
        &self,
        slots: &[Slot<'_>],
        files: &mut Files,
        pictures: &mut BTreeMap<(u32, u32), Picture>,
    ) {
        let Some(address) = self.address.as_ref().filter(|_| !self.page.is_empty()) else {
            return;
        };
        for (nth, slot) in (1..).zip(slots) {
            let Some(position) = position(slot) else { continue };
            let path = format!("round-{}/board-{nth}", slot.round);
            let key = (slot.round, slot.table);
            let picture = pictures
                .remove(&key)
                .filter(|picture| picture.position == position)
                .unwrap_or_else(|| Picture {
                    png: PublishedFile::new(preview::picture(&position.0, position.1.as_deref())),
                    position,
                });
            let [url, png] = ["html", "png"].map(|end| format!("{address}/{path}.{end}"));
            let name = self.name().unwrap_or("kiebitz");
            let round = format!("{}.{}", slot.round, slot.table);
            let facts = [Some(name), self.site(), Some(&*round)];
            let page = Preview {
                title: &title(slot.players().as_ref(), slot.result()),
                description: &facts.into_iter().flatten().collect::<Vec<_>>().join(" · "),
                site: name,
                url: &url,
                picture: Some(&png),
            };
            let target = format!("../index.html#/round/{}/board/{}", slot.round, slot.table);
            files.insert(
                format!("{path}.html").into(),
                PublishedFile::new(page.page(&target)),
            );
            files.insert(format!("{path}.png").into(), picture.png.clone());
            pictures.insert(key, picture);
        }
    }

    /// Adds the tags for previews to the page, with the picture of the first board of the current round.
    pub(super) fn put_preview_of_page(&self, rounds: &BTreeMap<u32, Vec<Slot<'_>>>, files: &mut Files) {
        let (Some(address), Some(index)) = (&self.address, files.get(page::INDEX)) else {
            return;
        };
        let current = wall::current(rounds.iter().map(|(round, slots)| (*round, slots.as_slice())));
        let slots = current.and_then(|round| rounds.get(&round)).into_iter().flatten();
        let first = (1..).zip(slots).find(|(_, slot)| slot.game.is_some());
        let picture = first.map(|(nth, slot)| format!("{address}/round-{}/board-{nth}.png", slot.round));
        let name = self.name().unwrap_or("kiebitz");
        let tags = Preview {
            title: name,
            description: self.site().unwrap_or(name),
            site: name,
            url: &format!("{address}/"),
            picture: picture.as_deref(),
        };
        let text = String::from_utf8_lossy(&index.content);
        let tagged = text.replacen("</head>", &format!("{}</head>", tags.tags().into_string()), 1);
        files.insert(page::INDEX.into(), PublishedFile::new(tagged));
    }
}

/// Returns the placement that the picture of a game shows, and the last move in UCI. `None` if no board has the game.
fn position(slot: &Slot<'_>) -> Option<(String, Option<String>)> {
    let record = &slot.game?.record;
    let moves = pgn::regular_moves(record);
    let is_over = record.ended.is_some();
    let ply_count = if is_over {
        moves.len()
    } else {
        moves.len() / PLIES_PER_PICTURE * PLIES_PER_PICTURE
    };
    let last = ply_count.checked_sub(1).and_then(|last| moves.get(last));
    let fen = last.map_or(&record.start_fen, |entry| &entry.fen);
    Some((
        wall::placement(fen).to_owned(),
        last.and_then(|entry| entry.uci.clone()),
    ))
}

/// Returns the players with the result, as in "Adler, Jonas 1–0 Berg, Ines".
fn title(players: Option<&Players>, result: GameResult) -> String {
    let name = |color: Color| players.and_then(|players| players.name(color)).unwrap_or("?");
    let result = match result {
        GameResult::Unknown => "–".to_owned(),
        known => known.as_str().replace("1/2", "½").replace('-', "–"),
    };
    format!("{} {result} {}", name(Color::White), name(Color::Black))
}
