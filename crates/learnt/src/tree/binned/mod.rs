//! Trees over tables in bins: fast growth for ensembles of many deep trees.

mod cuts;
mod grid;
mod grower;
mod measure;
mod search;
mod sides;
mod table;

pub(crate) use cuts::{BinEnds, SUMMARY_BYTES, ValueCounts, claim_counts};
pub(crate) use grid::Grid;
pub(crate) use grower::{
    Ground, Item, Start, View, give_impurities, grow_binned, helps, must_stay, total,
};
pub(crate) use measure::{
    ClassEntropy, ClassGini, ClassMeasure, Counts, FEW_ROWS, Measure, Poisson, SquaredError,
};
pub(crate) use search::{Found, Order, ROOT_PATH, Search, Sought, way};
pub(crate) use sides::Sides;
pub(crate) use table::{BinLimits, BinnedTable, Kind, MISSING};
