//! What people start by hand beside the daemon: a look at the boards, a recording, a rehearsal, a demonstration.

#[cfg(target_os = "linux")]
pub mod boards;
#[cfg(feature = "demo-broker")]
pub mod broker;
pub mod demo;
#[cfg(unix)]
pub mod emulate;
#[cfg(target_os = "linux")]
pub mod record;
