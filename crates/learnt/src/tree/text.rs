//! A tree in words: text with one line a node, a report with a diagram, Graphviz, JSON.

use super::nodes::{NONE, Tree};
use crate::charts::tree::{TreeNode, diagram};
use learnt_core::answer::{finite, number};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::error::plain;
use learnt_core::prelude::*;
use serde_json::json;

/// Deeper nodes are not indented further: a chain of n nodes stays of size n.
const DEEPEST_INDENT: usize = 30;
/// A report shows this many nodes.
const LONGEST_REPORT: usize = 200;
/// A set names this many levels.
const LONGEST_SET: usize = 8;

/// One node in words; nodes stand in an order in which each is before its children.
#[derive(Clone, Debug)]
pub(crate) struct Sketch {
    /// Its parent, an earlier one in the list.
    pub(crate) parent: Option<usize>,
    pub(crate) depth: usize,
    /// What leads here from the parent.
    pub(crate) condition: String,
    /// What it asks; nothing in a leaf.
    pub(crate) question: Option<String>,
    /// Training rows, and their weight.
    pub(crate) rows: f64,
    pub(crate) weight: f64,
    pub(crate) impurity: f64,
    /// The prediction in words, and as numbers.
    pub(crate) prediction: String,
    pub(crate) values: Vec<f64>,
}

/// The nodes of a binary tree, at most `limit` of them; `label` gives a prediction in words.
pub(crate) fn sketches(
    tree: &Tree,
    schema: &Schema,
    label: impl Fn(usize) -> String,
    limit: usize,
) -> Vec<Sketch> {
    let mut out: Vec<Sketch> = Vec::with_capacity(tree.len().min(limit));
    let mut open = vec![(0, 0, None, "root".to_string())];
    while let Some((node, depth, parent, condition)) = open.pop() {
        if out.len() == limit {
            break;
        }
        let place = out.len();
        let mut question = None;
        if !tree.is_leaf(node) {
            let (left, right) = conditions(tree, schema, node);
            question = Some(left.clone());
            open.push((tree.right[node] as usize, depth + 1, Some(place), right));
            open.push((tree.left[node] as usize, depth + 1, Some(place), left));
        }
        out.push(Sketch {
            parent,
            depth,
            condition,
            question,
            rows: f64::from(tree.rows[node]),
            weight: tree.weight[node],
            impurity: tree.impurity[node],
            prediction: label(node),
            values: tree.value(node).to_vec(),
        });
    }
    out
}

/// Names of levels as a set, not too many of them.
pub(crate) fn set_of(names: &[String]) -> String {
    let more = names.len().saturating_sub(LONGEST_SET);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{{{shown}, and {more} more}}") } else { format!("{{{shown}}}") }
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
            set_of(&chosen)
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

/// All nodes, one line each.
pub(crate) fn export(nodes: &[Sketch]) -> String {
    let mut out = String::new();
    for node in nodes {
        let indent = "|   ".repeat(node.depth.min(DEEPEST_INDENT));
        let mark = if node.question.is_none() { " *" } else { "" };
        let (rows, prediction) = (number(node.rows), &node.prediction);
        out += &format!("{indent}{}: {rows} rows, {prediction}{mark}\n", node.condition);
    }
    out
}

/// The tree in the language of Graphviz.
pub(crate) fn graphviz(nodes: &[Sketch]) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut out = "digraph tree {\n  node [shape=box, fontname=\"sans-serif\"];\n".to_string();
    for (id, node) in nodes.iter().enumerate() {
        let asked =
            node.question.as_ref().map_or_else(String::new, |q| format!("{}?\\n", quoted(q)));
        let (rows, prediction) = (number(node.rows), quoted(&node.prediction));
        out += &format!("  n{id} [label=\"{asked}{rows} rows\\n{prediction}\"];\n");
        if let Some(parent) = node.parent {
            out += &format!("  n{parent} -> n{id} [label=\"{}\"];\n", quoted(&node.condition));
        }
    }
    out + "}\n"
}

/// The tree as JSON: a list of nodes, each with its parent.
pub(crate) fn json(nodes: &[Sketch]) -> String {
    let node = |(id, node): (usize, &Sketch)| {
        json!({
            "id": id,
            "parent": node.parent,
            "condition": node.condition,
            "leaf": node.question.is_none(),
            "rows": finite(node.rows),
            "weight": finite(node.weight),
            "impurity": finite(node.impurity),
            "prediction": node.prediction,
            "values": node.values.iter().map(|&x| finite(x)).collect::<Vec<_>>(),
        })
    };
    json!({ "nodes": nodes.iter().enumerate().map(node).collect::<Vec<_>>() }).to_string()
}

