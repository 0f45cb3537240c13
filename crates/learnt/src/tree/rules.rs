//! Rules from trees, one a leaf, and their post-pruning.
//!
//! A rule is the list of conditions on the way to a leaf; of several cuts of a column only the tightest
//! stays. Post-pruning drops conditions one at a time, each time the one without which the estimated
//! accuracy of the rule is highest, while that does not lower it. Rules are then sorted by it; the first
//! that holds decides, and rows that none covers get the most common class among them. The estimate is
//! the accuracy on the rows given (other rows than the training ones), or the lower bound of its Wilson
//! interval.
//!
//! Quinlan (1987), International Journal of Man-Machine Studies 27, 221-234.

use super::multiway::MultiTree;
use super::nodes::{NONE, Tree};
use super::text::set_of;
use learnt_core::answer::number;
use learnt_core::error::plain;
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{Continuous, Normal};
use std::collections::BTreeMap;

/// More conditions than this are not listed.
const MOST_CONDITIONS: usize = 20_000_000;

/// What a condition asks of a known value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// At most this.
    AtMost(f64),
    /// More than this.
    Above(f64),
    /// One of these, in order.
    In(Vec<f64>),
}

/// A condition on one column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Condition {
    pub(super) column: usize,
    pub(super) test: Test,
    /// Whether it holds for a missing value.
    pub(super) missing: bool,
}

/// Conditions and the leaf that they lead to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rule {
    pub(super) conditions: Vec<Condition>,
    pub(super) node: usize,
}

impl Condition {
    pub(super) fn holds(&self, value: f64) -> bool {
        match &self.test {
            _ if value.is_nan() => self.missing,
            Test::AtMost(cut) => value <= *cut,
            Test::Above(cut) => value > *cut,
            Test::In(values) => values.binary_search_by(|known| known.total_cmp(&value)).is_ok(),
        }
    }

    /// In words.
    pub(super) fn text(&self, schema: &Schema) -> String {
        let column = schema.column(self.column);
        let name = plain(&column.name);
        let or = if self.missing { " or missing" } else { "" };
        match &self.test {
            Test::AtMost(f64::INFINITY) => format!("{name} is known"),
            Test::Above(f64::INFINITY) => format!("{name} is missing"),
            Test::AtMost(cut) => format!("{name} <= {}{or}", number(*cut)),
            Test::Above(cut) => format!("{name} > {}{or}", number(*cut)),
            Test::In(values) => {
                let word = |value: &f64| match column.levels().and_then(|l| l.get(*value as usize))
                {
                    Some(level) => plain(level),
                    None => number(*value),
                };
                let words: Vec<String> = values.iter().map(word).collect();
                match words.as_slice() {
                    [one] => format!("{name} = {one}{or}"),
                    _ => format!("{name} in {}{or}", set_of(&words)),
                }
            }
        }
    }
}

impl Rule {
    pub(super) fn text(&self, schema: &Schema) -> String {
        if self.conditions.is_empty() {
            return "always".to_string();
        }
        let words: Vec<String> = self.conditions.iter().map(|c| c.text(schema)).collect();
        words.join(" and ")
    }

    /// Of several cuts of a column on the same side, the tightest; sets of levels meet.
    fn simplified(mut self) -> Self {
        let mut kept: Vec<Condition> = Vec::new();
        let mut place: BTreeMap<(usize, u8), usize> = BTreeMap::new();
        for condition in self.conditions {
            let side = match condition.test {
                Test::AtMost(_) => 0,
                Test::Above(_) => 1,
                Test::In(_) => 2,
            };
            match place.get(&(condition.column, side)) {
                None => {
                    place.insert((condition.column, side), kept.len());
                    kept.push(condition);
                }
                Some(&at) => {
                    let earlier = &mut kept[at];
                    earlier.missing &= condition.missing;
                    match (&mut earlier.test, condition.test) {
                        (Test::AtMost(a), Test::AtMost(b)) => *a = a.min(b),
                        (Test::Above(a), Test::Above(b)) => *a = a.max(b),
                        (Test::In(a), Test::In(b)) => a.retain(|x| b.contains(x)),
                        _ => {}
                    }
                }
            }
        }
        self.conditions = kept;
        self
    }
}

/// One rule a leaf from the links of a tree: parents, and the condition of each node but the root.
fn of_leaves(
    leaves: Vec<usize>,
    parent: impl Fn(usize) -> u32,
    condition: impl Fn(usize) -> Condition,
) -> Result<Vec<Rule>> {
    let mut conditions = 0;
    let mut rules = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        let mut way = Vec::new();
        let mut node = leaf;
        while parent(node) != NONE {
            way.push(condition(node));
            node = parent(node) as usize;
        }
        way.reverse();
        let rule = Rule { conditions: way, node: leaf }.simplified();
        conditions += rule.conditions.len();
        if conditions > MOST_CONDITIONS {
            let message = "the tree is too deep to be written as rules";
            return Err(Error::new(Code::Memory, message).hint("limit its depth, or prune it"));
        }
        rules.push(rule);
    }
    Ok(rules)
}

