//! Decodes arbitrary bytes as bus answers and bus commands. Checks that all bytes are accounted for, that the division
//! into portions does not affect the result, and that decoded units encode to the same bytes.

use kiebitz_protocol::{BusCommand, BusCommandDecoder, BusDecoder, Counters};

pub fn run(data: &[u8]) {
    // The first byte determines the size of the portions.
    let Some((&portion, line)) = data.split_first() else {
        return;
    };
    let portions = || line.chunks(usize::from(portion % 80) + 1);

    let (whole, counters) = answers([line]);
    assert_eq!(answers(portions()), (whole.clone(), counters));
    let mut rest = line;
    for answer in &whole {
        let at = rest
            .windows(answer.len())
            .position(|window| matches_encoded(window, answer))
            .expect("stands in the line");
        rest = &rest[at + answer.len()..];
    }
    let ping = [0x87, 0x00, 0x06, 0x08, 0x01, 0x16];
    assert_eq!(
        answers([line, &ping]).0.last().map(Vec::as_slice),
        Some(&ping[..])
    );

    let commands_at_once = commands([line]);
    assert_eq!(commands(portions()), commands_at_once);
}

fn answers<'b>(portions: impl IntoIterator<Item = &'b [u8]>) -> (Vec<Vec<u8>>, Counters) {
    let mut decoder = BusDecoder::new();
    let mut answers = Vec::new();
    let (mut fed, mut dropped) = (0, 0);
    for portion in portions {
        fed += portion.len();
        decoder.feed(portion, |decoded| match decoded {
            Ok(answer) => {
                let mut bytes = Vec::new();
                answer.encode(&mut bytes);
                answers.push(bytes);
            }
            Err(rejected) => dropped += rejected.bytes,
        });
    }
    let counters = *decoder.counters();
    assert_eq!(counters.message_bytes as usize + dropped + decoder.pending(), fed);
    (answers, counters)
}

/// Returns whether received bytes equal a re-encoded answer, except for the unused bit 6 of a clock's status byte,
/// which encoding clears, and the checksum affected by it.
fn matches_encoded(line: &[u8], answer: &[u8]) -> bool {
    if line == answer {
        return true;
    }
    let Some(status) = line.len().checked_sub(2) else {
        return false;
    };
    line[0] == 0x84
        && line[..status] == answer[..status]
        && line[status..] == [answer[status] | 0x40, answer[status + 1] ^ 0x40]
}

fn commands<'b>(portions: impl IntoIterator<Item = &'b [u8]>) -> (Vec<BusCommand>, Counters) {
    let mut decoder = BusCommandDecoder::new();
    let mut commands = Vec::new();
    portions
        .into_iter()
        .for_each(|portion| decoder.feed(portion, |decoded| commands.extend(decoded)));
    for command in &commands {
        assert_eq!(BusCommand::decode(command.encode()), Ok(*command));
    }
    (commands, *decoder.counters())
}
