use std::io::Read;

use kiebitz_game::events::{EventKind, ExplainedEvent};
use kiebitz_game::hall::{Hall as Watched, Names};
use kiebitz_hardware::Line;
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::emulator::hand::Temperament;
use kiebitz_protocol::{
    BusAddress, BusAnswer, BusCommand, BusCommandKind, BusData, BusDecoder, ClockReport, Field,
};

use super::super::{Share, games};
use super::*;

const NOON: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

fn emulation(boards: usize, faults: &[&str]) -> Emulation {
    Emulation {
        boards,
        pgn: None,
        hands: Hands::Of(Temperament::Calm),
        speed: Speed::Times(20.0),
        seed: 1,
        faults: faults.iter().map(|fault| fault.parse().unwrap()).collect(),
        lines: Wiring::Own { powered: false },
        links: None,
        waits: false,
        journal: None,
    }
}

fn rehearsal(emulation: &Emulation, pgn: &str) -> Rehearsal {
    Rehearsal::new(NOON, emulation, games::read(pgn.as_bytes()).unwrap())
}

/// Advances to `until` and hands each output to `on_output`, with its time.
fn watch(
    rehearsal: &mut Rehearsal,
    until: Timestamp,
    mut on_output: impl FnMut(Timestamp, usize, RehearsalOutput),
) {
    while let Some(due) = rehearsal.poll_deadline().filter(|due| *due <= until) {
        rehearsal.advance(due);
        while let Some((table, output)) = rehearsal.poll_output() {
            on_output(due, table, output);
        }
    }
}

fn words(rehearsal: &mut Rehearsal, until: Timestamp) -> Vec<(usize, String)> {
    let mut reported = Vec::new();
    watch(rehearsal, until, |_, table, output| match output {
        RehearsalOutput::Report(words) => reported.push((table, words)),
        RehearsalOutput::Unplugged | RehearsalOutput::Plugged => {
            reported.push((table, format!("{output:?}")))
        }
        RehearsalOutput::Bytes(_) => {}
    });
    reported
}

const THREE: &str = "[White \"A\"]\n[Black \"a\"]\n\n1. e4 e5 1-0\n\n\
                     [White \"B\"]\n[Black \"b\"]\n\n1. d4 0-1\n\n\
                     [White \"C\"]\n[Black \"c\"]\n\n1. c4 c5 2. Nc3 *\n";

/// Games with every ending but mate.
const SIX: &str = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n\n\
                   1. d4 d5 2. c4 e6 0-1\n\n\
                   1. e4 e5 2. Nf3 Nf6 3. Nxe5 d6 4. Nf3 Nxe4 1/2-1/2\n\n\
                   1. d4 Nf6 2. c4 g6 1/2-1/2\n\n\
                   1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 0-1\n\n\
                   1. d4 e5 2. dxe5 Nc6 *\n\n";

#[test]
fn games_are_dealt_to_the_boards_in_turn_and_start_over() {
    let mut rehearsal = rehearsal(&emulation(2, &[]), THREE);
    let reported = words(&mut rehearsal, NOON + Duration::from_secs(120));
    let reports_of = |table: usize| {
        let reported = reported.iter().filter(move |(at, _)| *at == table);
        reported
            .map(|(_, words)| words.as_str())
            .take(6)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        reports_of(0),
        [
            "game 1, A - a",
            "1-0 after 2 plies, A - a",
            "game 2, C - c",
            "the players stop after 3 plies, C - c",
            "game 3, B - b",
            "0-1 after 1 plies, B - b",
        ]
    );
    assert_eq!(
        reports_of(1)[..3],
        ["game 1, B - b", "0-1 after 1 plies, B - b", "game 2, A - a"]
    );
}

/// Returns the first report of each table, with its time in seconds.
fn first_reports(emulation: &Emulation, enter_at: Option<u64>) -> Vec<(u64, usize, String)> {
    let mut rehearsal = rehearsal(emulation, THREE);
    let mut reported: Vec<(u64, usize, String)> = Vec::new();
    for at in [enter_at, Some(400)].into_iter().flatten() {
        let until = NOON + Duration::from_secs(at);
        watch(&mut rehearsal, until, |at, table, output| {
            if let RehearsalOutput::Report(words) = output
                && words.starts_with("game 1,")
            {
                reported.push((at.saturating_duration_since(NOON).as_secs(), table, words));
            }
        });
        if enter_at == Some(at) {
            rehearsal.start_waiting(until);
        }
    }
    reported.sort_by_key(|(_, table, _)| *table);
    reported
}

