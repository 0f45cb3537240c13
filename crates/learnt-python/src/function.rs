//! Functions and answers, as Python sees them: one call for every function of the list, and one class
//! for every answer.

use crate::convert::{self, Columns as TableColumns, Numbers};
use crate::failure::{raise, warn};
use crate::interrupt;
use crate::picture::Picture;
use learnt_core::answer::{Answer as CoreAnswer, Datum, Series, TableColumn};
use learnt_core::context::Context;
use learnt_core::data::{Frame, Label, Matrix, OwnedDataset, OwnedTarget, Schema};
use learnt_core::error::Result;
use learnt_core::function::{AnyFunction, Classes, Given, InputKind};
use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyTuple};

/// Computes a function. `inputs` are in the order of the function's own: `None`, arrays of numbers,
/// codes of `classes`, or pairs of values and columns.
#[pyfunction]
#[pyo3(signature = (path, params, inputs, classes, seed, threads))]
pub(crate) fn call<'py>(
    py: Python<'py>,
    path: &str,
    params: &Bound<'py, PyDict>,
    inputs: &Bound<'py, PyList>,
    classes: &Bound<'py, PyList>,
    seed: u64,
    threads: usize,
) -> PyResult<(Bound<'py, PyList>, Vec<String>)> {
    let entry = learnt::find_function(path).map_err(|error| raise(py, error))?;
    let function = build(py, path, params)?;
    let classes: Vec<Label> =
        classes.iter().map(|class| convert::label(&class)).collect::<PyResult<_>>()?;
    let read = |(item, spec): (Bound<'py, PyAny>, &learnt_core::function::InputSpec)| {
        (!item.is_none()).then(|| Part::read(py, &item, spec.kind)).transpose()
    };
    let parts: Vec<Option<Part>> =
        inputs.iter().zip(entry.inputs).map(read).collect::<PyResult<_>>()?;
    let given: Vec<Option<Ready>> = parts
        .iter()
        .map(|part| part.as_ref().map(Part::ready).transpose())
        .collect::<PyResult<_>>()?;
    let outcome = interrupt::run(py, |observer| {
        let run = Context::default()
            .with_seed(seed)
            .with_threads(threads)
            .observed_by(observer)
            .lenient();
        let given: Vec<Option<Given>> = given
            .iter()
            .map(|ready| ready.as_ref().map(|ready| ready.given(&classes)).transpose())
            .collect::<Result<_>>()?;
        function.call_any(&given, &run)
    })?;
    warn(py, &outcome.warnings)?;
    let values = outcome.value.values.into_iter().map(|(_, datum)| datum_object(py, datum));
    let values = PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?;
    Ok((values, outcome.value.notes))
}

/// The picture of a result; `None` where the function draws nothing.
#[pyfunction]
pub(crate) fn picture(
    py: Python<'_>,
    path: &str,
    params: &Bound<'_, PyDict>,
    values: &Bound<'_, PyList>,
) -> PyResult<Option<Picture>> {
    let function = build(py, path, params)?;
    let mut answer = CoreAnswer::default();
    for value in values {
        answer.push("", object_datum(&value)?);
    }
    let chart = function.chart_any(&answer).map_err(|error| raise(py, error))?;
    Ok(chart.map(Picture::new))
}

fn build(py: Python<'_>, path: &str, params: &Bound<'_, PyDict>) -> PyResult<Box<dyn AnyFunction>> {
    let entry = learnt::find_function(path).map_err(|error| raise(py, error))?;
    let mut function = (entry.build)();
    for (name, value) in params {
        let (name, value): (String, _) = (name.extract()?, convert::value(&value)?);
        function.set(&name, &value).map_err(|error| raise(py, error.within(entry.about.name())))?;
    }
    Ok(function)
}

/// Codes of each array, and the classes that they share.
type Coded<'py> = (Vec<Bound<'py, PyArray1<u32>>>, Vec<i64>);

