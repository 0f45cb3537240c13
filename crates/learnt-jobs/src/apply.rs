//! A model's predictions for every row of a table of files, as a job of one round. Every task writes its own
//! Parquet part, whole or not at all, so that it may be done again by anybody.

use crate::message::{Task, check_job, plan_bytes, read_plan, refuse_secrets, tree};
use crate::score::Score;
use learnt::trained::{Missing, Trained};
use learnt_core::context::Context;
use learnt_core::data::{Matrix, Table};
use learnt_core::error::{Code, Error, Result};
use learnt_core::persist::{Stored, file, invalid};
use learnt_core::rounds::{Merger, Source};
use learnt_io::{FileSource, WriteOptions};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is asked of a model for every row.
#[derive(Clone, Debug, Default)]
pub struct ApplySettings {
    /// The method: `predict`, `transform`, `probabilities` and the others of its roles.
    pub method: String,
    /// Whether probabilities stand beside the prediction.
    pub proba: bool,
    /// The folder of the parts; none are written without one.
    pub out: Option<PathBuf>,
    /// Whether predictions are scored: the files hold the target.
    pub score: bool,
    /// What is done with missing values that the learner cannot take.
    pub missing: Option<Missing>,
    /// Rows of a part, about.
    pub part_rows: u64,
    /// Whether workers may have processors with other vectors.
    pub any_processor: bool,
}

/// The bytes of such a job.
pub fn plan_apply(model: &[u8], source: &FileSource, settings: &ApplySettings) -> Result<Vec<u8>> {
    let trained = learnt::from_bytes(model)?;
    if settings.method != "predict" && !trained.methods().any(|name| name == settings.method) {
        return Err(Error::unknown("method", &settings.method, trained.methods()));
    }
    refuse_secrets(source.paths())?;
    let out = match &settings.out {
        None => None,
        Some(folder) => Some(std::path::absolute(folder)?.display().to_string()),
    };
    let missing = settings.missing.map(|policy| policy.name().to_string());
    plan_bytes(
        "apply",
        settings.any_processor,
        vec![
            ("model", file::from_bytes(model)?),
            ("method", settings.method.to_node()),
            ("proba", settings.proba.to_node()),
            ("out", out.to_node()),
            ("score", settings.score.to_node()),
            ("missing", missing.to_node()),
            ("part_rows", settings.part_rows.to_node()),
            ("table", source.describe()?),
        ],
    )
}

/// Such a job, in a process that can work on it.
pub struct Apply {
    trained: Trained,
    source: FileSource,
    settings: ApplySettings,
    digest: String,
}

/// What came of all tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// Rows that were predicted.
    pub rows: u64,
    /// The parts, in the order of the rows.
    pub parts: Vec<String>,
    /// Accuracy or R², if it was asked for.
    pub score: Option<f64>,
}

const FIELDS: &[&str] =
    &["model", "method", "proba", "out", "score", "missing", "part_rows", "table"];

impl Apply {
    /// From the bytes of a plan, if this build may work on it.
    pub fn open(bytes: &[u8]) -> Result<Apply> {
        let (kind, content, digest) = read_plan(bytes)?;
        if kind != "apply" {
            return Err(invalid(format!("a job of kind '{kind}', where predictions are expected")));
        }
        content.only("job", FIELDS)?;
        let missing: Option<String> = content.field("missing")?;
        let out: Option<String> = content.field("out")?;
        let settings = ApplySettings {
            method: content.field("method")?,
            proba: content.field("proba")?,
            out: out.map(PathBuf::from),
            score: content.field("score")?,
            missing: missing.map(|word| Missing::parse(&word)).transpose()?,
            part_rows: content.field("part_rows")?,
            any_processor: true,
        };
        let trained = learnt::from_tree(content.child("model")?)?;
        let source = FileSource::described(content.child("table")?)?;
        Ok(Apply { trained, source, settings, digest })
    }

    /// A word that stands for the job.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Rows of the table.
    pub fn rows(&self) -> u64 {
        self.source.outline().rows
    }

    /// The tasks, one a part: at least this many, if there are blocks enough.
    pub fn tasks(&self, least: u64) -> Result<Vec<Vec<u8>>> {
        let parts = self.rows().div_ceil(self.settings.part_rows.max(1));
        let tasks = Task::cut(1, self.source.blocks(), parts.max(least));
        tasks.iter().map(|task| task.to_bytes(&self.digest)).collect()
    }

