//! Odd data: a clear error or a finite answer, never a panic.

use super::{easy, fit, for_each, noise, outputs};
use learnt::prelude::*;
use learnt::trained::{Missing, Unknown};
use learnt_core::data::Look;
use learnt_core::estimator::{Accepts, Admitted, ROLES};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Fits and predicts; the result is finite numbers or an error with a message.
fn survives(
    learner: &dyn AnyEstimator,
    data: &Dataset,
    what: &str,
) -> std::result::Result<(), String> {
    let attempt = catch_unwind(AssertUnwindSafe(|| -> Result<Vec<f64>> {
        let trained = fit(learner, data)?;
        outputs(&trained, &data.x)
    }));
    match attempt {
        Err(_) => Err(format!("{what}: panicked")),
        Ok(Err(error)) if error.code() == Code::Internal => Err(format!("{what}: {error}")),
        Ok(Err(error)) if error.message().is_empty() => {
            Err(format!("{what}: an error without a message"))
        }
        Ok(Err(_)) => Ok(()),
        Ok(Ok(values)) => match values.iter().all(|x| x.is_finite() || data_has_nan(data)) {
            true => Ok(()),
            false => Err(format!("{what}: an infinite or missing number in the answer")),
        },
    }
}

fn data_has_nan(data: &Dataset) -> bool {
    (0..data.nrows()).any(|i| (0..data.x.ncols()).any(|j| data.x.values().at(i, j).is_nan()))
}

fn with_x(learner: &dyn AnyEstimator, x: Matrix) -> OwnedDataset {
    let mut data = easy(x.nrows(), learner.any_roles());
    data.x = Table::unnamed(x);
    data
}

#[test]
fn odd_tables_give_an_error_or_a_finite_answer() {
    for_each("odd_tables", |_, learner| {
        let sizes = [(1, 4), (2, 4), (3, 4), (5, 4), (40, 1), (4, 40), (30, 4)];
        for (n, d) in sizes {
            let what = format!("{n} x {d}");
            survives(learner, &with_x(learner, Matrix::from_fn(n, d, noise)).view(), &what)?;
            let constant = Matrix::from_fn(n, d, |_, _| 3.25);
            survives(learner, &with_x(learner, constant).view(), &format!("constant {what}"))?;
            let twins = Matrix::from_fn(n, d, |i, _| noise(i, 0));
            survives(learner, &with_x(learner, twins).view(), &format!("equal columns {what}"))?;
        }
        for scale in [1e-320, 1e-200, 1e150, 1e200, 1e308] {
            let x = Matrix::from_fn(30, 4, |i, j| scale * noise(i, j));
            survives(learner, &with_x(learner, x).view(), &format!("scale {scale}"))?;
        }
        let zeros = Matrix::from_fn(30, 4, |i, j| if (i + j) % 2 == 0 { 0.0 } else { -0.0 });
        survives(learner, &with_x(learner, zeros).view(), "signed zeros")
    });
}

#[test]
fn odd_targets_give_an_error_or_a_finite_answer() {
    for_each("odd_targets", |_, learner| {
        let x = Matrix::from_fn(30, 4, noise);
        if learner.any_roles().regressor {
            for scale in [0.0, 1e-300, 1e150, 1e308] {
                let y = (0..30)
                    .map(|i| scale * (1.0 + noise(i, 5)))
                    .map(|v| if v.is_finite() { v } else { 1e308 })
                    .collect();
                survives(
                    learner,
                    &OwnedDataset::regression(x.clone(), y).view(),
                    &format!("target scale {scale}"),
                )?;
            }
        }
        if learner.any_roles().classifier {
            let one: Vec<Label> = vec!["only".into(); 30];
            survives(learner, &OwnedDataset::classification(x.clone(), &one).view(), "one class")?;
            let single: Vec<Label> =
                (0..30).map(|i| if i == 0 { "rare".into() } else { "usual".into() }).collect();
            survives(
                learner,
                &OwnedDataset::classification(x.clone(), &single).view(),
                "a class with one row",
            )?;
            let all: Vec<Label> = (0..30).map(Label::Int).collect();
            survives(
                learner,
                &OwnedDataset::classification(x, &all).view(),
                "as many classes as rows",
            )?;
        }
        Ok(())
    });
}

