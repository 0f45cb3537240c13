//! The roles that models play, in one table.
//!
//! From each line of the table follow the method `as_…` of [`Model`](super::Model), the flag in
//! [`Roles`], the constructors of [`About`](super::About), and [`ROLES`], which the registry, the
//! command and the generator of Python classes read. `#[derive(Model)]` takes a role by its name:
//! `#[model(density)]` implements `as_density` by the trait `Density`.

use super::Model;
use crate::context::Context;
use crate::data::{Frame, Matrix, Sequences, Table};
use crate::error::{Code, Error, Result};
use crate::linalg::vector_math;
use crate::vectorized;

/// Passes every role to the macro `$then`: name, method of `Model`, trait (and Python
/// mixin), how it is added to other roles, its methods, what its models do.
macro_rules! for_roles {
    ($then:ident) => {
        $then! {
            regressor, as_regressor, Regressor, also_regressor, REGRESSOR, "predicts numbers";
            classifier, as_classifier, Classifier, also_classifier, CLASSIFIER, "predicts classes";
            decoder, as_decoder, Decoder, also_decoder, DECODER, "finds the hidden states of sequences";
            detector, as_detector, Detector, also_detector, DETECTOR, "tells outliers from the rest";
            clusterer, as_clusterer, Clusterer, also_clusterer, CLUSTERER, "groups rows";
            density, as_density, Density, also_density, DENSITY, "estimates a probability density";
            transformer, as_transformer, Transformer, also_transformer, TRANSFORMER, "turns tables into tables";
        }
    };
}
pub(crate) use for_roles;

/// Predicts numbers.
pub trait Regressor: Model {
    /// One row of outputs for each row of `x`.
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix>;

    /// The same on the scale of the model: before the inverse of a link function, or of a function of the
    /// target. The prediction itself where there is none.
    fn link_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.predict_in(x, run)
    }

    /// The same, with all threads.
    fn predict(&self, x: &Frame) -> Result<Matrix> {
        self.predict_in(x, &Context::default())
    }
}

/// Predicts classes.
pub trait Classifier: Model {
    /// Probabilities (n_rows × n_classes), each row summing to one.
    fn probabilities_in(&self, _x: &Frame, _run: &Context) -> Result<Matrix> {
        Err(Error::unsupported("this model gives no probabilities"))
    }

    /// Scores whose sign or order gives the class: one column for two classes, else one a class.
    fn decision_scores_in(&self, _x: &Frame, _run: &Context) -> Result<Matrix> {
        Err(Error::unsupported("this model gives no decision scores"))
    }

    /// Class codes; by default those of the decision scores, and without such scores the class of the
    /// largest probability, the first of equals.
    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        match self.decision_scores_in(x, run) {
            Err(error) if error.code() == Code::Unsupported => {
                Ok(self.probabilities_in(x, run)?.rows().map(first_maximum).collect())
            }
            scores => Ok(classes_of_scores(&scores?)),
        }
    }

    /// Class codes, with all threads.
    fn classify(&self, x: &Frame) -> Result<Vec<u32>> {
        self.classify_in(x, &Context::default())
    }

    /// Probabilities, with all threads.
    fn probabilities(&self, x: &Frame) -> Result<Matrix> {
        self.probabilities_in(x, &Context::default())
    }
}

/// Finds the hidden states of sequences. Without `sequences`, all rows are one sequence.
pub trait Decoder: Model {
    /// The most probable states of each sequence, and the logarithm of the probability of states
    /// and observations together, one number a sequence.
    fn decode_in(
        &self,
        x: &Frame,
        sequences: Option<Sequences>,
        run: &Context,
    ) -> Result<(Vec<u32>, Vec<f64>)>;

    /// The probability of each state in each row, given the whole sequence (n_rows × n_states).
    fn posteriors_in(
        &self,
        x: &Frame,
        sequences: Option<Sequences>,
        run: &Context,
    ) -> Result<Matrix>;

    /// The logarithm of the likelihood of each sequence.
    fn log_likelihood_in(
        &self,
        x: &Frame,
        sequences: Option<Sequences>,
        run: &Context,
    ) -> Result<Vec<f64>>;
}

