//! Tests of the library as a whole: common checks over the registry, golden numbers, model files.

mod checks;
