//! Lines of text with styles.

use core::fmt::{self, Display, Formatter};

use anstyle::Style;

use crate::shown::escaped_line;

/// A line of text with styled parts.
///
/// The text may come from untrusted sources, such as names: `Display` escapes its control characters and then adds the
/// styles. Print a line directly and not through `Shown`, which would escape the styles too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyledLine {
    spans: Vec<(Style, String)>,
}

impl StyledLine {
    /// Appends text without a style.
    #[must_use]
    pub fn and(self, text: impl Into<String>) -> Self {
        self.and_styled(Style::new(), text)
    }

    /// Appends text with a style.
    #[must_use]
    pub fn and_styled(mut self, style: Style, text: impl Into<String>) -> Self {
        self.spans.push((style, text.into()));
        self
    }

    /// Appends another line.
    #[must_use]
    pub fn followed_by(mut self, line: Self) -> Self {
        self.spans.extend(line.spans);
        self
    }

    /// Removes unstyled space from the end.
    #[must_use]
    pub fn trimmed(mut self) -> Self {
        while let Some((style, text)) = self.spans.last_mut() {
            if *style != Style::new() {
                break;
            }
            text.truncate(text.trim_end().len());
            if !text.is_empty() {
                break;
            }
            self.spans.pop();
        }
        self
    }
}

impl<T: Into<String>> From<T> for StyledLine {
    fn from(text: T) -> Self {
        Self::default().and(text)
    }
}

impl Display for StyledLine {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (style, text) in &self.spans {
            write!(f, "{style}{}{style:#}", escaped_line(text))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_written_and_control_characters_escaped() {
        let untrusted = "a\u{1b}[8mb\u{9b}2J\n";
        let line = StyledLine::from(untrusted).and_styled(Style::new().bold(), untrusted);
        let shown = "a\\u001b[8mb\\u009b2J\\u000a";
        assert_eq!(line.to_string(), format!("{shown}\u{1b}[1m{shown}\u{1b}[0m"));
    }

    #[test]
    fn only_space_without_a_style_is_trimmed() {
        let line = || StyledLine::from("a ").and_styled(Style::new().bold(), " b ");
        assert_eq!(line().and("  ").and(" ").trimmed(), line());
        assert_eq!(StyledLine::from(" a  ").trimmed(), StyledLine::from(" a"));
        assert_eq!(StyledLine::from("  ").trimmed(), StyledLine::default());
    }
}
