//! Incidents on the board: offences that count once, pieces that move on, jolted pieces, and unread ones.

use super::*;

/// A game with a running clock on a board that shows the start position.
fn in_play(edition: Edition) -> Table {
    let mut table = Table::new(edition);
    table.finds(Finding::Clock(ClockChange::Connected));
    table.finds(Finding::Clock(ClockChange::Started));
    table.passes(1);
    shows(&mut table, &Board::new());
    table
}

fn is_about(event: &EventKind, wanted: &str) -> bool {
    match event {
        EventKind::IncidentOpened(incident) | EventKind::IncidentUpdated(incident) => {
            incident.kind.as_str() == wanted
        }
        EventKind::IncidentClosed { kind, .. } => kind.as_str() == wanted,
        _ => false,
    }
}

/// Lets the board report the placement of the line.
fn follows(table: &mut Table) {
    let board = table.placement();
    shows(table, &board);
}

/// Art. 7.5.1, 7.5.5: an illegal move is an offence once it is completed. An answered move without a press is not
/// completed. Since 2014, its player's next move completes it (6.2.1.2).
#[test]
fn an_illegal_move_answered_before_the_press_is_an_offence_once_completed() {
    for (edition, then) in [
        (Edition::Fide2023, vec!["found_later 1"]),
        (Edition::Fide2009, vec![]),
    ] {
        let mut table = in_play(edition);
        table.plays("e4 e5").makes("f1d6").settles();
        follows(&mut table);
        let illegal = table.last();
        table.plays("Nc6");
        follows(&mut table);
        assert_eq!(
            reports(&mut table, "illegal_move"),
            ["made", "found_later 0"],
            "{edition:?}"
        );
        assert_eq!(table.referee.watch.offences.completed[Color::White], 0);
        table.makes("Nf3").completes(illegal, CompletedBy::OwnNextMove);
        assert_eq!(reports(&mut table, "illegal_move"), then, "{edition:?}");
    }
}

/// Art. 4.7, 6.2.1: a piece that moves on before the press may never have left the hand. After the press, the opponent
/// is to move.
#[test]
fn a_piece_that_moves_on_before_the_press_is_not_out_of_turn() {
    for (pressed, expected) in [(false, vec![]), (true, vec!["made"])] {
        let mut table = in_play(Edition::Fide2023);
        table.plays("e4 e5").makes("Nf3").settles();
        follows(&mut table);
        if pressed {
            table.completes(table.last(), CompletedBy::Press);
        }
        table.passes(4);
        let stood = table.placement();
        let on = board("rnbqkbnr/pppp1ppp/8/4p1N1/4P3/8/PPPP1PPP/RNBQKB1R");
        changes(&mut table, &stood, &on);
        table.passes(10);
        assert_eq!(reports(&mut table, "illegal_move"), expected, "{pressed}");
    }
}

/// The record misses two moves of one piece and the opponent's move between them. A rook cannot go from a1 to h4, but
/// from a1 to a4 and from a4 to h4 it can (Art. 3.3).
#[test]
fn two_unrecorded_moves_are_not_an_illegal_move() {
    let placement = |rook: &str, king: &str| {
        let mut placed = Board::empty();
        let square = |name: &str| name.parse::<shakmaty::Square>().expect("a square");
        placed.set_piece_at(square("e1"), Color::White.king());
        placed.set_piece_at(square(rook), Color::White.rook());
        placed.set_piece_at(square(king), Color::Black.king());
        placed
    };
    let (start, end) = (placement("a1", "g7"), placement("h4", "g7"));
    let on_the_way = [
        placement("a4", "g7"),
        placement("a4", "g6"),
        placement("a4", "g7"),
    ];
    for (steps, expected) in [(&on_the_way[..], vec![]), (&[], vec!["made"])] {
        let fen = format!("{start} w - - 0 1");
        let mut table = Table::of(&fen, rules(Edition::Fide2023, Mode::Standard, true));
        table.finds(Finding::Clock(ClockChange::Connected));
        table.finds(Finding::Clock(ClockChange::Started));
        table.passes(1);
        shows(&mut table, &start);
        table.plays("Kd1 Kg6 Ke1 Kg7");
        follows(&mut table);
        table.passes(5);
        let mut before = &start;
        for step in steps.iter().chain([&end]) {
            changes(&mut table, before, step);
            table.passes(1);
            before = step;
        }
        table.passes(10);
        assert_eq!(reports(&mut table, "illegal_move"), expected, "{}", steps.len());
    }
}