/// Rules, importances and size as a report.
pub(crate) fn report(title: &str, nodes: &[Sketch], importance: Option<Columns>) -> Answer {
    let mut report = Answer::new(title);
    let mut rules =
        Columns::new("Rules (a leaf has *)", &["node", "rows", "weight", "impurity", "prediction"]);
    for node in nodes.iter().take(LONGEST_REPORT) {
        let mark = if node.question.is_none() { " *" } else { "" };
        let indent = "  ".repeat(node.depth.min(DEEPEST_INDENT));
        let rows = match node.rows.fract() == 0.0 {
            true => Cell::Count(node.rows as i64),
            false => Cell::Number(node.rows),
        };
        rules.push(vec![
            Cell::Text(format!("{indent}{}{mark}", node.condition)),
            rows,
            Cell::Number(node.weight),
            Cell::Number(node.impurity),
            Cell::Text(node.prediction.clone()),
        ]);
    }
    report.tables.push(rules);
    report.tables.extend(importance);
    report.charts.push(diagram(&nodes.iter().map(drawn).collect::<Vec<_>>()));
    report.push("nodes", nodes.len());
    report.push("leaves", nodes.iter().filter(|node| node.question.is_none()).count());
    report.push("depth", nodes.iter().map(|node| node.depth).max().unwrap_or(0));
    if nodes.len() > LONGEST_REPORT {
        let more = nodes.len() - LONGEST_REPORT;
        report.notes.push(format!("{more} more nodes are not shown"));
    }
    report
}

/// The columns that matter, the most important first.
pub(crate) fn importance_table(schema: &Schema, importances: &[f64]) -> Columns {
    let mut used: Vec<usize> = (0..importances.len()).filter(|&j| importances[j] > 0.0).collect();
    used.sort_by(|&a, &b| importances[b].total_cmp(&importances[a]).then(a.cmp(&b)));
    let heads = ["column", "share of the decrease of impurity", "relative importance"];
    let mut table = Columns::new("Importance", &heads);
    let most = used.first().map_or(1.0, |&j| importances[j]);
    for j in used.into_iter().take(LONGEST_REPORT) {
        table.push(vec![
            Cell::Text(schema.column(j).name.clone()),
            Cell::Number(importances[j]),
            Cell::Number(100.0 * (importances[j] / most).sqrt()),
        ]);
    }
    table
}

/// The rectangles of the leaves over two quantities; none for other tables or more than 200 leaves.
pub(crate) fn partition(
    tree: &Tree,
    schema: &Schema,
    label: impl Fn(usize) -> String,
) -> Option<Chart> {
    let quantities = tree.columns.iter().all(|&levels| levels == 0);
    if schema.len() != 2 || !quantities || !(2..=LONGEST_REPORT).contains(&tree.leaves()) {
        return None;
    }
    let range = |column: u32| {
        let asked = (0..tree.len()).filter(|&node| tree.feature[node] == column);
        let cuts = asked.map(|node| tree.threshold[node]).filter(|cut| cut.is_finite());
        let (low, high) = cuts.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), cut| {
            (low.min(cut), high.max(cut))
        });
        // Beyond the outer cuts nothing changes.
        let beyond = if high > low { 0.3 * (high - low) } else { 1.0 };
        if low > high { (0.0, 1.0) } else { (low - beyond, high + beyond) }
    };
    let (across, up) = (range(0), range(1));
    let name = |j: usize| plain(&schema.column(j).name);
    let mut panel = Panel::new(name(0), name(1)).range_x(across.0, across.1).range_y(up.0, up.1);
    let mut open = vec![(0, [across, up])];
    while let Some((node, sides)) = open.pop() {
        if tree.is_leaf(node) {
            let [(left, right), (low, high)] = sides;
            let group = label(node).split(" (").next().unwrap_or_default().to_string();
            let x = vec![left, right, right, left];
            panel = panel.mark(Mark::polygon(group, x, vec![low, low, high, high]));
            continue;
        }
        let (column, cut) = (tree.feature[node] as usize, tree.threshold[node]);
        let (mut below, mut above) = (sides, sides);
        below[column].1 = below[column].1.min(cut);
        above[column].0 = above[column].0.max(cut);
        open.push((tree.right[node] as usize, above));
        open.push((tree.left[node] as usize, below));
    }
    let about = "Every leaf is a rectangle; beyond the outer cuts nothing changes.";
    Some(Chart::new("Partition", about).panel(panel))
}

/// A node for the diagram.
fn drawn(node: &Sketch) -> TreeNode {
    let group = node.prediction.split(" (").next().unwrap_or_default().to_string();
    let lines = vec![node.prediction.clone(), format!("{} rows", number(node.rows))];
    TreeNode { parent: node.parent, question: node.question.clone(), lines, group }
}
