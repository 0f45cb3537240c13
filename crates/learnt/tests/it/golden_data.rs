//! Preparation and bundled data against reference numbers (tests/golden/data.json).

use crate::golden_case::{Case, golden, numbers, texts};
use learnt::linalg::PivotedQr;
use learnt::prelude::*;
use learnt::prepare::{
    BinEncode, BinStrategy, ClassModes, Drop, ImputeStrategy, KBinsDiscretizer, MinMaxScaler,
    OneHotEncoder, PolynomialFeatures, QuantileMethod, RobustScaler, SimpleImputer, StandardScaler,
    TableCounts, correlation_matrix, covariance_matrix, design_matrix, drop_missing_rows,
    polynomial_feature_count, reflected, signs,
};
use learnt::stats::summary;

fn case(id: &str) -> Case {
    Case::new("data.json", id)
}

fn column(values: &[f64]) -> OwnedDataset {
    OwnedDataset::unsupervised(Matrix::column_vector(values.to_vec()))
}

/// The named columns of a bundled data set.
fn chosen(set: &str, columns: &[&str]) -> OwnedDataset {
    let data = learnt::datasets::load(set).unwrap();
    let places: Vec<usize> =
        columns.iter().map(|name| data.x.schema().find(name).unwrap()).collect();
    OwnedDataset { x: data.x.frame().select(&places), ..Default::default() }
}

/// A table of one categorical column; empty texts are missing.
fn nominal(cells: &[String]) -> Table {
    let mut levels: Vec<String> = cells.iter().filter(|cell| !cell.is_empty()).cloned().collect();
    levels.sort();
    levels.dedup();
    let code = |cell: &String| {
        levels.iter().position(|level| level == cell).map_or(f64::NAN, |code| code as f64)
    };
    let values = Matrix::column_vector(cells.iter().map(code).collect());
    Table::new(values, Schema::new(vec![Column::categorical("c", levels)]).unwrap()).unwrap()
}

fn transformed<E: Estimator>(learner: &E, data: &OwnedDataset) -> Table {
    let model = learner.fit(&data.view()).unwrap();
    model.as_transformer().unwrap().transform(&data.x.frame()).unwrap()
}

#[test]
fn scaling_houses() {
    let case = case("scaling-houses");
    let data = column(&numbers(case.input("x")));
    let model = StandardScaler::default().fit(&data.view()).unwrap();
    case.close("mean", &model.mean);
    case.close("sd", &model.scale);
    let z = model.transform(&data.x.frame()).unwrap();
    case.close("z", z.values().as_slice());
    case.close("minmax", transformed(&MinMaxScaler::default(), &data).values().as_slice());
    let design = design_matrix(&z.frame(), "x0").unwrap();
    let fit = PivotedQr::new(design.values().view()).solve(&numbers(case.input("y")));
    case.close("coef_scaled", &fit);
    let (intercept, slopes) = model.original_units(fit[0], &fit[1..]);
    case.close("coef_back", [intercept, slopes[0]]);
}

#[test]
fn polynomial_dimension() {
    let case = case("polynomial-dimension");
    let count = |d, q: f64| polynomial_feature_count(d, q as u64).unwrap() as f64;
    let two: Vec<f64> = numbers(case.input("two_inputs_Q")).iter().map(|&q| count(2, q)).collect();
    case.close("two_inputs", &two);
    case.close("ten_inputs", [count(10, 3.0)]);
}

#[test]
fn polynomial_features() {
    let expand = |x: &[f64], degree, interaction_only| {
        let data = OwnedDataset::unsupervised(Matrix::from_rows(&[x]).unwrap());
        let learner = PolynomialFeatures {
            degree,
            interaction_only,
            include_bias: false,
            ..Default::default()
        };
        transformed(&learner, &data).values().as_slice().to_vec()
    };
    let second = case("degree-two-expansion");
    second.close("values", expand(&numbers(second.input("x")), 2, false));
    let third = case("polynomial-features");
    third.close("values", expand(&numbers(third.input("x")), 3, false));
    third.close("interactions", expand(&numbers(third.input("x4")), 2, true));
}

#[test]
fn one_hot_six() {
    let case = case("one-hot-six");
    let data = column(&numbers(case.input("classes")));
    case.close("matrix", transformed(&OneHotEncoder::default(), &data).values().as_slice());
}

#[test]
fn one_hot_weather() {
    let case = case("one-hot-weather");
    let data = chosen("weather_nominal", &["outlook", "humidity"]);
    let table = transformed(&OneHotEncoder::default(), &data);
    assert_eq!(table.schema().names().collect::<Vec<_>>(), texts(case.expect("columns")));
    case.close("rows", table.values().view().rows(0, 3).to_matrix().as_slice());
}

