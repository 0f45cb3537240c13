//! Tests of the public interface, one file a subject.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod golden_least_squares;
