//! Who sits where: which pairing belongs to which board, and when.
//!
//! It knows the boards by their events, as outputs do. What it finds to be said goes to a board as a command, like
//! everything that people say: it is kept, and a restart knows it.

mod withdrawn;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kiebitz_game::command::{Announced, Change, Command, Order, Paired, SetTable, StartRound};
use kiebitz_game::events::pairing::{EnteredResult, PAIRINGS, PairedGame, TableResults, counting};
use kiebitz_game::events::{Action, Event, EventKind, GameResult, PlayerFacts, Players};
use kiebitz_game::laws::{Rounds, TimeControl};
use kiebitz_hardware::Timestamp;
use serde_json::{Map, Value, json};

use super::{Pairing, Tournament};

/// Gives every board the pairing of its table.
#[derive(Debug, Default)]
pub struct Seating {
    tournament: Arc<Tournament>,
    /// What the files say is known.
    is_paired: bool,
    /// By the boards' names.
    seats: BTreeMap<String, SeatedBoard>,
    /// The round that boards get pairings of.
    round: Option<u32>,
    /// The round that somebody said begins, and when they did.
    asked: Option<(Timestamp, u32)>,
    /// The results that were entered for pairings without a game.
    entered: TableResults,
    /// The results of the files that boards were told, by round and table.
    told: BTreeMap<(u32, u32), GameResult>,
    /// The pairings whose result in the files has changed since they were first read.
    changed: BTreeSet<(u32, u32)>,
}

/// How a board is, beside what its events say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct View {
    /// It shows a start position.
    pub set_up: bool,
    /// Its time control is configured.
    pub has_time_control: bool,
}

/// A board and what is played on it.
#[derive(Debug, Default)]
struct SeatedBoard {
    /// By its name or the configuration.
    table: Option<u32>,
    /// By command, and how late among all commands.
    moved: Option<(Timestamp, u32)>,
    announced: Announced,
    /// Its games, the oldest first.
    games: Vec<PairedGame>,
    /// Who plays, or played, the last of them.
    players: Option<Players>,
    /// The last pairing that it was given.
    given: Option<Players>,
    /// Somebody has named the players since.
    by_hand: bool,
    /// The last time control, as it was written.
    control: Option<String>,
    /// The round that last got to it, and when it did.
    begun: Option<(Timestamp, u32)>,
    /// What it was to be given and did not take.
    refused: Option<Players>,
}

/// What a pairing is for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum For {
    /// The game that is played, or else the next one.
    Play,
    /// The game with that id, which is over: a name in it may still be corrected.
    Over(String),
}

