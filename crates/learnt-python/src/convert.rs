//! The boundary: arrays and values from Python to Rust and back. Nothing else converts.
//!
//! An array of `float64` whose elements lie a whole number of elements apart inside one block of
//! memory (C order, Fortran order, slices of either, memory maps) is read where it is. Large tables of
//! `float32` are converted block by block for learners that stream ([`Singles`]); other `float32` in one
//! piece is converted on all threads, and every other array once, by NumPy. Both keep the memory order.

use crate::failure::raise;
use crate::internal;
use learnt_core::context::Context;
use learnt_core::data::{
    Column, ColumnKind, Label, MatRef, Matrix, Schema, Volume, offsets_from_lengths,
};
use learnt_core::error::Result;
use learnt_core::params::{LearnerSpec, Value};
use learnt_core::persist::Node;
use learnt_core::vectorized;
use numpy::{
    PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

static COPIED: AtomicU64 = AtomicU64::new(0);

/// Bytes of input that were converted rather than read in place.
pub(crate) fn copied() -> u64 {
    COPIED.load(Ordering::Relaxed)
}

/// One or two dimensions of numbers, read in place.
pub(crate) struct Numbers<'py> {
    owner: PyReadonlyArrayDyn<'py, f64>,
    start: usize,
    shape: [usize; 2],
    strides: [usize; 2],
}

impl<'py> Numbers<'py> {
    /// Reads an array; a single dimension is a column.
    pub(crate) fn read(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Some(numbers) = Self::in_place(array)? {
            return Ok(numbers);
        }
        let copy = match widened(array)? {
            Some(copy) => copy,
            None => {
                let options = PyDict::new(array.py());
                options.set_item("order", "K")?;
                array.call_method("astype", ("float64",), Some(&options))?
            }
        };
        let bytes: u64 = copy.getattr("nbytes")?.extract()?;
        COPIED.fetch_add(bytes, Ordering::Relaxed);
        Self::in_place(&copy)?.ok_or_else(|| PyTypeError::new_err("an array of numbers is needed"))
    }

    fn in_place(array: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let Ok(array) = array.cast::<PyArrayDyn<f64>>() else { return Ok(None) };
        if !array.getattr("flags")?.getattr("aligned")?.extract::<bool>()? {
            return Ok(None);
        }
        let Some((shape, strides)) = layout(array.as_untyped()) else { return Ok(None) };
        let base = array.getattr("base")?;
        let base = base.cast::<PyArrayDyn<f64>>().ok();
        for owner in [Some(array), base].into_iter().flatten() {
            let owner = owner.try_readonly().map_err(|e| PyValueError::new_err(e.to_string()))?;
            let Ok(memory) = owner.as_slice() else { continue };
            let distance = (array.data() as usize).checked_sub(memory.as_ptr() as usize);
            let Some(start) = distance.map(|bytes| bytes / size_of::<f64>()) else { continue };
            let numbers = Numbers { owner, start, shape, strides };
            if numbers.try_view().is_some() {
                return Ok(Some(numbers));
            }
        }
        Ok(None)
    }

    fn try_view(&self) -> Option<MatRef<'_>> {
        let memory = self.owner.as_slice().ok()?.get(self.start..)?;
        let ([nrows, ncols], [down, across]) = (self.shape, self.strides);
        MatRef::strided(memory, nrows, ncols, down, across).ok()
    }

    /// The view of it all.
    pub(crate) fn view(&self) -> MatRef<'_> {
        self.try_view().unwrap_or_else(|| MatRef::from_column(&[]))
    }

    /// Number of columns.
    pub(crate) fn ncols(&self) -> usize {
        self.shape[1]
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.shape[0] * self.shape[1]
    }

    /// The first column, copied only if its values are not neighbours.
    pub(crate) fn to_contiguous(&self) -> Cow<'_, [f64]> {
        let view = self.view();
        match view.ncols() {
            0 => Cow::Borrowed(&[]),
            _ => view.column_slice(0).map_or_else(|| Cow::Owned(view.column(0)), Cow::Borrowed),
        }
    }
}

/// A table of `float32` in one piece, row by row or column by column, read in place.
pub(crate) struct Singles<'py>(PyReadonlyArrayDyn<'py, f32>);

