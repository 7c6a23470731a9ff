//! All tables of each round with their results: as entered by arbiters, as seen on the boards, and as in the pairing
//! files.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kiebitz_game::command::{SetResult, StartRound};
use kiebitz_game::events::pairing::{PAIRINGS, PairedGame, TableResults, counting};
use kiebitz_game::events::{
    Action, Bye, DecidedBy, Decision, EndReason, Event, EventKind, GameResult, Players, rfc3339,
    rfc3339_option,
};
use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::tournament::{Byes, Pairing, Round, Tournament};

/// The rounds of the event, and the parts that were sent to pages.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    tournament: Arc<Tournament>,
    games: BTreeMap<String, RoundGame>,
    entered: TableResults,
    byes: Byes,
    /// Last entry about a signed score sheet, by round and table.
    signatures: BTreeMap<(u32, u32), Signature>,
    starts: BTreeMap<u32, RoundStart>,
    /// Rounds that may differ from `sent`.
    changed: BTreeSet<u32>,
    sent: BTreeMap<u32, SentRound>,
}

/// A round that was sent to pages, as JSON text. Parsed, the tables of a large event would take some 50 MB.
#[derive(Debug)]
struct SentRound {
    begun: Option<Timestamp>,
    tables: BTreeMap<u32, Box<RawValue>>,
    byes: Box<RawValue>,
    others: Box<RawValue>,
}

/// The parts of a round that have changed.
#[derive(Debug, Serialize)]
struct RoundUpdate<'r> {
    round: u32,
    #[serde(serialize_with = "rfc3339_option")]
    begun: Option<Timestamp>,
    tables: Vec<&'r RawValue>,
    /// Numbers of the tables that are gone.
    without: Vec<u32>,
    /// `None` if they have not changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    byes: Option<&'r RawValue>,
    others: &'r RawValue,
}

/// A game of a board, without its moves.
#[derive(Debug)]
struct RoundGame {
    paired: PairedGame,
    board: String,
    players: Option<Players>,
    started: Timestamp,
    ended: Option<Timestamp>,
    /// Whether the result is final; false if only the board has shown it.
    confirmed: bool,
    decided: Option<Decision>,
    /// The end as seen on the board, regardless of later decisions; `None` if the board has not seen one.
    seen: Option<SeenEnd>,
}

/// End of a game according to the board or the Laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct SeenEnd {
    result: Option<GameResult>,
    reason: EndReason,
    #[serde(serialize_with = "rfc3339")]
    at: Timestamp,
}

/// An arbiter's entry that both players have signed the score sheet with this result.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Signature {
    result: GameResult,
    /// False if the entry was withdrawn.
    is_valid: bool,
    decided: Decision,
}

/// Times at which a round was started by commands.
#[derive(Debug, Clone, Copy)]
struct RoundStart {
    begun: Timestamp,
    /// Latest of these times.
    last: Timestamp,
}

/// Maximum interval between start commands on several boards that belong to the same start of a round. A later command
/// starts the round again.
const SAME_START: Duration = Duration::from_secs(3600);

/// A round as sent to pages.
#[derive(Debug, Serialize)]
struct RoundView<'r> {
    round: u32,
    #[serde(serialize_with = "rfc3339_option")]
    begun: Option<Timestamp>,
    tables: Vec<TableView<'r>>,
    /// Players without an opponent.
    byes: Vec<ByeView<'r>>,
    /// Pairings of two players without a table, which cannot get a result here.
    others: Vec<OtherView<'r>>,
}

#[derive(Debug, Serialize)]
struct TableView<'r> {
    table: u32,
    white: Option<&'r str>,
    black: Option<&'r str>,
    /// `None` while the result is missing.
    result: Option<GameResult>,
    reason: Option<EndReason>,
    /// Whether the result is final; false if only the board has shown it.
    confirmed: bool,
    /// Arbiter who entered the result, and when; `None` if no arbiter did.
    decided: Option<&'r Decision>,
    game: Option<&'r str>,
    board: Option<&'r str>,
    /// Whether a move was made.
    played: bool,
    /// Whether the game is over, with or without a result. A trial, a void game and an adjourned one are not.
    over: bool,
    #[serde(serialize_with = "rfc3339_option")]
    ended: Option<Timestamp>,
    seen: Option<SeenEnd>,
    signed: Option<&'r Decision>,
}

