#![no_main]

#[path = "../entry.rs"]
mod entry;

// Panics inside the Arrow and Parquet libraries are caught where these are called. One that nobody catches still ends
// the run, without its message.
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| {})),
    |bytes: &[u8]| entry::parquet(bytes)
);
