//! Reads PGN tags leniently, including common mistakes of people and programs.

use super::super::ReadError;
use super::super::doubt::{DoubtKind, Doubts};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tag {
    /// Name, in lower case.
    pub(super) name: String,
    pub(super) value: String,
    pub(super) line: usize,
    /// Column at which the value begins.
    pub(super) column: usize,
}

/// Passes the tags of each game to `read`. Moves and comments are skipped.
///
/// A new game begins at a tag after moves, at a repetition of the Event tag or of the game's first tag, and at any
/// repeated tag after an empty line.
///
/// # Errors
///
/// Fails if the file has more games than any event.
pub(super) fn games(
    text: &str,
    doubts: &mut Doubts,
    mut read: impl FnMut(&[Tag], &mut Doubts),
) -> Result<(), ReadError> {
    let mut reader = TagReader::default();
    for (number, line) in (1..).zip(text.lines()) {
        reader.line(number, line, doubts);
        doubts.add_entries(reader.games.len(), number)?;
        for game in reader.games.drain(..) {
            read(&game, doubts);
        }
    }
    read(&reader.game, doubts);
    Ok(())
}

/// Maximum number of tags of a game, and of characters in a line with tags.
const MAX_TAGS: usize = 100;
const MAX_LINE: usize = 10_000;

