//! Subcommands other than the daemon: `boards`, `record`, `emulate` and `demo`.

#[cfg(target_os = "linux")]
pub mod boards;
#[cfg(feature = "demo-broker")]
pub mod broker;
pub mod demo;
#[cfg(all(unix, feature = "emulator"))]
pub mod emulate;
#[cfg(target_os = "linux")]
pub mod record;
