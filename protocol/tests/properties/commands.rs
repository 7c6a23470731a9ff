use kiebitz_protocol::{Command, CommandDecoder};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::strategies::{command, cut};

fn encoded(commands: &[Command]) -> Vec<u8> {
    let mut bytes = Vec::new();
    commands.iter().for_each(|command| command.encode(&mut bytes));
    bytes
}

proptest! {
    #[test]
    fn a_command_round_trips(command in command()) {
        let bytes = encoded(&[command]);
        prop_assert!(bytes.iter().all(|byte| *byte < 0x80));
        prop_assert_eq!(Command::decode(&bytes), Ok(Some((command, bytes.len()))));
    }

    #[test]
    fn commands_are_decoded_in_any_portions(commands in vec(command(), 0..10), cuts in vec(any::<Index>(), 0..20)) {
        let bytes = encoded(&commands);
        let mut decoder = CommandDecoder::new();
        let mut read = Vec::new();
        for portion in cut(&bytes, &cuts) {
            decoder.feed(portion, |decoded| read.push(decoded.unwrap()));
        }
        prop_assert_eq!(read, commands);
        prop_assert_eq!(decoder.pending(), 0);
    }

    #[test]
    fn any_bytes_are_commands_or_counted(bytes in vec(any::<u8>(), 0..300)) {
        let mut decoder = CommandDecoder::new();
        let mut dropped = 0;
        decoder.feed(&bytes, |decoded| dropped += decoded.map_or_else(|rejected| rejected.bytes, |_| 0));
        let counters = decoder.counters();
        prop_assert_eq!(counters.rejected_bytes, dropped as u64);
        let accounted = counters.message_bytes + counters.rejected_bytes + decoder.pending() as u64;
        prop_assert_eq!(accounted, bytes.len() as u64);
        prop_assert!(decoder.pending() <= 128);
    }
}
