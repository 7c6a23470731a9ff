use serde_json::json;

use super::*;
use crate::tournament::CarriedPoints;

/// Creates a tournament from the pairings of its rounds, each given as white, black and result.
fn rounds(rounds: &[&[(&str, &str, Option<GameResult>)]]) -> Tournament {
    let round = |pairings: &&[(&str, &str, Option<GameResult>)]| Round {
        pairings: { (1..).zip(pairings.iter()) }
            .map(|(table, (white, black, result))| Pairing {
                table: Some(table),
                white: Some(named(white)),
                black: Some(named(black)),
                result: *result,
                ..Pairing::default()
            })
            .collect(),
        ..Round::default()
    };
    Tournament {
        rounds: (1..).zip(rounds.iter().map(round)).collect(),
        ..Tournament::default()
    }
}

fn named(name: &str) -> Player {
    Player {
        name: name.to_owned(),
        ..Player::default()
    }
}

fn event_of(tournament: Tournament) -> Broadcast {
    let mut broadcast = Broadcast::new(Duration::ZERO, EventFacts::default());
    broadcast.pair(Arc::new(tournament));
    broadcast
}

/// Returns rank, name, points and games of each player.
fn table(broadcast: &mut Broadcast) -> Vec<(u64, String, f64, u64)> {
    let standings = json(broadcast, "standings.json");
    let rows = standings["players"].as_array().expect("players").iter();
    rows.map(|row| {
        (
            row["rank"].as_u64().expect("a rank"),
            row["name"].as_str().expect("a name").to_owned(),
            row["points"].as_f64().expect("points"),
            row["games"].as_u64().expect("games"),
        )
    })
    .collect()
}

fn row(rank: u64, name: &str, points: f64, games: u64) -> (u64, String, f64, u64) {
    (rank, name.to_owned(), points, games)
}

/// Creates the start of a game, with the players of its pairing.
fn begins_in(tournament: &Tournament, round: u32, table: u32, second: i64) -> Event {
    let mut kind = started(START, Variant::Standard);
    if let EventKind::GameStarted { players, .. } = &mut kind {
        *players = tournament
            .pairing(round, table)
            .map(|pairing| pairing.players(round));
    }
    event(table, second, kind)
}

/// Adds a player without an opponent to a round.
fn add_bye(tournament: &mut Tournament, round: u32, name: &str, result: Option<GameResult>) {
    let round = tournament.rounds.get_mut(&round).expect("a round");
    round.pairings.push(Pairing {
        table: None,
        hall: None,
        board: None,
        white: Some(named(name)),
        black: None,
        result,
        unplayed: None,
        place: crate::tournament::FilePosition::default(),
    });
}

#[test]
fn a_player_has_all_games_of_the_event() {
    use GameResult::{Draw, WhiteWins};
    let mut tournament = rounds(&[
        &[("Adler", "Berg", Some(WhiteWins))],
        &[("Berg", "Cohn", None)],
        &[("Cohn", "Adler", None)],
    ]);
    add_bye(&mut tournament, 2, "Adler", Some(Draw));
    let mut broadcast = event_of(tournament.clone());
    let player = |broadcast: &mut Broadcast, name: &str| {
        let players = json(broadcast, "players.json");
        let players = players["players"].as_array().expect("players").clone();
        players
            .into_iter()
            .find(|player| player["name"] == name)
            .expect(name)
    };
    let version = |broadcast: &mut Broadcast| json(broadcast, "wall.json")["players"].clone();
    let first = version(&mut broadcast);
    assert!(first.is_string());
    take(&mut broadcast, &[begins_in(&tournament, 2, 1, 5)]);
    broadcast.advance(at(60));
    let berg = player(&mut broadcast, "Berg");
    let live = json!({"round": 2, "table": 1, "opponent": 2, "color": "white", "score": null, "live": true});
    assert_eq!(berg["results"][1], live, "{berg}");
    assert_ne!(version(&mut broadcast), first);
    take(&mut broadcast, &[ended(1, 70, WhiteWins)]);
    broadcast.advance(at(80));
    let adler = player(&mut broadcast, "Adler");
    assert_eq!(
        (&adler["rank"], &adler["points"], &adler["games"]),
        (&json!(1), &json!(1.5), &json!(1)),
        "{adler}"
    );
    assert_eq!(
        adler["results"],
        json!([
            {"round": 1, "table": 1, "opponent": 1, "color": "white", "score": 1.0},
            {"round": 2, "table": null, "opponent": null, "color": null, "score": 0.5},
            {"round": 3, "table": 1, "opponent": 2, "color": "black", "score": null},
        ])
    );
    let berg = player(&mut broadcast, "Berg");
    assert_eq!(
        (&berg["points"], &berg["games"]),
        (&json!(1.0), &json!(2)),
        "{berg}"
    );
}

