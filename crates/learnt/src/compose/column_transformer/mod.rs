//! Column transformer: each group of columns through its own transformer, side by side.
//!
//! Groups are lists of column names, or `:numeric`, `:categorical`, `:all`. Columns in no group are
//! dropped or passed through (`remainder`). Outputs stand in the order of the groups, then the rest.
//! If every transformer is rounds of a mergeable summary, so is this: all run in the same rounds.

mod by_rounds;
mod group;
mod model;

pub use group::{Action, Group};
pub use model::ColumnTransformerModel;

use crate::learner::{Fitted, Learner};
use by_rounds::ColumnsJob;
use group::positions;
use learnt_core::estimator::Accepts;
use learnt_core::params::check_names;
use learnt_core::prelude::*;
use learnt_core::rounds::{InMemory, Job};
use model::Output;
use std::collections::BTreeMap;

/// Applies different transformers to different columns and puts the results side by side.
///
/// ```
/// use learnt::{compose::ColumnTransformer, prepare::{MinMaxScaler, StandardScaler}, prelude::*};
/// let learner = ColumnTransformer::default()
///     .with("z", StandardScaler::default(), &["x0"])
///     .with("unit", MinMaxScaler::default(), &["x1"]);
/// let data = OwnedDataset::unsupervised(Matrix::from_rows(&[[1.0, 10.0], [3.0, 30.0]])?);
/// let model = learner.fit(&data.view())?;
/// assert_eq!(model.transform(&data.x.frame())?.values().row(1), [1.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct ColumnTransformer {
    /// The groups: name, transformer (or `passthrough` or `drop`), columns.
    #[param(positional, required, learner = transformer)]
    pub transformers: Vec<Group>,
    /// What happens to columns in no group.
    #[param(default = Remainder::Drop)]
    pub remainder: Remainder,
    /// Put the name of the group in front of its column names.
    #[param(default = true)]
    pub verbose_feature_names_out: bool,
}

/// What happens to columns in no group.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Remainder {
    /// They are left out.
    Drop,
    /// They follow the groups unchanged.
    Passthrough,
}

/// A group whose columns are known by position; `learner` with the number of the group.
struct Placed<'a> {
    name: &'a str,
    learner: Option<(usize, &'a dyn AnyEstimator)>,
    columns: Vec<usize>,
}

impl ColumnTransformer {
    /// The column transformer with one more group.
    #[must_use]
    pub fn with(mut self, name: &str, learner: impl Into<Learner>, columns: &[&str]) -> Self {
        self.transformers.push(Group {
            name: name.to_string(),
            action: Action::Fit(learner.into()),
            columns: columns.iter().map(ToString::to_string).collect(),
        });
        self
    }

    /// Names are used once, also those of groups that only pass or drop.
    fn constraints(&self) -> Result<()> {
        let names = self.transformers.iter().map(|group| ("transformers", group.name.as_str()));
        check_names(self.specs(), names)
    }

    /// The groups by position, the remainder last.
    fn place<'a>(&'a self, schema: &Schema) -> Result<Vec<Placed<'a>>> {
        let index: BTreeMap<&str, usize> = schema.names().zip(0..).collect();
        let mut used = vec![false; schema.len()];
        let mut placed = Vec::new();
        for (number, group) in self.transformers.iter().enumerate() {
            let columns = positions(group, schema, &index)?;
            columns.iter().for_each(|&j| used[j] = true);
            match &group.action {
                Action::Drop => {}
                Action::Pass => placed.push(Placed { name: &group.name, learner: None, columns }),
                Action::Fit(learner) if !columns.is_empty() => {
                    placed.push(Placed {
                        name: &group.name,
                        learner: Some((number, &**learner)),
                        columns,
                    });
                }
                Action::Fit(_) => {}
            }
        }
        if self.remainder == Remainder::Passthrough {
            let columns: Vec<usize> = (0..schema.len()).filter(|&j| !used[j]).collect();
            placed.push(Placed { name: "remainder", learner: None, columns });
        }
        Ok(placed)
    }

    fn train_in_turn(&self, data: &Dataset, run: &Context) -> Result<ColumnTransformerModel> {
        let fit = |placed: Placed| {
            let part: Option<Result<Fitted>> = placed.learner.map(|(_, learner)| {
                let table = data.x.select(&placed.columns);
                let data = Dataset { x: table.frame(), ..*data };
                Fitted::fit(learner, placed.name, &data, run)
            });
            Ok(Output {
                name: placed.name.to_string(),
                columns: placed.columns,
                part: part.transpose()?,
            })
        };
        let outputs = self.place(data.x.schema())?.into_iter().map(fit).collect::<Result<_>>()?;
        Ok(ColumnTransformerModel {
            width: data.x.ncols(),
            outputs,
            verbose: self.verbose_feature_names_out,
        })
    }

    fn rounds_job(&self) -> Option<ColumnsJob> {
        let mut jobs = Vec::new();
        for group in &self.transformers {
            jobs.push(match &group.action {
                Action::Fit(learner) => Some(learner.any_job()?),
                _ => None,
            });
        }
        Some(ColumnsJob { learner: self.clone(), jobs })
    }
}

