//! Requests to WebDAV servers that object_store does not make (RFC 4918).

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io;
use std::sync::Arc;

use anyhow::Result;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, Method, StatusCode, Url};

use super::settings::{Publish, Target};
use super::storage_failure::StorageFailure;
use super::store::two_lines;

/// A folder on a WebDAV server.
#[derive(Debug, Clone)]
pub(super) struct WebDav {
    client: Client,
    url: Url,
    /// Whether the server has refused a request to rename a file as unsupported.
    lacks_rename: Arc<AtomicBool>,
}

impl WebDav {
    /// Prepares requests to the folder at `url`, which all have these headers. `patience` is the maximum time for one
    /// request.
    pub(super) fn new(url: &str, headers: HeaderMap, patience: Duration) -> Result<Self> {
        let client = Client::builder()
            .timeout(patience)
            .default_headers(headers)
            .build()?;
        Ok(Self {
            client,
            url: Url::parse(url)?,
            lacks_rename: Arc::default(),
        })
    }

    /// Whether to try [`rename`](Self::rename).
    pub(super) fn can_rename(&self) -> bool {
        !self.lacks_rename.load(Ordering::Relaxed)
    }

    /// Renames a file, replacing any file that has the new name. Returns false if the server does not support this;
    /// [`can_rename`](Self::can_rename) is then false as well.
    pub(super) async fn rename(&self, from: &str, to: &str, target: &Target) -> Result<bool, StorageFailure> {
        let method = Method::from_bytes(b"MOVE").map_err(|error| StorageFailure::Other(error.to_string()))?;
        let request = self
            .client
            .request(method, self.file(from))
            .header("Destination", self.file(to).as_str())
            .header("Overwrite", "T");
        let response = request.send().await;
        let status = match response {
            Ok(response) => response.status(),
            Err(error) if error.is_timeout() => return Err(StorageFailure::NoAnswer),
            Err(error) => return Err(StorageFailure::Lost(error.without_url().to_string())),
        };
        match status {
            status if status.is_success() => Ok(true),
            // A server behind a proxy may mistake the destination for another server, and answer 502.
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED | StatusCode::BAD_GATEWAY => {
                self.lacks_rename.store(true, Ordering::Relaxed);
                Ok(false)
            }
            status => Err(StorageFailure::of_answer(&status.to_string(), target)),
        }
    }

    fn file(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        let folder = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{folder}/{path}"));
        url
    }

    /// Creates the folder if it does not exist. Failures are reported by the next write, because a server may accept
    /// files without this request.
    pub(super) async fn make_folders(&self) {
        if let Err(error) = self.try_make_folders().await {
            tracing::debug!("cannot create {}: {error:#}", self.url);
        }
    }

    async fn try_make_folders(&self) -> Result<()> {
        let mut without_parent = Vec::new();
        for folder in folders(&self.url) {
            match self.make_folder(&folder).await? {
                StatusCode::CONFLICT | StatusCode::NOT_FOUND => without_parent.push(folder),
                _ => break,
            }
        }
        for folder in without_parent.iter().rev() {
            self.make_folder(folder).await?;
        }
        Ok(())
    }

    async fn make_folder(&self, folder: &Url) -> Result<StatusCode> {
        let method = Method::from_bytes(b"MKCOL")?;
        let response = self.client.request(method, folder.clone()).send().await?;
        if response.status() == StatusCode::CREATED {
            tracing::info!("created the folder {folder}");
        }
        Ok(response.status())
    }
}

/// Reads the headers of every request to a WebDAV server from the login file, if there is one.
pub(super) fn headers(settings: &Publish) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    if let Some(file) = &settings.webdav_login_file {
        headers.insert(AUTHORIZATION, basic(&two_lines(file)?)?);
    }
    Ok(headers)
}

/// Returns the URLs of a folder and of the folders above it, the deepest first. Each ends with a slash, which some
/// servers require.
fn folders(url: &Url) -> Vec<Url> {
    let path: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
    let folders = (1..=path.len()).rev().map(|depth| {
        let mut folder = url.clone();
        let above = path.get(..depth).unwrap_or_default();
        folder.set_path(&format!("/{}/", above.join("/")));
        folder
    });
    folders.collect()
}