/// A player without an opponent in a round.
#[derive(Debug, Serialize)]
struct ByeView<'r> {
    player: &'r str,
    /// Points, as entered or else as in the pairing file; `None` if there are none.
    points: Option<Bye>,
    /// Whether the pairing file lists the player without an opponent. Otherwise the player is not paired.
    listed: bool,
    /// Arbiter who entered the points, and when; `None` if they are those of the file.
    decided: Option<&'r Decision>,
}

/// Two players without a table.
#[derive(Debug, Serialize)]
struct OtherView<'r> {
    white: Option<&'r str>,
    black: Option<&'r str>,
    result: Option<GameResult>,
}

impl Rounds {
    pub(super) fn set_pairings(&mut self, tournament: Arc<Tournament>) {
        let rounds = self.tournament.rounds.keys().chain(tournament.rounds.keys());
        self.changed.extend(rounds);
        self.tournament = tournament;
    }

    pub(super) fn apply(&mut self, event: &Event) {
        self.changed.extend(self.entered.apply(event));
        self.changed.extend(self.byes.apply(event));
        match &event.kind {
            EventKind::CommandTaken {
                action,
                arguments,
                by,
                error: None,
                ..
            } => self.take_command(event.ts, *action, by, arguments),
            EventKind::GameStarted { .. } => {
                if let Some(game) = RoundGame::begin(event) {
                    self.changed.extend(game.paired.place().0);
                    self.games.insert(game.paired.game().to_owned(), game);
                }
            }
            _ => {}
        }
        let game = event.game.as_ref().and_then(|game| self.games.get_mut(game));
        if let Some(game) = game {
            let before = (game.paired.place().0, game.paired.has_begun());
            let has_changed = game.apply(event);
            let after = (game.paired.place().0, game.paired.has_begun());
            if has_changed || before != after {
                self.changed.extend(before.0.into_iter().chain(after.0));
            }
        }
    }