impl<'py> Singles<'py> {
    /// Reads a table that is large enough for its copy to matter, and has many more rows than columns;
    /// `None` for others.
    pub(crate) fn read(array: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        const LARGE: usize = 1 << 17;
        let Ok(array) = array.cast::<PyArrayDyn<f32>>() else { return Ok(None) };
        let &[rows, width] = array.shape() else { return Ok(None) };
        let in_one_piece = array.is_c_contiguous() || array.is_fortran_contiguous();
        if !in_one_piece || rows * width < LARGE || rows < 8 * width {
            return Ok(None);
        }
        let owner = array.try_readonly().map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(Some(Singles(owner)))
    }

    /// The table, for readers on any thread.
    pub(crate) fn table(&self) -> SingleTable<'_> {
        let shape = self.0.shape();
        SingleTable {
            values: self.0.as_slice().unwrap_or(&[]),
            rows: shape.first().copied().unwrap_or(0),
            width: shape.get(1).copied().unwrap_or(0),
            by_row: self.0.is_c_contiguous(),
        }
    }
}

/// The values of [`Singles`].
#[derive(Clone, Copy)]
pub(crate) struct SingleTable<'a> {
    /// All values.
    pub(crate) values: &'a [f32],
    /// Number of rows.
    pub(crate) rows: usize,
    /// Number of columns.
    pub(crate) width: usize,
    /// Whether the values of a row stand together.
    pub(crate) by_row: bool,
}

impl SingleTable<'_> {
    /// Converts rows into a buffer, in the same memory order.
    pub(crate) fn widen<'b>(
        &self,
        rows: Range<usize>,
        buffer: &'b mut [f64],
        run: &Context,
    ) -> Result<MatRef<'b>> {
        let (count, width) = (rows.len(), self.width);
        let out = &mut buffer[..count * width];
        if self.by_row {
            let values = &self.values[rows.start * width..rows.end * width];
            run.par_fill(out, PIECE, |start, piece| widen(piece, &values[start..]));
            return MatRef::row_major(out, count, width);
        }
        run.par_fill(out, count.max(1), |start, piece| {
            widen(piece, &self.values[start / count * self.rows + rows.start..]);
        });
        MatRef::column_major(out, count, width)
    }
}

/// Values of one thread of a conversion.
const PIECE: usize = 1 << 16;

fn widen(out: &mut [f64], values: &[f32]) {
    vectorized!(for (out, value) in out.iter_mut().zip(values) {
        *out = f64::from(*value);
    });
}

/// An array of `float32` in one piece as `float64` in the same order.
fn widened<'py>(array: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    const TOGETHER: usize = 16;
    let Ok(array) = array.cast::<PyArrayDyn<f32>>() else { return Ok(None) };
    let by_row = array.is_c_contiguous();
    if !by_row && !array.is_fortran_contiguous() {
        return Ok(None);
    }
    let owner = array.try_readonly().map_err(|e| PyValueError::new_err(e.to_string()))?;
    let Ok(values) = owner.as_slice() else { return Ok(None) };
    let (chunks, rest) = values.as_chunks::<TOGETHER>();
    let wide = |chunk: &[f32; TOGETHER]| std::array::from_fn(|k| f64::from(chunk[k]));
    let wide: Vec<[f64; TOGETHER]> = Context::default().par_each(chunks, wide);
    let mut out = wide.into_flattened();
    out.extend(rest.iter().copied().map(f64::from));
    let mut shape = array.shape().to_vec();
    if !by_row {
        shape.reverse();
    }
    let out = PyArray1::from_vec(array.py(), out).reshape(shape)?.into_any();
    Ok(Some(if by_row { out } else { out.getattr("T")? }))
}

/// Shape and strides in elements, if the array has one or two dimensions and its elements lie a
/// positive whole number of elements apart.
fn layout(array: &Bound<'_, PyUntypedArray>) -> Option<([usize; 2], [usize; 2])> {
    let width = size_of::<f64>() as isize;
    let stride = |axis: usize| {
        let (length, bytes) = (array.shape()[axis], array.strides()[axis]);
        match length {
            0 | 1 => Some(1),
            _ => (bytes > 0 && bytes % width == 0).then(|| (bytes / width) as usize),
        }
    };
    match *array.shape() {
        [rows] => Some(([rows, 1], [stride(0)?, 1])),
        [rows, columns] => Some(([rows, columns], [stride(0)?, stride(1)?])),
        _ => None,
    }
}

/// Offsets from the lengths of sequences, which must fill the rows of `x`.
pub(crate) fn offsets(
    py: Python<'_>,
    lengths: Option<&[usize]>,
    x: &Numbers<'_>,
) -> PyResult<Option<Vec<usize>>> {
    let offsets = lengths.map(|lengths| offsets_from_lengths(lengths, x.view().nrows()));
    offsets.transpose().map_err(|error| raise(py, error))
}

