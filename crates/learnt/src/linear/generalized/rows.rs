//! What single rows say about a generalised linear model: residuals, leverage, influence, scores.
//!
//! With W = h'²/V the leverage of a row is w W xᵀ (Σ w W x xᵀ)⁻¹ x. Residuals: response y - μ; working (y - μ)/h';
//! Pearson's (y - μ) √(w/V); of the deviance sign(y - μ) √(w d). Standardised ones are divided by √(φ (1 - h)).
//! Cook's distance is (p/(1 - h))² h / (φ k) of Pearson's p, k estimates.
//!
//! McCullagh and Nelder (1989), Generalized Linear Models, chapter 12; Pregibon (1981), Annals of Statistics 9,
//! 705-724.

use super::asked::Likely;
use crate::linear::robust::{Robust, RobustCovariance, sandwich, scaled_rows};
use learnt_core::linalg::{dot, matvec};
use learnt_core::prelude::*;

/// A row at the estimates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) eta: f64,
    pub(super) mean: f64,
    pub(super) response: f64,
    pub(super) working: f64,
    pub(super) pearson: f64,
    pub(super) deviance: f64,
    /// w h' (y - μ) / V.
    pub(super) score: f64,
    /// w h'² / V.
    pub(super) information: f64,
}

impl Likely<'_> {
    /// Every row at the estimates.
    pub(super) fn rows(&self, data: &Dataset) -> Result<Vec<Row>> {
        let y = data.real_target()?;
        let eta = self.predictor(&data.x)?;
        let mut out = Vec::with_capacity(eta.len());
        for (i, &eta) in eta.iter().enumerate() {
            let (w, y) = (data.weight(i), y.at(i, 0));
            if !self.law.family.allows(y) {
                let message =
                    format!("row {} has a target that the family cannot have: {y}", i + 1);
                return Err(Error::new(Code::Target, message).row(i as u64 + 1));
            }
            let at = self.law.at(y, eta);
            let mean = self.law.link.mean(eta);
            if !at.deviance.is_finite() {
                let message = format!("the mean of row {} is not possible with this link", i + 1);
                return Err(Error::numeric(message).row(i as u64 + 1));
            }
            let response = y - mean;
            out.push(Row {
                eta,
                mean,
                response,
                working: if at.weight > 0.0 { at.score / at.weight } else { 0.0 },
                pearson: response.signum() * (w * at.pearson).sqrt(),
                deviance: response.signum() * (w * at.deviance).sqrt(),
                score: w * at.score,
                information: w * at.weight,
            });
        }
        Ok(out)
    }

    /// The linear predictor of rows.
    pub(super) fn predictor(&self, x: &Frame) -> Result<Vec<f64>> {
        if x.ncols() != self.coef.len() {
            let expected = format!("{} columns as in training", self.coef.len());
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        Ok(matvec(x.values(), self.coef).into_iter().map(|eta| eta + self.intercept).collect())
    }

    /// The inputs that have estimates.
    pub(super) fn inputs(&self, x: &Frame) -> Table {
        x.select(&(0..x.ncols()).filter(|&j| Some(j) != self.offset).collect::<Vec<_>>())
    }

    /// Var(η) of rows.
    pub(super) fn variances(&self, x: &Frame) -> Vec<f64> {
        let inputs = self.inputs(x);
        let extra = usize::from(self.has_intercept);
        let covariance = &self.estimates.covariance;
        let mut row = vec![1.0; covariance.nrows()];
        let variance = |i: usize| {
            row[extra..].copy_from_slice(inputs.values().row(i));
            covariance.rows().zip(&row).map(|(line, x)| x * dot(line, &row)).sum::<f64>()
        };
        (0..x.nrows()).map(variance).collect()
    }

    /// How much each row determines its own fit.
    pub(super) fn leverages(&self, x: &Frame, rows: &[Row]) -> Vec<f64> {
        let unit = self.variances(x).into_iter().map(|v| v / self.dispersion);
        unit.zip(rows).map(|(v, row)| (row.information * v).clamp(0.0, 1.0)).collect()
    }

    /// The covariance of the estimates from the scores of rows.
    pub(super) fn robust_covariance(
        &self,
        data: &Dataset,
        kind: Robust,
    ) -> Result<RobustCovariance> {
        let rows = self.rows(data)?;
        let leverage = self.leverages(&data.x, &rows);
        let mut bread = self.estimates.covariance.clone();
        bread.as_mut_slice().iter_mut().for_each(|v| *v /= self.dispersion);
        let scores: Vec<f64> = rows.iter().map(|row| row.score).collect();
        let inputs = self.inputs(&data.x);
        let scores = scaled_rows(&inputs.frame(), usize::from(self.has_intercept), &scores);
        sandwich((&bread, self.rows - self.df), scores, &leverage, data, kind)
    }

    /// The four kinds of residuals.
    pub(super) fn residual_answer(&self, data: &Dataset) -> Result<Answer> {
        let rows = self.rows(data)?;
        let column = |of: fn(&Row) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
        let table = Columns::titled("")
            .counts("row", (1..=rows.len() as i64).collect())
            .reals("fitted", column(|row| row.mean))
            .reals("response", column(|row| row.response))
            .reals("pearson", column(|row| row.pearson))
            .reals("deviance", column(|row| row.deviance))
            .reals("working", column(|row| row.working));
        Ok(Answer { tables: vec![table], ..Answer::new("Residuals") })
    }

    /// Leverage and influence of the rows of training.
    pub(super) fn influence_answer(&self, data: &Dataset) -> Result<Answer> {
        let rows = self.rows(data)?;
        let leverage = self.leverages(&data.x, &rows);
        let count = self.estimates.determined.iter().filter(|known| **known).count() as f64;
        let standardised = |residual: f64, h: f64| match 1.0 - h > 1e-12 {
            true => residual / (self.dispersion * (1.0 - h)).sqrt(),
            false => 0.0,
        };
        let each = |of: fn(&Row) -> f64| -> Vec<f64> {
            rows.iter().zip(&leverage).map(|(row, &h)| standardised(of(row), h)).collect()
        };
        let pearson = each(|row| row.pearson);
        let ratio = |h: f64| if 1.0 - h > 1e-12 { h / (1.0 - h) } else { 0.0 };
        let cook = pearson.iter().zip(&leverage).map(|(p, &h)| p * p * ratio(h) / count).collect();
        let table = Columns::titled("")
            .counts("row", (1..=rows.len() as i64).collect())
            .reals("fitted", rows.iter().map(|row| row.eta).collect())
            .reals("residual", rows.iter().map(|row| row.deviance).collect())
            .reals("leverage", leverage.clone())
            .reals("standardised", each(|row| row.deviance))
            .reals("standardised pearson", pearson)
            .reals("cook", cook);
        let mut answer = Answer { tables: vec![table], ..Answer::new("Influence of rows") };
        answer.notes.push(
            "fitted values are linear predictors, residuals are those of the deviance".into(),
        );
        Ok(answer)
    }
}
