//! The broadcast: all rounds as [files](projection) for people outside the hall, with a [page](page) that shows them.
//!
//! A task [follows](task) what happens and makes the files. The places that get them, the folders, buckets and servers of
//! `[publish]` here, and Lichess and webhooks in folders of their own, find out themselves what has changed for them: one
//! that was away gets what is now, and holds up nobody.

mod files;
pub(crate) mod page;
pub(in crate::outputs) mod projection;
#[cfg(target_os = "linux")]
pub(in crate::outputs) mod recipient;
mod settings;
#[cfg(target_os = "linux")]
pub(in crate::outputs) mod store;
#[cfg(target_os = "linux")]
mod stream;
#[cfg(target_os = "linux")]
pub(in crate::outputs) mod task;
#[cfg(target_os = "linux")]
pub(in crate::outputs) mod web;

pub(crate) use files::{Files, PublishedFile};
pub(crate) use projection::{Broadcast, EventFacts};
pub use settings::{Publish, Target};
