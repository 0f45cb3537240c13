//! A regressor of a function of the target: g(y) - o = f(x), predicted as y = g⁻¹(f(x) + o).
//!
//! g is an expression of the target that can be undone, such as `log(y + 1)`; o is a column of the table that is
//! added as it is (an offset). Predictions are on the scale of the table, and on that of the model where it is asked
//! for (`link`). The inverse of a mean is not the mean of an inverse: with g = log and normal errors the
//! prediction is the median of y. Fitted by the rounds of the learner inside.
//!
//! Box and Cox (1964), Journal of the Royal Statistical Society B 26(2), 211-252.

use crate::learner::{Fitted, Learner};
use crate::linear::LinearRegression;
use crate::prepare::Response;
use learnt_core::answer::Series;
use learnt_core::estimator::{Accepts, Described};
use learnt_core::part::FittedPart;
use learnt_core::persist::{Node, invalid};
use learnt_core::prelude::*;
use learnt_core::rounds::{Erased, InMemory, Job};

/// Fits a regressor to a function of the target, such as its logarithm, and predicts the target itself.
///
/// ```
/// use learnt::{compose::TransformedTargetRegressor, prelude::*};
/// let x = Matrix::column_vector(vec![0.0, 1.0, 2.0, 3.0]);
/// let data = OwnedDataset::regression(x, [0.0_f64, 1.0, 2.0, 3.0].map(f64::exp).to_vec());
/// let func = Some("log(y)".to_string());
/// let model = TransformedTargetRegressor { func, ..Default::default() }.fit(&data.view())?;
/// let predicted = model.predict(&data.x.frame())?;
/// assert!((predicted[(3, 0)] - 3_f64.exp()).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct TransformedTargetRegressor {
    /// The learner of the changed target; by default least squares.
    #[param(positional, learner = regressor, default = LinearRegression)]
    pub regressor: Learner,
    /// What is modelled of the target: an expression of one name that can be undone, such as `log(y)`,
    /// `sqrt(y + 1)` or `1/y`. The target itself without one.
    pub func: Option<String>,
    /// A column that is added to what the learner predicts, and is no input of it (an offset).
    pub offset: Option<String>,
}

/// A fitted [`TransformedTargetRegressor`].
#[derive(Stored, Debug)]
#[stored(validate = validate)]
pub struct TransformedTargetRegressorModel {
    part: Fitted,
    func: Option<String>,
    offset: Option<usize>,
    columns: usize,
}

impl TransformedTargetRegressor {
    fn constraints(&self) -> Result<()> {
        self.func.as_deref().map(Response::parse).transpose().map(drop)
    }

    fn change(&self, schema: &Schema) -> Result<Change> {
        let response = self.func.as_deref().map(Response::parse).transpose()?;
        let offset = self.offset.as_deref().map(|name| schema.find(name)).transpose()?;
        Ok(Change { response, offset })
    }

    /// Calls `f` with the rows as the learner inside sees them: the target changed, the offset taken away.
    pub fn with_rows<T>(&self, data: &Dataset, f: impl FnOnce(&Dataset) -> Result<T>) -> Result<T> {
        self.change(data.x.schema())?.apply(data, 0, f)
    }

    fn wrapped(&self, part: Fitted, schema: &Schema) -> Result<TransformedTargetRegressorModel> {
        let offset = self.change(schema)?.offset;
        let (func, columns) = (self.func.clone(), schema.len());
        Ok(TransformedTargetRegressorModel { part, func, offset, columns })
    }
}

/// What is done to rows before the learner sees them.
struct Change {
    response: Option<Response>,
    offset: Option<usize>,
}

impl Change {
    fn offsets(&self, x: &Frame) -> Option<Vec<f64>> {
        self.offset.map(|column| x.values().column(column))
    }

    /// The inputs without the offset; none where there is none.
    fn inputs(&self, x: &Frame) -> Option<Table> {
        let offset = self.offset?;
        Some(x.select(&(0..x.ncols()).filter(|&j| j != offset).collect::<Vec<_>>()))
    }

