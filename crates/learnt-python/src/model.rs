//! Any trained model, as Python sees it.

use crate::convert::{self, Columns, Numbers, Singles};
use crate::failure::{raise, warn};
use crate::function::Answer;
use crate::interrupt;
use crate::picture::Picture;
use crate::singles::{self, Answered, Narrow};
use learnt_core::context::{Context, Observer};
use learnt_core::data::{Dataset, Frame, Matrix, Schema, Sequences, Table, Target};
use learnt_core::error::{Error, Result};
use learnt_core::trained::{Missing, Prediction, Trained};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;

/// At most this many input values are too few for a thread of their own.
pub(crate) const FEW_VALUES: usize = 1024;
/// A model that keeps more rows than this may take long for few values: it looks at all of them, or prepares them.
const MANY_ROWS: u64 = 1 << 16;

/// A trained model.
#[pyclass(frozen, module = "learnt._native")]
pub(crate) struct Model {
    trained: Trained,
}

impl Model {
    pub(crate) fn new(trained: Trained) -> Model {
        Model { trained }
    }

    pub(crate) fn trained(&self) -> &Trained {
        &self.trained
    }

    fn context<'a>(&self, threads: usize, observer: &'a dyn Observer) -> Context<'a> {
        let seed = self.trained.history.seed;
        Context::default().with_seed(seed).with_threads(threads).observed_by(observer)
    }

    /// Calls `work` with rows as Python has them, without the interpreter's lock.
    #[expect(clippy::too_many_arguments, reason = "one reading of arguments for all who need rows")]
    fn with_rows<'py, T: Send>(
        &self,
        py: Python<'py>,
        x: Option<&Bound<'py, PyAny>>,
        columns: Option<Columns>,
        y: Option<&Bound<'py, PyAny>>,
        weights: Option<&Bound<'py, PyAny>>,
        groups: Option<PyReadonlyArray1<'py, u32>>,
        threads: usize,
        work: impl FnOnce(Option<Dataset>, &Context) -> Result<T> + Send,
    ) -> PyResult<T> {
        let inputs = x.map(Numbers::read).transpose()?;
        let known = &self.trained.history.schema;
        let schema = columns.map(|columns| columns.schema_like(known)).transpose();
        let schema = schema.map_err(|error| raise(py, error))?;
        let classes = &self.trained.history.classes;
        let codes: Option<PyReadonlyArray1<'py, u32>> = match (y, classes.is_empty()) {
            (Some(y), false) => Some(y.extract()?),
            _ => None,
        };
        let codes = codes.as_ref().map(|codes| codes.as_slice()).transpose()?;
        let outputs = y.filter(|_| classes.is_empty()).map(Numbers::read).transpose()?;
        let weights = weights.map(Numbers::read).transpose()?;
        let weights = weights.as_ref().map(Numbers::to_contiguous);
        let groups = groups.as_ref().map(|groups| groups.as_array().to_vec());
        let (values, outputs) =
            (inputs.as_ref().map(Numbers::view), outputs.as_ref().map(Numbers::view));
        let outcome = interrupt::run(py, |observer| {
            let run = Context::default().with_threads(threads).observed_by(observer);
            let data = match (values, &schema) {
                (Some(values), Some(schema)) => Some(Dataset {
                    x: Frame::new(values, schema)?,
                    y: match (codes, outputs) {
                        (Some(codes), _) => Some(Target::Class { codes, classes }),
                        (None, outputs) => outputs.map(Target::Real),
                    },
                    weights: weights.as_deref(),
                    groups: groups.as_deref(),
                    sequences: None,
                }),
                _ => None,
            };
            work(data, &run)
        })?;
        warn(py, &outcome.warnings)?;
        Ok(outcome.value)
    }
}

