//! Reads files and says how, and how long it took: `cargo run --release --example read FILE...`

#![allow(clippy::print_stdout)]

use learnt_core::clock::Moment;
use learnt_core::context::Context;
use learnt_io::{ReadOptions, read};

fn main() -> learnt_core::error::Result<()> {
    let digest = std::env::var_os("DIGEST").is_some();
    let options = ReadOptions { digest, ..ReadOptions::default() };
    for path in std::env::args().skip(1) {
        let start = Moment::now();
        let loaded = read(&path, &options, &Context::default())?;
        println!("{path}  {}  {:.3} s", loaded.report, start.elapsed().as_secs_f64());
        for note in &loaded.report.notes {
            println!("  {note}");
        }
    }
    Ok(())
}