    /// Calls `f` with the rows as the learner sees them; `first` is the number of the first.
    fn apply<T>(
        &self,
        data: &Dataset,
        first: u64,
        f: impl FnOnce(&Dataset) -> Result<T>,
    ) -> Result<T> {
        let inputs = self.inputs(&data.x);
        let x = inputs.as_ref().map_or(data.x, Table::frame);
        let Some(Target::Real(y)) = data.y else { return f(&Dataset { x, ..*data }) };
        let offsets = self.offsets(&data.x);
        let mut changed = y.to_matrix();
        for i in 0..changed.nrows() {
            for value in changed.row_mut(i) {
                if let Some(response) = &self.response {
                    *value = response.checked(*value, first + i as u64 + 1)?;
                }
                *value -= offsets.as_ref().map_or(0.0, |offsets| offsets[i]);
            }
        }
        f(&Dataset { x, y: Some(Target::Real(changed.view())), ..*data })
    }

    /// Numbers of the learner on the scale of the model, and of the table where that is wanted.
    fn back(&self, values: &mut [f64], width: usize, offsets: Option<&[f64]>, table: bool) {
        for (i, row) in values.chunks_exact_mut(width.max(1)).enumerate() {
            for value in row {
                *value += offsets.map_or(0.0, |offsets| offsets[i]);
                if let (Some(response), true) = (&self.response, table) {
                    *value = response.inverse(*value);
                }
            }
        }
    }
}

impl Estimator for TransformedTargetRegressor {
    type Model = TransformedTargetRegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("compose.TransformedTargetRegressor")
        .alias(&["transformed-target"])
        .weights()
        .many_outputs()
        .only_by_name()
        .threads()
        .streaming()
        .complexity(25)
        .cost("that of the learner inside")
        .reference("Box and Cox (1964), Journal of the Royal Statistical Society B 26(2), 211-252");

    fn train(&self, data: &Dataset, run: &Context) -> Result<TransformedTargetRegressorModel> {
        if let Some(job) = self.job() {
            let done = rounds::drive(job.as_ref(), &InMemory::new(*data), run)?;
            let Finished { model, schema } = done.take()?;
            return self.wrapped(fitted(&self.regressor, model), &schema);
        }
        let change = self.change(data.x.schema())?;
        let part =
            change.apply(data, 0, |data| Fitted::fit(&*self.regressor, "regressor", data, run))?;
        self.wrapped(part, data.x.schema())
    }

    fn accepts(&self) -> Accepts {
        self.regressor.any_accepts()
    }

    fn job(&self) -> Option<Box<dyn Job>> {
        let inner = self.regressor.any_job()?;
        Some(Box::new(TransformedJob { learner: self.clone(), inner }))
    }
}

fn fitted(learner: &Learner, model: Box<dyn Model>) -> Fitted {
    Fitted { name: "regressor".to_string(), about: learner.about(), model }
}

/// What the rounds leave: the model inside, and the columns of the whole table.
struct Finished {
    model: Box<dyn Model>,
    schema: Schema,
}

/// The rounds of the learner inside, over changed rows.
struct TransformedJob {
    learner: TransformedTargetRegressor,
    inner: Box<dyn Job>,
}

/// The state of the learner inside, and the columns of the whole table.
struct TransformedState {
    inner: Erased,
    schema: Schema,
}

impl TransformedState {
    fn erased(self) -> Erased {
        Erased::stored_by(self, |state| {
            Ok(Node::Map(std::collections::BTreeMap::from([
                ("inner".to_string(), state.inner.to_node()?),
                ("schema".to_string(), state.schema.to_node()),
            ])))
        })
    }
}

impl Job for TransformedJob {
    fn begin(&self, outline: &Outline, run: &Context) -> Result<Erased> {
        let change = self.learner.change(outline.schema)?;
        let kept: Vec<usize> =
            (0..outline.schema.len()).filter(|&j| Some(j) != change.offset).collect();
        let schema = outline.schema.select(&kept);
        let inner = self.inner.begin(&Outline { schema: &schema, ..*outline }, run)?;
        Ok(TransformedState { inner, schema: outline.schema.clone() }.erased())
    }

    fn for_tasks(&self, state: &Erased) -> Result<Option<Erased>> {
        let state: &TransformedState = state.get()?;
        let inner = self.inner.for_tasks(&state.inner)?;
        let told = |inner| TransformedState { inner, schema: state.schema.clone() };
        Ok(inner.map(|inner| told(inner).erased()))
    }

