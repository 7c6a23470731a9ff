//! Texts in Rust sources: a lexer, and a reader that selects the literals that users see.

use super::{Kind, words};

/// A token, as far as the reader has to distinguish them.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Literal(String),
    Doc(String),
    Sign(char),
}

/// Returns every text with its line. In a catalogue of words, each literal is a text.
pub(super) fn texts(source: &str, catalogue: bool) -> Vec<(usize, Kind, String)> {
    Reader {
        tokens: tokens(source),
        catalogue,
        open: Vec::new(),
        found: Vec::new(),
    }
    .read()
}

struct Reader {
    tokens: Vec<(usize, Token)>,
    catalogue: bool,
    /// The token before each open bracket: `name!`, `name` or `#name`.
    open: Vec<String>,
    found: Vec<(usize, Kind, String)>,
}

impl Reader {
    fn read(mut self) -> Vec<(usize, Kind, String)> {
        let mut at = 0;
        let mut doc: Vec<(usize, String)> = Vec::new();
        // Depth of the brackets whose doc comments are help texts.
        let mut help: Option<usize> = None;
        let mut help_ahead = false;
        // The doc comment of a group of options is not shown, the one of a command is.
        let mut is_command = false;
        while let Some((line, token)) = self.tokens.get(at).cloned() {
            match token {
                Token::Doc(text) => {
                    doc.push((line, text));
                    at += 1;
                    continue;
                }
                Token::Sign('#') if self.is_sign(at + 1, '[') => {
                    let end = self.end_of(at + 1);
                    let attribute = &self.tokens[at..end];
                    if is_test(attribute) {
                        at = self.end_of_item(end);
                        doc.clear();
                        continue;
                    }
                    help_ahead |= derives_help(attribute);
                    is_command |= self.word(at + 2) == Some("command");
                    self.attribute(at, end);
                    at = end;
                    continue;
                }
                Token::Sign(sign @ ('(' | '[' | '{')) => {
                    self.open.push(self.before(at));
                    if sign == '{' && help_ahead {
                        help_ahead = false;
                        help = Some(self.open.len());
                    }
                }
                Token::Sign(')' | ']' | '}') => {
                    if help == Some(self.open.len()) {
                        help = None;
                    }
                    self.open.pop();
                }
                Token::Literal(text) => self.literal(at, line, text),
                Token::Sign(';') => help_ahead = false,
                Token::Word(_) | Token::Sign(_) => {}
            }
            if !doc.is_empty() {
                if help_ahead && is_command || help.is_some_and(|depth| self.open.len() >= depth) {
                    let text: Vec<&str> = doc.iter().map(|(_, text)| text.as_str()).collect();
                    self.found
                        .push((doc[0].0, Kind::Help, text.join(" ").trim().to_owned()));
                }
                doc.clear();
            }
            is_command = false;
            at += 1;
        }
        self.found.sort();
        self.found
    }

    fn is_sign(&self, at: usize, sign: char) -> bool {
        matches!(self.tokens.get(at), Some((_, Token::Sign(found))) if *found == sign)
    }

