//! Common checks of functions: written once, run for every function in the list. One that cannot pass a
//! check says so in its own file, with the reason (`Callable::exempt`).

use super::declarations::edges;
use super::noise;
use learnt::answer::{Answer, Datum};
use learnt::function::{
    AnyFunction, Classes, FunctionEntry, FunctionKind, Given, InputKind, InputSpec,
};
use learnt::params::LearnerSpec;
use learnt::prelude::*;

/// Made-up inputs of every shape.
struct Sample {
    numbers: Vec<f64>,
    weights: Vec<f64>,
    matrix: Matrix,
    table: Table,
    codes: Vec<u32>,
    classes: Vec<Label>,
    clusters: Vec<Option<u32>>,
}

impl Sample {
    /// Rows whose numbers are `number(row, column)` and whose class is `class(row)` of so many.
    fn new(
        rows: usize,
        columns: usize,
        classes: i64,
        number: impl Fn(usize, usize) -> f64,
        class: impl Fn(usize) -> u32,
    ) -> Sample {
        let matrix = Matrix::from_fn(rows, columns, &number);
        let codes: Vec<u32> = (0..rows).map(class).collect();
        Sample {
            numbers: (0..rows).map(|i| number(i, 0)).collect(),
            weights: (0..rows).map(|i| 1.5 + noise(i, 7)).collect(),
            table: Table::unnamed(matrix.clone()),
            matrix,
            clusters: codes.iter().map(|&code| Some(code)).collect(),
            codes,
            classes: (0..classes).map(Label::Int).collect(),
        }
    }

    /// Shares between 0 and 1, rows of two columns that sum to 1.
    fn shares(columns: usize) -> Sample {
        let share = |i: usize| 0.5 + 0.45 * noise(i, 1);
        let number = move |i: usize, j: usize| if j == 0 { share(i) } else { 1.0 - share(i) };
        Sample::new(60, columns, 2, number, |i| u32::from(noise(i, 3) > 0.2))
    }

    /// Three classes with a column each, between 0 and 1.
    fn three() -> Sample {
        Sample::new(60, 3, 3, |i, j| 0.5 + 0.45 * noise(i, j), |i| (i % 3) as u32)
    }

    fn given(&self, spec: &InputSpec) -> Given<'_> {
        match spec.kind {
            InputKind::Numbers if spec.name == "sample_weight" => Given::Numbers(&self.weights),
            InputKind::Numbers => Given::Numbers(&self.numbers),
            InputKind::Matrix => Given::Matrix(self.matrix.view()),
            InputKind::Labels => {
                Given::Labels(Classes { codes: &self.codes, classes: &self.classes })
            }
            InputKind::Clusters => Given::Clusters(&self.clusters),
            InputKind::Table => Given::Table(self.table.frame()),
        }
    }

    /// All inputs of a function; those that may be left out only where asked for.
    fn all(&self, entry: &FunctionEntry, optional: bool) -> Vec<Option<Given<'_>>> {
        let one = |spec: &InputSpec| (optional || !spec.optional).then(|| self.given(spec));
        entry.inputs.iter().map(one).collect()
    }
}

/// Samples that functions of different tasks can take.
fn plain() -> [Sample; 4] {
    [Sample::shares(1), Sample::shares(2), Sample::three(), rising()]
}

/// Those of some samples that differ for a function: what has no inputs needs one call.
fn telling<const N: usize>(entry: &FunctionEntry, samples: [Sample; N]) -> Vec<Sample> {
    samples.into_iter().take(if entry.inputs.is_empty() { 1 } else { N }).collect()
}

/// With and without what may be left out, where there is such a thing.
fn ways(entry: &FunctionEntry) -> &'static [bool] {
    match entry.inputs.iter().any(|input| input.optional) {
        true => &[false, true],
        false => &[false],
    }
}

/// Numbers that rise, for curves.
fn rising() -> Sample {
    Sample::new(60, 2, 2, |i, j| (i + j) as f64 / 70.0, |i| u32::from(i % 5 > 1))
}

/// Inputs that nobody expects.
fn odd() -> [Sample; 10] {
    [
        Sample::new(0, 2, 2, |_, _| 0.0, |_| 0),
        Sample::new(1, 2, 1, |_, _| 0.5, |_| 0),
        Sample::new(1, 1, 1, |_, _| 0.5, |_| 0),
        Sample::new(20, 2, 1, |i, j| 0.5 + 0.4 * noise(i, j), |_| 0),
        Sample::new(20, 2, 2, |_, _| 0.25, |i| (i % 2) as u32),
        Sample::new(20, 2, 2, |i, j| 1e300 * noise(i, j), |i| (i % 2) as u32),
        Sample::new(20, 2, 2, |i, j| 1e-300 * noise(i, j), |i| (i % 2) as u32),
        Sample::new(20, 3, 20, noise, |i| i as u32),
        Sample::new(20, 2, 2, |i, _| if i == 7 { f64::NAN } else { 0.5 }, |i| (i % 2) as u32),
        Sample::new(20, 2, 2, |i, _| if i == 7 { f64::INFINITY } else { 0.5 }, |i| (i % 2) as u32),
    ]
}

/// The function with default parameters, and made-up ones where they are required.
fn ready(entry: &FunctionEntry) -> Box<dyn AnyFunction> {
    let mut function = (entry.build)();
    for spec in function.specs().iter().filter(|spec| spec.required) {
        let tried = [
            Value::Real(0.5),
            Value::Int(3),
            Value::List(vec![Value::List(vec![Value::Real(0.0), Value::Real(1.0)]); 2]),
            Value::List(vec![Value::Real(1.0)]),
            Value::List(vec![Value::Int(3)]),
            Value::Text("a".into()),
            Value::List(vec![Value::List(vec![
                Value::Text("a".into()),
                Value::Learner(LearnerSpec {
                    learner: "dummy.DummyRegressor".into(),
                    params: Vec::new(),
                }),
            ])]),
        ];
        if let Some(value) = tried.iter().find(|value| spec.kind.accepts(value)) {
            function.set(spec.name, value).unwrap();
        }
    }
    function
}

