//! Reads moves in the notations of people and programs: SAN with or without its signs, and UCI.

use shakmaty::san::{San, SanPlus};
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position, Role, Square};
use thiserror::Error;

/// A word among the moves that looks like a move, but is not one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {word:?} is not a move; write it as in Nf3, e8=Q, O-O or g1f3")]
pub(super) struct NoMove {
    line: usize,
    word: String,
}

/// Rewrites the moves of a PGN file to SAN's own signs, because the reader silently skips words that differ: "e8Q" and
/// "e7e8q" become "e8=Q" and "e7e8=Q", "e2-e4" becomes "e2e4", "Qh7++" becomes "Qh7+".
pub(super) fn normalized(pgn: &str) -> Result<String, NoMove> {
    let mut text = String::with_capacity(pgn.len());
    let mut in_comment = false;
    for (number, line) in (1..).zip(pgn.lines()) {
        if !in_comment && line.starts_with(['[', '%']) {
            text.push_str(line);
            text.push('\n');
            continue;
        }
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let length = if in_comment {
                let end = rest.find('}');
                in_comment = end.is_none();
                end.map_or(rest.len(), |end| end + 1)
            } else if first == ';' {
                rest.len()
            } else if is_end(first) {
                in_comment = first == '{';
                first.len_utf8()
            } else {
                let length = rest.find(is_end).unwrap_or(rest.len());
                let (word, after) = rest.split_at(length);
                // "e.p.", with or without a space before it, has a dot, which otherwise ends a word.
                let en_passant = word.strip_suffix('e').zip(after.strip_prefix(".p."));
                let (word, after) = en_passant.unwrap_or((word, after));
                text.push_str(&self::word(word, number)?);
                rest = after;
                continue;
            };
            text.push_str(rest.get(..length).unwrap_or_default());
            rest = rest.get(length..).unwrap_or_default();
        }
        text.push('\n');
    }
    Ok(text)
}

fn is_end(c: char) -> bool {
    c.is_whitespace() || matches!(c, '.' | '{' | '}' | '(' | ')' | ';' | '$')
}

/// Rewrites a word if it looks like a move.
fn word(word: &str, line: usize) -> Result<String, NoMove> {
    let begins_like_a_move = word.starts_with(|c| matches!(c, 'a'..='h' | 'K' | 'Q' | 'R' | 'B' | 'N' | 'P'));
    let body = word.trim_end_matches(is_mark);
    let marks = word.get(body.len()..).unwrap_or_default();
    let check = marks.chars().find(|mark| matches!(mark, '+' | '#'));
    let castling = body.to_uppercase().replace('0', "O");
    if matches!(castling.as_str(), "O-O" | "O-O-O") {
        return Ok(castling.chars().chain(check).collect());
    }
    if !begins_like_a_move || !word.contains(|c: char| c.is_ascii_digit()) {
        return Ok(word.to_owned());
    }
    let mut san: String = body.chars().filter(|c| !matches!(c, '-' | '=' | '/')).collect();
    let promotion = san.pop().map(|last| (last, last.to_ascii_uppercase()));
    match promotion {
        Some((_, role @ ('Q' | 'R' | 'B' | 'N'))) if san.ends_with(['1', '8']) => {
            san.push('=');
            san.push(role);
        }
        Some((last, _)) => san.push(last),
        None => {}
    }
    san = san.replace(':', "x");
    san.extend(check);
    match SanPlus::from_ascii(san.as_bytes()) {
        Ok(_) => Ok(san),
        Err(_) => Err(NoMove {
            line,
            word: word.to_owned(),
        }),
    }
}

const fn is_mark(c: char) -> bool {
    matches!(c, '+' | '#' | '!' | '?')
}

/// Returns the legal move of a position that a notation means, with or without a sign for captures. With both squares,
/// the letter of the piece may be missing, and the king's squares mean castling.
pub(super) fn legal(position: &Chess, san: &San) -> Option<Move> {
    let San::Normal {
        role,
        file,
        rank,
        to,
        promotion,
        ..
    } = *san
    else {
        return san.to_move(position).ok();
    };
    let is_meant = |m: &Move| {
        !m.is_castle()
            && m.role() == role
            && m.to() == to
            && m.promotion() == promotion
            && m.from().is_some_and(|from| {
                file.is_none_or(|file| file == from.file()) && rank.is_none_or(|rank| rank == from.rank())
            })
    };
    let moves = position.legal_moves();
    let mut meant = moves.iter().filter(|m| is_meant(m));
    if let Some(m) = meant.next() {
        return meant.next().is_none().then_some(*m);
    }
    let uci = UciMove::Normal {
        from: Square::from_coords(file?, rank?),
        to,
        promotion,
    };
    let m = uci.to_move(position).ok()?;
    (role == Role::Pawn || role == m.role()).then_some(m)
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    use super::*;

    fn position(fen: &str) -> Chess {
        let fen: Fen = fen.parse().unwrap();
        fen.into_position(CastlingMode::Standard).unwrap()
    }

    fn read(position: &Chess, text: &str) -> Option<Move> {
        let text = normalized(&format!("1. {text} *\n")).unwrap();
        let word = text.split_whitespace().nth(1).unwrap();
        legal(position, &SanPlus::from_ascii(word.as_bytes()).unwrap().san)
    }

    /// All spellings of all legal moves of positions with castlings, captures, en passant, promotions and ambiguity.
    #[test]
    fn every_legal_move_is_read_in_every_notation() {
        for fen in [
            "r3k2r/pPppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PP1BBPPP/R3K2R w KQkq - 0 1",
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
            "4k3/8/8/8/3pP3/8/1p6/R1B1K2R b KQ e3 0 1",
            "7k/P7/R7/8/N3N3/R7/8/N3K3 w - - 0 1",
        ] {
            let position = position(fen);
            for m in position.legal_moves() {
                let plain = SanPlus::from_move(position.clone(), m).to_string();
                let bare = plain.trim_end_matches(['+', '#']);
                let uci = m.to_uci(CastlingMode::Standard).to_string();
                let (from, rest) = uci.split_at(2);
                let mut spellings = vec![
                    plain.clone(),
                    bare.to_owned(),
                    format!("{bare}+"),
                    format!("{bare}++"),
                    format!("{bare}#"),
                    format!("{plain}!?"),
                    bare.replace('x', ""),
                    bare.replace('x', ":"),
                    bare.replace('=', ""),
                    bare.replace(['x', '='], ""),
                    format!("{from}-{rest}"),
                    uci,
                ];
                if m.is_castle() {
                    spellings.push(plain.replace('O', "0"));
                    spellings.push(bare.to_lowercase());
                }
                for text in spellings {
                    assert_eq!(read(&position, &text), Some(m), "{text} for {plain} in {fen}");
                }
            }
        }
    }

    #[test]
    fn comments_tags_and_other_words_stay() {
        for text in [
            "[White \"e8Q\"]\n",
            "1. e4 {e8Q\n[e8Q} ; e7-e8Q\n",
            "% e7e8q\n",
            "1... Nf6 $14 N += 1-0\n",
            "1. O-O O-O-O+ 1/2-1/2\n",
        ] {
            assert_eq!(normalized(text).as_deref(), Ok(text));
        }
        assert_eq!(
            normalized("1. exd6 e.p. exd3e.p.+ 2. e8Q 0-0\n").as_deref(),
            Ok("1. exd6  exd3+ 2. e8=Q O-O\n")
        );
        let error = normalized("1. e4\ne5 2. Nf9 *\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: \"Nf9\" is not a move; write it as in Nf3, e8=Q, O-O or g1f3"
        );
    }
}
