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
#[cfg(unix)]
mod bus;
#[cfg(unix)]
mod captures;
mod cli;
#[cfg(unix)]
mod clocks;
mod commands;
#[cfg(feature = "demo-broker")]
mod demo_broker;
mod desk;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(unix)]
mod emulate;
#[cfg(unix)]
mod encrypted;
#[cfg(unix)]
mod ends;
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
mod fuzzed;
mod games;
mod halls;
mod hands;
#[cfg(target_os = "linux")]
mod hub;
mod late;
mod licences;
#[cfg(target_os = "linux")]
mod livechess;
mod messages;
mod mosquitto;
mod mqtt;
mod mqtt_world;
#[cfg(unix)]
mod noise;
#[cfg(unix)]
mod npm;
mod outage;
mod readers;
mod report;
#[cfg(unix)]
mod restart;
#[cfg(unix)]
mod results;
#[cfg(unix)]
mod rivals;
#[cfg(unix)]
mod room;
mod schema;
#[cfg(target_os = "linux")]
mod shown;
#[cfg(unix)]
mod soak;
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
