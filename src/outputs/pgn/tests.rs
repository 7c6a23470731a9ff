//! Each PGN is read back with pgn-reader and played through with shakmaty.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::ops::ControlFlow;

use pgn_reader::{Outcome, RawComment, RawTag, Reader, SanPlus, Visitor};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position};

mod strict;

use kiebitz_game::events::record::Games;
use kiebitz_game::events::samples::{clock, event, ply, started};
use kiebitz_game::events::{
    Clock, CompletedBy, DecidedBy, EventKind, GameResult, Move, PlayerFacts, Players,
};

use super::*;

/// Contents of a PGN as a reader sees them.
#[derive(Default)]
struct Read {
    tags: BTreeMap<String, String>,
    ucis: Vec<String>,
    comments: Vec<String>,
    result: String,
    position: Chess,
    mode: Option<CastlingMode>,
}

struct Replayer;

impl Visitor for Replayer {
    type Tags = Read;
    type Movetext = Read;
    type Output = Read;

    fn begin_tags(&mut self) -> ControlFlow<Read, Read> {
        ControlFlow::Continue(Read::default())
    }

    fn tag(&mut self, read: &mut Read, name: &[u8], value: RawTag<'_>) -> ControlFlow<Read> {
        let name = String::from_utf8(name.to_vec()).expect("tag names are ASCII");
        read.tags
            .insert(name, value.decode_utf8().expect("values are UTF-8").into_owned());
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, mut read: Read) -> ControlFlow<Read, Read> {
        let chess960 = read
            .tags
            .get("Variant")
            .is_some_and(|variant| variant == "Chess960");
        let mode = CastlingMode::from_chess960(chess960);
        if let Some(fen) = read.tags.get("FEN") {
            let fen = fen.parse::<Fen>().expect("the FEN tag is a FEN");
            read.position = fen.into_position(mode).expect("the start position is legal");
        }
        read.mode = Some(mode);
        ControlFlow::Continue(read)
    }

    fn san(&mut self, read: &mut Read, san: SanPlus) -> ControlFlow<Read> {
        let played = san
            .san
            .to_move(&read.position)
            .expect("the SAN is legal in its position");
        read.ucis.push(
            played
                .to_uci(read.mode.unwrap_or(CastlingMode::Standard))
                .to_string(),
        );
        read.position.play_unchecked(played);
        ControlFlow::Continue(())
    }

    fn comment(&mut self, read: &mut Read, comment: RawComment<'_>) -> ControlFlow<Read> {
        read.comments
            .push(String::from_utf8_lossy(comment.as_bytes()).into_owned());
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, read: &mut Read, outcome: Outcome) -> ControlFlow<Read> {
        read.result = outcome.to_string();
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, read: Read) -> Read {
        read
    }
}

fn read(pgn: &str) -> Read {
    assert!(pgn.lines().all(|line| line.chars().count() < 80), "{pgn}");
    assert_eq!(strict::refused(pgn), None, "{pgn}");
    let mut reader = Reader::new(Cursor::new(pgn));
    let game = reader.read_game(&mut Replayer).expect("PGN").expect("one game");
    assert!(
        !reader.has_more().expect("PGN"),
        "one game and nothing else:\n{pgn}"
    );
    game
}

/// Creates the record of a game from its moves in UCI. shakmaty provides SAN and FEN.
fn played(start_fen: &str, variant: Variant, ucis: &[&str]) -> Games {
    let mode = CastlingMode::from_chess960(variant == Variant::Chess960);
    let mut position: Chess = start_fen
        .parse::<Fen>()
        .expect("FEN")
        .into_position(mode)
        .expect("a legal start");
    let mut games = Games::new();
    games.apply(&event(1, started(start_fen, variant)));
    for (number, uci) in (1..).zip(ucis) {
        let legal = uci
            .parse::<UciMove>()
            .expect("UCI")
            .to_move(&position)
            .expect("legal");
        let color = position.turn();
        let san = SanPlus::from_move_and_play_unchecked(&mut position, legal).to_string();
        let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
        let made = Move {
            color,
            fen,
            ..ply(number, uci, &san)
        };
        games.apply(&event(u64::from(number) + 1, EventKind::MoveMade(made)));
    }
    games
}

