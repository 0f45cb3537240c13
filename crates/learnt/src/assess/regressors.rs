//! Regressors that are fitted to targets of one's own making, on the same rows.

use crate::Learner;
use learnt_core::prelude::*;
use learnt_core::trained::check_rows;

/// Refuses learners that predict no numbers.
pub(super) fn check_regressor(learner: &Learner) -> Result<()> {
    match learner.any_roles().regressor {
        true => Ok(()),
        false => {
            let name = learner.about().name();
            Err(Error::unsupported(format!("{name} predicts no numbers")).hint("give a regressor"))
        }
    }
}

/// A regressor fitted to these targets, one column each.
pub(super) fn fit_to(
    learner: &Learner,
    x: Frame,
    targets: &Matrix,
    run: &Context,
) -> Result<Box<dyn Model>> {
    let data = Dataset { y: Some(Target::Real(targets.view())), ..Dataset::new(x) };
    learner.fit_any(&data, run)
}

/// What a model says of each row and target.
pub(super) fn said(
    learner: &Learner,
    model: &dyn Model,
    x: Frame,
    run: &Context,
) -> Result<Matrix> {
    check_rows(learner.about(), model, &x, run)?;
    let regressor =
        model.as_regressor().ok_or_else(|| Error::internal("a model without numbers"))?;
    regressor.predict_in(&x, run)
}

/// The fitted values of a regressor for one target.
pub(super) fn fitted_values(
    learner: &Learner,
    x: Frame,
    y: &[f64],
    run: &Context,
) -> Result<Vec<f64>> {
    let model = fit_to(learner, x, &Matrix::column_vector(y.to_vec()), run)?;
    Ok(said(learner, model.as_ref(), x, run)?.view().column(0))
}
