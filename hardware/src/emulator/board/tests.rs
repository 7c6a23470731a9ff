use super::*;
use crate::emulator::ClockSide;
use kiebitz_protocol::{Decoder, Element, Piece, eeprom};

const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

fn at(millis: u64) -> Timestamp {
    START + Duration::from_millis(millis)
}

fn field(number: u8) -> Field {
    Field::new(number).unwrap()
}

fn board() -> EmulatedBoard {
    EmulatedBoard::new(START, BoardSettings::default())
}

fn tell(board: &mut EmulatedBoard, millis: u64, commands: &[Command]) {
    let mut bytes = Vec::new();
    for command in commands {
        command.encode(&mut bytes);
    }
    board.handle_bytes(at(millis), &bytes);
}

/// All that the host has read by then, as (milliseconds of the last byte, message in words).
fn heard(board: &mut EmulatedBoard, until: u64) -> Vec<(u64, String)> {
    let mut decoder = Decoder::new();
    let mut heard = Vec::new();
    while let Some((when, bytes)) = board.poll_transmit(at(until)) {
        let millis = when.saturating_duration_since(START).as_millis() as u64;
        decoder.feed(&bytes, |decoded| {
            heard.push((millis, format!("{:?}", decoded.unwrap())))
        });
    }
    heard
}

fn words(board: &mut EmulatedBoard, until: u64) -> Vec<String> {
    heard(board, until).into_iter().map(|(_, words)| words).collect()
}

#[test]
fn a_board_that_was_not_asked_says_nothing() {
    let mut board = board();
    board.set(at(100), field(3), Some(Piece::WhiteKing));
    assert_eq!(board.poll_transmit(at(5000)), None);
    tell(&mut board, 5000, &[Command::UpdateBoard, Command::Reset]);
    board.set(at(5100), field(4), Some(Piece::BlackKing));
    assert_eq!(board.poll_transmit(at(9000)), None);
}

#[test]
fn a_dump_shows_what_the_scan_has_seen_and_not_what_has_just_changed() {
    let mut board = board();
    // Field 3 is looked at 10.5 ms into each scan, field 63 after 221 ms.
    board.set(at(20), field(3), Some(Piece::WhiteKing));
    board.set(at(20), field(63), Some(Piece::BlackKing));
    tell(&mut board, 225, &[Command::SendBoard]);
    let mut dumped = [None; Field::COUNT];
    dumped[63] = Some(Piece::BlackKing);
    assert_eq!(
        words(&mut board, 400),
        [format!("{:?}", Message::BoardDump(dumped))]
    );
}

#[test]
fn a_dump_takes_seventy_milliseconds_on_the_line() {
    let mut board = board();
    tell(&mut board, 1000, &[Command::SendBoard]);
    let times: Vec<u64> = heard(&mut board, 2000)
        .into_iter()
        .map(|(millis, _)| millis)
        .collect();
    assert!((1070..1090).contains(&times[0]), "{times:?}");
}

#[test]
fn updates_wait_while_the_memory_is_being_read() {
    let mut board = board();
    for round in 0..800_u64 {
        let contents = (round % 2 == 0).then_some(Piece::WhiteQueen);
        board.set(at(600 * round), field((round / 2 % 64) as u8), contents);
    }
    let now = 600_000;
    tell(&mut board, now, &[Command::UpdateBoard, Command::SendEeMoves]);
    board.set(at(now + 10), field(20), Some(Piece::WhitePawn));
    let heard = heard(&mut board, now + 20_000);
    assert!(
        heard[0].1.starts_with("EeMoves") && heard[0].0 > now + 1600,
        "{}",
        heard[0].0
    );
    assert!(heard[1].1.starts_with("FieldUpdate") && heard[1].0 >= heard[0].0);
}

#[test]
fn identity_is_told_when_asked() {
    let mut board = board();
    let commands = [
        Command::SendVersion,
        Command::ReturnSerialNumber,
        Command::ReturnLongSerialNumber,
        Command::ReturnBusAddress,
        Command::SendTrademark,
    ];
    tell(&mut board, 10, &commands);
    let words = words(&mut board, 1000);
    assert_eq!(words.len(), 5);
    for (words, expected) in
        words
            .iter()
            .zip(["major: 1", "00042", "0000000042", "42", "kiebitz emulated board"])
    {
        assert!(words.contains(expected), "{words}");
    }
}