#[test]
fn missing_and_infinite_values_are_taken_or_named() {
    for_each("missing", |_, learner| {
        let mut data = easy(30, learner.any_roles());
        data.x.values_mut()[(4, 2)] = f64::NAN;
        match fit(learner, &data.view()) {
            Ok(trained) if learner.any_accepts().missing => {
                outputs(&trained, &data.x.frame()).map_err(|error| error.to_string())?;
            }
            Ok(_) => return Err("a missing value was taken although the facts say no".into()),
            Err(error) if learner.any_accepts().missing => return Err(error.to_string()),
            Err(error) => {
                if error.code() != Code::Missing
                    || !error.message().contains("'x2'")
                    || !error.message().contains("row 5")
                {
                    return Err(format!("the error must name column and row: {error}"));
                }
            }
        }
        data.x.values_mut()[(4, 2)] = f64::INFINITY;
        match fit(learner, &data.view()) {
            Ok(_) if learner.any_accepts().infinite => Ok(()),
            Err(error) if error.code() == Code::NotFinite && error.message().contains("'x2'") => {
                Ok(())
            }
            Err(error) => Err(error.to_string()),
            Ok(_) => Err("an infinite value was taken".into()),
        }
    });
}

fn taken(accepts: Accepts, value: f64) -> bool {
    if value.is_nan() { accepts.missing } else { accepts.infinite }
}

/// Every learner that takes no missing values, trained on whole rows, is asked about one that has a
/// hole and one that is infinite.
#[test]
fn prediction_refuses_what_the_learner_cannot_take_by_row_and_column() {
    for_each("gate", |_, learner| {
        let data = easy(30, learner.any_roles());
        let trained = fit(learner, &data.view()).map_err(|error| error.to_string())?;
        for (value, code) in [(f64::NAN, Code::Missing), (f64::INFINITY, Code::NotFinite)] {
            if taken(trained.accepts(), value) {
                continue;
            }
            let mut rows = data.x.clone();
            rows.values_mut()[(4, 2)] = value;
            for table in [rows.clone(), reordered(&rows)] {
                let run = Context::default();
                let error = match trained.predict(&table.frame(), &run) {
                    Err(error) => error,
                    Ok(_) => return Err(format!("{value} was taken")),
                };
                let names = error.row_number() == Some(5) && error.column_name() == Some("x2");
                if error.code() != code || !names || !error.message().contains("'x2'") {
                    return Err(format!("the error must name row and column: {error}"));
                }
            }
        }
        let mut rows = data.x.clone();
        rows.values_mut()[(4, 2)] = f64::NAN;
        let admit = |policy| {
            let admitted = trained.admit(&rows.frame(), None, policy, &Context::default());
            admitted.map_err(|error: Error| error.to_string())
        };
        let holes = usize::from(!trained.accepts().missing);
        let skipped = admit(Missing::Skip)?;
        if skipped.skipped() != holes || skipped.frame().nrows() != 30 - holes {
            return Err(format!("{} rows were skipped", skipped.skipped()));
        }
        let filled = admit(Missing::Impute)?;
        let mean = data.x.values().view().column(2).iter().sum::<f64>() / 30.0;
        let value = filled.frame().values().at(4, 2);
        match filled.filled() == holes && (holes == 0 || (value - mean).abs() < 1e-9) {
            true => Ok(()),
            false => Err(format!("{} values were filled, with {value}", filled.filled())),
        }
    });
}

/// Values that only the last or an early row of a longer table has, in the first or last column, asked for by
/// every method. Models that look at rows themselves overlook none of them.
#[test]
fn every_method_refuses_bad_values_wherever_they_stand() {
    for_each("gate", |_, learner| {
        let data = easy(30, learner.any_roles());
        let trained = fit(learner, &data.view()).map_err(|error| error.to_string())?;
        let long: Vec<usize> = (0..2600).map(|i| i % 30).collect();
        let whole = data.x.frame().gather(&long);
        let run = Context::default().with_threads(2);
        for method in trained.methods() {
            if trained.ask_rows(method, &whole.frame(), None, Missing::Error, &run).is_err() {
                continue;
            }
            for (i, j) in [(2599, 3), (1030, 0)] {
                for (value, code) in [
                    (f64::NAN, Code::Missing),
                    (f64::INFINITY, Code::NotFinite),
                    (f64::NEG_INFINITY, Code::NotFinite),
                ] {
                    if taken(trained.accepts(), value) {
                        continue;
                    }
                    let mut rows = whole.clone();
                    rows.values_mut()[(i, j)] = value;
                    match trained.ask_rows(method, &rows.frame(), None, Missing::Error, &run) {
                        Err(error)
                            if error.code() == code && error.row_number() == Some(i as u64 + 1) => {
                        }
                        Err(error) => return Err(format!("{method}, {value}: {error}")),
                        Ok(_) => return Err(format!("{method}: {value} in row {i} was taken")),
                    }
                }
            }
        }
        Ok(())
    });
}

