//! Assigns pairings to boards: which board gets which pairing, and when.
//!
//! The seating follows the boards by their events, like an output. Its decisions go to the boards as commands, so they
//! are journalled and survive a restart.

mod withdrawn;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kiebitz_game::command::{Announced, Change, Command, Order, Paired, SetTable, StartRound};
use kiebitz_game::events::pairing::{EnteredResult, PAIRINGS, PairedGame, TableResults, counting};
use kiebitz_game::events::{Action, Bye, Decision, Event, EventKind, GameResult, PlayerFacts, Players};
use kiebitz_game::laws::{Rounds, TimeControl};
use kiebitz_hardware::Timestamp;
use serde_json::{Map, Value, json};

use super::{Byes, Pairing, Tournament};

/// Assignment of the pairings to the boards, by table number.
#[derive(Debug, Default)]
pub struct Seating {
    tournament: Arc<Tournament>,
    /// Whether the pairing files have been read.
    is_paired: bool,
    seats: BTreeMap<String, SeatedBoard>,
    /// Round whose pairings the boards get.
    round: Option<u32>,
    /// Round that a command began last, with the time of the command.
    requested: Option<(Timestamp, u32)>,
    /// Results that were entered for pairings without a game.
    entered: TableResults,
    byes: Byes,
    /// Results from the files that were sent to boards, by round and table.
    sent_results: BTreeMap<(u32, u32), GameResult>,
    /// Pairings whose result in the files has changed since the first reading.
    changed: BTreeSet<(u32, u32)>,
}

/// State of a board that its events do not show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct View {
    /// Whether the board shows a start position.
    pub set_up: bool,
    /// Whether the board has a configured time control.
    pub has_time_control: bool,
}

#[derive(Debug, Default)]
struct SeatedBoard {
    /// Table from the name of the board or the configuration.
    table: Option<u32>,
    /// Table from a command, with the time of the command.
    moved: Option<(Timestamp, u32)>,
    announced: Announced,
    /// Games on the board, the oldest first.
    games: Vec<PairedGame>,
    /// Players of the last game.
    players: Option<Players>,
    /// Last pairing that was sent to the board.
    sent_pairing: Option<Players>,
    /// Whether a person has set the players since that pairing.
    by_hand: bool,
    /// Last time control that was sent to the board, as written in the file.
    sent_control: Option<String>,
    /// Last round that reached the board, with its time.
    begun: Option<(Timestamp, u32)>,
    /// Last pairing that the board refused.
    refused: Option<Players>,
}

/// Purpose of sending a pairing to a board.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Purpose {
    /// For the game in play, or else for the next game.
    Play,
    /// For the finished game with this id, whose names may still be corrected.
    Finished(String),
}