    fn summarize(
        &self,
        state: &Erased,
        block: &Block,
        memo: &mut Memo,
        run: &Context,
    ) -> Result<Erased> {
        let state: &TransformedState = state.get()?;
        let change = self.learner.change(&state.schema)?;
        change.apply(&block.data, block.first_row, |data| {
            self.inner.summarize(&state.inner, &Block { data: *data, ..*block }, memo, run)
        })
    }

    fn recall(&self, state: &Erased, memo: &mut Memo, run: &Context) -> Option<Result<Erased>> {
        let state: &TransformedState = state.get().ok()?;
        self.inner.recall(&state.inner, memo, run)
    }

    fn remembers(&self) -> bool {
        self.inner.remembers()
    }

    fn merge(&self, earlier: Erased, later: Erased) -> Result<Erased> {
        self.inner.merge(earlier, later)
    }

    fn advance(&self, state: Erased, all: Erased, run: &Context) -> Result<Step<Erased, Erased>> {
        let TransformedState { inner, schema } = state.take()?;
        Ok(match self.inner.advance(inner, all, run)? {
            Step::Again(inner) => Step::Again(TransformedState { inner, schema }.erased()),
            Step::Done(done) => {
                Step::Done(Erased::result(Finished { model: self.inner.model(done)?, schema }))
            }
        })
    }

    fn model(&self, done: Erased) -> Result<Box<dyn Model>> {
        let Finished { model, schema } = done.take()?;
        Ok(Box::new(self.learner.wrapped(fitted(&self.learner.regressor, model), &schema)?))
    }

    fn read_state(&self, node: &Node) -> Result<Erased> {
        node.only("transformed target", &["inner", "schema"])?;
        let inner = self.inner.read_state(node.child("inner")?)?;
        Ok(TransformedState { inner, schema: node.field("schema")? }.erased())
    }

    fn read_summary(&self, node: &Node) -> Result<Erased> {
        self.inner.read_summary(node)
    }
}

impl TransformedTargetRegressorModel {
    fn validate(&self) -> Result<()> {
        let readable = self.func.as_deref().map(Response::parse).transpose().is_ok();
        let inside = self.offset.is_none_or(|offset| offset < self.columns);
        match readable && inside && self.part.model.as_regressor().is_some() {
            true => Ok(()),
            false => Err(invalid("a changed target that cannot be had back")),
        }
    }

    fn change(&self) -> Result<Change> {
        let response = self.func.as_deref().map(Response::parse).transpose()?;
        Ok(Change { response, offset: self.offset })
    }

    fn regressor(&self) -> Result<&dyn Regressor> {
        let model = self.part.model.as_regressor();
        model.ok_or_else(|| Error::internal("a changed target without a regressor"))
    }

    fn predicted(&self, x: &Frame, run: &Context, table: bool) -> Result<Matrix> {
        if x.ncols() != self.columns {
            let expected = format!("{} columns as in training", self.columns);
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        let change = self.change()?;
        let inputs = change.inputs(x);
        let inner = inputs.as_ref().map_or(*x, Table::frame);
        let mut out = match table {
            true => self.regressor()?.predict_in(&inner, run)?,
            false => self.regressor()?.link_in(&inner, run)?,
        };
        let width = out.ncols();
        change.back(out.as_mut_slice(), width, change.offsets(x).as_deref(), table);
        match out.as_slice().iter().position(|value| !value.is_finite()) {
            None => Ok(out),
            Some(at) => {
                let row = (at / width.max(1)) as u64 + 1;
                let message =
                    format!("the prediction of row {row} has no value on the scale of the target");
                Err(Error::numeric(message)
                    .row(row)
                    .hint("ask for the scale of the model: `--method link`"))
            }
        }
    }

    /// Fitted values and intervals of the learner inside with the offset, on the scale of the table or of the model.
    fn outside(&self, answer: &mut Answer, x: &Frame, on_table: bool) -> Result<()> {
        let change = self.change()?;
        let offsets = change.offsets(x);
        for table in &mut answer.tables {
            let mut swap = false;
            for column in &mut table.columns {
                if !["fit", "fitted", "lower", "upper"].contains(&column.name.as_str()) {
                    continue;
                }
                let Series::Reals(values) = &mut column.data else { continue };
                change.back(values, 1, offsets.as_deref(), on_table);
            }
            let first =
                |name: &str| table.column(name).and_then(|column| column.reals()?.first().copied());
            if let (Some(lower), Some(upper)) = (first("lower"), first("upper")) {
                swap = lower > upper;
            }
            for column in table.columns.iter_mut().filter(|_| swap) {
                column.name = match column.name.as_str() {
                    "lower" => "upper".to_string(),
                    "upper" => "lower".to_string(),
                    other => other.to_string(),
                };
            }
        }
        Ok(())
    }
}

impl Regressor for TransformedTargetRegressorModel {
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.predicted(x, run, true)
    }

