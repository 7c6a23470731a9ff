//! Writes the files to a target: a folder, a bucket, or a WebDAV server.

use core::time::Duration;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path as FilePath;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use object_store::aws::AmazonS3Builder;
use object_store::http::HttpBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{
    Attribute, Attributes, ClientOptions, ObjectStore, ObjectStoreExt, PutOptions, RetryConfig,
};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use tokio::task::JoinSet;

use super::files::{CACHE_CONTROL, Files, PublishedFile};
use super::settings::{Publish, Target};
use super::task::Snapshot;
use crate::outputs::shared::reports::Reports;
use crate::system_time::wall_time;

/// A target, and the state of the files on it.
#[derive(Debug)]
pub(in crate::outputs) struct TargetFiles {
    target: Target,
    settings: Publish,
    /// The files that this run has written to the target.
    put: BTreeMap<Arc<str>, PublishedFile>,
}

/// Pauses after failures. The first is doubled each time up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Maximum time to write or delete a file.
const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum number of concurrent writes to a bucket, because each takes a while and a hundred games have two hundred
/// files.
const MAX_BUCKET_WRITES: usize = 16;
/// The file written by [`try_out`]. Its content is its name.
const TRIAL: &str = "kiebitz-test.txt";
/// Pause between two updates of a bucket or server, which may charge for each file.
const SERVER_PAUSE: Duration = Duration::from_secs(1);

impl TargetFiles {
    pub(in crate::outputs) const fn new(target: Target, settings: Publish) -> Self {
        Self {
            target,
            settings,
            put: BTreeMap::new(),
        }
    }

    /// Writes every change to the target, until no more changes can come.
    pub(in crate::outputs) async fn follow(mut self, mut files: Snapshot, reports: Reports) {
        let name = self.target.to_string();
        reports.expect(&name);
        let (mut store, mut pause) = (None, FIRST_PAUSE);
        loop {
            let now = Arc::clone(&files.borrow_and_update());
            match self.sync(&mut store, &now).await {
                Ok(0) => {}
                Ok(count) => {
                    pause = FIRST_PAUSE;
                    if reports.done(&name, wall_time(), format!("{count} files written")) {
                        tracing::info!("{name} accepts files again");
                    }
                }
                Err(error) => {
                    let problem = format!("{error:#}");
                    if reports.problems(&name, vec![problem.clone()]) {
                        tracing::warn!("cannot update {name}: {problem}; retrying");
                    }
                    store = None;
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        // At shutdown, give up without another attempt.
                        Err(_) = files.changed() => return,
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    continue;
                }
            }
            if files.changed().await.is_err() {
                return;
            }
            if !matches!(self.target, Target::Folder(_)) {
                tokio::time::sleep(SERVER_PAUSE).await;
            }
        }
    }

    /// Writes changed files and deletes files that no longer exist. Returns the number of both together.
    async fn sync(&mut self, store: &mut Option<Arc<dyn ObjectStore>>, files: &Files) -> Result<usize> {
        let store = match store {
            Some(store) => store,
            None => store.insert(self.open()?),
        };
        let due = files
            .iter()
            .filter(|(path, file)| self.put.get(*path) != Some(file))
            .map(|(path, file)| (Arc::clone(path), file.clone()));
        // The list of a round refers to its games, so the games are written first.
        let (lists, games): (Vec<_>, Vec<_>) = due.partition(|(path, _)| is_list(path));
        let mut count = self.put_all(store, games).await?;
        count += self.put_all(store, lists).await?;
        let gone: Vec<Arc<str>> = self
            .put
            .keys()
            .filter(|path| !files.contains_key(*path))
            .cloned()
            .collect();
        for path in gone {
            let from = Path::from(&*path);
            let deleted = tokio::time::timeout(PATIENCE, store.delete(&from)).await;
            let deleted = deleted.context("no answer")?;
            match deleted {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(error).with_context(|| format!("cannot delete {path}")),
            }
            self.put.remove(&path);
            count += 1;
        }
        Ok(count)
    }

    /// Writes files in any order. Returns their number.
    async fn put_all(
        &mut self,
        store: &Arc<dyn ObjectStore>,
        due: Vec<(Arc<str>, PublishedFile)>,
    ) -> Result<usize> {
        let at_once = match self.target {
            Target::Bucket { .. } => MAX_BUCKET_WRITES,
            Target::Folder(_) | Target::WebDav(_) => 1,
        };
        let (mut count, mut due, mut failed) = (0, due.into_iter(), None);
        let mut running = JoinSet::new();
        loop {
            while failed.is_none()
                && running.len() < at_once
                && let Some((path, file)) = due.next()
            {
                let options = self.options(&path);
                running.spawn(put(Arc::clone(store), path, file, options));
            }
            match running.join_next().await {
                None => break,
                Some(Ok(Ok((path, file)))) => {
                    self.put.insert(path, file);
                    count += 1;
                }
                // Other writes in progress may still succeed, and must be recorded.
                Some(Ok(Err(error))) => failed = failed.or(Some(error)),
                Some(Err(error)) => failed = failed.or(Some(error.into())),
            }
        }
        failed.map_or(Ok(count), Err)
    }