    fn word(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at) {
            Some((_, Token::Word(word))) => Some(word),
            _ => None,
        }
    }

    /// Returns the index after the bracket that opens here and its contents.
    fn end_of(&self, at: usize) -> usize {
        let mut depth = 0_usize;
        for (index, (_, token)) in self.tokens.iter().enumerate().skip(at) {
            match token {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}') => {
                    depth -= 1;
                    if depth == 0 {
                        return index + 1;
                    }
                }
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// Returns the index after the item that begins here.
    fn end_of_item(&self, mut at: usize) -> usize {
        while at < self.tokens.len() {
            match self.tokens[at].1 {
                Token::Sign('{') => return self.end_of(at),
                Token::Sign(';') => return at + 1,
                Token::Sign('(' | '[') => at = self.end_of(at),
                _ => at += 1,
            }
        }
        at
    }

    fn before(&self, at: usize) -> String {
        let last = at.checked_sub(1);
        if let Some(index) = last
            && self.is_sign(index, '!')
            && let Some(word) = index.checked_sub(1).and_then(|index| self.word(index))
        {
            return format!("{word}!");
        }
        last.and_then(|index| self.word(index))
            .unwrap_or_default()
            .to_owned()
    }

    /// Collects the literals in an attribute of an error or of the command line.
    fn attribute(&mut self, at: usize, end: usize) {
        let kind = match self.word(at + 2) {
            Some("error") => Kind::Error,
            Some("arg" | "command" | "value") => Kind::Help,
            _ => return,
        };
        for index in at..end {
            if let (line, Token::Literal(text)) = &self.tokens[index]
                && words(text).len() > usize::from(kind == Kind::Help)
            {
                self.found.push((*line, kind, text.clone()));
            }
        }
    }

    fn literal(&mut self, at: usize, line: usize, text: String) {
        if self.open.iter().any(|name| NOT_READ.contains(&name.as_str())) {
            return;
        }
        let kind = self
            .open
            .iter()
            .rev()
            .find_map(|name| match name.as_str() {
                "bail!" | "anyhow!" | "ensure!" | "context" | "with_context" => Some(Kind::Error),
                "info!" | "warn!" | "error!" | "debug!" | "trace!" => Some(Kind::Log),
                "help" | "about" | "after_help" | "long_about" | "long_help" => Some(Kind::Help),
                "html!" => Some(Kind::Page),
                _ => None,
            })
            .unwrap_or(if self.catalogue { Kind::Page } else { Kind::Other });
        let is_attribute = at > 0 && self.is_sign(at - 1, '=') && kind == Kind::Page && !self.catalogue;
        let least = match kind {
            Kind::Other => 2,
            _ => 1,
        };
        if !is_attribute && words(&text).len() >= least && (kind != Kind::Other || is_prose(&text)) {
            self.found.push((line, kind, text));
        }
    }
}

/// Macros and functions whose literals are not shown to users.
const NOT_READ: &[&str] = &[
    "assert!",
    "assert_eq!",
    "debug_assert!",
    "debug_assert_eq!",
    "unreachable!",
    "include_str!",
    "include_bytes!",
    "prepare",
    "prepare_cached",
    "execute",
    "execute_batch",
    "query_row",
];

/// Returns whether a text has two words with a space between them and is not a database query.
fn is_prose(text: &str) -> bool {
    const QUERIES: &[&str] = &[
        "SELECT ", "INSERT ", "CREATE ", "UPDATE ", "DELETE ", "PRAGMA ", "ATTACH ", "DROP ", "ALTER ",
        "WITH ", "FROM ", "WHERE ", "REPLACE ",
    ];
    let plain = text.trim();
    !QUERIES.iter().any(|query| plain.starts_with(query)) && plain.contains(' ')
}

fn is_test(attribute: &[(usize, Token)]) -> bool {
    let has = |word: &str| {
        attribute
            .iter()
            .any(|(_, token)| *token == Token::Word(word.to_owned()))
    };
    (has("cfg") && has("test") && !has("not"))
        || attribute
            .get(2)
            .is_some_and(|(_, token)| *token == Token::Word("test".to_owned()))
}

fn derives_help(attribute: &[(usize, Token)]) -> bool {
    let has = |word: &str| {
        attribute
            .iter()
            .any(|(_, token)| *token == Token::Word(word.to_owned()))
    };
    has("derive") && (has("Args") || has("Parser") || has("Subcommand") || has("ValueEnum"))
}

/// Splits a source into tokens, each with its line. Numbers and plain comments are left out.
fn tokens(source: &str) -> Vec<(usize, Token)> {
    let mut lexer = Lexer {
        characters: source.chars().collect(),
        at: 0,
        line: 1,
    };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.token() {
        tokens.extend(token);
    }
    tokens
}

