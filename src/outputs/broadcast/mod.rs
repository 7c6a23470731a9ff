//! The broadcast: publishes all rounds as [files](projection) for people outside the hall, with a [web page](page) to
//! view them.
//!
//! A [task](task) makes the files from events. They are delivered to the folders, buckets and servers of `[publish]`;
//! Lichess and webhooks have modules of their own. Each recipient determines the changes itself, so one that was
//! unreachable gets the current files later and does not delay the others.

mod files;
#[cfg(target_os = "linux")]
mod limited;
#[cfg(target_os = "linux")]
mod opened;
pub(crate) mod page;
mod preview;
pub(in crate::outputs) mod projection;
#[cfg(target_os = "linux")]
pub(in crate::outputs) mod recipient;
#[cfg(target_os = "linux")]
mod server;
mod server_folder;
mod settings;
#[cfg(target_os = "linux")]
mod storage_failure;
#[cfg(target_os = "linux")]
pub(in crate::outputs) mod store;
#[cfg(target_os = "linux")]
mod stream;
#[cfg(target_os = "linux")]
pub(in crate::outputs) mod task;
#[cfg(target_os = "linux")]
pub(in crate::outputs) mod web;
#[cfg(target_os = "linux")]
mod webdav;

pub(crate) use files::{Files, PublishedFile};
pub(crate) use projection::{Broadcast, EventFacts};
pub use server_folder::{Protocol, ServerFolder};
pub use settings::{Fingerprint, Publish, Target};
