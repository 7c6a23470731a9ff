//! Reads pairings from PGN, from exports of pairing programs as well as whole games. Only the tags are read.
//!
//! The tag Round is "3.7" for table 7 of round 3, "3" with the table in Board, or "3.2.1" for the first board of the
//! second match; see `games.rs` for the numbering of tables.

mod tags;

use kiebitz_game::events::PlayerFacts;

use super::doubt::{DoubtKind, Doubts, FileError};
use super::games::{self, ListedPairing};
use super::values::{self, ImplausibleValue};
use super::{Pairing, Player, ReadError, Tournament, UnplayedRound, names};
use tags::Tag;
pub(super) use tags::is_tag_line;

/// Reads the pairings of a file. Pairings without a round number belong to the round `assumed`.
pub(super) fn read(text: String, assumed: u32, doubts: &mut Doubts) -> Result<Tournament, ReadError> {
    let place = doubts.place(1, 1);
    let mut tournament = Tournament::default();
    let mut events = EventNames::default();
    let mut games: Vec<ListedPairing> = Vec::new();
    tags::games(&text, doubts, |tags, doubts| {
        let given = |name| value(tags, name).map(str::to_owned);
        tournament.name = tournament.name.take().or_else(|| given("event"));
        tournament.site = tournament.site.take().or_else(|| given("site"));
        events.report_second(tags, doubts);
        games.extend(game(tags, doubts));
    })?;
    drop(text);
    if games.is_empty() {
        return Err(FileError::Nothing("pairing with White and Black").at(&place.file, 1, 1));
    }
    tournament.rounds = games::rounds(games, assumed, doubts)?;
    Ok(tournament)
}

/// Names of events in a file, which should all be the same.
#[derive(Debug, Default)]
struct EventNames {
    first: Option<String>,
    is_reported: bool,
}

impl EventNames {
    /// Reports the first game of another event than that of the first game.
    fn report_second(&mut self, game: &[Tag], doubts: &mut Doubts) {
        let Some(tag) = tag(game, "event") else { return };
        let first = self.first.get_or_insert_with(|| tag.value.clone());
        if self.is_reported || *first == tag.value || names::key(first) == names::key(&tag.value) {
            return;
        }
        self.is_reported = true;
        let text = format!(
            "the file has games of two events, {first:?} and {:?}, which are read as one event: if they are \
             different events, use a file for each",
            tag.value
        );
        doubts.note(DoubtKind::Contradiction, (tag.line, tag.column), text);
    }
}

fn game(tags: &[Tag], doubts: &mut Doubts) -> Option<ListedPairing> {
    let first = tags.first()?;
    let place = (first.line, first.column);
    let (white, black) = (player(tags, "white", doubts), player(tags, "black", doubts));
    let missing = ["white", "black"]
        .into_iter()
        .filter(|side| tag(tags, side).is_none());
    for side in missing {
        doubts.lost(
            DoubtKind::Unclear,
            place,
            format!("the game that begins here has no tag for {side}'s name: add it"),
        );
    }
    if white.is_none() && black.is_none() {
        if tag(tags, "white").is_some() {
            doubts.note(
                DoubtKind::Bye,
                place,
                "this pairing has no players, and is left out",
            );
        }
        return None;
    }
    let at = ["white", "black"].into_iter().find_map(|side| tag(tags, side));
    let at = at.map_or(place, |tag| (tag.line, tag.column));
    let is_played = white.is_some() && black.is_some();
    let pairing = Pairing {
        table: None,
        hall: value(tags, "hall").map(str::to_owned),
        board: None,
        white,
        black,
        result: read_value(tags, "result", doubts, DoubtKind::Value, values::result).flatten(),
        unplayed: tag(tags, "result")
            .filter(|tag| is_played && values::is_forfeit(&tag.value))
            .map(|_| UnplayedRound::Forfeit),
        place: doubts.place(at.0, at.1),
    };
    let round = read_value(tags, "round", doubts, DoubtKind::Round, values::round);
    let boards = ["board", "table"]
        .into_iter()
        .find(|name| value(tags, name).is_some());
    let board = boards.and_then(|name| read_value(tags, name, doubts, DoubtKind::Table, values::table));
    let mut numbers = round.unwrap_or_default().into_iter();
    let (round, mut within): (_, Vec<u32>) = (numbers.next(), numbers.collect());
    let board = board.unwrap_or_default();
    // A Board tag such as "2.1" is the match and the board in the match.
    if board.len() == 2 && within.is_empty() {
        within.clone_from(&board);
    }
    Some(ListedPairing {
        round,
        within,
        board: if board.len() == 1 {
            board.first().copied()
        } else {
            None
        },
        pairing: Box::new(pairing),
        date: value(tags, "date").and_then(values::date),
        time_control: tag(tags, "timecontrol")
            .and_then(|tag| values::time_control(&tag.value))
            .map(str::to_owned),
    })
}

