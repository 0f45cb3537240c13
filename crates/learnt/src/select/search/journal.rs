//! The journal of a search: one line a finished fit, so that a search that was killed goes on.
//!
//! The first line says what is searched; another search with that file is refused. Lines are written
//! whole when a fit ends; a line that a kill cut short is left out when the file is read again. Fits that
//! failed are not kept: they are tried again.

use crate::metrics::Metric;
use crate::select::{Fold, Scored, Split};
use learnt_core::params::LearnerSpec;
use learnt_core::prelude::*;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Finished fits in a file.
#[derive(Debug)]
pub struct Journal {
    file: Mutex<File>,
    known: BTreeMap<String, Scored>,
}

impl Journal {
    /// A journal in this file: a new one, or with `resume` one that is there. `identity` says what is
    /// searched.
    pub fn open(path: &Path, identity: &str, resume: bool) -> Result<Journal> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(!resume);
        let mut file = options.open(path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let head = format!("{}\n", json!({ "learnt": "search", "identity": identity }));
        let mut known = BTreeMap::new();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        match text[..whole].split_once('\n') {
            None => {
                file.set_len(0)?;
                file.seek(SeekFrom::Start(0))?;
                file.write_all(head.as_bytes())?;
            }
            Some((first, lines)) => {
                if format!("{first}\n") != head {
                    let message = "the log is of another search: learner, data, folds, metrics \
                                   or seed differ";
                    return Err(Error::new(Code::Usage, message)
                        .hint("name another file, or leave --resume out and add -f"));
                }
                known.extend(lines.lines().filter_map(read_line));
                file.set_len(whole as u64)?;
                file.seek(SeekFrom::End(0))?;
            }
        }
        Ok(Journal { file: Mutex::new(file), known })
    }

    /// How many fits are known from before.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// What came of a fit, if it was done before.
    pub(super) fn known(&self, key: &str, split: &Split, metrics: usize) -> Option<Fold> {
        let scored = self.known.get(key).filter(|scored| scored.scores.len() == metrics)?;
        Some(Fold {
            train_rows: split.train.len(),
            test_rows: split.test.len(),
            result: Ok(scored.clone()),
            warnings: Vec::new(),
        })
    }

    /// Keeps a fit that ended, if all its scores exist.
    pub(super) fn keep(&self, key: &str, fold: &Fold) -> Result<()> {
        let Ok(scored) = &fold.result else { return Ok(()) };
        let scores: Option<Vec<f64>> =
            scored.scores.iter().map(|score| score.as_ref().ok().copied()).collect();
        let Some(scores) = scores.filter(|scores| scores.iter().all(|score| score.is_finite()))
        else {
            return Ok(());
        };
        let line = json!({
            "fit": key, "scores": scores, "fit_seconds": scored.fit_seconds,
            "score_seconds": scored.score_seconds, "converged": scored.converged,
        });
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(format!("{line}\n").as_bytes())?;
        Ok(())
    }
}

fn read_line(line: &str) -> Option<(String, Scored)> {
    let json: Json = serde_json::from_str(line).ok()?;
    let scores = json["scores"].as_array()?.iter().map(|score| Some(Ok(score.as_f64()?)));
    let scored = Scored {
        scores: scores.collect::<Option<_>>()?,
        train_scores: Vec::new(),
        fit_seconds: json["fit_seconds"].as_f64()?,
        score_seconds: json["score_seconds"].as_f64()?,
        converged: json["converged"].as_bool()?,
        confusion: None,
    };
    Some((json["fit"].as_str()?.to_string(), scored))
}

/// What a search is of: changes with any number of the data, the splits, the learner and the seed.
pub(super) fn identity(
    learner: &dyn AnyEstimator,
    preparation: Option<&dyn AnyEstimator>,
    data: &Dataset,
    splits: &[Split],
    metrics: &[&'static Metric],
    run: &Context,
) -> String {
    let mut sum = Sum(0xcbf2_9ce4_8422_2325);
    let values = data.x.values();
    for i in 0..values.nrows() {
        (0..values.ncols()).for_each(|j| sum.add(values.at(i, j).to_bits()));
        sum.add(data.weight(i).to_bits());
        match data.y {
            Some(Target::Class { codes, .. }) => sum.add(u64::from(codes[i])),
            Some(Target::Real(y)) => (0..y.ncols()).for_each(|j| sum.add(y.at(i, j).to_bits())),
            None => {}
        }
    }
    for split in splits {
        sum.add(split.train.len() as u64);
        split.train.iter().chain(&split.test).for_each(|&row| sum.add(row as u64));
    }
    let spec = |learner: &dyn AnyEstimator| Value::Learner(LearnerSpec::of(learner)).to_json();
    let words = json!({
        "learner": spec(learner), "preparation": preparation.map(spec), "rows": data.nrows(),
        "columns": data.x.schema().names().collect::<Vec<_>>(),
        "metrics": metrics.iter().map(|metric| metric.name).collect::<Vec<_>>(),
    });
    words.to_string().bytes().for_each(|byte| sum.add(u64::from(byte)));
    format!("{:016x}-{}", sum.0, run.seed())
}

/// A running sum of numbers that depends on their order.
struct Sum(u64);

impl Sum {
    fn add(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    }
}
