//! Writes one small model of each learner to `tests/golden/models`, where later builds must load it.
//! Models that are already there are left alone.

use learnt::compose::{ColumnTransformer, Pipeline};
use learnt::prelude::*;
use learnt::trained::Trained;
use std::path::PathBuf;

fn main() -> Result<()> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/models");
    std::fs::create_dir_all(&folder)?;
    for entry in learnt::entries() {
        let name = format!("{}-{}.learnt", entry.about.path, env!("CARGO_PKG_VERSION"));
        let path = folder.join(name);
        if path.exists() {
            continue;
        }
        let learner: Box<dyn AnyEstimator> = match entry.about.path {
            "pipeline.Pipeline" => {
                let scaler = learnt::prepare::StandardScaler::default();
                let logistic = learnt::linear::LogisticRegression::default();
                Box::new(Pipeline::default().then("scale", scaler).then("model", logistic))
            }
            "compose.ColumnTransformer" => {
                let scaler = learnt::prepare::MinMaxScaler::default();
                Box::new(ColumnTransformer::default().with("unit", scaler, &[":numeric"]))
            }
            _ => {
                let mut learner = (entry.build)();
                for (name, value) in entry.about.check_with {
                    learner.set(name, &Value::parse(value))?;
                }
                learner
            }
        };
        let name = if learner.any_roles().regressor { "cpu" } else { "iris" };
        let mut data = learnt::datasets::load(name)?;
        if entry.about.uses.online && entry.about.wants_scaling {
            let scaler = learnt::prepare::StandardScaler::default().fit(&data.view())?;
            data.x = scaler.transform(&data.x.frame())?;
        }
        if learner.any_roles().two_classes {
            let rows: Vec<usize> = (0..100).collect();
            data = data.view().gather(&rows);
            if let Some(OwnedTarget::Class { classes, .. }) = &mut data.y {
                classes.truncate(2);
            }
        }
        Trained::fit(learner.as_ref(), &data.view(), &[], &Context::default())?.save(&path)?;
    }
    Ok(())
}
