use kiebitz_protocol::{Counters, Decoder, Message, MessageError, Rejected};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::strategies::{Owned, cut, message};

/// The output of a decoder: re-encoded messages, drops, counters and the number of pending bytes.
struct Read {
    messages: Vec<Vec<u8>>,
    rejected: Vec<Rejected<MessageError>>,
    counters: Counters,
    pending: usize,
}

fn read<'b>(portions: impl IntoIterator<Item = &'b [u8]>) -> Read {
    let mut decoder = Decoder::new();
    let (mut messages, mut rejected) = (Vec::new(), Vec::new());
    for portion in portions {
        decoder.feed(portion, |decoded| match decoded {
            Ok(message) => {
                let mut bytes = Vec::new();
                message.encode(&mut bytes);
                messages.push(bytes);
            }
            Err(rejection) => rejected.push(rejection),
        });
    }
    Read {
        messages,
        rejected,
        counters: *decoder.counters(),
        pending: decoder.pending(),
    }
}

/// Generates the bytes of a disturbed line: noise, headers and truncated messages.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let noise = vec(any::<u8>(), 0..40);
    let header = any::<[u8; 3]>().prop_map(|[id, high, low]| vec![id | 0x80, high, low]);
    let prefix = (message(), any::<Index>()).prop_map(|(message, end)| {
        let bytes = message.bytes();
        bytes[..end.index(bytes.len())].to_vec()
    });
    vec(prop_oneof![noise, header, prefix], 0..4).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_message_round_trips(message in message()) {
        let bytes = message.bytes();
        let mut same = false;
        Decoder::new().feed(&bytes, |decoded| same = decoded == Ok(message.message()));
        prop_assert!(same, "{bytes:02x?}");
    }

    #[test]
    fn consecutive_messages_are_decoded(messages in vec(message(), 0..10)) {
        let encoded: Vec<Vec<u8>> = messages.iter().map(Owned::bytes).collect();
        let read = read([&encoded.concat()[..]]);
        prop_assert_eq!(read.messages, encoded);
        prop_assert_eq!(read.rejected, []);
        prop_assert_eq!(read.pending, 0);
    }

    #[test]
    fn portions_affect_neither_messages_nor_counters(
        messages in vec((garbage(), message()), 0..5),
        cuts in vec(any::<Index>(), 0..20),
    ) {
        let stream: Vec<u8> = messages.iter().flat_map(|(garbage, message)| [&garbage[..], &message.bytes()].concat()).collect();
        let whole = read([&stream[..]]);
        let portions = read(cut(&stream, &cuts));
        let bytes = read(stream.chunks(1));
        prop_assert_eq!(&portions.messages, &whole.messages);
        prop_assert_eq!(&bytes.messages, &whole.messages);
        prop_assert_eq!(portions.counters, whole.counters);
        prop_assert_eq!(bytes.counters, whole.counters);
    }

    #[test]
    fn a_message_is_found_after_any_garbage(garbage in garbage(), message in message()) {
        let bytes = message.bytes();
        let read = read([&garbage[..], &bytes]);
        prop_assert_eq!(read.messages.last(), Some(&bytes));
        prop_assert_eq!(read.pending, 0);
    }

    #[test]
    fn counted_bytes_add_up_to_the_stream(stream in garbage()) {
        let read = read([&stream[..]]);
        let Counters { message_bytes, skipped_bytes, rejected_bytes, .. } = read.counters;
        prop_assert_eq!(message_bytes + skipped_bytes + rejected_bytes + read.pending as u64, stream.len() as u64);
        let dropped: usize = read.rejected.iter().map(|rejected| rejected.bytes).sum();
        prop_assert_eq!(skipped_bytes + rejected_bytes, dropped as u64);
    }

    #[test]
    fn any_message_value_is_encoded_as_one_complete_message(
        id in any::<u8>(),
        data in vec(any::<u8>(), 0..50),
        text in "\\PC*",
        numbers in any::<(u8, u8)>(),
    ) {
        let (major, minor) = numbers;
        for message in [
            Message::Unknown { id, data: &data },
            Message::EeMoves(&data),
            Message::Trademark(&text),
            Message::Version { major, minor },
        ] {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            let declared = usize::from(bytes[1]) << 7 | usize::from(bytes[2]);
            prop_assert_eq!(declared, bytes.len());
            prop_assert!(bytes[0] >= 0x80 && bytes[1..].iter().all(|byte| *byte < 0x80));
        }
    }
}
