//! Preparation without a model to keep: counts of terms, whole rows, cuts by classes, signs.

use super::{ClassModes, drop_missing_rows, entropy_cuts, polynomial_feature_count, signs};
use learnt_core::prelude::*;

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<PolynomialFeatureCount>(),
    function::<DropMissingRows>(),
    function::<EntropyCuts>(),
    function::<LabelSigns>(),
    function::<ClassModeImputation>(),
];

/// Number of products of degree 1 to Q of d columns: C(d + Q, Q) - 1.
#[derive(Params, Clone, Debug)]
pub struct PolynomialFeatureCount {
    /// Number of columns.
    #[param(required, positional, range = 1..)]
    pub n_features: u64,
    /// Largest degree.
    #[param(positional, default = 2, range = 1..=10_000_000)]
    pub degree: u64,
}

impl Function for PolynomialFeatureCount {
    type Inputs<'a> = ();
    type Output = u64;
    const ABOUT: &'static Callable =
        &Callable::new("preprocessing.polynomial_feature_count", FunctionKind::Analysis);

    fn call(&self, _inputs: (), _run: &Context) -> Result<u64> {
        let count = polynomial_feature_count(self.n_features, self.degree);
        count.ok_or_else(|| Error::numeric("there are more products than can be counted"))
    }
}

/// A table that may have gaps.
#[derive(Inputs, Clone, Copy)]
pub struct Gappy<'a> {
    /// The table.
    #[input(name = "X", missing)]
    pub x: Frame<'a>,
}

/// Leaves out rows with missing values.
#[derive(Params, Clone, Debug)]
pub struct DropMissingRows {
    /// Numbers of the columns that must be whole, from 0; all by default.
    pub columns: Option<Vec<usize>>,
}

/// Which rows are whole.
#[derive(Output, Clone, Debug, PartialEq, Eq)]
pub struct KeptRows {
    /// Rows without missing values, from 0.
    pub kept: Vec<usize>,
    /// Rows with missing values, from 0.
    pub dropped: Vec<usize>,
}

impl Function for DropMissingRows {
    type Inputs<'a> = Gappy<'a>;
    type Output = KeptRows;
    const ABOUT: &'static Callable =
        &Callable::new("preprocessing.drop_missing_rows", FunctionKind::Analysis);

    fn call(&self, given: Gappy, _run: &Context) -> Result<KeptRows> {
        let width = given.x.ncols();
        let wanted = self.columns.iter().flatten();
        if let Some(column) = wanted.into_iter().find(|&&column| column >= width) {
            return Err(Error::parameter("columns", format!("below {width}"), column));
        }
        let found = drop_missing_rows(&Dataset::new(given.x), self.columns.as_deref())?;
        Ok(KeptRows { kept: found.kept, dropped: found.dropped })
    }
}

/// Cuts of a column where the classes change, as far as the description gets shorter.
#[derive(Params, Clone, Debug)]
pub struct EntropyCuts {}

/// Numbers with classes.
#[derive(Inputs, Clone, Copy)]
pub struct NumbersAndClasses<'a> {
    /// The numbers.
    pub x: &'a [f64],
    /// The class of each row.
    pub y: Classes<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

impl Function for EntropyCuts {
    type Inputs<'a> = NumbersAndClasses<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable =
        &Callable::new("preprocessing.entropy_cuts", FunctionKind::Analysis)
            .reference("Fayyad and Irani (1993), Multi-interval discretization")
            .exempt(&[("scaled weights", "description lengths count rows by their weight")]);

    fn call(&self, given: NumbersAndClasses, _run: &Context) -> Result<Vec<f64>> {
        let classes = given.y.classes.len();
        Ok(entropy_cuts(given.x, given.y.codes, classes, given.sample_weight))
    }
}

/// Two classes as signs: -1 for the first in sorted order, +1 for the second.
#[derive(Params, Clone, Debug)]
pub struct LabelSigns {}

/// Classes.
#[derive(Inputs, Clone, Copy)]
pub struct ClassesOfRows<'a> {
    /// The class of each row.
    pub y: Classes<'a>,
}

impl Function for LabelSigns {
    type Inputs<'a> = ClassesOfRows<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable =
        &Callable::new("preprocessing.label_signs", FunctionKind::Analysis);

    fn call(&self, given: ClassesOfRows, _run: &Context) -> Result<Vec<f64>> {
        signs(given.y.codes, given.y.classes)
    }
}

/// Fills missing values with the most frequent value of the row's class.
#[derive(Params, Clone, Debug)]
pub struct ClassModeImputation {}

/// A table that may have gaps, with classes.
#[derive(Inputs, Clone, Copy)]
pub struct GappyWithClasses<'a> {
    /// The table.
    #[input(name = "X", missing)]
    pub x: Frame<'a>,
    /// The class of each row.
    pub y: Classes<'a>,
}

/// The filled table: codes of the levels in columns of text.
pub type FilledTable = Matrix;

impl Function for ClassModeImputation {
    type Inputs<'a> = GappyWithClasses<'a>;
    type Output = FilledTable;
    const ABOUT: &'static Callable = &Callable::new("impute.class_modes", FunctionKind::Analysis);

    fn call(&self, given: GappyWithClasses, _run: &Context) -> Result<Matrix> {
        let target = Target::Class { codes: given.y.codes, classes: given.y.classes };
        let data = Dataset::new(given.x).with_target(target);
        let filled = ClassModes::of(&data)?.fill(&given.x, Some(given.y.codes))?;
        Ok(filled.into_parts().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_gaps_are_named() {
        let table = Table::unnamed(
            Matrix::from_rows(&[[1.0, f64::NAN], [2.0, 3.0], [f64::NAN, 1.0]]).unwrap(),
        );
        let given = Gappy { x: table.frame() };
        let found = DropMissingRows::default().compute(given).unwrap();
        assert_eq!((found.kept, found.dropped), (vec![1], vec![0, 2]));
        let first = DropMissingRows { columns: Some(vec![0]) };
        assert_eq!(first.compute(given).unwrap().kept, [0, 1]);
        let beyond = DropMissingRows { columns: Some(vec![2]) };
        assert_eq!(beyond.compute(given).unwrap_err().code(), Code::Parameter);
    }

    #[test]
    fn cubic_terms_of_two_columns_are_nine() {
        let count = PolynomialFeatureCount { n_features: 2, degree: 3 };
        assert_eq!(count.compute(()).unwrap(), 9);
        let huge = PolynomialFeatureCount { n_features: u64::MAX, degree: 3 };
        assert!(huge.compute(()).is_err());
    }
}
