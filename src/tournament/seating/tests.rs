use kiebitz_game::events::pairing::MIN_PLIES;
use kiebitz_game::events::samples::{ply, started};
use kiebitz_game::events::{DecidedBy, EndReason, GameResult};
use kiebitz_game::position::Variant;

use super::*;
use crate::tournament::{Pairing, Player, Round};

/// A playing hall with two boards that accept every command.
struct Room {
    seating: Seating,
    second: i64,
    rounds: Rounds,
    set_up: bool,
    events: Vec<Event>,
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_micros((1_789_000_000 + second) * 1_000_000)
}

fn tournament(rounds: &[&[(u32, &str, &str)]]) -> Arc<Tournament> {
    let player = |name: &str| {
        (!name.is_empty()).then(|| Player {
            name: name.to_owned(),
            ..Player::default()
        })
    };
    let round = |pairings: &&[(u32, &str, &str)]| Round {
        pairings: pairings
            .iter()
            .map(|(table, white, black)| Pairing {
                table: Some(*table),
                white: player(white),
                black: player(black),
                ..Pairing::default()
            })
            .collect(),
        ..Round::default()
    };
    let rounds = (1..).zip(rounds.iter().map(round)).collect();
    Arc::new(Tournament {
        rounds,
        ..Tournament::default()
    })
}

const TWO_ROUNDS: &[&[(u32, &str, &str)]] = &[
    &[(1, "Adler", "Berg"), (2, "Clausen", "Dorn")],
    &[(1, "Dorn", "Adler"), (2, "Berg", "Clausen")],
];

impl Room {
    fn new(rounds: &[&[(u32, &str, &str)]]) -> Self {
        let mut seating = Seating::default();
        seating.place([("board-1", Some(1)), ("board-2", Some(2))]);
        seating.pair(tournament(rounds));
        Self {
            seating,
            second: 0,
            rounds: Rounds::default(),
            set_up: false,
            events: Vec::new(),
        }
    }

    /// Returns the id of the board's last game, or of the game that the event begins.
    fn game(&self, board: &str, kind: &EventKind) -> String {
        let games = self.seating.seats.get(board).map_or(0, |seat| seat.games.len());
        let begins = matches!(kind, EventKind::GameStarted { .. });
        format!("{board}-{}", games + usize::from(begins))
    }

    fn event(&mut self, board: &str, game: bool, kind: EventKind) {
        self.second += 1;
        let event = Event {
            ts: at(self.second),
            board: board.to_owned(),
            game: game.then(|| self.game(board, &kind)),
            ..kiebitz_game::events::samples::event(1, kind)
        };
        self.seating.apply(&event);
        self.events.push(event);
    }

    /// Returns a summary of the commands that are due now. The boards accept them.
    fn poll(&mut self) -> Vec<String> {
        let set_up = self.set_up;
        let view = |_: &str| View {
            set_up,
            has_time_control: false,
        };
        let commands = self.seating.due_commands(at(self.second), &self.rounds, view);
        let mut short = Vec::new();
        for (board, command) in commands {
            let arguments = &command.arguments;
            let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
            short.push(match command.action {
                Action::SetPlayers => format!(
                    "{board}: {}-{} {}",
                    text("white"),
                    text("black"),
                    arguments["round"]
                ),
                Action::SetResult => format!("{board}: {} {}", text("result"), text("game")),
                _ => format!("{board}: {}", text("time_control")),
            });
            self.accept(&board, command);
        }
        short
    }

    fn accept(&mut self, board: &str, command: Command) {
        let seat = self.seating.seats.get(board);
        let playing = seat.is_some_and(|seat| seat.playing().is_some());
        let players = serde_json::from_value(command.arguments.clone()).ok();
        let named = command.action == Action::SetPlayers && playing;
        self.event(
            board,
            playing,
            EventKind::CommandTaken {
                id: command.id,
                action: command.action,
                by: command.by,
                arguments: command.arguments,
                error: None,
                note: None,
            },
        );
        if named {
            self.event(
                board,
                true,
                EventKind::GameAmended {
                    by: PAIRINGS.to_owned(),
                    result: None,
                    reason: None,
                    players,
                    time_control: None,
                    time_control_typed: None,
                    mode: None,
                    moves: None,
                    position: None,
                    note: None,
                    assigned: false,
                },
            );
        }
    }

