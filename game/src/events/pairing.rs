//! Decides which game counts for a pairing of the tournament.

use core::time::Duration;
use std::collections::BTreeMap;

use kiebitz_hardware::Timestamp;

use super::{Decision, EndReason, Event, EventKind, GameResult, Players};

/// Author of the commands that come from pairing files.
pub const PAIRINGS: &str = "pairings";

/// Longest duration of a tournament. Its pairings ignore games that are older.
pub const EVENT_SPAN: Duration = Duration::from_secs(16 * 24 * 3600);

/// Fewest plies of a game without a result that counts for its pairing. Shorter games count as trials.
pub const MIN_PLIES: u32 = 10;

/// The pairing of one game according to its events: round and table, the time of that assignment, and the times during
/// which the game left the pairing to another game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairedGame {
    game: String,
    started: Timestamp,
    /// The interrupted game that this one continues after a gap.
    continues: Option<String>,
    /// The round according to the round times.
    scheduled: Option<u32>,
    round: Option<u32>,
    table: Option<u32>,
    assigned: Timestamp,
    /// Whether an arbiter assigned the round and table after the game had begun.
    by_arbiter: bool,
    /// Highest number of a published ply.
    plies: u32,
    ended: Option<(GameResult, EndReason)>,
    /// Start and end of each time during which the game was over without counting; the last one may be open-ended.
    uncounted: Vec<(Timestamp, Option<Timestamp>)>,
}

impl PairedGame {
    /// Creates the game that a `game.started` event starts; `None` for other events.
    #[must_use]
    pub fn begin(event: &Event) -> Option<Self> {
        let EventKind::GameStarted {
            continues,
            players,
            round,
            ..
        } = &event.kind
        else {
            return None;
        };
        let (paired, table) = place_of(players.as_ref());
        Some(Self {
            game: event.game.clone()?,
            started: event.ts,
            continues: continues.clone(),
            scheduled: *round,
            round: paired,
            table,
            assigned: event.ts,
            by_arbiter: false,
            plies: 0,
            ended: None,
            uncounted: Vec::new(),
        })
    }

    /// Applies the next event of the board. Events of other games have no effect.
    pub fn apply(&mut self, event: &Event) {
        if event.game.as_ref() != Some(&self.game) {
            return;
        }
        match &event.kind {
            EventKind::MoveMade(played) => self.plies = self.plies.max(played.ply),
            EventKind::GameEnded { result, reason, .. } => self.end(event.ts, Some((*result, *reason))),
            EventKind::GameResumed { .. } => self.end(event.ts, None),
            EventKind::GameAmended {
                by,
                result,
                reason,
                players,
                assigned,
                ..
            } => {
                if let Some(players) = players {
                    self.assign(event.ts, (by, *assigned), players);
                }
                if let Some(result) = result {
                    self.end(event.ts, reason.map(|reason| (*result, reason)));
                }
            }
            _ => {}
        }
    }

    /// Whether a ply of the game was published.
    #[must_use]
    pub const fn has_begun(&self) -> bool {
        self.plies > 0
    }

    /// Id of the game.
    #[must_use]
    pub fn game(&self) -> &str {
        &self.game
    }

    /// Round and table, each `None` while unknown.
    #[must_use]
    pub fn place(&self) -> (Option<u32>, Option<u32>) {
        (self.round.or(self.scheduled), self.table)
    }

    /// Result and reason; `None` while the game is in progress.
    #[must_use]
    pub const fn ended(&self) -> Option<(GameResult, EndReason)> {
        self.ended
    }

