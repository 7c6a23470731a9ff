//! The workbench: measures at length what the tests sample, shows one case in detail, and writes expected files anew.
//!
//! `cargo test --test workbench -- --help`; for measurements, `cargo test --release --test workbench -- …`. It shares
//! its modules with the tests but is no test: `cargo test` alone neither builds nor runs it.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::enum_variant_names,
    reason = "a tool for contributors, which may end as it likes"
)]

// Their tests use the rest of what these modules have.
#[cfg(unix)]
#[allow(dead_code, unused_imports)]
mod bus;
#[cfg(unix)]
#[allow(dead_code, unused_imports)]
mod captures;
#[cfg(unix)]
#[allow(dead_code)]
mod eventually;
#[cfg(unix)]
#[allow(dead_code, unused_imports)]
mod expected;
#[cfg(unix)]
#[allow(dead_code, unused_imports)]
mod hands;
#[cfg(unix)]
mod messages;
#[cfg(unix)]
#[allow(dead_code, unused_imports)]
mod mosquitto;
#[cfg(unix)]
#[allow(dead_code, unused_imports)]
mod mqtt_world;
#[cfg(unix)]
#[allow(dead_code, unused_imports)]
mod soak;
#[cfg(unix)]
mod tool;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    tool::main()
}

#[cfg(not(unix))]
fn main() {
    eprintln!("The workbench needs pseudo-terminals, and so a Unix.");
}