    fn take_command(&mut self, at: Timestamp, action: Action, by: &str, arguments: &Value) {
        match action {
            Action::StartRound => {
                let start = StartRound::deserialize(arguments).unwrap_or_default();
                if let Some(round) = start.round {
                    self.start(round, start.begins.unwrap_or(at));
                }
            }
            Action::SetResult => {
                if let Ok(set) = SetResult::deserialize(arguments) {
                    self.sign(at, by, &set);
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, round: u32, begins: Timestamp) {
        let start = self.starts.entry(round).or_insert(RoundStart {
            begun: begins,
            last: begins,
        });
        if begins.saturating_duration_since(start.last) > SAME_START {
            start.begun = begins;
        }
        start.begun = start.begun.min(begins);
        start.last = start.last.max(begins);
        self.changed.insert(round);
    }

    /// Records that the score sheet is signed, or withdraws such an entry.
    fn sign(&mut self, at: Timestamp, by: &str, set: &SetResult) {
        let (Some(is_valid), Some(written)) = (set.signed, set.written()) else {
            return;
        };
        let place = set.round.zip(set.table).or_else(|| {
            let game = self.games.get(set.game.as_ref()?)?;
            let (round, table) = game.paired.place();
            round.zip(table)
        });
        let Some(place) = place else { return };
        if self
            .signatures
            .get(&place)
            .is_some_and(|last| last.decided.at > at)
        {
            return;
        }
        let signature = Signature {
            result: written.result,
            is_valid,
            decided: Decision {
                by: by.to_owned(),
                at,
            },
        };
        self.signatures.insert(place, signature);
        self.changed.insert(place.0);
    }

    /// Returns all rounds, as JSON.
    pub(super) fn all(&self) -> String {
        #[derive(Serialize)]
        struct All<'r> {
            rounds: Vec<RoundView<'r>>,
        }
        let rounds = self.views(|_| true).into_values().collect();
        serde_json::to_string(&All { rounds }).unwrap_or_default()
    }

    /// Returns the parts of rounds that have changed since the last call, each as JSON.
    pub(super) fn poll_changes(&mut self) -> Vec<String> {
        let changed = core::mem::take(&mut self.changed);
        if changed.is_empty() {
            return Vec::new();
        }
        let mut all_sent = core::mem::take(&mut self.sent);
        let mut views = self.views(|round| changed.contains(&round));
        let mut updates = Vec::new();
        for round in changed {
            let sent = all_sent.remove(&round);
            let Some(view) = views.remove(&round).and_then(|view| view.written().ok()) else {
                let gone = || serde_json::json!({ "round": round, "gone": true }).to_string();
                updates.extend(sent.map(|_| gone()));
                continue;
            };
            let update = view.difference(round, sent.as_ref());
            updates.extend(update.and_then(|update| serde_json::to_string(&update).ok()));
            all_sent.insert(round, view);
        }
        self.sent = all_sent;
        updates
    }

    fn views(&self, is_wanted: impl Fn(u32) -> bool) -> BTreeMap<u32, RoundView<'_>> {
        let mut games: BTreeMap<(u32, u32), Vec<&RoundGame>> = BTreeMap::new();
        for game in self.games.values() {
            if let (Some(round), Some(table)) = game.paired.place()
                && is_wanted(round)
            {
                games.entry((round, table)).or_default().push(game);
            }
        }
        let of_halls = games.into_iter().flat_map(|((round, table), games)| {
            let of_halls = self
                .tournament
                .by_hall(table, games, |game| &game.board)
                .into_iter();
            of_halls.map(move |(table, games)| ((round, table), games))
        });
        let games: BTreeMap<(u32, u32), Vec<&RoundGame>> = of_halls.collect();
        let paired = self
            .tournament
            .rounds
            .keys()
            .copied()
            .filter(|round| is_wanted(*round));
        let numbers: BTreeSet<u32> = paired.chain(games.keys().map(|(round, _)| *round)).collect();
        let views = numbers.into_iter().map(|round| {
            let of_round = self.tournament.rounds.get(&round);
            (round, self.view(round, of_round, &games))
        });
        views.collect()
    }

    fn view<'r>(
        &'r self,
        round: u32,
        paired: Option<&'r Round>,
        games: &BTreeMap<(u32, u32), Vec<&'r RoundGame>>,
    ) -> RoundView<'r> {
        let pairings = || paired.into_iter().flat_map(|round| &round.pairings);
        let is_table = |pairing: &&Pairing| pairing.is_played() && pairing.table.is_some();
        let mut tables: BTreeMap<u32, Option<&Pairing>> = BTreeMap::new();
        for pairing in pairings().filter(is_table) {
            if let Some(table) = pairing.table {
                tables.entry(table).or_insert(Some(pairing));
            }
        }
        let of_round = games.range((round, 0)..=(round, u32::MAX));
        for (_, table) in of_round.map(|(place, _)| place) {
            tables.entry(*table).or_default();
        }
        let tables = tables.into_iter().map(|(table, pairing)| {
            let games = games.get(&(round, table)).into_iter().flatten().copied();
            self.table((round, table), pairing, counting(games))
        });
        let tables: Vec<TableView<'r>> = tables.collect();
        let others = pairings()
            .filter(|pairing| pairing.is_played() && !is_table(pairing))
            .map(|pairing| OtherView {
                white: name(pairing.white.as_ref()),
                black: name(pairing.black.as_ref()),
                result: pairing.result.filter(|result| *result != GameResult::Unknown),
            });
        let first = games
            .range((round, 0)..=(round, u32::MAX))
            .flat_map(|(_, games)| games);
        let first = first
            .filter(|game| game.paired.has_begun())
            .map(|game| game.started);
        let started = self.starts.get(&round).map(|start| start.begun);
        RoundView {
            round,
            begun: started.or_else(|| first.min()),
            tables,
            byes: self.byes_of(round),
            others: others.collect(),
        }
    }

    fn byes_of(&self, round: u32) -> Vec<ByeView<'_>> {
        let players = self.tournament.without_opponent(round).into_iter();
        let views = players.map(|without| {
            let entered = self.byes.get(round, &without.player.name);
            ByeView {
                player: &without.player.name,
                points: entered.map(|(points, _)| points).or(without.points),
                listed: without.is_listed,
                decided: entered.map(|(_, entered)| &entered.decided),
            }
        });
        views.collect()
    }

    fn table<'r>(
        &'r self,
        (round, table): (u32, u32),
        pairing: Option<&'r Pairing>,
        game: Option<&'r RoundGame>,
    ) -> TableView<'r> {
        let entered = self.entered.get(round, table).filter(|_| game.is_none());
        let file = pairing
            .and_then(|pairing| pairing.result)
            .filter(|_| game.is_none());
        let ended = game.and_then(|game| game.paired.ended());
        let ended = ended.or_else(|| entered.map(|entered| (entered.result, entered.reason)));
        let result = ended.map(|(result, _)| result).or(file);
        let result = result.filter(|result| *result != GameResult::Unknown);
        let signature = self.signatures.get(&(round, table));
        let signature = signature.filter(|signed| signed.is_valid && Some(signed.result) == result);
        // The game's players come first, as an arbiter may have corrected them.
        let players = game.and_then(|game| game.players.as_ref());
        let paired = |of: fn(&Pairing) -> Option<&crate::tournament::Player>| name(pairing.and_then(of));
        let decided = match game {
            Some(game) => game.decided.as_ref().filter(|decided| decided.by != PAIRINGS),
            None => entered.map(|entered| &entered.decided),
        };
        TableView {
            table,
            white: players
                .and_then(|players| players.white.as_deref())
                .or_else(|| paired(|pairing| pairing.white.as_ref())),
            black: players
                .and_then(|players| players.black.as_deref())
                .or_else(|| paired(|pairing| pairing.black.as_ref())),
            result,
            reason: ended.map(|(_, reason)| reason),
            confirmed: game.is_none_or(|game| game.confirmed),
            decided: decided.filter(|_| result.is_some()),
            game: game.map(|game| game.paired.game()),
            board: game.map(|game| &*game.board),
            played: game.is_some_and(|game| game.paired.has_begun()),
            over: game.is_some_and(RoundGame::is_over),
            ended: game.and_then(|game| game.ended),
            seen: game.and_then(|game| game.seen),
            signed: signature.map(|signed| &signed.decided),
        }
    }
}

