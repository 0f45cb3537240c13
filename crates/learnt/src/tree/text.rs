//! A tree as text: one line a node, conditions indented by depth, with counts and predictions.

use super::nodes::{NONE, Tree};
use crate::charts::tree::{TreeNode, diagram};
use learnt_core::answer::number;
use learnt_core::error::plain;
use learnt_core::prelude::*;

/// Deeper nodes are not indented further: a chain of n nodes stays of size n.
const DEEPEST_INDENT: usize = 30;
/// A report shows this many nodes.
const LONGEST_REPORT: usize = 200;
/// A set names this many levels.
const LONGEST_SET: usize = 8;

/// One node in words.
struct Line {
    depth: usize,
    condition: String,
    node: usize,
}

/// Nodes in their order with the condition that leads to each, at most `limit` of them.
fn lines(tree: &Tree, schema: &Schema, limit: usize) -> Vec<Line> {
    let mut lines = Vec::with_capacity(tree.len().min(limit));
    let mut open = vec![(0, 0, "root".to_string())];
    while let Some((node, depth, condition)) = open.pop() {
        if lines.len() == limit {
            break;
        }
        lines.push(Line { depth, condition, node });
        if !tree.is_leaf(node) {
            let (left, right) = conditions(tree, schema, node);
            open.push((tree.right[node] as usize, depth + 1, right));
            open.push((tree.left[node] as usize, depth + 1, left));
        }
    }
    lines
}

/// The conditions of both children.
fn conditions(tree: &Tree, schema: &Schema, node: usize) -> (String, String) {
    let column = schema.column(tree.feature[node] as usize);
    let name = plain(&column.name);
    if tree.level_start[node] != NONE {
        let bits = tree.level_bits(node);
        let names = |wanted: bool| {
            let levels = column.levels().unwrap_or_default().iter().zip(0_u32..);
            let chosen: Vec<String> = levels
                .filter(|(_, code)| super::grow::has_level(bits, *code) == wanted)
                .map(|(level, _)| plain(level))
                .collect();
            let more = chosen.len().saturating_sub(LONGEST_SET);
            let shown = chosen[..chosen.len() - more].join(", ");
            if more > 0 { format!("{{{shown}, and {more} more}}") } else { format!("{{{shown}}}") }
        };
        return (format!("{name} in {}", names(true)), format!("{name} in {}", names(false)));
    }
    let cut = tree.threshold[node];
    if cut == f64::INFINITY {
        return (format!("{name} is known"), format!("{name} is missing"));
    }
    let cut = number(cut);
    let (or_left, or_right) = match tree.missing_left[node] {
        true => (" or missing", ""),
        false => ("", " or missing"),
    };
    (format!("{name} <= {cut}{or_left}"), format!("{name} > {cut}{or_right}"))
}

/// The whole tree; `label` gives a node's prediction in words.
pub(crate) fn export(tree: &Tree, schema: &Schema, label: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    for line in lines(tree, schema, usize::MAX) {
        let indent = "|   ".repeat(line.depth.min(DEEPEST_INDENT));
        let mark = if tree.is_leaf(line.node) { " *" } else { "" };
        let (rows, prediction) = (tree.rows[line.node], label(line.node));
        out += &format!("{indent}{}: {rows} rows, {prediction}{mark}\n", line.condition);
    }
    out
}

/// Rules, importances and size as a report.
pub(crate) fn report(
    title: &str,
    tree: &Tree,
    schema: &Schema,
    importances: &[f64],
    label: impl Fn(usize) -> String,
) -> Answer {
    let mut report = Answer::new(title);
    let mut rules =
        Columns::new("Rules (a leaf has *)", &["node", "rows", "weight", "impurity", "prediction"]);
    for line in lines(tree, schema, LONGEST_REPORT) {
        let mark = if tree.is_leaf(line.node) { " *" } else { "" };
        let indent = "  ".repeat(line.depth.min(DEEPEST_INDENT));
        rules.push(vec![
            Cell::Text(format!("{indent}{}{mark}", line.condition)),
            Cell::Count(i64::from(tree.rows[line.node])),
            Cell::Number(tree.weight[line.node]),
            Cell::Number(tree.impurity[line.node]),
            Cell::Text(label(line.node)),
        ]);
    }
    report.tables.push(rules);
    report.tables.push(importance_table(schema, importances));
    report.charts.push(diagram(&nodes(tree, schema, label)));
    report.push("nodes", tree.len());
    report.push("leaves", tree.leaves());
    report.push("depth", tree.depth());
    if tree.len() > LONGEST_REPORT {
        let more = tree.len() - LONGEST_REPORT;
        report.notes.push(format!("{more} more nodes are not shown"));
    }
    report
}

/// The columns that matter, the most important first.
pub(crate) fn importance_table(schema: &Schema, importances: &[f64]) -> Columns {
    let mut used: Vec<usize> = (0..importances.len()).filter(|&j| importances[j] > 0.0).collect();
    used.sort_by(|&a, &b| importances[b].total_cmp(&importances[a]).then(a.cmp(&b)));
    let mut table = Columns::new("Importance", &["column", "share of the decrease of impurity"]);
    for j in used.into_iter().take(LONGEST_REPORT) {
        table.push(vec![Cell::Text(schema.column(j).name.clone()), Cell::Number(importances[j])]);
    }
    table
}

/// Nodes in the order of the rules, for the diagram.
fn nodes(tree: &Tree, schema: &Schema, label: impl Fn(usize) -> String) -> Vec<TreeNode> {
    let mut out: Vec<TreeNode> = Vec::new();
    let mut open = vec![(0, None)];
    while let Some((node, parent)) = open.pop() {
        let place = out.len();
        let inner = !tree.is_leaf(node);
        let question = inner.then(|| conditions(tree, schema, node).0);
        if inner {
            open.push((tree.right[node] as usize, Some(place)));
            open.push((tree.left[node] as usize, Some(place)));
        }
        let prediction = label(node);
        let group = prediction.split(" (").next().unwrap_or_default().to_string();
        let lines = vec![prediction, format!("{} rows", tree.rows[node])];
        out.push(TreeNode { parent, question, lines, group });
    }
    out
}