impl Seating {
    /// These boards have these tables, unless somebody moves them.
    pub fn place<'b>(&mut self, boards: impl IntoIterator<Item = (&'b str, Option<u32>)>) {
        for (board, table) in boards {
            self.seats.entry(board.to_owned()).or_default().table = table;
        }
    }

    /// These are the pairings from now on.
    pub fn pair(&mut self, tournament: Arc<Tournament>) {
        let before = core::mem::replace(&mut self.tournament, tournament);
        if self.is_paired {
            let result = |(round, table, result): (u32, u32, GameResult)| {
                let known = before.pairing(round, table).and_then(|pairing| pairing.result);
                (known != Some(result)).then_some((round, table))
            };
            self.changed.extend(self.tournament.results().filter_map(result));
        }
        self.is_paired = true;
    }

    /// The round that boards get pairings of; `None`: there are none.
    #[must_use]
    pub const fn round(&self) -> Option<u32> {
        self.round
    }

    /// The table of each board that has one.
    #[must_use]
    pub fn tables(&self) -> BTreeMap<u32, &str> {
        let mut tables: BTreeMap<u32, (Option<Timestamp>, &str)> = BTreeMap::new();
        for (name, seat) in &self.seats {
            let (moved, table) = match seat.moved {
                Some((at, table)) => (Some(at), Some(table)),
                None => (None, seat.table),
            };
            let Some(table) = table else { continue };
            // Who was put there last is there.
            if tables.get(&table).is_none_or(|(at, _)| *at < moved) {
                tables.insert(table, (moved, name));
            }
        }
        tables
            .into_iter()
            .map(|(table, (_, name))| (table, name))
            .collect()
    }

    /// The table of a board; `None`: it has none.
    #[must_use]
    pub fn table_of(&self, board: &str) -> Option<u32> {
        let seat = self.seats.get(board)?;
        seat.moved.map(|(_, table)| table).or(seat.table)
    }

    /// Takes in the next event of a board.
    pub fn apply(&mut self, event: &Event) {
        self.entered.apply(event);
        if let EventKind::CommandTaken {
            action: Action::SetResult,
            by,
            arguments,
            ..
        } = &event.kind
            && by == PAIRINGS
        {
            self.told.extend(result_of(arguments));
        }
        let seat = self.seats.entry(event.board.clone()).or_default();
        seat.announced.apply(event);
        let asked = seat.apply(event).map(|round| (event.ts, round));
        self.asked = self.asked.max(asked);
    }

    /// Adds to a `set_players` of a person what the files have of the players that it names: they may be others than the
    /// players of the board.
    pub fn complete(&self, command: &mut Command) {
        let Order::SetPlayers(set) = &mut command.order else {
            return;
        };
        if command.by == PAIRINGS || set.paired != Paired::default() {
            return;
        }
        let known = |name: &Change<String>| match name {
            Change::Set(Some(name)) => self.tournament.named(name),
            _ => None,
        };
        let (white, black) = (known(&set.white), known(&set.black));
        set.paired = Paired { white, black };
        if set.paired != Paired::default()
            && let (Value::Object(fields), Ok(paired)) =
                (&mut command.arguments, serde_json::to_value(&set.paired))
        {
            fields.insert(Paired::FIELD.to_owned(), paired);
        }
    }

    /// What is to be said to boards at `now`, in this order. `rounds` are the times at which rounds begin.
    pub fn look(
        &mut self,
        now: Timestamp,
        rounds: &Rounds,
        view: impl Fn(&str) -> View,
    ) -> Vec<(String, Command)> {
        let tables: BTreeMap<u32, String> = self
            .tables()
            .into_iter()
            .map(|(table, name)| (table, name.to_owned()))
            .collect();
        self.round = self.round_now(now, rounds, &tables, &view);
        let mut said = match self.round {
            Some(round) => self.given(round, tables, view),
            None => Vec::new(),
        };
        said.append(&mut self.results());
        let mut withdrawn = self.withdrawn();
        // Others take the place of those names.
        withdrawn.retain(|(board, _)| !said.iter().any(|(other, _)| other == board));
        said.append(&mut withdrawn);
        said
    }

    /// What is to be said to these boards of a round.
    fn given(
        &self,
        round: u32,
        tables: BTreeMap<u32, String>,
        view: impl Fn(&str) -> View,
    ) -> Vec<(String, Command)> {
        let mut said = Vec::new();
        for (table, board) in tables {
            let Some(seat) = self.seats.get(&board) else {
                continue;
            };
            let Some(place) = self.place_of(&board, seat, (round, table)) else {
                continue;
            };
            let pairing = self
                .tournament
                .pairing(round, table)
                .filter(|pairing| pairing.is_played());
            let Some(wanted) = pairing.map(|pairing| pairing.players(round)) else {
                continue;
            };
            if seat.lacks(&wanted, &place) {
                said.extend(set_players(&wanted, &place).map(|command| (board.clone(), command)));
            }
            if matches!(place, For::Over(_)) {
                continue;
            }
            // What cannot be read, or in two ways, is told by `kiebitz event check`.
            let control = self.tournament.time_control(round);
            let control = control.filter(|text| text.parse::<TimeControl>().is_ok());
            let control = control.filter(|_| !view(&board).has_time_control);
            if let Some(control) = control.filter(|control| seat.control.as_deref() != Some(control)) {
                said.extend(set_time_control(round, table, control).map(|command| (board.clone(), command)));
            }
        }
        said
    }

    /// The results of the files that boards are to be told: those that their games do not have.
    /// Each is told once: what an arbiter decides afterwards stays until the file says something else. A game in play
    /// ends only by a result that came into the file during play.
    fn results(&self) -> Vec<(String, Command)> {
        let told = |(round, table, result): (u32, u32, GameResult)| {
            let place = (round, table);
            if self.told.get(&place) == Some(&result) {
                return None;
            }
            let (board, game) = self.game_of(round, table)?;
            let is_due = match game.ended() {
                Some((known, _)) => known != result,
                None => self.changed.contains(&place),
            };
            let command = is_due.then(|| set_result(place, game.game(), result))??;
            Some((board.to_owned(), command))
        };
        self.tournament.results().filter_map(told).collect()
    }

    /// The board of a game; `None` if no board has had a game with that id.
    #[must_use]
    pub fn board_of(&self, game: &str) -> Option<&str> {
        let has = |seat: &SeatedBoard| seat.games.iter().any(|known| known.game() == game);
        let (board, _) = self.seats.iter().find(|(_, seat)| has(seat))?;
        Some(board)
    }

    /// The result that was entered for a pairing of which no board has a game; `None` if there is none.
    #[must_use]
    pub fn entered(&self, round: u32, table: u32) -> Option<&EnteredResult> {
        self.entered.get(round, table)
    }

    /// Whether the files have a game between two players at that table of that round.
    #[must_use]
    pub fn has_pairing(&self, round: u32, table: u32) -> bool {
        let pairing = self.tournament.pairing(round, table);
        pairing.is_some_and(Pairing::is_played)
    }

    /// The game that counts for a pairing, with its board; `None`: none was begun.
    #[must_use]
    pub fn game_of(&self, round: u32, table: u32) -> Option<(&str, &PairedGame)> {
        let of_pairing = |game: &&PairedGame| game.place() == (Some(round), Some(table));
        let games = self.seats.values().flat_map(|seat| &seat.games);
        let game = counting(games.filter(of_pairing))?;
        let has = |seat: &SeatedBoard| seat.games.iter().any(|other| core::ptr::eq(other, game));
        let (board, _) = self.seats.iter().find(|(_, seat)| has(seat))?;
        Some((board, game))
    }

    /// What the pairing of a table in a round may be given to a board for; `None`: nothing, while another game is played
    /// on it, or if the pairing's game was played elsewhere.
    fn place_of(&self, board: &str, seat: &SeatedBoard, (round, table): (u32, u32)) -> Option<For> {
        if let Some((of_board, game)) = self.game_of(round, table).filter(|(_, game)| game.counts()) {
            return (of_board == board).then(|| For::Over(game.game().to_owned()));
        }
        let is_free = seat.playing().is_none() || {
            // Nobody knows who plays, or it is the game of that round.
            let of_round = seat.players.as_ref().and_then(|players| players.round);
            of_round.is_none_or(|of_round| of_round == round)
        };
        is_free.then_some(For::Play)
    }

    /// The round that is, or is about to be, played.
    fn round_now(
        &mut self,
        now: Timestamp,
        rounds: &Rounds,
        tables: &BTreeMap<u32, String>,
        view: impl Fn(&str) -> View,
    ) -> Option<u32> {
        let paired = &self.tournament.rounds;
        let is_paired = |round: &u32| paired.contains_key(round);
        let asked = self.asked.take().filter(|(_, round)| is_paired(round));
        // After a restart it may be that of a round which was begun long ago.
        let begun = self.seats.values().filter_map(|seat| seat.begun).max();
        if let Some((_, round)) = asked.filter(|asked| self.round.is_some() || Some(*asked) > begun) {
            return Some(round);
        }
        // An arbiter who is ahead of the plan stays ahead.
        if let Some(planned) = rounds.number(now).filter(is_paired) {
            return self.round.filter(is_paired).max(Some(planned));
        }
        let Some(round) = self.round.filter(is_paired) else {
            return self.first_round();
        };
        let next = paired.range(round + 1..).next().map(|(next, _)| *next);
        let Some(next) = next.filter(|_| rounds.number(now).is_none()) else {
            return Some(round);
        };
        let boards_of = |round: u32| -> Vec<(u32, &String)> {
            let of_round = tables.iter().filter(|(table, _)| {
                let pairing = self.tournament.pairing(round, **table);
                let is_decided = self.entered.get(round, **table).is_some();
                pairing.is_some_and(|pairing| pairing.is_played() && pairing.result.is_none() && !is_decided)
            });
            of_round.map(|(table, name)| (*table, name)).collect()
        };
        let is_over = |(table, _): &(u32, &String)| {
            let game = self.game_of(round, *table);
            game.is_some_and(|(_, game)| game.counts())
        };
        let over = boards_of(round).iter().all(is_over);
        let waiting = boards_of(next);
        let ready = !waiting.is_empty() && waiting.iter().all(|(_, name)| view(name).set_up);
        Some(if over && ready { next } else { round })
    }

    /// The last round that was begun on a board, else the first of which not everything is decided.
    fn first_round(&self) -> Option<u32> {
        let paired = &self.tournament.rounds;
        let begun = self.seats.values().filter_map(|seat| seat.begun).max();
        let begun = begun.and_then(|(_, begun)| paired.range(begun..).next());
        let undecided = paired.iter().find(|(_, round)| {
            let mut games = round.pairings.iter().filter(|pairing| pairing.is_played());
            games.any(|pairing| pairing.result.is_none())
        });
        let found = begun.or(undecided).or_else(|| paired.iter().next_back());
        found.map(|(round, _)| *round)
    }
}

