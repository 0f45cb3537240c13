//! A fitted pipeline: rows go through the fitted steps, and the last one plays its roles.

use crate::learner::Fitted;
use learnt_core::estimator::{Accepts, Described};
use learnt_core::part::FittedPart;
use learnt_core::persist::{Node, invalid};
use learnt_core::prelude::*;
use std::sync::Arc;

/// A fitted [`Pipeline`](super::Pipeline): plays the roles of its last step.
#[derive(Debug)]
pub struct PipelineModel {
    pub(super) parts: Vec<Arc<Fitted>>,
}

/// The rows after the fitted transformers; `None` if there are none.
pub(super) fn through(parts: &[Arc<Fitted>], x: &Frame, run: &Context) -> Result<Option<Table>> {
    let mut table: Option<Table> = None;
    for part in parts {
        let transform = |x: &Frame| {
            claim_output(part, x, run)?;
            let made = part.transformer()?.transform_in(x, run);
            made.map_err(|error| error.within(&part.name))
        };
        table = Some(match &table {
            None => transform(x)?,
            Some(table) => part.with_rows(&table.frame(), run, transform)?,
        });
    }
    Ok(table)
}

/// Claims the table that a step makes. Few rows are not worth the question how wide it is.
pub(super) fn claim_output(part: &Fitted, x: &Frame, run: &Context) -> Result<()> {
    const FEW: usize = 4096;
    if x.nrows() < FEW {
        return Ok(());
    }
    let width = part.transformer()?.transform_in(&x.rows(0, 1), run)?.values().ncols();
    run.claim_table(x.nrows(), width, &format!("the table after step '{}'", part.name))
}

impl PipelineModel {
    pub(crate) fn last(&self) -> Option<&dyn Model> {
        self.parts.last().map(|part| part.model.as_ref())
    }

    /// Calls `f` with the rows as the last step sees them.
    pub(crate) fn prepared<T>(
        &self,
        x: &Frame,
        run: &Context,
        f: impl FnOnce(&Frame) -> Result<T>,
    ) -> Result<T> {
        let Some((last, before)) = self.parts.split_last() else {
            return Err(Error::internal("a pipeline without steps"));
        };
        match through(before, x, run)? {
            Some(table) => last.with_rows(&table.frame(), run, f),
            None => f(x),
        }
    }

    fn role<'m, T: ?Sized>(
        &'m self,
        role: impl FnOnce(&'m dyn Model) -> Option<&'m T>,
    ) -> Result<&'m T> {
        self.last()
            .and_then(role)
            .ok_or_else(|| Error::unsupported("the last step does not play this role"))
    }
}

/// The report of the last step, with the tables of those before it, and a note where its columns are
/// not in the units of the table that was given.
fn steps_report(parts: &[FittedPart], names: &Names) -> Option<Answer> {
    let (last, before) = parts.split_last()?;
    let own = |part: &FittedPart| part.model.report(&names.with_columns(&part.schema));
    let earlier: Vec<(&str, Answer)> =
        before.iter().filter_map(|part| Some((part.name.as_str(), own(part)?))).collect();
    let own = own(last);
    if own.is_none() && earlier.is_empty() {
        return None;
    }
    let mut report = own.unwrap_or_else(|| Answer::new(last.about.name()));
    if let Some(units) = before.iter().find_map(units).filter(|_| !report.tables.is_empty()) {
        let note = format!("numbers were scaled before this step: its tables are in {units}");
        report.notes.push(note);
    }
    if !report.tables.is_empty() {
        report.notes.extend(before.iter().flat_map(|part| part.model.remarks(&part.schema)));
    }
    for (name, answer) in earlier {
        report.tables.extend(
            answer
                .tables
                .into_iter()
                .map(|table| Columns { title: format!("step '{name}': {}", table.title), ..table }),
        );
    }
    Some(report)
}

