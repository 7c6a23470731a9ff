//! Reads, writes and deletes files of an opened target.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Attribute, Attributes, Error, ObjectMeta, ObjectStore, ObjectStoreExt, PutOptions};

use super::files::{CACHE_CONTROL, PublishedFile};
use super::server::{FileServer, partial_path};
use super::settings::Target;
use super::storage_failure::StorageFailure;
use super::webdav::WebDav;

/// An opened target. Clones share its connections.
#[derive(Debug, Clone)]
pub(super) struct OpenedTarget {
    target: Target,
    access: Access,
    /// Maximum time for one operation.
    patience: Duration,
}

/// Maximum size of a file to read, in bytes. Only the small file of a trial is read, and a faulty server may never stop
/// sending.
pub(super) const MAX_READ: usize = 64 << 10;
/// Maximum number of files in the listing of a folder on a server. A large event has a few thousand.
pub(super) const MAX_LISTED: usize = 20_000;
/// Maximum size of such a listing in bytes.
pub(super) const MAX_LISTED_BYTES: usize = 4 << 20;

/// Files by path or name, with their sizes in bytes; `None` if the server does not report sizes.
pub(super) type Listing = BTreeMap<String, Option<u64>>;

#[derive(Debug, Clone)]
pub(super) enum Access {
    /// A folder or a bucket.
    Objects(Arc<dyn ObjectStore>),
    /// A WebDAV server, with the requests that object_store lacks.
    WebDav(Arc<dyn ObjectStore>, WebDav),
    /// An FTP or SFTP server.
    Server(Arc<FileServer>),
}

impl OpenedTarget {
    pub(super) const fn new(target: Target, access: Access, patience: Duration) -> Self {
        Self {
            target,
            access,
            patience,
        }
    }

    /// Logs in to an FTP or SFTP server, or creates the folder of a WebDAV server. Other targets need no preparation.
    pub(super) async fn connect(&self) -> Result<(), StorageFailure> {
        match &self.access {
            Access::Objects(_) => Ok(()),
            Access::WebDav(_, requests) => {
                requests.make_folders().await;
                Ok(())
            }
            Access::Server(server) => self.with_timeout(server.connect()).await,
        }
    }

    pub(super) async fn put(&self, path: &str, content: Bytes) -> Result<(), StorageFailure> {
        match &self.access {
            Access::Objects(store) => self.put_object(store, path, content).await,
            Access::WebDav(store, requests) => {
                if requests.can_rename() {
                    // Upload to another path first, so that readers never see half of a file.
                    let part = partial_path(path);
                    self.put_object(store, &part, content.clone()).await?;
                    if self
                        .with_timeout(requests.rename(&part, path, &self.target))
                        .await?
                    {
                        return Ok(());
                    }
                    self.delete(&part).await?;
                }
                self.put_object(store, path, content).await
            }
            Access::Server(server) => self.with_timeout(server.put(path, &content)).await,
        }
    }

    async fn put_object(
        &self,
        store: &Arc<dyn ObjectStore>,
        path: &str,
        content: Bytes,
    ) -> Result<(), StorageFailure> {
        let (to, options) = (Path::from(path), self.options(path));
        let put = store.put_opts(&to, content.into(), options);
        self.with_reason(put).await.map(drop)
    }

    pub(super) async fn get(&self, path: &str) -> Result<Bytes, StorageFailure> {
        match &self.access {
            Access::Objects(store) | Access::WebDav(store, _) => {
                let from = Path::from(path);
                let found = self.with_reason(store.get(&from)).await?;
                // object_store reads no more than the size that the server has announced.
                if found.meta.size > MAX_READ as u64 {
                    return Err(StorageFailure::TooLong);
                }
                self.with_reason(found.bytes()).await
            }
            Access::Server(server) => self.with_timeout(server.get(path)).await.map(Bytes::from),
        }
    }

    /// Deletes a file if it exists.
    pub(super) async fn delete(&self, path: &str) -> Result<(), StorageFailure> {
        match &self.access {
            Access::Objects(store) | Access::WebDav(store, _) => {
                let from = Path::from(path);
                let deleted = async {
                    match store.delete(&from).await {
                        Err(Error::NotFound { .. }) => Ok(()),
                        deleted => deleted,
                    }
                };
                self.with_reason(deleted).await
            }
            Access::Server(server) => self.with_timeout(server.delete(path)).await,
        }
    }

    /// Lists the files in a folder; `None` is the target's root.
    pub(super) async fn list(&self, folder: Option<&str>) -> Result<Listing, StorageFailure> {
        let names: Listing = match &self.access {
            Access::Objects(store) | Access::WebDav(store, _) => {
                let prefix = folder.map(Path::from);
                let listed = self
                    .with_reason(store.list_with_delimiter(prefix.as_ref()))
                    .await?;
                let is_remote = !matches!(self.target, Target::Folder(_));
                if is_remote && listed.objects.len() > MAX_LISTED {
                    return Err(StorageFailure::ListTooLong);
                }
                // A WebDAV server lists complete paths. They begin with the path of the URL, or with another one if the
                // server is behind a proxy. Only the names are the same everywhere.
                let name_and_size = |file: ObjectMeta| {
                    let name = file.location.filename()?.to_owned();
                    Some((name, Some(file.size)))
                };
                listed.objects.into_iter().filter_map(name_and_size).collect()
            }
            Access::Server(server) => self.with_timeout(server.list(folder.unwrap_or_default())).await?,
        };
        let path = |name: String| match folder {
            Some(folder) => format!("{folder}/{name}"),
            None => name,
        };
        Ok(names.into_iter().map(|(name, size)| (path(name), size)).collect())
    }

    /// Lists a single file, without its folder. The listing is empty if the file does not exist.
    pub(super) async fn list_file(&self, path: &str) -> Result<Listing, StorageFailure> {
        let found = match &self.access {
            Access::Objects(store) | Access::WebDav(store, _) => {
                let location = Path::from(path);
                let size = async {
                    match store.head(&location).await {
                        Err(Error::NotFound { .. }) => Ok(None),
                        found => found.map(|file| Some(Some(file.size))),
                    }
                };
                self.with_reason(size).await?
            }
            Access::Server(server) => {
                let exists = self.with_timeout(server.has(path)).await?;
                exists.then_some(None)
            }
        };
        Ok(found.map(|size| (path.to_owned(), size)).into_iter().collect())
    }

    async fn with_reason<T>(
        &self,
        operation: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, StorageFailure> {
        let explained = async {
            operation
                .await
                .map_err(|error| StorageFailure::of(&error, &self.target))
        };
        self.with_timeout(explained).await
    }

    async fn with_timeout<T>(
        &self,
        operation: impl Future<Output = Result<T, StorageFailure>>,
    ) -> Result<T, StorageFailure> {
        let done = tokio::time::timeout(self.patience, operation).await;
        done.unwrap_or(Err(StorageFailure::NoAnswer))
    }

    /// Returns the headers that a bucket is to send with the file at `path`.
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
}
