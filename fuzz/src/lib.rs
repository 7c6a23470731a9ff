//! What is fuzzed. Each module has a `run` that panics where its bytes lead to something wrong; a target in
//! `fuzz_targets` hands it the fuzzer's bytes, a test of the project the seeds in `fuzz/seeds`.

pub mod bus;
pub mod bus_line;
pub mod capture;
pub mod commands;
pub mod configuration;
pub mod decoder;
pub mod driver;
pub mod eeprom;
pub mod line;
pub mod pairings;
pub mod session;
