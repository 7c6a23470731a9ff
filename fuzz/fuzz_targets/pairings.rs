#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kiebitz_fuzz::pairings::run(data));
