//! The game as single values, each as plain text on its own topic: for displays, lamps, and people who read the topics
//! directly.

use std::sync::Arc;

use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{GameResult, Players};

use super::message::Message;
use super::topics::BriefTopics;
use crate::outputs::shared::numbering::Numbering;

/// Publishes each value when it changes. An empty message stands for a missing value and clears the retained one.
#[derive(Debug)]
pub(crate) struct Brief {
    topics: [Arc<str>; VALUES],
    published: Option<[String; VALUES]>,
}

/// Number of values: last move, turn, result, White, Black.
const VALUES: usize = 5;

impl Brief {
    pub(crate) fn new(topics: &BriefTopics) -> Self {
        let [last_move, turn, result, white, black] = topics.all().map(Into::into);
        Self {
            topics: [last_move, turn, result, white, black],
            published: None,
        }
    }

    pub(crate) fn topics(&self) -> impl Iterator<Item = &Arc<str>> {
        self.topics.iter()
    }

    /// The messages for values that have changed. `next` are the players of the next game, if announced.
    pub(crate) fn messages(&mut self, game: Option<&GameRecord>, next: Option<&Players>) -> Vec<Message> {
        let values = values(game, next);
        let before = self.published.as_ref();
        let is_new = |nth: usize| before.is_none_or(|before| before[nth] != values[nth]);
        let new = (0..VALUES).filter(|nth| is_new(*nth));
        let messages = new.map(|nth| Message::text(&self.topics[nth], values[nth].clone()));
        let messages = messages.collect();
        self.published = Some(values);
        messages
    }

    /// Treats all values as empty, after their topics were cleared.
    pub(crate) fn forget(&mut self) {
        self.published = Some(Default::default());
    }
}

fn values(game: Option<&GameRecord>, next: Option<&Players>) -> [String; VALUES] {
    // The result of the last game would be misread as that of the next players.
    let game = game.filter(|game| game.ended.is_none() || next.is_none());
    let players = next.or_else(|| game.and_then(|game| game.players.as_ref()));
    let name = |name: Option<&String>| name.cloned().unwrap_or_default();
    let white = name(players.and_then(|players| players.white.as_ref()));
    let black = name(players.and_then(|players| players.black.as_ref()));
    let Some(game) = game else {
        return [String::new(), String::new(), String::new(), white, black];
    };
    let last_move = game.moves.last().map(|entry| {
        let played = entry.san.as_deref().or(entry.uci.as_deref()).unwrap_or("?");
        Numbering::of(&game.start_fen).name(entry.ply, played)
    });
    let turn = match game.fen.split(' ').nth(1) {
        _ if game.ended.is_some() => "",
        Some("b") => "black",
        _ => "white",
    };
    let result = match game.ended {
        Some(_) => game.result,
        None => GameResult::Unknown,
    };
    [
        last_move.unwrap_or_default(),
        turn.to_owned(),
        result.to_string(),
        white,
        black,
    ]
}