/// Art. 7.4: the incident contains the position to restore, the earlier times, and the wrong squares as they become
/// fewer.
#[test]
fn a_jolted_table_is_reported_until_it_is_put_right() {
    let mut table = in_play(Edition::Fide2023);
    reads(&mut table, 3000, 2900, Some(Color::White));
    let jolted = board("rnbqkbnr/pppp1p1p/4p1p1/8/8/P3P3/1PPP1PPP/RNBQKBNR");
    changes(&mut table, &Board::new(), &jolted);
    table.finds(Finding::Jolted).passes(2);
    table.finds(Finding::Clock(ClockChange::Stopped)).passes(4);
    let better = board("rnbqkbnr/pppppppp/8/8/8/P7/1PPPPPPP/RNBQKBNR");
    changes(&mut table, &jolted, &better);
    table.passes(4);
    changes(&mut table, &better, &Board::new());
    table.finds(Finding::Steadied);
    let wrong = |event: &EventKind| match event {
        EventKind::IncidentOpened(incident) | EventKind::IncidentUpdated(incident) => {
            let values = &incident.evidence.values;
            assert_eq!(values["clock_white"], "0:50:00");
            assert_eq!(incident.evidence.fen.as_deref(), Some(STANDARD));
            Some(incident.squares.len())
        }
        EventKind::IncidentClosed { reason, .. } => {
            assert_eq!(reason.as_str(), "restored");
            Some(0)
        }
        _ => None,
    };
    let mut events = table.referee.take_events();
    events.retain(|explained| is_about(&explained.event.kind, "displaced_pieces"));
    let left: Vec<usize> = events
        .iter()
        .filter_map(|explained| wrong(&explained.event.kind))
        .collect();
    assert_eq!(left, [8, 2, 0]);
}

/// Art. 7.4: pieces that are put back after somebody ran into the table are not touched with the intention of moving
/// them, even if the clock is not stopped meanwhile.
#[test]
fn a_piece_that_slid_and_is_put_back_was_not_touched() {
    let stands = board("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR");
    let slid = board("rnbqkbnr/pppp1ppp/8/4p3/4P3/P1P5/1P1P1PPP/RNBQKBNR");
    let after = board("rnbqkbnr/pppp1ppp/8/4p3/3PP3/8/PPP2PPP/RNBQKBNR");
    for (jolts, expected) in [(true, vec![]), (false, vec!["own", "own"])] {
        let mut table = Table::new(Edition::Fide2023);
        shows(&mut table, &Board::new());
        table.plays("e4 e5").passes(5);
        shows(&mut table, &stands);
        table.passes(1);
        changes(&mut table, &stands, &slid);
        if jolts {
            table.finds(Finding::Jolted);
        }
        table.waits(Duration::from_millis(1100));
        changes(&mut table, &slid, &stands);
        if jolts {
            table.finds(Finding::Steadied);
        }
        table.passes(5);
        changes(&mut table, &stands, &after);
        table.makes("d4").passes(10);
        assert_eq!(
            reports(&mut table, "piece_touched_not_moved"),
            expected,
            "{jolts}"
        );
    }
}

