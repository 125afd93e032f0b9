#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| seinpaal_fuzz::run("embedded_file", bytes));