#[test]
fn paused_players_begin_at_their_start() {
    let usual = first_reports(&emulation(2, &[]), None);
    assert_eq!(usual.len(), 2);
    for lines in [
        Wiring::Own { powered: false },
        Wiring::Bus {
            damaged: Share::default(),
        },
    ] {
        let waiting = |faults: &[&str]| Emulation {
            waits: true,
            lines,
            ..emulation(2, faults)
        };
        assert_eq!(first_reports(&waiting(&[]), None), [], "nobody begins");
        let all: Vec<usize> = first_reports(&waiting(&[]), Some(100))
            .into_iter()
            .map(|(at, table, _)| {
                assert!(at >= 100, "{at}");
                table
            })
            .collect();
        assert_eq!(all, [0, 1]);
        let late = first_reports(&waiting(&["start 2 at 200s"]), None);
        assert_eq!(late.len(), 1, "{late:?}");
        assert!(late[0].0 >= 200 && late[0].1 == 1, "{late:?}");
    }
    let late = first_reports(
        &Emulation {
            waits: true,
            ..emulation(2, &["start all at 200s"])
        },
        None,
    );
    let later: Vec<_> = usual
        .into_iter()
        .map(|(at, table, words)| (at + 200, table, words))
        .collect();
    assert_eq!(late, later, "the same play, later");
}

