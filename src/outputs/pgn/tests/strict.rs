//! Rules of chess.js 1.4, the strictest common reader, that go beyond those of pgn-reader. Reimplemented here, as
//! chess.js itself would need npm.

/// Returns the first part of a game's PGN that chess.js would refuse; `None` if it accepts the game.
pub(super) fn refused(pgn: &str) -> Option<String> {
    let (tags, moves) = pgn.split_once("\n\n")?;
    let wrong_tag = tags.lines().find(|line| !is_tag(line));
    wrong_tag.map_or_else(|| wrong_movetext(moves), |tag| Some(tag.to_owned()))
}

/// Whether a line is a tag with only letters in its name and no quotation mark in its value, as chess.js has no escape.
fn is_tag(line: &str) -> bool {
    let inner = line.strip_prefix('[').and_then(|line| line.strip_suffix("\"]"));
    inner
        .and_then(|inner| inner.split_once(" \""))
        .is_some_and(|(name, value)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic()) && !value.contains('"')
        })
}

/// Returns the movetext from its first error on. Accepts an optional comment, then moves with at most one comment each,
/// then one of the four results and nothing after it.
fn wrong_movetext(text: &str) -> Option<String> {
    let (mut rest, mut comment_may_come, mut ended) = (text.trim_start(), true, false);
    while !rest.is_empty() {
        if ended {
            return Some(format!("after the result: {rest}"));
        }
        let refused = Some(rest.to_owned());
        if let Some(comment) = rest.strip_prefix('{') {
            let Some((_, after)) = comment.split_once('}').filter(|_| comment_may_come) else {
                return refused;
            };
            (rest, comment_may_come) = (after.trim_start(), false);
            continue;
        }
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        rest = after.trim_start();
        if ["1-0", "0-1", "1/2-1/2", "*"].contains(&word) {
            ended = true;
        } else if is_move(word) {
            comment_may_come = true;
        } else if !is_number(word) {
            return refused;
        }
    }
    (!ended).then(|| "no result at the end".to_owned())
}

fn is_number(word: &str) -> bool {
    let digits = word.trim_end_matches('.');
    digits.len() < word.len() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_move(word: &str) -> bool {
    let san = word.strip_suffix(['+', '#']).unwrap_or(word);
    san == "O-O"
        || san == "O-O-O"
        || (san.starts_with(|c: char| c.is_ascii_alphabetic())
            && san
                .bytes()
                .skip(1)
                .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'1'..=b'8' | b'=' | b'-')))
}

#[test]
fn pgn_that_chess_js_refuses_is_refused() {
    let game = |tag: &str, moves: &str| format!("[Event \"x\"]\n{tag}\n\n{moves}\n");
    let fine = [
        game("[White \"O'Neill\"]", "1. e4 {a} 1... e5 {b\nc} 2. O-O+ 1/2-1/2"),
        game("[Board \"3\"]", "{nothing} *"),
    ];
    for pgn in fine {
        assert_eq!(refused(&pgn), None, "{pgn}");
    }
    for pgn in [
        game("[White \"O\\\"Neill\"]", "1. e4 *"),
        game("[White_Elo \"3\"]", "1. e4 *"),
        game("[Board \"3\"]", "1. e4 {a} {b} *"),
        game("[Board \"3\"]", "1. e4 {a} 0-0"),
        game("[Board \"3\"]", "1. e4"),
        game("[Board \"3\"]", "1. e4 1-0 1... e5"),
    ] {
        assert!(refused(&pgn).is_some(), "{pgn}");
    }
}
