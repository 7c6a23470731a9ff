//! Whole-program tests: real captures, a real broker, a real browser.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::enum_variant_names,
    reason = "a test that cannot go on has failed"
)]

#[cfg(target_os = "linux")]
mod arbiter;
mod backup;
#[cfg(target_os = "linux")]
mod broadcast;
mod cli;
#[cfg(unix)]
mod clocks;
mod commands;
mod demo_broker;
mod desk;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(unix)]
mod emulate;
#[cfg(unix)]
mod encrypted;
mod event;
mod eventually;
mod expected;
mod export;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod first_minutes;
#[cfg(unix)]
mod flags;
mod games;
mod halls;
#[cfg(target_os = "linux")]
mod hub;
mod late;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod livechess;
mod mosquitto;
mod mqtt;
mod mqtt_world;
#[cfg(unix)]
mod npm;
mod outage;
mod readers;
mod replays;
mod report;
#[cfg(unix)]
mod results;
#[cfg(unix)]
mod rivals;
#[cfg(target_os = "linux")]
mod shown;
#[cfg(target_os = "linux")]
mod spectators;
#[cfg(target_os = "linux")]
mod state;
mod status;
#[cfg(unix)]
mod stops;
#[cfg(target_os = "linux")]
mod terminals;
#[cfg(target_os = "linux")]
mod wall;
#[cfg(unix)]
mod watcher;

/// The program. It is built for these tests under a name of its own: see Cargo.toml.
const KIEBITZ: &str = env!("CARGO_BIN_EXE_kiebitz-tested");

/// Whether tests take as long as they do before a release: `tests/run full`.
fn is_full() -> bool {
    std::env::var_os("TESTS_FULL").is_some()
}