#[test]
fn without_standings_a_player_has_the_points_of_the_games() {
    // The first two rounds are missing, so that there are no standings.
    let mut tournament = rounds(&[&[], &[], &[("Adler", "Berg", Some(GameResult::Draw))]]);
    tournament.rounds.remove(&1);
    let mut broadcast = event_of(tournament);
    broadcast.advance(at(1));
    assert!(!broadcast.files().contains_key("standings.json"));
    let players = json(&mut broadcast, "players.json");
    let first = &players["players"][0];
    assert_eq!(
        (&first["name"], &first["rank"], &first["points"]),
        (&json!("Adler"), &json!(null), &json!(0.5))
    );
}

#[test]
fn byes_count_once_and_do_not_begin_a_round() {
    use GameResult::{Draw, WhiteWins};
    let mut tournament = rounds(&[
        &[("Adler", "Berg", Some(WhiteWins))],
        &[("Berg", "Cohn", None)],
        &[("Cohn", "Adler", None)],
    ]);
    add_bye(&mut tournament, 1, "Cohn", Some(WhiteWins));
    add_bye(&mut tournament, 2, "Adler", Some(Draw));
    let mut broadcast = event_of(tournament.clone());
    assert_eq!(
        table(&mut broadcast),
        [
            row(1, "Adler", 1.0, 1),
            row(1, "Cohn", 1.0, 0),
            row(3, "Berg", 0.0, 1)
        ]
    );
    let standings = json(&mut broadcast, "standings.json");
    assert_eq!((&standings["round"], &standings["open"]), (&json!(1), &json!(0)));
    let bye = json!({"round": 1, "table": null, "opponent": null, "color": "white", "score": 1.0});
    assert_eq!(standings["players"][1]["results"][0], bye);
    take(
        &mut broadcast,
        &[begins_in(&tournament, 2, 1, 5), ended(1, 9, WhiteWins)],
    );
    broadcast.advance(at(9));
    assert_eq!(
        table(&mut broadcast),
        [
            row(1, "Adler", 1.5, 1),
            row(2, "Berg", 1.0, 2),
            row(3, "Cohn", 1.0, 1)
        ]
    );
}

#[test]
fn results_on_the_boards_count_at_once_and_can_be_corrected() {
    use GameResult::{BlackWins, Draw, WhiteWins};
    let tournament = rounds(&[
        &[("Adler", "Berg", Some(WhiteWins)), ("Cohn", "Dorn", Some(Draw))],
        &[("Berg", "Cohn", None), ("Dorn", "Adler", None)],
    ]);
    let mut broadcast = event_of(tournament.clone());
    assert_eq!(
        table(&mut broadcast),
        [
            row(1, "Adler", 1.0, 1),
            row(2, "Cohn", 0.5, 1),
            row(2, "Dorn", 0.5, 1),
            row(4, "Berg", 0.0, 1)
        ]
    );
    let before = json(&mut broadcast, "wall.json")["standings"].clone();
    take(
        &mut broadcast,
        &[begins_in(&tournament, 2, 1, 5), ended(1, 9, BlackWins)],
    );
    broadcast.advance(at(9));
    assert_eq!(
        table(&mut broadcast),
        [
            row(1, "Cohn", 1.5, 2),
            row(2, "Adler", 1.0, 1),
            row(3, "Dorn", 0.5, 1),
            row(4, "Berg", 0.0, 2)
        ]
    );
    let standings = json(&mut broadcast, "standings.json");
    assert_eq!((&standings["round"], &standings["open"]), (&json!(2), &json!(1)));
    assert_eq!(
        standings["players"][0]["results"],
        json!([
            {"round": 1, "table": 2, "opponent": 2, "color": "white", "score": 0.5},
            {"round": 2, "table": 1, "opponent": 3, "color": "black", "score": 1.0}])
    );
    let after = json(&mut broadcast, "wall.json")["standings"].clone();
    assert!(after.is_string() && after != before, "{before} {after}");
    take(&mut broadcast, &[ended(1, 12, Draw)]);
    broadcast.advance(at(12));
    // Cohn has met two opponents with half a point, Adler one: Buchholz Cut 1 is ½ against 0.
    assert_eq!(table(&mut broadcast)[0], row(1, "Cohn", 1.0, 2));
    let standings = json(&mut broadcast, "standings.json");
    assert_eq!(
        standings["tie_breaks"],
        json!([
            "buchholz_cut_1",
            "buchholz",
            "sonneborn_berger",
            "progressive",
            "direct_encounter"
        ])
    );
    assert_eq!(
        standings["players"][0]["tie_breaks"],
        json!([0.5, 1.0, 0.5, 1.5, null])
    );
    assert_eq!(
        json(&mut broadcast, "wall.json")["tie_breaks"],
        standings["tie_breaks"]
    );
}

