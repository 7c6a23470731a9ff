//! Reads, writes and deletes files of an opened target.

use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Attribute, Attributes, Error, ObjectStore, ObjectStoreExt, PutOptions};

use super::files::{CACHE_CONTROL, PublishedFile};
use super::server::FileServer;
use super::settings::Target;
use super::storage_failure::StorageFailure;

/// An opened target. Clones share its connections.
#[derive(Debug, Clone)]
pub(super) struct OpenedTarget {
    target: Target,
    access: Access,
    /// Maximum time for one operation.
    patience: Duration,
}

#[derive(Debug, Clone)]
pub(super) enum Access {
    /// A folder, a bucket or a WebDAV server.
    Objects(Arc<dyn ObjectStore>),
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

    /// Logs in to a server that has connections. The others are first contacted by an operation.
    pub(super) async fn connect(&self) -> Result<(), StorageFailure> {
        match &self.access {
            Access::Objects(_) => Ok(()),
            Access::Server(server) => self.timed(server.connect()).await,
        }
    }

    /// Replaces a file.
    pub(super) async fn put(&self, path: &str, content: Bytes) -> Result<(), StorageFailure> {
        match &self.access {
            Access::Objects(store) => {
                let (to, options) = (Path::from(path), self.options(path));
                let put = store.put_opts(&to, content.into(), options);
                self.explained(put).await.map(drop)
            }
            Access::Server(server) => self.timed(server.put(path, &content)).await,
        }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Bytes, StorageFailure> {
        match &self.access {
            Access::Objects(store) => {
                let from = Path::from(path);
                self.explained(async { store.get(&from).await?.bytes().await })
                    .await
            }
            Access::Server(server) => self.timed(server.get(path)).await.map(Bytes::from),
        }
    }

    /// Deletes a file if it exists.
    pub(super) async fn delete(&self, path: &str) -> Result<(), StorageFailure> {
        match &self.access {
            Access::Objects(store) => {
                let from = Path::from(path);
                let deleted = async {
                    match store.delete(&from).await {
                        Err(Error::NotFound { .. }) => Ok(()),
                        deleted => deleted,
                    }
                };
                self.explained(deleted).await
            }
            Access::Server(server) => self.timed(server.delete(path)).await,
        }
    }

    /// The paths of the files in a folder.
    pub(super) async fn list(&self, folder: Option<&str>) -> Result<BTreeSet<String>, StorageFailure> {
        match &self.access {
            Access::Objects(store) => {
                let prefix = folder.map(Path::from);
                let listed = self.explained(store.list_with_delimiter(prefix.as_ref())).await?;
                Ok(listed
                    .objects
                    .into_iter()
                    .map(|file| file.location.into())
                    .collect())
            }
            Access::Server(server) => {
                let listed = self.timed(server.list(folder.unwrap_or_default())).await?;
                let path = |name: String| match folder {
                    Some(folder) => format!("{folder}/{name}"),
                    None => name,
                };
                Ok(listed.into_iter().map(path).collect())
            }
        }
    }

    pub(super) async fn has(&self, path: &str) -> Result<bool, StorageFailure> {
        match &self.access {
            Access::Objects(store) => {
                let path = Path::from(path);
                let found = async {
                    match store.head(&path).await {
                        Err(Error::NotFound { .. }) => Ok(false),
                        found => found.map(|_| true),
                    }
                };
                self.explained(found).await
            }
            Access::Server(server) => self.timed(server.has(path)).await,
        }
    }

    async fn explained<T>(
        &self,
        operation: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, StorageFailure> {
        let explained = async {
            operation
                .await
                .map_err(|error| StorageFailure::of(&error, &self.target))
        };
        self.timed(explained).await
    }

    async fn timed<T>(
        &self,
        operation: impl Future<Output = Result<T, StorageFailure>>,
    ) -> Result<T, StorageFailure> {
        let done = tokio::time::timeout(self.patience, operation).await;
        done.unwrap_or(Err(StorageFailure::NoAnswer))
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
}
