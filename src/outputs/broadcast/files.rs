//! The files of a broadcast, with their media types and caching rules.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

/// The Cache-Control header of every file.
///
/// The content of every path may change: a result may be corrected days after its round, and the page changes with the
/// program. Therefore browsers revalidate each time. Shared caches may keep a file for three seconds, which saves the
/// server most requests of viewers that poll every second or two.
pub(crate) const CACHE_CONTROL: &str = "public, max-age=0, must-revalidate, s-maxage=3";

/// All files by path, such as "round-1/games.pgn".
pub(crate) type Files = BTreeMap<Arc<str>, PublishedFile>;

/// Minimum size of a file that is compressed, in bytes. A smaller one fits into one packet with its headers.
const MIN_COMPRESSED: usize = 1000;

#[derive(Debug, Clone)]
pub(crate) struct PublishedFile {
    /// May be a part of another file, whose memory it then keeps.
    pub(crate) content: Bytes,
    /// The content in gzip, once a client has asked for it. The inner value is `None` if gzip does not make it smaller,
    /// the outer one for a file that is never compressed.
    compressed: Option<Arc<OnceLock<Option<Bytes>>>>,
}

impl PartialEq for PublishedFile {
    fn eq(&self, other: &Self) -> bool {
        self.content == other.content
    }
}

impl Eq for PublishedFile {}

impl PublishedFile {
    pub(crate) fn new(content: impl Into<Vec<u8>>) -> Self {
        // As a boxed slice, so that the file keeps no spare capacity.
        Self::of(content.into().into_boxed_slice().into())
    }

    /// Creates a file without copying its content.
    pub(crate) fn of(content: Bytes) -> Self {
        let is_large = content.len() >= MIN_COMPRESSED;
        Self {
            compressed: is_large.then(Arc::default),
            content,
        }
    }

    /// Builds the response with the content, compressed if the client accepts gzip. Compression takes a hundred times
    /// longer than the rest of a response, so it happens once per file and not per request.
    pub(crate) fn response(&self, path: &str, request: &HeaderMap) -> Response {
        let compressed = accepts_gzip(request).then(|| self.compressed()).flatten();
        let is_compressed = compressed.is_some();
        let content = compressed.unwrap_or_else(|| self.content.clone());
        let mut response = content.into_response();
        let headers = response.headers_mut();
        let media_type = HeaderValue::from_static(Self::media_type(path));
        headers.insert(header::CONTENT_TYPE, media_type);
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if is_compressed {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }

    /// Returns the content in gzip; `None` if the file is small, or gzip does not make it smaller.
    fn compressed(&self) -> Option<Bytes> {
        let compressed = self.compressed.as_ref()?.get_or_init(|| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&self.content).ok()?;
            let compressed = encoder.finish().ok()?;
            (compressed.len() < self.content.len()).then(|| compressed.into())
        });
        compressed.clone()
    }

    pub(crate) fn media_type(path: &str) -> &'static str {
        match path.rsplit_once('.') {
            Some((_, "json")) => "application/json",
            Some((_, "pgn")) => "application/vnd.chess-pgn; charset=utf-8",
            Some((_, "html")) => "text/html; charset=utf-8",
            Some((_, "png")) => "image/png",
            Some((_, "svg")) => "image/svg+xml",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            _ => "application/octet-stream",
        }
    }
}

/// Whether the client accepts answers in gzip.
fn accepts_gzip(request: &HeaderMap) -> bool {
    let values = request.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, "q=1"));
        let weight = weight.trim().strip_prefix("q=");
        let is_refused = weight
            .and_then(|weight| weight.parse::<f32>().ok())
            .is_none_or(|weight| weight <= 0.0);
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    fn request(accepted: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(accepted))])
    }

    #[test]
    fn gzip_is_used_only_if_the_client_accepts_it() {
        for (accepted, expected) in [
            ("gzip", true),
            ("gzip, deflate, br, zstd", true),
            ("br;q=1.0, GZIP;q=0.8, *;q=0.1", true),
            ("gzip;q=0", false),
            ("gzip;q=0.0", false),
            ("gzip;x", false),
            ("identity", false),
            ("", false),
        ] {
            assert_eq!(accepts_gzip(&request(accepted)), expected, "{accepted:?}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }

    #[test]
    fn a_file_is_compressed_once_for_all_requests_and_snapshots() {
        let text = "a line of text\n".repeat(100);
        let file = PublishedFile::new(text.clone());
        let first = file.compressed().expect("it is smaller");
        let again = file.clone().compressed().expect("it is smaller");
        assert_eq!(first.as_ptr(), again.as_ptr(), "the same memory");
        let mut decoded = String::new();
        GzDecoder::new(&*first)
            .read_to_string(&mut decoded)
            .expect("gzip");
        assert_eq!(decoded, text);
        let encoding = |accepted| {
            let response = file.response("a.js", &request(accepted));
            response.headers().get(header::CONTENT_ENCODING).cloned()
        };
        assert_eq!(encoding("gzip"), Some(HeaderValue::from_static("gzip")));
        assert_eq!(encoding("br"), None);
        let small = PublishedFile::new("x".repeat(MIN_COMPRESSED - 1));
        assert_eq!(small.compressed(), None, "it fits into one packet");
        let mut noise = 1_u32;
        let noise = core::iter::repeat_with(|| {
            noise ^= noise << 13;
            noise ^= noise >> 17;
            noise ^= noise << 5;
            noise.to_le_bytes()[0]
        });
        let noise: Vec<u8> = noise.take(MIN_COMPRESSED).collect();
        assert_eq!(
            PublishedFile::new(noise).compressed(),
            None,
            "gzip makes it longer"
        );
    }
}
