//! Keeps the files of a target up to date: a folder, a bucket, or a server.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::Path as FilePath;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use object_store::aws::AmazonS3Builder;
use object_store::http::HttpBuilder;
use object_store::local::LocalFileSystem;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, RetryConfig};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::MissedTickBehavior;

use super::files::{Files, PublishedFile};
use super::limited::LimitedConnector;
use super::opened::{Access, Listing, OpenedTarget};
use super::server::FileServer;
use super::settings::{Publish, Target};
use super::storage_failure::StorageFailure;
use super::task::Snapshot;
use super::webdav::{self, WebDav};
use crate::outputs::shared::reports::Reports;
use crate::system_time::wall_time;

/// A target, and the files that it is known to have.
#[derive(Debug)]
pub(in crate::outputs) struct TargetFiles {
    target: Target,
    settings: Publish,
    /// The files that this run of the program has written to the target, except those found missing. `None` if the
    /// content is unknown, because a write was begun but not confirmed: the target may have the old content or the new.
    written: BTreeMap<Arc<str>, Option<WrittenContent>>,
    /// Makes the digests of the contents. Its keys are random, so that nobody can prepare two contents with one digest.
    digests: RandomState,
    /// Files written again because the target listed them with another size. If the size still differs, the target
    /// converts files when it stores them, and they are not written a third time.
    resized: BTreeSet<Arc<str>>,
    /// The reason why the last check could not list the files.
    unlisted: Option<StorageFailure>,
    /// Number of checks so far.
    checks: usize,
    /// The attempt to open the target, if it has not ended yet.
    opening: Option<JoinHandle<Result<OpenedTarget>>>,
    /// Maximum time to open the target, and for one operation.
    patience: Duration,
}

/// Identifies the content of a file without keeping it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WrittenContent {
    bytes: u64,
    digest: u64,
}

/// First and longest pause after failures. The pause doubles with each failure.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Maximum time to open a target, or to write or delete a file.
const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum number of concurrent writes to a bucket. Each write takes a while, and a hundred games have two hundred
/// files.
const MAX_BUCKET_WRITES: usize = 16;
/// The file written by [`try_out`]. Its content is its name.
const TRIAL: &str = "kiebitz-test.txt";
/// Interval between two checks that the target still has its files.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);
/// Maximum number of files that a check asks for by themselves, because the server has not listed them. The next check
/// continues with other files. Updates wait for a check, and each file takes one request.
const MAX_SINGLE_CHECKS: usize = 40;
/// Pause between two updates of a bucket or server, which may charge for each file.
const SERVER_PAUSE: Duration = Duration::from_secs(1);

impl TargetFiles {
    pub(in crate::outputs) fn new(target: Target, settings: Publish) -> Self {
        Self {
            target,
            settings,
            written: BTreeMap::new(),
            digests: RandomState::new(),
            resized: BTreeSet::new(),
            unlisted: None,
            checks: 0,
            opening: None,
            patience: PATIENCE,
        }
    }

