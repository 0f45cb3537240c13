//! Scores against reference numbers (tests/golden/metrics.json).

use crate::golden_case::{Case, matrix, numbers, texts};
use learnt::metrics::{
    Agreement, Average, AveragePrecisionScore, BrierScoreLoss, CohenKappaScore, Compactness,
    ConfusionCounts, Contingency, EntropyMean, Estimated, ExplainedVarianceScore, F1Score,
    Foretold, LiftCurve, LogLoss, NormalizedMutualInfoScore, PrecisionRecallCurve, PrecisionScore,
    Predicted, Probable, R2Score, Ranked, RecallScore, Residuals, RocAucScore, RocCurve, Score,
    Spread, TwoLabelings, losses,
};
use learnt::prelude::*;
use learnt::prepare::StandardScaler;

fn case(id: &str) -> Case {
    Case::new("metrics.json", id)
}

fn labels(values: &[f64]) -> Vec<Option<u32>> {
    values.iter().map(|&value| Some(value as u32)).collect()
}

/// Classes 0, 1, ... of some rows.
struct Known {
    codes: Vec<u32>,
    classes: Vec<Label>,
}

impl Known {
    fn new(values: &[f64], classes: usize) -> Known {
        let codes = values.iter().map(|&value| value as u32).collect();
        Known { codes, classes: (0..classes as i64).map(Label::Int).collect() }
    }

    fn view(&self) -> Classes<'_> {
        Classes { codes: &self.codes, classes: &self.classes }
    }
}

/// Two labelings whose table of counts is this one.
fn labelings(table: &Matrix) -> (Vec<f64>, Vec<f64>) {
    let cells = (0..table.nrows()).flat_map(|i| (0..table.ncols()).map(move |j| (i, j)));
    cells
        .flat_map(|(i, j)| std::iter::repeat_n((i as f64, j as f64), table[(i, j)] as usize))
        .unzip()
}

#[test]
fn external_measures() {
    for id in ["external-iris-good", "external-iris-bad"] {
        let case = case(id);
        let table = Contingency::from_counts(matrix(case.input("table"))).unwrap();
        case.close("purity", [table.purity()]);
        case.close("max_matching", [table.max_matching()]);
        let matched = table.matched();
        case.close("precision", matched.iter().map(|m| m.0).collect::<Vec<_>>());
        case.close("recall", matched.iter().map(|m| m.1).collect::<Vec<_>>());
        case.close("F_i", matched.iter().map(|m| m.2).collect::<Vec<_>>());
        case.close("F", [table.f_measure()]);
        let (clusters, classes) = labelings(&matrix(case.input("table")));
        let (clusters, classes) = (Known::new(&clusters, 3), Known::new(&classes, 3));
        let given = Agreement { labels_true: classes.view(), labels_pred: clusters.view() };
        let score = NormalizedMutualInfoScore { average_method: EntropyMean::Geometric };
        case.close("nmi_sqrt", [score.compute(given).unwrap()]);
        case.close("vi_bits", [table.variation_of_information()]);
        case.close("jaccard", [table.jaccard()]);
        case.close("rand", [table.rand()]);
        case.close("fowlkes_mallows", [table.fowlkes_mallows()]);
        case.close("adjusted_rand", [table.adjusted_rand()]);
    }
    let case = case("external-purity-splitting");
    let split = Contingency::from_counts(matrix(case.input("split"))).unwrap();
    case.close("split.purity", [split.purity()]);
    case.close("split.max_matching", [split.max_matching()]);
    case.close("split.F", [split.f_measure()]);
    let single = Contingency::from_counts(matrix(case.input("single"))).unwrap();
    case.close("single.purity", [single.purity()]);
    case.close("single.F", [single.f_measure()]);
}

#[test]
fn internal_measures_of_six_points() {
    let run = Context::default();
    let case = case("internal-six-points");
    let x = matrix(case.input("X"));
    let scored = Compactness::new(x.view(), &labels(&numbers(case.input("labels")))).unwrap();
    let scatter = scored.scatter(&run).unwrap();
    case.close("W_in", [scatter.within]);
    case.close("W_out", [scatter.between]);
    case.close("N_in", [scatter.pairs_within]);
    case.close("N_out", [scatter.pairs_between]);
    case.close("beta_cv", [scatter.beta_cv().unwrap()]);
    case.close("sigma", scored.spreads(Spread::RootMeanSquare));
    case.close("davies_bouldin", [scored.davies_bouldin(Spread::RootMeanSquare).unwrap()]);
    case.close("silhouettes", scored.silhouettes(&run).unwrap());
    case.close("silhouette_per_cluster", scored.silhouette_by_cluster(&run).unwrap());
    case.close("silhouette", [scored.silhouette(&run).unwrap()]);
    case.close("sse", [scored.inertia()]);
    case.close("dunn", [scored.dunn(&run).unwrap()]);
}

