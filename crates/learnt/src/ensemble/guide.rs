//! The learner guide: nine properties of five families of learners, and what shows each here.
//!
//! Reference: Hastie, Tibshirani and Friedman, "The Elements of Statistical Learning" (2009), section 10.7.

use learnt_core::prelude::*;

/// Which family suits which data: nine properties of five families, good, fair or poor.
#[derive(Params, Clone, Debug)]
pub struct LearnerGuide {}

/// A property in each row.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Guide {
    /// What is wished for.
    pub property: Vec<String>,
    /// Neural networks.
    pub neural_networks: Vec<String>,
    /// Support vector machines.
    pub support_vectors: Vec<String>,
    /// Decision trees.
    pub trees: Vec<String>,
    /// Adaptive splines (MARS).
    pub splines: Vec<String>,
    /// Nearest neighbours and kernels.
    pub neighbours: Vec<String>,
    /// What to run to see it.
    pub shown_by: Vec<String>,
}

/// Property, the five families in the order of [`Guide`] (+ good, o fair, - poor), what shows it.
const TABLE: [(&str, &str, &str); 9] = [
    (
        "columns of mixed types",
        "xx++x",
        "learnt fit decision-tree-classifier DATA: categories need no preparation",
    ),
    (
        "missing values",
        "xx+++",
        "learnt fit c45-classifier DATA: rows with holes go down every branch",
    ),
    (
        "outliers among the inputs",
        "xx+x+",
        "learnt fit decision-tree-regressor DATA: only the order of values counts",
    ),
    (
        "monotone transformations of inputs",
        "xx+xx",
        "learnt fit decision-tree-regressor DATA: logarithms change no split",
    ),
    (
        "many rows",
        "xx++x",
        "learnt fit hist-gradient-boosting-classifier DATA: time grows with the rows",
    ),
    ("irrelevant columns", "xx++x", "learnt ask MODEL permutation_importance DATA"),
    (
        "linear combinations of columns",
        "++xxo",
        "learnt compare DATA -t TARGET: a line beside a tree where the target is a sum of columns",
    ),
    ("interpretability", "xxo+x", "learnt ask MODEL rules"),
    ("predictive power", "++xo+", "learnt compare DATA -t TARGET"),
];

impl Function for LearnerGuide {
    type Inputs<'a> = ();
    type Output = Guide;
    const ABOUT: &'static Callable = &Callable::new("ensemble.learner_guide", FunctionKind::Theory)
        .reference("Hastie, Tibshirani and Friedman (2009), section 10.7");

    fn call(&self, _: (), _run: &Context) -> Result<Guide> {
        let family = |place: usize| {
            let word = |marks: &str| match marks.as_bytes()[place] {
                b'+' => "good",
                b'o' => "fair",
                _ => "poor",
            };
            TABLE.iter().map(|(_, marks, _)| word(marks).to_string()).collect()
        };
        Ok(Guide {
            property: TABLE.iter().map(|(name, ..)| (*name).to_string()).collect(),
            neural_networks: family(0),
            support_vectors: family(1),
            trees: family(2),
            splines: family(3),
            neighbours: family(4),
            shown_by: TABLE.iter().map(|(_, _, shown)| (*shown).to_string()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_good_at_mixed_columns_and_poor_at_linear_combinations() {
        let guide = LearnerGuide {}.compute(()).unwrap();
        let of = |name: &str| {
            let row = guide.property.iter().position(|p| p.contains(name)).unwrap();
            guide.trees[row].clone()
        };
        for name in ["mixed types", "missing", "outliers", "monotone"] {
            assert_eq!(of(name), "good", "{name}");
        }
        assert_eq!(of("linear combinations"), "poor");
        assert_eq!(guide.property.len(), 9);
    }
}