/// Whole numbers as codes of the sorted distinct ones, for arrays of labels that share a list.
#[pyfunction]
pub(crate) fn encode<'py>(
    py: Python<'py>,
    arrays: Vec<PyReadonlyArray1<'py, i64>>,
) -> PyResult<Coded<'py>> {
    let slices: Vec<&[i64]> =
        arrays.iter().map(|array| Ok(array.as_slice()?)).collect::<PyResult<_>>()?;
    let mut classes: Vec<i64> = Vec::new();
    for slice in &slices {
        // Most neighbours are seen already: only new ones are looked up.
        let mut last = None;
        for &value in *slice {
            if last != Some(value) {
                last = Some(value);
                if let Err(place) = classes.binary_search(&value) {
                    if classes.len() >= 65_536 {
                        classes = sorted(&slices);
                        break;
                    }
                    classes.insert(place, value);
                }
            }
        }
    }
    let code = |value: &i64| classes.binary_search(value).unwrap_or_default() as u32;
    let small = classes.first().zip(classes.last()).map(|(low, high)| high.wrapping_sub(*low));
    let codes = slices.iter().map(|slice| match small {
        Some(range @ 0..=65_535) => {
            let low = classes[0];
            let table: Vec<u32> = (0..=range).map(|k| code(&(low + k))).collect();
            PyArray1::from_iter(py, slice.iter().map(|value| table[(value - low) as usize]))
        }
        _ => PyArray1::from_iter(py, slice.iter().map(code)),
    });
    Ok((codes.collect(), classes))
}

fn sorted(slices: &[&[i64]]) -> Vec<i64> {
    let mut all: Vec<i64> = slices.concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// One input as Python gave it.
enum Part<'py> {
    Numbers(Numbers<'py>, InputKind),
    Codes(PyReadonlyArray1<'py, u32>),
    Clusters(Vec<Option<u32>>),
    Table(Numbers<'py>, Schema),
}

/// One input as slices.
enum Ready<'a> {
    Numbers(std::borrow::Cow<'a, [f64]>),
    Matrix(learnt_core::data::MatRef<'a>),
    Codes(&'a [u32]),
    Clusters(&'a [Option<u32>]),
    Table(learnt_core::data::MatRef<'a>, &'a Schema),
}

impl<'py> Part<'py> {
    fn read(py: Python<'py>, item: &Bound<'py, PyAny>, kind: InputKind) -> PyResult<Self> {
        Ok(match kind {
            InputKind::Numbers | InputKind::Matrix => Part::Numbers(Numbers::read(item)?, kind),
            InputKind::Labels => Part::Codes(item.extract()?),
            InputKind::Clusters => {
                let codes: PyReadonlyArray1<'py, i64> = item.extract()?;
                let cluster = |&code: &i64| u32::try_from(code).ok();
                Part::Clusters(codes.as_slice()?.iter().map(cluster).collect())
            }
            InputKind::Table => {
                let (values, columns): (Bound<'py, PyAny>, TableColumns) = item.extract()?;
                let values = Numbers::read(&values)?;
                let schema = columns.schema(values.ncols()).map_err(|error| raise(py, error))?;
                Part::Table(values, schema)
            }
        })
    }

    fn ready(&self) -> PyResult<Ready<'_>> {
        Ok(match self {
            Part::Numbers(numbers, InputKind::Numbers) => Ready::Numbers(numbers.to_contiguous()),
            Part::Numbers(numbers, _) => Ready::Matrix(numbers.view()),
            Part::Codes(codes) => Ready::Codes(codes.as_slice()?),
            Part::Clusters(labels) => Ready::Clusters(labels),
            Part::Table(numbers, schema) => Ready::Table(numbers.view(), schema),
        })
    }
}

impl Ready<'_> {
    fn given<'a>(&'a self, classes: &'a [Label]) -> Result<Given<'a>> {
        Ok(match self {
            Ready::Numbers(values) => Given::Numbers(values),
            Ready::Matrix(view) => Given::Matrix(*view),
            Ready::Codes(codes) => Given::Labels(Classes { codes, classes }),
            Ready::Clusters(labels) => Given::Clusters(labels),
            Ready::Table(view, schema) => Given::Table(Frame::new(*view, schema)?),
        })
    }
}

/// A value of an answer as a Python object; arrays are moved, not copied.
fn datum_object<'py>(py: Python<'py>, datum: Datum) -> PyResult<Bound<'py, PyAny>> {
    Ok(match datum {
        Datum::Missing => py.None().into_bound(py),
        Datum::Flag(b) => PyBool::new(py, b).to_owned().into_any(),
        Datum::Count(i) => i.into_pyobject(py)?.into_any(),
        Datum::Real(x) | Datum::P(x) => x.into_pyobject(py)?.into_any(),
        Datum::Text(text) => text.into_pyobject(py)?.into_any(),
        Datum::Flags(values) => PyArray1::from_vec(py, values).into_any(),
        Datum::Counts(values) => PyArray1::from_vec(py, values).into_any(),
        Datum::Reals(values) => PyArray1::from_vec(py, values).into_any(),
        Datum::Texts(values) => PyList::new(py, values)?.into_any(),
        Datum::Matrix(matrix) => convert::array(py, matrix)?,
        Datum::CountMatrix(matrix) => {
            let counts =
                Array2::from_shape_fn((matrix.nrows(), matrix.ncols()), |cell| matrix[cell] as i64);
            PyArray2::from_owned_array(py, counts).into_any()
        }
        Datum::Labels { codes, classes } => labels_object(py, &codes, &classes)?,
        Datum::List(items) if alike(&items) => stack(py, items)?,
        Datum::List(items) => {
            let objects = items.into_iter().map(|item| datum_object(py, item));
            PyList::new(py, objects.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Datum::Data(data) => data_object(py, *data)?,
    })
}

/// Whether these are matrices of one shape.
fn alike(items: &[Datum]) -> bool {
    let shape = |item: &Datum| match item {
        Datum::Matrix(matrix) => Some((matrix.nrows(), matrix.ncols())),
        _ => None,
    };
    let first = items.first().and_then(shape);
    first.is_some() && items.iter().all(|item| shape(item) == first)
}

/// Matrices of one shape as an array of three dimensions.
fn stack<'py>(py: Python<'py>, items: Vec<Datum>) -> PyResult<Bound<'py, PyAny>> {
    let mut shape = [items.len(), 0, 0];
    let mut values = Vec::new();
    for item in items {
        if let Datum::Matrix(matrix) = item {
            shape = [shape[0], matrix.nrows(), matrix.ncols()];
            values.extend(matrix.into_vec());
        }
    }
    Ok(PyArray1::from_vec(py, values).reshape(shape)?.into_any())
}

/// The names of the bundled data sets.
#[pyfunction]
pub(crate) fn dataset_names() -> Vec<&'static str> {
    learnt::datasets::BUNDLED.iter().map(|set| set.name).collect()
}

/// A bundled data set: its rows, columns and target; its weights; and what it is.
#[pyfunction]
pub(crate) fn dataset<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let set = learnt::datasets::describe(name).map_err(|error| raise(py, error))?;
    let mut data = set.load().map_err(|error| raise(py, error))?;
    let weights = data.weights.take().map(|weights| PyArray1::from_vec(py, weights));
    let about = PyDict::new(py);
    about.set_item("name", set.name)?;
    about.set_item("about", set.about)?;
    about.set_item("target", set.target)?;
    about.set_item("source", set.source)?;
    about.set_item("licence", set.licence)?;
    Ok((data_object(py, data)?, weights, about).into_pyobject(py)?.into_any())
}

/// Inputs, their columns and the target.
fn data_object<'py>(py: Python<'py>, data: OwnedDataset) -> PyResult<Bound<'py, PyAny>> {
    let (values, schema) = data.x.into_parts();
    let columns = convert::columns(py, &schema)?;
    let y = match data.y {
        None => py.None().into_bound(py),
        Some(OwnedTarget::Real(y)) if y.ncols() == 1 => {
            PyArray1::from_vec(py, y.view().column(0)).into_any()
        }
        Some(OwnedTarget::Real(y)) => convert::array(py, y)?,
        Some(OwnedTarget::Class { codes, classes }) => labels_object(py, &codes, &classes)?,
    };
    Ok(PyTuple::new(py, [convert::array(py, values)?, columns, y])?.into_any())
}

