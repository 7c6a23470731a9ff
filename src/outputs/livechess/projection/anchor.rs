//! The position from which a client's moves count.
//!
//! A client sends a position with `setup` and then gets the moves played from there. kiebitz follows games on its own,
//! so it first searches the current game for the position; if the game has it, the game stays unchanged. A client may
//! also know a move that is not on the board yet, for example if it plays over the Internet. It is then one ply ahead
//! of the game.
//!
//! An anchor never moves to another game. A page that plays over the Internet does not notice when the board begins
//! another game, and would send its moves to the game on the Internet.

use kiebitz_game::events::record::GameRecord;
use kiebitz_game::position::is_chess960;
use shakmaty::fen::Fen;
use shakmaty::{Bitboard, Board, CastlingMode, Chess, Color, Position as _};

/// A position from a client: placement, side to move and castling rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    board: Board,
    turn: Color,
    castling: Bitboard,
}

/// The position from which a client's moves count.
#[derive(Debug, Clone)]
pub(super) struct Anchor {
    /// The start position, as FEN.
    start: String,
    position: Option<Position>,
    /// The id of the last game when the anchor was set for the next one; otherwise `None`.
    past: Option<String>,
    /// The id of the board's latest game since then; `None` before there is one.
    game: Option<String>,
    /// Whether that game has the position.
    fits: bool,
    /// Whether a game with moves has been on the board since the anchor was set.
    played: bool,
    /// The number of plies in the game before the position.
    ply: usize,
}

#[derive(Debug)]
pub(super) struct AnchoredMoves {
    /// The start position, as FEN.
    pub(super) start: String,
    pub(super) san: Vec<String>,
    last: Option<Board>,
}

/// How to react to a position from a client.
#[derive(Debug)]
pub(super) enum SetupPlan {
    /// Count the moves from the anchor; change nothing else.
    Count(Anchor),
    /// Begin a new game from the position.
    Begin(Anchor),
    /// Take back all moves after the position.
    TakeBack(Anchor),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Circumstances<'c> {
    /// The current game, or the last one.
    pub(super) current: Option<&'c GameRecord>,
    /// The placement that the sensors show.
    pub(super) shown: &'c Board,
    pub(super) before: Option<&'c Anchor>,
    pub(super) may_set_up: bool,
}

/// Maximum number of plies that a client may lag behind the game and still receive them, for example after a
/// disconnection. A position further back means a new game or a takeback.
const MAX_LAG: usize = 2;

impl Position {
    pub(super) fn read(fen: &str) -> Option<Self> {
        let setup = Fen::from_ascii(fen.as_bytes()).ok()?.into_setup();
        Some(Self {
            board: setup.board,
            turn: setup.turn,
            castling: setup.castling_rights,
        })
    }

    fn is(&self, fen: &str) -> bool {
        Self::read(fen).as_ref() == Some(self)
    }

    /// Whether a game that begins from `fen` begins with this position. Castling rights may differ, since a client may
    /// send rights that the pieces do not allow.
    fn begins(&self, fen: &str) -> bool {
        Self::read(fen).is_some_and(|start| (&start.board, start.turn) == (&self.board, self.turn))
    }

    /// Whether kiebitz begins a game on its own when this position is set up.
    fn is_start(&self) -> bool {
        self.turn == Color::White && is_chess960(&self.board)
    }

    /// Whether a legal move leads from `fen` to this position.
    fn follows(&self, fen: &str) -> bool {
        let Ok(fen) = Fen::from_ascii(fen.as_bytes()) else {
            return false;
        };
        let setup = fen.into_setup();
        let mode = CastlingMode::detect(&setup);
        let Ok(position) = setup.position::<Chess>(mode) else {
            return false;
        };
        position.legal_moves().into_iter().any(|played| {
            let mut after = position.clone();
            after.play_unchecked(played);
            after.board() == &self.board
                && after.turn() == self.turn
                && after.castles().castling_rights() == self.castling
        })
    }
}

impl Anchor {
    fn new(position: Position, start: &str, current: Option<&GameRecord>) -> Self {
        Self {
            start: start.to_owned(),
            position: Some(position),
            past: current.map(|game| game.game.clone()),
            game: None,
            fits: false,
            played: false,
            ply: 0,
        }
    }

    fn within(self, game: &GameRecord, ply: usize) -> Self {
        Self {
            past: None,
            game: Some(game.game.clone()),
            fits: true,
            ply,
            ..self
        }
    }

    /// Whether the anchor is in this game.
    fn is_within(&self, game: &GameRecord) -> bool {
        self.fits && self.game.as_ref() == Some(&game.game)
    }

