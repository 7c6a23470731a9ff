use super::*;
use crate::events::CorrectionReason;
use crate::events::samples::{clock, event, ply, started};

fn game(kinds: Vec<EventKind>) -> Games {
    let mut games = Games::new();
    for (seq, kind) in (1..).zip(kinds) {
        games.apply(&event(seq, kind));
    }
    games
}

fn moves(games: &Games) -> Vec<&str> {
    let game = games.current().expect("a game was started");
    game.moves
        .iter()
        .filter_map(|entry| entry.uci.as_deref())
        .collect()
}

#[test]
fn completed_ply_has_the_clock_of_its_completion() {
    let games = game(vec![
        started("start", Variant::Standard),
        EventKind::MoveMade(ply(1, "e2e4", "e4")),
        EventKind::MoveCompleted {
            ply: 1,
            by: CompletedBy::Press,
            clock: Some(clock(590)),
            elapsed_ms: Some(10_000),
        },
    ]);
    let first = &games.current().expect("a game").moves[0];
    assert_eq!(first.clock, Some(clock(590)));
    assert_eq!(first.elapsed_ms, Some(10_000));
    assert_eq!(first.completed, Some(CompletedBy::Press));
}

#[test]
fn amended_ply_removes_the_later_ones() {
    let games = game(vec![
        started("start", Variant::Standard),
        EventKind::MoveMade(ply(1, "e2e4", "e4")),
        EventKind::MoveMade(ply(2, "e7e5", "e5")),
        EventKind::MoveMade(ply(3, "g1f3", "Nf3")),
        EventKind::MoveAmended {
            played: ply(2, "e7e6", "e6"),
            replaces: Some("e7e5".to_owned()),
            reason: CorrectionReason::MovedOn,
        },
    ]);
    assert_eq!(moves(&games), ["e2e4", "e7e6"]);
    assert_eq!(games.current().expect("a game").fen, "after e7e6");
}

#[test]
fn retracted_first_ply_leaves_the_start_position() {
    let games = game(vec![
        started("start", Variant::Standard),
        EventKind::MoveMade(ply(1, "e2e4", "e4")),
        EventKind::MoveMade(ply(2, "e7e5", "e5")),
        EventKind::MoveRetracted {
            ply: 1,
            reason: CorrectionReason::Takeback,
        },
    ]);
    assert!(moves(&games).is_empty());
    let current = games.current().expect("a game");
    assert_eq!(current.fen, "start");
    assert_eq!(current.revision, 4);
}

#[test]
fn an_amended_move_is_no_longer_settled() {
    let games = game(vec![
        started("start", Variant::Standard),
        EventKind::MoveMade(ply(1, "e2e4", "e4")),
        EventKind::MoveSettled {
            ply: 1,
            by: SettledBy::Press,
        },
        EventKind::MoveAmended {
            played: ply(1, "d2d4", "d4"),
            replaces: Some("e2e4".to_owned()),
            reason: CorrectionReason::Arbiter,
        },
    ]);
    assert_eq!(games.current().expect("a game").moves[0].settled, None);
}

#[test]
fn finished_game_stays_current_until_the_next_one_starts() {
    let ended = EventKind::GameEnded {
        result: GameResult::WhiteWins,
        reason: EndReason::Checkmate,
        by: DecidedBy::Laws,
        confirmed: true,
        end_certain: true,
        decided_by: None,
    };
    let mut games = game(vec![started("start", Variant::Standard), ended]);
    let current = games.current().expect("the finished game");
    assert_eq!(
        (current.result, current.reason),
        (GameResult::WhiteWins, Some(EndReason::Checkmate))
    );
    assert!(current.ended.is_some());

    assert!(games.apply(&event(3, started("another", Variant::FromPosition))));
    assert_eq!(
        games.current().expect("the next game").result,
        GameResult::Unknown
    );
}