#[test]
fn covariance_two_forms() {
    let case = case("covariance-two-forms");
    let (x, y) = (numbers(case.input("x")), numbers(case.input("y")));
    let table = Table::unnamed(Matrix::from_fn(5, 2, |i, j| if j == 0 { x[i] } else { y[i] }));
    let covariance = covariance_matrix(table.values().view(), None, 1.0).unwrap();
    case.close("cov", [covariance[(0, 1)]]);
    case.close("var_x", [covariance[(0, 0)]]);
    case.close("var_y", [covariance[(1, 1)]]);
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / 5.0, y.iter().sum::<f64>() / 5.0);
    let products: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
    case.close("cov_second_form", [(products - 5.0 * mean_x * mean_y) / 4.0]);
    case.close("r", [correlation_matrix(&table.frame(), None).unwrap()[(1, 0)]]);
}

#[test]
fn sample_statistics() {
    let case = case("sample-statistics");
    let x = numbers(case.input("x"));
    case.close("mean", [summary::mean(&x, None).unwrap()]);
    case.close("median", [summary::median(&x).unwrap()]);
    case.close("variance", [summary::variance(&x, None, 1.0).unwrap()]);
    case.close("sd", [summary::sd(&x, None, 1.0).unwrap()]);
    case.close("range", [summary::range(&x).unwrap()]);
    case.close("geometric_mean", [summary::geometric_mean(&x, None).unwrap()]);
}

#[test]
fn reflect_class_two() {
    let case = case("reflect-class-two");
    let rows = [numbers(case.input("class1")), numbers(case.input("class2"))].concat();
    let x = Matrix::from_vec(4, 2, rows).unwrap();
    // The second class of the pair is the negative one, so it comes first.
    let sign = signs(&[1, 1, 0, 0], &[Label::Int(2), Label::Int(1)]).unwrap();
    case.close("Y", reflected(x.view(), &sign).unwrap().as_slice());
}

#[test]
fn missing_strategies() {
    let case = case("missing-strategies");
    let table = nominal(&texts(case.input("column")));
    let levels = table.schema().column(0).levels().unwrap().to_vec();
    let labels: Vec<Label> =
        texts(case.input("target")).iter().map(|text| Label::from(text.as_str())).collect();
    let y = Some(OwnedTarget::from_labels(&labels));
    let data = OwnedDataset { x: table, y, ..Default::default() };
    let name = |code: f64| levels[code as usize].as_str();
    let modes = ClassModes::of(&data.view()).unwrap();
    assert_eq!(name(modes.overall[0]), case.expect("mode").as_str().unwrap());
    let view = data.view();
    let codes = view.class_target().unwrap().0;
    let filled = modes.fill(&data.x.frame(), Some(codes)).unwrap();
    let by_class = case.expect("class_conditional_mode").as_str().unwrap();
    assert_eq!(name(filled.values()[(2, 0)]), by_class);
    let counts = &TableCounts::of(&data.view()).columns[0].counts;
    let total: f64 = counts.iter().sum();
    case.close("probabilities.a", [counts[0] / total]);
    case.close("probabilities.b", [counts[1] / total]);
    let rest = drop_missing_rows(&data.view(), None).unwrap();
    case.close("rows_after_drop", [rest.kept.len() as f64]);
    let strategy = ImputeStrategy::Constant;
    let own = transformed(&SimpleImputer { strategy, ..Default::default() }, &data);
    assert_eq!(own.schema().column(0).levels().unwrap().len(), 3);
}

#[test]
fn collinear_dummies() {
    let case = case("collinear-dummies");
    let x = nominal(&texts(case.input("levels")));
    let data = OwnedDataset { x, ..Default::default() };
    let with_intercept = |drop: Drop| {
        let dummies = transformed(&OneHotEncoder { drop, ..Default::default() }, &data);
        let one = |i: usize, j: usize| if j == 0 { 1.0 } else { dummies.values()[(i, j - 1)] };
        let design = Matrix::from_fn(6, dummies.values().ncols() + 1, one);
        let rank = learnt::linalg::svd(design.view()).unwrap().rank();
        (rank as f64, design.ncols() as f64)
    };
    let (rank, columns) = with_intercept(Drop::Nothing);
    case.close("rank_full_with_intercept", [rank]);
    case.close("columns_full_with_intercept", [columns]);
    let (rank, columns) = with_intercept(Drop::First);
    case.close("rank_drop_one", [rank]);
    case.close("columns_drop_one", [columns]);
}

#[test]
fn scalers_wine() {
    let case = case("scalers-wine");
    let data = chosen("wine", &["alcohol", "malic_acid", "magnesium", "proline"]);
    let frame = data.x.frame();
    let z = StandardScaler::default().fit(&data.view()).unwrap();
    case.close("zscore.mean", &z.mean);
    case.close("zscore.sd", &z.scale);
    case.close("zscore.row0", z.transform(&frame).unwrap().values().row(0));
    let unit = MinMaxScaler::default().fit(&data.view()).unwrap();
    case.close("minmax.min", &unit.data_min);
    case.close("minmax.max", &unit.data_max);
    case.close("minmax.row0", unit.transform(&frame).unwrap().values().row(0));
    let robust = RobustScaler::default().fit(&data.view()).unwrap();
    case.close("robust.median", &robust.center);
    case.close("robust.iqr", &robust.scale);
    case.close("robust.row0", robust.transform(&frame).unwrap().values().row(0));
}