/// Builds the header for HTTP Basic authentication (RFC 7617).
fn basic((user, password): &(String, String)) -> Result<HeaderValue> {
    let request = Client::new()
        .get("http://localhost/")
        .basic_auth(user, Some(password))
        .build()?;
    let header = request.headers().get(AUTHORIZATION).cloned();
    header.ok_or_else(|| io::Error::other("the login contains characters that cannot be sent").into())
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Write;
    use std::sync::Mutex;

    use axum::Router;
    use axum::body::Bytes;
    use axum::extract::State;
    use axum::http::{HeaderMap as Headers, Method as Verb, StatusCode as Code, Uri};
    use axum::response::{IntoResponse, Response};
    use tokio::net::TcpListener;

    use super::*;
    use crate::outputs::broadcast::store::open;

    /// A WebDAV server with its files by path, and a log of its requests.
    #[derive(Debug, Default)]
    pub(in super::super) struct Server {
        pub(in super::super) files: Mutex<BTreeMap<String, Bytes>>,
        pub(in super::super) requests: Mutex<Vec<String>>,
        /// Answers to methods that the server does not support.
        pub(in super::super) refusals: BTreeMap<&'static str, Code>,
        /// The folder in which the server lists its files, if a proxy shows them in another one.
        pub(in super::super) listed_in: Option<&'static str>,
    }

    /// The folder of the target.
    pub(in super::super) const FOLDER: &str = "/my%20chess";

    impl Server {
        /// Starts the server. Returns the target with its folder.
        pub(in super::super) async fn start(self: &Arc<Self>) -> Target {
            // reqwest needs a TLS provider even for plain HTTP. This call fails if one is installed already.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            let router = Router::new().fallback(answer).with_state(Arc::clone(self));
            tokio::spawn(async move { axum::serve(listener, router).await });
            format!("http://{address}{FOLDER}").parse().expect("a target")
        }

        fn answer(&self, verb: &str, path: &str, headers: &Headers, content: Bytes) -> Response {
            let mut files = self.files.lock().expect("no panic");
            if let Some(refusal) = self.refusals.get(verb) {
                return refusal.into_response();
            }
            match verb {
                "PUT" => {
                    files.insert(path.to_owned(), content);
                    Code::CREATED.into_response()
                }
                "MOVE" => {
                    assert_eq!(headers["overwrite"], "T");
                    let to = Url::parse(headers["destination"].to_str().expect("text")).expect("a URL");
                    let moved = files.remove(path).expect("a file");
                    files.insert(to.path().to_owned(), moved);
                    Code::NO_CONTENT.into_response()
                }
                "DELETE" if files.remove(path).is_some() => Code::NO_CONTENT.into_response(),
                "HEAD" if let Some(content) = files.get(path) => content.clone().into_response(),
                "PROPFIND" => {
                    let listed_in = self.listed_in.unwrap_or(FOLDER);
                    (Code::MULTI_STATUS, listing(&files, path, listed_in)).into_response()
                }
                _ => Code::NOT_FOUND.into_response(),
            }
        }
    }

    async fn answer(
        State(server): State<Arc<Server>>,
        verb: Verb,
        uri: Uri,
        headers: Headers,
        content: Bytes,
    ) -> Response {
        let path = uri.path();
        let request = format!("{verb} {path}");
        server.requests.lock().expect("no panic").push(request);
        server.answer(verb.as_str(), path, &headers, content)
    }

    /// The answer to PROPFIND with depth 1.
    fn listing(files: &BTreeMap<String, Bytes>, folder: &str, listed_in: &str) -> String {
        let mut xml = "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\">".to_owned();
        let mut add = |path: &str, kind: &str, size: usize| {
            let href = path.replacen(FOLDER, listed_in, 1);
            let _ = write!(
                xml,
                "<D:response><D:href>{href}</D:href><D:propstat><D:prop><D:resourcetype>{kind}</D:resourcetype>\
                 <D:getcontentlength>{size}</D:getcontentlength>\
                 <D:getlastmodified>Sat, 21 Nov 2026 13:00:00 GMT</D:getlastmodified></D:prop>\
                 <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
            );
        };
        let folder = format!("{}/", folder.trim_end_matches('/'));
        add(&folder, "<D:collection/>", 0);
        for (path, content) in files {
            match path.strip_prefix(&folder) {
                Some(name) if !name.contains('/') => add(path, "", content.len()),
                _ => {}
            }
        }
        xml + "</D:multistatus>"
    }

    /// Uploads a file twice to a new server, and returns the server.
    async fn put_twice(refusal: Option<Code>) -> Arc<Server> {
        let server = Arc::new(Server {
            refusals: refusal.into_iter().map(|refusal| ("MOVE", refusal)).collect(),
            ..Server::default()
        });
        let target = server.start().await;
        let settings = Publish::serving(([127, 0, 0, 1], 1).into());
        let opened = open(&target, &settings, Duration::from_secs(300)).expect("opened");
        for content in ["old", "new"] {
            opened
                .put("round-1/games.pgn", content.into())
                .await
                .expect("stored");
        }
        let expected = ("/my%20chess/round-1/games.pgn".to_owned(), Bytes::from("new"));
        assert_eq!(
            *server.files.lock().expect("no panic"),
            BTreeMap::from([expected])
        );
        server
    }

    #[tokio::test]
    async fn a_file_is_uploaded_under_another_name_and_moved() {
        let server = put_twice(None).await;
        let requests = server.requests.lock().expect("no panic");
        assert!(
            requests.iter().all(
                |request| request.ends_with("PUT /my%20chess/round-1/games.pgn.part")
                    || request.starts_with("MOVE ")
            ),
            "{requests:?}"
        );
    }

    #[tokio::test]
    async fn a_server_that_does_not_move_files_gets_them_directly() {
        for refusal in [Code::METHOD_NOT_ALLOWED, Code::NOT_IMPLEMENTED, Code::BAD_GATEWAY] {
            let server = put_twice(Some(refusal)).await;
            let requests = server.requests.lock().expect("no panic");
            let moves = requests.iter().filter(|request| request.starts_with("MOVE "));
            assert_eq!(moves.count(), 1, "it is not asked again: {requests:?}");
        }
    }

    #[test]
    fn folders_of_a_url_begin_with_the_deepest() {
        let read = |url: &str| folders(&Url::parse(url).expect("a URL"));
        let folders = read("https://dav.example:8443/remote.php/my%20chess");
        let folders: Vec<&str> = folders.iter().map(Url::as_str).collect();
        assert_eq!(
            folders,
            [
                "https://dav.example:8443/remote.php/my%20chess/",
                "https://dav.example:8443/remote.php/"
            ]
        );
        assert!(read("https://dav.example").is_empty());
    }
}
