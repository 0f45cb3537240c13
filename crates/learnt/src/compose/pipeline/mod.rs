//! Pipeline: transformers one after the other, then a learner.
//!
//! Each step is fitted on what the steps before it give, so preparation sees training rows only and
//! is part of the model. If every step is rounds of a mergeable summary, so is the pipeline: its
//! phases run one after the other, and later steps see rows through the fitted earlier ones.

mod by_rounds;
mod model;

pub use model::PipelineModel;

use crate::learner::{Fitted, Learner, Named, offered};
use by_rounds::{JobStep, PipelineJob};
use learnt_core::estimator::{Accepts, Roles};
use learnt_core::prelude::*;
use learnt_core::rounds::{InMemory, Job};
use model::{claim_output, through};
use std::sync::Arc;

/// Chains transformers and a final learner into one model.
///
/// ```
/// use learnt::{baseline::DummyRegressor, compose::Pipeline, prepare::StandardScaler, prelude::*};
/// let pipeline = Pipeline::default()
///     .then("scale", StandardScaler::default())
///     .then("dummy", DummyRegressor::default());
/// let data = OwnedDataset::regression(Matrix::column_vector(vec![1.0, 2.0]), vec![3.0, 5.0]);
/// let model = pipeline.fit(&data.view())?;
/// let regressor = model.as_regressor().ok_or_else(|| Error::internal("not a regressor"))?;
/// assert_eq!(regressor.predict(&data.x.frame())?.as_slice(), [4.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct Pipeline {
    /// The steps in order; all but the last must be transformers.
    #[param(positional, required, learner = any)]
    pub steps: Vec<Named<Learner>>,
}

impl Pipeline {
    /// The pipeline with one more step.
    #[must_use]
    pub fn then(mut self, name: &str, learner: impl Into<Learner>) -> Self {
        self.steps.push(Named::new(name, learner));
        self
    }

    /// The pipeline with another learner in place of the step of this name. By parameters the same is
    /// `set(name, learner)`.
    ///
    /// ```
    /// use learnt::{compose::Pipeline, prepare::{MinMaxScaler, StandardScaler}, prelude::*};
    /// let pipeline = Pipeline::default().then("scale", StandardScaler::default());
    /// let pipeline = pipeline.replace("scale", MinMaxScaler::default())?;
    /// assert_eq!(pipeline.steps[0].value.about().name(), "MinMaxScaler");
    /// assert!(pipeline.replace("scal", MinMaxScaler::default()).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn replace(mut self, name: &str, learner: impl Into<Learner>) -> Result<Self> {
        match self.steps.iter_mut().find(|step| step.name == name) {
            Some(step) => step.value = learner.into(),
            None => {
                let known = self.steps.iter().map(|step| step.name.as_str());
                return Err(Error::unknown("step", name, known));
            }
        }
        Ok(self)
    }

    fn constraints(&self) -> Result<()> {
        let before = self.steps.split_last().map_or(&[][..], |(_, before)| before);
        for Named { name, value: learner } in before {
            if !learner.any_roles().names().contains(&"transformer") {
                let message =
                    format!("step '{name}' ({}) is not a transformer", learner.about().name());
                return Err(Error::new(Code::Parameter, message)
                    .hint("only the last step may be another learner"));
            }
        }
        Ok(())
    }

    fn last(&self) -> Option<&Learner> {
        self.steps.last().map(|step| &step.value)
    }

    /// Steps one after the other on whole tables.
    fn train_in_turn(&self, data: &Dataset, run: &Context) -> Result<PipelineModel> {
        let mut parts: Vec<Arc<Fitted>> = Vec::new();
        let mut table: Option<Table> = None;
        for Named { name, value: learner } in &self.steps {
            if let Some(last) = parts.last() {
                let x = table.as_ref().map_or(data.x, Table::frame);
                claim_output(last, &x, run)?;
                table = Some(last.transformer()?.transform_in(&x, run)?);
            }
            let x = table.as_ref().map_or(data.x, Table::frame);
            parts.push(Arc::new(Fitted::fit(&**learner, name, &Dataset { x, ..*data }, run)?));
        }
        Ok(PipelineModel { parts })
    }

    fn rounds_job(&self) -> Option<PipelineJob> {
        let steps = self.steps.iter().map(|Named { name, value: learner }| {
            Some(JobStep { name: name.clone(), learner: learner.clone(), job: learner.any_job()? })
        });
        Some(PipelineJob { steps: steps.collect::<Option<_>>()? })
    }
}

