use super::*;
use crate::emulator::BoardSettings;
use kiebitz_protocol::{BusAnswer, BusCommandKind, BusData, BusDecoder, Field, Piece, SerialNumber};

const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

fn at(millis: u64) -> Timestamp {
    START + Duration::from_millis(millis)
}

fn address(number: u16) -> BusAddress {
    BusAddress::new(number).unwrap()
}

fn board(number: u16) -> EmulatedBoard {
    let serial: [u8; 5] = format!("{number:05}").into_bytes().try_into().unwrap();
    let settings = BoardSettings {
        serial: SerialNumber::new(serial),
        seed: u64::from(number),
        ..BoardSettings::default()
    };
    EmulatedBoard::new(START, settings)
}

fn bus(numbers: std::ops::Range<u16>) -> EmulatedBus {
    let mut bus = EmulatedBus::new(START, EmulatedBusSettings::default());
    for number in numbers {
        bus.attach(START, board(number)).unwrap();
    }
    bus
}

fn send_command(bus: &mut EmulatedBus, millis: u64, kind: BusCommandKind, number: u16) {
    let command = BusCommand {
        kind,
        address: address(number),
    };
    bus.handle_bytes(at(millis), &command.encode());
}

/// Returns the time in ms, the address and the id of each answer. Damaged bytes have address 0 and id 0.
fn received(bus: &mut EmulatedBus, until: u64) -> Vec<(u64, u16, u8)> {
    let mut decoder = BusDecoder::new();
    let mut received = Vec::new();
    while let Some((when, bytes)) = bus.poll_transmit(at(until)) {
        let millis = when.saturating_duration_since(START).as_millis() as u64;
        decoder.feed(&bytes, |decoded| {
            received.push(decoded.map_or((millis, 0, 0), |answer| {
                (millis, answer.address.number(), answer.data.id())
            }));
        });
    }
    received
}

fn read(bus: &mut EmulatedBus, until: u64) -> Vec<u8> {
    std::iter::from_fn(|| bus.poll_transmit(at(until)))
        .flat_map(|(_, bytes)| bytes)
        .collect()
}

#[test]
fn only_the_addressed_board_answers() {
    let mut bus = bus(1..31);
    for (index, kind) in [
        BusCommandKind::Clock,
        BusCommandKind::Board,
        BusCommandKind::Changes,
        BusCommandKind::RepeatChanges,
        BusCommandKind::FromStart,
        BusCommandKind::Ping,
        BusCommandKind::IgnoreNextPing,
        BusCommandKind::Version,
    ]
    .into_iter()
    .enumerate()
    {
        send_command(&mut bus, 1000 + 200 * index as u64, kind, 7);
    }
    let answers: Vec<(u16, u8)> = received(&mut bus, 5000)
        .into_iter()
        .map(|(_, address, id)| (address, id))
        .collect();
    let ids = [0x84, 0x83, 0x85, 0x85, 0x86, 0x87, 0x87, 0x89];
    assert_eq!(answers, ids.map(|id| (7, id)));
}

#[test]
fn the_combined_query_is_answered_by_changes_clock_and_board() {
    let mut bus = bus(1..2);
    send_command(&mut bus, 1000, BusCommandKind::Changes, 1);
    received(&mut bus, 1999);
    send_command(&mut bus, 2000, BusCommandKind::ChangesClockBoard, 1);
    let received = received(&mut bus, 3000);
    let ids: Vec<u8> = received.iter().map(|(_, _, id)| *id).collect();
    assert_eq!(ids, [0x85, 0x84, 0x83]);
    // 4 bytes of command, 2 ms of response time, 89 bytes of answers, up to 16 ms in the converter.
    assert!((2098..2116).contains(&received[2].0), "{received:?}");
}

#[test]
fn changes_are_reported_once_and_repeated_on_request() {
    let mut bus = bus(1..2);
    let ask_changes = |millis: u64, kind, bus: &mut EmulatedBus| {
        send_command(bus, millis, kind, 1);
        let mut decoder = BusDecoder::new();
        let mut data = None;
        while let Some((_, bytes)) = bus.poll_transmit(at(millis + 400)) {
            decoder.feed(&bytes, |decoded| {
                if let Ok(BusAnswer {
                    data: BusData::Changes(changes),
                    ..
                }) = decoded
                {
                    data = Some(changes.to_vec());
                }
            });
        }
        data.unwrap()
    };
    let power_up = ask_changes(1000, BusCommandKind::Changes, &mut bus);
    assert_eq!(power_up, [0x7f, 0x7f, 0x7f, 0x6a, 0x6d]);
    let e4 = Field::new(36).unwrap();
    bus.board_mut(at(2000), address(1))
        .unwrap()
        .set(at(2000), e4, Some(Piece::WhitePawn));
    assert_eq!(ask_changes(3000, BusCommandKind::Changes, &mut bus), [0x41, 36]);
    assert_eq!(
        ask_changes(4000, BusCommandKind::RepeatChanges, &mut bus),
        [0x41, 36]
    );
    assert!(ask_changes(5000, BusCommandKind::Changes, &mut bus).is_empty());
    assert!(ask_changes(6000, BusCommandKind::RepeatChanges, &mut bus).is_empty());
}

#[test]
fn a_broadcast_ping_is_answered_within_its_time_with_collisions() {
    let mut bus = bus(1..31);
    send_command(&mut bus, 1000, BusCommandKind::Ping, 0);
    let answers = received(&mut bus, 2140);
    let good: Vec<u16> = answers
        .iter()
        .filter(|(_, address, _)| *address != 0)
        .map(|(_, address, _)| *address)
        .collect();
    assert!((10..30).contains(&good.len()), "{} of 30", good.len());
    assert!(
        answers.iter().any(|(_, address, _)| *address == 0),
        "no collision"
    );
    assert!(answers.iter().all(|(millis, ..)| *millis > 1004));
    assert!(received(&mut bus, 60_000).is_empty());
}

