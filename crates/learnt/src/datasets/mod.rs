//! Bundled data sets and generators.
