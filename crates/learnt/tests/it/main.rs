//! Tests of the public interface, one file a subject.

mod golden_least_squares;
