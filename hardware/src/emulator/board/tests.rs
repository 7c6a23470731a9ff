use super::*;
use crate::emulator::ClockSide;
use kiebitz_protocol::{ClockMessage, Command, Decoder, Element, Piece, eeprom};

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

fn send(board: &mut EmulatedBoard, millis: u64, commands: &[Command]) {
    let mut bytes = Vec::new();
    for command in commands {
        command.encode(&mut bytes);
    }
    board.handle_bytes(at(millis), &bytes);
}

/// Returns all messages that the host can have read by `until`: the time of the last byte in ms, and the `Debug` text.
fn received(board: &mut EmulatedBoard, until: u64) -> Vec<(u64, String)> {
    let mut decoder = Decoder::new();
    let mut received = Vec::new();
    while let Some((when, bytes)) = board.poll_transmit(at(until)) {
        let millis = when.saturating_duration_since(START).as_millis() as u64;
        decoder.feed(&bytes, |decoded| {
            received.push((millis, format!("{:?}", decoded.unwrap())))
        });
    }
    received
}

fn texts(board: &mut EmulatedBoard, until: u64) -> Vec<String> {
    received(board, until).into_iter().map(|(_, text)| text).collect()
}

#[test]
fn a_board_in_idle_mode_sends_nothing_unasked() {
    let mut board = board();
    board.set(at(100), field(3), Some(Piece::WhiteKing));
    assert_eq!(board.poll_transmit(at(5000)), None);
    send(&mut board, 5000, &[Command::UpdateBoard, Command::Reset]);
    board.set(at(5100), field(4), Some(Piece::BlackKing));
    assert_eq!(board.poll_transmit(at(9000)), None);
}

#[test]
fn a_dump_shows_scanned_contents_and_not_the_latest_changes() {
    let mut board = board();
    // Field 3 is sampled 10.5 ms after the start of each scan, field 63 after 221 ms.
    board.set(at(20), field(3), Some(Piece::WhiteKing));
    board.set(at(20), field(63), Some(Piece::BlackKing));
    send(&mut board, 225, &[Command::SendBoard]);
    let mut dumped = [None; Field::COUNT];
    dumped[63] = Some(Piece::BlackKing);
    assert_eq!(
        texts(&mut board, 400),
        [format!("{:?}", Message::BoardDump(dumped))]
    );
}

#[test]
fn a_dump_takes_seventy_milliseconds_on_the_line() {
    let mut board = board();
    send(&mut board, 1000, &[Command::SendBoard]);
    let times: Vec<u64> = received(&mut board, 2000)
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
    send(&mut board, now, &[Command::UpdateBoard, Command::SendEeMoves]);
    board.set(at(now + 10), field(20), Some(Piece::WhitePawn));
    let received = received(&mut board, now + 20_000);
    assert!(
        received[0].1.starts_with("EeMoves") && received[0].0 > now + 1600,
        "{}",
        received[0].0
    );
    assert!(received[1].1.starts_with("FieldUpdate") && received[1].0 >= received[0].0);
}