#[test]
fn internal_measures_that_disagree() {
    let run = Context::default();
    let case = case("internal-disagree");
    let x = matrix(case.input("X"));
    let three = Compactness::new(x.view(), &labels(&numbers(case.input("labels3")))).unwrap();
    case.close("labels3.beta_cv", [three.beta_cv(&run).unwrap()]);
    let spread = Spread::RootMeanSquare;
    case.close("labels3.davies_bouldin", [three.davies_bouldin(spread).unwrap()]);
    case.close("labels3.silhouette", [three.silhouette(&run).unwrap()]);
    case.close("labels3.sse", [three.inertia()]);
    let bad = Compactness::new(x.view(), &labels(&numbers(case.input("labels_bad")))).unwrap();
    case.close("labels_bad.s_2", [bad.silhouettes(&run).unwrap()[2]]);
    case.close("labels_bad.silhouette", [bad.silhouette(&run).unwrap()]);
}

#[test]
fn silhouette_line() {
    let run = Context::default();
    let case = case("silhouette-line");
    for k in ["1", "2"] {
        let x = matrix(case.input(&format!("X{k}")));
        let known = labels(&numbers(case.input(&format!("labels{k}"))));
        let scored = Compactness::new(x.view(), &known).unwrap();
        case.close(&format!("s{k}"), scored.silhouettes(&run).unwrap());
        case.close(&format!("mean{k}"), [scored.silhouette(&run).unwrap()]);
        if k == "2" {
            case.close("sse2", [scored.inertia()]);
            let sizes = [3.0, 2.0];
            let spreads = scored.spreads(Spread::Mean);
            case.close("distance_sum2", [spreads[0] * sizes[0] + spreads[1] * sizes[1]]);
        }
    }
}

#[test]
fn internal_measures_of_iris_species() {
    let run = Context::default();
    let case = case("internal-iris-species");
    let data = learnt::datasets::load("iris").unwrap();
    let view = data.view();
    let species: Vec<Option<u32>> =
        view.class_target().unwrap().0.iter().map(|&code| Some(code)).collect();
    let scored = Compactness::new(data.x.values().view(), &species).unwrap();
    case.close("silhouette", [scored.silhouette(&run).unwrap()]);
    case.close("silhouette_per_cluster", scored.silhouette_by_cluster(&run).unwrap());
    case.close("calinski_harabasz", [scored.calinski_harabasz().unwrap()]);
    case.close("davies_bouldin_mean", [scored.davies_bouldin(Spread::Mean).unwrap()]);
    case.close("davies_bouldin_rms", [scored.davies_bouldin(Spread::RootMeanSquare).unwrap()]);
    case.close("dunn", [scored.dunn(&run).unwrap()]);
    case.close("beta_cv", [scored.beta_cv(&run).unwrap()]);
}

#[test]
fn scaling_hurts_clusters_whose_variance_is_their_own() {
    use learnt::stats::sample::standard_normal;
    let case = case("scaling-hurts-clusters");
    let run = Context::default();
    let mut rng = run.rng(0);
    let x = Matrix::from_fn(200, 2, |i, j| match j {
        0 => (if i < 100 { -5.0 } else { 5.0 }) + 0.5 * standard_normal(&mut rng),
        _ => standard_normal(&mut rng),
    });
    let known: Vec<Option<u32>> = (0..200).map(|i| Some(i / 100)).collect();
    let score = |x: &Matrix| Compactness::new(x.view(), &known).unwrap().silhouette(&run).unwrap();
    let data = OwnedDataset::unsupervised(x);
    let model = StandardScaler::default().fit(&data.view()).unwrap();
    let scaled = model.transform(&data.x.frame()).unwrap();
    for (key, got) in [("before", score(data.x.values())), ("after", score(scaled.values()))] {
        let bound = |end: &str| case.expect(&format!("{key}.{end}")).as_f64().unwrap();
        assert!((bound("min")..=bound("max")).contains(&got), "{key}: {got}");
    }
}