/// A model that looks at rows itself leaves none of them to the gate, whatever it is asked.
#[test]
fn models_that_look_themselves_look_at_every_row() {
    let looking = std::cell::Cell::new(0);
    for_each("gate", |_, learner| {
        let data = easy(30, learner.any_roles());
        let trained = fit(learner, &data.view()).map_err(|error| error.to_string())?;
        if !trained.model.looks() {
            return Ok(());
        }
        looking.set(looking.get() + 1);
        let long: Vec<usize> = (0..2600).map(|i| i % 30).collect();
        let whole = data.x.frame().gather(&long);
        for role in ROLES.iter().filter(|role| (role.played_by)(trained.model.as_ref())) {
            for method in role.methods {
                let look = Look::new(trained.accepts().missing);
                let rows = Admitted { x: whole.frame().looked_at_by(&look), sequences: None };
                let run = Context::default().with_threads(2);
                let answered = (method.call)(trained.model.as_ref(), &rows, &run).is_ok();
                if answered && !look.is_clean(2600) {
                    return Err(format!("{} leaves rows to the gate", method.name));
                }
            }
        }
        Ok(())
    });
    assert!(looking.get() > 25, "{}", looking.get());
}

/// A policy that is said at fit is followed by predictions, and comes back from a file.
#[test]
fn the_policy_for_missing_values_is_part_of_the_model() {
    let data = easy(30, Roles { regressor: true, ..Roles::NONE });
    let mut trained = fit(&learnt::linear::Ridge::default(), &data.view()).unwrap();
    let mut rows = data.x.clone();
    rows.values_mut()[(4, 2)] = f64::NAN;
    let run = Context::default();
    assert_eq!(trained.predict(&rows.frame(), &run).unwrap_err().code(), Code::Missing);
    trained.history.missing = Missing::Impute;
    let loaded = learnt::from_bytes(&trained.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.history, trained.history);
    assert!(loaded.predict(&rows.frame(), &run).is_ok());
}

/// A level that training did not see, in a text column of a pipeline: refused by default, all zeros where
/// the encoder ignores it, missing or another level where the model says so.
#[test]
fn unknown_levels_follow_the_policy_of_the_model() {
    use learnt::compose::Pipeline;
    use learnt::prepare::{HandleUnknown, OneHotEncoder};
    let table = |levels: [&str; 2]| {
        let column = Column::categorical("c", levels.map(String::from).to_vec());
        let values = Matrix::from_fn(30, 1, |i, _| (i % 2) as f64);
        Table::new(values, Schema::new(vec![column]).unwrap()).unwrap()
    };
    let y = (0..30).map(|i| (i % 2) as f64 + 0.1 * noise(i, 7)).collect();
    let mut data = OwnedDataset::regression(Matrix::zeros(30, 1), y);
    data.x = table(["a", "b"]);
    let new = table(["a", "z"]);
    let run = Context::default();
    let fitted = |handle_unknown| {
        let pipeline = Pipeline::default()
            .then("encode", OneHotEncoder { handle_unknown, ..Default::default() })
            .then("ridge", learnt::linear::Ridge::default());
        fit(&pipeline, &data.view()).unwrap()
    };
    let error = fitted(HandleUnknown::Error).predict(&new.frame(), &run).unwrap_err();
    assert_eq!(error.code(), Code::Category);
    assert!(error.message().contains("'z' (15)"), "{error}");
    let ignoring = fitted(HandleUnknown::Ignore).predict(&new.frame(), &run).unwrap();
    assert!(ignoring.into_matrix().as_slice().iter().all(|value| value.is_finite()));
    // An encoder that refuses inside a model that hands on names the value itself.
    let mut handing_on = fitted(HandleUnknown::Error);
    handing_on.history.unknown = Unknown::Other;
    let error = handing_on.predict(&new.frame(), &run).unwrap_err();
    assert!(error.code() == Code::Category && error.message().contains("'z' (15)"), "{error}");
    let mut tree = fit(&learnt::tree::DecisionTreeRegressor::default(), &data.view()).unwrap();
    for policy in [Unknown::Missing, Unknown::Other] {
        tree.history.unknown = policy;
        assert!(tree.predict(&new.frame(), &run).is_ok(), "{policy:?}");
    }
}

/// The same columns in another order, so that the rows must be copied to be aligned.
fn reordered(table: &Table) -> Table {
    let last = table.schema().len() - 1;
    let order: Vec<usize> = (0..=last).rev().collect();
    table.frame().select(&order)
}

