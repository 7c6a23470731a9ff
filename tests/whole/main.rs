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
mod bundle;
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
#[cfg(target_os = "linux")]
mod frozen;
mod games;
mod halls;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(target_os = "linux")]
mod hub;
mod late;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod livechess;
#[cfg(unix)]
mod long_games;
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

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The program, linked under the name `kiebitz`, by which it recognises its other processes. Cargo builds it under
/// another name for these tests: see Cargo.toml.
fn program() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("program");
        fs::create_dir_all(&folder).expect("a folder");
        // Each test may run in a process of its own, so replace the link atomically.
        let link = folder.join("kiebitz");
        let new = folder.join(std::process::id().to_string());
        let _ = fs::remove_file(&new);
        fs::hard_link(env!("CARGO_BIN_EXE_kiebitz-tested"), &new).expect("a link to the program");
        fs::rename(&new, &link).expect("the program under its name");
        // `rename` leaves the source in place if both names are links to the same file.
        let _ = fs::remove_file(&new);
        link
    });
    &PROGRAM
}

/// Whether to run the long tests, as before a release: `tests/run full`.
fn is_full() -> bool {
    std::env::var_os("TESTS_FULL").is_some()
}
