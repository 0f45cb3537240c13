//! Preparation: scaling, encoding, imputation, expansion. Fitted on training rows, stored with the
//! model, applied to new rows.

mod affine;
mod categories;
mod min_max_scaler;
mod moments;
mod one_hot_encoder;
mod ordinal_encoder;
mod polynomial_features;
mod simple_imputer;
mod standard_scaler;

pub use categories::{Counts, TableCounts};
pub use min_max_scaler::{MinMaxScaler, MinMaxScalerModel};
pub use moments::ColumnMoments;
pub use one_hot_encoder::{Drop, HandleUnknown, OneHotEncoder, OneHotEncoderModel};
pub use ordinal_encoder::{OrdinalEncoder, OrdinalEncoderModel, OrdinalUnknown};
pub use polynomial_features::{
    PolynomialFeatures, PolynomialFeaturesModel, polynomial_feature_count,
};
pub use simple_imputer::{
    ImputeStrategy, ImputerState, ImputerSummary, Rank, SimpleImputer, SimpleImputerModel,
};
pub use standard_scaler::{StandardScaler, StandardScalerModel};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<StandardScaler>(),
    entry::<MinMaxScaler>(),
    entry::<OneHotEncoder>(),
    entry::<OrdinalEncoder>(),
    entry::<SimpleImputer>(),
    entry::<PolynomialFeatures>(),
];
