//! Tests of the library, which need nothing but it: games played in virtual time, captures, the contract.

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

/// The tests in the workbench's modules are among these, and theirs alone use the rest.
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

/// The folder of the project.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
