//! Parts that several outputs use.

#[cfg(target_os = "linux")]
pub(super) mod address;
pub(crate) mod advice;
#[cfg(target_os = "linux")]
pub(super) mod answers;
pub(crate) mod board_status;
pub(super) mod delayed;
#[cfg(target_os = "linux")]
pub(super) mod host_header;
#[cfg(target_os = "linux")]
pub(super) mod http;
pub mod notation;
#[cfg(target_os = "linux")]
pub(super) mod notes;
pub(super) mod numbering;
pub(crate) mod proxies;
pub(super) mod record;
pub mod reports;
#[cfg(target_os = "linux")]
pub(super) mod retry;
#[cfg(target_os = "linux")]
pub(super) mod thread;
pub(crate) mod to_hall;
#[cfg(target_os = "linux")]
pub(super) mod trial;
pub(crate) mod wrap;
