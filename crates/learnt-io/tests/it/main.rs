//! Tests of readers and writers as a whole: formats, faults and damaged files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod faults;
mod formats;
mod fuzz;
mod rules;
