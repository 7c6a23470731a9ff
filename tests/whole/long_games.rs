//! Games that last longer than any test, on any machine.

use std::fmt::Write;

use kiebitz_hardware::emulator::hand::Chance;
use kiebitz_workbench::hands::games::{Game, Taste};

const PLIES: usize = 300;

/// Returns different unfinished games as PGN.
pub(crate) fn long_games(number: usize) -> String {
    let games = (0..).map(|seed| Game::random(&mut Chance::new(seed), None, Taste::Any, PLIES));
    let mut pgn = String::new();
    for game in games.filter(|game| game.moves.len() == PLIES).take(number) {
        let _ = write!(
            pgn,
            "[White \"a\"]\n[Black \"b\"]\n\n{} *\n\n",
            game.uci().join(" ")
        );
    }
    pgn
}