#[test]
fn revision_counts_changes_only() {
    let mut games = game(vec![started("start", Variant::Standard)]);
    assert!(!games.apply(&event(2, EventKind::ClockBatteryLow {})));
    assert!(!games.apply(&event(
        3,
        EventKind::MoveSettled {
            ply: 7,
            by: SettledBy::Press
        }
    )));
    assert_eq!(games.current().expect("a game").revision, 1);
    let mut elsewhere = event(4, EventKind::MoveMade(ply(1, "e2e4", "e4")));
    elsewhere.game = None;
    assert!(!games.apply(&elsewhere));
}

fn amended() -> EventKind {
    EventKind::GameAmended {
        by: "A. Meier".to_owned(),
        result: None,
        reason: None,
        players: None,
        time_control: None,
        time_control_typed: None,
        mode: None,
        moves: None,
        position: None,
        note: None,
        assigned: false,
    }
}

fn with(change: impl FnOnce(&mut EventKind)) -> EventKind {
    let mut event = amended();
    change(&mut event);
    event
}

#[test]
fn the_arbiters_result_is_confirmed_and_can_be_taken_back() {
    let ended = EventKind::GameEnded {
        result: GameResult::WhiteWins,
        reason: EndReason::Kings,
        by: DecidedBy::Board,
        confirmed: false,
        end_certain: true,
        decided_by: None,
    };
    let set = |new_result: GameResult, new_reason: Option<EndReason>| {
        with(|event| {
            if let EventKind::GameAmended { result, reason, .. } = event {
                (*result, *reason) = (Some(new_result), new_reason);
            }
        })
    };
    let mut games = game(vec![started("start", Variant::Standard), ended]);
    assert!(games.apply(&event(
        3,
        set(GameResult::BlackWins, Some(EndReason::Resignation))
    )));
    let current = games.current().expect("a game");
    let published = (current.result, current.reason, current.by, current.confirmed);
    assert_eq!(
        published,
        (
            GameResult::BlackWins,
            Some(EndReason::Resignation),
            Some(DecidedBy::Arbiter),
            true
        )
    );
    assert!(current.ended.is_some());
    games.apply(&event(4, set(GameResult::Unknown, None)));
    let current = games.current().expect("a game");
    assert_eq!(
        (current.ended, current.reason, current.confirmed),
        (None, None, false)
    );
}

#[test]
fn a_withdrawn_end_leaves_the_record_as_before() {
    let ended = |result| EventKind::GameEnded {
        result,
        reason: EndReason::Kings,
        by: DecidedBy::Board,
        confirmed: false,
        end_certain: true,
        decided_by: None,
    };
    let mut games = game(vec![started("start", Variant::Standard)]);
    let before = games.current().cloned().expect("a game");
    games.apply(&event(3, ended(GameResult::Draw)));
    games.apply(&event(4, ended(GameResult::WhiteWins)));
    assert_eq!(games.current().expect("a game").result, GameResult::WhiteWins);
    let (result, reason) = (GameResult::WhiteWins, EndReason::Kings);
    assert!(games.apply(&event(5, EventKind::GameResumed { result, reason })));
    let revision = before.revision + 3;
    assert_eq!(games.current(), Some(&GameRecord { revision, ..before }));
}

#[test]
fn a_set_position_is_kept_if_the_moves_do_not_lead_to_it() {
    let set = |fen: &str| {
        with(|event| {
            if let EventKind::GameAmended { position, .. } = event {
                *position = Some(fen.to_owned());
            }
        })
    };
    let mut games = game(vec![
        started("start", Variant::Standard),
        EventKind::MoveMade(ply(1, "e2e4", "e4")),
        set("another"),
    ]);
    let current = games.current().expect("a game");
    assert_eq!((current.fen.as_str(), current.positions[0].ply), ("another", 1));
    games.apply(&event(4, EventKind::MoveMade(ply(2, "e7e5", "e5"))));
    assert_eq!(games.current().expect("a game").fen, "after e7e5");
    games.apply(&event(5, set("after e2e4")));
    assert_eq!(games.current().expect("a game").positions.len(), 1);
    games.apply(&event(
        6,
        EventKind::MoveRetracted {
            ply: 1,
            reason: CorrectionReason::Arbiter,
        },
    ));
    assert!(games.current().expect("a game").positions.is_empty());
}
