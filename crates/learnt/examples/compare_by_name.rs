//! Learners by name: cross-validates several on the same folds, prints the table, and fits the simplest of the
//! good ones with a parameter by name.

use learnt::metrics::{Task, usual_for};
use learnt::params::LearnerSpec;
use learnt::prelude::*;
use learnt::select::{Candidate, compare, usual_splitter};

#[expect(clippy::print_stdout, reason = "an example talks to a terminal")]
fn main() -> Result<()> {
    let owned = learnt::datasets::load("iris")?;
    let data = owned.view();
    let run = Context::default();
    let mut candidates = Vec::new();
    for name in ["logistic-regression", "gaussian-nb", "k-neighbors-classifier"] {
        let learner = learnt::build(&LearnerSpec { learner: name.into(), params: Vec::new() })?;
        candidates.push(Candidate::new(learner));
    }
    let metrics = usual_for(Task::Classification, &data);
    let table = compare(&candidates, &data, &usual_splitter(&data, 5), &metrics, &run)?;
    println!("{}", table.report().to_text());

    let params = vec![("n_neighbors".to_string(), Value::Int(9))];
    let spec = LearnerSpec { learner: "k-neighbors-classifier".into(), params };
    let model = learnt::build(&spec)?.fit_any(&data, &run)?;
    let classes = model.as_classifier().map(|classifier| classifier.classify(&data.x));
    println!("{:?}", classes.transpose()?.map(|codes| codes.len()));
    Ok(())
}