    fn link_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.predicted(x, run, false)
    }
}

impl Model for TransformedTargetRegressorModel {
    fn as_regressor(&self) -> Option<&dyn Regressor> {
        Some(self)
    }
    fn accepts(&self) -> Option<Accepts> {
        Some(self.part.accepts())
    }
    fn attributes(&self) -> Vec<(&'static str, Node)> {
        Vec::new()
    }
    fn report(&self, names: &Names) -> Option<Answer> {
        let kept: Vec<usize> =
            (0..names.schema.len()).filter(|&j| Some(j) != self.offset).collect();
        let inner = names.with_columns(&names.schema.select(&kept));
        let mut report = self.part.model.report(&inner)?;
        if let Some(response) = self.func.as_deref().and_then(|func| Response::parse(func).ok()) {
            report.notes.push(format!(
                "the model is of {}; predictions are of {} itself, on the scale of the model with --method link",
                response.text(),
                response.column()
            ));
        }
        if let Some(offset) = self.offset.and_then(|offset| names.columns.get(offset)) {
            report.notes.push(format!("{offset} is added to the prediction as it is"));
        }
        Some(report)
    }
    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        let kept: Vec<usize> = (0..schema.len()).filter(|&j| Some(j) != self.offset).collect();
        Ok(vec![self.part.part(schema.select(&kept), classes)])
    }
    fn questions(&self) -> &'static [Question] {
        self.part.model.questions()
    }
    fn answer(&self, asked: &Asked) -> Result<Answer> {
        let Some(data) = &asked.data else { return self.part.model.answer(asked) };
        let mut answer = self
            .change()?
            .apply(data, 0, |inner| self.part.model.answer(&asked.with_data(*inner)))?;
        let scaled = ["intervals", "band"].contains(&asked.name);
        let on_table = scaled && asked.choice("scale", &["response", "link"]).unwrap_or(0) == 0;
        if scaled || asked.name == "influence" {
            self.outside(&mut answer, &data.x, on_table)?;
        }
        Ok(answer)
    }
    fn stored(&self) -> Node {
        self.to_node()
    }
    fn version(&self) -> u32 {
        Self::VERSION
    }
    fn converged(&self) -> bool {
        self.part.model.converged()
    }
}

impl Described for TransformedTargetRegressorModel {
    const FIELDS: &'static [(&'static str, &'static str)] = &[];
    const VERSION: u32 = 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::DecisionTreeRegressor;

    fn data() -> OwnedDataset {
        let x = Matrix::from_fn(60, 2, |i, j| ((i * (3 * j + 7)) % 11) as f64 / 4.0);
        let y =
            (0..60).map(|i| (0.3 * x[(i, 0)] + x[(i, 1)]).exp() * (1.0 + (i % 5) as f64 / 50.0));
        let y = y.collect();
        OwnedDataset::regression(x, y)
    }

    fn logged(offset: Option<&str>) -> TransformedTargetRegressor {
        let func = Some("log(y)".to_string());
        TransformedTargetRegressor {
            func,
            offset: offset.map(str::to_string),
            ..Default::default()
        }
    }