    fn command(&mut self, board: &str, text: &str) {
        let command = Command::parse(text).expect("a command");
        self.accept(board, command);
    }

    fn begin_game(&mut self, board: &str, plies: u32) {
        let mut kind = started(
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            Variant::Standard,
        );
        if let EventKind::GameStarted { players, .. } = &mut kind {
            *players = self.seating.seats[board].announced.players().cloned();
        }
        self.event(board, true, kind);
        for number in 1..=plies {
            self.event(board, true, EventKind::MoveMade(ply(number, "e2e4", "e4")));
        }
    }

    fn end_game(&mut self, board: &str, result: GameResult, reason: EndReason) {
        let kind = EventKind::GameEnded {
            result,
            reason,
            by: DecidedBy::Board,
            confirmed: false,
            end_certain: true,
            decided_by: None,
        };
        self.event(board, true, kind);
    }

    /// Replaces the seating by one that is rebuilt from the events.
    fn restart(&mut self) {
        let tournament = Arc::clone(&self.seating.tournament);
        self.seating = Seating::default();
        self.seating.place([("board-1", Some(1)), ("board-2", Some(2))]);
        self.seating.pair(tournament);
        for board in ["board-2", "board-1"] {
            let of_board = self.events.iter().filter(|event| event.board == board);
            let kept = |event: &&Event| match &event.kind {
                EventKind::MoveMade(played) => [1, MIN_PLIES].contains(&played.ply),
                _ => true,
            };
            of_board.filter(kept).for_each(|event| self.seating.apply(event));
        }
    }
}

#[test]
fn every_board_gets_the_pairing_of_its_table_once() {
    let mut room = Room::new(TWO_ROUNDS);
    assert_eq!(room.poll(), ["board-1: Adler-Berg 1", "board-2: Clausen-Dorn 1"]);
    assert_eq!(room.poll(), [""; 0]);
    room.begin_game("board-1", 12);
    assert_eq!(room.poll(), [""; 0]);
    room.restart();
    assert_eq!(room.poll(), [""; 0]);
}

#[test]
fn corrections_in_the_file_and_by_the_arbiter_both_apply() {
    let mut room = Room::new(TWO_ROUNDS);
    room.poll();
    room.begin_game("board-1", 12);
    room.command(
        "board-1",
        r#"{"id":"1","do":"set_players","white":"Adler, J.","black":"Berg","round":1,"table":1}"#,
    );
    assert_eq!(room.poll(), [""; 0]);
    room.seating
        .pair(tournament(&[&[(1, "Adler", "Bergmann"), (2, "Clausen", "Dorn")]]));
    assert_eq!(room.poll(), ["board-1: Adler-Bergmann 1"]);
    assert_eq!(room.poll(), [""; 0]);
    // The arbiter has the score sheets, but the file determines the spelling.
    room.end_game("board-1", GameResult::Draw, EndReason::Kings);
    assert_eq!(room.poll(), [""; 0]);
    room.seating.pair(tournament(&[&[
        (1, "Adler", "Berg-Mann"),
        (2, "Clausen", "Dorn"),
    ]]));
    assert_eq!(room.poll(), ["board-1: Adler-Berg-Mann 1"]);
    assert_eq!(room.poll(), [""; 0]);
}

/// Players try moves before their game, and analyse after it.
#[test]
fn trial_moves_and_analysis_do_not_count_as_the_game() {
    let mut room = Room::new(TWO_ROUNDS);
    room.poll();
    room.begin_game("board-1", 4);
    room.end_game("board-1", GameResult::Unknown, EndReason::Reset);
    assert_eq!(room.poll(), ["board-1: Adler-Berg 1"], "that was no game");
    room.begin_game("board-1", 30);
    room.end_game("board-1", GameResult::Draw, EndReason::Kings);
    assert_eq!(room.poll(), [""; 0]);
    room.begin_game("board-1", 30);
    assert_eq!(room.poll(), [""; 0], "this is nobody's game");
}

