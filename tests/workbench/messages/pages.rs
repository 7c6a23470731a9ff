//! Texts of the browser pages and of the catalogue of advice.

use super::{Kind, words};

type Found = Vec<(usize, Kind, String)>;

/// Returns the strings of a script: all strings of a catalogue, and in other scripts those with at least two words.
pub(super) fn script(source: &str, name: &str) -> Found {
    let file = name.rsplit('/').next().unwrap_or(name);
    let is_catalogue = file.starts_with("english") || file == "words.js";
    // The wall page has both languages in one file.
    let english = source.split("const GERMAN").next().unwrap_or(source);
    let mut found = Found::new();
    for (line, text) in strings(english) {
        let is_text = if is_catalogue {
            !words(&text).is_empty() && !text.starts_with("./")
        } else {
            words(&text).len() > 1 && text.contains(' ') && text.starts_with(char::is_uppercase)
        };
        if is_text {
            found.push((line, Kind::Page, text));
        }
    }
    found
}

/// Returns strings in double quotes or backquotes, without comments.
fn strings(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut characters = source.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\n' => line += 1,
            '/' if characters.peek() == Some(&'/') => {
                while characters.peek().is_some_and(|next| *next != '\n') {
                    characters.next();
                }
            }
            '"' | '`' => {
                let begin = line;
                let mut text = String::new();
                while let Some(next) = characters.next().filter(|next| *next != character) {
                    match next {
                        '\\' => match characters.next() {
                            Some('u') => {
                                let code: String = characters.by_ref().take(4).collect();
                                text.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
                            }
                            escaped => text.extend(escaped),
                        },
                        '\n' => {
                            line += 1;
                            text.push(next);
                        }
                        _ => text.push(next),
                    }
                }
                found.push((begin, text));
            }
            _ => {}
        }
    }
    found
}

/// Returns the text between tags.
pub(super) fn html(source: &str) -> Found {
    let mut found = Found::new();
    for (index, line) in source.lines().enumerate() {
        let mut text = String::new();
        let mut in_tag = false;
        for character in line.chars() {
            match character {
                '<' => in_tag = true,
                '>' => in_tag = false,
                _ if !in_tag => text.push(character),
                _ => {}
            }
        }
        if !words(&text).is_empty() {
            found.push((index + 1, Kind::Page, text.trim().to_owned()));
        }
    }
    found
}

/// Returns the values of the catalogue of advice, with multi-line values joined.
pub(super) fn catalogue(source: &str) -> Found {
    let mut found = Found::new();
    let mut lines = source.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let Some((_, value)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) else {
            continue;
        };
        let mut text = value.trim_start_matches('"').to_owned();
        if value.starts_with("\"\"\"") {
            while !text.ends_with("\"\"\"") {
                let Some((_, more)) = lines.next() else { break };
                text = format!("{}{more}", text.trim_end_matches('\\'));
            }
        }
        found.push((index + 1, Kind::Laws, text.trim_end_matches('"').to_owned()));
    }
    found
}