/// What Python says about columns: names, and levels of those that are categorical.
#[derive(FromPyObject)]
pub(crate) struct Columns {
    names: Option<Vec<String>>,
    levels: Vec<(usize, Vec<String>, bool)>,
    /// The sides of a volume, if the columns are its cells.
    volume: Option<Vec<usize>>,
}

impl Columns {
    /// The schema of a training table.
    pub(crate) fn schema(self, width: usize) -> Result<Schema> {
        let schema = match self.names {
            None if self.levels.is_empty() => Schema::unnamed(width),
            None => {
                let names = Schema::unnamed(width).names().map(ToString::to_string).collect();
                with_levels(names, self.levels)?
            }
            Some(names) => with_levels(names, self.levels)?,
        };
        in_volume(schema, self.volume)
    }

    /// The schema of new rows; without names, columns are known by their place.
    pub(crate) fn schema_like<'s>(self, known: &'s Schema) -> Result<Cow<'s, Schema>> {
        let plain = self.names.is_none() && self.levels.is_empty() && known.all_numeric();
        if plain && self.volume.is_none() {
            return Ok(Cow::Borrowed(known));
        }
        let names = match self.names {
            Some(names) => names,
            None => known.names().map(ToString::to_string).collect(),
        };
        in_volume(with_levels(names, self.levels)?, self.volume).map(Cow::Owned)
    }
}

fn in_volume(schema: Schema, sides: Option<Vec<usize>>) -> Result<Schema> {
    match sides {
        Some(sides) => schema.with_volume(Volume::new(&sides)?),
        None => Ok(schema),
    }
}

fn with_levels(names: Vec<String>, levels: Vec<(usize, Vec<String>, bool)>) -> Result<Schema> {
    let mut columns: Vec<Column> = names.into_iter().map(Column::numeric).collect();
    for (place, levels, ordered) in levels {
        let column = columns.get_mut(place).ok_or_else(|| internal("levels of no column"))?;
        column.kind = ColumnKind::Categorical { levels: levels.into(), ordered };
    }
    Schema::new(columns)
}

/// A matrix as an array of two dimensions that owns the same memory.
pub(crate) fn array<'py>(py: Python<'py>, matrix: Matrix) -> PyResult<Bound<'py, PyAny>> {
    let shape = [matrix.nrows(), matrix.ncols()];
    Ok(PyArray1::from_vec(py, matrix.into_vec()).reshape(shape)?.into_any())
}

/// The names and levels of a schema, as Python has them: (names, [(place, levels, ordered)]).
pub(crate) fn columns<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyAny>> {
    let names: Vec<&str> = schema.names().collect();
    let levels = PyList::empty(py);
    for (place, column) in schema.columns().iter().enumerate() {
        if let ColumnKind::Categorical { levels: words, ordered } = &column.kind {
            levels.append((place, words.as_slice(), *ordered))?;
        }
    }
    Ok((names, levels).into_pyobject(py)?.into_any())
}

/// A class label from Python; NumPy's scalars must have become Python's.
pub(crate) fn label(object: &Bound<'_, PyAny>) -> PyResult<Label> {
    if object.is_instance_of::<PyBool>() {
        return Ok(Label::Bool(object.extract()?));
    }
    if object.is_instance_of::<PyInt>() {
        return Ok(Label::Int(object.extract()?));
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Label::Real(object.extract()?));
    }
    match object.extract::<String>() {
        Ok(text) => Ok(Label::Text(text)),
        Err(_) => Err(PyTypeError::new_err(format!(
            "classes must be bool, int, float or str, got {}",
            object.get_type().name()?
        ))),
    }
}

/// A class label as a Python object.
pub(crate) fn label_object<'py>(py: Python<'py>, label: &Label) -> PyResult<Bound<'py, PyAny>> {
    Ok(match label {
        Label::Bool(b) => PyBool::new(py, *b).to_owned().into_any(),
        Label::Int(i) => i.into_pyobject(py)?.into_any(),
        Label::Real(x) => x.into_pyobject(py)?.into_any(),
        Label::Text(text) => text.into_pyobject(py)?.into_any(),
    })
}