fn record(games: &Games) -> &GameRecord {
    games.current().expect("a game")
}

#[test]
fn finished_game_reads_back() {
    let ucis = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"];
    let mut games = played(STANDARD, Variant::Standard, &ucis);
    let clock = Some(Clock {
        white_ms: 3_599_400,
        black_ms: 5_400_000,
        running: Some(Color::Black),
        flag: None,
    });
    games.apply(&event(
        20,
        EventKind::MoveCompleted {
            ply: 1,
            by: CompletedBy::Press,
            clock,
            elapsed_ms: Some(600),
        },
    ));
    let (result, reason) = (GameResult::WhiteWins, EndReason::Checkmate);
    games.apply(&event(
        21,
        EventKind::GameEnded {
            result,
            reason,
            by: DecidedBy::Laws,
            confirmed: true,
            end_certain: true,
            decided_by: None,
        },
    ));

    let text = pgn(record(&games));
    assert!(
        text.contains("1. e4 {[%clk 0:59:59][%emt 0:00:01]} 1... e5 {[%clk 0:10:00]}"),
        "{text}"
    );
    let read = read(&text);
    assert_eq!(read.ucis, ucis);
    assert_eq!(read.result, "1-0");
    assert!(read.position.is_checkmate());
    assert_eq!(read.tags["Date"], "2026.09.10");
    assert_eq!(read.tags["Termination"], "normal");
    assert!(!read.tags.contains_key("FEN"));
}

#[test]
fn roster_comes_first_and_in_order() {
    let games = played(STANDARD, Variant::Standard, &[]);
    let text = pgn(record(&games));
    let names: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.split(' ').next())
        .collect();
    assert_eq!(
        names[..7],
        ["Event", "Site", "Date", "Round", "White", "Black", "Result"]
    );
    assert_eq!(read(&text).result, "*");
}

#[test]
fn chess960_game_has_its_start_position_and_castles() {
    let fen = "brkrnqnb/pppppppp/8/8/8/8/PPPPPPPP/BRKRNQNB w KQkq - 0 1";
    let ucis = [
        "g1f3", "g8f6", "e1d3", "e8d6", "g2g3", "g7g6", "f1h3", "f8h6", "c1d1",
    ];
    let games = played(fen, Variant::Chess960, &ucis);
    let read = read(&pgn(record(&games)));
    assert_eq!(read.tags["Variant"], "Chess960");
    assert_eq!(
        (read.tags["SetUp"].as_str(), read.tags["FEN"].as_str()),
        ("1", fen)
    );
    assert_eq!(read.ucis, ucis);
}

#[test]
fn black_can_be_the_first_to_move() {
    let fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 3 17";
    let games = played(fen, Variant::FromPosition, &["e8d7", "e2e4"]);
    let text = pgn(record(&games));
    assert!(text.contains("\n17... Kd7 {"), "{text}");
    assert!(text.contains("} 18. e4 {"), "{text}");
    assert_eq!(read(&text).ucis, ["e8d7", "e2e4"]);
}

#[test]
fn moves_from_an_irregular_ply_on_are_in_a_comment() {
    let mut games = played(STANDARD, Variant::Standard, &["e2e4", "e7e5"]);
    let irregular = Move {
        san: None,
        legal: false,
        clock: None,
        ..ply(3, "e1e3", "")
    };
    games.apply(&event(10, EventKind::MoveMade(irregular)));
    games.apply(&event(11, EventKind::MoveMade(ply(4, "d7d5", "d5"))));
    let unclear = Move {
        uci: None,
        san: None,
        legal: false,
        clock: None,
        ..ply(5, "", "")
    };
    games.apply(&event(12, EventKind::MoveMade(unclear)));

    let read = read(&pgn(record(&games)));
    assert_eq!(read.ucis, ["e2e4", "e7e5"]);
    let last = read.comments.last().expect("a comment").replace('\n', " ");
    assert!(
        last.starts_with("[%clk 0:10:00] Irregular from here on; in UCI: e1e3 d7d5 ? ; FEN "),
        "{last}"
    );
}