impl Estimator for Pipeline {
    type Model = PipelineModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::new("pipeline.Pipeline", Roles::NONE)
        .weights()
        .missing()
        .categories()
        .many_outputs()
        .randomness()
        .threads()
        .iterations()
        .streaming()
        .complexity(60)
        .cost("the sum of its steps")
        .exempt(&[("trace", "its steps decide whether it iterates")]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<PipelineModel> {
        let Some(mut job) = self.rounds_job() else { return self.train_in_turn(data, run) };
        let in_memory = InMemory::new(*data);
        // A last step that is faster on the whole table gets it from the others.
        let Some(last) = job.steps.pop_if(|step| step.job.whole_is_faster()) else {
            return rounds::drive(&job, &in_memory, run)?.take();
        };
        let PipelineModel { mut parts } = match job.steps.is_empty() {
            true => PipelineModel { parts: Vec::new() },
            false => rounds::drive(&job, &in_memory, run)?.take()?,
        };
        let table = through(&parts, &data.x, run)?;
        let x = table.as_ref().map_or(data.x, Table::frame);
        let data = Dataset { x, ..*data };
        parts.push(Arc::new(Fitted::fit(&*last.learner, &last.name, &data, run)?));
        Ok(PipelineModel { parts })
    }

    /// The preparation stays as it was fitted; the last step goes on.
    fn update(
        &self,
        model: Option<&PipelineModel>,
        data: &Dataset,
        run: &Context,
    ) -> Result<PipelineModel> {
        let Some((Named { name, value: learner }, before)) = self.steps.split_last() else {
            return Err(Error::internal("a pipeline without steps"));
        };
        let mut parts = match model {
            Some(model) => model.parts[..model.parts.len().saturating_sub(1)].to_vec(),
            None => Pipeline { steps: before.to_vec() }.train_in_turn(data, run)?.parts,
        };
        let last = model.and_then(|model| model.parts.last()).map(|part| part.model.as_ref());
        let table = through(&parts, &data.x, run)?;
        let x = table.as_ref().map_or(data.x, Table::frame);
        let data = offered(data, x, learner.any_accepts());
        let updated = learner.update_any(last, &data, run).map_err(|error| error.within(name))?;
        parts.push(Arc::new(Fitted { name: name.clone(), about: learner.about(), model: updated }));
        Ok(PipelineModel { parts })
    }

    /// The preparation stays as it was fitted; the last step gets larger.
    fn extend(
        &self,
        model: &PipelineModel,
        data: &Dataset,
        run: &Context,
    ) -> Result<PipelineModel> {
        let (Some(Named { name, value: learner }), Some((last, before))) =
            (self.steps.last(), model.parts.split_last())
        else {
            return Err(Error::internal("a pipeline without steps"));
        };
        let mut parts = before.to_vec();
        let table = through(&parts, &data.x, run)?;
        let x = table.as_ref().map_or(data.x, Table::frame);
        let data = offered(data, x, learner.any_accepts());
        let model = learner.extend_any(last.model.as_ref(), &data, run);
        let model = model.map_err(|error| error.within(name))?;
        parts.push(Arc::new(Fitted { name: name.clone(), about: learner.about(), model }));
        Ok(PipelineModel { parts })
    }

    fn roles(&self) -> Roles {
        self.last().map_or(Roles::NONE, |learner| learner.any_roles())
    }

    fn accepts(&self) -> Accepts {
        let first = self.steps.first().map(|step| step.value.any_accepts()).unwrap_or_default();
        let last = self.last().map(|learner| learner.any_accepts()).unwrap_or_default();
        Accepts {
            missing: first.missing,
            infinite: first.infinite,
            categories: first.categories,
            volumes: first.volumes,
            ..last
        }
    }

    fn job(&self) -> Option<Box<dyn Job>> {
        self.rounds_job().map(|job| Box::new(job) as Box<dyn Job>)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::DummyRegressor;
    use crate::prepare::{PolynomialFeatures, SimpleImputer, StandardScaler};

    fn data(rows: usize) -> OwnedDataset {
        let hole = |i: usize, j: usize| {
            if (i * 3 + j).is_multiple_of(17) { f64::NAN } else { (i * i + j) as f64 }
        };
        OwnedDataset::regression(
            Matrix::from_fn(rows, 2, hole),
            (0..rows).map(|i| i as f64).collect(),
        )
    }

    #[test]
    fn rounds_and_turns_agree_to_the_bit_in_one_block() {
        let pipeline = Pipeline::default()
            .then("impute", SimpleImputer::default())
            .then("scale", StandardScaler::default());
        let data = data(100);
        let by_rounds = pipeline.fit(&data.view()).unwrap();
        let in_turn = pipeline.train_in_turn(&data.view(), &Context::default()).unwrap();
        assert_eq!(by_rounds.to_node(), in_turn.to_node());
        assert!(pipeline.job().is_some());
        assert!(pipeline.then("dummy", DummyRegressor::default()).job().is_none());
    }

    #[test]
    fn a_pipeline_goes_on_with_its_last_step() {
        use crate::bayes::GaussianNB;
        let x = Matrix::from_fn(40, 2, |i, j| (i * (j + 3) % 11) as f64 + (i % 2) as f64);
        let labels: Vec<Label> = (0..40).map(|i| Label::Int(i % 2)).collect();
        let data = OwnedDataset::classification(x, &labels);
        let pipeline = Pipeline::default()
            .then("scale", StandardScaler::default())
            .then("bayes", GaussianNB::default());
        let begun = pipeline.fit(&data.view()).unwrap();
        let run = Context::default();
        let more = pipeline.update_in(Some(&begun), &data.view(), &run).unwrap();
        let counts = |model: &PipelineModel| {
            let found = model.attributes().into_iter().find(|(name, _)| *name == "class_count");
            format!("{:?}", found.unwrap().1)
        };
        assert_ne!(counts(&begun), counts(&more));
        assert_eq!(begun.parts[0].model.stored(), more.parts[0].model.stored());
    }

    #[test]
    fn fitted_steps_can_be_reached_with_the_columns_they_see() {
        let pipeline = Pipeline::default()
            .then("impute", SimpleImputer::default())
            .then("poly", PolynomialFeatures::default());
        let data = data(30);
        let model = pipeline.fit(&data.view()).unwrap();
        let parts = model.parts(data.x.schema(), &[]).unwrap();
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["impute", "poly"]);
        assert_eq!((parts[0].schema.len(), parts[1].schema.len()), (2, 2));
        assert_eq!(parts[1].about.name(), "PolynomialFeatures");
    }

    #[test]
    fn tables_in_standard_deviations_say_so() {
        use crate::linear::Ridge;
        let rows = OwnedDataset::regression(
            Matrix::from_fn(20, 2, |i, j| (i * (j + 2) % 7) as f64),
            (0..20).map(|i| i as f64).collect(),
        );
        let scaled = Pipeline::default().then("scale", StandardScaler::default());
        let names = Names::new(rows.x.schema(), &[]);
        let scaled = scaled.then("ridge", Ridge::default()).fit(&rows.view()).unwrap();
        let report = scaled.report(&names);
        assert!(report.unwrap().notes.iter().any(|note| note.contains("standard deviations")));
        let plain = Pipeline::default().then("ridge", Ridge::default());
        let report = plain.fit(&rows.view()).unwrap().report(&names).unwrap();
        assert!(report.notes.iter().all(|note| !note.contains("standard deviations")));
    }

    #[test]
    fn a_regressor_in_the_middle_is_refused() {
        let pipeline = Pipeline::default()
            .then("dummy", DummyRegressor::default())
            .then("scale", StandardScaler::default());
        let error = pipeline.fit(&data(10).view()).unwrap_err();
        assert!(
            error.message().contains("step 'dummy' (DummyRegressor) is not a transformer"),
            "{error}"
        );
    }

    #[test]
    fn parameters_of_steps_are_reached_by_name() {
        let mut pipeline = Pipeline::default().then("poly", PolynomialFeatures::default());
        pipeline.set("poly__degree", &Value::Int(3)).unwrap();
        assert_eq!(pipeline.get("poly__degree").unwrap(), Value::Int(3));
        assert!(pipeline.set("pol__degree", &Value::Int(3)).is_err());
    }

    #[test]
    fn a_step_is_replaced_by_name() {
        let mut pipeline = Pipeline::default()
            .then("scale", StandardScaler::default())
            .then("dummy", DummyRegressor::default());
        pipeline.set("scale", &Value::Text("min-max-scaler".into())).unwrap();
        assert_eq!(pipeline.steps[0].value.about().name(), "MinMaxScaler");
        assert!(matches!(pipeline.get("scale").unwrap(), Value::Learner(_)));
        let error = pipeline.set("scale", &Value::Text("min-max-scalar".into())).unwrap_err();
        assert!(error.to_string().contains("min-max-scaler"), "{error}");
        assert!(pipeline.set("scal", &Value::Text("min-max-scaler".into())).is_err());
    }

    #[test]
    fn an_unknown_learner_in_the_steps_is_named() {
        let mut pipeline = Pipeline::default();
        let steps = Value::parse(r#"[["a", {"learner": "StandardScaller"}]]"#);
        let error = pipeline.set("steps", &steps).unwrap_err();
        assert!(error.to_string().contains("standard-scaler"), "{error}");
    }
}
