//! Special functions, distributions, samplers and summaries of samples.
//!
//! Everything here is scalar `f64` mathematics: no learner, no data table, no error type. A result
//! that does not exist is `None` where the type allows it and `NaN` where a function is documented
//! to return it; nothing panics.

mod beta_family;
mod discrete;
pub mod distribution;
mod expansion;
mod gamma_family;
mod incomplete_beta;
mod incomplete_gamma;
mod normal;
mod root;
pub mod sample;
pub mod special;
pub mod summary;

#[cfg(test)]
mod tests;