/// Tells outliers from the rest.
pub trait Detector: Model {
    /// One score a row, lower for rows that are less like the training rows.
    fn scores_in(&self, x: &Frame, run: &Context) -> Result<Vec<f64>>;

    /// Rows with a score below it are outliers.
    fn threshold(&self) -> f64;
}

/// Groups rows.
pub trait Clusterer: Model {
    /// The cluster of each training row, `None` for noise. Empty where the fit did not keep them:
    /// they are not part of a model file.
    fn labels(&self) -> Vec<Option<u32>> {
        Vec::new()
    }

    /// The cluster of new rows, where the method defines it.
    fn assign_in(&self, _x: &Frame, _run: &Context) -> Result<Vec<Option<u32>>> {
        Err(Error::unsupported("this clustering does not extend to new rows")
            .hint("`learnt fit --labels FILE` writes the clusters of the training rows"))
    }
}

/// Estimates a probability density.
pub trait Density: Model {
    /// The logarithm of the density at each row.
    fn log_density_in(&self, x: &Frame, run: &Context) -> Result<Vec<f64>>;

    /// Rows drawn from the density with the seed of the run.
    fn sample(&self, _rows: usize, _run: &Context) -> Result<Matrix> {
        Err(Error::unsupported("this model cannot draw rows"))
    }
}

/// Turns tables into tables.
pub trait Transformer: Model {
    /// The table after the transformation; the schema names its columns.
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table>;

    /// The rows before the transformation, where it can be undone.
    fn inverse_transform_in(&self, _x: &Frame, _run: &Context) -> Result<Table> {
        Err(Error::unsupported("this transformation has no inverse"))
    }

    /// The same as [`Transformer::transform_in`], with all threads.
    fn transform(&self, x: &Frame) -> Result<Table> {
        self.transform_in(x, &Context::default())
    }
}

/// The classes of decision scores: in one column the second class from 0 on, else that of the largest
/// score, the first of equals.
pub fn classes_of_scores(scores: &Matrix) -> Vec<u32> {
    match scores.ncols() {
        1 => scores.as_slice().iter().map(|&score| u32::from(score >= 0.0)).collect(),
        _ => scores.rows().map(first_maximum).collect(),
    }
}

/// The shares of classes by decision scores: of one column logistic functions, of more [`vector_math::softmax`].
pub fn shares_of_scores(scores: Matrix, run: &Context) -> Matrix {
    const ROWS: usize = 1024;
    if scores.ncols() == 1 {
        let mut out = Matrix::zeros(scores.nrows(), 2);
        run.par_fill(out.as_mut_slice(), 2 * ROWS, |start, piece| {
            let scores = &scores.as_slice()[start / 2..];
            vector_math::logistic_pairs(scores, piece);
        });
        return out;
    }
    let classes = scores.ncols().max(1);
    let mut out = scores;
    run.par_fill(out.as_mut_slice(), ROWS * classes, |_, piece| {
        vector_math::softmax(piece, classes);
    });
    out
}

/// So many values that looking for the largest one in vectors, and then for its place, takes less time.
const MANY: usize = 16;

/// The largest of the values that are numbers.
#[inline(always)]
fn maximum(values: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let (chunks, rest) = values.as_chunks::<8>();
    let mut most = [f64::NEG_INFINITY; 8];
    for chunk in chunks {
        for k in 0..8 {
            most[k] = larger(most[k], chunk[k]);
        }
    }
    most.iter().chain(rest).copied().fold(f64::NEG_INFINITY, larger)
}

/// Position of the largest value, the first of equals. NaN is never largest.
pub fn first_maximum(values: &[f64]) -> u32 {
    if values.len() >= MANY {
        let largest = vectorized!(maximum(values));
        let place = values.iter().position(|&value| value == largest);
        return place.unwrap_or(values.len() - 1) as u32;
    }
    let mut best = 0;
    for (i, &value) in values.iter().enumerate() {
        if value > values[best] || values[best].is_nan() {
            best = i;
        }
    }
    best as u32
}

/// What a model predicts about rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// Numbers, one column per output.
    Real(Matrix),
    /// Codes of classes or of hidden states.
    Class(Vec<u32>),
    /// Clusters; `None` is noise.
    Cluster(Vec<Option<u32>>),
    /// Whether each row is an outlier.
    Outlier(Vec<bool>),
    /// A transformed table.
    Table(Table),
}