/// A parameter from Python. Learners are known by `_path` and `get_params`; mappings become lists of
/// pairs; arrays and NumPy's scalars become lists and numbers.
pub(crate) fn value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if object.is_none() {
        return Ok(Value::Null);
    }
    if object.is_instance_of::<PyBool>() {
        return Ok(Value::Bool(object.extract()?));
    }
    if object.is_instance_of::<PyInt>() {
        return object.extract().map(Value::Int).or_else(|_| Ok(Value::Real(object.extract()?)));
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Value::Real(object.extract()?));
    }
    if object.is_instance_of::<PyString>() {
        return Ok(Value::Text(object.extract()?));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return object
            .try_iter()?
            .map(|item| value(&item?))
            .collect::<PyResult<_>>()
            .map(Value::List);
    }
    if let Ok(pairs) = object.cast::<PyDict>() {
        let pair = |(key, item)| Ok(Value::List(vec![value(&key)?, value(&item)?]));
        return pairs.iter().map(pair).collect::<PyResult<_>>().map(Value::List);
    }
    if object.hasattr("_path")? && object.hasattr("_native_params")? {
        return learner(object).map(Value::Learner);
    }
    if object.hasattr("tolist")? {
        return value(&object.call_method0("tolist")?);
    }
    let kind = object.get_type().name()?;
    Err(PyTypeError::new_err(format!("a parameter cannot be of type {kind}")))
}

fn learner(object: &Bound<'_, PyAny>) -> PyResult<LearnerSpec> {
    let params = object.call_method0("_native_params")?.cast_into::<PyDict>()?;
    let pair = |(name, item): (Bound<'_, PyAny>, _)| Ok((name.extract()?, value(&item)?));
    Ok(LearnerSpec {
        learner: object.getattr("_path")?.extract()?,
        params: params.iter().map(pair).collect::<PyResult<_>>()?,
    })
}

/// A parameter as a Python object; a learner is the dictionary of its name and parameters.
pub(crate) fn value_object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(b) => PyBool::new(py, *b).to_owned().into_any(),
        Value::Int(i) => i.into_pyobject(py)?.into_any(),
        Value::Real(x) => x.into_pyobject(py)?.into_any(),
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
        Value::List(items) => {
            let objects: Vec<_> =
                items.iter().map(|item| value_object(py, item)).collect::<PyResult<_>>()?;
            PyList::new(py, objects)?.into_any()
        }
        Value::Learner(spec) => {
            let out = PyDict::new(py);
            out.set_item("learner", &spec.learner)?;
            out.set_item("params", params_object(py, &spec.params)?)?;
            out.into_any()
        }
    })
}

/// Parameters by name.
pub(crate) fn params_object<'py>(
    py: Python<'py>,
    params: &[(String, Value)],
) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for (name, value) in params {
        out.set_item(name, value_object(py, value)?)?;
    }
    Ok(out)
}

/// An attribute of a model as a Python object: numbers as arrays, flags as an array of booleans.
pub(crate) fn node_object<'py>(py: Python<'py>, node: &Node) -> PyResult<Bound<'py, PyAny>> {
    Ok(match node {
        Node::Null => py.None().into_bound(py),
        Node::Bool(b) => PyBool::new(py, *b).to_owned().into_any(),
        Node::Int(i) => i.into_pyobject(py)?.into_any(),
        Node::Real(x) => x.into_pyobject(py)?.into_any(),
        Node::Text(text) => text.into_pyobject(py)?.into_any(),
        Node::Reals(shape, values) => {
            PyArray1::from_slice(py, values).reshape(shape.as_slice())?.into_any()
        }
        Node::Indices(values) => {
            PyArray1::from_iter(py, values.iter().map(|&i| i64::from(i))).into_any()
        }
        Node::Ints(values) => PyArray1::from_slice(py, values).into_any(),
        Node::Bytes(values) if values.iter().all(|&byte| byte <= 1) => {
            PyArray1::from_iter(py, values.iter().map(|&byte| byte == 1)).into_any()
        }
        Node::Bytes(values) => PyArray1::from_slice(py, values).into_any(),
        Node::Texts(values) => values.into_pyobject(py)?.into_any(),
        Node::List(items) => {
            let objects: Vec<_> =
                items.iter().map(|item| node_object(py, item)).collect::<PyResult<_>>()?;
            PyList::new(py, objects)?.into_any()
        }
        Node::Map(map) => {
            let out = PyDict::new(py);
            for (name, item) in map {
                out.set_item(name, node_object(py, item)?)?;
            }
            out.into_any()
        }
    })
}
