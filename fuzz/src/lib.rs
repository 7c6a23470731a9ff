//! What is fuzzed. Each module has a `run` that panics where something is wrong with what came of the bytes; a target in
//! `fuzz_targets` hands it the fuzzer's, a test of the project the seeds in `fuzz/seeds`.

pub mod bus;
pub mod bus_line;
pub mod capture;
pub mod commands;
pub mod configuration;
pub mod decoder;
pub mod driver;
pub mod eeprom;
pub mod line;
pub mod session;