    /// Writes the part of a task, and says how many rows it has.
    pub fn answer(&self, task: &[u8], run: &Context) -> Result<Vec<u8>> {
        let blocks = self.source.blocks();
        let task = Task::read(task, &self.digest, blocks)?;
        let run = run.with_seed(self.trained.history.seed);
        let (mut rows, mut tables) = (0, Vec::new());
        let mut merger = Merger::new(blocks);
        for index in task.blocks.clone() {
            run.checkpoint()?;
            self.source.with(index, &mut |block| {
                let x = &block.data.x;
                let admitted = self.trained.admit(x, None, self.settings.missing, &run)?;
                rows += block.data.nrows() as u64;
                if self.settings.score {
                    if admitted.skipped() > 0 {
                        return Err(Error::new(
                            Code::Missing,
                            "rows with missing values have no score",
                        ));
                    }
                    let found = self.trained.call("predict", &admitted, &run)?;
                    let score = Score::of(&block.data, &found, &self.trained.history.classes)?;
                    merger.add(index, score, Score::merge)?;
                }
                if self.settings.out.is_some() {
                    let (method, proba) = (&self.settings.method, self.settings.proba);
                    let table = self.trained.table(method, proba, &admitted, &run)?;
                    tables.push(admitted.spread(table)?);
                }
                Ok(())
            })?;
        }
        let part = match &self.settings.out {
            None => String::new(),
            Some(folder) => {
                let name = format!("part-{:05}.parquet", task.number);
                self.write(folder, &name, tables)?;
                name
            }
        };
        let nodes: Vec<f64> = merger
            .nodes()
            .iter()
            .flat_map(|((level, index), score)| {
                [f64::from(*level), *index as f64].into_iter().chain(score.numbers())
            })
            .collect();
        file::to_bytes(tree(vec![
            ("job", self.digest.to_node()),
            ("task", task.number.to_node()),
            ("first", task.blocks.start.to_node()),
            ("end", task.blocks.end.to_node()),
            ("rows", rows.to_node()),
            ("part", part.to_node()),
            ("score", nodes.to_node()),
        ]))
    }

    fn write(&self, folder: &Path, name: &str, tables: Vec<Table>) -> Result<()> {
        let mut parts = tables.into_iter();
        let first = parts.next().ok_or_else(|| Error::internal("a part without rows"))?;
        let (values, schema) = first.into_parts();
        let mut cells = values.as_slice().to_vec();
        for table in parts {
            if table.schema() != &schema {
                return Err(Error::internal("predictions whose columns differ between blocks"));
            }
            cells.extend_from_slice(table.values().as_slice());
        }
        let width = schema.len();
        let values = Matrix::from_vec(cells.len() / width.max(1), width, cells)?;
        std::fs::create_dir_all(folder)?;
        let table = Table::new(values, schema)?;
        learnt_io::write(folder.join(name), &table.frame(), &WriteOptions::default())
    }

    /// What came of all tasks; an error if one is missing.
    pub fn finish(&self, answers: &[&[u8]]) -> Result<Applied> {
        let blocks = self.source.blocks();
        let mut seen: BTreeMap<u64, (u64, u64, u64, String)> = BTreeMap::new();
        let mut merger = Merger::new(blocks);
        for bytes in answers {
            let root = file::from_bytes(bytes)?;
            root.only("answer", &["job", "task", "first", "end", "rows", "part", "score"])?;
            check_job(&root, &self.digest)?;
            let number: u64 = root.field("task")?;
            if seen.contains_key(&number) {
                continue;
            }
            let numbers: Vec<f64> = root.field("score")?;
            for node in numbers.chunks_exact(6) {
                let score = Score::from_numbers(&node[2..]).ok_or_else(|| invalid("a score"))?;
                merger.add_node((node[0] as u32, node[1] as u64), score, Score::merge)?;
            }
            let range = (root.field("first")?, root.field("end")?);
            seen.insert(number, (range.0, range.1, root.field("rows")?, root.field("part")?));
        }
        let mut next = 0;
        for (first, end, ..) in seen.values() {
            if *first != next {
                return Err(Error::internal("an answer is missing"));
            }
            next = *end;
        }
        if next != blocks {
            return Err(Error::internal("an answer is missing"));
        }
        let score = match self.settings.score {
            true => Some(merger.total()?.value(!self.trained.history.classes.is_empty())),
            false => None,
        };
        let rows = seen.values().map(|(_, _, rows, _)| rows).sum();
        let parts = seen.into_values().map(|(_, _, _, part)| part).filter(|part| !part.is_empty());
        Ok(Applied { rows, parts: parts.collect(), score })
    }

    /// Facts about the job, as JSON.
    pub fn facts(&self) -> serde_json::Value {
        serde_json::json!({ "rows": self.rows(), "blocks": self.source.blocks(), "digest": self.digest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_does_not_depend_on_the_cut() {
        let part = |numbers: [f64; 4]| Score::from_numbers(&numbers).unwrap();
        let (a, b) = (part([2.0, 1.0, 3.0, 4.0]), part([2.0, 0.5, 5.0, 1.0]));
        let both = a.merge(b).unwrap();
        assert_eq!(both.numbers(), [4.0, 1.5, 4.0, 4.0 + 1.0 + 4.0]);
        assert!((both.value(false) - (1.0 - 1.5 / 9.0)).abs() < 1e-15);
    }
}
