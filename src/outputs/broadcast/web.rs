//! Serves the files of the broadcast over HTTP, read-only.
//!
//! Also answers requests in livechesscloud's format: `/meta/ID` names the host, and the files are also available under
//! `/get/ID/`.

use core::hash::{Hash, Hasher};
use std::collections::hash_map::DefaultHasher;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use maud::{DOCTYPE, html};

use super::files::{CACHE_CONTROL, Files, PublishedFile};
use super::task::Snapshot;
use super::{page, stream};
use crate::limits::{Client, Listener, Places};
use crate::outputs::shared::http::{Peer, WebConnection, accept, listen};
use crate::outputs::shared::proxies::Proxies;

/// Serves the files at this address until the program ends.
pub(in crate::outputs) async fn serve(address: SocketAddr, proxies: Proxies, files: Snapshot) {
    let listener = listen(address, "[publish]").await;
    tracing::info!("serving the broadcast at http://{address}/");
    accept(
        &listener,
        &router(proxies, files, Listener::Broadcast.stream_places()),
        &Places::of(Listener::Broadcast),
    )
    .await;
}

fn router(proxies: Proxies, files: Snapshot, viewers: Places) -> Router {
    let live = stream::follow(files.clone(), viewers);
    Router::new()
        .route("/", get(contents))
        .route("/stream", get(stream::open).with_state(live))
        .route("/meta/{id}", get(meta))
        .route("/get/{id}/{*path}", get(under_id))
        .route("/{*path}", get(file))
        .with_state(files)
        .layer(middleware::from_fn_with_state(proxies, by_client))
}

/// Counts the connection as one of the client that a proxy names.
async fn by_client(
    State(proxies): State<Proxies>,
    Extension(Peer(peer)): Extension<Peer>,
    Extension(connection): Extension<WebConnection>,
    request: Request,
    next: Next,
) -> Response {
    connection.set_client(Client::of_address(proxies.client(peer, request.headers())));
    next.run(request).await
}

async fn meta(Path(id): Path<String>, headers: HeaderMap) -> Response {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    let meta = serde_json::json!({ "id": id, "host": host, "format": "1" });
    with_headers(
        "application/json",
        CACHE_CONTROL,
        meta.to_string().into_response(),
    )
}

