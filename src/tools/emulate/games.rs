//! Games from a PGN file, converted to scripts for the players' hands.

use std::io::Read;
use std::ops::ControlFlow;

use anyhow::{Context, Result, bail};
use kiebitz_hardware::emulator::hand::{Ending, Script};
use pgn_reader::{RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Color, KnownOutcome, Outcome, Position};

use super::{notation, plies};

#[derive(Debug, Clone)]
pub(super) struct ScriptedGame {
    /// Names of the players, such as "Paul Morphy - Duke Karl / Count Isouard".
    pub(super) title: String,
    pub(super) script: Script,
}

/// Games for an emulation without a PGN file: three games of the nineteenth century.
pub(super) const DEFAULT: &[u8] = include_bytes!("games.pgn");

/// Reads all games that have moves. Fails if the file cannot be read, has no game with moves, or has a move that cannot
/// be played.
pub(super) fn read(mut pgn: impl Read) -> Result<Vec<ScriptedGame>> {
    let mut bytes = Vec::new();
    pgn.read_to_end(&mut bytes).context("cannot read the games")?;
    let text = notation::normalized(&String::from_utf8_lossy(&bytes))?;
    let mut reader = Reader::new(text.as_bytes());
    let mut games = Vec::new();
    let mut number = 1;
    while let Some(game) = reader.read_game(&mut Scribe).context("cannot read the games")? {
        let game = game.with_context(|| format!("game {number}"))?;
        if !game.script.plies.is_empty() {
            games.push(game);
        }
        number += 1;
    }
    if games.is_empty() {
        bail!("there is no game with moves in the file: check that it is a PGN file");
    }
    Ok(games)
}

struct Scribe;

#[derive(Default)]
struct Tags {
    white: Option<String>,
    black: Option<String>,
    fen: Option<String>,
}

struct GameDraft {
    title: String,
    position: Chess,
    script: Script,
}

