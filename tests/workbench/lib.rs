//! Players, boards and rooms in virtual time, for the tests and for long measurements.
//!
//! `cargo run -p kiebitz-workbench -- --help`; for measurements, `cargo run --release -p kiebitz-workbench -- …`.
//! tests/library runs the tests in these modules.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::enum_variant_names,
    reason = "a tool for contributors, which may end as it likes"
)]
#![allow(
    dead_code,
    unused_imports,
    reason = "the tests in these modules use the rest of what they have"
)]

pub mod bus;
pub mod captures;
pub mod gaps;
pub mod hands;
pub mod messages;
pub mod room;
pub mod soak;
pub mod tool;
