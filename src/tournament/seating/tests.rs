use kiebitz_game::events::pairing::MIN_PLIES;
use kiebitz_game::events::samples::{ply, started};
use kiebitz_game::events::{DecidedBy, EndReason, GameResult};
use kiebitz_game::position::Variant;

use super::*;
use crate::tournament::{FilePosition, Pairing, Player, Round};

/// Boards that do what they are told, and players.
struct Room {
    seating: Seating,
    second: i64,
    rounds: Rounds,
    set_up: bool,
    said: Vec<Event>,
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
                result: None,
                place: FilePosition::default(),
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
            said: Vec::new(),
        }
    }

    /// The id of the board's last game, or of a new one.
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
        self.said.push(event);
    }

    /// What is said now, in short; every board takes it.
    fn looks(&mut self) -> Vec<String> {
        let set_up = self.set_up;
        let view = |_: &str| View {
            set_up,
            has_time_control: false,
        };
        let said = self.seating.look(at(self.second), &self.rounds, view);
        let mut short = Vec::new();
        for (board, command) in said {
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
            self.takes(&board, command);
        }
        short
    }

    fn takes(&mut self, board: &str, command: Command) {
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

    fn commands(&mut self, board: &str, text: &str) {
        let command = Command::parse(text).expect("a command");
        self.takes(board, command);
    }

    fn begins(&mut self, board: &str, plies: u32) {
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

    fn ends(&mut self, board: &str, result: GameResult, reason: EndReason) {
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

    /// What is known is thrown away, and made again of what was said.
    fn restarts(&mut self) {
        let tournament = Arc::clone(&self.seating.tournament);
        self.seating = Seating::default();
        self.seating.place([("board-1", Some(1)), ("board-2", Some(2))]);
        self.seating.pair(tournament);
        for board in ["board-2", "board-1"] {
            let of_board = self.said.iter().filter(|event| event.board == board);
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
    assert_eq!(room.looks(), ["board-1: Adler-Berg 1", "board-2: Clausen-Dorn 1"]);
    assert_eq!(room.looks(), [""; 0]);
    room.begins("board-1", 12);
    assert_eq!(room.looks(), [""; 0]);
    room.restarts();
    assert_eq!(room.looks(), [""; 0]);
}

#[test]
fn a_correction_of_the_file_reaches_a_game_and_one_of_the_arbiter_stays() {
    let mut room = Room::new(TWO_ROUNDS);
    room.looks();
    room.begins("board-1", 12);
    room.commands(
        "board-1",
        r#"{"id":"1","do":"set_players","white":"Adler, J.","black":"Berg","round":1,"table":1}"#,
    );
    assert_eq!(room.looks(), [""; 0]);
    room.seating
        .pair(tournament(&[&[(1, "Adler", "Bergmann"), (2, "Clausen", "Dorn")]]));
    assert_eq!(room.looks(), ["board-1: Adler-Bergmann 1"]);
    assert_eq!(room.looks(), [""; 0]);
    // The arbiter has the score sheets; the spelling is that of the file.
    room.ends("board-1", GameResult::Draw, EndReason::Kings);
    assert_eq!(room.looks(), [""; 0]);
    room.seating.pair(tournament(&[&[
        (1, "Adler", "Berg-Mann"),
        (2, "Clausen", "Dorn"),
    ]]));
    assert_eq!(room.looks(), ["board-1: Adler-Berg-Mann 1"]);
    assert_eq!(room.looks(), [""; 0]);
}

/// Players who try something out before their game, and such as analyse after it.
#[test]
fn what_is_played_beside_the_game_does_not_count() {
    let mut room = Room::new(TWO_ROUNDS);
    room.looks();
    room.begins("board-1", 4);
    room.ends("board-1", GameResult::Unknown, EndReason::Reset);
    assert_eq!(room.looks(), ["board-1: Adler-Berg 1"], "that was no game");
    room.begins("board-1", 30);
    room.ends("board-1", GameResult::Draw, EndReason::Kings);
    assert_eq!(room.looks(), [""; 0]);
    room.begins("board-1", 30);
    assert_eq!(room.looks(), [""; 0], "this is nobody's game");
}

/// The first game ended without a result, and another one is played before the restart.
#[test]
fn a_second_game_is_nobodys_after_a_restart_too() {
    let mut room = Room::new(TWO_ROUNDS);
    room.looks();
    room.begins("board-1", 18);
    room.ends("board-1", GameResult::Unknown, EndReason::Reset);
    room.begins("board-1", 3);
    assert_eq!(room.looks(), [""; 0]);
    room.restarts();
    assert_eq!(room.looks(), [""; 0]);
    // Its table was moved to another board meanwhile.
    room.commands("board-2", r#"{"id":"1","do":"set_table","table":1}"#);
    assert_eq!(room.looks(), [""; 0], "the game of that table has been played");
    room.restarts();
    assert_eq!(room.looks(), [""; 0]);
}

#[test]
fn the_next_round_comes_when_all_have_set_up() {
    let mut room = Room::new(TWO_ROUNDS);
    room.looks();
    for board in ["board-1", "board-2"] {
        room.begins(board, 30);
        room.set_up = true;
        assert_eq!(room.looks(), [""; 0], "there is still a game");
        room.ends(board, GameResult::Unknown, EndReason::Reset);
        room.set_up = false;
    }
    assert_eq!(room.looks(), [""; 0], "nobody has set up");
    room.restarts();
    room.set_up = true;
    assert_eq!(room.looks(), [""; 0], "the round before is over");
    assert_eq!(room.looks(), ["board-1: Dorn-Adler 2", "board-2: Berg-Clausen 2"]);
    room.begins("board-1", 3);
    assert_eq!(
        room.seating.seats["board-1"]
            .players
            .as_ref()
            .and_then(|players| players.round),
        Some(2)
    );
    room.restarts();
    room.set_up = false;
    assert_eq!(room.looks(), [""; 0]);
    assert_eq!(room.seating.round(), Some(2));
}

#[test]
fn the_next_round_comes_by_command_while_half_the_hall_still_plays() {
    let mut room = Room::new(TWO_ROUNDS);
    room.looks();
    room.begins("board-1", 30);
    room.begins("board-2", 30);
    room.ends("board-2", GameResult::Draw, EndReason::Kings);
    room.commands("board-2", r#"{"id":"1","do":"start_round","round":2}"#);
    assert_eq!(room.looks(), ["board-2: Berg-Clausen 2"]);
    room.ends("board-1", GameResult::WhiteWins, EndReason::Checkmate);
    assert_eq!(room.looks(), ["board-1: Dorn-Adler 2"]);
    room.restarts();
    assert_eq!(room.looks(), [""; 0]);
    assert_eq!(room.seating.round(), Some(2));
}

#[test]
fn rounds_begin_when_they_are_planned() {
    let mut room = Room::new(TWO_ROUNDS);
    room.rounds = Rounds::planned([at(1000), at(9000)]);
    assert_eq!(room.looks(), ["board-1: Adler-Berg 1", "board-2: Clausen-Dorn 1"]);
    room.begins("board-1", 30);
    room.ends("board-1", GameResult::Draw, EndReason::Kings);
    room.set_up = true;
    room.second = 8000;
    assert_eq!(room.looks(), [""; 0]);
    room.second = 8900;
    assert_eq!(room.looks(), ["board-1: Dorn-Adler 2", "board-2: Berg-Clausen 2"]);
}

#[test]
fn a_board_is_moved_by_command() {
    let mut room = Room::new(&[&[(1, "Adler", "Berg"), (2, "Clausen", "Dorn"), (7, "Ebert", "Falk")]]);
    room.commands("board-2", r#"{"id":"1","do":"set_table","table":7}"#);
    assert_eq!(room.looks(), ["board-1: Adler-Berg 1", "board-2: Ebert-Falk 1"]);
    room.commands("board-2", r#"{"id":"2","do":"set_table","table":1}"#);
    assert_eq!(room.looks(), ["board-2: Adler-Berg 1"], "who came last is there");
    room.restarts();
    assert_eq!(room.looks(), [""; 0]);
}

/// Names come some minutes after the start.
#[test]
fn a_pairing_that_comes_late_goes_to_the_game_that_is_played() {
    let mut room = Room::new(&[]);
    room.begins("board-1", 6);
    assert_eq!(room.looks(), [""; 0]);
    room.seating.pair(tournament(TWO_ROUNDS));
    assert_eq!(room.looks(), ["board-1: Adler-Berg 1", "board-2: Clausen-Dorn 1"]);
    assert_eq!(room.looks(), [""; 0]);
}

#[test]
fn names_of_a_pairing_that_is_none_any_more_are_taken_back_before_the_first_move() {
    let mut room = Room::new(TWO_ROUNDS);
    room.looks();
    room.begins("board-2", 0);
    room.restarts();
    let others: &[&[(u32, &str, &str)]] = &[&[(1, "Adler", "Berg")]];
    room.seating.pair(tournament(others));
    assert_eq!(
        room.looks(),
        ["board-2: - null"],
        "the pieces are set up, and nobody has moved"
    );
    assert_eq!(room.looks(), [""; 0], "once");
    let players = room.seating.seats["board-2"].players.as_ref();
    assert_eq!(players.and_then(|players| players.white.as_ref()), None);
    room.seating.pair(tournament(&[]));
    assert_eq!(room.looks(), ["board-1: - null"]);
    assert_eq!(
        room.seating.seats["board-1"]
            .announced
            .players()
            .and_then(|next| next.white.as_ref()),
        None
    );
    room.restarts();
    assert_eq!(room.looks(), [""; 0]);
    room.seating.pair(tournament(TWO_ROUNDS));
    assert_eq!(
        room.looks(),
        ["board-1: Adler-Berg 1", "board-2: Clausen-Dorn 1"],
        "it is back"
    );
}

#[test]
fn names_stay_once_somebody_has_moved_in_the_round_and_where_a_person_set_them() {
    let mut room = Room::new(TWO_ROUNDS);
    room.looks();
    room.commands(
        "board-2",
        r#"{"id":"1","do":"set_players","white":"Clausen","black":"Dorn"}"#,
    );
    room.begins("board-1", 1);
    room.seating.pair(tournament(&[]));
    assert_eq!(room.looks(), [""; 0], "the round is being played");
    let mut room = Room::new(TWO_ROUNDS);
    room.looks();
    room.commands(
        "board-2",
        r#"{"id":"1","do":"set_players","white":"Clausen","black":"Dorn"}"#,
    );
    room.restarts();
    room.seating.pair(tournament(&[]));
    assert_eq!(room.looks(), ["board-1: - null"], "the others were set by hand");
    let mut room = Room::new(TWO_ROUNDS);
    room.looks();
    room.restarts();
    room.seating.is_paired = false;
    room.seating.tournament = Arc::default();
    assert_eq!(room.looks(), [""; 0], "what the files say is not known yet");
}

/// The pairing program has the results, as players reported them.
#[test]
fn a_result_in_the_file_reaches_the_game_of_its_pairing_once() {
    let with = |results: [Option<GameResult>; 2]| {
        let mut paired = (*tournament(TWO_ROUNDS)).clone();
        let pairings = &mut paired.rounds.get_mut(&1).expect("a round").pairings;
        for (pairing, result) in pairings.iter_mut().zip(results) {
            pairing.result = result;
        }
        Arc::new(paired)
    };
    let mut room = Room::new(TWO_ROUNDS);
    room.looks();
    room.begins("board-1", 30);
    room.ends("board-1", GameResult::Unknown, EndReason::Reset);
    room.begins("board-2", 30);
    room.begins("board-1", 12);
    room.seating.pair(with([Some(GameResult::WhiteWins), None]));
    assert_eq!(room.looks(), ["board-1: 1-0 board-1-1"], "another game has begun");
    assert_eq!(room.looks(), [""; 0], "once, whatever the arbiter decides then");
    room.restarts();
    assert_eq!(room.looks(), [""; 0]);
    // The players have told the result, and left.
    room.seating
        .pair(with([Some(GameResult::Draw), Some(GameResult::BlackWins)]));
    assert_eq!(
        room.looks(),
        ["board-1: 1/2-1/2 board-1-1", "board-2: 0-1 board-2-1"]
    );
    room.restarts();
    assert_eq!(room.looks(), [""; 0]);
}

/// A forfeit that was entered before the round, and the players come and play after all.
#[test]
fn a_result_that_the_file_had_before_ends_no_game_in_play() {
    let mut paired = (*tournament(TWO_ROUNDS)).clone();
    for pairing in &mut paired.rounds.get_mut(&1).expect("a round").pairings {
        pairing.result = Some(GameResult::WhiteWins);
    }
    let mut room = Room::new(&[]);
    room.seating = Seating::default();
    room.seating.place([("board-1", Some(1))]);
    room.seating.pair(Arc::new(paired));
    room.commands("board-1", r#"{"id":"1","do":"start_round","round":1}"#);
    assert_eq!(room.looks(), ["board-1: Adler-Berg 1"]);
    room.begins("board-1", 12);
    assert_eq!(room.looks(), [""; 0]);
    room.ends("board-1", GameResult::BlackWins, EndReason::Checkmate);
    assert_eq!(room.looks(), ["board-1: 1-0 board-1-1"]);
}

/// What the files do not have any more is not known any more.
#[test]
fn facts_that_a_file_does_not_have_any_more_are_cleared() {
    let mut room = Room::new(&[]);
    let with = |title: Option<&str>| {
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
    let known = |room: &Room| {
        let players = room.seating.seats["board-1"]
            .announced
            .players()
            .expect("players");
        players.white_player.clone()
    };
    room.seating.pair(with(Some("FM")));
    room.looks();
    assert_eq!(known(&room).and_then(|facts| facts.title), Some("FM".to_owned()));
    room.seating.pair(with(None));
    assert_eq!(room.looks(), ["board-1: Adler-Berg 1"]);
    assert_eq!(known(&room), None);
    assert_eq!(room.looks(), [""; 0], "once");
}

/// A person who is named by hand and is another player of the event gets what the files have of that player.
#[test]
fn another_player_of_the_files_is_known_by_name() {
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