struct Lexer {
    characters: Vec<char>,
    at: usize,
    line: usize,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let character = self.peek(0)?;
        self.at += 1;
        if character == '\n' {
            self.line += 1;
        }
        Some(character)
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars()
            .enumerate()
            .all(|(ahead, character)| self.peek(ahead) == Some(character))
    }

    /// Returns the next token. `Some(None)` for text that the reader does not need, `None` at the end.
    fn token(&mut self) -> Option<Option<(usize, Token)>> {
        let line = self.line;
        let first = self.peek(0)?;
        let token = if self.starts_with("//") {
            self.comment()
        } else if self.starts_with("/*") {
            self.block();
            None
        } else if first == '"' {
            self.next();
            Some(Token::Literal(self.string()))
        } else if let Some(hashes) = self.raw() {
            Some(Token::Literal(self.raw_string(hashes)))
        } else if self.starts_with("b\"") {
            self.next();
            self.next();
            self.string();
            None
        } else if first == '\'' {
            self.quote();
            None
        } else if first.is_alphabetic() || first == '_' {
            let mut word = String::new();
            while let Some(character) = self
                .peek(0)
                .filter(|character| character.is_alphanumeric() || *character == '_')
            {
                word.push(character);
                self.next();
            }
            Some(Token::Word(word))
        } else {
            self.next();
            (!first.is_whitespace() && !first.is_numeric()).then_some(Token::Sign(first))
        };
        Some(token.map(|token| (line, token)))
    }

    fn comment(&mut self) -> Option<Token> {
        let mut text = String::new();
        while self.peek(0).is_some_and(|character| character != '\n') {
            text.extend(self.next());
        }
        let doc = text.strip_prefix("///")?;
        (!doc.starts_with('/')).then(|| Token::Doc(doc.trim().to_owned()))
    }

    fn block(&mut self) {
        let mut depth = 0_usize;
        loop {
            if self.starts_with("/*") {
                depth += 1;
                self.at += 1;
            } else if self.starts_with("*/") {
                depth -= 1;
                self.at += 1;
            }
            if self.next().is_none() || depth == 0 {
                return;
            }
        }
    }

    /// Reads the rest of a string, and replaces its escapes.
    fn string(&mut self) -> String {
        let mut text = String::new();
        while let Some(character) = self.next() {
            match character {
                '"' => break,
                '\\' => self.escape(&mut text),
                _ => text.push(character),
            }
        }
        text
    }

    fn escape(&mut self, text: &mut String) {
        match self.next() {
            Some('n') => text.push('\n'),
            Some('\n') => {
                while self.peek(0).is_some_and(char::is_whitespace) {
                    self.next();
                }
            }
            Some('u') => {
                let mut code = 0;
                while let Some(character) = self.next().filter(|character| *character != '}') {
                    code = code * 16 + character.to_digit(16).unwrap_or(0);
                }
                text.extend(char::from_u32(code));
            }
            Some(character) => text.push(character),
            None => {}
        }
    }

    /// Returns the number of hashes if a raw string begins here.
    fn raw(&self) -> Option<usize> {
        let prefix = if self.starts_with("r\"") || self.starts_with("r#") {
            1
        } else if self.starts_with("br\"") || self.starts_with("br#") {
            2
        } else {
            return None;
        };
        let hashes = (prefix..)
            .take_while(|ahead| self.peek(*ahead) == Some('#'))
            .count();
        (self.peek(prefix + hashes) == Some('"')).then_some(hashes)
    }

    fn raw_string(&mut self, hashes: usize) -> String {
        while self.next().is_some_and(|character| character != '"') {}
        let end: String = core::iter::once('"')
            .chain(core::iter::repeat_n('#', hashes))
            .collect();
        let mut text = String::new();
        while !self.starts_with(&end) {
            let Some(character) = self.next() else { break };
            text.push(character);
        }
        self.at += end.len();
        text
    }

    /// Skips a character literal or a lifetime.
    fn quote(&mut self) {
        self.next();
        if self.peek(0) == Some('\\') {
            self.next();
            self.next();
            while self.next().is_some_and(|character| character != '\'') {}
        } else if self.peek(1) == Some('\'') {
            self.next();
            self.next();
        }
    }
}