#[test]
fn confusion_two_tables() {
    let case = case("confusion-two-tables");
    for name in ["t1", "t2"] {
        // The file lists the positive class first.
        let table = ConfusionCounts::from_counts(matrix(case.input(name))).unwrap();
        let accuracy = table.accuracy().unwrap();
        case.close(&format!("{name}.accuracy"), [accuracy]);
        case.close(&format!("{name}.error"), [1.0 - accuracy]);
        case.close(&format!("{name}.recall"), [table.recall(0).unwrap()]);
        case.close(&format!("{name}.specificity"), [table.specificity(0).unwrap()]);
        case.close(&format!("{name}.precision"), [table.precision(0).unwrap()]);
        case.close(&format!("{name}.f1"), [table.f_score(0, 1.0).unwrap()]);
    }
}

#[test]
fn margin_losses() {
    let case = case("margin-losses");
    let z = numbers(case.input("z"));
    let at = |loss: fn(f64) -> f64| z.iter().map(|&z| loss(z)).collect::<Vec<f64>>();
    case.close("hinge", at(losses::hinge));
    case.close("logistic", at(losses::logistic));
    case.close("exponential", at(losses::exponential));
    case.close("squared", at(losses::squared));
    case.close("zero_one", at(losses::zero_one));
    let all = [losses::hinge, losses::logistic, losses::exponential, losses::squared];
    case.close("at_zero", all.map(|loss| loss(0.0)));
}

#[test]
fn undefined_precision() {
    let case = case("undefined-precision");
    let codes = |key: &str| -> Vec<u32> {
        numbers(case.input(key)).iter().map(|&code| code as u32).collect()
    };
    let table = ConfusionCounts::new(&codes("actual"), &codes("predicted"), 2, None).unwrap();
    assert_eq!(table.precision(1), None);
    case.close("recall", [table.recall(1).unwrap()]);
    case.close("accuracy", [table.accuracy().unwrap()]);
}

#[test]
fn rankings_with_ties() {
    let case = case("roc-pr-with-ties");
    let known = Known::new(&numbers(case.input("y")), 2);
    let scores = Matrix::column_vector(numbers(case.input("score")));
    let given = Ranked { y_true: known.view(), y_score: scores.view(), sample_weight: None };
    let roc = RocCurve { drop_intermediate: false, ..Default::default() }.compute(given).unwrap();
    case.close("fpr", roc.fpr);
    case.close("tpr", roc.tpr);
    case.close("auc", RocAucScore::default().compute(given).unwrap().each());
    // The file begins at the highest threshold.
    let curve = PrecisionRecallCurve::default().compute(given).unwrap();
    case.close("precision", curve.precision.into_iter().rev().collect::<Vec<_>>());
    case.close("recall", curve.recall.into_iter().rev().collect::<Vec<_>>());
    let average = AveragePrecisionScore::default().compute(given).unwrap();
    case.close("average_precision", average.each());
}

#[test]
fn multiclass_report() {
    let case = case("multiclass-report");
    let classes = texts(case.input("classes"));
    let codes = |key: &str| -> Vec<u32> {
        let code = |name: &String| classes.iter().position(|class| class == name).unwrap() as u32;
        texts(case.input(key)).iter().map(code).collect()
    };
    let table = ConfusionCounts::new(&codes("actual"), &codes("predicted"), 3, None).unwrap();
    case.close("confusion", table.counts().as_slice());
    case.close("precision", [0, 1, 2].map(|k| table.precision(k).unwrap()));
    case.close("recall", [0, 1, 2].map(|k| table.recall(k).unwrap()));
    case.close("f1", [0, 1, 2].map(|k| table.f_score(k, 1.0).unwrap()));
    case.close("support", [0, 1, 2].map(|k| table.actual(k)));
    let names: Vec<Label> = classes.iter().map(|name| Label::Text(name.clone())).collect();
    let (actual, predicted) = (codes("actual"), codes("predicted"));
    let y_true = Classes { codes: &actual, classes: &names };
    let y_pred = Classes { codes: &predicted, classes: &names };
    let given = Predicted { y_true, y_pred, sample_weight: None };
    let averages =
        [("macro", Average::Macro), ("micro", Average::Micro), ("weighted", Average::Weighted)];
    for (name, average) in averages {
        let mut precision = PrecisionScore::default();
        precision.averaging.average = average;
        let recall = RecallScore { averaging: precision.averaging.clone() };
        let f1 = F1Score { averaging: precision.averaging.clone() };
        let close = |part: &str, score: Score| {
            case.close(&format!("averages.{name}.{part}"), score.each());
        };
        close("precision", precision.compute(given).unwrap());
        close("recall", recall.compute(given).unwrap());
        close("f1", f1.compute(given).unwrap());
    }
    let given = TwoLabelings { y1: y_true, y2: y_pred, sample_weight: None };
    case.close("kappa", [CohenKappaScore::default().compute(given).unwrap()]);
    case.close("matthews", [table.matthews()]);
    case.close("balanced_accuracy", [table.balanced_accuracy().unwrap()]);
}