    /// Follows the board to its current game. The next game that begins with the position has the anchor, unless
    /// another game was played before it. A game without moves does not count.
    fn follow(&mut self, current: &GameRecord) {
        if self.game.as_ref() != Some(&current.game) {
            let position = self.position.as_ref();
            self.fits = !self.played && position.is_some_and(|position| position.begins(&current.start_fen));
            self.game = Some(current.game.clone());
            if self.fits {
                self.start.clone_from(&current.start_fen);
                self.position = Position::read(&current.start_fen);
                self.ply = 0;
            }
        }
        self.played = !current.moves.is_empty() || (self.played && !self.fits);
    }

    /// The moves since the anchor; `None` once the board plays another game.
    pub(super) fn line(&mut self, current: Option<&GameRecord>) -> Option<AnchoredMoves> {
        let begun = current.filter(|game| self.past.as_ref() != Some(&game.game));
        if let Some(game) = begun {
            self.follow(game);
        }
        let is_there = begun.is_none_or(|game| self.is_within(game));
        is_there.then(|| self.moves(begun))
    }

    /// The moves since the anchor in its game; none without a game.
    fn moves(&self, game: Option<&GameRecord>) -> AnchoredMoves {
        let no_moves = || AnchoredMoves {
            start: self.start.clone(),
            san: Vec::new(),
            last: self.position.as_ref().map(|position| position.board.clone()),
        };
        let Some(game) = game else {
            return no_moves();
        };
        let set = game.positions.last().map(|set| (set.ply as usize, &set.fen));
        let (ply, start) = match set.filter(|(ply, _)| *ply >= self.ply) {
            // The arbiter has set a position in the game since then.
            Some(set) => set,
            None if self.is_in(game) => (self.ply, &self.start),
            None => return no_moves(),
        };
        let played = game.moves.get(ply..).unwrap_or_default().iter();
        let played = played.take_while(|entry| entry.legal);
        let (mut san, mut last) = (Vec::new(), start.as_str());
        for entry in played {
            let Some(text) = &entry.san else { break };
            san.push(text.clone());
            last = &entry.fen;
        }
        AnchoredMoves {
            start: start.clone(),
            san,
            last: Position::read(last).map(|position| position.board),
        }
    }

    /// Whether the game still has the position. A correction may have removed it.
    fn is_in(&self, game: &GameRecord) -> bool {
        let fen = match self.ply.checked_sub(1) {
            None => Some(&game.start_fen),
            Some(before) => game.moves.get(before).map(|entry| &entry.fen),
        };
        fen.is_some_and(|fen| self.position.as_ref().is_some_and(|position| position.is(fen)))
    }
}

impl AnchoredMoves {
    /// Whether the placement is that after the last move.
    pub(super) fn leads_to(&self, board: &Board) -> bool {
        self.last.as_ref() == Some(board)
    }
}

impl SetupPlan {
    /// How to react to a client that sends `fen`; `None` if the game does not have the position and clients may not
    /// change the game.
    pub(super) fn make(position: Position, fen: &str, circumstances: Circumstances<'_>) -> Option<Self> {
        let Circumstances {
            current,
            shown,
            before,
            may_set_up,
        } = circumstances;
        let is_start = position.is_start();
        let wait = |position| Anchor::new(position, fen, current);
        let Some(game) = current.filter(|game| game.ended.is_none()) else {
            return match (is_start, may_set_up) {
                (true, _) => Some(Self::Count(wait(position))),
                (false, true) => Some(Self::Begin(wait(position))),
                (false, false) => None,
            };
        };
        let plies = game.moves.len();
        let fens = core::iter::once(&game.start_fen).chain(game.moves.iter().map(|entry| &entry.fen));
        let fens: Vec<&String> = fens.collect();
        let found = if position.is(&game.fen) {
            Some(plies)
        } else {
            fens.iter().rposition(|fen| position.is(fen))
        };
        let follows = || position.follows(&game.fen);
        match found {
            Some(ply) if plies - ply <= MAX_LAG => Some(Self::Count(wait(position).within(game, ply))),
            // The pieces have been set up again, or the client already knows this game: it means the next one.
            Some(0) if is_start => {
                let knows = before.is_some_and(|before| before.is_within(game));
                let next = may_set_up || knows || *shown == position.board;
                let anchor = wait(position);
                Some(Self::Count(if next { anchor } else { anchor.within(game, 0) }))
            }
            Some(ply) if may_set_up => Some(Self::TakeBack(wait(position).within(game, ply))),
            Some(ply) => Some(Self::Count(wait(position).within(game, ply))),
            None if follows() => Some(Self::Count(wait(position).within(game, plies + 1))),
            None if is_start => Some(Self::Count(wait(position))),
            None if may_set_up => Some(Self::Begin(wait(position))),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests;