    /// Writes every change to the target, until the sender of `files` is dropped.
    pub(in crate::outputs) async fn follow(mut self, mut files: Snapshot, reports: Reports) {
        let name = self.target.to_string();
        reports.expect(&name);
        let (mut store, mut pause) = (None, FIRST_PAUSE);
        let mut checks = tokio::time::interval(CHECK_INTERVAL);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let current = Arc::clone(&files.borrow_and_update());
            match self.sync(&mut store, &current).await {
                Ok(count) => {
                    pause = FIRST_PAUSE;
                    self.report(&reports, &name, count);
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
            tokio::select! {
                changed = files.changed() => if changed.is_err() { return },
                _ = checks.tick() => if let Some(store) = &store { self.forget_missing(store).await },
            }
            if !matches!(self.target, Target::Folder(_)) {
                tokio::time::sleep(SERVER_PAUSE).await;
            }
        }
    }

    /// Reports that all files are written, `count` of them just now.
    fn report(&self, reports: &Reports, name: &str, count: usize) {
        let problem = self.unlisted.as_ref().map(StorageFailure::to_string);
        let had_failed = match count {
            1.. if problem.is_none() => reports.done(name, wall_time(), format!("{count} files written")),
            _ => false,
        };
        let is_new = reports.problems(name, problem.clone().into_iter().collect());
        match problem {
            Some(problem) if is_new => tracing::warn!("cannot check the files of {name}: {problem}"),
            None if is_new || had_failed => tracing::info!("{name} accepts files again"),
            _ => {}
        }
    }

    /// Writes changed files and deletes files that no longer exist. Returns the number of files written or deleted.
    async fn sync(&mut self, store: &mut Option<OpenedTarget>, files: &Files) -> Result<usize> {
        let store = match store {
            Some(store) => store,
            None => {
                let opened = self.open().await?;
                opened.connect().await?;
                // The previous failure may have been caused by the loss of the files.
                self.forget_missing(&opened).await;
                store.insert(opened)
            }
        };
        let due = files
            .iter()
            .filter(|(path, file)| self.written.get(*path) != Some(&Some(self.content_of(file))))
            .map(|(path, file)| (Arc::clone(path), file.clone()));
        // The list of a round refers to its games, so the games are written first.
        let (lists, games): (Vec<_>, Vec<_>) = due.partition(|(path, _)| is_list(path));
        let mut count = self.put_all(store, games).await?;
        count += self.put_all(store, lists).await?;
        let obsolete: Vec<Arc<str>> = self
            .written
            .keys()
            .filter(|path| !files.contains_key(*path))
            .cloned()
            .collect();
        for path in obsolete {
            self.written.insert(Arc::clone(&path), None);
            store
                .delete(&path)
                .await
                .with_context(|| format!("cannot delete {path}"))?;
            self.written.remove(&path);
            count += 1;
        }
        Ok(count)
    }

    /// Writes files in any order. Returns their number.
    async fn put_all(&mut self, store: &OpenedTarget, due: Vec<(Arc<str>, PublishedFile)>) -> Result<usize> {
        let max_writes = match self.target {
            Target::Bucket { .. } => MAX_BUCKET_WRITES,
            Target::Folder(_) | Target::WebDav(_) | Target::Server(_) => 1,
        };
        let (mut count, mut due, mut failed) = (0, due.into_iter(), None);
        let mut running = JoinSet::new();
        loop {
            while failed.is_none()
                && running.len() < max_writes
                && let Some((path, file)) = due.next()
            {
                self.written.insert(Arc::clone(&path), None);
                let written = self.content_of(&file);
                let put = put(store.clone(), path, file);
                running.spawn(async move { anyhow::Ok((put.await?, written)) });
            }
            match running.join_next().await {
                None => break,
                Some(Ok(Ok((path, written)))) => {
                    self.written.insert(path, Some(written));
                    count += 1;
                }
                // Other writes in progress may still succeed, and must be recorded.
                Some(Ok(Err(error))) => failed = failed.or(Some(error)),
                Some(Err(error)) => failed = failed.or(Some(error.into())),
            }
        }
        failed.map_or(Ok(count), Err)
    }

    fn content_of(&self, file: &PublishedFile) -> WrittenContent {
        WrittenContent {
            bytes: file.content.len() as u64,
            digest: self.digests.hash_one(&*file.content),
        }
    }

    /// Forgets files that the target has lost, and those that it has with another size, so that they are written again.
    async fn forget_missing(&mut self, store: &OpenedTarget) {
        let folder_of = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        let folders: BTreeSet<Option<String>> = self.written.keys().map(|path| folder_of(path)).collect();
        let (mut lost, mut changed) = (0, 0);
        self.unlisted = None;
        self.checks = self.checks.wrapping_add(1);
        let max_single = (MAX_SINGLE_CHECKS / folders.len().max(1)).max(1);
        for folder in folders {
            let listed = store.list(folder.as_deref()).await;
            match &listed {
                Err(StorageFailure::NoAnswer) => break,
                Err(error @ StorageFailure::ListTooLong) => {
                    self.unlisted = Some(error.clone());
                    break;
                }
                _ => {}
            }
            // The key may lack permission to list files, or the server may not support it.
            let listed = listed.unwrap_or_default();
            changed += self.forget_resized(&listed);
            let known = self.written.iter().filter(|(path, file)| {
                file.is_some() && folder_of(path) == folder && !listed.contains_key(&***path)
            });
            let unlisted: Vec<Arc<str>> = known.map(|(path, _)| Arc::clone(path)).collect();
            let mut gone = Vec::new();
            let mut is_any_left = false;
            for path in in_turn(&unlisted, self.checks, max_single) {
                match store.list_file(&path).await {
                    Ok(found) if found.is_empty() => gone.push(path),
                    // Some servers list files under other names than those used for writing.
                    Ok(found) => {
                        is_any_left = true;
                        changed += self.forget_resized(&found);
                    }
                    Err(_) => break,
                }
            }
            if !gone.is_empty() && !is_any_left {
                gone = unlisted;
            }
            lost += gone.len();
            self.written.retain(|path, _| !gone.contains(path));
        }
        if changed > 0 {
            tracing::warn!(
                "{}: {changed} files have another size; writing them again",
                self.target
            );
        }
        if lost > 0 {
            tracing::warn!("{}: {lost} files are missing; writing them again", self.target);
        }
    }

    /// Forgets the listed files that have another size than was written. Returns their number.
    fn forget_resized(&mut self, listed: &Listing) -> usize {
        let mut changed = 0;
        for (path, size) in listed {
            let Some(file) = self.written.get_mut(&**path) else {
                continue;
            };
            let Some(known) = file else { continue };
            if size.is_none_or(|size| size == known.bytes) {
                self.resized.remove(&**path);
            } else if self.resized.insert(path.as_str().into()) {
                *file = None;
                changed += 1;
            }
        }
        changed
    }

    /// Opens the target on a thread for blocking work, since a disk or network share may never answer. While an attempt
    /// is waiting, no other one is started, because it may block its thread forever.
    async fn open(&mut self) -> Result<OpenedTarget> {
        let Self {
            target,
            settings,
            opening,
            patience,
            ..
        } = self;
        let pending = opening.get_or_insert_with(|| {
            let (target, settings, patience) = (target.clone(), settings.clone(), *patience);
            tokio::task::spawn_blocking(move || open(&target, &settings, patience))
        });
        let Ok(opened) = tokio::time::timeout(*patience, pending).await else {
            return Err(StorageFailure::Hangs.into());
        };
        *opening = None;
        opened.context("interrupted")?
    }
}

/// Opens a target. Reads its login, and waits for the disk. `patience` is the maximum time for one operation.
pub(super) fn open(target: &Target, settings: &Publish, patience: Duration) -> Result<OpenedTarget> {
    let retry = RetryConfig {
        max_retries: 1,
        retry_timeout: PATIENCE / 2,
        ..RetryConfig::default()
    };
    let options = ClientOptions::new().with_timeout(PATIENCE).with_allow_http(true);
    let access = match target {
        Target::Folder(folder) => {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
            Access::Objects(Arc::new(
                LocalFileSystem::new_with_prefix(folder)?.with_automatic_cleanup(false),
            ))
        }
        Target::Bucket { name, folder } => {
            let mut builder = AmazonS3Builder::from_env()
                .with_bucket_name(name)
                .with_client_options(options)
                .with_http_connector(LimitedConnector)
                .with_retry(retry);
            if let Some(endpoint) = &settings.s3_endpoint {
                builder = builder.with_endpoint(endpoint);
            }
            if let Some(region) = &settings.s3_region {
                builder = builder.with_region(region);
            }
            if let Some(file) = &settings.s3_key_file {
                let (key, secret) = two_lines(file)?;
                builder = builder.with_access_key_id(key).with_secret_access_key(secret);
            }
            Access::Objects(Arc::new(PrefixStore::new(builder.build()?, &**folder)))
        }
        Target::WebDav(url) => {
            let headers = webdav::headers(settings)?;
            let requests = WebDav::new(url, headers.clone(), PATIENCE / 2)?;
            let options = options.with_default_headers(headers);
            let builder = HttpBuilder::new()
                .with_url(url)
                .with_client_options(options)
                .with_http_connector(LimitedConnector);
            Access::WebDav(Arc::new(builder.with_retry(retry).build()?), requests)
        }
        Target::Server(folder) => Access::Server(Arc::new(FileServer::new(folder.clone(), settings)?)),
    };
    Ok(OpenedTarget::new(target.clone(), access, patience))
}

/// Tests a target: writes, reads and deletes a small file. Fails at the first step that does not work.
pub(in crate::outputs) async fn try_out(target: Target, settings: Publish) -> Result<()> {
    let mut target_files = TargetFiles::new(target, settings);
    target_files.patience = PATIENCE / 2;
    let store = target_files.open().await?;
    store.connect().await?;
    store
        .put(TRIAL, TRIAL.into())
        .await
        .with_context(|| format!("cannot write {TRIAL}"))?;
    let read = store.get(TRIAL).await;
    // Delete the file even if reading failed.
    let deleted = store.delete(TRIAL).await;
    if read.with_context(|| format!("cannot read back {TRIAL}"))? != TRIAL {
        bail!("{TRIAL} has another content when read back");
    }
    deleted.with_context(|| format!("cannot delete {TRIAL}"))
}

/// Returns up to `max` files. Every file has its turn in consecutive checks.
fn in_turn(files: &[Arc<str>], check: usize, max: usize) -> Vec<Arc<str>> {
    let first = check
        .wrapping_mul(max)
        .checked_rem(files.len())
        .unwrap_or_default();
    files
        .iter()
        .cycle()
        .skip(first)
        .take(max.min(files.len()))
        .cloned()
        .collect()
}

/// Writes a file. Returns its path.
async fn put(store: OpenedTarget, path: Arc<str>, file: PublishedFile) -> Result<Arc<str>> {
    let put = store.put(&path, file.content).await;
    put.with_context(|| format!("cannot write {path}"))?;
    Ok(path)
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
        (user, secret) => Ok((user.to_owned(), secret.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;
    use crate::outputs::broadcast::webdav::tests::{FOLDER, Server};

    fn to_folder(folder: &FilePath) -> TargetFiles {
        let settings = Publish::serving(([127, 0, 0, 1], 1).into());
        TargetFiles::new(Target::Folder(folder.to_owned()), settings)
    }

    fn files(paths: &[&str]) -> Files {
        let file = |path: &&str| (Arc::from(*path), PublishedFile::new(path.as_bytes()));
        paths.iter().map(file).collect()
    }

    #[tokio::test]
    async fn files_that_a_target_has_lost_are_written_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().join("live");
        let all = files(&[
            "tournament.json",
            "round-1/games.pgn",
            "round-1/index.json",
            "round-2/games.pgn",
        ]);
        let (mut target, mut store) = (to_folder(&root), None);
        assert_eq!(target.sync(&mut store, &all).await.expect("written"), 4);
        let opened = store.clone().expect("a store");
        target.forget_missing(&opened).await;
        assert_eq!(target.sync(&mut store, &all).await.expect("nothing to do"), 0);
        fs::remove_dir_all(root.join("round-1")).expect("files");
        target.forget_missing(&opened).await;
        assert_eq!(
            target.sync(&mut store, &all).await.expect("written"),
            2,
            "one folder is lost"
        );
        fs::remove_file(root.join("tournament.json")).expect("a file");
        target.forget_missing(&opened).await;
        assert_eq!(
            target.sync(&mut store, &all).await.expect("written"),
            1,
            "one file is lost"
        );
        fs::remove_dir_all(&root).expect("files");
        // Open the target again without an earlier check, as after a failure.
        store = None;
        assert_eq!(
            target.sync(&mut store, &all).await.expect("written"),
            4,
            "everything is lost"
        );
        assert!(all.keys().all(|path| root.join(&**path).is_file()));
    }

    /// A target on a new WebDAV server, to which all files have been written.
    async fn on_webdav(server: &Arc<Server>, all: &Files) -> (TargetFiles, Option<OpenedTarget>) {
        let settings = Publish::serving(([127, 0, 0, 1], 1).into());
        let (mut target, mut store) = (TargetFiles::new(server.start().await, settings), None);
        let written = target.sync(&mut store, all).await.expect("written");
        assert_eq!(written, all.len());
        (target, store)
    }

    #[tokio::test]
    async fn a_webdav_server_gets_single_files_again() {
        let behind_a_proxy = Server {
            listed_in: Some("/backend"),
            ..Server::default()
        };
        let without_listings = Server {
            refusals: [("PROPFIND", StatusCode::METHOD_NOT_ALLOWED)].into(),
            ..Server::default()
        };
        let all = files(&[
            "index.html",
            "tournament.json",
            "wall.json",
            "round-1/game-1.pgn",
            "round-1/games.pgn",
        ]);
        for server in [Server::default(), behind_a_proxy, without_listings] {
            let server = Arc::new(server);
            let (mut target, mut store) = on_webdav(&server, &all).await;
            let opened = store.clone().expect("a store");
            target.forget_missing(&opened).await;
            assert_eq!(target.sync(&mut store, &all).await.expect("nothing to do"), 0);
            let whole = server.files.lock().expect("no panic").clone();
            {
                let mut files = server.files.lock().expect("no panic");
                let deleted = files.remove(&format!("{FOLDER}/tournament.json"));
                deleted.expect("a file");
                let truncated = files.insert(format!("{FOLDER}/round-1/games.pgn"), "round".into());
                truncated.expect("a file");
            }
            target.forget_missing(&opened).await;
            let written = target.sync(&mut store, &all).await.expect("written");
            assert_eq!(written, 2, "{server:?}");
            assert_eq!(*server.files.lock().expect("no panic"), whole);
        }
    }

    #[tokio::test]
    async fn a_server_without_listings_is_asked_for_some_files_at_a_time() {
        let server = Arc::new(Server {
            refusals: [("PROPFIND", StatusCode::METHOD_NOT_ALLOWED)].into(),
            ..Server::default()
        });
        let paths: Vec<String> = (0..100).map(|table| format!("game-{table:02}.pgn")).collect();
        let all = files(&paths.iter().map(String::as_str).collect::<Vec<_>>());
        let (mut target, mut store) = on_webdav(&server, &all).await;
        let opened = store.clone().expect("a store");
        for lost in ["game-00.pgn", "game-50.pgn", "game-99.pgn"] {
            let deleted = server
                .files
                .lock()
                .expect("no panic")
                .remove(&format!("{FOLDER}/{lost}"));
            deleted.expect("a file");
            let mut checks = 0;
            loop {
                server.requests.lock().expect("no panic").clear();
                target.forget_missing(&opened).await;
                let requests = server.requests.lock().expect("no panic").len();
                assert_eq!(requests, 1 + MAX_SINGLE_CHECKS, "one attempt to list the files");
                checks += 1;
                if target.sync(&mut store, &all).await.expect("written") == 1 {
                    break;
                }
                assert!(checks < 3, "every file is checked within three checks");
            }
        }
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime")
    }

    /// Writes files on a disk that hangs until kiebitz has given up, and then stores them.
    fn interrupted(target: &mut TargetFiles, root: &FilePath, all: &Files) {
        let (runtime, release) = with_hung_disk();
        let folder = LocalFileSystem::new_with_prefix(root).expect("a folder");
        let access = Access::Objects(Arc::new(folder));
        let hasty = OpenedTarget::new(target.target.clone(), access, Duration::from_millis(20));
        let error = runtime
            .block_on(target.sync(&mut Some(hasty), all))
            .expect_err("the disk hangs");
        assert!(format!("{error:#}").contains("no answer"), "{error:#}");
        drop(release);
        for (path, file) in all {
            while fs::read(root.join(&**path)).unwrap_or_default() != *file.content {
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn a_file_whose_write_was_interrupted_is_always_written_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().join("live");
        let content =
            |text: &str| Files::from([(Arc::from("wall.json"), PublishedFile::new(text.as_bytes()))]);
        let mut target = to_folder(&root);
        let old = content("old");
        let first = runtime().block_on(target.sync(&mut None, &old));
        assert_eq!(first.expect("written"), 1);
        interrupted(&mut target, &root, &content("new"));
        runtime().block_on(target.sync(&mut None, &old)).expect("written");
        assert_eq!(fs::read(root.join("wall.json")).expect("a file"), b"old");
    }

    #[test]
    fn an_obsolete_file_whose_write_was_interrupted_is_deleted() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().to_owned();
        let mut target = to_folder(&root);
        interrupted(&mut target, &root, &files(&["games.pgn"]));
        let deleted = runtime().block_on(target.sync(&mut None, &Files::new()));
        assert_eq!(deleted.expect("deleted"), 1);
        assert!(!root.join("games.pgn").exists());
    }

    #[tokio::test]
    async fn a_file_with_another_content_of_the_same_size_is_written_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let (mut target, mut store) = (to_folder(directory.path()), None);
        for (content, count) in [("1-0", 1), ("0-1", 1), ("0-1", 0)] {
            let all = Files::from([(Arc::from("games.pgn"), PublishedFile::new(content))]);
            assert_eq!(target.sync(&mut store, &all).await.expect("written"), count);
            let written = fs::read(directory.path().join("games.pgn")).expect("a file");
            assert_eq!(written, content.as_bytes());
        }
    }

    #[tokio::test]
    async fn a_file_with_another_size_is_written_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let (mut target, mut store) = (to_folder(directory.path()), None);
        let all = files(&["round-1/games.pgn", "round-1/index.json"]);
        target.sync(&mut store, &all).await.expect("written");
        let opened = store.clone().expect("a store");
        let file = directory.path().join("round-1/games.pgn");
        for truncated in ["", "longer than the content of the file"] {
            fs::write(&file, truncated).expect("room");
            target.forget_missing(&opened).await;
            assert_eq!(target.sync(&mut store, &all).await.expect("written"), 1);
            target.forget_missing(&opened).await;
            assert_eq!(target.sync(&mut store, &all).await.expect("nothing to do"), 0);
        }
        assert_eq!(fs::read(&file).expect("a file"), b"round-1/games.pgn");
    }

    #[tokio::test]
    async fn a_target_without_files_reports_that_it_works_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().join("live");
        fs::write(&root, "a file in place of the folder").expect("room");
        let (files, receiver) = tokio::sync::watch::channel(Arc::new(Files::new()));
        let reports = Reports::default();
        let following = tokio::spawn(to_folder(&root).follow(receiver, reports.clone()));
        let until = async |ok: bool| {
            while reports.all().values().all(|report| report.ok != ok) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        until(false).await;
        fs::remove_file(&root).expect("the file");
        until(true).await;
        assert!(reports.all().values().all(|report| report.problems.is_empty()));
        drop(files);
        following.await.expect("no panic");
    }

    /// A runtime whose only thread for blocking work waits until the sender is dropped, as on a disk that hangs.
    fn with_hung_disk() -> (tokio::runtime::Runtime, std::sync::mpsc::Sender<()>) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(1)
            .build()
            .expect("a runtime");
        let (release, held) = std::sync::mpsc::channel::<()>();
        runtime.spawn_blocking(move || held.recv());
        (runtime, release)
    }