/// Labels as an array of whole numbers, of flags, or as a list of anything else.
fn labels_object<'py>(
    py: Python<'py>,
    codes: &[u32],
    classes: &[Label],
) -> PyResult<Bound<'py, PyAny>> {
    let whole = |label: &Label| match label {
        Label::Int(i) => Some(*i),
        _ => None,
    };
    if let Some(values) = classes.iter().map(whole).collect::<Option<Vec<i64>>>() {
        let label = |&code: &u32| values[code as usize];
        return Ok(PyArray1::from_iter(py, codes.iter().map(label)).into_any());
    }
    let objects: Vec<_> =
        classes.iter().map(|class| convert::label_object(py, class)).collect::<PyResult<_>>()?;
    Ok(PyList::new(py, codes.iter().map(|&code| objects[code as usize].clone()))?.into_any())
}

/// A value that `datum_object` made, back again.
fn object_datum(object: &Bound<'_, PyAny>) -> PyResult<Datum> {
    if object.is_none() {
        return Ok(Datum::Missing);
    }
    if let Ok(array) = object.cast::<PyArrayDyn<f64>>() {
        let array = array.readonly();
        let values = array.as_slice()?.to_vec();
        return Ok(match array.as_array().shape() {
            [rows, columns] => Datum::Matrix(
                Matrix::from_vec(*rows, *columns, values)
                    .map_err(|error| PyTypeError::new_err(error.message().to_string()))?,
            ),
            [_, rows, columns] => {
                let one = |part: &[f64]| {
                    Datum::Matrix(Matrix::from_fn(*rows, *columns, |i, j| part[i * columns + j]))
                };
                Datum::List(values.chunks((rows * columns).max(1)).map(one).collect())
            }
            _ => Datum::Reals(values),
        });
    }
    if let Ok(array) = object.cast::<PyArray2<i64>>() {
        let counts = array.readonly();
        let counts = counts.as_array();
        let at = |i: usize, j: usize| counts[(i, j)] as f64;
        return Ok(Datum::CountMatrix(Matrix::from_fn(counts.nrows(), counts.ncols(), at)));
    }
    if let Ok(array) = object.extract::<PyReadonlyArray1<'_, i64>>() {
        return Ok(Datum::Counts(array.as_slice()?.to_vec()));
    }
    if let Ok(array) = object.extract::<PyReadonlyArray1<'_, bool>>() {
        return Ok(Datum::Flags(array.as_slice()?.to_vec()));
    }
    if let Ok(texts) = object.extract::<Vec<String>>() {
        return Ok(Datum::Texts(texts));
    }
    if let Ok(items) = object.cast::<PyList>() {
        return items
            .iter()
            .map(|item| object_datum(&item))
            .collect::<PyResult<_>>()
            .map(Datum::List);
    }
    Ok(match convert::value(object)? {
        learnt_core::params::Value::Bool(b) => Datum::Flag(b),
        learnt_core::params::Value::Int(i) => Datum::Count(i),
        learnt_core::params::Value::Real(x) => Datum::Real(x),
        learnt_core::params::Value::Text(text) => Datum::Text(text),
        _ => return Err(PyTypeError::new_err("a result of another type")),
    })
}

