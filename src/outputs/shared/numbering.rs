use shakmaty::Color;
use shakmaty::fen::Fen;

/// Numbers the plies of a game, beginning with the move number of its start position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbering {
    /// Plies before the first ply of the game, counted from White's move 1.
    before: u32,
}

impl Numbering {
    pub(crate) fn of(start_fen: &str) -> Self {
        let before = start_fen.parse::<Fen>().map_or(0, |fen| {
            let setup = fen.into_setup();
            (setup.fullmoves.get() - 1)
                .saturating_mul(2)
                .saturating_add(u32::from(setup.turn.is_black()))
        });
        Self { before }
    }

    /// Move number and side of a ply. Plies count from 1.
    pub(crate) fn number(self, ply: u32) -> (u32, Color) {
        let half = self.before.saturating_add(ply.saturating_sub(1));
        (half / 2 + 1, Color::from_white(half.is_multiple_of(2)))
    }

    /// Name of a ply: "12. Nf3" or "12... Nf6".
    pub(crate) fn name(self, ply: u32, text: &str) -> String {
        let (number, color) = self.number(ply);
        format!("{number}{} {text}", if color.is_black() { "..." } else { "." })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn moves_are_numbered_from_the_start_position() {
        let standard = Numbering::of(STANDARD);
        assert_eq!(standard.name(1, "e4"), "1. e4");
        assert_eq!(standard.name(2, "e5"), "1... e5");
        let later = Numbering::of("8/8/4k3/8/8/4K3/8/7R b - - 0 40");
        assert_eq!(later.name(1, "Kf5"), "40... Kf5");
        assert_eq!(later.name(2, "Rh5+"), "41. Rh5+");
    }
}