impl SeatedBoard {
    /// Takes in an event. Returns the round that somebody said begins.
    fn apply(&mut self, event: &Event) -> Option<u32> {
        match &event.kind {
            EventKind::CommandTaken {
                action,
                arguments,
                by,
                error: None,
                ..
            } => return self.take_command(event.ts, *action, by, arguments),
            EventKind::CommandTaken {
                action: Action::SetPlayers,
                arguments,
                by,
                error: Some(_),
                ..
            } if by == PAIRINGS => self.refused = serde_json::from_value(arguments.clone()).ok(),
            EventKind::GameStarted { players, .. } => {
                let round = players.as_ref().and_then(|players| players.round);
                self.begun = round.map(|round| (event.ts, round)).or(self.begun);
                self.games.extend(PairedGame::begin(event));
                self.players.clone_from(players);
            }
            EventKind::GameAmended {
                players: Some(players),
                ..
            } if self.last_game() == event.game.as_deref() => self.players = Some(players.clone()),
            _ => {}
        }
        let of_event = |game: &&mut PairedGame| Some(game.game()) == event.game.as_deref();
        if let Some(game) = self.games.iter_mut().rev().find(of_event) {
            game.apply(event);
        }
        None
    }

    /// The id of its last game; `None`: it has had none.
    fn last_game(&self) -> Option<&str> {
        self.games.last().map(PairedGame::game)
    }

