//! Reads a CSV file, fits ridge regression behind a scaler, scores it on rows set aside, saves the model,
//! loads it again and predicts.
//!
//! `cargo run -p learnt-cli --example first_model -- houses.csv price`; without a file it reads the bundled set `cpu`.

use learnt::compose::Pipeline;
use learnt::linear::Ridge;
use learnt::metrics::{Predictions, find};
use learnt::prelude::*;
use learnt::prepare::StandardScaler;
use learnt::select::{Size, train_test};
use learnt_io::{self as io, ColumnRoles, ReadOptions};

#[expect(clippy::print_stdout, reason = "an example talks to a terminal")]
fn main() -> Result<()> {
    let run = Context::default().with_seed(7);
    let mut arguments = std::env::args().skip(1);
    let (loaded, target) = match (arguments.next(), arguments.next()) {
        (Some(path), Some(target)) => (io::read(path, &ReadOptions::default(), &run)?, target),
        _ => {
            let text = learnt::datasets::csv("cpu")?.as_bytes();
            let table = io::read_bytes("cpu.csv", text, &ReadOptions::default(), &run)?;
            (table, "performance".to_string())
        }
    };

    // Inputs and target, and a quarter of the rows for testing.
    let targets = [target];
    let roles = ColumnRoles { targets: &targets, ..ColumnRoles::default() };
    let data = io::to_dataset(loaded.table, &roles)?.data;
    let parts = train_test(&data.view(), Size::Share(0.25), false, &run)?;
    let (train, test) = (data.view().gather(&parts.train), data.view().gather(&parts.test));

    // A learner is a plain struct; a pipeline is a learner.
    let learner = Pipeline::default()
        .then("scale", StandardScaler::default())
        .then("model", Ridge { alpha: 10.0, ..Ridge::default() });
    let trained = Trained::fit(&learner, &train.view(), &targets, &run)?;

    let predictions = Predictions::of(trained.model.as_ref(), &test.x.frame(), &run)?;
    let outcome = predictions.with_truth(&test.view());
    for name in ["rmse", "r2"] {
        println!("{name} {:.3}", find(name)?.score(&outcome, &run)?);
    }

    let path = std::env::temp_dir().join("first_model.learnt");
    trained.save(&path)?;
    let loaded = learnt::load(&path)?;
    let first = test.x.frame().rows(0, 3);
    println!("{:?}", loaded.predict(&first, &run)?);
    std::fs::remove_file(&path)?;
    Ok(())
}
