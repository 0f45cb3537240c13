//! What a report calls columns and classes. Models do not store it: it comes from what they were
//! trained on, through every composite down to the model that reports.

use crate::data::{Label, Schema};

/// Names of the columns as a model sees them, and of the classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    /// The columns with their levels.
    pub schema: Schema,
    /// The columns' names.
    pub columns: Vec<String>,
    /// The classes, in order of their codes; empty without classes.
    pub classes: Vec<String>,
    /// The targets; empty where they are not known.
    pub targets: Vec<String>,
}

impl Names {
    /// Of these columns and classes.
    pub fn new(schema: &Schema, classes: &[Label]) -> Names {
        Names {
            schema: schema.clone(),
            columns: schema.names().map(str::to_string).collect(),
            classes: classes.iter().map(ToString::to_string).collect(),
            targets: Vec::new(),
        }
    }

    /// The same columns and classes with the names of the targets.
    #[must_use]
    pub fn with_targets(self, targets: &[String]) -> Names {
        Names { targets: targets.to_vec(), ..self }
    }

    /// What an output of several is called: its target.
    pub fn output(&self, t: usize) -> String {
        self.targets.get(t).cloned().unwrap_or_else(|| format!("Output {}", t + 1))
    }

    /// The same classes after a transformation of the columns.
    #[must_use]
    pub fn with_columns(&self, schema: &Schema) -> Names {
        let (classes, targets) = (self.classes.clone(), self.targets.clone());
        Names { classes, targets, ..Names::new(schema, &[]) }
    }

    /// The same columns with other classes.
    #[must_use]
    pub fn with_classes(&self, classes: Vec<String>) -> Names {
        Names { classes, ..self.clone() }
    }

    /// The name of a class; its code if it has none.
    pub fn class(&self, code: usize) -> String {
        self.classes.get(code).cloned().unwrap_or_else(|| code.to_string())
    }

    /// The class that a line of scores is of: the second of two, else its own.
    pub fn scored_class(&self, line: usize, lines: usize) -> String {
        self.class(if lines == 1 { 1 } else { line })
    }
}