    /// Whether the game is over and counts for its pairing: it was neither broken off nor a mere trial.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.ended.is_some() && !self.leaves_open()
    }

    fn is_void_before_first_move(&self) -> bool {
        self.plies == 0 && self.ended.is_some_and(|(_, reason)| reason == EndReason::Void)
    }

    fn leaves_open(&self) -> bool {
        let mut ended = self.ended.into_iter();
        ended.any(|(result, reason)| leaves_open(result, reason, self.plies))
    }

    fn left_open_at(&self, at: Timestamp) -> bool {
        let mut uncounted = self.uncounted.iter();
        uncounted.any(|(from, until)| *from <= at && until.is_none_or(|until| at < until))
    }

    fn assign(&mut self, at: Timestamp, (by, assigned): (&str, bool), players: &Players) {
        let place = place_of(Some(players));
        if assigned || place != (self.round, self.table) {
            (self.round, self.table) = place;
            self.assigned = at;
            self.by_arbiter = by != PAIRINGS;
        }
    }

    fn end(&mut self, at: Timestamp, ended: Option<(GameResult, EndReason)>) {
        self.ended = ended;
        let was_open = self.uncounted.last().is_some_and(|(_, until)| until.is_none());
        match (was_open, self.leaves_open()) {
            (false, true) => self.uncounted.push((at, None)),
            (true, false) => {
                if let Some((_, until)) = self.uncounted.last_mut() {
                    *until = Some(at);
                }
            }
            _ => {}
        }
    }
}

/// Selects the game that counts for a pairing among all games with its round and table.
///
/// The first game counts. Another game replaces it only if an arbiter decides so, if it continues the first one after a
/// gap, or if the first one was over without counting when the other got the round and table. The choice follows from
/// the events of the games alone, so a restart does not change it.
pub fn counting<'g, G>(games: impl IntoIterator<Item = &'g G>) -> Option<&'g G>
where
    G: AsRef<PairedGame>,
{
    let mut games: Vec<&G> = games.into_iter().collect();
    games.sort_by_key(|game| {
        let game = (*game).as_ref();
        (game.assigned, game.started, game.game.clone())
    });
    games.into_iter().reduce(|before, game| {
        let (held, next) = (before.as_ref(), game.as_ref());
        let continues = next.continues.as_ref() == Some(&held.game);
        let replaces = next.by_arbiter || continues || held.left_open_at(next.assigned);
        if replaces && !next.is_void_before_first_move() {
            game
        } else {
            before
        }
    })
}

/// Result that an arbiter entered for a pairing that no board has a game for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnteredResult {
    /// Author and time of the entry.
    pub decided: Decision,
    /// Result; [`GameResult::Unknown`] if the arbiter withdrew it.
    pub result: GameResult,
    /// Reason of the result.
    pub reason: EndReason,
}

/// The latest entered result of each pairing, by round and table: a projection of the events of all boards.
///
/// The entries of one pairing may be in the streams of several boards, so their times decide which one is the latest.
/// The order in which the boards are read does not matter.
#[derive(Debug, Default)]
pub struct TableResults(BTreeMap<(u32, u32), EnteredResult>);

impl TableResults {
    /// Applies an event. Returns the round of the entered result, if the event is one.
    pub fn apply(&mut self, event: &Event) -> Option<u32> {
        let EventKind::TableResult {
            round,
            table,
            result,
            reason,
            ref by,
        } = event.kind
        else {
            return None;
        };
        let last = self.0.get(&(round, table));
        if last.is_none_or(|last| last.decided.at <= event.ts) {
            let decided = Decision {
                by: by.clone(),
                at: event.ts,
            };
            let entered = EnteredResult {
                decided,
                result,
                reason,
            };
            self.0.insert((round, table), entered);
        }
        Some(round)
    }

    /// The current result of a pairing; `None` if none was entered or it was withdrawn.
    #[must_use]
    pub fn get(&self, round: u32, table: u32) -> Option<&EnteredResult> {
        let entered = self.0.get(&(round, table));
        entered.filter(|entered| entered.result != GameResult::Unknown)
    }
}

/// Whether a game with this end leaves its pairing open for another game, because it does not count itself.
#[must_use]
pub fn leaves_open(result: GameResult, reason: EndReason, plies: u32) -> bool {
    match reason {
        EndReason::Void | EndReason::Gap | EndReason::Adjourned => true,
        _ => result == GameResult::Unknown && plies < MIN_PLIES,
    }
}

/// The last game on a board that counts for a pairing, the current game excluded: a projection of the board's events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LastPaired {
    counting: Option<CountingGame>,
    last: Option<(PairedGame, Option<Players>)>,
}