    #[test]
    fn a_logarithm_is_fitted_and_undone() {
        let data = data();
        let model = logged(None).fit(&data.view()).unwrap();
        let y = data.view().real_target().unwrap().column(0);
        let logs =
            OwnedDataset::regression(data.x.values().clone(), y.iter().map(|y| y.ln()).collect());
        let plain = LinearRegression::default().fit(&logs.view()).unwrap();
        let (x, run) = (data.x.frame(), Context::default());
        let expected = plain.predict(&x).unwrap();
        let (on_table, on_model) = (model.predict(&x).unwrap(), model.link_in(&x, &run).unwrap());
        for i in 0..60 {
            assert!((on_model[(i, 0)] - expected[(i, 0)]).abs() < 1e-12);
            assert!((on_table[(i, 0)] - expected[(i, 0)].exp()).abs() < 1e-9 * on_table[(i, 0)]);
        }
        let back = TransformedTargetRegressorModel::from_node(&model.stored()).unwrap();
        assert_eq!(back.stored(), model.stored());
    }

    #[test]
    fn an_offset_is_a_coefficient_of_one() {
        let data = data();
        let model = logged(Some("x1")).fit(&data.view()).unwrap();
        let x = data.x.frame();
        let moved = Table::unnamed(Matrix::from_fn(60, 2, |i, j| {
            data.x.values()[(i, j)] + if j == 1 { 1.0 } else { 0.0 }
        }));
        let (here, there) = (model.predict(&x).unwrap(), model.predict(&moved.frame()).unwrap());
        for (a, b) in here.as_slice().iter().zip(there.as_slice()) {
            assert!((b / a - 1_f64.exp()).abs() < 1e-9);
        }
        assert!(logged(Some("x7")).fit(&data.view()).is_err());
    }

    #[test]
    fn intervals_are_on_the_scale_of_the_table_unless_asked() {
        let data = data();
        let model = logged(None).fit(&data.view()).unwrap();
        let ask = |scale: &str| {
            let question = model.questions().iter().find(|q| q.name == "intervals").unwrap();
            let given = [("scale".to_string(), Value::Text(scale.to_string()))];
            let asked = question.ask(&given, Some(data.view()), Context::default()).unwrap();
            let answer = model.answer(&asked).unwrap();
            answer.column("upper").unwrap().reals().unwrap()[3]
        };
        assert!((ask("response") - ask("link").exp()).abs() < 1e-9 * ask("response"));
    }

    #[test]
    fn an_offset_is_in_fitted_values_and_in_intervals_on_both_scales() {
        let data = data();
        let model = logged(Some("x1")).fit(&data.view()).unwrap();
        let link = model.link_in(&data.x.frame(), &Context::default()).unwrap();
        let ask = |name: &str, column: &str, given: &[(String, Value)]| {
            let question = model.questions().iter().find(|q| q.name == name).unwrap();
            let asked = question.ask(given, Some(data.view()), Context::default()).unwrap();
            let answer = model.answer(&asked).unwrap();
            answer.column(column).unwrap().reals().unwrap().to_vec()
        };
        let on_link = [("scale".to_string(), Value::Text("link".to_string()))];
        let (fit, fitted) = (ask("intervals", "fit", &on_link), ask("influence", "fitted", &[]));
        let on_table = ask("intervals", "fit", &[]);
        for i in 0..60 {
            assert!((fit[i] - link[(i, 0)]).abs() < 1e-12);
            assert!((fitted[i] - link[(i, 0)]).abs() < 1e-12);
            assert!((on_table[i] - link[(i, 0)].exp()).abs() < 1e-9 * on_table[i]);
        }
    }

    #[test]
    fn learners_that_need_the_whole_table_are_fitted_too() {
        let data = data();
        let learner = TransformedTargetRegressor {
            regressor: DecisionTreeRegressor::default().into(),
            ..logged(None)
        };
        let model = learner.fit(&data.view()).unwrap();
        assert!(model.predict(&data.x.frame()).unwrap().as_slice().iter().all(|y| *y > 0.0));
    }

    #[test]
    fn targets_without_a_response_are_named() {
        let x = Matrix::from_fn(5, 1, |i, _| i as f64);
        let data = OwnedDataset::regression(x, vec![1.0, 2.0, 0.0, 4.0, 5.0]);
        let error = logged(None).fit(&data.view()).unwrap_err();
        assert!(error.message().contains("row 3"), "{error}");
        let learner =
            TransformedTargetRegressor { func: Some("abs(y)".into()), ..Default::default() };
        assert!(learner.fit(&data.view()).is_err());
    }
}
