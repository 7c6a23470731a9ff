//! Publishes to a WebDAV server whose folder does not exist at first and is deleted later.
//!
//! The server is strict like nginx: it creates no folder on its own, and the address of a folder ends with a slash.

use std::fmt::Write;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;

use super::lichess::Lichess;
use super::{Hall, until};

/// Starts a server for the files below a folder. While `is_full` is true, it stores nothing.
pub(super) async fn serve(root: PathBuf, is_full: Arc<AtomicBool>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let router = Router::new().fallback(answer).with_state((root, is_full));
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

async fn answer(
    State((root, is_full)): State<(PathBuf, Arc<AtomicBool>)>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    content: Bytes,
) -> Response {
    // Base64 of "club:open-sesame".
    if headers
        .get("authorization")
        .is_none_or(|login| login != "Basic Y2x1YjpvcGVuLXNlc2FtZQ==")
    {
        let page = "<html><head><title>401 Authorization Required</title></head></html>";
        return (StatusCode::UNAUTHORIZED, page).into_response();
    }
    let path = root.join(uri.path().trim_matches('/'));
    let has_parent = path.parent().is_some_and(Path::is_dir);
    match method.as_str() {
        "MKCOL" | "PUT" if is_full.load(Ordering::Relaxed) => {
            StatusCode::INSUFFICIENT_STORAGE.into_response()
        }
        "MKCOL" if path.exists() => StatusCode::METHOD_NOT_ALLOWED.into_response(),
        "MKCOL" | "PUT" if !has_parent => {
            let error = "<?xml version=\"1.0\"?><d:error xmlns:d=\"DAV:\"><d:exception/></d:error>";
            (StatusCode::CONFLICT, error).into_response()
        }
        "MKCOL" => {
            fs::create_dir(path).expect("a folder");
            StatusCode::CREATED.into_response()
        }
        "PUT" => {
            fs::write(path, content).expect("a file");
            StatusCode::CREATED.into_response()
        }
        "MOVE" if path.is_file() => {
            let to = headers["destination"].to_str().expect("text");
            let to: Uri = to.parse().expect("a URL");
            fs::rename(path, root.join(to.path().trim_matches('/'))).expect("a file");
            StatusCode::NO_CONTENT.into_response()
        }
        "PROPFIND" if path.is_dir() => (StatusCode::MULTI_STATUS, listing(uri.path(), &path)).into_response(),
        "HEAD" if path.is_file() => {
            let modified = ("last-modified", "Sat, 21 Nov 2026 13:00:00 GMT");
            ([modified], fs::read(path).expect("a file")).into_response()
        }
        "DELETE" if path.is_file() => {
            fs::remove_file(path).expect("a file");
            StatusCode::NO_CONTENT.into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The answer to PROPFIND with depth 1.
fn listing(href: &str, folder: &Path) -> String {
    let mut xml = "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\">".to_owned();
    let mut add = |href: &str, kind: &str, size: u64| {
        let _ = write!(
            xml,
            "<D:response><D:href>{href}</D:href><D:propstat><D:prop><D:resourcetype>{kind}</D:resourcetype>\
             <D:getcontentlength>{size}</D:getcontentlength>\
             <D:getlastmodified>Sat, 21 Nov 2026 13:00:00 GMT</D:getlastmodified></D:prop>\
             <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
        );
    };
    let href = href.trim_end_matches('/');
    add(&format!("{href}/"), "<D:collection/>", 0);
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        let data = entry.metadata().expect("metadata");
        if data.is_dir() {
            add(&format!("{href}/{name}/"), "<D:collection/>", 0);
        } else {
            add(&format!("{href}/{name}"), "", data.len());
        }
    }
    xml + "</D:multistatus>"
}

#[tokio::test]
async fn a_webdav_folder_is_created_and_filled_again_after_a_loss() {
    let lichess = Lichess::start([]).await;
    let hall = Hall::open(1, &lichess, "");
    let root = hall.path().join("dav");
    fs::create_dir(&root).expect("a folder");
    let address = serve(root.clone(), Arc::default()).await;
    let config = fs::read_to_string(hall.path().join("kiebitz.toml")).expect("a configuration");
    let login_file = hall.path().join("login");
    let to =
        format!("[publish]\nwebdav_login_file = {login_file:?}\nto = [\"http://{address}/chess/2026\", ");
    let config = config
        .replace("[publish]\nto = ", &to)
        .replace("/live\"\n", "/live\"]\n");
    fs::write(hall.path().join("kiebitz.toml"), config).expect("a configuration");
    fs::write(&login_file, "club\nwrong\n").expect("a login");
    fs::write(
        hall.path().join("round.csv"),
        "board,round,white,black\n1,3,Adler,Berg\n",
    )
    .expect("pairings");
    let daemon = hall.daemon();
    until("the wrong login is reported", &hall, async || {
        let sentence =
            "the server rejects the login: correct the file `webdav_login_file` under [publish]; retrying";
        hall.log().contains(sentence)
    })
    .await;
    fs::write(&login_file, "club\nopen-sesame\n").expect("a login");
    let folder = root.join("chess/2026");
    let is_same = |path: &str| {
        let there = fs::read_to_string(folder.join(path)).unwrap_or_default();
        !there.is_empty() && there == hall.on_disk(path)
    };
    let is_whole = async || is_same("tournament.json") && is_same("round-3/games.pgn");
    until("the files in the new folder", &hall, is_whole).await;
    fs::remove_dir_all(folder.join("round-3")).expect("a folder");
    until("the lost round", &hall, is_whole).await;
    fs::remove_dir_all(root.join("chess")).expect("a folder");
    until("the lost folder", &hall, is_whole).await;
    fs::remove_file(folder.join("tournament.json")).expect("a file");
    fs::write(folder.join("round-3/games.pgn"), "[Event").expect("a file");
    until("the lost and the truncated file", &hall, is_whole).await;
    let log = hall.log();
    assert!(log.contains("files are missing; writing them again"), "{log}");
    assert!(!log.contains("<?xml") && !log.contains("<html"), "{log}");
    daemon.stop();
}