    /// The headers that a bucket returns with the file at `path`.
    fn options(&self, path: &str) -> PutOptions {
        let mut attributes = Attributes::new();
        if matches!(self.target, Target::Bucket { .. }) {
            attributes.insert(Attribute::ContentType, PublishedFile::media_type(path).into());
            attributes.insert(Attribute::CacheControl, CACHE_CONTROL.into());
        }
        PutOptions {
            attributes,
            ..PutOptions::default()
        }
    }

    fn open(&self) -> Result<Arc<dyn ObjectStore>> {
        let retry = RetryConfig {
            max_retries: 1,
            retry_timeout: PATIENCE / 2,
            ..RetryConfig::default()
        };
        let options = ClientOptions::new().with_timeout(PATIENCE).with_allow_http(true);
        Ok(match &self.target {
            Target::Folder(folder) => {
                fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
                Arc::new(LocalFileSystem::new_with_prefix(folder)?.with_automatic_cleanup(false))
            }
            Target::Bucket { name, folder } => {
                let mut builder = AmazonS3Builder::from_env()
                    .with_bucket_name(name)
                    .with_client_options(options)
                    .with_retry(retry);
                if let Some(endpoint) = &self.settings.s3_endpoint {
                    builder = builder.with_endpoint(endpoint);
                }
                if let Some(region) = &self.settings.s3_region {
                    builder = builder.with_region(region);
                }
                if let Some(file) = &self.settings.s3_key_file {
                    let (key, secret) = two_lines(file)?;
                    builder = builder.with_access_key_id(key).with_secret_access_key(secret);
                }
                Arc::new(PrefixStore::new(builder.build()?, &**folder))
            }
            Target::WebDav(url) => {
                let mut headers = HeaderMap::new();
                if let Some(file) = &self.settings.webdav_login_file {
                    headers.insert(AUTHORIZATION, basic(&two_lines(file)?)?);
                }
                let options = options.with_default_headers(headers);
                Arc::new(
                    HttpBuilder::new()
                        .with_url(url)
                        .with_client_options(options)
                        .with_retry(retry)
                        .build()?,
                )
            }
        })
    }
}

/// Tests a target: writes, reads and deletes a small file.
///
/// # Errors
///
/// Fails at the first step that does not work.
pub(in crate::outputs) async fn try_out(target: Target, settings: Publish) -> Result<()> {
    let target_files = TargetFiles::new(target, settings);
    let opened = tokio::task::spawn_blocking(move || target_files.open());
    let store = opened.await.context("interrupted")??;
    let path = Path::from(TRIAL);
    let put = tokio::time::timeout(PATIENCE / 2, store.put(&path, TRIAL.into()));
    put.await
        .context("no answer")?
        .with_context(|| format!("cannot write {TRIAL}"))?;
    let read = async { store.get(&path).await?.bytes().await };
    let read = tokio::time::timeout(PATIENCE / 2, read).await;
    // Delete the file even if reading failed.
    let deleted = tokio::time::timeout(PATIENCE / 2, store.delete(&path)).await;
    let content = read
        .context("no answer")?
        .with_context(|| format!("cannot read back {TRIAL}"))?;
    if content != TRIAL {
        bail!("{TRIAL} has another content when read back");
    }
    deleted
        .context("no answer")?
        .with_context(|| format!("cannot delete {TRIAL}"))
}

async fn put(
    store: Arc<dyn ObjectStore>,
    path: Arc<str>,
    file: PublishedFile,
    options: PutOptions,
) -> Result<(Arc<str>, PublishedFile)> {
    let content = bytes::Bytes::copy_from_slice(&file.content);
    let to = Path::from(&*path);
    let put = tokio::time::timeout(PATIENCE, store.put_opts(&to, content.into(), options));
    put.await
        .context("no answer")?
        .with_context(|| format!("cannot write {path}"))?;
    Ok((path, file))
}

/// Whether a file refers to other files, which must be written first.
fn is_list(path: &str) -> bool {
    ["index.json", "tournament.json", "wall.json"]
        .iter()
        .any(|list| path.ends_with(list))
}

/// Reads a user and a secret from the first two lines of a file.
pub(super) fn two_lines(file: &FilePath) -> Result<(String, String)> {
    let text = crate::text_file::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut lines = text.lines().map(str::trim);
    match (lines.next().unwrap_or_default(), lines.next().unwrap_or_default()) {
        ("", _) | (_, "") => bail!(
            "{} must have two lines: the user or key id, and the secret",
            file.display()
        ),
        (one, other) => Ok((one.to_owned(), other.to_owned())),
    }
}

/// The header for HTTP Basic authentication (RFC 7617).
fn basic((user, password): &(String, String)) -> Result<HeaderValue> {
    let request = reqwest::Client::new()
        .get("http://localhost/")
        .basic_auth(user, Some(password))
        .build()?;
    let header = request.headers().get(AUTHORIZATION).cloned();
    header.ok_or_else(|| io::Error::other("the login contains characters that cannot be sent").into())
}