/// The configured tie-breaks replace the default ones. Equal players share a rank.
#[test]
fn tie_breaks_are_configured() {
    use GameResult::{Draw, WhiteWins};
    let tournament = rounds(&[
        &[("Adler", "Berg", Some(WhiteWins)), ("Cohn", "Dorn", Some(Draw))],
        &[("Cohn", "Adler", Some(WhiteWins)), ("Berg", "Dorn", Some(Draw))],
        &[("Ernst", "Adler", Some(Draw)), ("Cohn", "Berg", Some(Draw))],
    ]);
    let with = |tie_breaks: &[&str]| {
        let names = tie_breaks.iter().map(|name| name.parse().expect("a tie-break"));
        let facts = EventFacts {
            tie_breaks: Some(names.collect()),
            ..EventFacts::default()
        };
        let mut broadcast = Broadcast::new(Duration::ZERO, facts);
        broadcast.pair(Arc::new(tournament.clone()));
        broadcast
    };
    let mut broadcast = with(&["wins", "direct_encounter"]);
    assert_eq!(
        table(&mut broadcast),
        [
            row(1, "Cohn", 2.0, 3),
            row(2, "Adler", 1.5, 3),
            row(3, "Berg", 1.0, 3),
            row(3, "Dorn", 1.0, 2),
            row(5, "Ernst", 0.5, 1)
        ]
    );
    let standings = json(&mut broadcast, "standings.json");
    assert_eq!(standings["tie_breaks"], json!(["wins", "direct_encounter"]));
    let values = |index: usize| standings["players"][index]["tie_breaks"].clone();
    assert_eq!(values(0), json!([1.0, null]), "nobody has as many points");
    assert_eq!(values(2), json!([0.0, 0.5]));
    let report = broadcast.standings_for_report().expect("standings");
    let ranks: Vec<usize> = report.players.iter().map(|player| player.rank).collect();
    assert_eq!(ranks, [1, 2, 3, 3, 5]);
    let mut without = with(&[]);
    assert_eq!(
        json(&mut without, "standings.json")["tie_breaks"],
        json!([]),
        "none are wanted"
    );
    assert_eq!(json(&mut without, "standings.json")["rounds_known"], true);
}

/// Tie-breaks need the points of every bye.
#[test]
fn byes_without_points_leave_no_tie_breaks() {
    let mut tournament = rounds(&[&[("Adler", "Berg", Some(GameResult::WhiteWins))]]);
    let mut bye = Pairing {
        white: Some(named("Cohn")),
        ..Pairing::default()
    };
    let mut with_bye = |bye: &Pairing| {
        let round = tournament.rounds.get_mut(&1).expect("a round");
        round.pairings.retain(Pairing::is_played);
        round.pairings.push(bye.clone());
        tournament.carried = Vec::new();
        event_of(tournament.clone())
    };
    let mut broadcast = with_bye(&bye);
    assert_eq!(json(&mut broadcast, "standings.json")["rounds_known"], false);
    assert_eq!(
        json(&mut broadcast, "standings.json")["players"][0]["tie_breaks"],
        json!([])
    );
    bye.unplayed = Some(crate::tournament::UnplayedRound::AllocatedBye);
    let mut broadcast = with_bye(&bye);
    assert_eq!(json(&mut broadcast, "standings.json")["rounds_known"], true);
    // Cohn's opponent is a virtual one with Cohn's own point, Adler's opponent has none.
    assert_eq!(
        table(&mut broadcast),
        [
            row(1, "Cohn", 1.0, 0),
            row(2, "Adler", 1.0, 1),
            row(3, "Berg", 0.0, 1)
        ]
    );
    // Points that no bye explains come from games that are not in the files.
    tournament.carried = vec![CarriedPoints {
        player: named("Berg"),
        half_points: 1,
    }];
    let mut broadcast = event_of(tournament);
    assert_eq!(json(&mut broadcast, "standings.json")["rounds_known"], false);
    assert_eq!(table(&mut broadcast)[2], row(3, "Berg", 0.5, 1));
}

