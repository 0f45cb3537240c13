//! Splits, cross-validation and comparison.
