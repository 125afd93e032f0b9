#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| seinpaal::fuzzing::run("embedded_queue_rows", bytes));