/// The units that a model, or one inside it, gives its columns in, where those are not the table's.
fn units(part: &FittedPart) -> Option<&'static str> {
    let inside = || part.model.parts(&part.schema, &part.classes).ok();
    part.about.units.or_else(|| inside()?.iter().find_map(units))
}

impl Model for PipelineModel {
    fn as_regressor(&self) -> Option<&dyn Regressor> {
        self.last()?.as_regressor().map(|_| self as &dyn Regressor)
    }
    fn as_classifier(&self) -> Option<&dyn Classifier> {
        self.last()?.as_classifier().map(|_| self as &dyn Classifier)
    }
    fn as_decoder(&self) -> Option<&dyn Decoder> {
        self.last()?.as_decoder().map(|_| self as &dyn Decoder)
    }
    fn as_detector(&self) -> Option<&dyn Detector> {
        self.last()?.as_detector().map(|_| self as &dyn Detector)
    }
    fn as_density(&self) -> Option<&dyn Density> {
        self.last()?.as_density().map(|_| self as &dyn Density)
    }
    fn accepts(&self) -> Option<Accepts> {
        self.parts.first().map(|part| part.accepts())
    }
    fn looks(&self) -> bool {
        self.parts.first().is_some_and(|part| part.model.looks())
    }
    fn prepares(&self) -> bool {
        self.parts.iter().any(|part| part.model.prepares())
    }
    fn as_transformer(&self) -> Option<&dyn Transformer> {
        self.last()?.as_transformer().map(|_| self as &dyn Transformer)
    }
    fn as_clusterer(&self) -> Option<&dyn Clusterer> {
        self.last()?.as_clusterer().map(|_| self as &dyn Clusterer)
    }
    fn attributes(&self) -> Vec<(&'static str, Node)> {
        self.last().map(Model::attributes).unwrap_or_default()
    }
    fn report(&self, names: &Names) -> Option<Answer> {
        steps_report(&self.parts(&names.schema, &[]).ok()?, names)
    }
    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        let no_rows = Matrix::zeros(0, schema.len());
        let (mut out, mut table) = (Vec::new(), Frame::new(no_rows.view(), schema)?.to_table());
        for (k, part) in self.parts.iter().enumerate() {
            out.push(part.part(table.schema().clone(), classes));
            if k + 1 < self.parts.len() {
                table = part.transformer()?.transform(&table.frame())?;
            }
        }
        Ok(out)
    }
    fn prepared_rows(&self, x: &Frame, run: &Context) -> Result<Option<Table>> {
        let Some((last, before)) = self.parts.split_last() else { return Ok(None) };
        let Some(table) = through(before, x, run)? else { return last.model.prepared_rows(x, run) };
        Ok(Some(last.model.prepared_rows(&table.frame(), run)?.unwrap_or(table)))
    }
    fn questions(&self) -> &'static [Question] {
        self.last().map(Model::questions).unwrap_or_default()
    }
    fn answer(&self, asked: &Asked) -> Result<Answer> {
        let last = self.last().ok_or_else(|| Error::internal("a pipeline without steps"))?;
        let before = &self.parts[..self.parts.len() - 1];
        let asked = asked.with_terms(before.iter().rev().find_map(|part| part.model.terms()));
        match &asked.data {
            None => last.answer(&asked),
            Some(data) => self.prepared(&data.x, &asked.run, |x| {
                last.answer(&asked.with_data(Dataset { x: *x, ..*data }))
            }),
        }
    }
    fn stored(&self) -> Node {
        self.to_node()
    }
    fn version(&self) -> u32 {
        Self::VERSION
    }
    fn converged(&self) -> bool {
        self.parts.iter().all(|part| part.model.converged())
    }
}

impl Described for PipelineModel {
    const FIELDS: &'static [(&'static str, &'static str)] = &[];
    const VERSION: u32 = 1;
}