impl Prediction {
    /// Numbers that a row has.
    pub fn width(&self) -> usize {
        match self {
            Prediction::Real(values) => values.ncols(),
            Prediction::Table(table) => table.schema().len(),
            _ => 1,
        }
    }

    /// An answer of this kind and width for so many rows, to be [put in](Prediction::put).
    pub fn room_for(&self, rows: usize) -> Result<Prediction> {
        Ok(match self {
            Prediction::Real(values) => Prediction::Real(Matrix::zeros(rows, values.ncols())),
            Prediction::Class(_) => Prediction::Class(vec![0; rows]),
            Prediction::Cluster(_) => Prediction::Cluster(vec![None; rows]),
            Prediction::Outlier(_) => Prediction::Outlier(vec![false; rows]),
            Prediction::Table(table) => {
                let values = Matrix::zeros(rows, table.schema().len());
                Prediction::Table(Table::new(values, table.schema().clone())?)
            }
        })
    }

    /// Puts the answer for some rows in, from row `first` on; false where the two are not of one kind and width.
    #[must_use]
    pub fn put(&mut self, first: usize, some: Prediction, run: &Context) -> bool {
        fn put<T: Copy>(all: &mut [T], first: usize, some: &[T]) -> bool {
            let place = all.get_mut(first..first + some.len());
            place.map(|place| place.copy_from_slice(some)).is_some()
        }
        let put_rows = |all: &mut Matrix, some: &Matrix| {
            const PIECE: usize = 1 << 15;
            let (width, values) = (all.ncols(), some.as_slice());
            let end = (first + some.nrows()) * width;
            if some.ncols() != width || end > all.as_slice().len() {
                return false;
            }
            // On all threads: the first touch of memory takes longer than the copy.
            run.par_fill(&mut all.as_mut_slice()[first * width..end], PIECE, |start, piece| {
                piece.copy_from_slice(&values[start..start + piece.len()]);
            });
            true
        };
        match (self, some) {
            (Prediction::Real(all), Prediction::Real(some)) => put_rows(all, &some),
            (Prediction::Class(all), Prediction::Class(some)) => put(all, first, &some),
            (Prediction::Cluster(all), Prediction::Cluster(some)) => put(all, first, &some),
            (Prediction::Outlier(all), Prediction::Outlier(some)) => put(all, first, &some),
            (Prediction::Table(all), Prediction::Table(some)) => {
                all.schema() == some.schema() && put_rows(all.values_mut(), some.values())
            }
            _ => false,
        }
    }

    /// All of it as numbers: codes as they are, -1 for noise and for outliers, 1 for inliers.
    pub fn into_matrix(self) -> Matrix {
        match self {
            Prediction::Real(values) => values,
            Prediction::Class(codes) => {
                Matrix::column_vector(codes.into_iter().map(f64::from).collect())
            }
            Prediction::Cluster(labels) => {
                let code = |label: Option<u32>| label.map_or(-1.0, f64::from);
                Matrix::column_vector(labels.into_iter().map(code).collect())
            }
            Prediction::Outlier(flags) => {
                let sign = |outlier| if outlier { -1.0 } else { 1.0 };
                Matrix::column_vector(flags.into_iter().map(sign).collect())
            }
            Prediction::Table(table) => table.into_parts().0,
        }
    }
}

/// Rows that have passed the gate of a trained model, with the sequences they form.
#[derive(Clone, Copy, Debug)]
pub struct Admitted<'a> {
    /// The rows as the model knows them.
    pub x: Frame<'a>,
    /// Their sequences; without, all rows are one.
    pub sequences: Option<Sequences<'a>>,
}

/// What can be asked of a model in a role.
pub struct Method {
    /// The name, also on the command line and in the native half of Python.
    pub name: &'static str,
    /// What it gives for each row.
    pub doc: &'static str,
    /// Calls it; `Unsupported` if the model does not play the role or does not offer it.
    pub call: fn(&dyn Model, &Admitted, &Context) -> Result<Prediction>,
}