#[test]
fn spectators_see_moves_and_clocks_only() {
    let mut games = played(STANDARD, Variant::Standard, &["e2e4"]);
    let completed = EventKind::MoveCompleted {
        ply: 1,
        by: CompletedBy::Press,
        clock: Some(clock(60)),
        elapsed_ms: Some(1000),
    };
    games.apply(&event(10, completed));
    let text = public_pgn(record(&games));
    assert!(
        text.contains("{[%clk 0:01:00]}") && !text.contains("emt"),
        "{text}"
    );
}

#[test]
fn tag_values_cannot_break_out() {
    let mut games = Games::new();
    let EventKind::GameStarted {
        start_fen,
        variant,
        orientation,
        white_side,
        laws,
        mode,
        time_control,
        ..
    } = started(STANDARD, Variant::Standard)
    else {
        unreachable!()
    };
    let players = Some(Players {
        white: Some("O\"Brien\\ \"]\n[Result \"0-1".to_owned()),
        black: Some("Müller, Jürgen".to_owned()),
        black_player: Some(Box::new(PlayerFacts {
            fide_id: Some(4_600_000),
            title: Some("FM".to_owned()),
            rating: Some(2301),
            federation: Some("GER".to_owned()),
            team: Some("SK \"Kiebitz\"".to_owned()),
        })),
        table: Some(12),
        ..Players::default()
    });
    let kind = EventKind::GameStarted {
        start_fen,
        variant,
        orientation,
        continues: None,
        white_side,
        laws,
        mode,
        players,
        time_control,
        time_control_typed: None,
        event: Some("Club \"Kiebitz\"".to_owned()),
        site: Some("Bremen GER".to_owned()),
        round: Some(3),
    };
    games.apply(&event(1, kind));
    let text = pgn(record(&games));
    let read = read(&text);
    assert_eq!(read.tags["White"], "O'Brien\\ '][Result '0-1");
    assert_eq!(read.tags["Black"], "Müller, Jürgen");
    assert_eq!(read.tags["Result"], "*");
    assert_eq!(read.tags["Event"], "Club 'Kiebitz'");
    assert_eq!(read.tags["Site"], "Bremen GER");
    assert_eq!((&*read.tags["Round"], &*read.tags["Board"]), ("3.12", "12"));
    let black = ["BlackFideId", "BlackTitle", "BlackElo", "BlackTeam"].map(|tag| &*read.tags[tag]);
    assert_eq!(black, ["4600000", "FM", "2301", "SK 'Kiebitz'"]);
    assert!(!text.contains("[WhiteTitle"), "{text}");
}

/// The reply to an illegal move may be legal by itself, but readers do not reach its position.
#[test]
fn moves_do_not_resume_after_an_irregular_one() {
    let mut games = played(STANDARD, Variant::Standard, &["e2e4", "e7e5"]);
    let irregular = Move {
        san: None,
        legal: false,
        fen: "rnbqkbnr/pppp1ppp/8/4p3/4P3/4K3/PPPP1PPP/RNBQ1BNR b kq - 1 2".to_owned(),
        ..ply(3, "e1e3", "")
    };
    games.apply(&event(10, EventKind::MoveMade(irregular)));
    games.apply(&event(11, EventKind::MoveMade(ply(4, "g8f6", "Nf6"))));
    let text = pgn(record(&games));
    let read = read(&text);
    assert_eq!(read.ucis, ["e2e4", "e7e5"]);
    assert!(!text.contains("} {") && !text.contains("}\n{"), "{text}");
}