/// Art. 7.4: on a polled board, a piece counts as standing on a square once the next answer contains no further change.
#[test]
fn a_displacement_is_reported_only_after_the_next_poll() {
    let mut table = in_play(Edition::Fide2023);
    let expected = board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR");
    changes(&mut table, &Board::new(), &expected);
    table.plays("e4").passes(5);
    table.referee.polled(Some(table.now));
    table.passes(1);
    let knocked = board("rnbqkbnr/pppppppp/8/8/4P3/6PP/PPPP1P2/RNBQKBNR");
    changes(&mut table, &expected, &knocked);
    table.passes(20);
    assert_eq!(reports(&mut table, "displaced_pieces"), [""; 0]);
    table.referee.polled(Some(table.now));
    table.passes(3);
    assert_eq!(reports(&mut table, "displaced_pieces").len(), 1);
}

/// Art. 2.3, before the round: the square and its piece are reported until the piece is read.
#[test]
fn an_unread_piece_is_reported_before_the_round() {
    let mut table = Table::new(Edition::Fide2023);
    let unseen = |table: &mut Table, unseen| {
        let snapshot = Snapshot {
            board: Board::new(),
            changes: Vec::new(),
            watched: true,
            unseen,
            turned: false,
            dumped_at: table.now,
        };
        table.finds(Finding::Squares(Box::new(snapshot)));
    };
    table.passes(1);
    unseen(&mut table, shakmaty::Square::B2.into());
    table.passes(3);
    assert_eq!(reports(&mut table, "sensor_fault"), [""; 0]);
    table.passes(5);
    assert_eq!(reports(&mut table, "sensor_fault"), ["not_seen"]);
    unseen(&mut table, shakmaty::Bitboard::EMPTY);
    assert_eq!(reports(&mut table, "sensor_fault"), ["-restored"]);
}

/// A square fails during the game. One report per game, whatever piece comes to stand there, until the square reads a
/// piece.
#[test]
fn a_dead_square_is_reported_once_a_game() {
    let mut table = Table::new(Edition::Fide2023);
    let squares = |table: &mut Table, placement: &str, unseen| {
        let snapshot = Snapshot {
            board: board(placement),
            changes: Vec::new(),
            watched: true,
            unseen,
            turned: false,
            dumped_at: table.now,
        };
        table.finds(Finding::Squares(Box::new(snapshot)));
        reports(table, "sensor_fault")
    };
    let (dead, none) = (shakmaty::Square::E4.into(), shakmaty::Bitboard::EMPTY);
    let (on_it, off_it) = ("4k3/8/8/8/4N3/8/8/4K3", "4k3/8/8/6N1/8/8/8/4K3");
    table.plays("e4");
    assert_eq!(squares(&mut table, on_it, dead), ["not_seen_in_play"]);
    assert_eq!(squares(&mut table, off_it, none), [""; 0]);
    assert_eq!(squares(&mut table, on_it, dead), [""; 0]);
    assert_eq!(squares(&mut table, on_it, none), ["-restored"]);
    assert_eq!(squares(&mut table, on_it, dead), ["not_seen_in_play"]);
    assert_eq!(squares(&mut table, off_it, none), [""; 0]);
    table.set_up(state(STANDARD));
    table.plays("e4");
    assert_eq!(reports(&mut table, "sensor_fault"), ["-game_over"]);
}