#[test]
fn regression_metrics() {
    let case = case("regression-metrics");
    let run = Context::default();
    let (y, f) = (numbers(case.input("y")), numbers(case.input("prediction")));
    let scored = Residuals::new(y, f, None, &run).unwrap();
    case.close("mse", [scored.mse().unwrap()]);
    case.close("rmse", [scored.rmse().unwrap()]);
    case.close("mae", [scored.mae().unwrap()]);
    case.close("median_ae", [scored.median_absolute_error().unwrap()]);
    let column = |key: &str| Matrix::column_vector(numbers(case.input(key)));
    let (y, f) = (column("y"), column("prediction"));
    let given = Estimated { y_true: y.view(), y_pred: f.view(), sample_weight: None };
    case.close("r2", R2Score::default().compute(given).unwrap().each());
    let explained = ExplainedVarianceScore::default().compute(given).unwrap();
    case.close("explained_variance", explained.each());
    case.close("mape", [scored.mape().unwrap()]);
    case.close("max_error", [scored.max_error().unwrap()]);
}

fn foretold<'a>(known: &'a Known, p: &'a Matrix, weights: Option<&'a [f64]>) -> Foretold<'a> {
    Foretold { y_true: known.view(), y_pred: p.view(), sample_weight: weights }
}

#[test]
fn probability_scores() {
    let case = case("probability-scores");
    let p = matrix(case.input("proba"));
    let known = Known::new(&numbers(case.input("y")), 3);
    let loss = LogLoss::default();
    case.close("log_loss", [loss.compute(foretold(&known, &p, None)).unwrap()]);
    let given = Probable { y_true: known.view(), y_proba: p.view(), sample_weight: None };
    case.close("brier_multiclass", [BrierScoreLoss::default().compute(given).unwrap()]);
    let second = Matrix::column_vector(numbers(case.input("p1")));
    let two = Known::new(&numbers(case.input("y1")), 2);
    case.close("log_loss_binary", [loss.compute(foretold(&two, &second, None)).unwrap()]);
    let given = Probable { y_true: two.view(), y_proba: second.view(), sample_weight: None };
    case.close("brier_binary", [BrierScoreLoss::default().compute(given).unwrap()]);
}

#[test]
fn lift_chart() {
    let case = case("lift-chart");
    let known = Known::new(&numbers(case.input("sorted_labels")), 2);
    let n = known.codes.len();
    let scores = Matrix::from_fn(n, 1, |i, _| (n - i) as f64);
    let given = Ranked { y_true: known.view(), y_score: scores.view(), sample_weight: None };
    let curve = LiftCurve::default().compute(given).unwrap();
    case.close("targeted", curve.targeted);
    case.close("gain", curve.gain);
    case.close("lift", curve.lift);
}

#[test]
fn weighted_metrics() {
    let case = case("weighted-metrics");
    let (y, scores) = (numbers(case.input("y")), numbers(case.input("score")));
    let weights = numbers(case.input("weights"));
    let known = Known::new(&y, 2);
    let said: Vec<u32> = scores.iter().map(|&score| u32::from(score >= 0.5)).collect();
    let table = ConfusionCounts::new(&known.codes, &said, 2, Some(&weights)).unwrap();
    case.close("accuracy", [table.accuracy().unwrap()]);
    let p = Matrix::column_vector(scores);
    let given = foretold(&known, &p, Some(&weights));
    case.close("log_loss", [LogLoss::default().compute(given).unwrap()]);
    let Foretold { y_true, y_pred: y_score, sample_weight } = given;
    let area = RocAucScore::default().compute(Ranked { y_true, y_score, sample_weight });
    case.close("auc", area.unwrap().each());
}
