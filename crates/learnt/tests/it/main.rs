//! Tests of the library as a whole: common checks over the registry, golden numbers, model files.

mod checks;
mod golden_least_squares;