/// Art. 7.4: two pieces that leave their squares in one scan were knocked over. A bishop that is slid over the next
/// square was not; it may be on a square that does not read it.
#[test]
fn a_piece_slid_over_squares_was_not_knocked_over() {
    let before = "rnbqkbnr/p1pppppp/1p6/8/3PP3/8/PPP2PPP/RNBQKBNR";
    let knocked = "r2qkbnr/p1pppppp/1p6/8/3PP3/8/PPP2PPP/RNBQKBNR";
    let drawn = [
        "rnbqkbnr/pbpppppp/1p6/8/3PP3/8/PPP2PPP/RNBQKBNR",
        "rn1qkbnr/pbpppppp/1p6/8/3PP3/8/PPP2PPP/RNBQKBNR",
        "rn1qkbnr/p1pppppp/1p6/8/3PP3/8/PPP2PPP/RNBQKBNR",
    ];
    for (placements, expected) in [(&drawn[..], vec![]), (&[knocked], vec!["at_once"])] {
        let mut table = in_play(Edition::Fide2023);
        changes(&mut table, &Board::new(), &board(before));
        table.plays("e4 b6 d4").passes(5);
        let mut shown = before;
        for placement in placements {
            changes(&mut table, &board(shown), &board(placement));
            shown = placement;
            table.waits(Duration::from_millis(80));
        }
        table.passes(5);
        assert_eq!(
            reports(&mut table, "displaced_pieces"),
            expected,
            "{placements:?}"
        );
    }
}

/// The player to move may hold the piece to be moved or the one to be captured for the whole turn. Any other missing
/// piece was displaced (Art. 7.4).
#[test]
fn a_piece_held_by_the_player_to_move_is_not_displaced() {
    let stands = "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR";
    for (held, expected) in [
        ("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKB1R", vec![]),
        ("rnbqkbnr/ppp1pppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR", vec![]),
        ("rnbqkb1r/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR", vec!["at_once"]),
    ] {
        let mut table = in_play(Edition::Fide2023);
        changes(&mut table, &Board::new(), &board(stands));
        table.plays("e4 d5").passes(5);
        changes(&mut table, &board(stands), &board(held));
        table.passes(300);
        assert_eq!(reports(&mut table, "displaced_pieces"), expected, "{held}");
    }
}

const ACROSS_THE_LINE: &str = "rnbqkbnr/ppp1pppp/8/3p4/3P4/3P4/PPP2PPP/RNBQKBNR";

/// Puts an irregular move on the board, adds it to the line, and presses the clock.
fn presses_illegal(table: &mut Table, name: &str, after: &str) {
    table.passes(1);
    let before = table.placement();
    changes(table, &before, &board(after));
    table.makes_after(name, Duration::from_millis(500)).settles();
    table.completes(table.last(), CompletedBy::Press);
}

/// Plies found in one observation are compared with the board once, after the last one.
#[test]
fn plies_found_together_open_no_incidents_about_positions_between_them() {
    let mut table = in_play(Edition::Fide2023);
    table.passes(60);
    let stands = board("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R");
    let since = Since::at(table.now.saturating_sub(Duration::from_secs(30)));
    let changed = difference(&Board::new(), &stands).into_iter();
    let snapshot = Snapshot {
        changes: changed
            .map(|square| SensorChange {
                when: since,
                square,
                before: Board::new().piece_at(square),
                after: stands.piece_at(square),
            })
            .collect(),
        board: stands,
        watched: true,
        unseen: shakmaty::Bitboard::EMPTY,
        turned: false,
        dumped_at: table.now,
    };
    table.finds_together(Finding::Squares(Box::new(snapshot)), "e4 e5 Nf3 Nc6");
    let events = table.passes(20).referee.take_events();
    let accuses = |explained: &&ExplainedEvent| matches!(explained.event.kind, EventKind::IncidentOpened(_));
    assert_eq!(events.iter().filter(accuses).count(), 0);
}

/// A misread move was never played. Incidents that rest on it are withdrawn, and no offence remains.
#[test]
fn an_incident_that_rests_on_a_misread_move_is_withdrawn() {
    for (reread, expected) in [
        (2, vec!["completed 1", "-passed counts false"]),
        (1, vec!["completed 1", "-passed counts false"]),
        (3, vec!["completed 1", "-replaced"]),
    ] {
        let mut table = in_play(Edition::Fide2023);
        table.plays("e4 e6");
        let illegal = "rnbqkbnr/pppp1ppp/1B2p3/8/4P3/8/PPPP1PPP/RNBQK1NR";
        presses_illegal(&mut table, "f1b6", illegal);
        table.passes(3);
        table.rereads(reread, ["d4", "e5", "Bb5"][reread - 1]);
        assert_eq!(reports(&mut table, "illegal_move"), expected, "{reread}");
        let offences = table.referee.watch.offences.completed[Color::White];
        assert_eq!(offences, u32::from(reread == 3));
    }
}

