//! Scores and losses.