#[test]
fn without_a_clock_the_board_says_so_once() {
    let mut board = board();
    tell(&mut board, 10, &[Command::UpdateNice]);
    let words = words(&mut board, 5000);
    assert!(
        words.len() == 1 && words[0].starts_with("ClockAbsent"),
        "{words:?}"
    );
}

#[test]
fn update_nice_tells_the_clock_only_when_it_changed() {
    let mut board = board();
    board.plug_clock(at(0), Some(EmulatedClock::new(Duration::from_secs(60))));
    tell(&mut board, 10, &[Command::UpdateNice]);
    assert_eq!(words(&mut board, 10_000).len(), 1);
    board.clock_mut(at(10_000)).unwrap().start(at(10_000));
    assert!((10..=12).contains(&words(&mut board, 20_000).len()));
}

#[test]
fn update_mode_tells_the_clock_at_least_every_second() {
    let mut board = board();
    board.plug_clock(at(0), Some(EmulatedClock::new(Duration::from_secs(60))));
    tell(&mut board, 10, &[Command::Update]);
    assert_eq!(words(&mut board, 4000).len(), 10);
}

#[test]
fn a_press_is_reported_when_the_board_next_asks_the_clock() {
    let mut board = board();
    board.plug_clock(at(0), Some(EmulatedClock::new(Duration::from_secs(60))));
    board.clock_mut(at(0)).unwrap().start(at(0));
    tell(&mut board, 10, &[Command::UpdateNice]);
    heard(&mut board, 2000);
    board
        .clock_mut(at(2000))
        .unwrap()
        .press(at(2000), ClockSide::Left);
    let pressed = heard(&mut board, 3000)
        .into_iter()
        .find(|(_, words)| words.contains("lever_right_high: true"));
    // Asked at 130 ms and every 400 ms from there.
    assert!((2140..2160).contains(&pressed.unwrap().0));
}

#[test]
fn the_clock_acknowledges_in_the_modes_that_report_it() {
    let mut board = board();
    board.plug_clock(at(0), Some(EmulatedClock::new(Duration::from_secs(60))));
    let beep = Command::Clock(ClockMessage::Beep { duration: 1 });
    tell(&mut board, 10, &[Command::UpdateBoard, beep]);
    assert!(words(&mut board, 100).is_empty());
    tell(&mut board, 500, &[Command::Update, beep]);
    assert!(words(&mut board, 520)[0].starts_with("ClockAck"));
}

#[test]
fn the_memory_holds_changes_and_the_times_of_those_who_pressed() {
    let mut board = board();
    board.plug_clock(at(0), Some(EmulatedClock::new(Duration::from_secs(60))));
    board.clock_mut(at(200)).unwrap().start(at(200));
    board.set(at(1000), field(36), Some(Piece::WhitePawn));
    board
        .clock_mut(at(3000))
        .unwrap()
        .press(at(3000), ClockSide::Left);
    board.advance(at(4000));
    let data = board.memory.read();
    let elements: Vec<Element> = eeprom::elements(&data).map(Result::unwrap).collect();
    let change = Element::PieceChange {
        contents: Some(Piece::WhitePawn),
        field: field(36),
        quick: false,
    };
    let time = Element::ClockTime {
        left: true,
        hours: 0,
        minutes: 0,
        seconds: 58,
    };
    assert!(elements.ends_with(&[change, time, Element::End]), "{elements:?}");
}

#[test]
fn the_order_of_polling_does_not_change_what_is_sent() {
    let play = |step: u64| {
        let mut board = board();
        board.plug_clock(at(0), Some(EmulatedClock::new(Duration::from_secs(60))));
        tell(&mut board, 10, &[Command::UpdateNice]);
        board.clock_mut(at(20)).unwrap().start(at(20));
        let mut sent = Vec::new();
        for millis in 21..3000 {
            if millis % 300 == 0 {
                let contents = (millis % 600 == 0).then_some(Piece::BlackPawn);
                board.set(at(millis), field((millis / 600) as u8), contents);
            }
            if millis % step == 0 {
                sent.extend(std::iter::from_fn(|| board.poll_transmit(at(millis))));
            }
        }
        sent.extend(std::iter::from_fn(|| board.poll_transmit(at(4000))));
        sent
    };
    assert_eq!(play(1), play(997));
}