/// Art. 7.5.1: a pawn is put on a square of the next file and pressed. After the reply, it is pushed to the intended
/// square. The opponent saw it and has not objected.
#[test]
fn an_answered_move_may_still_be_corrected() {
    for (wait, expected) in [
        (3, vec![]),
        (9, vec!["completed 1", "found_later 1", "-replaced"]),
    ] {
        let mut table = in_play(Edition::Fide2023);
        table.plays("d4 d5");
        presses_illegal(&mut table, "e2d3", ACROSS_THE_LINE);
        table.makes("Nf6");
        follows(&mut table);
        table.passes(wait).rereads(3, "e3");
        assert_eq!(reports(&mut table, "illegal_move"), expected, "{wait}");
    }
}

/// A stopped clock means that a player objects, and the arbiter comes at once.
#[test]
fn a_stopped_clock_makes_an_illegal_move_certain() {
    let mut table = in_play(Edition::Fide2023);
    table.plays("d4 d5");
    presses_illegal(&mut table, "e2d3", ACROSS_THE_LINE);
    assert_eq!(reports(&mut table, "illegal_move"), [""; 0]);
    table.finds(Finding::Clock(ClockChange::Stopped));
    assert_eq!(reports(&mut table, "illegal_move"), ["completed 1"]);
}

/// The capturing piece is back on its square, and the captured one is still beside the board.
#[test]
fn a_capture_that_is_being_taken_back_is_not_irregular() {
    let mut table = in_play(Edition::Fide2023);
    let taken = board("rnbqkbnr/ppp1pppp/8/3P4/8/8/PPPP1PPP/RNBQKBNR");
    changes(&mut table, &Board::new(), &taken);
    table.plays("e4 d5 exd5").passes(5);
    let back = board("rnbqkbnr/ppp1pppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR");
    changes(&mut table, &taken, &back);
    table.passes(60);
    assert_eq!(reports(&mut table, "illegal_move"), [""; 0]);
    follows(&mut table);
    changes(&mut table, &taken, &back);
    table.passes(60);
    assert_eq!(reports(&mut table, "displaced_pieces"), [""; 0]);
}

/// One king stands in the centre, and the other one will follow, to show the result.
#[test]
fn a_king_in_the_centre_is_not_displaced() {
    let mut table = in_play(Edition::Fide2023);
    let stands = board("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR");
    changes(&mut table, &Board::new(), &stands);
    table.plays("e4 e5").passes(5);
    let king = board("rnbq1bnr/pppp1ppp/8/3kp3/4P3/8/PPPP1PPP/RNBQKBNR");
    changes(&mut table, &stands, &king);
    table.passes(10);
    assert_eq!(reports(&mut table, "displaced_pieces"), [""; 0]);
}

/// A knight that is sometimes read on a square that should be empty may be there, so no other square is reported as
/// dead.
#[test]
fn a_piece_read_elsewhere_opens_no_incident_about_its_square() {
    let mut table = Table::new(Edition::Fide2023);
    table.plays("e4 Na6").passes(60);
    let shown = |on_c6: bool| {
        let mut shown = board("r1bqkbnr/pppppppp/n7/8/4P3/8/PPPP1PPP/RNBQKBNR");
        if on_c6 {
            shown.set_piece_at(shakmaty::Square::C6, Color::Black.knight());
        }
        shown
    };
    let unseen = |table: &mut Table| {
        let snapshot = Snapshot {
            board: shown(false),
            changes: Vec::new(),
            watched: true,
            unseen: shakmaty::Square::A6.into(),
            turned: false,
            dumped_at: table.now,
        };
        table.finds(Finding::Squares(Box::new(snapshot)));
        reports(table, "sensor_fault")
    };
    shows(&mut table, &shown(false));
    changes(&mut table, &shown(false), &shown(true));
    changes(&mut table, &shown(true), &shown(false));
    assert_eq!(unseen(&mut table), [""; 0]);
    table.passes(60);
    assert_eq!(unseen(&mut table), ["not_seen_in_play"]);
}