#[pymethods]
impl Model {
    /// A model from the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Model> {
        let outcome = interrupt::run_short(py, |_| learnt::from_bytes(bytes).map(Model::new))?;
        Ok(outcome.value)
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.trained.to_bytes().map_err(|error| raise(py, error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The fitted learners inside, each with its name and as a model of its own.
    fn parts(&self, py: Python<'_>) -> PyResult<Vec<(String, Model)>> {
        let all = interrupt::run_short(py, |_| {
            let parts = learnt::parts(&self.trained)?;
            Ok(parts.into_iter().map(|part| (part.name, Model::new(part.value))).collect())
        })?;
        Ok(all.value)
    }

    /// Writes a model file: afterwards the path holds the old bytes or the new.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        interrupt::run_short(py, |_| self.trained.save(&path)).map(drop)
    }

    /// What a method of the model's roles gives for rows: numbers (2-D), codes of classes, clusters
    /// (-1 is noise), 1 for inliers and -1 for outliers, or a table with its names and levels, in single
    /// precision if asked for. Then the numbers of the rows that it is for, if rows were skipped.
    #[pyo3(signature = (method, x, columns, threads, lengths=None, missing=None, single=false))]
    #[expect(
        clippy::too_many_arguments,
        reason = "one crossing of the boundary, called by one method"
    )]
    fn call<'py>(
        &self,
        method: &str,
        x: &Bound<'py, PyAny>,
        columns: Columns,
        threads: usize,
        lengths: Option<Vec<usize>>,
        missing: Option<&str>,
        single: bool,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Vec<usize>>)> {
        let py = x.py();
        let missing = missing.map(Missing::parse).transpose().map_err(|error| raise(py, error))?;
        let trained = &self.trained;
        let schema =
            columns.schema_like(&trained.history.schema).map_err(|error| raise(py, error))?;
        if trained.model.looks()
            && lengths.is_none()
            && missing.is_none()
            && let Some(rows) = Singles::read(x)?
        {
            let rows = rows.table();
            let outcome = interrupt::run(py, |observer| {
                let run = self.context(threads, observer);
                singles::answer(trained, method, rows, &schema, single, &run)
            })?;
            if let Some(answer) = outcome.value.filter(|_| outcome.warnings.is_empty()) {
                return Ok((answer_object(py, answer)?, None));
            }
        }
        let inputs = Numbers::read(x)?;
        let offsets = convert::offsets(py, lengths.as_deref(), &inputs)?;
        let values = inputs.view();
        let work = |observer: &dyn Observer| {
            let run = self.context(threads, observer);
            let x = Frame::new(values, &schema)?;
            let sequences = offsets.as_deref().map(|offsets| Sequences::new(offsets, x.nrows()));
            let (answer, rows) =
                trained.ask_rows(method, &x, sequences.transpose()?, missing, &run)?;
            let answer = match answer {
                Prediction::Table(table) if single => Answered::Singles(Narrow::of(&table, &run)?),
                answer => Answered::Doubles(answer),
            };
            Ok((answer, rows.kept().map(<[usize]>::to_vec)))
        };
        let keeps_many = trained.about.stores_rows && trained.history.rows > MANY_ROWS;
        let outcome = match inputs.len() <= FEW_VALUES && !keeps_many {
            true => interrupt::run_short(py, work)?,
            false => interrupt::run(py, work)?,
        };
        warn(py, &outcome.warnings)?;
        let (answer, kept) = outcome.value;
        Ok((answer_object(py, answer)?, kept))
    }

    /// The rows before the transformation; transformed rows need no names.
    #[pyo3(signature = (x, threads, single=false))]
    fn inverse_transform<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        threads: usize,
        single: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = x.py();
        let inputs = Numbers::read(x)?;
        let values = inputs.view();
        let outcome = interrupt::run(py, |observer| {
            let run = Context::default().with_threads(threads).observed_by(observer);
            let table = self.trained.inverse_transform(values, &run)?;
            Ok(match single {
                true => Answered::Singles(Narrow::of(&table, &run)?),
                false => Answered::Doubles(Prediction::Table(table)),
            })
        })?;
        answer_object(py, outcome.value)
    }

    /// Rows drawn from the model's density.
    fn sample<'py>(&self, py: Python<'py>, rows: usize, seed: u64) -> PyResult<Bound<'py, PyAny>> {
        let outcome = interrupt::run(py, |observer| {
            let run = Context::default().with_seed(seed).observed_by(observer);
            self.trained.sample(rows, &run)
        })?;
        convert::array(py, outcome.value.into_parts().0)
    }

    /// The score below which rows are outliers; `None` if the model is no detector.
    fn threshold(&self) -> Option<f64> {
        self.trained.model.as_detector().map(|detector| detector.threshold())
    }

    /// Names of the transformed columns, for inputs with these names.
    fn names_out(&self, py: Python<'_>, names: Option<Vec<String>>) -> PyResult<Vec<String>> {
        let known = &self.trained.history.schema;
        let find = || -> Result<Vec<String>> {
            let transformer = self
                .trained
                .model
                .as_transformer()
                .ok_or_else(|| Error::unsupported("this model is not a transformer"))?;
            let mut columns = known.columns().to_vec();
            for (column, name) in columns.iter_mut().zip(names.into_iter().flatten()) {
                column.name = name;
            }
            let schema = Schema::new(columns)?;
            let one_row = Matrix::zeros(1, schema.len());
            let inputs = self.trained.history.examples.as_ref().map_or(&one_row, |e| &e.inputs);
            let rows = Frame::new(inputs.view(), &schema)?;
            let table = transformer.transform_in(&rows, &Context::default().with_threads(1))?;
            Ok(table.schema().names().map(ToString::to_string).collect())
        };
        find().map_err(|error| raise(py, error))
    }

    /// Clusters of the training rows, -1 for noise; `None` if the fit kept none.
    fn labels<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let labels = &self.trained.outcome.labels;
        (!labels.is_empty()).then(|| clusters(py, labels))
    }

    /// The objective after each iteration of the last stage that iterated.
    fn loss_curve(&self) -> Vec<f64> {
        learnt_core::context::loss_curve(&self.trained.outcome.trace)
    }

    /// Everything that training found, by name.
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        for (name, node) in self.trained.model.attributes() {
            out.set_item(name, convert::node_object(py, &node)?)?;
        }
        Ok(out)
    }

    /// The report, if the model has one.
    #[pyo3(signature = (marks=false))]
    fn report(&self, marks: bool) -> Option<Answer> {
        let report = self.trained.report();
        let report = if marks { report.map(learnt::linear::marked) } else { report };
        report.map(Answer)
    }

    /// The answer to a question. `y` holds numbers, or codes of classes.
    #[pyo3(signature = (name, arguments, x, columns, y, weights, threads, groups=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "one crossing of the boundary, called by one method"
    )]
    fn ask<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arguments: &Bound<'py, PyDict>,
        x: Option<&Bound<'py, PyAny>>,
        columns: Option<Columns>,
        y: Option<&Bound<'py, PyAny>>,
        weights: Option<&Bound<'py, PyAny>>,
        threads: usize,
        groups: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<Answer> {
        let mut given = Vec::new();
        for (key, value) in arguments {
            given.push((key.extract()?, convert::value(&value)?));
        }
        self.with_rows(py, x, columns, y, weights, groups, threads, |data, run| {
            self.trained.ask(name, &given, data, run).map(Answer)
        })
    }

    /// A picture by name. `y` holds numbers, or codes of classes.
    #[pyo3(signature = (name, x, columns, y, weights, threads))]
    #[expect(
        clippy::too_many_arguments,
        reason = "one crossing of the boundary, called by one function"
    )]
    fn plot<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        x: Option<&Bound<'py, PyAny>>,
        columns: Option<Columns>,
        y: Option<&Bound<'py, PyAny>>,
        weights: Option<&Bound<'py, PyAny>>,
        threads: usize,
    ) -> PyResult<Picture> {
        self.with_rows(py, x, columns, y, weights, None, threads, |data, run| {
            learnt::plot::find(name)?.draw(&self.trained, data.as_ref(), run).map(Picture::new)
        })
    }

    /// The page about the model and how it does on rows.
    #[pyo3(signature = (title, x, columns, y, weights, threads))]
    #[expect(
        clippy::too_many_arguments,
        reason = "one crossing of the boundary, called by one function"
    )]
    fn page<'py>(
        &self,
        py: Python<'py>,
        title: &str,
        x: Option<&Bound<'py, PyAny>>,
        columns: Option<Columns>,
        y: Option<&Bound<'py, PyAny>>,
        weights: Option<&Bound<'py, PyAny>>,
        threads: usize,
    ) -> PyResult<String> {
        self.with_rows(py, x, columns, y, weights, None, threads, |data, run| {
            let sections = learnt::plot::report(&self.trained, data.as_ref(), run)?;
            Ok(learnt_plot::to_page(title, &sections))
        })
    }

    /// Names of the questions that the model answers.
    fn questions(&self) -> Vec<&'static str> {
        self.trained.model.questions().iter().map(|question| question.name).collect()
    }

    /// The rows that each member drew, by number among those that counted.
    fn draws<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Bound<'py, PyArray1<i64>>>>> {
        let found = learnt::draws(&self.trained).map_err(|error| raise(py, error))?;
        let array = |rows: Vec<u32>| PyArray1::from_iter(py, rows.into_iter().map(i64::from));
        Ok(found.map(|members| members.into_iter().map(array).collect()))
    }

    /// What the model was trained with and on.
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let history = &self.trained.history;
        let out = PyDict::new(py);
        out.set_item("path", self.trained.about.path)?;
        out.set_item("params", convert::params_object(py, &history.params)?)?;
        out.set_item("columns", convert::columns(py, &history.schema)?)?;
        let classes: Vec<_> = history
            .classes
            .iter()
            .map(|class| convert::label_object(py, class))
            .collect::<PyResult<_>>()?;
        out.set_item("classes", classes)?;
        out.set_item("targets", &history.targets)?;
        out.set_item("seed", history.seed)?;
        out.set_item("rows", history.rows)?;
        out.set_item("warnings", &history.warnings)?;
        out.set_item("version", &history.version)?;
        out.set_item("converged", self.trained.model.converged())?;
        Ok(out)
    }
}