    #[test]
    fn a_disk_that_hangs_does_not_hold_up_the_program() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().join("live");
        let (runtime, release) = with_hung_disk();
        let (mut target, mut store) = (to_folder(&root), None);
        target.patience = Duration::from_millis(20);
        let all = files(&["wall.json"]);
        for _ in 0..2 {
            let error = runtime
                .block_on(target.sync(&mut store, &all))
                .expect_err("the disk hangs");
            assert!(error.to_string().contains("does not answer"), "{error:#}");
            assert!(
                !root.exists(),
                "the folder is opened on the thread of the program"
            );
        }
        drop(release);
        target.patience = PATIENCE;
        let written = runtime.block_on(target.sync(&mut store, &all));
        assert_eq!(written.expect("written"), 1);
    }

    #[test]
    fn a_login_on_a_disk_that_hangs_does_not_hold_up_the_program() {
        let directory = tempfile::tempdir().expect("a directory");
        let login = directory.path().join("login");
        fs::write(&login, "club").expect("room");
        for address in [
            "ftp://127.0.0.1:9/a",
            "sftp://127.0.0.1:9/a",
            "http://127.0.0.1:9/a",
        ] {
            let (runtime, release) = with_hung_disk();
            let mut settings = Publish::serving(([127, 0, 0, 1], 1).into());
            settings.ftp_login_file = Some(login.clone());
            settings.sftp_login_file = Some(login.clone());
            settings.webdav_login_file = Some(login.clone());
            let mut target = TargetFiles::new(address.parse().expect("a target"), settings);
            target.patience = Duration::from_millis(20);
            let mut sync = || runtime.block_on(target.sync(&mut None, &files(&["wall.json"])));
            let error = sync().expect_err("the disk hangs");
            assert!(
                error.to_string().contains("does not answer"),
                "{address}: {error:#}"
            );
            drop(release);
            // The file lacks the line of the password, which is noticed only when it is read.
            let error = loop {
                match sync().expect_err("half a login") {
                    error if error.to_string().contains("does not answer") => {}
                    error => break error,
                }
            };
            assert!(error.to_string().contains("two lines"), "{address}: {error:#}");
        }
    }
}