pub(in super::super) fn is_tag_line(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix('[').map(str::trim_start);
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

#[derive(Debug, Default)]
struct TagReader {
    /// Games that ended in the current line.
    games: Vec<Vec<Tag>>,
    game: Vec<Tag>,
    /// Whether moves followed the tags of the game.
    moves: bool,
    /// Whether the previous line is empty.
    blank: bool,
    in_comment: bool,
    /// Whether text before the first tag was reported.
    reported: bool,
}

impl TagReader {
    fn line(&mut self, number: usize, line: &str, doubts: &mut Doubts) {
        let blank = core::mem::replace(&mut self.blank, line.trim().is_empty());
        // If the closing brace of a comment is missing, a new game ends the comment.
        let is_event = is_tag_line(line) && line.to_lowercase().contains("[event ");
        if self.in_comment && !(blank && is_event) {
            self.moves(line);
            return;
        }
        if self.blank || line.starts_with('%') {
            return;
        }
        if is_tag_line(line) {
            self.in_comment = false;
            let characters: Vec<char> = line.chars().take(MAX_LINE).collect();
            self.tags(number, &characters, blank, doubts);
        } else if self.game.is_empty() || (!self.moves && !blank && !is_like_moves(line)) {
            if !self.game.is_empty() || !self.reported {
                self.reported = true;
                let column = line.chars().take_while(|c| c.is_whitespace()).count() + 1;
                doubts.note(
                    DoubtKind::Unclear,
                    (number, column),
                    "this is neither a tag nor moves, and is left out",
                );
            }
        } else {
            self.moves = true;
            self.moves(line);
        }
    }

    /// Tracks whether the text is in a comment, because a line in a comment is not a tag.
    fn moves(&mut self, line: &str) {
        for c in line.chars() {
            match c {
                '}' => self.in_comment = false,
                '{' => self.in_comment = true,
                ';' if !self.in_comment => return,
                _ => {}
            }
        }
    }

    fn tags(&mut self, line: usize, characters: &[char], mut blank: bool, doubts: &mut Doubts) {
        let mut at = 0;
        while let Some(from) = next(characters, at, |c| !c.is_whitespace()) {
            if characters.get(from) != Some(&'[') {
                let rest: String = characters.iter().skip(from).collect();
                if is_like_moves(&rest) {
                    self.moves = true;
                    self.moves(&rest);
                } else {
                    doubts.note(
                        DoubtKind::Unclear,
                        (line, from + 1),
                        format!("{rest:?} is not a tag, and is left out"),
                    );
                }
                return;
            }
            let found = tag(characters, from);
            if let Some(reason) = found.doubt {
                let place = (line, found.column + 1);
                match found.tag {
                    Some(_) => doubts.note(DoubtKind::Unclear, place, reason),
                    None => doubts.lost(DoubtKind::Unclear, place, reason),
                }
            }
            if let Some((name, value)) = found.tag {
                let column = found.column + 1;
                let tag = Tag {
                    name,
                    value,
                    line,
                    column,
                };
                self.tag(tag, blank, doubts);
                blank = false;
            }
            at = found.end;
        }
    }

    fn tag(&mut self, tag: Tag, blank: bool, doubts: &mut Doubts) {
        let is_repeated = self.game.iter().any(|other| other.name == tag.name);
        let is_first = self.game.first().is_some_and(|first| first.name == tag.name);
        if self.moves || (is_repeated && (blank || is_first || tag.name == "event")) {
            self.games.push(core::mem::take(&mut self.game));
            self.moves = false;
        } else if is_repeated {
            let text = format!("a second {} in one game: the first one is used", tag.name);
            doubts.note(DoubtKind::Unclear, (tag.line, tag.column), text);
            return;
        }
        if self.game.len() == MAX_TAGS {
            let text = format!("this game has more than {MAX_TAGS} tags: the others are left out");
            doubts.note(DoubtKind::Unclear, (tag.line, tag.column), text);
            return;
        }
        self.game.push(tag);
    }
}

struct FoundTag {
    tag: Option<(String, String)>,
    /// Index of the value's first character, or of the error, counted from 0.
    column: usize,
    doubt: Option<&'static str>,
    /// Index after the tag.
    end: usize,
}

/// Parses the tag whose "[" is at `from`.
fn tag(characters: &[char], from: usize) -> FoundTag {
    let name_from = next(characters, from + 1, |c| !c.is_whitespace()).unwrap_or(characters.len());
    let name_to = next(characters, name_from, |c| !c.is_ascii_alphanumeric() && c != '_');
    let name_to = name_to.unwrap_or(characters.len());
    let name = text(characters, name_from, name_to).to_ascii_lowercase();
    let value_from = next(characters, name_to, |c| !c.is_whitespace()).unwrap_or(characters.len());
    let without_tag = |column, doubt| FoundTag {
        tag: None,
        column,
        doubt: Some(doubt),
        end: characters.len(),
    };
    if name.is_empty() {
        return without_tag(
            from,
            "a tag without a name is left out: write it as [White \"Last, First\"]",
        );
    }
    let quoted = characters.get(value_from).is_some_and(|c| is_quote(*c));
    let from = if quoted { value_from + 1 } else { value_from };
    let Some((to, end, doubt)) = value(characters, from, quoted) else {
        return without_tag(
            from,
            "this tag has neither a closing quotation mark nor a closing bracket on its line, and is left out",
        );
    };
    FoundTag {
        tag: Some((name, unescaped(&text(characters, from, to)))),
        column: from,
        doubt,
        end,
    }
}

/// Finds the end of the value that begins at `from`, and the end of its tag. Returns a doubt if one of them is a guess.
fn value(characters: &[char], from: usize, quoted: bool) -> Option<(usize, usize, Option<&'static str>)> {
    let closed = (from..characters.len()).find(|at| {
        let escaped = *at > from && characters.get(at - 1) == Some(&'\\');
        quoted && !escaped && is_closing(characters, *at)
    });
    // If another tag begins within the value, the value ends before that tag.
    let cut = (from..closed.unwrap_or(characters.len())).find(|at| begins_another(characters, *at));
    if let Some(at) = cut {
        return Some((at, at + 1, Some(NOT_CLOSED)));
    }
    if let Some(at) = closed.or_else(|| last(characters, from, |at| quoted && is_closing(characters, at))) {
        let end = next(characters, at, |c| c == ']').map_or(characters.len(), |bracket| bracket + 1);
        return Some((at, end, None));
    }
    let quote = last(characters, from, |at| {
        quoted && characters.get(at).is_some_and(|c| is_quote(*c))
    });
    // If the line ends with a quotation mark, only the bracket is missing.
    if let Some(at) = quote.filter(|at| next(characters, at + 1, |c| !c.is_whitespace()).is_none()) {
        return Some((at, characters.len(), Some(NO_BRACKET)));
    }
    let bracket = match quoted {
        true => last(characters, from, |at| characters.get(at) == Some(&']')),
        false => next(characters, from, |c| c == ']'),
    };
    bracket.map(|at| (at, at + 1, Some(NOT_CLOSED)))
}

/// Returns whether a quotation mark at `at` closes a tag, that is, a bracket follows.
fn is_closing(characters: &[char], at: usize) -> bool {
    let bracket = next(characters, at + 1, |c| !c.is_whitespace());
    characters.get(at).is_some_and(|c| is_quote(*c))
        && bracket.is_some_and(|bracket| characters.get(bracket) == Some(&']'))
}

/// Returns whether a bracket at `at` closes a tag and another tag begins, as in "] [Black \"".
fn begins_another(characters: &[char], at: usize) -> bool {
    let skip = |from: usize| next(characters, from, |c| !c.is_whitespace());
    let begins = || {
        let open = skip(at + 1).filter(|open| characters.get(*open) == Some(&'['))?;
        let name = skip(open + 1)?;
        let name_to = next(characters, name, |c| !c.is_ascii_alphanumeric())?;
        let quote = skip(name_to).filter(|_| name_to > name)?;
        characters.get(quote).filter(|c| is_quote(**c))
    };
    characters.get(at) == Some(&']') && begins().is_some()
}

fn unescaped(value: &str) -> String {
    value
        .replace("\\\"", "\"")
        .replace("\\\\", "\\")
        .trim()
        .to_owned()
}

const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

fn is_like_moves(line: &str) -> bool {
    let first = line.trim_start().chars().next();
    first.is_some_and(|c| c.is_ascii_digit() || matches!(c, '*' | '{' | '(' | ';' | '$' | '½'))
}

fn next(characters: &[char], from: usize, is: impl Fn(char) -> bool) -> Option<usize> {
    (from..characters.len()).find(|at| characters.get(*at).is_some_and(|c| is(*c)))
}

fn last(characters: &[char], from: usize, is: impl Fn(usize) -> bool) -> Option<usize> {
    (from..characters.len()).rev().find(|at| is(*at))
}

fn text(characters: &[char], from: usize, to: usize) -> String {
    characters.iter().take(to).skip(from).collect()
}

const NOT_CLOSED: &str = "the quotation marks of this tag are not closed; its value was read anyway";
const NO_BRACKET: &str = "the closing bracket of this tag is missing; its value was read anyway";