impl Seating {
    /// Sets the default tables of the boards.
    pub fn place<'b>(&mut self, boards: impl IntoIterator<Item = (&'b str, Option<u32>)>) {
        for (board, table) in boards {
            self.seats.entry(board.to_owned()).or_default().table = table;
        }
    }

    /// Replaces the pairings.
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

    /// Returns the round whose pairings the boards get; `None` if there are no pairings.
    #[must_use]
    pub const fn round(&self) -> Option<u32> {
        self.round
    }

    /// Returns the board at each table. If two boards have the same table, the one that was moved there last counts.
    #[must_use]
    pub fn tables(&self) -> BTreeMap<u32, &str> {
        let mut tables: BTreeMap<u32, (Option<Timestamp>, &str)> = BTreeMap::new();
        for (name, seat) in &self.seats {
            let (moved, table) = match seat.moved {
                Some((at, table)) => (Some(at), Some(table)),
                None => (None, seat.table),
            };
            let Some(table) = table else { continue };
            if tables.get(&table).is_none_or(|(at, _)| *at < moved) {
                tables.insert(table, (moved, name));
            }
        }
        tables
            .into_iter()
            .map(|(table, (_, name))| (table, name))
            .collect()
    }

    /// Returns the table of a board; `None` if the board has no table.
    #[must_use]
    pub fn table_of(&self, board: &str) -> Option<u32> {
        let seat = self.seats.get(board)?;
        seat.moved.map(|(_, table)| table).or(seat.table)
    }

    /// Applies the next event of a board.
    pub fn apply(&mut self, event: &Event) {
        self.entered.apply(event);
        self.byes.apply(event);
        if let EventKind::CommandTaken {
            action: Action::SetResult,
            by,
            arguments,
            ..
        } = &event.kind
            && by == PAIRINGS
        {
            self.sent_results.extend(result_of(arguments));
        }
        let seat = self.seats.entry(event.board.clone()).or_default();
        seat.announced.apply(event);
        let requested = seat.apply(event).map(|round| (event.ts, round));
        self.requested = self.requested.max(requested);
    }

    /// Completes a person's `set_players` command with facts about the named players from the files. The named players
    /// need not be those of the board's pairing.
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

    /// Returns the commands to send to boards at `now`, in the order in which to send them. `rounds` are the scheduled
    /// beginnings of the rounds.
    pub fn due_commands(
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
        let mut commands = match self.round {
            Some(round) => self.pairing_commands(round, tables, view),
            None => Vec::new(),
        };
        commands.append(&mut self.result_commands());
        let mut withdrawn = self.withdrawn();
        // If a board gets a new pairing, its old names need not be withdrawn.
        withdrawn.retain(|(board, _)| !commands.iter().any(|(other, _)| other == board));
        commands.append(&mut withdrawn);
        commands
    }

    /// Returns the commands that give the boards their pairings and the time control of a round.
    fn pairing_commands(
        &self,
        round: u32,
        tables: BTreeMap<u32, String>,
        view: impl Fn(&str) -> View,
    ) -> Vec<(String, Command)> {
        let mut commands = Vec::new();
        for (table, board) in tables {
            let Some(seat) = self.seats.get(&board) else {
                continue;
            };
            let is_set_up = view(&board).set_up;
            let Some(purpose) = self.purpose_of(&board, seat, (round, table), is_set_up) else {
                continue;
            };
            let pairing = self
                .tournament
                .pairing(round, table)
                .filter(|pairing| pairing.is_played());
            let Some(wanted) = pairing.map(|pairing| pairing.players(round)) else {
                continue;
            };
            if seat.needs(&wanted, &purpose) {
                commands.extend(set_players(&wanted, &purpose).map(|command| (board.clone(), command)));
            }
            if matches!(purpose, Purpose::Finished(_)) {
                continue;
            }
            // `kiebitz event check` reports a time control that cannot be parsed or is ambiguous.
            let control = self.tournament.time_control(round);
            let control = control.filter(|text| text.parse::<TimeControl>().is_ok());
            let control = control.filter(|_| !view(&board).has_time_control);
            if let Some(control) = control.filter(|control| seat.sent_control.as_deref() != Some(control)) {
                commands
                    .extend(set_time_control(round, table, control).map(|command| (board.clone(), command)));
            }
        }
        commands
    }

    /// Returns the commands that give boards the results from the files. Each result is sent once, so a later decision
    /// of an arbiter stays until the file changes. A game in play is ended only if the result appeared in the file
    /// during play.
    fn result_commands(&self) -> Vec<(String, Command)> {
        let command_for = |(round, table, result): (u32, u32, GameResult)| {
            let place = (round, table);
            if self.sent_results.get(&place) == Some(&result) {
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
        self.tournament.results().filter_map(command_for).collect()
    }

    /// Returns the board of a game; `None` if no board has had the game.
    #[must_use]
    pub fn board_of(&self, game: &str) -> Option<&str> {
        let has = |seat: &SeatedBoard| seat.games.iter().any(|known| known.game() == game);
        let (board, _) = self.seats.iter().find(|(_, seat)| has(seat))?;
        Some(board)
    }

    /// Returns the result that was entered for a pairing without a game; `None` if there is none.
    #[must_use]
    pub fn entered(&self, round: u32, table: u32) -> Option<&EnteredResult> {
        self.entered.get(round, table)
    }

    /// Returns the points that an arbiter has entered for a player without an opponent, with the decision; `None` if
    /// there is no entry.
    pub(crate) fn bye(&self, round: u32, player: &str) -> Option<(Bye, &Decision)> {
        let (points, entered) = self.byes.get(round, player)?;
        Some((points, &entered.decided))
    }

    /// Returns whether the files have a player of this name without an opponent in the round.
    pub(crate) fn is_without_opponent(&self, round: u32, player: &str) -> bool {
        self.tournament.is_without_opponent(round, player)
    }

    /// Returns whether the files have a game between two players at a table of a round.
    #[must_use]
    pub fn has_pairing(&self, round: u32, table: u32) -> bool {
        let pairing = self.tournament.pairing(round, table);
        pairing.is_some_and(Pairing::is_played)
    }

    /// Returns the game that counts for a pairing, with its board; `None` if no game has begun.
    #[must_use]
    pub fn game_of(&self, round: u32, table: u32) -> Option<(&str, &PairedGame)> {
        let of_pairing = |game: &&PairedGame| game.place() == (Some(round), Some(table));
        let games = self.seats.values().flat_map(|seat| &seat.games);
        let game = counting(games.filter(of_pairing))?;
        let has = |seat: &SeatedBoard| seat.games.iter().any(|other| core::ptr::eq(other, game));
        let (board, _) = self.seats.iter().find(|(_, seat)| has(seat))?;
        Some((board, game))
    }

    /// Returns the purpose for which a board may get the pairing of a table. `None` if another game is in play on the
    /// board, or if the game of the pairing was played on another board.
    ///
    /// A game with moves but without players is an analysis after the last round. If its board shows a start position,
    /// the pieces have been set up for the next round and the game is about to end. The pairing waits for the next
    /// game.
    fn purpose_of(
        &self,
        board: &str,
        seat: &SeatedBoard,
        (round, table): (u32, u32),
        is_set_up: bool,
    ) -> Option<Purpose> {
        if let Some((of_board, game)) = self.game_of(round, table).filter(|(_, game)| game.counts()) {
            return (of_board == board).then(|| Purpose::Finished(game.game().to_owned()));
        }
        let is_free = seat.playing().is_none_or(|game| {
            let of_round = seat.players.as_ref().and_then(|players| players.round);
            match of_round {
                Some(of_round) => of_round == round,
                None => !(is_set_up && game.has_begun()),
            }
        });
        is_free.then_some(Purpose::Play)
    }

    /// Determines the round that is in play or about to begin.
    fn round_now(
        &mut self,
        now: Timestamp,
        rounds: &Rounds,
        tables: &BTreeMap<u32, String>,
        view: impl Fn(&str) -> View,
    ) -> Option<u32> {
        let paired = &self.tournament.rounds;
        let is_paired = |round: &u32| paired.contains_key(round);
        let requested = self.requested.take().filter(|(_, round)| is_paired(round));
        // After a restart, the command may belong to a round that began long ago.
        let begun = self.seats.values().filter_map(|seat| seat.begun).max();
        if let Some((_, round)) =
            requested.filter(|requested| self.round.is_some() || Some(*requested) > begun)
        {
            return Some(round);
        }
        // If an arbiter has begun a round ahead of the schedule, that round stays.
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

    /// Returns the last round that has begun on a board, or else the first round with an undecided game.
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
    /// Applies an event. Returns the number of a round that a command begins.
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

    fn last_game(&self) -> Option<&str> {
        self.games.last().map(PairedGame::game)
    }

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
                self.sent_pairing = serde_json::from_value(arguments.clone()).ok();
                let round = self.sent_pairing.as_ref().and_then(|players| players.round);
                self.begun = round.map(|round| (at, round)).or(self.begun);
            }
            Action::SetPlayers => {
                self.by_hand |= withdrawn::is_by_hand(by, arguments, self.last_game());
            }
            Action::SetTimeControl if by == PAIRINGS => {
                self.sent_control = arguments
                    .get("time_control")
                    .and_then(Value::as_str)
                    .map(str::to_owned);
            }
            _ => {}
        }
        None
    }

    /// Returns whether a pairing must be sent to the board.
    fn needs(&self, wanted: &Players, purpose: &Purpose) -> bool {
        let is_sent = self.sent_pairing.as_ref() == Some(wanted);
        let is_refused = self.refused.as_ref() == Some(wanted);
        match purpose {
            Purpose::Play => !is_sent || !self.has_round_and_table(wanted),
            Purpose::Finished(_) => !is_sent && !is_refused,
        }
    }

    /// Returns whether the game in play, or else the next game, has this round and table. Names may differ, because an
    /// arbiter may have corrected them.
    fn has_round_and_table(&self, wanted: &Players) -> bool {
        let players = match self.playing() {
            Some(_) => self.players.as_ref(),
            None => self.announced.players(),
        };
        players.is_some_and(|players| (players.round, players.table) == (wanted.round, wanted.table))
    }
}