impl RoundView<'_> {
    fn written(&self) -> serde_json::Result<SentRound> {
        let tables = self.tables.iter();
        let tables = tables.map(|table| Ok((table.table, to_raw_value(table)?)));
        Ok(SentRound {
            begun: self.begun,
            tables: tables.collect::<serde_json::Result<_>>()?,
            byes: to_raw_value(&self.byes)?,
            others: to_raw_value(&self.others)?,
        })
    }
}

impl SentRound {
    /// Returns the update for pages that have `sent`: the tables that have changed, the numbers of those that are gone,
    /// `byes` if they have changed, and all other fields. `None` if nothing has changed.
    fn difference(&self, round: u32, sent: Option<&Self>) -> Option<RoundUpdate<'_>> {
        let sent_table = |number| sent.and_then(|sent| sent.tables.get(number));
        let is_same =
            |one: &RawValue, other: Option<&Box<RawValue>>| Some(one.get()) == other.map(|other| other.get());
        let changed = self.tables.iter();
        let changed = changed.filter(|(number, table)| !is_same(table, sent_table(number)));
        let tables: Vec<&RawValue> = changed.map(|(_, table)| &**table).collect();
        let before = sent.into_iter().flat_map(|sent| sent.tables.keys());
        let without: Vec<u32> = before
            .filter(|number| !self.tables.contains_key(number))
            .copied()
            .collect();
        let has_new_byes = !is_same(&self.byes, sent.map(|sent| &sent.byes));
        let has_new_others = !is_same(&self.others, sent.map(|sent| &sent.others));
        let begins = sent.map(|sent| sent.begun) != Some(self.begun);
        let is_news = begins || has_new_byes || has_new_others || !tables.is_empty() || !without.is_empty();
        is_news.then_some(RoundUpdate {
            round,
            begun: self.begun,
            tables,
            without,
            byes: has_new_byes.then_some(&self.byes),
            others: &self.others,
        })
    }
}

impl RoundGame {
    fn begin(event: &Event) -> Option<Self> {
        let EventKind::GameStarted { players, .. } = &event.kind else {
            return None;
        };
        Some(Self {
            paired: PairedGame::begin(event)?,
            board: event.board.clone(),
            players: players.clone(),
            started: event.at.unwrap_or(event.ts),
            ended: None,
            confirmed: false,
            decided: None,
            seen: None,
        })
    }

    /// Whether the game is over. A game that broke off in a gap is over for the arbiter, who has the score sheets.
    fn is_over(&self) -> bool {
        let in_gap = matches!(self.paired.ended(), Some((_, EndReason::Gap)));
        self.paired.counts() || (in_gap && self.paired.has_begun())
    }