impl Estimator for ColumnTransformer {
    type Model = ColumnTransformerModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::transformer("compose.ColumnTransformer")
        .missing()
        .categories()
        .weights()
        .randomness()
        .threads()
        .streaming()
        .complexity(10)
        .cost("the sum of its transformers");

    fn train(&self, data: &Dataset, run: &Context) -> Result<ColumnTransformerModel> {
        match self.rounds_job() {
            Some(job) => rounds::drive(&job, &InMemory::new(*data), run)?.take(),
            None => self.train_in_turn(data, run),
        }
    }

    /// Each transformer checks its own columns.
    fn accepts(&self) -> Accepts {
        Self::ABOUT.accepts
    }

    fn job(&self) -> Option<Box<dyn Job>> {
        self.rounds_job().map(|job| Box::new(job) as Box<dyn Job>)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::{OneHotEncoder, SimpleImputer, StandardScaler};

    fn mixed() -> OwnedDataset {
        let schema = Schema::new(vec![
            Column::numeric("size"),
            Column::categorical("colour", vec!["red".into(), "blue".into()]),
            Column::numeric("age"),
        ]);
        let values = Matrix::from_rows(&[[1.0, 0.0, 7.0], [3.0, 1.0, f64::NAN], [5.0, 0.0, 9.0]]);
        let x = Table::new(values.unwrap(), schema.unwrap()).unwrap();
        OwnedDataset { x, ..Default::default() }
    }

    fn learner() -> ColumnTransformer {
        ColumnTransformer::default().with("impute", SimpleImputer::default(), &[":numeric"]).with(
            "code",
            OneHotEncoder::default(),
            &["colour"],
        )
    }

    #[test]
    fn groups_stand_side_by_side_under_their_names() {
        let model = learner().fit(&mixed().view()).unwrap();
        let table = model.transform(&mixed().x.frame()).unwrap();
        let names: Vec<&str> = table.schema().names().collect();
        assert_eq!(names, ["impute__size", "impute__age", "code__colour_blue", "code__colour_red"]);
        assert_eq!(table.values().row(1), [3.0, 8.0, 1.0, 0.0]);
    }

    #[test]
    fn rounds_and_turns_agree_to_the_bit_in_one_block() {
        let by_rounds = learner().fit(&mixed().view()).unwrap();
        let in_turn = learner().train_in_turn(&mixed().view(), &Context::default()).unwrap();
        assert_eq!(by_rounds.to_node(), in_turn.to_node());
        let back = ColumnTransformerModel::from_node(&by_rounds.to_node()).unwrap();
        assert_eq!(back.to_node(), by_rounds.to_node());
    }

    #[test]
    fn columns_in_no_group_are_dropped_or_passed_on() {
        let mut learner =
            ColumnTransformer::default().with("z", StandardScaler::default(), &["size"]);
        let width = |learner: &ColumnTransformer| {
            learner
                .fit(&mixed().view())
                .unwrap()
                .transform(&mixed().x.frame())
                .unwrap()
                .values()
                .ncols()
        };
        assert_eq!(width(&learner), 1);
        learner.remainder = Remainder::Passthrough;
        assert_eq!(width(&learner), 3);
    }

    #[test]
    fn an_unknown_column_is_named_with_its_neighbour() {
        let error = ColumnTransformer::default()
            .with("z", StandardScaler::default(), &["sise"])
            .fit(&mixed().view())
            .unwrap_err();
        assert!(error.to_string().contains("did you mean 'size'?"), "{error}");
    }
}
