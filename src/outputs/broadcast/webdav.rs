//! Requests to WebDAV servers that object_store does not make (RFC 4918).

use core::time::Duration;
use std::io;

use anyhow::Result;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, Method, StatusCode, Url};

use super::settings::Publish;
use super::store::two_lines;

/// A folder on a WebDAV server.
#[derive(Debug, Clone)]
pub(super) struct WebDav {
    client: Client,
    url: Url,
}

impl WebDav {
    /// Prepares requests to the folder at `url`, with the headers of every request. `patience` is the maximum time for
    /// one request.
    pub(super) fn new(url: &str, headers: HeaderMap, patience: Duration) -> Result<Self> {
        let client = Client::builder()
            .timeout(patience)
            .default_headers(headers)
            .build()?;
        Ok(Self {
            client,
            url: Url::parse(url)?,
        })
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
mod tests {
    use super::*;

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