/// The clock reports presses late. A press soon after a ply is that of the ply's player, even if the sides of the clock
/// are taken the wrong way round.
#[test]
fn a_press_soon_after_a_ply_belongs_to_that_ply() {
    for (thought, accused) in [(1, 0), (5, 1)] {
        let mut table = in_play(Edition::Fide2023);
        table.finds(Finding::WhiteSide(Side::Left)).passes(1);
        table.plays("e4 e5");
        follows(&mut table);
        reads(&mut table, 60, 60, Some(Color::White));
        table.passes(thought);
        reads(&mut table, 60, 60, Some(Color::Black));
        table.finds(Finding::Clock(ClockChange::Pressed(Side::Left)));
        table.passes(5);
        assert_eq!(reports(&mut table, "clock_pressed_without_move").len(), accused);
    }
}

fn open(table: &Table) -> Vec<&str> {
    let open = table.referee.open_incidents();
    open.map(|incident| incident.kind.as_str()).collect()
}

/// Art. 7.4: a jolt includes pieces that were displaced before somebody ran into the table, and pieces left over from
/// an earlier jolt. One incident covers all of them.
#[test]
fn a_jolt_takes_over_earlier_displacements() {
    let mut table = in_play(Edition::Fide2023);
    reads(&mut table, 3000, 2900, Some(Color::White));
    let pushed = board("rnbqkbnr/pppppppp/8/8/8/6PP/PPPPPP2/RNBQKBNR");
    changes(&mut table, &Board::new(), &pushed);
    table.passes(20);
    assert_eq!(open(&table), ["displaced_pieces"]);
    let jolted = board("rnbqkbnr/pppp1p1p/4p1p1/8/8/P3P1PP/1PPP1P2/RNBQKBNR");
    changes(&mut table, &pushed, &jolted);
    table.finds(Finding::Jolted).passes(3);
    assert_eq!(open(&table), ["displaced_pieces"]);
    assert_eq!(
        reports(&mut table, "displaced_pieces"),
        ["at_once", "jolted", "-superseded"]
    );
    let better = board("rnbqkbnr/pppppppp/8/8/8/P7/1PPPPPPP/RNBQKBNR");
    changes(&mut table, &jolted, &better);
    table.finds(Finding::Steadied).passes(5);
    let again = board("rnbqkbnr/pppppppp/8/8/8/P1P1P1P1/1P1P1P1P/RNBQKBNR");
    changes(&mut table, &better, &again);
    table.finds(Finding::Jolted).passes(5);
    assert_eq!(open(&table), ["displaced_pieces"]);
    changes(&mut table, &again, &Board::new());
    table.finds(Finding::Steadied);
    assert_eq!(open(&table), [""; 0]);
}

/// A board is turned by a half or by a quarter, not by both.
#[test]
fn a_board_is_turned_by_a_half_or_by_a_quarter() {
    let mut table = Table::of(STANDARD, rules(Edition::Fide2023, Mode::Rapid, false));
    turned(&mut table);
    assert_eq!(open(&table), ["board_rotated"]);
    let mut board = Board::new();
    board.rotate_90();
    shows(&mut table, &board);
    table.passes(4);
    assert_eq!(
        reports(&mut table, "board_rotated"),
        ["half", "-superseded", "transfer 0"]
    );
}
