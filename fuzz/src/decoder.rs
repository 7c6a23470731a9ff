//! Decodes arbitrary bytes as messages from a board and as commands to it. Checks that all bytes are accounted for,
//! that the division into portions does not affect the result, and that decoded units encode to the same bytes.

use kiebitz_protocol::{Command, CommandDecoder, Counters, Decoder, Message};

pub fn run(data: &[u8]) {
    // The first byte determines the size of the portions.
    let Some((&portion, line)) = data.split_first() else {
        return;
    };
    let portions = || line.chunks(usize::from(portion % 80) + 1);

    let (whole, counters) = messages([line]);
    assert_eq!(messages(portions()), (whole.clone(), counters));

    // The line contains the re-encoded messages, in order.
    let mut rest = line;
    for message in &whole {
        let at = rest
            .windows(message.len())
            .position(|window| matches_encoded(window, message))
            .expect("stands in the line");
        rest = &rest[at + message.len()..];
    }

    // The decoder finds a message after the fuzzed bytes.
    let version = [0x93, 0x00, 0x05, 0x01, 0x08];
    let (all, _) = messages([line, &version]);
    assert_eq!(all.last().map(Vec::as_slice), Some(&version[..]));

    let commands_at_once = commands([line]);
    assert_eq!(commands(portions()), commands_at_once);
}

fn messages<'b>(portions: impl IntoIterator<Item = &'b [u8]>) -> (Vec<Vec<u8>>, Counters) {
    let mut decoder = Decoder::new();
    let mut messages = Vec::new();
    let (mut fed, mut dropped) = (0, 0);
    for portion in portions {
        fed += portion.len();
        decoder.feed(portion, |decoded| match decoded {
            Ok(message) => messages.push(encoded(&message)),
            Err(rejected) => dropped += rejected.bytes,
        });
    }
    let counters = *decoder.counters();
    assert_eq!(counters.messages as usize, messages.len());
    assert_eq!(
        (counters.skipped_bytes + counters.rejected_bytes) as usize,
        dropped
    );
    assert_eq!(counters.message_bytes as usize + dropped + decoder.pending(), fed);
    (messages, counters)
}

fn encoded(message: &Message<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

/// Returns whether received bytes equal a re-encoded message, except for the unused bit 6 of a clock's status byte,
/// which encoding clears.
fn matches_encoded(line: &[u8], message: &[u8]) -> bool {
    if line == message {
        return true;
    }
    let [status, end] = [line.len() - 1, line.len()];
    line[0] == 0x8d && line[..status] == message[..status] && line[status..end] == [message[status] | 0x40]
}

fn commands<'b>(portions: impl IntoIterator<Item = &'b [u8]>) -> (Vec<Command>, Counters) {
    let mut decoder = CommandDecoder::new();
    let mut commands = Vec::new();
    portions
        .into_iter()
        .for_each(|portion| decoder.feed(portion, |decoded| commands.extend(decoded)));
    for command in &commands {
        let mut bytes = Vec::new();
        command.encode(&mut bytes);
        assert_eq!(Command::decode(&bytes), Ok(Some((*command, bytes.len()))));
    }
    (commands, *decoder.counters())
}
