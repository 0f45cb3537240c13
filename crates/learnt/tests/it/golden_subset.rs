//! Subset selection and the rest of least-squares inference against reference numbers.

use crate::golden_case::{Case, texts};
use learnt::linear::{BestSubsetRegression, Direction, StepwiseRegression, SubsetRegressionModel};
use learnt::prelude::*;

#[test]
fn best_subsets_of_swiss() {
    let case = Case::new("linear.json", "best-subset-swiss");
    let data = case.regression();
    let model = BestSubsetRegression::default().fit(&data.view()).unwrap();
    let n = data.view().nrows() as f64;
    case.close("rss", &model.rss[1..]);
    case.close("cp", &model.cp.as_ref().unwrap()[1..]);
    case.close("adj_r2", &model.adjusted_r2.as_ref().unwrap()[1..]);
    // The case's BIC leaves out n ln(TSS/n).
    let constant = n * (model.rss[0] / n).ln();
    let bic: Vec<f64> = model.bic[1..].iter().map(|bic| bic - constant).collect();
    case.close("bic", bic);
    let names = texts(case.input("features"));
    for (size, expected) in case.expect("subsets").as_array().unwrap().iter().enumerate() {
        let got: Vec<&str> = model.subsets[size + 1].iter().map(|&j| names[j].as_str()).collect();
        assert_eq!(got, texts(expected));
    }
    assert_eq!(model.selected.len(), 4);
}

fn steps(id: &str, direction: Direction) -> (Case, SubsetRegressionModel) {
    let case = Case::new("linear.json", id);
    let learner = StepwiseRegression { direction, ..Default::default() };
    let model = learner.fit(&case.regression().view()).unwrap();
    (case, model)
}

fn agrees(case: &Case, model: &SubsetRegressionModel) {
    assert_eq!(model.path, texts(case.expect("path")));
    case.close("aic", &model.aic);
    let mut selected = model.selected.clone();
    selected.sort();
    let mut wanted = texts(case.expect("final"));
    wanted.sort();
    assert_eq!(selected, wanted);
    case.close("coef.(Intercept)", &model.intercept);
    let names = texts(case.input("features"));
    for name in &model.selected {
        let j = names.iter().position(|known| known == name).unwrap();
        case.close(&format!("coef.{name}"), [model.coef[(0, j)]]);
    }
}

#[test]
fn forward_steps_on_mtcars() {
    let (case, model) = steps("step-forward-mtcars", Direction::Forward);
    agrees(&case, &model);
}

#[test]
fn backward_steps_on_mtcars() {
    let (case, model) = steps("step-backward-mtcars", Direction::Backward);
    agrees(&case, &model);
}
