//! Gives the bytes of the fuzzer to the target of the same name.

#![no_main]

#[path = "../targets/litmus.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    target::litmus(bytes);
});
