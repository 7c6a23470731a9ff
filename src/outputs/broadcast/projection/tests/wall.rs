use serde_json::json;

use super::*;

fn reading(second: i64, running: Option<Color>) -> ClockView {
    ClockView {
        white_ms: Some(5_395_000),
        black_ms: Some(5_391_200),
        running,
        flag: None,
        as_of: Some(at(second)),
    }
}

#[test]
fn a_round_is_one_file_with_all_its_games() {
    let mut broadcast = broadcast(60);
    take(
        &mut broadcast,
        &[
            begins(2, 1, Variant::Standard, START),
            made(2, 10, 1, "e2e4", "e4"),
            made(2, 20, 2, "c7c5", "c5"),
        ],
    );
    broadcast.queue_clock(at(21), "board-2", &reading(21, Some(Color::White)));
    broadcast.advance(at(81));
    let round = json(&mut broadcast, "round-3/wall.json");
    assert_eq!(
        round["head"],
        json!({"round": 3, "date": "2026-09-10", "time_control": "90+30", "starts": 1_789_007_200_000_i64,
            "matches": []})
    );
    let placement = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    assert_eq!(
        round["games"][0],
        json!({"table": 1, "has_board": false, "placement": placement, "last": null, "clock": null, "live": false, "result": "*",
            "reason": null,
            "white": {"name": "Adler, Jonas", "title": null, "rating": null, "federation": null, "team": null},
            "black": {"name": "Berg, Ines", "title": null, "rating": null, "federation": null, "team": null}}),
        "it is there before it begins"
    );
    let game = &round["games"][1];
    assert_eq!(
        game["last"],
        json!({"ply": 2, "number": 1, "color": "black", "san": "c5", "uci": "c7c5"})
    );
    assert_eq!(
        game["clock"],
        json!({"white_ms": 5_395_000, "black_ms": 5_391_200, "running": "white", "as_of": 1_789_000_081_000_i64}),
        "for those who see it a minute later"
    );
    assert_eq!(
        (&game["live"], &game["has_board"], &game["placement"]),
        (&json!(true), &json!(true), &json!("after"))
    );

    take(&mut broadcast, &[ended(2, 90, GameResult::BlackWins)]);
    broadcast.advance(at(150));
    let game = &json(&mut broadcast, "round-3/wall.json")["games"][1];
    assert_eq!(
        (&game["result"], &game["reason"]),
        (&json!("0-1"), &json!("resignation"))
    );
    let stopped = json!({"white_ms": 600_000, "black_ms": 600_000, "running": null, "as_of": null});
    assert_eq!(game["clock"], stopped, "as it was after the last move");
}

#[test]
fn the_moves_of_a_game_have_the_placement_after_each() {
    let mut broadcast = broadcast(0);
    take(
        &mut broadcast,
        &[
            begins(1, 1, Variant::Standard, START),
            made(1, 10, 1, "e2e4", "e4"),
            completed(1, 11, 1, 5395),
        ],
    );
    broadcast.advance(at(11));
    assert_eq!(
        json(&mut broadcast, "round-3/board-1.json"),
        json!({"start": START, "moves": [
            {"san": "e4", "uci": "e2e4", "placement": "after", "left_ms": 5_395_000, "taken_ms": 7400}]})
    );
    assert!(
        !broadcast.files().contains_key("round-3/board-2.json"),
        "it has none"
    );
}

#[test]
fn moves_end_before_an_illegal_one() {
    let mut broadcast = broadcast(0);
    let mut wrong = ply(2, "e8e6", "Ke6");
    (wrong.legal, wrong.san) = (false, None);
    take(
        &mut broadcast,
        &[
            begins(1, 1, Variant::Standard, START),
            made(1, 10, 1, "e2e4", "e4"),
            event(1, 20, EventKind::MoveMade(wrong)),
        ],
    );
    broadcast.advance(at(20));
    let game = &json(&mut broadcast, "round-3/wall.json")["games"][0];
    assert_eq!(game["last"]["san"], "e4");
    let moves = json(&mut broadcast, "round-3/board-1.json");
    assert_eq!(moves["moves"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_start_position_that_is_not_drawn_yet_is_not_published() {
    let mut broadcast = broadcast(0);
    broadcast.set_facts(EventFacts {
        start: Some(DrawnStart::Chess960(None)),
        ..EventFacts::default()
    });
    let round = json(&mut broadcast, "round-3/wall.json");
    assert_eq!(round["games"][0]["placement"], Value::Null);
    assert_eq!(round["games"][0]["white"]["name"], "Adler, Jonas");
}

#[test]
fn teams_have_the_points_of_their_players() {
    let mut broadcast = broadcast(0);
    let mut paired = (*tournament()).clone();
    let of = |team: &str| Some(team.to_owned());
    let pairings = &mut paired.rounds.get_mut(&3).expect("a round").pairings;
    // The teams change colours from board to board.
    let teams = [["SK Nord", "SK Süd"], ["SK Süd", "SK Nord"]];
    for (pairing, [white, black]) in pairings.iter_mut().zip(teams) {
        for (player, team) in [(&mut pairing.white, white), (&mut pairing.black, black)] {
            player.as_mut().expect("a player").facts.team = of(team);
        }
    }
    pairings[0].result = Some(GameResult::Draw);
    pairings[1].result = Some(GameResult::WhiteWins);
    broadcast.pair(Arc::new(paired));
    assert_eq!(
        json(&mut broadcast, "round-3/wall.json")["head"]["matches"],
        json!([{"teams": ["SK Nord", "SK Süd"], "points": [0.5, 1.5], "games": 2, "live": 0}])
    );
}

/// In an event for individual players, a team is a club.
#[test]
fn clubs_play_no_matches() {
    let mut broadcast = broadcast(0);
    let mut paired = (*team_event()).clone();
    let pairings = &mut paired.rounds.get_mut(&3).expect("a round").pairings;
    let black = pairings[1].black.as_mut().expect("a player");
    black.facts.team = Some("SG Ost".to_owned());
    broadcast.pair(Arc::new(paired));
    assert_eq!(
        json(&mut broadcast, "round-3/wall.json")["head"]["matches"],
        json!([]),
        "SK Nord would play two matches at a time"
    );
}

#[test]
fn the_round_in_progress_is_the_current_one() {
    let mut broadcast = broadcast(0);
    let mut paired = (*tournament()).clone();
    paired.rounds.insert(4, paired.rounds[&3].clone());
    broadcast.pair(Arc::new(paired));
    assert_eq!(json(&mut broadcast, "wall.json")["current"], 3);
    take(&mut broadcast, &[begins(1, 1, Variant::Standard, START)]);
    broadcast.advance(at(1));
    let contents = json(&mut broadcast, "wall.json");
    assert_eq!(
        contents["event"],
        json!({"name": "Café Open 2026", "site": "Bremen", "delay_ms": 0})
    );
    assert_eq!(
        contents["rounds"][0],
        json!({"round": 3, "date": "2026-09-10", "starts": 1_789_007_200_000_i64, "games": 2, "live": 1,
            "over": false})
    );
    take(&mut broadcast, &[ended(1, 9, GameResult::Draw)]);
    broadcast.advance(at(9));
    assert_eq!(
        json(&mut broadcast, "wall.json")["current"],
        3,
        "until one of the next is begun"
    );
}
