//! A model with rows, and what it predicts for them: computed once for all pictures and scores.

use crate::metrics::{Outcome, Predictions};
use learnt_core::prelude::*;
use learnt_core::trained::{Missing, Trained};
use std::cell::OnceCell;

/// What pictures are made from.
pub struct Scene<'a> {
    /// The model.
    pub trained: &'a Trained,
    /// Rows, with or without their target.
    pub data: Option<&'a Dataset<'a>>,
    /// The run.
    pub run: &'a Context<'a>,
    /// Whether the rows are those that the model was just trained on.
    pub(super) of_training: bool,
    predictions: OnceCell<Result<Predictions>>,
}

impl<'a> Scene<'a> {
    /// A model with rows.
    pub fn new(
        trained: &'a Trained,
        data: Option<&'a Dataset<'a>>,
        run: &'a Context<'a>,
    ) -> Scene<'a> {
        Scene { trained, data, run, of_training: false, predictions: OnceCell::new() }
    }

    /// The same where the rows are those that the model was just trained on, so that what the fit gave
    /// about them holds.
    pub fn of_training(self) -> Scene<'a> {
        Scene { of_training: true, ..self }
    }

    /// The rows.
    pub fn rows(&self) -> Result<&'a Dataset<'a>> {
        self.data.ok_or_else(|| Error::new(Code::Usage, "this picture needs rows"))
    }

    /// What the model says about the rows, beside the truth.
    pub fn outcome(&self) -> Result<Outcome<'_>> {
        let data = self.rows()?;
        let found = self.predictions.get_or_init(|| {
            let rows = self.trained.admit(&data.x, data.sequences, Missing::Error, self.run)?;
            Predictions::of(self.trained.model.as_ref(), &rows.frame(), self.run)
        });
        match found {
            Ok(predictions) => Ok(predictions.with_truth(data)),
            Err(error) => Err(error.clone()),
        }
    }
}
