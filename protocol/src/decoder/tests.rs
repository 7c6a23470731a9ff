use alloc::vec::Vec;

use super::*;
use crate::{
    BusAddress, BusCommandKind, ClockMessage, ClockMessageError, ClockText, CommandError, Field, FieldUpdate,
    Piece, RejectedKind,
};

const E2_EMPTY: [u8; 5] = [0x8e, 0x00, 0x05, 52, 0x00];
const E4_PAWN: [u8; 5] = [0x8e, 0x00, 0x05, 36, 0x01];

/// Feeds the portions and returns the field updates and the drops.
fn read(decoder: &mut Decoder, portions: &[&[u8]]) -> (Vec<FieldUpdate>, Vec<Rejected<MessageError>>) {
    let (mut updates, mut rejected) = (Vec::new(), Vec::new());
    for portion in portions {
        decoder.feed(portion, |decoded| match decoded {
            Ok(Message::FieldUpdate(update)) => updates.push(update),
            Ok(other) => panic!("{other:?}"),
            Err(rejection) => rejected.push(rejection),
        });
    }
    (updates, rejected)
}

fn pawn_on_e4() -> FieldUpdate {
    FieldUpdate::new(Field::new(36).unwrap(), Some(Piece::WhitePawn))
}

#[test]
fn a_message_cut_at_every_length_is_one_message() {
    for at in 0..=E4_PAWN.len() {
        let (first, rest) = E4_PAWN.split_at(at);
        let found = read(&mut Decoder::new(), &[first, rest]);
        assert_eq!(found, (Vec::from([pawn_on_e4()]), Vec::new()), "cut at {at}");
    }
}

#[test]
fn a_message_cut_off_by_the_next_is_reported_with_its_length() {
    let mut decoder = Decoder::new();
    let (updates, rejected) = read(&mut decoder, &[&E2_EMPTY[..4], &E4_PAWN]);
    let kind = RejectedKind::Truncated {
        id: 0x8e,
        declared: Some(5),
    };
    assert_eq!(updates, [pawn_on_e4()]);
    assert_eq!(rejected, [Rejected { kind, bytes: 4 }]);
    assert_eq!(
        (decoder.counters().truncated, decoder.counters().rejected_bytes),
        (1, 4)
    );
}

#[test]
fn a_header_that_declares_too_much_does_not_swallow_the_next_message() {
    let longest_memory = [0x8f, 0x7f, 0x7f];
    for portions in [
        &[&longest_memory[..], &E4_PAWN][..],
        &[&[longest_memory[0]], &longest_memory[1..], &E4_PAWN],
    ] {
        let (updates, rejected) = read(&mut Decoder::new(), portions);
        let kind = RejectedKind::Truncated {
            id: 0x8f,
            declared: Some(0x3fff),
        };
        assert_eq!(updates, [pawn_on_e4()]);
        assert_eq!(rejected, [Rejected { kind, bytes: 3 }]);
    }
}

#[test]
fn a_wrong_length_is_rejected_as_soon_as_the_header_is_complete() {
    let mut decoder = Decoder::new();
    let (updates, rejected) = read(&mut decoder, &[&[0x8e, 0x00], &[0x06]]);
    let error = MessageError::WrongLength {
        id: 0x8e,
        declared: 6,
        expected: 5,
    };
    assert_eq!(
        (updates, rejected),
        (Vec::new(), Vec::from([Rejected::invalid(error, 3)]))
    );
    assert_eq!((decoder.pending(), decoder.counters().wrong_length), (0, 1));
}

#[test]
fn a_length_shorter_than_the_header_is_rejected() {
    for length in 0..3 {
        let (_, rejected) = read(&mut Decoder::new(), &[&[0xff, 0x00, length]]);
        let error = MessageError::WrongLength {
            id: 0xff,
            declared: length.into(),
            expected: 3,
        };
        assert_eq!(rejected, [Rejected::invalid(error, 3)]);
    }
}