/// A line of the table of roles.
pub struct Role {
    /// The name.
    pub name: &'static str,
    /// What models in this role do.
    pub doc: &'static str,
    /// The name of the trait, and of the Python class that learners inherit.
    pub class: &'static str,
    /// Whether it is among these roles.
    pub among: fn(&Roles) -> bool,
    /// Whether the model plays it.
    pub played_by: fn(&dyn Model) -> bool,
    /// What can be asked; the first is the prediction.
    pub methods: &'static [Method],
    /// The method whose numbers self-tests compare; the first where it is not offered.
    pub tested: &'static str,
}

/// The methods of a role, the first being its prediction, and the one that self-tests use.
macro_rules! methods {
    ($method:ident, $role:expr, tested = $tested:literal, $($name:literal, $doc:literal: $call:expr;)*) => {
        (&[$(Method {
            name: $name,
            doc: $doc,
            call: |model, rows, run| {
                let role = model.$method().ok_or_else(|| {
                    Error::unsupported(concat!("this model is not a ", $role))
                })?;
                let call: fn(_, &Admitted, &Context) -> Result<Prediction> = $call;
                call(role, rows, run)
            },
        }),*], $tested)
    };
}

type Methods = (&'static [Method], &'static str);

mod methods {
    //! What can be asked in each role.
    use super::*;

    pub(super) const REGRESSOR: Methods = methods! { as_regressor, "regressor", tested = "predict",
        "predict", "The predicted numbers":
            |model: &dyn Regressor, rows, run| model.predict_in(&rows.x, run).map(Prediction::Real);
        "link", "The prediction on the scale of the model: of its link, or of the function of the target":
            |model: &dyn Regressor, rows, run| model.link_in(&rows.x, run).map(Prediction::Real);
    };
    pub(super) const CLASSIFIER: Methods = methods! { as_classifier, "classifier", tested = "probabilities",
        "classify", "The predicted classes":
            |model: &dyn Classifier, rows, run| model.classify_in(&rows.x, run).map(Prediction::Class);
        "probabilities", "The probability of each class":
            |model: &dyn Classifier, rows, run| model.probabilities_in(&rows.x, run).map(Prediction::Real);
        "decision_scores", "Scores whose sign or order gives the class":
            |model: &dyn Classifier, rows, run| model.decision_scores_in(&rows.x, run).map(Prediction::Real);
    };
    pub(super) const DECODER: Methods = methods! { as_decoder, "decoder", tested = "posteriors",
        "decode", "The most probable hidden states":
            |model: &dyn Decoder, rows, run| {
                model.decode_in(&rows.x, rows.sequences, run).map(|(states, _)| Prediction::Class(states))
            };
        "posteriors", "The probability of each hidden state":
            |model: &dyn Decoder, rows, run| {
                model.posteriors_in(&rows.x, rows.sequences, run).map(Prediction::Real)
            };
        "decoded_log_probability", "The logarithm of the probability of the decoded states and the rows, one number a sequence":
            |model: &dyn Decoder, rows, run| {
                model.decode_in(&rows.x, rows.sequences, run).map(|(_, logs)| column(logs))
            };
        "log_likelihood", "The logarithm of the likelihood, one number a sequence":
            |model: &dyn Decoder, rows, run| {
                model.log_likelihood_in(&rows.x, rows.sequences, run).map(column)
            };
    };
    pub(super) const DETECTOR: Methods = methods! { as_detector, "detector", tested = "scores",
        "detect", "Whether each row is an outlier":
            |model: &dyn Detector, rows, run| {
                let threshold = model.threshold();
                let scores = model.scores_in(&rows.x, run)?;
                Ok(Prediction::Outlier(scores.into_iter().map(|score| score < threshold).collect()))
            };
        "scores", "How much each row is like the training rows; low for outliers":
            |model: &dyn Detector, rows, run| model.scores_in(&rows.x, run).map(column);
    };
    pub(super) const CLUSTERER: Methods = methods! { as_clusterer, "clusterer", tested = "assign",
        "assign", "The cluster of each row":
            |model: &dyn Clusterer, rows, run| model.assign_in(&rows.x, run).map(Prediction::Cluster);
    };
    pub(super) const DENSITY: Methods = methods! { as_density, "density", tested = "log_density",
        "log_density", "The logarithm of the density at each row":
            |model: &dyn Density, rows, run| model.log_density_in(&rows.x, run).map(column);
    };
    pub(super) const TRANSFORMER: Methods = methods! { as_transformer, "transformer", tested = "transform",
        "transform", "The transformed rows":
            |model: &dyn Transformer, rows, run| model.transform_in(&rows.x, run).map(Prediction::Table);
    };

