//! From which position the moves of a client are counted.
//!
//! A client says a position, "set up", and gets the moves that are played from there. kiebitz follows games by itself; so
//! what is said is first looked for in the game that is being played, and nothing changes when it is there. A client that
//! knows a move which is not on the board yet, as one that plays over the Internet, is a ply ahead of it.

use kiebitz_game::events::record::GameRecord;
use kiebitz_game::position::is_chess960;
use shakmaty::fen::Fen;
use shakmaty::{Bitboard, Board, CastlingMode, Chess, Color, Position as _};

/// A position as a client says it: where the pieces stand, who is to move, and who may castle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    board: Board,
    turn: Color,
    castling: Bitboard,
}

/// From where moves are counted.
#[derive(Debug, Clone)]
pub(super) struct Anchor {
    /// The position, as FEN.
    start: String,
    position: Option<Position>,
    /// The game that it is in; `None`: one that is to come.
    game: Option<String>,
    /// The last game before that one.
    past: Option<String>,
    /// After so many plies of it.
    ply: usize,
}

/// The moves from there.
#[derive(Debug)]
pub(super) struct AnchoredMoves {
    /// The position, as FEN.
    pub(super) start: String,
    /// All moves since then.
    pub(super) san: Vec<String>,
    last: Option<Board>,
}

/// What is to be done about a position that a client says.
#[derive(Debug)]
pub(super) enum SetupPlan {
    /// Moves are counted from there, and nothing else changes.
    Count(Anchor),
    /// Another game begins with it.
    Begin(Anchor),
    /// The game goes on from it: what was played after it is taken back.
    TakeBack(Anchor),
}

/// What the plan depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Circumstances<'c> {
    /// The game that is being played, or the last one.
    pub(super) current: Option<&'c GameRecord>,
    /// What the sensors show.
    pub(super) shown: &'c Board,
    /// From where the client has moves counted.
    pub(super) before: Option<&'c Anchor>,
    /// Clients decide what is played.
    pub(super) may_set_up: bool,
}

/// A client that has lost so many plies, because it was away or the board is ahead of it, gets them. If it goes back
/// further, something else begins.
const CAUGHT_UP: usize = 2;

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

    /// Whether kiebitz expects a game to begin with it without being told.
    fn is_start(&self) -> bool {
        self.turn == Color::White && is_chess960(&self.board)
    }

    /// Whether a legal move leads from that position to this one.
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
            game: None,
            past: current.map(|game| game.game.clone()),
            ply: 0,
        }
    }

    fn at(self, game: &GameRecord, ply: usize) -> Self {
        let game = Some(game.game.clone());
        Self { game, ply, ..self }
    }

    /// The moves since then. Where another game begins, they are counted from its start.
    pub(super) fn line(&mut self, current: Option<&GameRecord>) -> AnchoredMoves {
        let known = self.game.as_ref().or(self.past.as_ref());
        if let Some(begun) = current.filter(|game| Some(&game.game) != known) {
            self.game = Some(begun.game.clone());
            self.start.clone_from(&begun.start_fen);
            self.position = Position::read(&begun.start_fen);
            self.ply = 0;
        }
        let nothing = || AnchoredMoves {
            start: self.start.clone(),
            san: Vec::new(),
            last: self.position.as_ref().map(|position| position.board.clone()),
        };
        let Some(game) = current.filter(|game| Some(&game.game) == self.game.as_ref()) else {
            return nothing();
        };
        let set = game.positions.last().map(|set| (set.ply as usize, &set.fen));
        let (ply, start) = match set.filter(|(ply, _)| *ply >= self.ply) {
            // The arbiter has the game go on from there.
            Some(set) => set,
            None if self.stands_in(game) => (self.ply, &self.start),
            None => return nothing(),
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

    /// Whether it is still in the game, which may have been corrected.
    fn stands_in(&self, game: &GameRecord) -> bool {
        let fen = match self.ply.checked_sub(1) {
            None => Some(&game.start_fen),
            Some(before) => game.moves.get(before).map(|entry| &entry.fen),
        };
        fen.is_some_and(|fen| self.position.as_ref().is_some_and(|position| position.is(fen)))
    }
}

impl AnchoredMoves {
    /// Whether the pieces stand as after the last move.
    pub(super) fn leads_to(&self, board: &Board) -> bool {
        self.last.as_ref() == Some(board)
    }
}

impl SetupPlan {
    /// What a client that says `fen` is to get; `None`: it is not in the game, and the client may not change that.
    pub(super) fn make(position: Position, fen: &str, about: Circumstances<'_>) -> Option<Self> {
        let Circumstances {
            current,
            shown,
            before,
            may_set_up,
        } = about;
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
            Some(ply) if plies - ply <= CAUGHT_UP => Some(Self::Count(wait(position).at(game, ply))),
            // The pieces are set up again, or the client has seen that game: it means the next one.
            Some(0) if is_start => {
                let knows = before.is_some_and(|before| before.game.as_ref() == Some(&game.game));
                let next = may_set_up || knows || *shown == position.board;
                let anchor = wait(position);
                Some(Self::Count(if next { anchor } else { anchor.at(game, 0) }))
            }
            Some(ply) if may_set_up => Some(Self::TakeBack(wait(position).at(game, ply))),
            Some(ply) => Some(Self::Count(wait(position).at(game, ply))),
            None if follows() => Some(Self::Count(wait(position).at(game, plies + 1))),
            None if is_start => Some(Self::Count(wait(position))),
            None if may_set_up => Some(Self::Begin(wait(position))),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests;