/// After their game, players analyse on the board and leave. For the next round, somebody sets up the pieces.
#[test]
fn an_analysis_of_the_last_round_does_not_become_the_next_game() {
    let mut room = Room::new(TWO_ROUNDS);
    room.poll();
    for board in ["board-1", "board-2"] {
        room.begin_game(board, 30);
        room.end_game(board, GameResult::Draw, EndReason::Kings);
    }
    room.begin_game("board-1", 30);
    assert_eq!(room.poll(), [""; 0]);
    room.set_up = true;
    assert_eq!(room.poll(), ["board-2: Berg-Clausen 2"]);
    assert_eq!(room.seating.round(), Some(2));
    room.end_game("board-1", GameResult::Unknown, EndReason::Reset);
    assert_eq!(room.poll(), ["board-1: Dorn-Adler 2"]);
    room.begin_game("board-1", 30);
    let game = room.seating.game_of(2, 1).map(|(_, game)| game.game().to_owned());
    assert_eq!(game.as_deref(), Some("board-1-3"));
}

/// The first game ended without a result, and another game began before the restart.
#[test]
fn a_second_game_has_no_players_even_after_a_restart() {
    let mut room = Room::new(TWO_ROUNDS);
    room.poll();
    room.begin_game("board-1", 18);
    room.end_game("board-1", GameResult::Unknown, EndReason::Reset);
    room.begin_game("board-1", 3);
    assert_eq!(room.poll(), [""; 0]);
    room.restart();
    assert_eq!(room.poll(), [""; 0]);
    // The table was moved to another board meanwhile.
    room.command("board-2", r#"{"id":"1","do":"set_table","table":1}"#);
    assert_eq!(room.poll(), [""; 0], "the game of that table has been played");
    room.restart();
    assert_eq!(room.poll(), [""; 0]);
}

#[test]
fn the_next_round_begins_when_all_boards_are_set_up() {
    let mut room = Room::new(TWO_ROUNDS);
    room.poll();
    for board in ["board-1", "board-2"] {
        room.begin_game(board, 30);
        room.set_up = true;
        assert_eq!(room.poll(), [""; 0], "there is still a game");
        room.end_game(board, GameResult::Unknown, EndReason::Reset);
        room.set_up = false;
    }
    assert_eq!(room.poll(), [""; 0], "nobody has set up");
    room.restart();
    room.set_up = true;
    assert_eq!(room.poll(), [""; 0], "the round before is over");
    assert_eq!(room.poll(), ["board-1: Dorn-Adler 2", "board-2: Berg-Clausen 2"]);
    room.begin_game("board-1", 3);
    assert_eq!(
        room.seating.seats["board-1"]
            .players
            .as_ref()
            .and_then(|players| players.round),
        Some(2)
    );
    room.restart();
    room.set_up = false;
    assert_eq!(room.poll(), [""; 0]);
    assert_eq!(room.seating.round(), Some(2));
}

#[test]
fn the_next_round_begins_by_command_during_play() {
    let mut room = Room::new(TWO_ROUNDS);
    room.poll();
    room.begin_game("board-1", 30);
    room.begin_game("board-2", 30);
    room.end_game("board-2", GameResult::Draw, EndReason::Kings);
    room.command("board-2", r#"{"id":"1","do":"start_round","round":2}"#);
    assert_eq!(room.poll(), ["board-2: Berg-Clausen 2"]);
    room.end_game("board-1", GameResult::WhiteWins, EndReason::Checkmate);
    assert_eq!(room.poll(), ["board-1: Dorn-Adler 2"]);
    room.restart();
    assert_eq!(room.poll(), [""; 0]);
    assert_eq!(room.seating.round(), Some(2));
}

#[test]
fn rounds_begin_as_planned() {
    let mut room = Room::new(TWO_ROUNDS);
    room.rounds = Rounds::planned([at(1000), at(9000)]);
    assert_eq!(room.poll(), ["board-1: Adler-Berg 1", "board-2: Clausen-Dorn 1"]);
    room.begin_game("board-1", 30);
    room.end_game("board-1", GameResult::Draw, EndReason::Kings);
    room.set_up = true;
    room.second = 8000;
    assert_eq!(room.poll(), [""; 0]);
    room.second = 8900;
    assert_eq!(room.poll(), ["board-1: Dorn-Adler 2", "board-2: Berg-Clausen 2"]);
}

#[test]
fn a_board_is_moved_by_command() {
    let mut room = Room::new(&[&[(1, "Adler", "Berg"), (2, "Clausen", "Dorn"), (7, "Ebert", "Falk")]]);
    room.command("board-2", r#"{"id":"1","do":"set_table","table":7}"#);
    assert_eq!(room.poll(), ["board-1: Adler-Berg 1", "board-2: Ebert-Falk 1"]);
    room.command("board-2", r#"{"id":"2","do":"set_table","table":1}"#);
    assert_eq!(room.poll(), ["board-2: Adler-Berg 1"], "who came last is there");
    room.restart();
    assert_eq!(room.poll(), [""; 0]);
}

/// The pairings arrive some minutes after the start of the game.
#[test]
fn a_late_pairing_applies_to_the_game_in_play() {
    let mut room = Room::new(&[]);
    room.begin_game("board-1", 6);
    assert_eq!(room.poll(), [""; 0]);
    room.seating.pair(tournament(TWO_ROUNDS));
    assert_eq!(room.poll(), ["board-1: Adler-Berg 1", "board-2: Clausen-Dorn 1"]);
    assert_eq!(room.poll(), [""; 0]);
}

#[test]
fn names_of_a_removed_pairing_are_withdrawn_before_the_first_move() {
    let mut room = Room::new(TWO_ROUNDS);
    room.poll();
    room.begin_game("board-2", 0);
    room.restart();
    let others: &[&[(u32, &str, &str)]] = &[&[(1, "Adler", "Berg")]];
    room.seating.pair(tournament(others));
    assert_eq!(
        room.poll(),
        ["board-2: - null"],
        "the pieces are set up, and nobody has moved"
    );
    assert_eq!(room.poll(), [""; 0], "once");
    let players = room.seating.seats["board-2"].players.as_ref();
    assert_eq!(players.and_then(|players| players.white.as_ref()), None);
    room.seating.pair(tournament(&[]));
    assert_eq!(room.poll(), ["board-1: - null"]);
    assert_eq!(
        room.seating.seats["board-1"]
            .announced
            .players()
            .and_then(|next| next.white.as_ref()),
        None
    );
    room.restart();
    assert_eq!(room.poll(), [""; 0]);
    room.seating.pair(tournament(TWO_ROUNDS));
    assert_eq!(
        room.poll(),
        ["board-1: Adler-Berg 1", "board-2: Clausen-Dorn 1"],
        "it is back"
    );
}

#[test]
fn names_stay_after_the_first_move_of_the_round_or_if_set_by_hand() {
    let mut room = Room::new(TWO_ROUNDS);
    room.poll();
    room.command(
        "board-2",
        r#"{"id":"1","do":"set_players","white":"Clausen","black":"Dorn"}"#,
    );
    room.begin_game("board-1", 1);
    room.seating.pair(tournament(&[]));
    assert_eq!(room.poll(), [""; 0], "the round is being played");
    let mut room = Room::new(TWO_ROUNDS);
    room.poll();
    room.command(
        "board-2",
        r#"{"id":"1","do":"set_players","white":"Clausen","black":"Dorn"}"#,
    );
    room.restart();
    room.seating.pair(tournament(&[]));
    assert_eq!(room.poll(), ["board-1: - null"], "the others were set by hand");
    let mut room = Room::new(TWO_ROUNDS);
    room.poll();
    room.restart();
    room.seating.is_paired = false;
    room.seating.tournament = Arc::default();
    assert_eq!(room.poll(), [""; 0], "what the files say is not known yet");
}

/// The pairing program gets the results from the players.
#[test]
fn a_result_in_the_file_reaches_the_game_of_its_pairing_once() {
    let with_results = |results: [Option<GameResult>; 2]| {
        let mut paired = (*tournament(TWO_ROUNDS)).clone();
        let pairings = &mut paired.rounds.get_mut(&1).expect("a round").pairings;
        for (pairing, result) in pairings.iter_mut().zip(results) {
            pairing.result = result;
        }
        Arc::new(paired)
    };
    let mut room = Room::new(TWO_ROUNDS);
    room.poll();
    room.begin_game("board-1", 30);
    room.end_game("board-1", GameResult::Unknown, EndReason::Reset);
    room.begin_game("board-2", 30);
    room.begin_game("board-1", 12);
    room.seating
        .pair(with_results([Some(GameResult::WhiteWins), None]));
    assert_eq!(room.poll(), ["board-1: 1-0 board-1-1"], "another game has begun");
    assert_eq!(room.poll(), [""; 0], "once, whatever the arbiter decides then");
    room.restart();
    assert_eq!(room.poll(), [""; 0]);
    // The players have reported the result and left.
    room.seating.pair(with_results([
        Some(GameResult::Draw),
        Some(GameResult::BlackWins),
    ]));
    assert_eq!(
        room.poll(),
        ["board-1: 1/2-1/2 board-1-1", "board-2: 0-1 board-2-1"]
    );
    room.restart();
    assert_eq!(room.poll(), [""; 0]);
}

/// A forfeit was entered before the round, but the players play the game after all.
#[test]
fn an_earlier_result_in_the_file_does_not_end_a_game_in_play() {
    let mut paired = (*tournament(TWO_ROUNDS)).clone();
    for pairing in &mut paired.rounds.get_mut(&1).expect("a round").pairings {
        pairing.result = Some(GameResult::WhiteWins);
    }
    let mut room = Room::new(&[]);
    room.seating = Seating::default();
    room.seating.place([("board-1", Some(1))]);
    room.seating.pair(Arc::new(paired));
    room.command("board-1", r#"{"id":"1","do":"start_round","round":1}"#);
    assert_eq!(room.poll(), ["board-1: Adler-Berg 1"]);
    room.begin_game("board-1", 12);
    assert_eq!(room.poll(), [""; 0]);
    room.end_game("board-1", GameResult::BlackWins, EndReason::Checkmate);
    assert_eq!(room.poll(), ["board-1: 1-0 board-1-1"]);
}

#[test]
fn facts_removed_from_a_file_are_cleared() {
    let mut room = Room::new(&[]);
    let with_title = |title: Option<&str>| {
        let mut paired = (*tournament(TWO_ROUNDS)).clone();
        let round = paired.rounds.get_mut(&1).expect("a round");
        let white = round.pairings[0].white.as_mut().expect("a player");
        white.facts = PlayerFacts {
            title: title.map(str::to_owned),
            rating: title.map(|_| 2300),
            ..PlayerFacts::default()
        };
        Arc::new(paired)
    };
    let white_facts = |room: &Room| {
        let players = room.seating.seats["board-1"]
            .announced
            .players()
            .expect("players");
        players.white_player.clone()
    };
    room.seating.pair(with_title(Some("FM")));
    room.poll();
    assert_eq!(
        white_facts(&room).and_then(|facts| facts.title),
        Some("FM".to_owned())
    );
    room.seating.pair(with_title(None));
    assert_eq!(room.poll(), ["board-1: Adler-Berg 1"]);
    assert_eq!(white_facts(&room), None);
    assert_eq!(room.poll(), [""; 0], "once");
}

/// The arbiter names a player who belongs to another pairing of the event.
#[test]
fn facts_are_added_for_any_player_named_by_hand() {
    let mut paired = (*tournament(TWO_ROUNDS)).clone();
    let dorn = paired
        .rounds
        .get_mut(&1)
        .and_then(|round| round.pairings[1].black.as_mut());
    dorn.expect("a player").facts.rating = Some(1900);
    let mut seating = Seating::default();
    seating.pair(Arc::new(paired));
    let complete = |text: &str| {
        let mut command = Command::parse(text).expect("a command");
        seating.complete(&mut command);
        let Order::SetPlayers(set) = command.order else {
            panic!("players")
        };
        (command.arguments.get(Paired::FIELD).cloned(), set.paired)
    };
    let (arguments, paired) = complete(r#"{"id":"1","do":"set_players","white":"dorn","black":"Nobody"}"#);
    assert_eq!(arguments, Some(json!({"white": {"rating": 1900}})));
    assert_eq!(paired.white.and_then(|facts| facts.rating), Some(1900));
    let other = r#"{"id":"1","do":"set_players","white":"Dorn","by":"pairings"}"#;
    assert_eq!(
        complete(other),
        (None, Paired::default()),
        "the files give all they have"
    );
}