    /// The game that is being played.
    fn playing(&self) -> Option<&PairedGame> {
        self.games.last().filter(|game| game.ended().is_none())
    }

    fn take_command(&mut self, at: Timestamp, action: Action, by: &str, arguments: &Value) -> Option<u32> {
        match action {
            Action::SetTable => {
                let set: Option<SetTable> = serde_json::from_value(arguments.clone()).ok();
                self.moved = set.map(|set| (at, set.table)).or(self.moved);
            }
            Action::StartRound => {
                let start: Option<StartRound> = serde_json::from_value(arguments.clone()).ok();
                return start.and_then(|start| start.round);
            }
            Action::SetPlayers if by == PAIRINGS => {
                self.by_hand = false;
                self.given = serde_json::from_value(arguments.clone()).ok();
                let round = self.given.as_ref().and_then(|players| players.round);
                self.begun = round.map(|round| (at, round)).or(self.begun);
            }
            Action::SetPlayers => {
                self.by_hand |= withdrawn::is_by_hand(by, arguments, self.last_game());
            }
            Action::SetTimeControl if by == PAIRINGS => {
                self.control = arguments
                    .get("time_control")
                    .and_then(Value::as_str)
                    .map(str::to_owned);
            }
            _ => {}
        }
        None
    }

    /// Whether a pairing is to be given to it.
    fn lacks(&self, wanted: &Players, place: &For) -> bool {
        let is_given = self.given.as_ref() == Some(wanted);
        let is_refused = self.refused.as_ref() == Some(wanted);
        match place {
            For::Play => !is_given || !self.has(wanted),
            For::Over(_) => !is_given && !is_refused,
        }
    }

