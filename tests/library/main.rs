//! Tests of the library that need no other program: games in virtual time, captures, the contract.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::enum_variant_names,
    reason = "a test that cannot go on has failed"
)]

mod ends;
mod fuzzed;
mod licences;
mod noise;
mod restart;
mod schema;
mod structure;

use std::path::Path;

use workbench::{hands, room, soak};

/// Included as a module so that its tests run in this crate. Only the workbench's binary uses the rest of its code.
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "it is a crate of its own"
)]
#[path = "../workbench"]
mod workbench {
    pub mod bus;
    pub mod captures;
    pub mod hands;
    pub mod messages;
    pub mod room;
    pub mod soak;
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
