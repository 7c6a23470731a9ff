//! Formats the answers of servers for the log.

/// Limit for the logged part of an answer, in characters.
const MAX_LOGGED: usize = 200;

/// Shortens a server's answer for the log: one line, at most [`MAX_LOGGED`] characters, without control characters.
pub(in crate::outputs) fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars()
        .filter(|c| !c.is_control())
        .take(MAX_LOGGED)
        .collect()
}

/// Describes why a request got no answer: the innermost cause, as the outer ones only state that the request failed.
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