/// What a transformer hands on is checked before the next step sees it.
#[test]
fn steps_of_a_pipeline_refuse_what_the_steps_before_them_make() {
    use learnt::compose::Pipeline;
    let pipeline = Pipeline::default()
        .then("scale", learnt::prepare::StandardScaler::default())
        .then("ridge", learnt::linear::Ridge::default());
    let x = Matrix::from_fn(30, 2, noise);
    let y = (0..30).map(|i| noise(i, 7)).collect();
    let data = OwnedDataset::regression(x, y);
    let trained = fit(&pipeline, &data.view()).unwrap();
    let huge = Table::unnamed(Matrix::from_fn(1, 2, |_, _| 1.7e308));
    let error = trained.predict(&huge.frame(), &Context::default()).unwrap_err();
    assert_eq!(error.code(), Code::NotFinite, "{error}");
    assert!(error.message().contains("ridge"), "{error}");
}

#[test]
fn categories_are_taken_or_named() {
    for_each("categories", |_, learner| {
        let mut data = easy(30, learner.any_roles());
        let levels = vec!["a".to_string(), "b".to_string()];
        let values =
            Matrix::from_fn(30, 3, |i, j| if j == 1 { (i % 2) as f64 } else { noise(i, j) });
        let columns =
            vec![Column::numeric("x0"), Column::categorical("x1", levels), Column::numeric("x2")];
        data.x = Table::new(values, Schema::new(columns).unwrap()).unwrap();
        match fit(learner, &data.view()) {
            Ok(_) if !learner.any_accepts().categories => Err("a category was averaged".into()),
            Ok(trained) => {
                outputs(&trained, &data.x.frame()).map(|_| ()).map_err(|error| error.to_string())
            }
            Err(error) if error.code() == Code::NotNumeric && error.message().contains("'x1'") => {
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        }
    });
}

#[test]
fn shapes_that_differ_are_named_both() {
    for_each("shapes", |entry, learner| {
        let data = easy(30, learner.any_roles());
        let empty = data.view().rows(0, 0);
        match fit(learner, &empty) {
            Err(error) if error.code() == Code::Empty => {}
            other => return Err(format!("no rows: {:?}", other.map(|_| "a model"))),
        }
        let trained = fit(learner, &data.view()).map_err(|error| error.to_string())?;
        let narrow = Table::unnamed(Matrix::zeros(2, 3));
        let run = Context::default();
        let wrong = catch_unwind(AssertUnwindSafe(|| {
            let model = &trained.model;
            [
                model.as_regressor().map(|m| m.predict_in(&narrow.frame(), &run).map(|_| ())),
                model.as_classifier().map(|m| m.classify_in(&narrow.frame(), &run).map(|_| ())),
                model.as_transformer().map(|m| m.transform_in(&narrow.frame(), &run).map(|_| ())),
                model
                    .as_clusterer()
                    .filter(|_| entry.about.offers.assign)
                    .map(|m| m.assign_in(&narrow.frame(), &run).map(|_| ())),
            ]
        }));
        let Ok(results) = wrong else { return Err("a narrow table panics".into()) };
        for result in results.into_iter().flatten() {
            match result {
                Ok(()) if entry.about.path.starts_with("dummy.") => {}
                Ok(()) => return Err("a narrow table was accepted".into()),
                Err(error) if error.message().contains('3') && error.message().contains('4') => {}
                Err(error) => return Err(format!("both widths must be named: {error}")),
            }
        }
        Ok(())
    });
}

#[test]
fn no_rows_to_predict_give_no_predictions() {
    for_each("zero_rows", |_, learner| {
        let data = easy(30, learner.any_roles());
        let trained = fit(learner, &data.view()).map_err(|error| error.to_string())?;
        match outputs(&trained, &data.x.frame().rows(0, 0)) {
            Ok(values) if values.is_empty() => Ok(()),
            Ok(_) => Err("predictions for no rows".into()),
            Err(error) => Err(error.to_string()),
        }
    });
}

#[test]
fn bad_weights_are_refused() {
    for_each("bad_weights", |_, learner| {
        if !learner.any_accepts().weights {
            return Ok(());
        }
        let data = easy(10, learner.any_roles());
        let bad = [
            vec![1.0; 9],
            vec![0.0; 10],
            vec![-1.0; 10],
            vec![f64::NAN; 10],
            vec![f64::INFINITY; 10],
        ];
        for weights in bad {
            let shown = format!("{weights:?}");
            let data = OwnedDataset { weights: Some(weights), ..data.clone() };
            match fit(learner, &data.view()) {
                Err(error) if matches!(error.code(), Code::Weights | Code::Shape) => {}
                other => return Err(format!("{shown}: {:?}", other.map(|_| "a model"))),
            }
        }
        Ok(())
    });
}