/// A move that readers cannot play is left out, even if its event says that it is legal.
#[test]
fn moves_end_before_one_that_cannot_be_played() {
    let mut games = played(STANDARD, Variant::Standard, &["e2e4"]);
    games.apply(&event(10, EventKind::MoveMade(ply(2, "a8a5", "Ra5"))));
    assert_eq!(read(&pgn(record(&games))).ucis, ["e2e4"]);
}

#[test]
fn moves_end_before_a_position_that_the_arbiter_set() {
    let mut games = played(STANDARD, Variant::Standard, &["e2e4"]);
    let mut set = record(&games).clone();
    set.positions.push(kiebitz_game::events::record::PositionRecord {
        ply: 1,
        fen: "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 2".to_owned(),
    });
    games.apply(&event(10, EventKind::MoveMade(ply(2, "e7e5", "e5"))));
    set.moves.clone_from(&record(&games).moves);
    assert_eq!(read(&pgn(&set)).ucis, ["e2e4"]);
}

#[test]
fn illegal_start_position_is_in_a_comment() {
    let mut games = Games::new();
    let start = "4k3/8/8/8/8/8/4P3/8 w - - 0 1";
    games.apply(&event(1, started(start, Variant::FromPosition)));
    games.apply(&event(2, EventKind::MoveMade(ply(1, "e2e4", "e4"))));
    let read = read(&pgn(record(&games)));
    assert!(!read.tags.contains_key("FEN") && read.ucis.is_empty());
    let comment = read.comments.join(" ").replace('\n', " ");
    assert!(
        comment.starts_with(&format!(
            "Irregular start FEN {start} ; Irregular from here on; in UCI: e2e4 ;"
        )),
        "{comment}"
    );
}

/// PGN has four results. Other results are written as a comment, and readers still accept the game.
#[test]
fn results_unknown_to_pgn_are_in_a_comment() {
    for (result, reason, tag, termination, comment) in [
        (
            GameResult::BothLose,
            EndReason::Conduct,
            "*",
            "rules infraction",
            Some("0-0: both players lose"),
        ),
        (
            GameResult::HalfForWhite,
            EndReason::Arbiter,
            "*",
            "adjudication",
            Some("1/2-0: Black loses, and White gets half a point"),
        ),
        (
            GameResult::HalfForBlack,
            EndReason::Conduct,
            "*",
            "rules infraction",
            Some("0-1/2: White loses, and Black gets half a point"),
        ),
        (
            GameResult::BlackWins,
            EndReason::Default,
            "0-1",
            "rules infraction",
            Some("0-1: by default"),
        ),
        (GameResult::Draw, EndReason::Quickplay, "1/2-1/2", "normal", None),
        (
            GameResult::WhiteWins,
            EndReason::Conduct,
            "1-0",
            "rules infraction",
            None,
        ),
    ] {
        let mut games = played(STANDARD, Variant::Standard, &["e2e4", "e7e5"]);
        games.apply(&event(
            21,
            EventKind::GameEnded {
                result,
                reason,
                by: DecidedBy::Arbiter,
                confirmed: true,
                end_certain: true,
                decided_by: None,
            },
        ));
        for text in [pgn(record(&games)), public_pgn(record(&games))] {
            let read = read(&text);
            assert_eq!(
                (read.tags["Result"].as_str(), read.result.as_str()),
                (tag, tag),
                "{text}"
            );
            assert_eq!(read.tags["Termination"], termination, "{text}");
            assert_eq!(read.ucis, ["e2e4", "e7e5"], "{text}");
            let leading = comment.map(|comment| format!("\n\n{{{comment}}} 1. e4"));
            let begins = leading.unwrap_or_else(|| "\n\n1. e4".to_owned());
            assert!(text.contains(&begins), "{text}");
        }
    }
}
