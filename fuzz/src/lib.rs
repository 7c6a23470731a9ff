//! Fuzz tests. Each module has a function `run`, which panics if its input violates a property. A target in
//! `fuzz_targets` calls it with the fuzzer's bytes; `tests/library/fuzzed.rs` calls it with the seeds in `fuzz/seeds`.

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
