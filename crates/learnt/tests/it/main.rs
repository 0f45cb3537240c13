//! Tests of the library as a whole: common checks over the registry, golden numbers, model files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod checks;
mod ensembles;
mod golden;
mod golden_case;
mod golden_centres;
mod golden_cluster;
mod golden_data;
mod golden_discriminant;
mod golden_generalized;
mod golden_least_squares;
mod golden_logistic;
mod golden_metrics;
mod golden_naive_bayes;
mod golden_neighbors;
mod golden_online;
mod golden_optimize;
mod golden_penalized;
mod golden_select;
mod golden_sparse_logistic;
mod golden_subset;
mod kept_models;
