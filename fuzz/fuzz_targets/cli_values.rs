#![no_main]

#[path = "../../crates/cli/src/args/time.rs"]
mod time;
#[allow(dead_code)]
#[path = "../../crates/cli/src/args/values.rs"]
mod values;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(value) = std::str::from_utf8(bytes) else { return };
    let refusals = [
        values::also(value).err(),
        values::ticket(value).err(),
        values::above_zero(value).err(),
        values::ttl(value).err(),
        values::label(value).err(),
        values::text(value).err(),
        values::time(value).err(),
    ];
    for refusal in refusals.into_iter().flatten() {
        assert!(!refusal.contains(char::is_control), "{refusal:?}");
    }
});