#[test]
fn paused_players_wait_again_before_each_game() {
    let begun = |rehearsal: &mut Rehearsal, until: Timestamp| {
        let reported = words(rehearsal, until).into_iter();
        let begun = reported.filter(|(_, words)| words.starts_with("game "));
        begun
            .map(|(table, words)| format!("{table} {}", words.split(',').next().unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    for lines in [
        Wiring::Own { powered: false },
        Wiring::Bus {
            damaged: Share::default(),
        },
    ] {
        let waiting = Emulation {
            waits: true,
            lines,
            ..emulation(2, &["start 2 at 900s"])
        };
        let mut rehearsal = rehearsal(&waiting, THREE);
        let at = |seconds| NOON + Duration::from_secs(seconds);
        assert!(begun(&mut rehearsal, at(100)).is_empty(), "{lines:?}");
        rehearsal.start_waiting(at(100));
        assert_eq!(begun(&mut rehearsal, at(600)), ["0 game 1"], "the other is late");
        rehearsal.start_waiting(at(600));
        assert_eq!(begun(&mut rehearsal, at(899)), ["0 game 2"], "{lines:?}");
        assert_eq!(begun(&mut rehearsal, at(1400)), ["1 game 1"], "{lines:?}");
        rehearsal.start_waiting(at(1400));
        let mut both = begun(&mut rehearsal, at(1410));
        both.sort();
        assert_eq!(both, ["0 game 3", "1 game 2"], "{lines:?}");
        rehearsal.start_waiting(at(1410));
        assert!(begun(&mut rehearsal, at(1800)).is_empty(), "nobody waited");
        rehearsal.start_waiting(at(1800));
        begun(&mut rehearsal, at(1810));
        rehearsal.start_round(at(1810));
        let mut both = begun(&mut rehearsal, at(2400));
        both.sort();
        assert_eq!(both, ["0 game 5", "1 game 4"], "{lines:?}: once they are ready");
    }
}

#[test]
fn faults_begin_and_end_at_their_times() {
    let faults = ["unplug 2 at 10s for 5s", "clock-lost 1 at 12s", "plug 1 at 13s"];
    let mut rehearsal = rehearsal(&emulation(2, &faults), THREE);
    let mut reported = Vec::new();
    watch(
        &mut rehearsal,
        NOON + Duration::from_secs(30),
        |at, table, output| {
            let text = match output {
                RehearsalOutput::Bytes(_) => return,
                RehearsalOutput::Report(words) if words.contains(',') => return,
                RehearsalOutput::Report(words) => words,
                other => format!("{other:?}"),
            };
            reported.push((at.saturating_duration_since(NOON).as_secs(), table, text));
        },
    );
    assert_eq!(
        reported,
        [
            (10, 1, "Unplugged".to_owned()),
            (12, 0, "clock unplugged".to_owned()),
            (13, 0, "is plugged in already".to_owned()),
            (15, 1, "Plugged".to_owned()),
        ]
    );
}

#[test]
fn times_of_a_typed_fault_count_from_its_entry() {
    let mut rehearsal = rehearsal(&emulation(1, &[]), THREE);
    words(&mut rehearsal, NOON + Duration::from_secs(5));
    let now = NOON + Duration::from_secs(5);
    for fault in ["garbage 1 at 2s", "silent 1 for 1s", "dead 1 e4", "unplug 7"] {
        rehearsal.schedule(now, &fault.parse().unwrap());
    }
    let reported: Vec<String> = words(&mut rehearsal, now + Duration::from_secs(2))
        .into_iter()
        .map(|(_, words)| words)
        .filter(|words| !words.contains(" - "))
        .collect();
    assert_eq!(
        reported,
        [
            "silent",
            "e4 is dead",
            "there is no such board; the last board is board-1",
            "heard again",
            "garbage on its line"
        ]
    );
}

fn bus(boards: usize, damaged: &str, faults: &[&str]) -> Emulation {
    let damaged = damaged.parse().unwrap();
    Emulation {
        lines: Wiring::Bus { damaged },
        ..emulation(boards, faults)
    }
}

/// Sends a query to a board on the bus. Returns all answers within 200 ms, as text, and the reports.
fn query_board(
    rehearsal: &mut Rehearsal,
    at: u64,
    kind: BusCommandKind,
    board: u16,
) -> (Vec<String>, Vec<String>) {
    let address = BusAddress::new(board).unwrap();
    let now = NOON + Duration::from_millis(at);
    let (mut decoder, mut answers, mut reported) = (BusDecoder::new(), Vec::new(), Vec::new());
    let mut handle = |line: usize, output: RehearsalOutput| match output {
        RehearsalOutput::Bytes(bytes) => {
            assert_eq!(line, 0, "there is one line");
            decoder.feed(&bytes, |decoded| {
                answers.push(match decoded {
                    Ok(BusAnswer {
                        address,
                        data: BusData::Clock(ClockReport::Absent(_)),
                    }) => {
                        format!("{address} no clock")
                    }
                    Ok(BusAnswer {
                        address,
                        data: BusData::Board(dump),
                    }) => {
                        format!("{address} {} pieces", dump.iter().flatten().count())
                    }
                    Ok(BusAnswer { address, data }) => format!("{address} {:#x}", data.id()),
                    Err(_) => "damaged".to_owned(),
                });
            });
        }
        RehearsalOutput::Report(words) if words.contains(" - ") => {}
        RehearsalOutput::Report(words) => reported.push(words),
        other => panic!("{other:?}"),
    };
    watch(rehearsal, now, |_, line, output| handle(line, output));
    rehearsal.handle_bytes(now, 0, &BusCommand { kind, address }.encode());
    watch(rehearsal, now + Duration::from_millis(200), |_, line, output| {
        handle(line, output)
    });
    (answers, reported)
}

#[test]
fn boards_on_a_bus_have_addresses_and_faults_of_their_own() {
    use BusCommandKind::{Board, Clock, Ping};
    let faults = [
        "unplug 2 at 550ms for 500ms",
        "dead 2 a1 at 600ms",
        "unplug 2 at 700ms",
        "clock-lost 3 at 1400ms for 900ms",
        "silent 1 at 1500ms for 500ms",
        "garbage 1 at 2500ms",
    ];
    let mut rehearsal = rehearsal(&bus(3, "0%", &faults), THREE);
    let mut query = |at, kind, board| query_board(&mut rehearsal, at, kind, board);
    let one = |answer: &str| vec![answer.to_owned()];
    assert_eq!(query(100, Ping, 2), (one("00002 0x87"), Vec::new()));
    assert_eq!(query(300, Ping, 4), (Vec::new(), Vec::new()), "there is none");
    let (answers, reported) = query(720, Ping, 2);
    assert!(answers.is_empty(), "{answers:?}");
    assert_eq!(reported, ["unplugged", "a1 is dead", "is unplugged already"]);
    assert_eq!(query(1100, Board, 2), (one("00002 31 pieces"), one("plugged in")));
    assert_eq!(query(1700, Ping, 1).0, Vec::<String>::new());
    // The board queries its clock two or three times a second.
    assert_eq!(query(1950, Clock, 3).0, one("00003 no clock"));
    assert_eq!(query(2200, Ping, 1).0, one("00001 0x87"));
    let (answers, reported) = query(3000, Clock, 3);
    assert_eq!(answers.last().unwrap(), "00003 0x84");
    assert!(
        answers.len() > 1 && reported.contains(&"garbage on its line".to_owned()),
        "{answers:?} {reported:?}"
    );
}

#[test]
fn the_configured_share_of_answers_is_damaged() {
    let mut rehearsal = rehearsal(&bus(1, "30%", &[]), THREE);
    let good = (0..500)
        .map(|nth| query_board(&mut rehearsal, 1000 + 250 * nth, BusCommandKind::Version, 1))
        .filter(|(answers, _)| answers.as_slice() == ["00001 0x89"])
        .count();
    assert!((310..390).contains(&good), "{good} of 500 are good");
}

/// Runs the emulation in virtual time. The events must have the moves of the PGN, game after game.
#[test]
fn every_game_is_announced_with_the_moves_of_its_pgn() {
    for hands in ["calm", "drawing", "blitz", "clumsy"] {
        let emulation = Emulation {
            hands: hands.parse().unwrap(),
            ..emulation(2, &[])
        };
        let written = games::read(SIX.as_bytes().chain(games::DEFAULT)).unwrap();
        let expected: Vec<Vec<String>> = written.iter().map(written_moves).collect();
        let mut rehearsal = Rehearsal::new(NOON, &emulation, written);
        let mut watched = Watched::new("rehearsal", Names::Recorded);
        let single = || Line::listening(LineMode::Single);
        let lines = ["board-1", "board-2"].map(|port| watched.add(port, single()));
        for (nth, line) in lines.into_iter().enumerate() {
            watched.open(NOON, line);
            // UPDATE_NICE, then a query for a dump.
            rehearsal.handle_bytes(NOON, nth, &[0x4b]);
            rehearsal.handle_bytes(NOON, nth, &[0x42]);
        }
        let end = NOON + Duration::from_secs(600);
        watch(&mut rehearsal, end, |at, table, output| {
            if let RehearsalOutput::Bytes(bytes) = output {
                watched.receive(at, lines[table], &bytes);
            }
        });
        watched.advance(end);
        let explained = watched.take_events();
        for (nth, board) in ["board-1", "board-2"].into_iter().enumerate() {
            let games = announced_games(
                explained
                    .iter()
                    .filter(|explained| explained.event.board == board),
            );
            assert!(games.len() >= 8, "{hands} {nth}: {}", games.len());
            for (reported, expected) in games.iter().zip(expected.iter().skip(nth).step_by(2)) {
                assert_eq!(reported, expected, "{hands} {board}");
            }
        }
    }
}

/// Returns the from and to squares of all moves, for each game that has ended.
fn announced_games<'s>(explained: impl Iterator<Item = &'s ExplainedEvent>) -> Vec<Vec<String>> {
    let mut games = Vec::new();
    let mut reported: Vec<String> = Vec::new();
    for explained in explained {
        match &explained.event.kind {
            EventKind::GameStarted { .. } => reported.clear(),
            EventKind::MoveMade(m) | EventKind::MoveAmended { played: m, .. } => {
                reported.truncate(m.ply as usize - 1);
                reported.push(m.uci.clone().unwrap_or_default());
            }
            EventKind::MoveRetracted { ply, .. } => reported.truncate(*ply as usize - 1),
            EventKind::GameEnded { .. } => games.push(reported.clone()),
            _ => {}
        }
    }
    games
}

fn written_moves(game: &ScriptedGame) -> Vec<String> {
    let square = |field: Field| shakmaty::Square::new(u32::from(field.number())).flip_vertical();
    let plies = game.script.plies.iter();
    plies
        .map(|ply| format!("{}{}", square(ply.from), square(ply.to)))
        .collect()
}
