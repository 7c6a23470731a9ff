//! Who sits where: which pairing belongs to which board, and when.
//!
//! It knows the boards by their events, as outputs do. What it finds to be said goes to a board as a command, like
//! everything that people say: it is kept, and a restart knows it.

mod withdrawn;

use std::collections::BTreeMap;
use std::sync::Arc;

use kiebitz_hardware::Timestamp;
use serde_json::{Map, Value, json};

use super::Tournament;
use crate::events::{Action, EndReason, Event, EventKind, GameResult, PlayerFacts, Players};
use crate::laws::{Rounds, TimeControl};
use crate::referee::command::{Announced, Change, Command, Order, Paired, SetTable, StartRound};

/// Who gives the commands that follow from the pairings.
pub const BY: &str = Command::PAIRINGS;

/// Gives every board the pairing of its table.
#[derive(Debug, Default)]
pub struct Seating {
    tournament: Arc<Tournament>,
    /// What the files say is known.
    is_paired: bool,
    /// By the boards' names.
    seats: BTreeMap<String, Seat>,
    /// The round that boards get pairings of.
    round: Option<u32>,
    /// The round that somebody said begins, and when they did.
    asked: Option<(Timestamp, u32)>,
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
struct Seat {
    /// By its name or the configuration.
    table: Option<u32>,
    /// By command, and how late among all commands.
    moved: Option<(Timestamp, u32)>,
    announced: Announced,
    game: Option<Game>,
    /// The last pairing that it was given.
    given: Option<Players>,
    /// Somebody has named the players since.
    by_hand: bool,
    /// The last time control, as it was written.
    control: Option<String>,
    /// The games of it that are over and count, by round and table.
    over: Vec<(u32, u32)>,
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

/// The last game on a board.
#[derive(Debug)]
struct Game {
    id: String,
    players: Option<Players>,
    plies: u32,
    ended: Option<(GameResult, EndReason)>,
}

/// A game that was ended by setting up the pieces was one if it had so many plies; else somebody tried something out.
const GAME: u32 = 10;

impl Seating {
    /// These boards have these tables, unless somebody moves them.
    pub fn place<'b>(&mut self, boards: impl IntoIterator<Item = (&'b str, Option<u32>)>) {
        for (board, table) in boards {
            self.seats.entry(board.to_owned()).or_default().table = table;
        }
    }

    /// These are the pairings from now on.
    pub fn pair(&mut self, tournament: Arc<Tournament>) {
        self.tournament = tournament;
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
        let seat = self.seats.entry(event.board.clone()).or_default();
        seat.announced.apply(event);
        let asked = seat.apply(event).map(|round| (event.ts, round));
        self.asked = self.asked.max(asked);
    }

    /// Goes on with what the journal has of a board: what [was announced](crate::journal::Past::announcements), and of how
    /// many plies its last game is.
    pub fn resume(&mut self, board: &str, events: &[Event], plies: u32) {
        events.iter().for_each(|event| self.apply(event));
        if let Some(seat) = self.seats.get_mut(board) {
            let game = seat.game.as_mut();
            let ended = game.and_then(|game| {
                game.plies = plies;
                game.ended
            });
            if ended.is_some() {
                seat.end(ended);
            }
        }
    }

    /// Adds to a `set_players` of a person what the files have of the players that it names: they may be others than the
    /// players of the board.
    pub fn complete(&self, command: &mut Command) {
        let Order::SetPlayers(set) = &mut command.order else {
            return;
        };
        if command.by == BY || set.paired != Paired::default() {
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
            let place = seat.place_of(round, table);
            let Some(place) = place else { continue };
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
                pairing.is_some_and(|pairing| pairing.is_played() && pairing.result.is_none())
            });
            of_round.map(|(table, name)| (*table, name)).collect()
        };
        let is_over = |(table, name): &(u32, &String)| {
            let seat = self.seats.get(*name);
            seat.is_some_and(|seat| seat.over.contains(&(round, *table)))
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

impl Seat {
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
            } if by == BY => self.refused = serde_json::from_value(arguments.clone()).ok(),
            EventKind::GameStarted { players, .. } => {
                let round = players.as_ref().and_then(|players| players.round);
                self.begun = round.map(|round| (event.ts, round)).or(self.begun);
                self.game = Some(Game {
                    id: event.game.clone().unwrap_or_default(),
                    players: players.clone(),
                    plies: 0,
                    ended: None,
                });
            }
            EventKind::MoveMade(played) => {
                if let Some(game) = &mut self.game {
                    game.plies = game.plies.max(played.ply);
                }
            }
            EventKind::GameEnded { result, reason, .. } => self.end(Some((*result, *reason))),
            EventKind::GameResumed { .. } => self.end(None),
            EventKind::GameAmended {
                players,
                result,
                reason,
                ..
            } => {
                if let (Some(game), Some(players)) = (&mut self.game, players) {
                    game.players = Some(players.clone());
                }
                if let Some(result) = result {
                    self.end(reason.map(|reason| (*result, reason)));
                }
            }
            _ => {}
        }
        None
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
            Action::SetPlayers if by == BY => {
                self.by_hand = false;
                self.given = serde_json::from_value(arguments.clone()).ok();
                let round = self.given.as_ref().and_then(|players| players.round);
                self.begun = round.map(|round| (at, round)).or(self.begun);
            }
            Action::SetPlayers => {
                let game = self.game.as_ref().map(|game| &*game.id);
                self.by_hand |= withdrawn::is_by_hand(by, arguments, game);
            }
            Action::SetTimeControl if by == BY => {
                self.control = arguments
                    .get("time_control")
                    .and_then(Value::as_str)
                    .map(str::to_owned);
            }
            _ => {}
        }
        None
    }

    /// The last game has ended like that, or goes on.
    fn end(&mut self, ended: Option<(GameResult, EndReason)>) {
        let Some(game) = &mut self.game else { return };
        game.ended = ended;
        let place = game
            .players
            .as_ref()
            .and_then(|players| Some((players.round?, players.table?)));
        let counts = ended.is_some_and(|(result, reason)| match reason {
            EndReason::Void | EndReason::Gap | EndReason::Adjourned => false,
            _ => result != GameResult::Unknown || game.plies >= GAME,
        });
        if let Some(place) = place {
            self.over.retain(|over| *over != place);
            if counts {
                self.over.push(place);
            }
        }
    }

    /// What the pairing of a table in a round may be given to it for; `None`: nothing, while another game is played on it.
    fn place_of(&self, round: u32, table: u32) -> Option<For> {
        if self.over.contains(&(round, table)) {
            let of_pairing = |game: &&Game| {
                let players = game.players.as_ref();
                players.is_some_and(|players| (players.round, players.table) == (Some(round), Some(table)))
            };
            let last = self.game.as_ref().filter(of_pairing);
            return last.map(|game| For::Over(game.id.clone()));
        }
        let playing = self.game.as_ref().filter(|game| game.ended.is_none());
        let place = playing
            .and_then(|game| game.players.as_ref())
            .map(|players| (players.round, players.table));
        let is_free = match (playing, place) {
            // Nobody plays, or nobody knows who.
            (None, _) | (_, None | Some((None, _))) => true,
            (Some(_), Some((of_round, _))) => of_round == Some(round),
        };
        is_free.then_some(For::Play)
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
        let playing = self.game.as_ref().filter(|game| game.ended.is_none());
        let players = match playing {
            Some(game) => game.players.as_ref(),
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
    fields.insert("by".to_owned(), json!(BY));
    // Nothing in it can be refused.
    Command::parse(&Value::Object(fields).to_string()).ok()
}

#[cfg(test)]
mod tests;
