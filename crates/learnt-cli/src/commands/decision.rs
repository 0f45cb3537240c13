//! How classes are decided: `--positive`, `--threshold` and `--cost`, and words about imbalance.

use super::Call;
use learnt::answer::number;
use learnt::data::{Dataset, Label, Matrix, Table, Target};
use learnt::error::{Code, Error, Result, plain, shell};
use learnt::function::{Classes, Function};
use learnt::metrics::{CostThreshold, Decision, Outcome, Ranked};
use learnt::trained::{Rows, Trained};

/// What the flags say about these classes; `None` where there are none.
pub(crate) fn decision(call: &Call, classes: &[Label]) -> Result<Option<Decision>> {
    let (positive, threshold) = (call.text("positive"), call.number("threshold"));
    let costs: Vec<String> = call.texts("cost").iter().flat_map(|word| words(word)).collect();
    if classes.is_empty() {
        return match positive.is_some() || threshold.is_some() || !costs.is_empty() {
            true => {
                Err(Error::new(Code::Target, "the target is numeric, and has no classes to decide")
                    .hint("leave out --positive, --threshold and --cost, or say --task classify"))
            }
            false => Ok(None),
        };
    }
    let mut found =
        Decision::named(classes, positive).map_err(|error| error.within("--positive"))?;
    if let Some(threshold) = threshold {
        found = found.with_threshold(threshold).map_err(|error| match error.code() {
            Code::Usage => error.hint("--positive CLASS says which"),
            _ => error.within("--threshold"),
        })?;
    }
    if !costs.is_empty() {
        found = found.with_cost_words(classes, &costs).map_err(|error| error.within("--cost"))?;
    }
    Ok(Some(found))
}

/// The same for the classes of a target.
pub(crate) fn of_data(call: &Call, data: &Dataset) -> Result<Option<Decision>> {
    match data.y {
        Some(Target::Class { classes, .. }) => decision(call, classes),
        _ => decision(call, &[]),
    }
}

/// `Yes=5,No=1` is two costs; a class may have a comma in its name.
fn words(word: &str) -> Vec<String> {
    match word.split(',').all(|part| part.contains('=')) {
        true => word.split(',').map(|part| part.trim().to_string()).collect(),
        false => vec![word.to_string()],
    }
}

/// Predicted classes decided as the flags say.
pub(super) fn decided(call: &Call, trained: &Trained, rows: &Rows, table: Table) -> Result<Table> {
    let Some(decision) = decision(call, &trained.history.classes)? else { return Ok(table) };
    if decision.is_own() {
        return Ok(table);
    }
    if call.text("method").is_some_and(|method| method != "predict") {
        return Err(Error::new(Code::Usage, "--threshold and --cost decide predicted classes")
            .hint("leave out --method"));
    }
    let probabilities = trained.call("probabilities", rows, &call.run)?.into_matrix();
    let Some(codes) = decision.classes(probabilities.view())? else { return Ok(table) };
    let (values, schema) = table.into_parts();
    let cell = |i: usize, j: usize| if j == 0 { f64::from(codes[i]) } else { values[(i, j)] };
    let values = Matrix::from_fn(values.nrows(), values.ncols(), cell);
    Table::new(values, schema)
}

/// What a decision is, in words, and of two classes with costs the best threshold for these rows.
pub(super) fn told(call: &Call, decision: &Decision, outcome: &Outcome) -> Result<Vec<String>> {
    let Some(Target::Class { codes, classes }) = outcome.truth else { return Ok(Vec::new()) };
    let mut lines = Vec::new();
    let positive = decision.positive_class().map(|k| classes[k].clone());
    if let (Some(threshold), Some(class)) = (decision.threshold(), &positive) {
        let class = plain(&class.to_string());
        lines.push(format!("'{class}' is predicted from probability {} on", number(threshold)));
    }
    let pair = decision.costs().zip(decision.positive_class()).filter(|_| classes.len() == 2);
    if let (Some((costs, k)), Some(y_score), Some(class)) = (pair, outcome.probabilities, positive)
    {
        let curve = CostThreshold {
            false_positive_cost: costs[(1 - k, k)],
            false_negative_cost: costs[(k, 1 - k)],
            pos_label: Some(class.to_value()),
        };
        let y_true = Classes { codes, classes };
        let given = Ranked { y_true, y_score, sample_weight: outcome.weights };
        let best = curve.compute_in(given, &call.run)?;
        let place = match best.threshold.is_finite() {
            true => format!("threshold {}", number(best.threshold)),
            false => "predicting it never".to_string(),
        };
        lines.push(format!("on these rows {place} costs least: {} a row", number(best.cost)));
    }
    Ok(lines)
}

/// What helps a model that predicts one class only, of classes with these shares of the rows.
pub(super) fn one_class_hint(
    call: &Call,
    classes: &[Label],
    only: usize,
    shares: &[f64],
    class_weight: bool,
) -> String {
    let other = |k: &usize| *k != only && shares.get(*k).is_some_and(|share| *share > 0.0);
    let rare = (0..classes.len()).filter(other).min_by(|&a, &b| shares[a].total_cmp(&shares[b]));
    let decided = call.number("threshold").is_some() || !call.texts("cost").is_empty();
    let mut ways = match (decided, rare) {
        (true, _) => vec!["another --threshold or --cost".to_string()],
        (false, Some(rare)) => decisions(call, classes, rare, shares[rare]),
        (false, None) => Vec::new(),
    };
    ways.push(match class_weight {
        true => "fit with --class-weight balanced".to_string(),
        false => "weigh the rare rows with --weight at fit".to_string(),
    });
    format!("try {}", ways.join(", or "))
}

/// Flags that call a row rare where it is likelier than rows are on the whole.
fn decisions(call: &Call, classes: &[Label], rare: usize, share: f64) -> Vec<String> {
    let name = classes[rare].to_string();
    let class = shell(&name);
    let cost = ((1.0 - share) / share).round().max(2.0);
    let cost = format!("--cost {class}={}", number(cost));
    if classes.len() != 2 {
        return vec![cost];
    }
    let positive = call.text("positive").map_or(rare == 1, |positive| positive == name);
    let positive = if positive { String::new() } else { format!("--positive {class} ") };
    let digits = 10.0_f64.powf(1.0 - share.log10().floor());
    let threshold = number((share * digits).round() / digits);
    vec![format!("{positive}--threshold {threshold}"), cost]
}