#[test]
fn a_run_of_garbage_is_reported_once() {
    let mut decoder = Decoder::new();
    let (updates, rejected) = read(&mut decoder, &[&[[0x05; 5], E4_PAWN].concat()]);
    assert_eq!(updates, [pawn_on_e4()]);
    assert_eq!(
        rejected,
        [Rejected {
            kind: RejectedKind::Skipped,
            bytes: 5
        }]
    );
    assert_eq!(
        (decoder.counters().skipped_bytes, decoder.counters().message_bytes),
        (5, 5)
    );
}

#[test]
fn bytes_before_a_reset_do_not_combine_with_bytes_after_it() {
    let mut decoder = Decoder::new();
    read(&mut decoder, &[&E2_EMPTY[..4]]);
    assert_eq!(decoder.pending(), 4);
    decoder.reset();
    let (updates, rejected) = read(&mut decoder, &[&[0x00], &E4_PAWN]);
    assert_eq!((updates.len(), rejected.len()), (1, 1));
    assert_eq!((decoder.pending(), decoder.counters().reset_bytes), (0, 4));
}

fn decoded(bytes: &[u8]) -> Vec<Result<Command, (CommandError, usize)>> {
    let mut all = Vec::new();
    CommandDecoder::new().feed(bytes, |decoded| {
        all.push(decoded.map_err(|rejected| match rejected.kind {
            RejectedKind::Invalid(error) => (error, rejected.bytes),
            other => panic!("{other:?}"),
        }));
    });
    all
}

#[test]
fn the_text_of_an_invalid_clock_message_is_not_decoded_as_commands() {
    let text = ClockMessage::Text(ClockText::new("ABCDEFGH", 0));
    let mut bytes = Vec::new();
    Command::Clock(text).encode(&mut bytes);
    bytes[3] = 0x0d;
    bytes.push(0x42);
    let error = ClockMessageError::UnknownId { id: 0x0d };
    assert_eq!(decoded(&bytes), [Err((error.into(), 14)), Ok(Command::SendBoard)]);
}

#[test]
fn commands_after_a_stray_clock_byte_are_found() {
    let error = (CommandError::NotOpened { byte: 0x41 }, 1);
    assert_eq!(
        decoded(&[0x2b, 0x42, 0x41]),
        [Err(error), Ok(Command::SendBoard), Ok(Command::SendClock)]
    );
}

#[test]
fn a_bus_command_cuts_off_a_clock_message() {
    let all = decoded(&[0x2b, 0x04, 0x03, 0x87, 0x40]);
    assert_eq!(
        all,
        [
            Err((CommandError::CutOff { code: 0x2b }, 3)),
            Err((CommandError::Unknown { code: 0x87 }, 1)),
            Ok(Command::Reset),
        ]
    );
}

#[test]
fn a_bus_command_after_a_truncated_bus_command_is_found() {
    let ping = BusCommand {
        kind: BusCommandKind::Ping,
        address: BusAddress::ALL,
    };
    let mut decoder = BusCommandDecoder::new();
    let mut all = Vec::new();
    decoder.feed(&[0x42, 0x82, 0x08], |decoded| all.push(decoded));
    decoder.feed(&ping.encode(), |decoded| all.push(decoded));
    assert_eq!(
        all[0].map_err(|rejected| rejected.kind),
        Err(RejectedKind::Skipped)
    );
    let kind = RejectedKind::Truncated {
        id: 0x82,
        declared: None,
    };
    assert_eq!(all[1..], [Err(Rejected { kind, bytes: 2 }), Ok(ping)]);
    assert_eq!(
        (decoder.counters().skipped_bytes, decoder.counters().truncated),
        (1, 1)
    );
}

#[test]
fn a_reset_counts_the_dropped_bytes() {
    let mut decoder = BusCommandDecoder::new();
    decoder.feed(&[0x82, 0x08, 0x01], |_| panic!("nothing is complete"));
    decoder.reset();
    assert_eq!((decoder.pending(), decoder.counters().reset_bytes), (0, 3));
}