#[test]
fn results_are_not_in_the_standings_before_their_delay_is_over() {
    let tournament = rounds(&[&[("Adler", "Berg", None)]]);
    let mut broadcast = Broadcast::new(Duration::from_secs(60), EventFacts::default());
    broadcast.pair(Arc::new(tournament.clone()));
    take(
        &mut broadcast,
        &[
            begins_in(&tournament, 1, 1, 0),
            ended(1, 100, GameResult::WhiteWins),
        ],
    );
    broadcast.advance(at(159));
    assert_eq!(table(&mut broadcast)[0].2, 0.0);
    broadcast.advance(at(160));
    assert_eq!(table(&mut broadcast)[0].2, 1.0);
}

#[test]
fn without_an_earlier_round_there_are_standings_only_with_points_from_a_file() {
    let mut tournament = rounds(&[
        &[("Adler", "Berg", Some(GameResult::WhiteWins))],
        &[("Berg", "Adler", Some(GameResult::Draw))],
    ]);
    tournament.rounds.remove(&1);
    let mut broadcast = event_of(tournament.clone());
    assert!(!broadcast.files().contains_key("standings.json"));
    assert_eq!(json(&mut broadcast, "wall.json")["standings"], Value::Null);
    tournament.carried = vec![
        CarriedPoints {
            player: named("Berg"),
            half_points: 0,
        },
        CarriedPoints {
            player: named("Adler"),
            half_points: 2,
        },
        CarriedPoints {
            player: named("Cohn"),
            half_points: 2,
        },
    ];
    broadcast.pair(Arc::new(tournament));
    assert_eq!(
        table(&mut broadcast),
        [
            row(1, "Adler", 1.5, 1),
            row(2, "Cohn", 1.0, 0),
            row(3, "Berg", 0.5, 1)
        ]
    );
    let standings = json(&mut broadcast, "standings.json");
    assert_eq!(
        (&standings["rounds_known"], &standings["tie_breaks"]),
        (&json!(false), &json!([]))
    );
}

#[test]
fn a_round_robin_has_a_crosstable() {
    let played = Some(GameResult::WhiteWins);
    let mut tournament = rounds(&[
        &[("Adler", "Berg", played), ("Cohn", "Dorn", None)],
        &[("Berg", "Cohn", None), ("Dorn", "Adler", None)],
        &[("Adler", "Cohn", None), ("Berg", "Dorn", None)],
    ]);
    let mut broadcast = event_of(tournament.clone());
    let standings = json(&mut broadcast, "standings.json");
    assert_eq!(
        (&standings["crosstable"], &standings["round"]),
        (&json!(true), &json!(1))
    );
    tournament.rounds.remove(&3);
    broadcast.pair(Arc::new(tournament));
    assert_eq!(json(&mut broadcast, "standings.json")["crosstable"], false);
}

#[test]
fn a_team_gets_points_for_a_match_once_all_its_games_are_over() {
    let mut tournament = rounds(&[&[
        ("Adler", "Berg", Some(GameResult::WhiteWins)),
        ("Cohn", "Dorn", Some(GameResult::Draw)),
    ]]);
    for pairing in &mut tournament.rounds.get_mut(&1).expect("a round").pairings {
        let is_first = pairing.table == Some(1);
        let teams = if is_first {
            ["SK Nord", "SV Süd"]
        } else {
            ["SV Süd", "SK Nord"]
        };
        for (player, team) in [&mut pairing.white, &mut pairing.black].into_iter().zip(teams) {
            player.as_mut().expect("a player").facts.team = Some(team.to_owned());
        }
    }
    let mut broadcast = event_of(tournament.clone());
    assert_eq!(
        json(&mut broadcast, "standings.json")["teams"],
        json!([
            {"rank": 1, "name": "SK Nord", "match_points": 2, "board_points": 1.5, "matches": 1},
            {"rank": 2, "name": "SV Süd", "match_points": 0, "board_points": 0.5, "matches": 1}])
    );
    tournament.rounds.get_mut(&1).expect("a round").pairings[1].result = None;
    broadcast.pair(Arc::new(tournament));
    assert_eq!(
        json(&mut broadcast, "standings.json")["teams"],
        json!([
            {"rank": 1, "name": "SK Nord", "match_points": 0, "board_points": 1.0, "matches": 0},
            {"rank": 2, "name": "SV Süd", "match_points": 0, "board_points": 0.0, "matches": 0}])
    );
}