impl Visitor for Scribe {
    type Tags = Tags;
    type Movetext = GameDraft;
    type Output = Result<ScriptedGame>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Self::Output> {
        let field = match name {
            b"White" => &mut tags.white,
            b"Black" => &mut tags.black,
            b"FEN" => &mut tags.fen,
            _ => return ControlFlow::Continue(()),
        };
        *field = Some(value.decode_utf8_lossy().into_owned());
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Self::Output, GameDraft> {
        let name = |name: Option<String>| {
            name.filter(|name| name != "?")
                .unwrap_or_else(|| "N.N.".to_owned())
        };
        let position = match tags.fen.as_deref().map(position).transpose() {
            Ok(position) => position.unwrap_or_default(),
            Err(error) => return ControlFlow::Break(Err(error)),
        };
        ControlFlow::Continue(GameDraft {
            title: format!("{} - {}", name(tags.white), name(tags.black)),
            script: Script {
                start: plies::dump(position.board()),
                plies: Vec::new(),
                ending: Ending::Stops,
            },
            position,
        })
    }

    fn san(&mut self, draft: &mut GameDraft, san: SanPlus) -> ControlFlow<Self::Output> {
        let GameDraft {
            title,
            position,
            script,
        } = draft;
        let legal = notation::legal(position, &san.san).map(|m| {
            let mut after = position.clone();
            after.play_unchecked(m);
            (m, after)
        });
        match legal.or_else(|| plies::illegal(position, &san.san)) {
            Some((m, after)) => {
                script.plies.push(plies::ply(position, m));
                *position = after;
                ControlFlow::Continue(())
            }
            None => {
                let number = position.fullmoves();
                let dots = position.turn().fold_wb(".", "...");
                ControlFlow::Break(Err(anyhow::anyhow!(
                    "{title}: {number}{dots} {san} cannot be played"
                )))
            }
        }
    }

    fn begin_variation(&mut self, _: &mut GameDraft) -> ControlFlow<Self::Output, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn outcome(&mut self, draft: &mut GameDraft, outcome: Outcome) -> ControlFlow<Self::Output> {
        draft.script.ending = match outcome {
            Outcome::Known(KnownOutcome::Decisive { winner: Color::White }) => Ending::WhiteWins,
            Outcome::Known(KnownOutcome::Decisive { winner: Color::Black }) => Ending::BlackWins,
            Outcome::Known(KnownOutcome::Draw) => Ending::Draw,
            Outcome::Unknown => Ending::Stops,
        };
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, draft: GameDraft) -> Self::Output {
        Ok(ScriptedGame {
            title: draft.title,
            script: draft.script,
        })
    }
}

fn position(fen: &str) -> Result<Chess> {
    let fen: Fen = fen.parse().with_context(|| format!("cannot use the FEN {fen}"))?;
    let mode = CastlingMode::detect(fen.as_setup());
    fen.clone()
        .into_position(mode)
        .with_context(|| format!("cannot use the FEN {fen}"))
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;

    #[test]
    fn default_games_are_complete() {
        let games = read(DEFAULT).unwrap();
        let plies: Vec<usize> = games.iter().map(|game| game.script.plies.len()).collect();
        assert_eq!(plies, [33, 45, 47]);
        assert!(games.iter().all(|game| game.script.ending == Ending::WhiteWins));
        assert_eq!(games[0].title, "Paul Morphy - Duke Karl / Count Isouard");
    }

    #[test]
    fn variations_and_games_without_moves_are_skipped() {
        let pgn =
            "[White \"A\"]\n[Black \"B\"]\n\n1-0\n\n[White \"?\"]\n\n1. e4 (1. d4 d5) e5 {good} 2. Nf3 *\n";
        let games = read(pgn.as_bytes()).unwrap();
        assert_eq!(games.len(), 1);
        assert_eq!(games[0].title, "N.N. - N.N.");
        assert_eq!(games[0].script.plies.len(), 3);
        assert_eq!(games[0].script.ending, Ending::Stops);
    }

    #[test]
    fn fen_tag_sets_the_start_position() {
        let pgn =
            "[FEN \"bbqrkrnn/pppppppp/8/8/8/8/PPPPPPPP/BBQRKRNN w FDfd - 0 1\"]\n\n1. Nf3 Nf6 1/2-1/2\n";
        let games = read(pgn.as_bytes()).unwrap();
        assert_eq!(
            games[0].script.start[0],
            Some(kiebitz_protocol::Piece::BlackBishop)
        );
        assert_eq!(games[0].script.ending, Ending::Draw);
    }

    #[test]
    fn an_illegal_move_with_its_from_square_is_played() {
        let pgn = "1. e4 e5 2. Ng1g3 Nb8c6 3. Ng3f5 *\n";
        let games = read(pgn.as_bytes()).unwrap();
        let plies = &games[0].script.plies;
        assert_eq!(plies.len(), 5);
        assert_eq!(
            (plies[2].from, plies[2].to),
            (plies::field(Square::G1), plies::field(Square::G3))
        );
        for refused in ["2. Ng3", "2. Nf1g3", "2. Ng8f6", "2. Ng1e2 Ke8e7 3. Bf1e2"] {
            let pgn = format!("1. e4 e5 {refused} *\n");
            assert!(read(pgn.as_bytes()).is_err(), "{refused}");
        }
    }

    #[test]
    fn errors_name_the_game_and_the_move() {
        let refusal = |pgn: &str| format!("{:#}", read(pgn.as_bytes()).unwrap_err());
        assert_eq!(
            refusal("1. e4 *\n\n[White \"A\"]\n[Black \"B\"]\n\n1. e4 e4 *\n"),
            "game 2: A - B: 1... e4 cannot be played"
        );
        assert!(refusal("[FEN \"8/8\"]\n\n1. e4 *\n").starts_with("game 1: cannot use the FEN 8/8: "));
        assert_eq!(
            refusal("nothing of the kind"),
            "there is no game with moves in the file: check that it is a PGN file"
        );
    }
}
