//! The memory of pairings without a game, and the copies of unchanged games.

use super::*;

/// An event of two rounds in which the first boards have a game.
fn large_event(tables: u32) -> Arc<Tournament> {
    let round = || Round {
        pairings: { 1..=tables }
            .map(|table| {
                pairing(
                    table,
                    &format!("White, {table}"),
                    Some(&format!("Black, {table}")),
                )
            })
            .collect(),
        ..Round::default()
    };
    Arc::new(Tournament {
        rounds: BTreeMap::from([(3, round()), (4, round())]),
        ..Tournament::default()
    })
}

fn events() -> [Event; 5] {
    [
        begins(2, 1, Variant::Standard, START),
        made(2, 10, 1, "e2e4", "e4"),
        completed(2, 11, 1, 5395),
        begins(1, 12, Variant::Standard, START),
        ended(2, 40, GameResult::WhiteWins),
    ]
}

fn files_of(broadcast: &mut Broadcast) -> BTreeMap<String, String> {
    let files = broadcast.files().iter();
    files
        .map(|(path, file)| {
            (
                path.to_string(),
                String::from_utf8_lossy(&file.content).into_owned(),
            )
        })
        .collect()
}

/// Most games of a large event are on no board. Their files are parts of others, or the same for all of them.
#[test]
fn pairings_without_a_game_have_no_memory_of_their_own() {
    const TABLES: u32 = 500;
    let mut broadcast = broadcast(0);
    broadcast.pair(large_event(TABLES));
    take(&mut broadcast, &events());
    broadcast.advance(at(50));
    let files = Arc::clone(broadcast.files());
    let memory = |file: &PublishedFile| {
        let begin = file.content.as_ptr() as usize;
        begin..begin + file.content.len()
    };
    let games = memory(&files["round-3/games.pgn"]);
    let json = memory(&files["round-3/game-3.json"]);
    for number in 3..=TABLES {
        let pgn = memory(&files[&*format!("round-3/game-{number}.pgn")]);
        assert!(games.contains(&pgn.start) && pgn.end <= games.end, "{number}");
        assert_eq!(
            memory(&files[&*format!("round-3/game-{number}.json")]),
            json,
            "{number}"
        );
    }
    assert_ne!(memory(&files["round-3/game-1.json"]), json, "a game on a board");
    // A move leaves the other round as it is, and the paths of its own.
    take(&mut broadcast, &[made(1, 60, 1, "d2d4", "d4")]);
    broadcast.advance(at(60));
    let later = Arc::clone(broadcast.files());
    assert_eq!(
        memory(&files["round-4/games.pgn"]),
        memory(&later["round-4/games.pgn"])
    );
    for path in files.keys() {
        let (known, _) = later.get_key_value(path).expect("a file");
        assert!(!path.contains("/game-") || Arc::ptr_eq(path, known), "{path}");
    }
}

#[test]
fn copied_games_are_equal_to_games_that_are_written_anew() {
    for only_pgn in [false, true] {
        let mut live = broadcast(0);
        live.pair(large_event(5));
        live.set_only_pgn(only_pgn);
        live.files();
        for event in events() {
            live.queue(event.ts, &event);
            live.advance(event.ts);
            live.files();
        }
        let entered = Event {
            game: None,
            ..event(
                9,
                45,
                EventKind::TableResult {
                    round: 3,
                    table: 4,
                    result: GameResult::Draw,
                    reason: EndReason::Arbiter,
                    by: "A. Meier".to_owned(),
                },
            )
        };
        live.queue(entered.ts, &entered);
        live.advance(at(50));
        let copied = files_of(&mut live);
        live.all_changed = true;
        let anew = files_of(&mut live);
        assert_eq!(copied, anew);
        assert!(copied["round-3/games.pgn"].contains("[Result \"1/2-1/2\"]"));
        assert_eq!(copied.contains_key("round-3/game-1.pgn"), !only_pgn);
    }
}

#[test]
fn an_output_that_needs_the_pgn_alone_gets_no_other_files() {
    let mut whole = broadcast(0);
    let mut only_pgn = broadcast(0);
    only_pgn.set_only_pgn(true);
    for broadcast in [&mut whole, &mut only_pgn] {
        take(broadcast, &events());
        broadcast.advance(at(50));
    }
    let path = "round-3/games.pgn";
    assert_eq!(text(&mut whole, path), text(&mut only_pgn, path));
    assert_eq!(only_pgn.files().len(), 1);
    assert_eq!(whole.relayed(), only_pgn.relayed());
    // Another output needs the other files as well.
    only_pgn.set_only_pgn(false);
    assert_eq!(files_of(&mut whole), files_of(&mut only_pgn));
}