fn set_players(players: &Players, purpose: &Purpose) -> Option<Command> {
    let Value::Object(mut fields) = serde_json::to_value(players).ok()? else {
        return None;
    };
    // Facts that are missing in the files are cleared, so that no earlier value remains.
    for (field, facts) in [
        ("white_player", &players.white_player),
        ("black_player", &players.black_player),
    ] {
        fields.insert(field.to_owned(), facts.as_deref().map_or(Value::Null, all_facts));
    }
    if let Purpose::Finished(game) = purpose {
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

/// Extracts pairing and result from a command that set a result from the files.
fn result_of(arguments: &Value) -> Option<((u32, u32), GameResult)> {
    let number = |name: &str| u32::try_from(arguments.get(name)?.as_u64()?).ok();
    let result = arguments.get("result")?.as_str()?;
    let result = GameResult::ALL.iter().find(|known| known.as_str() == result)?;
    Some(((number("round")?, number("table")?), *result))
}

/// Returns all facts of a player, with null for unknown ones.
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
    // Parsing cannot fail, because all fields are valid.
    let command = Command::parse(&Value::Object(fields).to_string()).ok()?;
    // A command that a board has refused is not sent again, which the record shows.
    Some(Command {
        always_recorded: true,
        ..command
    })
}

#[cfg(test)]
mod tests;