/// An answer: values, tables, charts and notes.
#[pyclass(frozen, module = "learnt._native")]
pub(crate) struct Answer(pub(crate) CoreAnswer);

#[pymethods]
impl Answer {
    /// The title.
    fn title(&self) -> &str {
        &self.0.title
    }

    /// Names and values.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        for (name, datum) in &self.0.values {
            out.set_item(name, datum_object(py, datum.clone())?)?;
        }
        Ok(out)
    }

    /// Title and columns of each table, as arrays and lists of texts.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyDict>)>> {
        let one = |table: &learnt_core::answer::Columns| {
            let columns = PyDict::new(py);
            for column in &table.columns {
                columns.set_item(&column.name, column_object(py, column)?)?;
            }
            Ok((table.title.clone(), columns))
        };
        self.0.tables.iter().map(one).collect()
    }

    /// The notes.
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }

    /// As text with at most this many rows of each table; all without a number.
    #[pyo3(signature = (rows=None))]
    fn text(&self, rows: Option<usize>) -> String {
        let rows = rows.unwrap_or(usize::MAX);
        self.0.to_text_cut(rows, usize::MAX, "to_text() has them all")
    }

    /// As HTML with at most this many rows of each table.
    fn html(&self, rows: usize) -> String {
        self.0.to_html_within(rows)
    }

    /// As Markdown.
    fn markdown(&self) -> String {
        self.0.to_markdown()
    }

    /// As JSON text.
    fn json(&self) -> String {
        self.0.to_json().to_string()
    }

    /// The charts.
    fn charts(&self) -> Vec<Picture> {
        self.0.charts.iter().cloned().map(Picture::new).collect()
    }
}

fn column_object<'py>(py: Python<'py>, column: &TableColumn) -> PyResult<Bound<'py, PyAny>> {
    Ok(match &column.data {
        Series::Reals(values) => PyArray1::from_slice(py, values).into_any(),
        Series::Counts(values) if column.absent.is_empty() => {
            PyArray1::from_slice(py, values).into_any()
        }
        Series::Counts(values) => {
            let value = |(i, &count): (usize, &i64)| match column.absent.contains_key(&i) {
                true => f64::NAN,
                false => count as f64,
            };
            PyArray1::from_iter(py, values.iter().enumerate().map(value)).into_any()
        }
        Series::Texts(values) => PyList::new(py, values)?.into_any(),
    })
}