/// The rules of a binary tree, in the order of its leaves.
pub(super) fn of_binary(tree: &Tree) -> Result<Vec<Rule>> {
    let mut parents = vec![NONE; tree.len()];
    for node in (0..tree.len()).filter(|&node| !tree.is_leaf(node)) {
        parents[tree.left[node] as usize] = node as u32;
        parents[tree.right[node] as usize] = node as u32;
    }
    let condition = |node: usize| {
        let parent = parents[node] as usize;
        let column = tree.feature[parent] as usize;
        let left = tree.left[parent] as usize == node;
        let missing = tree.missing_left[parent] == left;
        let cut = tree.threshold[parent];
        let test = match (tree.level_start[parent], left) {
            (NONE, true) => Test::AtMost(cut),
            (NONE, false) => Test::Above(cut),
            _ => {
                let bits = tree.level_bits(parent);
                let here = |code: &u32| super::grow::has_level(bits, *code) == left;
                Test::In((0..tree.columns[column]).filter(here).map(f64::from).collect())
            }
        };
        Condition { column, test, missing }
    };
    let leaves = (0..tree.len()).filter(|&node| tree.is_leaf(node)).collect();
    of_leaves(leaves, |node| parents[node], condition)
}

/// The rules of a tree with many branches. A missing value holds nowhere: it goes into several leaves.
pub(super) fn of_multiway(tree: &MultiTree) -> Result<Vec<Rule>> {
    let parents = tree.parents();
    let condition = |node: usize| {
        let parent = parents[node] as usize;
        let test = match tree.is_multiway(parent) {
            true => Test::In(vec![tree.value[node]]),
            false if tree.first[parent] as usize == node => Test::AtMost(tree.threshold[parent]),
            false => Test::Above(tree.threshold[parent]),
        };
        Condition { column: tree.feature[parent] as usize, test, missing: false }
    };
    let leaves = tree.in_order().into_iter().filter(|&node| tree.is_leaf(node)).collect();
    of_leaves(leaves, |node| parents[node], condition)
}

/// How the accuracy of a rule is estimated.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RuleEstimate {
    /// The lower bound of its interval: for training rows.
    #[default]
    Bound,
    /// The accuracy itself: for other rows.
    Accuracy,
}

/// How rules are post-pruned.
#[derive(Params, Clone, Debug)]
pub(super) struct RuleArguments {
    /// How the accuracy of a rule is estimated: `bound` for training rows, `accuracy` for others.
    pub estimate: RuleEstimate,
    /// Probability of the interval whose lower bound is taken.
    #[param(default = 0.95, above = 0.0, below = 1.0)]
    pub level: f64,
}

/// A rule after pruning.
struct Kept {
    rule: Rule,
    label: u32,
    estimate: f64,
    covered: f64,
}

/// The accuracy of `right` among `total`, or the lower end of its Wilson interval.
fn estimated(right: f64, total: f64, z: Option<f64>) -> f64 {
    let Some(z) = z else { return if total > 0.0 { right / total } else { 0.0 } };
    if total <= 0.0 {
        return 0.0;
    }
    let share = right / total;
    let root = (share * (1.0 - share) / total + z * z / (4.0 * total * total)).sqrt();
    ((share + z * z / (2.0 * total) - z * root) / (1.0 + z * z / total)).max(0.0)
}

/// Drops conditions while the estimate does not fall.
fn pruned(mut rule: Rule, label: u32, data: &Dataset, codes: &[u32], z: Option<f64>) -> Kept {
    let rows = data.nrows();
    let mut fails: Vec<Vec<bool>> = rule
        .conditions
        .iter()
        .map(|c| (0..rows).map(|i| !c.holds(data.x.values().at(i, c.column))).collect())
        .collect();
    loop {
        // Rows that all conditions hold for, and those that only one keeps out.
        let (mut total, mut right) = (0.0, 0.0);
        let mut more = vec![(0.0, 0.0); fails.len()];
        for i in 0..rows {
            let mut failing = (0..fails.len()).filter(|&c| fails[c][i]);
            let hit = f64::from(u8::from(codes[i] == label)) * data.weight(i);
            match (failing.next(), failing.next()) {
                (None, _) => (total, right) = (total + data.weight(i), right + hit),
                (Some(c), None) => more[c] = (more[c].0 + data.weight(i), more[c].1 + hit),
                _ => {}
            }
        }
        let now = estimated(right, total, z);
        let mut best: Option<(f64, usize)> = None;
        for (c, (weight, hits)) in more.iter().enumerate() {
            let without = estimated(right + hits, total + weight, z);
            if without >= now - 1e-12 && best.is_none_or(|(most, _)| without > most + 1e-12) {
                best = Some((without, c));
            }
        }
        let Some((_, drop)) = best else {
            return Kept { rule, label, estimate: now, covered: total };
        };
        rule.conditions.remove(drop);
        fails.remove(drop);
    }
}

