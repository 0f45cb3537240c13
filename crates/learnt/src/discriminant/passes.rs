//! The passes that all three learners share: class scatters, then fourth powers where shrinkage is
//! estimated.

use super::posterior::check_priors;
use super::rows::{ClassRows, is_wide};
use super::scatter::ClassScatter;
use super::shrinkage::fourth_powers;
use learnt_core::prelude::*;

/// Where a fit is; also its checkpoint.
#[derive(Stored, Clone, Debug)]
pub struct Stage {
    names: Vec<String>,
    classes: Vec<String>,
    first: Option<ClassScatter>,
    /// Gather the rows: there are no more of them than columns.
    gather: bool,
}

/// What a pass brings back.
#[derive(Stored, Clone, Debug, Merge)]
pub enum Summary {
    /// Of the first pass.
    Scatter(ClassScatter),
    /// Of the second: Σ w ‖z‖⁴ of each class.
    Fourth(Vec<f64>),
    /// Of a table with no more rows than columns.
    Rows(ClassRows),
}

/// What is known after all passes.
pub struct Known {
    pub(super) names: Vec<String>,
    pub(super) classes: Vec<String>,
    pub(super) all: ClassScatter,
    /// Σ w ‖z‖⁴ of each class, where it was asked for.
    pub(super) fourth: Vec<f64>,
    /// The rows, where there are no more of them than columns and the scatter is not wanted; `all`
    /// has none then.
    pub(super) gathered: Option<ClassRows>,
}

/// The passes with the learner's parameters.
#[derive(Clone, Debug)]
pub struct ClassPasses {
    /// Probabilities of the classes.
    pub(super) priors: Option<Vec<f64>>,
    /// A scatter for each class, not one for all.
    pub(super) by_class: bool,
    /// Whether shrinkage is estimated, from a second pass.
    pub(super) estimated: bool,
    /// Whether wide tables can do without a scatter.
    pub(super) rows_do: bool,
}

impl Rounds for ClassPasses {
    /// Every value goes into the mean of its class, which is checked.
    const NOTICES: Notices = Notices::All;

    type State = Stage;
    type Summary = Summary;
    type Output = Known;

    fn begin(&self, outline: &Outline, run: &Context) -> Result<Stage> {
        let classes = outline.class_names()?;
        check_priors(self.priors.as_deref(), classes.len())?;
        let (width, matrices) = (outline.schema.len() as u64, classes.len() as u64);
        let copies = (run.threads() as u64 + 3) * if self.by_class { matrices } else { 1 };
        let gather = self.rows_do && is_wide(outline.rows, outline.schema.len());
        match gather {
            true => {
                run.claim(32 * outline.rows.saturating_mul(width), "the rows less their means")?
            }
            false => {
                let bytes = width.saturating_mul(width).saturating_mul(8 * copies);
                let what = format!("covariances of {width} columns for {matrices} classes");
                run.claim(bytes, &what)?;
            }
        }
        Ok(Stage { names: outline.names(), classes, first: None, gather })
    }

    fn summarize(
        &self,
        stage: &Stage,
        block: &Block,
        _: &mut Memo,
        _: &Context,
    ) -> Result<Summary> {
        Ok(match &stage.first {
            None if stage.gather => Summary::Rows(ClassRows::of(&block.data)?),
            None => Summary::Scatter(ClassScatter::of(&block.data, self.by_class)?),
            Some(all) => Summary::Fourth(fourth_powers(&block.data, all)?),
        })
    }

    fn advance(&self, stage: Stage, all: Summary, _: &Context) -> Result<Step<Stage, Known>> {
        let Stage { names, classes, first, gather } = stage;
        Ok(match (first, all) {
            (None, Summary::Scatter(all)) => {
                all.check(&names, &classes)?;
                match self.estimated {
                    true => Step::Again(Stage { names, classes, first: Some(all), gather }),
                    false => Step::Done(Known {
                        names,
                        classes,
                        all,
                        fourth: Vec::new(),
                        gathered: None,
                    }),
                }
            }
            (None, Summary::Rows(rows)) => {
                let all = rows.means(classes.len());
                all.check(&names, &classes)?;
                let gathered = Some(rows);
                Step::Done(Known { names, classes, all, fourth: Vec::new(), gathered })
            }
            (Some(all), Summary::Fourth(fourth)) => {
                Step::Done(Known { names, classes, all, fourth, gathered: None })
            }
            _ => return Err(Error::internal("the sums of another pass")),
        })
    }
}