    /// Applies an event of the game. Returns whether a field other than those of `paired` may have changed.
    fn apply(&mut self, event: &Event) -> bool {
        self.paired.apply(event);
        let at = event.at.unwrap_or(event.ts);
        match &event.kind {
            EventKind::GameEnded {
                result,
                reason,
                by,
                confirmed,
                decided_by,
                ..
            } => {
                if *by != DecidedBy::Arbiter {
                    self.seen = Some(SeenEnd {
                        result: Some(*result).filter(|result| *result != GameResult::Unknown),
                        reason: *reason,
                        at,
                    });
                }
                self.ended = Some(at);
                self.confirmed = *confirmed;
                self.decided = decided_by.clone().map(|by| Decision { by, at: event.ts });
                true
            }
            EventKind::GameResumed { .. } => {
                (self.ended, self.confirmed, self.decided, self.seen) = (None, false, None, None);
                true
            }
            EventKind::GameAmended {
                by,
                result,
                reason,
                players,
                ..
            } => {
                if let Some(players) = players {
                    self.players = Some(players.clone());
                }
                if result.is_some() {
                    self.ended = reason.map(|_| self.ended.unwrap_or(at));
                    self.confirmed = reason.is_some();
                    let by = by.clone();
                    self.decided = Some(Decision { by, at: event.ts });
                }
                true
            }
            _ => false,
        }
    }
}

impl AsRef<PairedGame> for RoundGame {
    fn as_ref(&self) -> &PairedGame {
        &self.paired
    }
}

fn name(player: Option<&crate::tournament::Player>) -> Option<&str> {
    player.map(|player| &*player.name)
}

#[cfg(test)]
mod tests {
    use kiebitz_game::events::pairing::MIN_PLIES;
    use kiebitz_game::events::samples::{event, ply, started};
    use kiebitz_game::position::Variant;
    use serde_json::json;

    use super::*;
    use crate::tournament::{EventHall, read_bytes};

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const FILE: &str = "round,board,white,black,result\n2,1,Adler,Berg,\n2,2,Clausen,Dorn,1-0\n2,3,Ebert,Fuchs,\n2,,Graf,,\n";

    fn rounds() -> Rounds {
        let (tournament, _) = read_bytes("r.csv", FILE.as_bytes()).expect("pairings");
        let mut rounds = Rounds::default();
        rounds.set_pairings(Arc::new(tournament));
        rounds
    }

    fn begins(seq: u64, table: u32) -> Event {
        let mut kind = started(START, Variant::Standard);
        if let EventKind::GameStarted { players, .. } = &mut kind {
            *players = Some(Players {
                round: Some(2),
                table: Some(table),
                ..Players::default()
            });
        }
        event(seq, kind)
    }

    #[test]
    fn tables_of_two_halls_are_both_listed() {
        let (tournament, _) = read_bytes("r.csv", FILE.as_bytes()).expect("pairings");
        let halls = ["north", "south"].map(|hall| EventHall {
            prefix: hall.to_owned(),
            name: None,
        });
        let mut rounds = Rounds::default();
        rounds.set_pairings(Arc::new(tournament.at_hub(&halls)));
        for hall in ["south", "north"] {
            for event in [begins(1, 1), event(2, EventKind::MoveMade(ply(1, "e2e4", "e4")))] {
                rounds.apply(&Event {
                    board: format!("{hall}/board-1"),
                    game: event.game.as_ref().map(|game| format!("{hall}: {game}")),
                    ..event
                });
            }
        }
        let all: Value = serde_json::from_str(&rounds.all()).expect("JSON");
        let tables = all["rounds"][0]["tables"].as_array().expect("tables");
        let boards: Vec<_> = tables
            .iter()
            .map(|table| (&table["table"], &table["board"]))
            .collect();
        assert_eq!(
            boards,
            [
                (&json!(1), &json!("north/board-1")),
                (&json!(2), &Value::Null),
                (&json!(3), &Value::Null),
                (&json!(2001), &json!("south/board-1")),
            ]
        );
        assert_eq!(tables[0]["white"], "Adler");
    }

    fn ends(seq: u64, result: GameResult, reason: EndReason, by: DecidedBy) -> Event {
        let decided_by = (by == DecidedBy::Arbiter).then(|| "meier".to_owned());
        let kind = EventKind::GameEnded {
            result,
            reason,
            by,
            confirmed: by == DecidedBy::Arbiter,
            end_certain: true,
            decided_by,
        };
        event(seq, kind)
    }