    fn column(values: Vec<f64>) -> Prediction {
        Prediction::Real(Matrix::column_vector(values))
    }
}

/// Everything that follows from the table by repetition.
macro_rules! role_table {
    ($($name:ident, $method:ident, $class:ident, $also:ident, $methods:ident, $doc:literal;)*) => {
        /// What a model can be used as.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the names say it")]
        pub struct Roles {
            $(pub $name: bool,)*
            /// Classifiers of exactly two classes.
            pub two_classes: bool,
            /// Other models that are fitted to a target of classes.
            pub labelled: bool,
        }

        impl Roles {
            /// None of them.
            pub const NONE: Roles = Roles { $($name: false,)* two_classes: false, labelled: false };

            /// The roles that the model plays.
            pub fn of(model: &dyn Model) -> Roles {
                Roles { $($name: model.$method().is_some(),)* ..Roles::NONE }
            }
        }

        impl super::About {$(
            #[doc = concat!("A learner whose models play the role ", stringify!($name), ".")]
            pub const fn $name(path: &'static str) -> Self {
                let mut about = Self::new(path, Roles { $name: true, ..Roles::NONE });
                about.offers.probabilities = about.roles.classifier;
                about
            }

            #[doc = concat!("Models play the role ", stringify!($name), " too.")]
            #[must_use]
            pub const fn $also(mut self) -> Self {
                self.roles.$name = true;
                self
            }
        )*}

        /// Every role; a model predicts in the first that it plays.
        pub const ROLES: &[Role] = &[$(Role {
            name: stringify!($name),
            doc: $doc,
            class: stringify!($class),
            among: |roles| roles.$name,
            played_by: |model| model.$method().is_some(),
            methods: methods::$methods.0,
            tested: methods::$methods.1,
        }),*];
    };
}
for_roles!(role_table);

impl Roles {
    /// Whether fitting needs a target.
    pub fn needs_target(self) -> bool {
        self.regressor || self.needs_classes()
    }

    /// Whether the target that fitting needs is one of classes.
    pub fn needs_classes(self) -> bool {
        self.classifier || self.labelled
    }

    /// The names of the roles.
    pub fn names(self) -> Vec<&'static str> {
        ROLES.iter().filter(|role| (role.among)(&self)).map(|role| role.name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_for_some_rows_are_put_together() {
        let run = Context::default();
        let numbers = |first: f64| Matrix::from_fn(2, 3, |i, j| first + (3 * i + j) as f64);
        let mut all = Prediction::Real(numbers(0.0)).room_for(5).unwrap();
        assert!(all.put(0, Prediction::Real(numbers(0.0)), &run));
        assert!(all.put(3, Prediction::Real(numbers(9.0)), &run));
        assert!(!all.put(4, Prediction::Real(numbers(0.0)), &run), "a row beyond the end");
        assert!(!all.put(0, Prediction::Class(vec![1]), &run), "another kind");
        let expected = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0, 0.0];
        assert_eq!(all.into_matrix().as_slice()[..9], expected);
        let mut codes = Prediction::Class(vec![7]).room_for(3).unwrap();
        assert!(codes.put(2, Prediction::Class(vec![7]), &run));
        assert_eq!(codes, Prediction::Class(vec![0, 0, 7]));
    }

    #[test]
    fn the_first_of_the_largest_numbers_is_found_among_few_and_many() {
        for length in [1, 5, 15, 16, 17, 40] {
            for (place, value) in
                [(length / 3, 3.0), (length / 2, 3.0), (length - 1, f64::INFINITY)]
            {
                let mut values = vec![1.0; length];
                values[..length / 3].fill(f64::NAN);
                values[place] = value;
                values[length - 1] = value;
                assert_eq!(first_maximum(&values), place as u32, "{values:?}");
            }
            assert_eq!(first_maximum(&vec![f64::NAN; length]), length as u32 - 1);
            assert_eq!(first_maximum(&vec![f64::NEG_INFINITY; length]), 0);
        }
    }
}
