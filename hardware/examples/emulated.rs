//! Plays a few moves on an emulated board and prints the observations of a session. Runs in memory, in virtual time.
//!
//! ```text
//! cargo run --example emulated --features emulator
//! ```

use core::time::Duration;
use std::io::{self, Write};

use kiebitz_hardware::emulator::hand::{
    Color, Ending, Ply, Script, Setting, Sitting, SittingSettings, Temperament,
};
use kiebitz_hardware::emulator::{BoardSettings, Player};
use kiebitz_hardware::{Observation, Session, SessionSettings, Timestamp};
use kiebitz_protocol::{Contents, Dump, Field, START_POSITION};

/// The moves 1. e4 e5 2. Nf3 Nc6 3. Bb5 as pairs of field numbers, counted from a8 to h1.
const MOVES: [(u8, u8); 5] = [(52, 36), (12, 28), (62, 45), (1, 18), (61, 25)];

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let start = Timestamp::from_micros(1_789_000_000_000_000);
    let mut player = player(start);
    let mut session = Session::keeping(SessionSettings::default());
    session.handle_opened(start);

    let (mut now, mut placement) = (start, [None; Field::COUNT]);
    while !player.is_done() {
        // Passes the session's queries to the board.
        while let Some(bytes) = session.poll_transmit(now) {
            player.handle_bytes(now, &bytes);
            session.handle_sent(now, &bytes);
        }
        // Advances virtual time to the next deadline. The driver of a real port waits for bytes until then.
        let due = [session.poll_deadline(), player.poll_deadline()];
        now = due.into_iter().flatten().min().map_or(now, |due| due.max(now));
        player.advance(now);
        while let Some((at, bytes)) = player.poll_transmit(now) {
            session.handle_bytes(at, &bytes);
        }
        session.handle_deadline(now);
        while let Some(observed) = session.poll_observation() {
            let line = apply(&mut placement, &observed.observation);
            let time = observed.at.saturating_duration_since(start).as_secs_f64();
            writeln!(out, "{time:7.3} s  {line}")?;
        }
    }

    writeln!(out, "{} plies were played; observed:", player.truth().plies)?;
    for row in placement.chunks(8) {
        writeln!(out, "{}", row.iter().copied().map(letter).collect::<String>())?;
    }
    if placement != *player.standing() {
        return Err(io::Error::other("something else stands on the board"));
    }
    Ok(())
}

/// Returns a board in the start position, with a clock and two players who make the `MOVES`.
fn player(now: Timestamp) -> Player {
    let colors = [Color::White, Color::Black].into_iter().cycle();
    let ply = |((from, to), color)| Some(Ply::quiet(color, Field::new(from)?, Field::new(to)?));
    let script = Script {
        start: START_POSITION,
        plies: MOVES.into_iter().zip(colors).filter_map(ply).collect(),
        ending: Ending::Stops,
    };
    let settings = SittingSettings {
        setting: Setting {
            time: Duration::from_secs(300),
            ..Setting::PLAIN
        },
        temperament: Temperament::Calm,
        thinking: 100,
        seed: 1,
    };
    Player::new(now, BoardSettings::default(), Sitting::new(now, settings, script))
}

/// Updates the placement from an observation, and returns a description of the observation.
fn apply(placement: &mut Dump, observation: &Observation) -> String {
    match observation {
        Observation::Field { update, .. } => {
            placement[update.field.index()] = update.contents;
            format!("{} {}", name(update.field), letter(update.contents))
        }
        Observation::Board { dump, .. } => {
            *placement = *dump;
            "all fields".to_owned()
        }
        Observation::Clock { times, .. } => {
            let (left, right) = (times.left.total_seconds(), times.right.total_seconds());
            format!("clock {left} s : {right} s")
        }
        Observation::Memory { elements } => format!("memory with {} elements", elements.len()),
        other => format!("{other:?}"),
    }
}

/// Returns the name of a field if the connector is on White's left.
fn name(field: Field) -> String {
    let (file, row) = (field.number() % 8, field.number() / 8);
    format!("{}{}", char::from(b'a' + file), 8 - row)
}

fn letter(contents: Contents) -> char {
    contents.map_or('.', |piece| piece.fen().unwrap_or('*'))
}