    fn command(seq: u64, action: Action, arguments: Value) -> Event {
        let kind = EventKind::CommandTaken {
            id: seq.to_string(),
            action,
            by: "meier".to_owned(),
            arguments,
            error: None,
            note: None,
        };
        Event {
            game: None,
            ..event(seq, kind)
        }
    }

    fn table_result(seq: u64, table: u32, result: GameResult) -> Event {
        let kind = EventKind::TableResult {
            round: 2,
            table,
            result,
            reason: EndReason::Arbiter,
            by: "meier".to_owned(),
        };
        event(seq, kind)
    }

    fn update(rounds: &mut Rounds) -> Value {
        let updates = rounds.poll_changes();
        assert_eq!(updates.len(), 1, "{updates:?}");
        serde_json::from_str(&updates[0]).expect("JSON")
    }

    #[test]
    fn a_round_has_all_tables_and_then_only_those_that_change() {
        let mut rounds = rounds();
        let first = update(&mut rounds);
        let tables = first["tables"].as_array().expect("tables");
        assert_eq!(tables.len(), 3);
        assert_eq!(
            (&first["begun"], &tables[0]["result"]),
            (&Value::Null, &Value::Null)
        );
        assert_eq!(
            (&tables[1]["result"], &tables[1]["white"]),
            (&json!("1-0"), &json!("Clausen"))
        );
        assert_eq!(first["others"], json!([]));
        let graf = json!([{"player": "Graf", "points": null, "listed": true, "decided": null}]);
        assert_eq!(first["byes"], graf);
        rounds.apply(&begins(1, 1));
        let begun = update(&mut rounds);
        assert_eq!(
            (&begun["tables"][0]["game"], &begun["tables"][0]["played"]),
            (&json!("g"), &json!(false))
        );
        rounds.apply(&event(2, EventKind::MoveMade(ply(1, "e2e4", "e4"))));
        let moved = update(&mut rounds);
        assert_eq!(moved["tables"][0]["played"], true);
        assert!(moved["begun"].is_string(), "the first game has begun: {moved}");
        rounds.apply(&event(3, EventKind::MoveMade(ply(2, "e7e5", "e5"))));
        assert_eq!(
            rounds.poll_changes(),
            Vec::<String>::new(),
            "later moves are no news"
        );
        let all: Value = serde_json::from_str(&rounds.all()).expect("JSON");
        assert_eq!(all["rounds"][0]["tables"][0], moved["tables"][0]);
    }

    #[test]
    fn the_observed_end_is_kept_beside_an_arbiters_result() {
        let mut rounds = rounds();
        rounds.apply(&begins(1, 1));
        rounds.apply(&ends(
            2,
            GameResult::WhiteWins,
            EndReason::Kings,
            DecidedBy::Board,
        ));
        let seen = update(&mut rounds)["tables"][0].clone();
        assert_eq!(
            (&seen["result"], &seen["confirmed"]),
            (&json!("1-0"), &json!(false))
        );
        assert_eq!(
            (&seen["seen"]["result"], &seen["seen"]["reason"]),
            (&json!("1-0"), &json!("kings"))
        );
        let amended = EventKind::GameAmended {
            by: "meier".to_owned(),
            result: Some(GameResult::Draw),
            reason: Some(EndReason::Agreement),
            players: None,
            time_control: None,
            time_control_typed: None,
            mode: None,
            moves: None,
            position: None,
            note: None,
            assigned: false,
        };
        rounds.apply(&event(3, amended));
        let decided = update(&mut rounds)["tables"][0].clone();
        assert_eq!(
            (&decided["result"], &decided["confirmed"]),
            (&json!("1/2-1/2"), &json!(true))
        );
        assert_eq!(
            (&decided["seen"], &decided["decided"]["by"]),
            (&seen["seen"], &json!("meier"))
        );
    }

    #[test]
    fn a_reset_leaves_the_result_missing() {
        let mut rounds = rounds();
        rounds.apply(&begins(1, 3));
        rounds.apply(&ends(2, GameResult::Unknown, EndReason::Reset, DecidedBy::Board));
        let trial = update(&mut rounds);
        let trial = trial["tables"]
            .as_array()
            .and_then(|tables| tables.last().cloned());
        assert_eq!(
            trial.map(|table| table["over"].clone()),
            Some(json!(false)),
            "a trial"
        );
        rounds.apply(&event(3, EventKind::MoveMade(ply(MIN_PLIES, "e2e4", "e4"))));
        rounds.apply(&ends(4, GameResult::Unknown, EndReason::Reset, DecidedBy::Board));
        let tables = update(&mut rounds)["tables"].clone();
        let table = tables
            .as_array()
            .and_then(|tables| tables.last())
            .expect("a table");
        assert_eq!(
            (&table["table"], &table["result"], &table["reason"]),
            (&json!(3), &Value::Null, &json!("reset"))
        );
        assert!(
            table["ended"].is_string() && table["seen"]["result"].is_null(),
            "{table}"
        );
    }