/// A game that counts for a pairing, with its players.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountingGame {
    /// Id of the game.
    pub game: String,
    /// The players, with known round and table.
    pub players: Players,
    /// Whether the game has a result. A game may be over without one.
    pub has_result: bool,
}

impl LastPaired {
    /// Applies the board's next event.
    pub fn apply(&mut self, event: &Event) {
        if let Some(begun) = PairedGame::begin(event) {
            let players = match &event.kind {
                EventKind::GameStarted { players, .. } => players.clone(),
                _ => None,
            };
            if let Some((game, players)) = self.last.replace((begun, players)) {
                let ended = game.ended.filter(|_| game.counts());
                let counting = CountingGame::of(&game.game, players, ended.map(|(result, _)| result));
                self.counting = counting.or_else(|| self.counting.take());
            }
        }
        if let Some(counting) = &mut self.counting
            && event.game.as_ref() == Some(&counting.game)
            && let EventKind::GameAmended { players, result, .. } = &event.kind
        {
            if let Some(named) = players {
                counting.players.clone_from(named);
            }
            if let Some(result) = result {
                counting.has_result = *result != GameResult::Unknown;
            }
        }
        let Some((game, players)) = self
            .last
            .as_mut()
            .filter(|(game, _)| Some(&game.game) == event.game.as_ref())
        else {
            return;
        };
        game.apply(event);
        if let EventKind::GameAmended {
            players: Some(named), ..
        } = &event.kind
        {
            *players = Some(named.clone());
        }
    }

    /// Returns the game; `None` if no game before the current one counts for a pairing.
    #[must_use]
    pub fn into_game(self) -> Option<CountingGame> {
        self.counting
    }
}

impl CountingGame {
    /// Creates the game; `None` if it does not count for a pairing. `result` is `None` unless the game is over and
    /// counts.
    #[must_use]
    pub fn of(game: &str, players: Option<Players>, result: Option<GameResult>) -> Option<Self> {
        let result = result?;
        let players = players.filter(|players| players.round.is_some() && players.table.is_some())?;
        Some(Self {
            game: game.to_owned(),
            players,
            has_result: result != GameResult::Unknown,
        })
    }
}

