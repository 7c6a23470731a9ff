use kiebitz_protocol::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::strategies::{address, clock_times, cut, data_byte, dump};

/// Generates encoded answers of every kind.
fn answer() -> impl Strategy<Value = Vec<u8>> {
    let clock = prop_oneof![
        clock_times().prop_map(ClockReport::Times),
        any::<[u8; 4]>().prop_map(|bytes| ClockReport::Ack(ClockAck::new(bytes))),
        Just(ClockReport::Absent(ClockAbsent::default())),
    ];
    let whole = prop_oneof![
        dump().prop_map(BusData::Board),
        clock.prop_map(BusData::Clock),
        Just(BusData::Ping),
        Just(BusData::StartWritten),
        (data_byte(), data_byte()).prop_map(|(major, minor)| BusData::Version { major, minor }),
    ];
    let borrowed = (select(vec![0x85, 0x86, 0x8a, 0xff]), vec(data_byte(), 0..200));
    (address(), prop_oneof![whole.prop_map(Ok), borrowed.prop_map(Err)]).prop_map(|(address, data)| {
        let data = match &data {
            Ok(whole) => *whole,
            Err((0x85, data)) => BusData::Changes(data),
            Err((0x86, data)) => BusData::FromStart(data),
            Err((id, data)) => BusData::Unknown { id: *id, data },
        };
        let mut bytes = Vec::new();
        let answer = BusAnswer { address, data };
        answer.encode(&mut bytes);
        assert_eq!(BusAnswer::decode(&bytes), Ok(answer));
        bytes
    })
}

fn bus_command() -> impl Strategy<Value = BusCommand> {
    (select(&BusCommandKind::ALL[..]), address()).prop_map(|(kind, address)| BusCommand { kind, address })
}

fn read<'b>(portions: impl IntoIterator<Item = &'b [u8]>) -> (Vec<Vec<u8>>, Counters) {
    let mut decoder = BusDecoder::new();
    let mut answers = Vec::new();
    for portion in portions {
        decoder.feed(portion, |decoded| {
            if let Ok(answer) = decoded {
                let mut bytes = Vec::new();
                answer.encode(&mut bytes);
                answers.push(bytes);
            }
        });
    }
    (answers, *decoder.counters())
}

proptest! {
    #[test]
    fn answers_are_decoded_in_any_portions(
        answers in vec(answer(), 0..5),
        garbage in vec(any::<u8>(), 0..40),
        cuts in vec(any::<Index>(), 0..20),
    ) {
        let stream = [&garbage[..], &answers.concat()].concat();
        let (whole, counters) = read([&stream[..]]);
        prop_assert!(whole.ends_with(&answers));
        prop_assert_eq!(read(cut(&stream, &cuts)), (whole.clone(), counters));
        prop_assert_eq!(read(stream.chunks(1)), (whole, counters));
    }

    #[test]
    fn an_answer_with_one_wrong_byte_is_refused(answer in answer(), at in any::<Index>(), flip in 1..0x80_u8) {
        let at = at.index(answer.len());
        let mut wrong = answer.clone();
        wrong[at] ^= flip;
        let (read, _) = read([&wrong[..]]);
        prop_assert_eq!(read, Vec::<Vec<u8>>::new());
    }

    #[test]
    fn bus_commands_are_decoded_in_any_portions(
        garbage in vec(any::<u8>(), 0..20),
        commands in vec(bus_command(), 0..10),
        cuts in vec(any::<Index>(), 0..20),
    ) {
        let mut stream = garbage;
        commands.iter().for_each(|command| stream.extend(command.encode()));
        let mut decoder = BusCommandDecoder::new();
        let mut read = Vec::new();
        for portion in cut(&stream, &cuts) {
            decoder.feed(portion, |decoded| read.extend(decoded));
        }
        prop_assert!(read.ends_with(&commands));
        let Counters { message_bytes, skipped_bytes, rejected_bytes, .. } = *decoder.counters();
        let accounted = message_bytes + skipped_bytes + rejected_bytes + decoder.pending() as u64;
        prop_assert_eq!(accounted, stream.len() as u64);
    }
}
