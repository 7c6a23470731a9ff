//! Subcommands beside the daemon: list boards, record, rehearse, demonstrate.

#[cfg(target_os = "linux")]
pub mod boards;
#[cfg(feature = "demo-broker")]
pub mod broker;
pub mod demo;
#[cfg(all(unix, feature = "emulator"))]
pub mod emulate;
#[cfg(target_os = "linux")]
pub mod record;
