//! What servers say, or do not say, in words for a log.

/// So much of an answer is shown, in characters.
const SHOWN: usize = 200;

/// What a server says goes into a log: on one line, and not for pages.
pub(in crate::outputs) fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(SHOWN).collect()
}

/// Why there is no answer. The innermost reason is the one that says something.
pub(in crate::outputs) fn silence(error: &reqwest::Error) -> String {
    let mut reason: &dyn core::error::Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    let words = if error.is_timeout() {
        "timed out".to_owned()
    } else {
        reason.to_string()
    };
    format!("no answer: {words}")
}