#[test]
fn a_board_answers_queries_for_its_identity() {
    let mut board = board();
    let commands = [
        Command::SendVersion,
        Command::ReturnSerialNumber,
        Command::ReturnLongSerialNumber,
        Command::ReturnBusAddress,
        Command::SendTrademark,
    ];
    send(&mut board, 10, &commands);
    let texts = texts(&mut board, 1000);
    assert_eq!(texts.len(), 5);
    for (text, expected) in
        texts
            .iter()
            .zip(["major: 1", "00042", "0000000042", "42", "kiebitz emulated board"])
    {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_missing_clock_is_reported_once() {
    let mut board = board();
    send(&mut board, 10, &[Command::UpdateNice]);
    let texts = texts(&mut board, 5000);
    assert!(
        texts.len() == 1 && texts[0].starts_with("ClockAbsent"),
        "{texts:?}"
    );
}

#[test]
fn update_nice_reports_the_clock_only_when_it_changed() {
    let mut board = board();
    board.plug_clock(at(0), Some(EmulatedClock::new(Duration::from_secs(60))));
    send(&mut board, 10, &[Command::UpdateNice]);
    assert_eq!(texts(&mut board, 10_000).len(), 1);
    board.clock_mut(at(10_000)).unwrap().start(at(10_000));
    assert!((10..=12).contains(&texts(&mut board, 20_000).len()));
}

#[test]
fn update_mode_reports_the_clock_at_least_every_second() {
    let mut board = board();
    board.plug_clock(at(0), Some(EmulatedClock::new(Duration::from_secs(60))));
    send(&mut board, 10, &[Command::Update]);
    assert_eq!(texts(&mut board, 4000).len(), 10);
}

#[test]
fn a_press_is_reported_when_the_board_next_polls_the_clock() {
    let mut board = board();
    board.plug_clock(at(0), Some(EmulatedClock::new(Duration::from_secs(60))));
    board.clock_mut(at(0)).unwrap().start(at(0));
    send(&mut board, 10, &[Command::UpdateNice]);
    received(&mut board, 2000);
    board
        .clock_mut(at(2000))
        .unwrap()
        .press(at(2000), ClockSide::Left);
    let pressed = received(&mut board, 3000)
        .into_iter()
        .find(|(_, text)| text.contains("lever_right_high: true"));
    // The board polls the clock at 130 ms and every 400 ms after that.
    assert!((2140..2160).contains(&pressed.unwrap().0));
}

#[test]
fn the_clock_acknowledges_in_the_modes_that_report_it() {
    let mut board = board();
    board.plug_clock(at(0), Some(EmulatedClock::new(Duration::from_secs(60))));
    let beep = Command::Clock(ClockMessage::Beep { duration: 1 });
    send(&mut board, 10, &[Command::UpdateBoard, beep]);
    assert!(texts(&mut board, 100).is_empty());
    send(&mut board, 500, &[Command::Update, beep]);
    assert!(texts(&mut board, 530)[0].starts_with("ClockAck"));
}

#[test]
fn the_memory_holds_changes_and_the_times_of_presses() {
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
fn the_order_of_polling_does_not_change_the_sent_bytes() {
    let play = |step: u64| {
        let mut board = board();
        board.plug_clock(at(0), Some(EmulatedClock::new(Duration::from_secs(60))));
        send(&mut board, 10, &[Command::UpdateNice]);
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

fn code(command: Command) -> u8 {
    command.code()
}

#[test]
fn commands_that_arrive_at_a_full_input_buffer_are_lost() {
    let mut board = board();
    // The dump keeps the board busy for 70 ms. Of 30 requests that arrive in this time, 10 fit into the buffer.
    send(&mut board, 10, &[Command::SendBoard]);
    let burst = [code(Command::SendVersion); 30];
    board.handle_bytes(at(20), &burst);
    let texts = texts(&mut board, 2000);
    assert_eq!(texts.len(), 11, "{texts:?}");
    send(&mut board, 3000, &[Command::SendVersion]);
    assert_eq!(received(&mut board, 4000).len(), 1, "the board is in step again");
}

#[test]
fn commands_at_the_pace_of_the_board_are_all_executed() {
    let mut board = board();
    for millis in 0..100 {
        send(&mut board, 20 * millis, &[Command::SendVersion]);
    }
    assert_eq!(texts(&mut board, 5000).len(), 100);
}

#[test]
fn an_answer_waits_until_the_memory_is_written() {
    let settings = BoardSettings {
        latency: Duration::ZERO,
        ..BoardSettings::default()
    };
    let mut quiet = EmulatedBoard::new(START, settings);
    let mut writing = quiet.clone();
    // The eleventh sample of field 63 comes after 10 scans of 225 ms and 221.5 ms.
    writing.set(at(2400), field(63), Some(Piece::WhiteRook));
    for board in [&mut quiet, &mut writing] {
        send(board, 2471, &[Command::SendVersion]);
    }
    let last = |board: &mut EmulatedBoard| received(board, 3000)[0].0;
    assert_eq!((last(&mut quiet), last(&mut writing)), (2479, 2496));
}

#[test]
fn a_board_without_power_is_silent_and_records_its_power_up() {
    let mut board = board();
    send(&mut board, 10, &[Command::UpdateBoard]);
    board.set(at(1000), field(8), Some(Piece::BlackPawn));
    assert_eq!(texts(&mut board, 2000).len(), 1);
    board.power_off(at(2000));
    assert!(!board.powered());
    board.set(at(2500), field(9), Some(Piece::BlackPawn));
    send(&mut board, 2600, &[Command::SendBoard]);
    assert!(received(&mut board, 4000).is_empty());
    assert_eq!(board.poll_deadline(), None);

    board.power_on(at(5000));
    board.set(at(5100), field(10), Some(Piece::BlackPawn));
    assert!(received(&mut board, 6000).is_empty(), "the update mode is lost");
    let data = board.memory.read();
    let elements: Vec<Element> = eeprom::elements(&data).map(Result::unwrap).collect();
    let change = |number, quick| Element::PieceChange {
        contents: Some(Piece::BlackPawn),
        field: field(number),
        quick,
    };
    let nothing = Element::Nothing;
    assert_eq!(
        elements[5..],
        [
            change(8, false),
            nothing,
            nothing,
            nothing,
            Element::PowerUp,
            change(8, false),
            change(9, true),
            change(10, false),
            Element::End
        ]
    );
}

#[test]
fn bytes_in_transit_are_lost_at_a_power_loss() {
    let mut board = board();
    send(&mut board, 1000, &[Command::SendBoard]);
    board.power_off(at(1030));
    let bytes: usize = std::iter::from_fn(|| board.poll_transmit(at(2000)))
        .map(|(_, bytes)| bytes.len())
        .sum();
    assert!((20..30).contains(&bytes), "{bytes}");
}

#[test]
fn a_broken_sensor_ignores_the_actual_contents() {
    let mut board = board();
    board.set(at(100), field(5), Some(Piece::WhiteKing));
    board.break_field(at(1000), field(5), Some(Piece::BlackBishop));
    board.set(at(2000), field(5), None);
    send(&mut board, 3000, &[Command::SendBoard]);
    let mut dumped = [None; Field::COUNT];
    dumped[5] = Some(Piece::BlackBishop);
    assert_eq!(
        texts(&mut board, 4000),
        [format!("{:?}", Message::BoardDump(dumped))]
    );
    assert_eq!(board.contents(field(5)), None);
    board.mend_field(at(5000), field(5));
    send(&mut board, 6000, &[Command::SendBoard]);
    assert_eq!(
        texts(&mut board, 7000),
        [format!("{:?}", Message::BoardDump([None; Field::COUNT]))]
    );
}

#[test]
fn a_board_that_hangs_sends_nothing_but_remembers_changes() {
    let mut board = board();
    send(&mut board, 10, &[Command::UpdateBoard]);
    board.silence(at(1000), at(3000));
    board.set(at(1500), field(1), Some(Piece::WhiteQueen));
    send(&mut board, 2000, &[Command::SendBoard]);
    assert!(received(&mut board, 3500).is_empty());
    send(&mut board, 4000, &[Command::SendEeMoves]);
    let texts = texts(&mut board, 5000);
    assert!(texts.len() == 1 && texts[0].starts_with("EeMoves"), "{texts:?}");
}

#[test]
fn only_a_board_with_a_battery_reports_it() {
    let mut plain = board();
    send(&mut plain, 10, &[Command::SendBatteryStatus]);
    assert!(received(&mut plain, 1000).is_empty());
    let battery = kiebitz_protocol::BatteryStatus {
        percent: 64,
        ..kiebitz_protocol::BatteryStatus::default()
    };
    let settings = BoardSettings {
        battery: Some(battery),
        ..BoardSettings::default()
    };
    let mut board = EmulatedBoard::new(START, settings);
    send(&mut board, 10, &[Command::SendBatteryStatus]);
    assert_eq!(
        texts(&mut board, 1000),
        [format!("{:?}", Message::BatteryStatus(battery))]
    );
}

#[test]
fn after_to_bus_mode_the_next_bus_command_is_executed() {
    use kiebitz_protocol::{BusCommand, BusCommandKind};
    let ping = BusCommand {
        kind: BusCommandKind::Ping,
        address: kiebitz_protocol::BusAddress::new(42).unwrap(),
    }
    .encode();
    let mut board = board();
    send(&mut board, 10, &[Command::Update, Command::ToBusMode]);
    board.handle_bytes(at(1000), &ping);
    let bytes: Vec<u8> = std::iter::from_fn(|| board.poll_transmit(at(2000)))
        .flat_map(|(_, bytes)| bytes)
        .collect();
    assert_eq!(bytes, [0x87, 0x00, 0x06, 0x00, 42, 0x37]);
    send(&mut board, 3000, &[Command::Update]);
    board.handle_bytes(at(3001), &ping);
    let after: Vec<u8> = std::iter::from_fn(|| board.poll_transmit(at(9000)))
        .flat_map(|(_, bytes)| bytes)
        .collect();
    assert!(after.is_empty(), "the ping only switched back: {after:?}");
}
