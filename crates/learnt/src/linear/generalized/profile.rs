//! Intervals by the profile of the likelihood, and fits to some of the columns.
//!
//! With D(b) the least deviance where one coefficient is b, the ends of an interval are where
//! (D(b) - D) / φ is the square of the normal quantile, as in R, also where φ is estimated. The signed root is nearly linear in b,
//! so that its zero is found by false position (Illinois), until the bracket is 1e-7 standard errors wide or the
//! root is met to 1e-9.
//!
//! Venables and Ripley (2002), Modern Applied Statistics with S, section 7.2.

use super::asked::Likely;
use super::family::{Family, Link};
use super::generalized_linear_model::{FamilyName, GeneralizedLinearModel, LinkName};
use super::model::GeneralizedModel;
use super::root::root;
use crate::linear::anova::Left;
use crate::linear::coefficient_table::Scale;
use learnt_core::prelude::*;

/// Name of the offset in a table of some columns.
const ADDED: &str = "(added)";

impl Likely<'_> {
    /// The learner of the same family and link.
    fn learner(&self, fit_intercept: bool) -> GeneralizedLinearModel {
        let (family, power) = match self.law.family {
            Family::Binomial => (FamilyName::Binomial, 0.0),
            Family::Power(power) => (FamilyName::Tweedie, power),
        };
        let link = match self.law.link {
            Link::Identity => LinkName::Identity,
            Link::Log => LinkName::Log,
            Link::Logit => LinkName::Logit,
            Link::Probit => LinkName::Probit,
            Link::Inverse => LinkName::Inverse,
            Link::InverseSquared => LinkName::InverseSquared,
        };
        let offset = Some(ADDED.to_string());
        let tol = 1e-12;
        GeneralizedLinearModel {
            family,
            power,
            link,
            fit_intercept,
            offset,
            tol,
            ..Default::default()
        }
    }

    /// A fit to some columns, with numbers that are added to the linear predictor beside the offset.
    fn refit(
        &self,
        data: &Dataset,
        columns: &[usize],
        added: impl Fn(usize) -> f64,
        intercept: bool,
        run: &Context,
    ) -> Result<GeneralizedModel> {
        let x = data.x.values();
        let own = |i: usize| self.offset.map_or(0.0, |j| x.at(i, j)) + added(i);
        let width = columns.len();
        let values = Matrix::from_fn(x.nrows(), width + 1, |i, j| match j < width {
            true => x.at(i, columns[j]),
            false => own(i),
        });
        let names = columns.iter().map(|&j| data.x.schema().column(j).name.clone());
        let table = Table::new(values, Schema::numeric(names.chain([ADDED.to_string()]))?)?;
        self.learner(intercept).fit_in(&Dataset { x: table.frame(), ..*data }, run)
    }

    /// How well some columns fit.
    pub(in crate::linear) fn left(
        &self,
        data: &Dataset,
        columns: &[usize],
        run: &Context,
    ) -> Result<Left> {
        let model = self.refit(data, columns, |_| 0.0, self.has_intercept, run)?;
        let known = model.inference.as_ref().map(|inference| inference.rank_with_intercept());
        let all = columns.len() as f64 + f64::from(self.has_intercept);
        Ok(Left { deviance: model.deviance, rank: known.unwrap_or(all) })
    }

    /// Ends of the profile intervals of the estimates that the data determine.
    pub(super) fn profile(
        &self,
        data: &Dataset,
        level: f64,
        run: &Context,
    ) -> Result<Vec<(f64, f64)>> {
        let half = Scale::Normal.half_width(level)?;
        let all: Vec<usize> = (0..data.x.ncols()).filter(|&j| Some(j) != self.offset).collect();
        let best = self.refit(data, &all, |_| 0.0, self.has_intercept, run)?.deviance;
        let extra = usize::from(self.has_intercept);
        let known = (0..self.estimates.names.len()).filter(|&k| self.estimates.determined[k]);
        let mut out = Vec::new();
        for k in known {
            let column = k.checked_sub(extra).map(|at| all[at]);
            let rest: Vec<usize> = all.iter().copied().filter(|&j| Some(j) != column).collect();
            let at = |b: f64| -> Result<f64> {
                let value = |i: usize| column.map_or(b, |j| b * data.x.values().at(i, j));
                let intercept = self.has_intercept && column.is_some();
                let deviance = self.refit(data, &rest, value, intercept, run)?.deviance;
                Ok(((deviance - best).max(0.0) / self.dispersion).sqrt())
            };
            let (value, error) =
                (self.estimates.values[k], self.estimates.covariance[(k, k)].sqrt());
            out.push((
                end(value, -error, half, &at)?.unwrap_or(f64::NEG_INFINITY),
                end(value, error, half, &at)?.unwrap_or(f64::INFINITY),
            ));
            run.checkpoint()?;
        }
        Ok(out)
    }
}

/// Where the root of the deviance that is lost on one side of an estimate is `half`; none where it never is.
fn end(
    estimate: f64,
    step: f64,
    half: f64,
    at: &impl Fn(f64) -> Result<f64>,
) -> Result<Option<f64>> {
    let (mut near, mut below) = (0.0, -half);
    let mut far = half;
    let mut above = at(estimate + far * step)? - half;
    let mut tries = 0;
    while above < 0.0 {
        (near, below) = (far, above);
        far *= 1.6;
        tries += 1;
        if tries > 25 {
            return Ok(None);
        }
        above = at(estimate + far * step)? - half;
    }
    let found = root((near, below), (far, above), (1e-7, 1e-9), |steps| {
        Ok(at(estimate + steps * step)? - half)
    })?;
    Ok(Some(estimate + found * step))
}
