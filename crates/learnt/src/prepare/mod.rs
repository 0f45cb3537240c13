//! Preparation: scaling, encoding, imputation, expansion. Fitted on training rows, stored with the
//! model, applied to new rows.

mod affine;
mod categories;
mod covariance;
mod date_encoder;
mod entropy_cuts;
mod formula;
mod functions;
mod giveaway;
mod iterative_imputer;
mod k_bins_discretizer;
mod max_abs_scaler;
mod min_max_scaler;
mod missing_rows;
mod one_hot_encoder;
mod order;
mod ordinal_encoder;
mod polynomial_features;
mod profile;
mod robust_scaler;
mod signs;
mod simple_imputer;
mod standard_scaler;
mod text_hasher;

pub use categories::{Counts, TableCounts};
pub use covariance::{correlation_matrix, covariance_matrix};
pub use date_encoder::{DateEncoder, DateEncoderModel, DatePart};
pub use entropy_cuts::entropy_cuts;
pub use formula::{
    Formula, FormulaState, FormulaTransformer, FormulaTransformerModel, OFFSET, Response, Shape,
    Side, Values, Variable, design_matrix,
};
pub use functions::{
    ClassModeImputation, DropMissingRows, EntropyCuts, FUNCTIONS, FilledTable, KeptRows,
    LabelSigns, PolynomialFeatureCount,
};
pub use giveaway::{Giveaway, giveaways};
pub use iterative_imputer::{IterativeImputer, IterativeImputerModel};
pub use k_bins_discretizer::{
    BinClosed, BinEncode, BinStrategy, KBinsDiscretizer, KBinsDiscretizerModel, QuantileMethod,
};
pub use max_abs_scaler::{MaxAbsScaler, MaxAbsScalerModel};
pub use min_max_scaler::{MinMaxScaler, MinMaxScalerModel};
pub use missing_rows::{ClassModes, CompleteRows, drop_missing_rows};
pub use one_hot_encoder::{Combiner, Drop, HandleUnknown, OneHotEncoder, OneHotEncoderModel};
pub use ordinal_encoder::{OrdinalEncoder, OrdinalEncoderModel, OrdinalUnknown};
pub use polynomial_features::{
    PolynomialFeatures, PolynomialFeaturesModel, polynomial_feature_count,
};
pub use profile::{Look, look, look_of_texts, looks, stand_in, untidy};
pub use robust_scaler::{RobustScaler, RobustScalerModel};
pub use signs::{classes_of_signs, reflected, signs};
pub use simple_imputer::{
    ImputeStrategy, ImputerState, ImputerSummary, Rank, SimpleImputer, SimpleImputerModel,
};
pub use standard_scaler::{StandardScaler, StandardScalerModel};
pub use text_hasher::{TextHasher, TextHasherModel};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<StandardScaler>(),
    entry::<MinMaxScaler>(),
    entry::<MaxAbsScaler>(),
    entry::<OneHotEncoder>(),
    entry::<OrdinalEncoder>(),
    entry::<SimpleImputer>(),
    entry::<PolynomialFeatures>(),
    entry::<RobustScaler>(),
    entry::<KBinsDiscretizer>(),
    entry::<IterativeImputer>(),
    entry::<FormulaTransformer>(),
    entry::<DateEncoder>(),
    entry::<TextHasher>(),
];
