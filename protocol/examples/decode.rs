//! Decodes bytes from the wire and prints the result.
//!
//! ```text
//! cargo run --example decode
//! cargo run --example decode -- 8e 00 05 24 01
//! cargo run --example decode -- capture.bin
//! cargo run --example decode -- bus 87 00 06 08 01 16
//! ```
//!
//! The input is hexadecimal digits or a file; without either, the example decodes a short stream from a board. A word
//! before the input selects the decoder: `board` (the default) or `bus` for bytes from boards in the two modes, `host`
//! or `host-bus` for bytes from a host, `memory` for the contents of a board's memory.

use std::fmt::{Debug, Display};
use std::io::Write;
use std::process::ExitCode;
use std::{env, fs, io};

use kiebitz_protocol::{
    BusAnswer, BusCommand, Command, Decoded, Dump, Framing, Message, Piece, Rejected, StreamDecoder, eeprom,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let written = read(&arguments).and_then(|(bytes, kind)| {
        let lines = match kind {
            Kind::Board => decode::<Message<'_>>(&bytes, message),
            Kind::Bus => decode::<BusAnswer<'_>>(&bytes, |answer| debug(&answer)),
            Kind::Host => decode::<Command>(&bytes, |command| debug(&command)),
            Kind::HostBus => decode::<BusCommand>(&bytes, |command| debug(&command)),
            Kind::Memory => elements(&bytes),
        };
        io::stdout().write_all((lines.join("\n") + "\n").as_bytes())
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

enum Kind {
    Board,
    Bus,
    Host,
    HostBus,
    Memory,
}

/// Returns the bytes and their kind, as given on the command line.
fn read(arguments: &[String]) -> io::Result<(Vec<u8>, Kind)> {
    let (kind, rest) = match arguments {
        [word, rest @ ..] if word == "board" => (Kind::Board, rest),
        [word, rest @ ..] if word == "bus" => (Kind::Bus, rest),
        [word, rest @ ..] if word == "host" => (Kind::Host, rest),
        [word, rest @ ..] if word == "host-bus" => (Kind::HostBus, rest),
        [word, rest @ ..] if word == "memory" => (Kind::Memory, rest),
        rest => (Kind::Board, rest),
    };
    let bytes = match rest {
        [] => DEFAULT.to_vec(),
        [file] if fs::exists(file)? => fs::read(file)?,
        digits => {
            let refusal = || io::Error::other("neither a file nor bytes in hexadecimal digits");
            hex(&digits.concat()).ok_or_else(refusal)?
        }
    };
    Ok((bytes, kind))
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let characters = text.chars().filter(|character| !character.is_whitespace());
    let digits: Vec<u8> = characters
        .map(|character| character.to_digit(16)?.try_into().ok())
        .collect::<Option<_>>()?;
    let byte = |pair: &[u8]| match *pair {
        [high, low] => Some(high << 4 | low),
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}

/// Decodes a stream. Returns an entry for each unit and each drop, and a summary.
fn decode<F: Framing>(
    bytes: &[u8],
    mut show: impl FnMut(Result<F::Unit<'_>, Rejected<F::Error>>) -> String,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut decoder = StreamDecoder::<F>::new();
    decoder.feed(bytes, |decoded| lines.push(show(decoded)));
    let counters = decoder.counters();
    lines.push(format!(
        "decoded: {}; dropped bytes: {}; pending bytes: {}",
        counters.messages,
        counters.skipped_bytes + counters.rejected_bytes,
        decoder.pending()
    ));
    lines
}

/// Formats a board dump as a diagram, a memory as a list of elements, and other messages with `Debug`.
fn message(decoded: Decoded<'_>) -> String {
    match decoded {
        Ok(Message::BoardDump(dump)) => format!("BoardDump\n{}", diagram(&dump)),
        Ok(Message::EeMoves(memory)) => format!("EeMoves\n{}", elements(memory).join("\n")),
        other => debug(&other),
    }
}

fn debug<T: Debug, E: Display>(decoded: &Result<T, E>) -> String {
    match decoded {
        Ok(unit) => format!("{unit:?}"),
        Err(rejected) => format!("! {rejected}"),
    }
}

fn diagram(dump: &Dump) -> String {
    let letter = |contents: &Option<Piece>| contents.map_or('.', |piece| piece.fen().unwrap_or('*'));
    let row = |row: &[Option<Piece>]| {
        row.iter()
            .map(letter)
            .fold("    ".to_owned(), |row, piece| row + &piece.to_string())
    };
    dump.chunks(8).map(row).collect::<Vec<_>>().join("\n")
}

fn elements(memory: &[u8]) -> Vec<String> {
    eeprom::elements(memory)
        .map(|element| format!("    {}", debug(&element)))
        .collect()
}

/// Output of a board while a host requests version, serial number and pieces, and White then plays e2-e4.
const DEFAULT: &[u8] = &[
    0x93, 0x00, 0x05, 0x01, 0x08, // VERSION: 1.8
    0x91, 0x00, 0x08, b'0', b'1', b'0', b'2', b'5', // SERIALNR
    0x86, 0x00, 0x43, // BOARD_DUMP: the start position
    8, 9, 10, 12, 11, 10, 9, 8, 7, 7, 7, 7, 7, 7, 7, 7, //
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
    1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 6, 5, 4, 3, 2, //
    0x8e, 0x00, 0x05, 52, 0x00, // FIELD_UPDATE: e2 is empty
    0x8e, 0x00, 0x05, 36, 0x01, // FIELD_UPDATE: a white pawn on e4
    // BWTIME: 1:30:00 on the right, 1:29:56 on the left, the clock runs, it is the right player's turn
    0x8d, 0x00, 0x0a, 0x01, 0x30, 0x00, 0x01, 0x29, 0x56, 0x09,
];