impl Stored for PipelineModel {
    fn to_node(&self) -> Node {
        Node::List(self.parts.iter().map(|part| part.to_node()).collect())
    }
    fn from_node(node: &Node) -> Result<Self> {
        let parts: Vec<Fitted> = Vec::from_node(node)?;
        let Some((_, before)) = parts.split_last() else {
            return Err(invalid("a pipeline without steps"));
        };
        before.iter().try_for_each(|part| part.transformer().map(|_| ()))?;
        Ok(PipelineModel { parts: parts.into_iter().map(Arc::new).collect() })
    }
}

impl Regressor for PipelineModel {
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let last = self.role(Model::as_regressor)?;
        self.prepared(x, run, |x| last.predict_in(x, run))
    }
    fn link_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let last = self.role(Model::as_regressor)?;
        self.prepared(x, run, |x| last.link_in(x, run))
    }
}

impl Classifier for PipelineModel {
    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let last = self.role(Model::as_classifier)?;
        self.prepared(x, run, |x| last.probabilities_in(x, run))
    }
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let last = self.role(Model::as_classifier)?;
        self.prepared(x, run, |x| last.decision_scores_in(x, run))
    }
    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        let last = self.role(Model::as_classifier)?;
        self.prepared(x, run, |x| last.classify_in(x, run))
    }
}

impl Transformer for PipelineModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        through(&self.parts, x, run)?.ok_or_else(|| Error::internal("a pipeline without steps"))
    }
    fn inverse_transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        let mut table: Option<Table> = None;
        for part in self.parts.iter().rev() {
            let frame = table.as_ref().map_or(*x, Table::frame);
            table = Some(
                part.transformer()?
                    .inverse_transform_in(&frame, run)
                    .map_err(|error| error.within(&part.name))?,
            );
        }
        table.ok_or_else(|| Error::internal("a pipeline without steps"))
    }
}

impl Decoder for PipelineModel {
    fn decode_in(
        &self,
        x: &Frame,
        sequences: Option<Sequences>,
        run: &Context,
    ) -> Result<(Vec<u32>, Vec<f64>)> {
        let last = self.role(Model::as_decoder)?;
        self.prepared(x, run, |x| last.decode_in(x, sequences, run))
    }
    fn posteriors_in(
        &self,
        x: &Frame,
        sequences: Option<Sequences>,
        run: &Context,
    ) -> Result<Matrix> {
        let last = self.role(Model::as_decoder)?;
        self.prepared(x, run, |x| last.posteriors_in(x, sequences, run))
    }
    fn log_likelihood_in(
        &self,
        x: &Frame,
        sequences: Option<Sequences>,
        run: &Context,
    ) -> Result<Vec<f64>> {
        let last = self.role(Model::as_decoder)?;
        self.prepared(x, run, |x| last.log_likelihood_in(x, sequences, run))
    }
}

impl Detector for PipelineModel {
    fn scores_in(&self, x: &Frame, run: &Context) -> Result<Vec<f64>> {
        let last = self.role(Model::as_detector)?;
        self.prepared(x, run, |x| last.scores_in(x, run))
    }
    fn threshold(&self) -> f64 {
        self.last().and_then(Model::as_detector).map_or(f64::NAN, Detector::threshold)
    }
}

/// The density of the prepared rows; drawn rows are prepared rows, so none can be drawn.
impl Density for PipelineModel {
    fn log_density_in(&self, x: &Frame, run: &Context) -> Result<Vec<f64>> {
        let last = self.role(Model::as_density)?;
        self.prepared(x, run, |x| last.log_density_in(x, run))
    }
}

impl Clusterer for PipelineModel {
    fn labels(&self) -> Vec<Option<u32>> {
        self.last().and_then(Model::as_clusterer).map(Clusterer::labels).unwrap_or_default()
    }
    fn assign_in(&self, x: &Frame, run: &Context) -> Result<Vec<Option<u32>>> {
        let last = self.role(Model::as_clusterer)?;
        self.prepared(x, run, |x| last.assign_in(x, run))
    }
}