    #[test]
    fn a_table_without_a_board_gets_a_result_that_can_be_withdrawn_and_signed() {
        let mut rounds = rounds();
        let _ = update(&mut rounds);
        let set = json!({"result": "½-½", "round": 2, "table": 3, "signed": true});
        rounds.apply(&command(1, Action::SetResult, set));
        rounds.apply(&table_result(1, 3, GameResult::Draw));
        let entered = update(&mut rounds);
        assert_eq!(entered["tables"].as_array().map(Vec::len), Some(1), "{entered}");
        let table = &entered["tables"][0];
        assert_eq!(
            (&table["result"], &table["signed"]["by"]),
            (&json!("1/2-1/2"), &json!("meier"))
        );
        // A different result is not signed. The signed result, entered again, is.
        rounds.apply(&table_result(2, 3, GameResult::BlackWins));
        assert_eq!(update(&mut rounds)["tables"][0]["signed"], Value::Null);
        rounds.apply(&table_result(3, 3, GameResult::Draw));
        assert_eq!(update(&mut rounds)["tables"][0]["signed"]["by"], "meier");
        let unsigned = json!({"result": "1/2-1/2", "round": 2, "table": 3, "signed": false});
        rounds.apply(&command(4, Action::SetResult, unsigned));
        assert_eq!(update(&mut rounds)["tables"][0]["signed"], Value::Null);
        rounds.apply(&table_result(5, 3, GameResult::Unknown));
        assert_eq!(update(&mut rounds)["tables"][0]["result"], Value::Null);
        // An entry for a table replaces the result in the file until it is withdrawn.
        rounds.apply(&table_result(6, 2, GameResult::BlackWins));
        assert_eq!(update(&mut rounds)["tables"][0]["result"], "0-1");
        rounds.apply(&table_result(7, 2, GameResult::Unknown));
        assert_eq!(update(&mut rounds)["tables"][0]["result"], "1-0");
    }

    #[test]
    fn a_player_without_an_opponent_gets_points_that_can_be_withdrawn() {
        let mut rounds = rounds();
        let _ = update(&mut rounds);
        let set = |points: Value| json!({"round": 2, "player": "Graf", "points": points});
        rounds.apply(&command(1, Action::SetBye, set(json!("1/2"))));
        let entered = update(&mut rounds);
        assert_eq!(
            (
                &entered["byes"][0]["points"],
                &entered["byes"][0]["decided"]["by"]
            ),
            (&json!("1/2"), &json!("meier"))
        );
        assert_eq!(entered["tables"], json!([]), "no table has changed");
        rounds.apply(&command(2, Action::SetBye, set(Value::Null)));
        assert_eq!(update(&mut rounds)["byes"][0]["points"], Value::Null);
        rounds.apply(&table_result(3, 1, GameResult::Draw));
        assert!(
            update(&mut rounds).get("byes").is_none(),
            "the byes have not changed"
        );
    }

    #[test]
    fn a_round_begins_with_its_first_start_on_that_day() {
        let mut rounds = rounds();
        let start = |begins: &str| json!({"round": 2, "begins": begins});
        rounds.apply(&command(1, Action::StartRound, start("2026-11-20T18:00:00Z")));
        rounds.apply(&command(2, Action::StartRound, start("2026-11-21T09:20:00Z")));
        rounds.apply(&command(3, Action::StartRound, start("2026-11-21T09:24:00Z")));
        assert_eq!(update(&mut rounds)["begun"], "2026-11-21T09:20:00.000000Z");
    }

    #[test]
    fn a_round_without_pairings_is_gone() {
        let mut rounds = rounds();
        let _ = update(&mut rounds);
        rounds.set_pairings(Arc::default());
        assert_eq!(update(&mut rounds), json!({"round": 2, "gone": true}));
        assert_eq!(rounds.all(), r#"{"rounds":[]}"#);
    }
}
