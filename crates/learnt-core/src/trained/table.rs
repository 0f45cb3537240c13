//! Predictions as tables.

use super::{Prediction, Rows, Trained};
use crate::context::Context;
use crate::data::{Column, Frame, Label, Matrix, Schema, Table};
use crate::error::{Result, plain};

impl Trained {
    /// What a summary is of, on one line: target, formula, rows.
    pub fn heading(&self) -> String {
        let history = &self.history;
        let mut words = Vec::new();
        if !history.targets.is_empty() {
            words.push(format!("target {}", plain(&history.targets.join(", "))));
        }
        let terms = history.params.iter().find(|(name, _)| name.ends_with("formula__formula"));
        match (&history.formula, terms) {
            (Some(formula), _) => words.push(format!("formula {}", plain(formula))),
            (None, Some((_, terms))) => words.push(format!("terms {}", plain(&terms.to_string()))),
            (None, None) => {}
        }
        words.push(format!("{} rows", history.rows));
        if history.dropped > 0 {
            words.push(format!("{} dropped with missing values", history.dropped));
        }
        format!("{}\n", words.join("   "))
    }

    /// What a method gives for admitted rows, as a table: classes as categories, numbers as they are;
    /// with `proba` the probabilities of the classes stand beside it.
    pub fn table(&self, method: &str, proba: bool, rows: &Rows, run: &Context) -> Result<Table> {
        let classes = &self.history.classes;
        let mut table = match self.call(method, rows, run)? {
            Prediction::Real(values) => {
                let names = self.names_of(&method.replace('-', "_"), values.ncols());
                Table::new(values, Schema::numeric(names)?)?
            }
            Prediction::Class(codes) => {
                let levels = classes.iter().map(Label::to_string).collect();
                let values = Matrix::column_vector(codes.into_iter().map(f64::from).collect());
                Table::new(values, Schema::new(vec![Column::categorical("prediction", levels)])?)?
            }
            Prediction::Cluster(labels) => {
                let code = |label: Option<u32>| label.map_or(-1.0, f64::from);
                let values = Matrix::column_vector(labels.into_iter().map(code).collect());
                Table::new(values, Schema::numeric(["cluster"])?)?
            }
            Prediction::Outlier(flags) => {
                let levels = vec!["inlier".to_string(), "outlier".to_string()];
                let codes = flags.into_iter().map(|outlier| f64::from(u8::from(outlier))).collect();
                let schema = Schema::new(vec![Column::categorical("prediction", levels)])?;
                Table::new(Matrix::column_vector(codes), schema)?
            }
            Prediction::Table(table) => table,
        };
        if proba {
            let probabilities = self.call("probabilities", rows, run)?.into_matrix();
            let schema = Schema::numeric(classes.iter().map(|class| format!("p_{class}")))?;
            table = beside(&table.frame(), Table::new(probabilities, schema)?)?;
        }
        Ok(table)
    }

    /// Names of columns of numbers.
    fn names_of(&self, method: &str, count: usize) -> Vec<String> {
        let (classes, targets) = (&self.history.classes, &self.history.targets);
        let states = ["probabilities", "posteriors"].contains(&method);
        let name = |j: usize| match count {
            _ if states => classes.get(j).map_or(format!("p_{j}"), |class| format!("p_{class}")),
            1 if method == "predict" => match self.methods().next() {
                Some("log_density") => "log_density".to_string(),
                _ => "prediction".to_string(),
            },
            1 => method.to_string(),
            _ if method != "predict" => {
                classes.get(j).map_or(format!("score_{j}"), |class| format!("score_{class}"))
            }
            _ => targets.get(j).map_or(format!("prediction_{j}"), |t| format!("prediction_{t}")),
        };
        (0..count).map(name).collect()
    }
}

/// Two tables of as many rows as one; a name that is taken gets `_prediction` behind it.
pub fn beside(left: &Frame, right: Table) -> Result<Table> {
    let width = left.ncols() + right.values().ncols();
    let values = Matrix::from_fn(left.nrows(), width, |i, j| match j < left.ncols() {
        true => left.values().at(i, j),
        false => right.values()[(i, j - left.ncols())],
    });
    let mut columns = left.schema().columns().to_vec();
    for column in right.schema().columns() {
        let taken = columns.iter().any(|known| known.name == column.name);
        let name = if taken { format!("{}_prediction", column.name) } else { column.name.clone() };
        columns.push(Column { name, kind: column.kind.clone() });
    }
    Table::new(values, Schema::new(columns)?)
}