/// The post-pruned rules as an answer; `label` gives the class of a leaf.
pub(super) fn pruned_answer(
    rules: Vec<Rule>,
    label: impl Fn(usize) -> u32 + Sync,
    schema: &Schema,
    classes: &[Label],
    asked: &Asked,
) -> Result<Answer> {
    let data = asked.rows()?;
    let (codes, known) = data.class_target()?;
    let translate = |code: u32| classes.iter().position(|class| *class == known[code as usize]);
    let codes: Vec<u32> =
        codes.iter().map(|&code| translate(code).map_or(u32::MAX, |k| k as u32)).collect();
    let bound = asked.choice("estimate", &["bound", "accuracy"])? == 0;
    let level = asked.number("level")?;
    let z = bound.then(|| Normal::standard().quantile(0.5 + 0.5 * level));
    let mut kept: Vec<Kept> = asked.run.try_par_map(rules.len(), |k| {
        asked.run.checkpoint()?;
        Ok(pruned(rules[k].clone(), label(rules[k].node), data, &codes, z))
    })?;
    kept.sort_by(|a, b| b.estimate.total_cmp(&a.estimate));
    let mut distinct: Vec<Kept> = Vec::new();
    for rule in kept {
        let same = |other: &Kept| {
            other.label == rule.label && other.rule.conditions == rule.rule.conditions
        };
        if !distinct.iter().any(same) {
            distinct.push(rule);
        }
    }
    Ok(list_answer(&distinct, data, &codes, schema, classes))
}

fn list_answer(
    rules: &[Kept],
    data: &Dataset,
    codes: &[u32],
    schema: &Schema,
    classes: &[Label],
) -> Answer {
    let mut counts = vec![0.0; classes.len()];
    let (mut right, mut total, mut uncovered) = (0.0, 0.0, 0.0);
    let mut open = Vec::new();
    for i in 0..data.nrows() {
        let fires = |kept: &&Kept| {
            kept.rule.conditions.iter().all(|c| c.holds(data.x.values().at(i, c.column)))
        };
        total += data.weight(i);
        match rules.iter().find(fires) {
            Some(rule) if rule.label == codes[i] => right += data.weight(i),
            Some(_) => {}
            None => open.push(i),
        }
    }
    let among = |rows: &mut dyn Iterator<Item = usize>, counts: &mut Vec<f64>| {
        rows.filter(|&i| (codes[i] as usize) < counts.len())
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|i| counts[codes[i] as usize] += data.weight(i));
    };
    match open.is_empty() {
        true => among(&mut (0..data.nrows()), &mut counts),
        false => among(&mut open.iter().copied(), &mut counts),
    }
    let default = learnt_core::estimator::first_maximum(&counts);
    for &i in &open {
        uncovered += data.weight(i);
        right += if codes[i] == default { data.weight(i) } else { 0.0 };
    }
    let name = |code: u32| plain(&classes[code as usize].to_string());
    let mut answer = Answer::new("Rules, post-pruned");
    let mut table = Columns::new(
        "The first that holds decides",
        &["rule", "class", "estimate", "weight of rows"],
    );
    for kept in rules {
        table.push(vec![
            Cell::Text(kept.rule.text(schema)),
            Cell::Text(name(kept.label)),
            Cell::Number(kept.estimate),
            Cell::Number(kept.covered),
        ]);
    }
    answer.tables.push(table);
    answer.push("rules", rules.len());
    answer.push("class of rows that no rule covers", name(default));
    answer.push("weight of rows that no rule covers", uncovered);
    answer.push("accuracy of the list", right / total);
    answer
}

/// The rules of the leaves as a table.
pub(super) fn table(
    rules: &[Rule],
    schema: &Schema,
    row: impl Fn(usize) -> (String, f64),
) -> Answer {
    let mut answer = Answer::new("Rules, one a leaf");
    let mut table = Columns::new("Rules", &["rule", "prediction", "weight of rows"]);
    for rule in rules {
        let (prediction, weight) = row(rule.node);
        let text = Cell::Text(rule.text(schema));
        table.push(vec![text, Cell::Text(prediction), Cell::Number(weight)]);
    }
    answer.tables.push(table);
    answer.push("rules", rules.len());
    answer
}