fn exempt(entry: &FunctionEntry, check: &str) -> bool {
    entry.about.exempt.iter().any(|(name, reason)| *name == check && !reason.is_empty())
}

fn call(
    entry: &FunctionEntry,
    function: &dyn AnyFunction,
    sample: &Sample,
    optional: bool,
    threads: usize,
) -> Result<Answer> {
    let run = Context::default().with_seed(3).with_threads(threads);
    function.call_any(&sample.all(entry, optional), &run)
}

#[test]
fn every_bound_of_a_function_is_refused_just_outside_and_accepted_just_inside() {
    for entry in learnt::functions() {
        let function = ready(entry);
        for param in function.specs() {
            for (value, inside) in edges(&param.kind) {
                let name = format!("{}: {} = {value}", entry.about.path, param.name);
                assert_eq!(param.kind.accepts(&value), inside, "{name}");
                if inside {
                    continue;
                }
                let mut changed = function.clone_any();
                let refused = changed.set(param.name, &value).and_then(|()| changed.check());
                let error = refused.expect_err(&name);
                assert!(error.message().contains(param.name), "{name}: {error}");
            }
        }
    }
}

#[test]
fn metrics_have_a_result_and_threads_do_not_change_a_bit() {
    for entry in learnt::functions() {
        let function = ready(entry);
        let mut results = 0;
        for sample in telling(entry, plain()) {
            for &optional in ways(entry) {
                let with = |threads| {
                    let found = call(entry, function.as_ref(), &sample, optional, threads);
                    found.map(|answer| format!("{:?}", answer.values))
                };
                let one = with(1);
                assert_eq!(one, with(2), "{}", entry.about.path);
                assert_eq!(one, with(4), "{}", entry.about.path);
                results += usize::from(one.is_ok());
            }
        }
        let metric = entry.about.kind == FunctionKind::Metric;
        assert!(results > 0 || !metric, "{} has no result on any sample", entry.about.path);
    }
}

#[test]
fn odd_inputs_are_answered_or_refused_and_never_a_panic() {
    for entry in learnt::functions() {
        let function = ready(entry);
        for sample in telling(entry, odd()) {
            for &optional in ways(entry) {
                let found = call(entry, function.as_ref(), &sample, optional, 1);
                let bad = |spec: &InputSpec| {
                    let numbers = matches!(spec.kind, InputKind::Numbers | InputKind::Matrix);
                    numbers && !spec.missing && !spec.optional
                };
                let not_finite = sample.numbers.iter().any(|value| !value.is_finite());
                if not_finite && entry.inputs.iter().any(bad) {
                    assert!(found.is_err(), "{} takes what is not finite", entry.about.path);
                }
            }
        }
    }
}

/// All numbers of an answer.
fn numbers(datum: &Datum) -> Vec<f64> {
    match datum {
        Datum::Reals(values) => values.clone(),
        Datum::Counts(values) => values.iter().map(|&count| count as f64).collect(),
        Datum::Matrix(matrix) | Datum::CountMatrix(matrix) => matrix.as_slice().to_vec(),
        Datum::List(items) => items.iter().flat_map(numbers).collect(),
        datum => datum.as_real().into_iter().collect(),
    }
}

#[test]
fn weights_times_a_constant_change_nothing() {
    let mut checked = 0;
    for entry in learnt::functions() {
        let weighted = entry.inputs.iter().any(|input| input.name == "sample_weight");
        if !weighted || exempt(entry, "scaled weights") {
            continue;
        }
        let mut function = ready(entry);
        // A divisor of the total weight less one counts rows by their weight.
        if function.specs().iter().any(|spec| spec.name == "ddof") {
            function.set("ddof", &Value::Int(0)).unwrap();
        }
        for mut sample in plain() {
            let Ok(before) = call(entry, function.as_ref(), &sample, true, 1) else { continue };
            sample.weights.iter_mut().for_each(|weight| *weight *= 3.0);
            let after = call(entry, function.as_ref(), &sample, true, 1).unwrap();
            for ((name, a), (_, b)) in before.values.iter().zip(&after.values) {
                let close = |(x, y): (&f64, &f64)| {
                    x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-9 * (1.0 + x.abs())
                };
                let (a, b) = (numbers(a), numbers(b));
                let same = a.len() == b.len() && a.iter().zip(&b).all(close);
                assert!(same, "{} {name}: {a:?} and {b:?}", entry.about.path);
            }
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} calls were checked");
}

#[test]
fn parameters_and_results_survive_the_way_through_values() {
    for entry in learnt::functions() {
        let function = ready(entry);
        let mut again = (entry.build)();
        for spec in function.specs() {
            let value = function.get(spec.name).unwrap();
            let json = Value::from_json(&value.to_json());
            assert_eq!(json.as_ref(), Some(&value), "{}: {}", entry.about.path, spec.name);
            if value != spec.default {
                again.set(spec.name, &value).unwrap();
            }
            assert_eq!(again.get(spec.name).unwrap(), value, "{}: {}", entry.about.path, spec.name);
        }
        for sample in telling(entry, plain()) {
            if let Ok(answer) = call(entry, function.as_ref(), &sample, false, 1) {
                let back = function.chart_any(&answer);
                assert!(back.is_ok(), "{}: {:?}", entry.about.path, back.err());
            }
        }
    }
}
