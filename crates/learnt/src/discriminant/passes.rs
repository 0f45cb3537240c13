//! The passes that all three learners share: class scatters, then fourth powers where shrinkage is
//! estimated.

use super::posterior::check_priors;
use super::scatter::ClassScatter;
use super::shrinkage::fourth_powers;
use learnt_core::linalg::add_scaled;
use learnt_core::prelude::*;

/// Where a fit is; also its checkpoint.
#[derive(Stored, Clone, Debug)]
pub struct Stage {
    pub(super) names: Vec<String>,
    pub(super) classes: Vec<String>,
    by_class: bool,
    first: Option<ClassScatter>,
}

/// What a pass brings back.
#[derive(Stored, Clone, Debug)]
pub enum Summary {
    /// Of the first pass.
    Scatter(ClassScatter),
    /// Of the second: Σ w ‖z‖⁴ of each class.
    Fourth(Vec<f64>),
}

impl Merge for Summary {
    fn merge(self, later: Self) -> Result<Self> {
        Ok(match (self, later) {
            (Summary::Scatter(a), Summary::Scatter(b)) => Summary::Scatter(a.merge(b)?),
            (Summary::Fourth(mut a), Summary::Fourth(b)) => {
                add_scaled(&mut a, 1.0, &b);
                Summary::Fourth(a)
            }
            _ => return Err(Error::internal("sums of two passes")),
        })
    }
}

/// What is known after all passes.
pub(super) struct Known {
    pub(super) names: Vec<String>,
    pub(super) classes: Vec<String>,
    pub(super) all: ClassScatter,
    /// Σ w ‖z‖⁴ of each class, where it was asked for.
    pub(super) fourth: Vec<f64>,
}

impl Stage {
    /// Before the first pass; a scatter for each class only if the learner needs it.
    pub(super) fn begin(
        outline: &Outline,
        priors: Option<&[f64]>,
        by_class: bool,
        run: &Context,
    ) -> Result<Stage> {
        if outline.classes.is_empty() {
            return Err(Error::new(Code::Target, "a target of classes is needed"));
        }
        check_priors(priors, outline.classes.len())?;
        let (width, matrices) = (outline.schema.len() as u64, outline.classes.len() as u64);
        let copies = (run.threads() as u64 + 3) * if by_class { matrices } else { 1 };
        let bytes = width.saturating_mul(width).saturating_mul(8 * copies);
        run.claim(bytes, "the covariances of the classes")?;
        Ok(Stage {
            names: outline.schema.names().map(str::to_string).collect(),
            classes: outline.classes.iter().map(ToString::to_string).collect(),
            by_class,
            first: None,
        })
    }

    /// What one block adds to the pass.
    pub(super) fn summarize(&self, data: &Dataset) -> Result<Summary> {
        Ok(match &self.first {
            None => Summary::Scatter(ClassScatter::of(data, self.by_class)?),
            Some(all) => Summary::Fourth(fourth_powers(data, all)?),
        })
    }

    /// The second pass if `estimated`, else all that is known.
    pub(super) fn advance(self, all: Summary, estimated: bool) -> Result<Step<Stage, Known>> {
        let Stage { names, classes, by_class, first } = self;
        Ok(match (first, all) {
            (None, Summary::Scatter(all)) => {
                all.check(&names, &classes)?;
                match estimated {
                    true => Step::Again(Stage { names, classes, by_class, first: Some(all) }),
                    false => Step::Done(Known { names, classes, all, fourth: Vec::new() }),
                }
            }
            (Some(all), Summary::Fourth(fourth)) => {
                Step::Done(Known { names, classes, all, fourth })
            }
            _ => return Err(Error::internal("the sums of another pass")),
        })
    }
}
