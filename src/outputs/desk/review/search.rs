//! Search among past games.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use kiebitz_game::events::GameResult;
use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ReviewRefusal, StillWanted};
use crate::kept::{KeptGame, KeptGames, Listed};
use crate::system_time::local_zone;

/// Search terms; all games if they are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Search {
    /// Words, all of which occur in the players' names, the board's name or the game's id.
    text: String,
    /// Day on which the game began, in local time.
    date: String,
    round: String,
    /// If set, only games with this kind of notice.
    notice: Option<Notice>,
    /// Game after which the list continues; `None` for the first page.
    after: Option<String>,
}

/// Reason to review a game.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Notice {
    /// The game had violations or advice.
    Incidents,
    /// The result is unknown or not confirmed.
    Result,
}

/// A page of the games found, the newest first.
#[derive(Debug, Serialize)]
pub(super) struct FoundGames {
    games: Vec<Listed>,
    /// Game after which the next page begins; `None` on the last page.
    more: Option<String>,
}

/// Maximum number of games on a page.
const PAGE: usize = 100;
/// Maximum number of games examined for one request. Each takes about a millisecond.
const MAX_EXAMINED: usize = 500;

impl Search {
    /// Runs the search, from the newest game to the oldest. A page is shorter if the search reaches [`MAX_EXAMINED`].
    pub(super) fn of(&self, kept: &KeptGames, wanted: &StillWanted) -> Result<FoundGames, ReviewRefusal> {
        let words = self.words();
        let date = match self.date.trim() {
            "" => None,
            date => Some(
                date.parse()
                    .map_err(|_| ReviewRefusal::Nonsense("expected a date such as 2026-11-21"))?,
            ),
        };
        let round: Option<u32> = match self.round.trim() {
            "" => None,
            round => Some(
                round
                    .parse()
                    .map_err(|_| ReviewRefusal::Nonsense("expected the number of a round"))?,
            ),
        };
        let zone = local_zone();
        let mut found = FoundGames {
            games: Vec::new(),
            more: None,
        };
        let mut examined = 0;
        for game in self.rest(kept.all()?) {
            if date.is_some_and(|date| day(game.entry.started, &zone) != Some(date)) {
                continue;
            }
            let id = game.entry.game.clone();
            examined += 1;
            let listed = Listed::of(&game, &kept.events(&game)?);
            found.games.extend(listed.filter(|listed| {
                round.is_none_or(|round| listed.round == Some(round))
                    && words.iter().all(|word| contains_word(listed, word))
                    && self.notice.is_none_or(|notice| notice.is_due(listed))
            }));
            if found.games.len() >= PAGE || examined >= MAX_EXAMINED || !wanted.is_wanted() {
                found.more = Some(id);
                break;
            }
        }
        Ok(found)
    }

    fn words(&self) -> Vec<String> {
        self.text.split_whitespace().map(str::to_lowercase).collect()
    }

    /// The games after `self.after` in the list, the newest first.
    fn rest(&self, mut all: Vec<KeptGame>) -> impl Iterator<Item = KeptGame> {
        let known = self.after.as_ref();
        let end = known.and_then(|after| all.iter().position(|game| game.entry.game == *after));
        all.truncate(end.unwrap_or(all.len()));
        all.into_iter().rev()
    }
}

impl Notice {
    const fn is_due(self, game: &Listed) -> bool {
        match self {
            Self::Incidents => game.violations + game.advice > 0,
            Self::Result => matches!(game.result, GameResult::Unknown) || !game.confirmed,
        }
    }
}

/// Whether a word occurs in the players' names, the game's id or the board's name.
fn contains_word(game: &Listed, word: &str) -> bool {
    let names = [Some(&game.game), Some(&game.board)];
    let mut names = names.into_iter().flatten();
    game.is_of(word) || names.any(|name| name.to_lowercase().contains(word))
}

fn day(at: Timestamp, zone: &TimeZone) -> Option<Date> {
    let at = jiff::Timestamp::from_microsecond(at.as_micros()).ok()?;
    Some(at.to_zoned(zone.clone()).date())
}