/// Reads the player of a side, "white" or "black". Returns `None` if the tag is missing or stands for a bye.
fn player(tags: &[Tag], side: &str, doubts: &mut Doubts) -> Option<Player> {
    let name = tag(tags, side)?;
    if names::is_nobody(&name.value) {
        return None;
    }
    let (bare, title) = names::without_title(name.value.trim());
    let name_of = |words: &[&str]| {
        let mut names = words.iter().map(|word| format!("{side}{word}"));
        names.find(|name| value(tags, name).is_some()).unwrap_or_default()
    };
    let text = |words: &[&str]| value(tags, &name_of(words)).map(str::to_owned);
    let id = read_value(
        tags,
        &name_of(FIDE_ID),
        doubts,
        DoubtKind::FideId,
        values::fide_id,
    )
    .flatten();
    if let Some((_, Some(problem))) = &id
        && let Some(tag) = tag(tags, &name_of(FIDE_ID))
    {
        doubts.note(DoubtKind::FideId, (tag.line, tag.column), problem.to_string());
    }
    let rating = read_value(tags, &name_of(RATING), doubts, DoubtKind::Value, values::rating);
    Some(Player {
        name: doubts.name(bare, (name.line, name.column)),
        facts: PlayerFacts {
            fide_id: id.map(|(id, _)| id),
            title: text(TITLE).as_deref().or(title).and_then(values::title),
            rating: rating.flatten(),
            federation: text(FEDERATION),
            team: text(TEAM),
        },
        place: doubts.place(name.line, name.column),
    })
}

/// Parses the value of a tag and reports errors: for ratings and results as information only, for other values as lost
/// data.
fn read_value<T>(
    tags: &[Tag],
    name: &str,
    doubts: &mut Doubts,
    about: DoubtKind,
    read: impl Fn(&str) -> Result<T, ImplausibleValue>,
) -> Option<T> {
    let tag = tag(tags, name)?;
    match read(&tag.value) {
        Ok(value) => Some(value),
        Err(problem) => {
            let place = (tag.line, tag.column);
            match about {
                DoubtKind::Value => doubts.note(about, place, problem.to_string()),
                _ => doubts.lost(about, place, problem.to_string()),
            }
            None
        }
    }
}

fn tag<'t>(tags: &'t [Tag], name: &str) -> Option<&'t Tag> {
    tags.iter().find(|tag| tag.name == name)
}

/// Returns the value of a tag, unless it is a placeholder such as "?".
fn value<'t>(tags: &'t [Tag], name: &str) -> Option<&'t str> {
    tag(tags, name).and_then(|tag| values::known(&tag.value))
}

/// Names of tags, without the side at the beginning.
const FIDE_ID: &[&str] = &["fideid", "fide", "fidenumber"];
const TITLE: &[&str] = &["title", "fidetitle"];
const RATING: &[&str] = &["elo", "fideelo", "rating", "fiderating"];
const FEDERATION: &[&str] = &["fed", "federation", "fidefed", "country", "nation", "fidecountry"];
const TEAM: &[&str] = &["team", "teamname"];

#[cfg(test)]
mod tests;