fn answer_object(py: Python<'_>, answer: Answered) -> PyResult<Bound<'_, PyAny>> {
    match answer {
        Answered::Doubles(prediction) => prediction_object(py, prediction),
        Answered::Singles(table) => table.into_object(py),
    }
}

fn prediction_object(py: Python<'_>, prediction: Prediction) -> PyResult<Bound<'_, PyAny>> {
    match prediction {
        Prediction::Real(values) => convert::array(py, values),
        Prediction::Class(codes) => {
            Ok(PyArray1::from_iter(py, codes.into_iter().map(i64::from)).into_any())
        }
        Prediction::Cluster(labels) => Ok(clusters(py, &labels)),
        Prediction::Outlier(flags) => {
            let sign = |outlier| if outlier { -1_i64 } else { 1 };
            Ok(PyArray1::from_iter(py, flags.into_iter().map(sign)).into_any())
        }
        Prediction::Table(table) => Ok(table_object(py, table)?.into_pyobject(py)?.into_any()),
    }
}

fn table_object<'py>(
    py: Python<'py>,
    table: Table,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (values, schema) = table.into_parts();
    Ok((convert::array(py, values)?, convert::columns(py, &schema)?))
}

fn clusters<'py>(py: Python<'py>, labels: &[Option<u32>]) -> Bound<'py, PyAny> {
    let label = |label: &Option<u32>| label.map_or(-1, i64::from);
    PyArray1::from_iter(py, labels.iter().map(label)).into_any()
}
