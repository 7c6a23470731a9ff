//! Wraps text for terminals.

/// Wraps text to lines of at most `width` columns. Indents the first line by `first` columns, the others by `rest`.
/// Never splits a word that is longer than a line, as it may be a path.
pub(crate) fn wrapped(text: &str, width: usize, first: usize, rest: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = " ".repeat(first);
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(core::mem::replace(&mut line, " ".repeat(rest)));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_longer_than_the_line_stays_whole() {
        let path = "/x".repeat(60);
        assert_eq!(
            wrapped(&format!("see {path} there"), 80, 0, 2),
            ["see", &format!("  {path}"), "  there"]
        );
        assert_eq!(wrapped("", 80, 2, 4), ["  "]);
    }

    #[test]
    fn lines_fit_with_their_indent() {
        assert_eq!(
            wrapped("one two three four", 10, 2, 4),
            ["  one two", "    three", "    four"]
        );
    }
}
