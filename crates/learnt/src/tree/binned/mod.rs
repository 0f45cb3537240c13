//! Trees over tables in bins: fast growth for ensembles of many deep trees.

mod grower;
mod measure;
mod search;
mod table;

pub(crate) use grower::{Item, grow_binned};
pub(crate) use measure::{
    ClassEntropy, ClassGini, ClassMeasure, ClassPoint, Counts, Measure, Poisson, RealPoint,
    SquaredError,
};
pub(crate) use table::{
    BinnedTable, Kind, MISSING, counted, kind_of_counts, kind_of_values, level_counts,
    sampled_count, sampled_rows,
};
