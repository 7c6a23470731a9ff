//! Reads the answers of servers, and formats them for the log.

use reqwest::Response;

/// Limit for the logged part of an answer, in characters.
const MAX_LOGGED: usize = 200;
/// Limit for an answer that only explains an error, in bytes.
pub(in crate::outputs) const MAX_ERROR: usize = 16 << 10;

/// Shortens a server's answer for the log: one line, at most [`MAX_LOGGED`] characters, without control characters.
pub(in crate::outputs) fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars()
        .filter(|c| !c.is_control())
        .take(MAX_LOGGED)
        .collect()
}

/// Reads the body of an answer, at most `limit` bytes: a faulty server may never stop sending.
pub(in crate::outputs) async fn text_up_to(
    mut answer: Response,
    limit: usize,
) -> Result<String, reqwest::Error> {
    let mut bytes = Vec::new();
    while bytes.len() < limit
        && let Some(chunk) = answer.chunk().await?
    {
        let room = limit - bytes.len();
        bytes.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Describes why a request got no answer. Uses the innermost error, since the outer ones only state that the request
/// failed.
pub(in crate::outputs) fn describe_no_answer(error: &reqwest::Error) -> String {
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

#[cfg(test)]
mod tests {
    use axum::body::{Body, Bytes};
    use axum::routing::get;
    use futures_util::stream;
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn an_endless_answer_is_read_up_to_the_limit() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let endless =
            stream::repeat_with(|| Ok::<_, core::convert::Infallible>(Bytes::from_static(b"more ")));
        let router = axum::Router::new()
            .route("/", get(async || Body::from_stream(endless)))
            .route("/short", get(async || "short"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let endless = reqwest::get(format!("http://{address}/"))
            .await
            .expect("an answer");
        let text = text_up_to(endless, 12).await.expect("text");
        assert_eq!(text, "more more mo");
        let short = reqwest::get(format!("http://{address}/short"))
            .await
            .expect("an answer");
        assert_eq!(text_up_to(short, 12).await.expect("text"), "short");
    }
}