impl AsRef<Self> for PairedGame {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// Round and table of a pairing, each `None` while unknown.
pub(crate) fn place_of(players: Option<&Players>) -> (Option<u32>, Option<u32>) {
    players
        .map(|players| (players.round, players.table))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::DecidedBy;
    use crate::events::samples::{event, ply, started};
    use crate::position::Variant;

    const PLACE: (Option<u32>, Option<u32>) = (Some(2), Some(7));

    fn at(second: i64) -> Timestamp {
        Timestamp::from_micros((1_789_000_000 + second) * 1_000_000)
    }

    fn players((round, table): (Option<u32>, Option<u32>)) -> Players {
        Players {
            round,
            table,
            ..Players::default()
        }
    }

    fn of_game(id: &str, second: i64, kind: EventKind) -> Event {
        Event {
            ts: at(second),
            game: Some(id.to_owned()),
            ..event(1, kind)
        }
    }

    /// A game of `plies` plies that begins at `second` with the round and table in `place`.
    fn game(id: &str, second: i64, place: (Option<u32>, Option<u32>), plies: u32) -> PairedGame {
        let mut kind = started("start", Variant::Standard);
        if let EventKind::GameStarted { players: named, .. } = &mut kind {
            *named = Some(players(place));
        }
        let mut game = PairedGame::begin(&of_game(id, second, kind)).expect("a game");
        for number in 1..=plies {
            game.apply(&of_game(
                id,
                second + 1,
                EventKind::MoveMade(ply(number, "e2e4", "e4")),
            ));
        }
        game
    }

    fn ends(game: &mut PairedGame, second: i64, result: GameResult, reason: EndReason) {
        let kind = EventKind::GameEnded {
            result,
            reason,
            by: DecidedBy::Board,
            confirmed: false,
            end_certain: true,
            decided_by: None,
        };
        game.apply(&of_game(&game.game.clone(), second, kind));
    }

    fn amended(
        game: &mut PairedGame,
        second: i64,
        by: &str,
        place: Option<(Option<u32>, Option<u32>)>,
        result: Option<(GameResult, EndReason)>,
    ) {
        let kind = EventKind::GameAmended {
            by: by.to_owned(),
            result: result.map(|(result, _)| result),
            reason: result.map(|(_, reason)| reason),
            players: place.map(players),
            time_control: None,
            time_control_typed: None,
            mode: None,
            moves: None,
            position: None,
            note: None,
            assigned: false,
        };
        game.apply(&of_game(&game.game.clone(), second, kind));
    }

    fn chosen(games: &[&PairedGame]) -> String {
        let forward = counting(games.iter().copied()).map(|game| game.game.clone());
        let backward = counting(games.iter().rev().copied()).map(|game| game.game.clone());
        assert_eq!(
            forward, backward,
            "the order in which games are known does not matter"
        );
        forward.unwrap_or_default()
    }

    #[test]
    fn a_second_game_does_not_take_the_place_of_the_first() {
        let mut first = game("a", 0, PLACE, 18);
        ends(&mut first, 50, GameResult::Unknown, EndReason::Reset);
        assert!(first.counts());
        let second = game("b", 100, PLACE, 40);
        assert_eq!(chosen(&[&first, &second]), "a");
        let named_later = {
            let mut game = game("c", 100, (None, None), 40);
            amended(&mut game, 120, PAIRINGS, Some(PLACE), None);
            game
        };
        assert_eq!(chosen(&[&first, &named_later]), "a");
    }

    #[test]
    fn an_arbiter_can_make_another_game_count() {
        let mut first = game("a", 0, PLACE, 18);
        ends(&mut first, 50, GameResult::WhiteWins, EndReason::Kings);
        let mut second = game("b", 100, (None, None), 40);
        amended(&mut second, 120, "A. Meier", Some(PLACE), None);
        assert_eq!(chosen(&[&first, &second]), "b");
        // Correcting the names of the first game does not make it count again.
        amended(&mut first, 200, "A. Meier", Some(PLACE), None);
        assert_eq!(chosen(&[&first, &second]), "b");
        amended(&mut second, 300, "A. Meier", Some((None, None)), None);
        let of_pairing: Vec<&PairedGame> = [&first, &second]
            .into_iter()
            .filter(|game| game.place() == PLACE)
            .collect();
        assert_eq!(chosen(&of_pairing), "a");
    }

    #[test]
    fn a_broken_off_or_trial_game_leaves_its_pairing_to_the_next() {
        for (plies, result, reason) in [
            (4, GameResult::Unknown, EndReason::Reset),
            (40, GameResult::Unknown, EndReason::Void),
            (40, GameResult::Unknown, EndReason::Gap),
            (40, GameResult::Unknown, EndReason::Adjourned),
        ] {
            let mut first = game("a", 0, PLACE, plies);
            ends(&mut first, 50, result, reason);
            let second = game("b", 100, PLACE, 0);
            assert_eq!(chosen(&[&first, &second]), "b", "{reason}");
        }
        let first = game("a", 0, PLACE, 40);
        let mut void_game = game("b", 100, PLACE, 0);
        ends(&mut void_game, 110, GameResult::Unknown, EndReason::Void);
        assert_eq!(chosen(&[&first, &void_game]), "a");
    }

    /// An assignment made when the second game began is final.
    #[test]
    fn a_later_result_does_not_reassign_the_pairing() {
        let mut first = game("a", 0, PLACE, 6);
        ends(&mut first, 50, GameResult::Unknown, EndReason::Reset);
        let win = Some((GameResult::WhiteWins, EndReason::Resignation));
        let second = game("b", 100, PLACE, 30);
        let mut late = first.clone();
        amended(&mut late, 150, "A. Meier", None, win);
        assert_eq!(chosen(&[&late, &second]), "b");
        amended(&mut first, 70, "A. Meier", None, win);
        assert_eq!(chosen(&[&first, &second]), "a", "it had its result before");
    }
}