#[test]
fn imputation_penguins() {
    let case = case("imputation-penguins");
    let names = ["bill_length_mm", "body_mass_g", "sex", "island"];
    let data = chosen("penguins", &names);
    let fitted = |strategy| {
        let learner = SimpleImputer { strategy, ..Default::default() };
        learner.fit(&data.view()).unwrap().statistics
    };
    let (mean, median) = (fitted(ImputeStrategy::Mean), fitted(ImputeStrategy::Median));
    let mode = fitted(ImputeStrategy::MostFrequent);
    for (j, name) in names.iter().enumerate() {
        let missing = data.x.values().column(j).iter().filter(|value| value.is_nan()).count();
        case.close(&format!("missing.{name}"), [missing as f64]);
        if let Some(levels) = data.x.schema().column(j).levels() {
            let expected = case.expect(&format!("most_frequent.{name}"));
            assert_eq!(levels[mode[j] as usize], expected.as_str().unwrap());
        } else {
            case.close(&format!("mean.{name}"), [mean[j]]);
            case.close(&format!("median.{name}"), [median[j]]);
        }
    }
    let whole = learnt::datasets::load("penguins").unwrap();
    let rest = drop_missing_rows(&whole.view(), None).unwrap();
    case.close("complete_rows_all_columns", [rest.kept.len() as f64]);
}

#[test]
fn design_matrix_factors() {
    let case = case("design-matrix-factors");
    let text = golden("data/warpbreaks.csv");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let place = |name: &str| head.iter().position(|column| *column == name).unwrap();
    let cells = |j: usize| rows.iter().map(|row| row[j].to_string()).collect::<Vec<_>>();
    let (wool, tension) = (nominal(&cells(place("wool"))), nominal(&cells(place("tension"))));
    let named = |table: &Table, name: &str| Column {
        name: name.to_string(),
        ..table.schema().column(0).clone()
    };
    let schema = Schema::new(vec![named(&wool, "wool"), named(&tension, "tension")]).unwrap();
    let values = Matrix::from_fn(rows.len(), 2, |i, j| [&wool, &tension][j].values()[(i, 0)]);
    let table = Table::new(values, schema).unwrap();
    let design = design_matrix(&table.frame(), "wool * tension").unwrap();
    assert_eq!(design.schema().names().collect::<Vec<_>>(), texts(case.expect("columns")));
    let places: Vec<usize> = numbers(case.input("row_index")).iter().map(|&i| i as usize).collect();
    case.close("rows", design.values().view().gather_rows(&places).as_slice());
}

#[test]
fn missing_summary() {
    let case = case("missing-summary");
    for set in ["vote", "labor"] {
        let data = learnt::datasets::load(set).unwrap();
        let view = data.view();
        let (codes, classes) = view.class_target().unwrap();
        case.close(&format!("{set}.rows"), [codes.len() as f64]);
        case.close(&format!("{set}.columns"), [data.x.values().ncols() as f64 + 1.0]);
        let missing = data.x.values().as_slice().iter().filter(|value| value.is_nan()).count();
        case.close(&format!("{set}.missing"), [missing as f64]);
        for (k, class) in classes.iter().enumerate() {
            let count = codes.iter().filter(|&&code| code as usize == k).count();
            case.close(&format!("{set}.classes.{class}"), [count as f64]);
        }
    }
    let text = golden("data/soybean.csv");
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    case.close("soybean.rows", [rows.len() as f64]);
    case.close("soybean.columns", [rows[0].len() as f64]);
    case.close("soybean.missing", [rows.concat().iter().filter(|c| c.is_empty()).count() as f64]);
    for (class, count) in case.expect("soybean.classes").as_object().unwrap() {
        let found = rows.iter().filter(|row| row.last() == Some(&class.as_str())).count();
        assert_eq!(Some(found as u64), count.as_u64(), "{class}");
    }
}

#[test]
fn binning_wine() {
    let case = case("binning-wine");
    let data = chosen("wine", &["alcohol"]);
    for (strategy, name) in [(BinStrategy::Uniform, "uniform"), (BinStrategy::Quantile, "quantile")]
    {
        let learner = KBinsDiscretizer {
            n_bins: 4,
            strategy,
            encode: BinEncode::Ordinal,
            quantile_method: QuantileMethod::Linear,
            ..Default::default()
        };
        let model = learner.fit(&data.view()).unwrap();
        case.close(&format!("{name}_edges"), &model.bin_edges[0]);
        let codes = model.transform(&data.x.frame()).unwrap().values().column(0);
        let count = |k: usize| codes.iter().filter(|&&code| code == k as f64).count() as f64;
        case.close(&format!("{name}_counts"), [count(0), count(1), count(2), count(3)]);
    }
}