#[test]
fn a_silenced_board_ignores_one_broadcast_ping() {
    let mut bus = bus(1..2);
    send_command(&mut bus, 1000, BusCommandKind::IgnoreNextPing, 1);
    send_command(&mut bus, 1200, BusCommandKind::Ping, 0);
    assert_eq!(received(&mut bus, 3000).len(), 1, "only the handshake");
    send_command(&mut bus, 3000, BusCommandKind::Ping, 0);
    assert_eq!(received(&mut bus, 5000).len(), 1);
}

#[test]
fn after_a_single_board_command_a_bus_command_only_restores_bus_mode() {
    let mut bus = bus(1..3);
    bus.handle_bytes(at(1000), &[0x40]);
    send_command(&mut bus, 1100, BusCommandKind::Ping, 1);
    assert!(received(&mut bus, 1500).is_empty());
    send_command(&mut bus, 1500, BusCommandKind::Ping, 2);
    assert_eq!(received(&mut bus, 2000).len(), 1);
}

#[test]
fn the_start_tag_takes_its_time_and_later_changes_can_be_read() {
    let mut bus = bus(1..2);
    let d4 = Field::new(35).unwrap();
    bus.board_mut(at(100), address(1))
        .unwrap()
        .set(at(100), d4, Some(Piece::WhiteQueen));
    send_command(&mut bus, 1000, BusCommandKind::SetStart, 1);
    let written = received(&mut bus, 1900);
    assert!((1070..1110).contains(&written[0].0), "{written:?}");
    send_command(&mut bus, 2000, BusCommandKind::Changes, 1);
    received(&mut bus, 2900);
    send_command(&mut bus, 3000, BusCommandKind::FromStart, 1);
    let bytes = read(&mut bus, 3900);
    assert_eq!(bytes[5..8], [0x7b, 0x46, 35]);
}

#[test]
fn a_board_reset_over_the_bus_is_away_for_seconds_and_records_its_power_up() {
    let mut bus = bus(1..2);
    send_command(&mut bus, 1000, BusCommandKind::Reset, 1);
    send_command(&mut bus, 2000, BusCommandKind::Ping, 1);
    assert!(received(&mut bus, 3000).is_empty());
    send_command(&mut bus, 5000, BusCommandKind::Changes, 1);
    let bytes = read(&mut bus, 6000);
    assert_eq!(bytes[5..9], [0x7f, 0x7f, 0x7f, 0x6a]);
}

#[test]
fn a_detached_board_is_silent_and_returns_with_its_changes() {
    let mut bus = bus(1..3);
    send_command(&mut bus, 500, BusCommandKind::Changes, 1);
    received(&mut bus, 999);
    let mut detached = bus.detach(at(1000), address(1)).unwrap();
    detached.set(at(1500), Field::new(0).unwrap(), Some(Piece::BlackRook));
    send_command(&mut bus, 2000, BusCommandKind::Ping, 1);
    assert!(received(&mut bus, 2500).is_empty());
    bus.attach(at(3000), detached).unwrap();
    assert!(matches!(
        bus.attach(at(3000), board(1)),
        Err(AttachError::Taken(..))
    ));
    send_command(&mut bus, 4000, BusCommandKind::Changes, 1);
    let bytes = read(&mut bus, 5000);
    assert_eq!(bytes[5..7], [0x48, 0]);
}

#[test]
fn a_command_sent_during_an_answer_destroys_both() {
    let mut bus = bus(1..3);
    send_command(&mut bus, 1000, BusCommandKind::Board, 1);
    send_command(&mut bus, 1030, BusCommandKind::Ping, 2);
    assert!(
        received(&mut bus, 2000)
            .iter()
            .all(|(_, address, _)| *address == 0)
    );
}

#[test]
fn the_configured_share_of_answers_is_damaged_and_detected() {
    let settings = EmulatedBusSettings {
        damaged_answers: 200,
        ..EmulatedBusSettings::default()
    };
    let mut bus = EmulatedBus::new(START, settings);
    bus.attach(START, board(1)).unwrap();
    let mut good = 0;
    for ping in 0..1000 {
        send_command(&mut bus, 1000 + 100 * ping, BusCommandKind::Version, 1);
        let answers = received(&mut bus, 1100 + 100 * ping);
        assert!(answers.iter().all(|(_, address, _)| [0, 1].contains(address)));
        good += usize::from(answers.iter().any(|(_, address, _)| *address == 1));
    }
    assert!((750..850).contains(&good), "{good}");
}

#[test]
fn the_order_of_polling_does_not_change_the_received_bytes() {
    let play = |step: u64| {
        let mut bus = bus(1..20);
        let mut received = Vec::new();
        for millis in 1000..9000 {
            if millis % 1000 == 0 {
                send_command(&mut bus, millis, BusCommandKind::Ping, 0);
            } else if millis % 100 == 0 {
                send_command(
                    &mut bus,
                    millis,
                    BusCommandKind::Clock,
                    (millis / 100 % 19) as u16,
                );
            }
            if millis % step == 0 {
                received.extend(std::iter::from_fn(|| bus.poll_transmit(at(millis))));
            }
        }
        received.extend(std::iter::from_fn(|| bus.poll_transmit(at(9999))));
        received
    };
    assert_eq!(play(1), play(997));
}