async fn under_id(
    State(files): State<Snapshot>,
    Path((_, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    response_for(&files, &path, &headers)
}

async fn file(State(files): State<Snapshot>, Path(path): Path<String>, headers: HeaderMap) -> Response {
    let mut response = response_for(&files, &path, &headers);
    if path == stream::LIST {
        // Only this server announces the stream, so that pages from a folder or bucket do not try to open one.
        response
            .headers_mut()
            .insert(stream::HEADER, HeaderValue::from_static("stream"));
    }
    response
}

fn response_for(files: &Snapshot, path: &str, headers: &HeaderMap) -> Response {
    let file = files.borrow().get(path).cloned();
    let Some(file) = file else {
        // The file may be created at any time, so caches must not keep this answer longer than a file.
        let not_found = (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
        return with_headers("text/plain; charset=utf-8", CACHE_CONTROL, not_found);
    };
    let tag = tag(&file);
    let if_none_match = headers
        .get(header::IF_NONE_MATCH)
        .and_then(|if_none_match| if_none_match.to_str().ok());
    // A proxy that compresses turns ETags into weak ones.
    let is_unchanged = if_none_match.is_some_and(|if_none_match| {
        if_none_match
            .split(',')
            .any(|etag| etag.trim().trim_start_matches("W/") == tag)
    });
    let response = if is_unchanged {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        file.response(path, headers)
    };
    let mut response = with_headers(PublishedFile::media_type(path), CACHE_CONTROL, response);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    if path == page::INDEX {
        for (name, value) in [
            (header::CONTENT_SECURITY_POLICY, page::CONTENT_SECURITY_POLICY),
            (header::REFERRER_POLICY, "no-referrer"),
        ] {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
    }
    response
}

/// Returns the ETag of a file: a hash of its content.
fn tag(file: &PublishedFile) -> String {
    let mut hasher = DefaultHasher::new();
    file.content.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

fn with_headers(media_type: &'static str, cache: &'static str, mut response: Response) -> Response {
    let headers: [(HeaderName, &'static str); 4] = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, cache),
        // Files are public, so pages of other sites may read them.
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in headers {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Answers with the page or, if there is none, with a list of the games.
async fn contents(State(files): State<Snapshot>, headers: HeaderMap) -> Response {
    if files.borrow().contains_key(page::INDEX) {
        return response_for(&files, page::INDEX, &headers);
    }
    let files: Arc<Files> = Arc::clone(&files.borrow());
    let games = files.keys().filter(|path| path.ends_with("games.pgn"));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "kiebitz" }
            }
            body {
                h1 { "Games" }
                ul {
                    @for path in games { li { a href=(path) { (path) } } }
                }
                p { a href="tournament.json" { "tournament.json" } }
            }
        }
    };
    let response = Html(page.into_string()).into_response();
    with_headers("text/html; charset=utf-8", CACHE_CONTROL, response)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::watch;

    use super::*;
    use crate::outputs::broadcast::Publish;

    async fn fetch(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).await.expect("a server");
        let request = format!("{request}\r\nHost: pi.example\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it listens");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect("it answers");
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn serving(files: Files) -> SocketAddr {
        serving_with_sender(files).await.0
    }

    /// Like [`serving`], and returns the sender to change the files.
    async fn serving_with_sender(files: Files) -> (SocketAddr, Arc<watch::Sender<Arc<Files>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (sender, snapshot) = watch::channel(Arc::new(files));
        let sender = Arc::new(sender);
        let kept = Arc::clone(&sender);
        tokio::spawn(async move {
            let _kept = kept;
            accept(
                &listener,
                &router(Proxies::default(), snapshot, Places::new(8)),
                &Places::new(8),
            )
            .await;
        });
        (address, sender)
    }

    /// The content of every path may change, for example when a result is corrected after the round.
    #[tokio::test]
    async fn a_corrected_result_is_served_at_the_address_of_the_wrong_one() {
        let paths = [
            "index.html",
            "page/main.js",
            "tournament.json",
            "wall.json",
            "round-1/index.json",
            "round-1/wall.json",
            "round-1/games.pgn",
            "round-1/game-1.pgn",
            "round-1/game-1.json",
            "round-1/board-1.json",
        ];
        let files = |result: &str| -> Files {
            let files = paths
                .iter()
                .map(|path| ((*path).into(), PublishedFile::new(result)));
            files.collect()
        };
        let (address, sender) = serving_with_sender(files("1-0")).await;
        for path in paths {
            let first = fetch(address, &format!("GET /{path} HTTP/1.1")).await;
            let line = |name: &str| {
                let found = first.lines().find_map(|line| line.strip_prefix(name));
                found.unwrap_or_default().to_owned()
            };
            assert_eq!(line("cache-control: "), CACHE_CONTROL, "{path}");
            assert!(CACHE_CONTROL.contains("max-age=0, must-revalidate"));
            let known = format!("GET /{path} HTTP/1.1\r\nIf-None-Match: {}", line("etag: "));
            assert!(fetch(address, &known).await.starts_with("HTTP/1.1 304"), "{path}");
            sender.send_replace(Arc::new(files("0-1")));
            let corrected = fetch(address, &known).await;
            assert!(
                corrected.starts_with("HTTP/1.1 200") && corrected.ends_with("0-1"),
                "{path}: {corrected}"
            );
            sender.send_replace(Arc::new(files("1-0")));
        }
    }

    #[tokio::test]
    async fn files_are_served_with_etags_and_read_only() {
        let content = "1. e4 e5 *\n".repeat(100);
        let file = PublishedFile::new(content.clone());
        let etag = tag(&file);
        let address = serving(Files::from([("round-1/games.pgn".into(), file)])).await;
        let answer = fetch(address, "GET /round-1/games.pgn?poll HTTP/1.1").await;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with(&content),
            "{answer}"
        );
        for header in [
            "content-type: application/vnd.chess-pgn",
            "cache-control: public, max-age=0, must-revalidate, s-maxage=3",
            "access-control-allow-origin: *",
            &format!("etag: {etag}"),
        ] {
            assert!(answer.contains(header), "{header} in {answer}");
        }
        let known = format!("GET /get/open/round-1/games.pgn HTTP/1.1\r\nIf-None-Match: {etag}");
        assert!(fetch(address, &known).await.starts_with("HTTP/1.1 304"));
        let meta = fetch(address, "GET /meta/open HTTP/1.1").await;
        assert!(
            meta.contains("\"host\":\"pi.example\"") && meta.contains("\"format\":\"1\""),
            "readers compare the format as text: {meta}"
        );
        let zipped = "GET /round-1/games.pgn HTTP/1.1\r\nAccept-Encoding: gzip";
        let zipped = fetch(address, zipped).await;
        assert!(
            zipped.contains("content-encoding: gzip") && zipped.len() < 700,
            "{zipped}"
        );
        for (request, status) in [
            ("GET /round-2/games.pgn HTTP/1.1", "404"),
            ("GET /../../etc/passwd HTTP/1.1", "404"),
            ("PUT /round-1/games.pgn HTTP/1.1", "405"),
            ("GET / HTTP/1.1", "200"),
        ] {
            let answer = fetch(address, request).await;
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status}")),
                "{request}: {answer}"
            );
        }
    }

    /// Open streams do not use up the connections for other requests.
    #[tokio::test]
    async fn a_stream_does_not_count_as_a_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let file = PublishedFile::new("{}");
        let (_sender, snapshot) = watch::channel(Arc::new(Files::from([("wall.json".into(), file)])));
        tokio::spawn(async move {
            accept(
                &listener,
                &router(Proxies::default(), snapshot, Places::new(1)),
                &Places::new(1),
            )
            .await
        });
        let mut stream = TcpStream::connect(address).await.expect("a server");
        let request = b"GET /stream HTTP/1.1\r\nHost: pi.example\r\n\r\n";
        stream.write_all(request).await.expect("it listens");
        let mut answer_start = Vec::new();
        while !answer_start.ends_with(b"\n\n\r\n") {
            answer_start.push(stream.read_u8().await.expect("it answers"));
        }
        let answer_start = String::from_utf8_lossy(&answer_start);
        assert!(
            answer_start.contains("content-type: text/event-stream") && answer_start.contains("event: anew"),
            "{answer_start}"
        );
        let answer = fetch(address, "GET /wall.json HTTP/1.1").await;
        assert!(answer.contains("kiebitz-stream: stream"), "{answer}");
    }

    /// Opens a stream for the client that a proxy on this computer names. Returns it with the start of the answer.
    async fn open_stream(address: SocketAddr, client: &str) -> (TcpStream, String) {
        let mut stream = TcpStream::connect(address).await.expect("a server");
        let request =
            format!("GET /stream HTTP/1.1\r\nHost: pi.example\r\nX-Forwarded-For: {client}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it listens");
        let mut status = vec![0; "HTTP/1.1 200".len()];
        stream.read_exact(&mut status).await.expect("it answers");
        (stream, String::from_utf8_lossy(&status).into_owned())
    }

    #[tokio::test]
    async fn viewers_behind_a_proxy_are_divided_among_clients() {
        for (proxies, of_another) in [("[\"127.0.0.1\"]", "HTTP/1.1 200"), ("[]", "HTTP/1.1 503")] {
            let settings: Publish = toml::from_str(&format!("proxies = {proxies}")).expect("settings");
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            let (_sender, snapshot) = watch::channel(Arc::new(Files::new()));
            let router = router(settings.proxies, snapshot, Places::new(4));
            tokio::spawn(async move { accept(&listener, &router, &Places::new(8)).await });
            let mut viewers = Vec::new();
            for _ in 0..4 {
                let (viewer, status) = open_stream(address, "192.0.2.7").await;
                assert_eq!(status, "HTTP/1.1 200");
                viewers.push(viewer);
            }
            assert_eq!(open_stream(address, "192.0.2.7").await.1, "HTTP/1.1 503");
            assert_eq!(open_stream(address, "192.0.2.8").await.1, of_another, "{proxies}");
        }
    }
}