    /// Whether the game that is played, or else the next one, has that place in the event. Names may be others: an arbiter
    /// has corrected them.
    fn has(&self, wanted: &Players) -> bool {
        let players = match self.playing() {
            Some(_) => self.players.as_ref(),
            None => self.announced.players(),
        };
        players.is_some_and(|players| (players.round, players.table) == (wanted.round, wanted.table))
    }
}

fn set_players(players: &Players, place: &For) -> Option<Command> {
    let Value::Object(mut fields) = serde_json::to_value(players).ok()? else {
        return None;
    };
    // What the files do not have is not known, whatever was known before.
    for (field, facts) in [
        ("white_player", &players.white_player),
        ("black_player", &players.black_player),
    ] {
        fields.insert(field.to_owned(), facts.as_deref().map_or(Value::Null, all_facts));
    }
    if let For::Over(game) = place {
        fields.insert("game".to_owned(), json!(game));
    }
    command(
        "set_players",
        (
            players.round.unwrap_or_default(),
            players.table.unwrap_or_default(),
        ),
        fields,
    )
}

fn set_result((round, table): (u32, u32), game: &str, result: GameResult) -> Option<Command> {
    let mut fields = Map::new();
    fields.insert("result".to_owned(), json!(result.as_str()));
    fields.insert("round".to_owned(), json!(round));
    fields.insert("table".to_owned(), json!(table));
    fields.insert("game".to_owned(), json!(game));
    command("set_result", (round, table), fields)
}

/// The pairing and the result of a command that told a board a result of the files.
fn result_of(arguments: &Value) -> Option<((u32, u32), GameResult)> {
    let number = |name: &str| u32::try_from(arguments.get(name)?.as_u64()?).ok();
    let result = arguments.get("result")?.as_str()?;
    let result = GameResult::ALL.iter().find(|known| known.as_str() == result)?;
    Some(((number("round")?, number("table")?), *result))
}

/// All that can be known of a player, with null for what is not.
fn all_facts(facts: &PlayerFacts) -> Value {
    json!({
        "fide_id": facts.fide_id,
        "title": facts.title,
        "rating": facts.rating,
        "federation": facts.federation,
        "team": facts.team,
    })
}

fn set_time_control(round: u32, table: u32, control: &str) -> Option<Command> {
    let mut fields = Map::new();
    fields.insert("time_control".to_owned(), json!(control));
    command("set_time_control", (round, table), fields)
}

fn command(action: &str, (round, table): (u32, u32), mut fields: Map<String, Value>) -> Option<Command> {
    fields.insert("id".to_owned(), json!(format!("round {round}, table {table}")));
    fields.insert("do".to_owned(), json!(action));
    fields.insert("by".to_owned(), json!(PAIRINGS));
    // Nothing in it can be refused.
    Command::parse(&Value::Object(fields).to_string()).ok()
}

#[cfg(test)]
mod tests;
