//! The diagram of a tree: the root at the left, questions in inner nodes, predictions in leaves.

use learnt_core::chart::{Chart, Mark, Panel};
use std::collections::BTreeMap;

/// Levels that are drawn.
const DEEPEST: usize = 5;
/// Leaves that are drawn.
const MOST_LEAVES: usize = 40;
/// Letters of a line of text.
const LONGEST: usize = 36;

/// A node of a tree; nodes stand in an order in which a left subtree comes before its right one.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeNode {
    /// Its parent, an earlier node.
    pub parent: Option<usize>,
    /// What it asks; nothing in a leaf.
    pub question: Option<String>,
    /// Lines about it: rows, prediction.
    pub lines: Vec<String>,
    /// What its colour stands for, such as the class it predicts.
    pub group: String,
}

/// The diagram. Subtrees below the fifth level, or beyond 40 leaves, are folded into their root.
pub fn diagram(nodes: &[TreeNode]) -> Chart {
    let depth = depths(nodes);
    let limit = (1..=DEEPEST)
        .rev()
        .find(|&limit| leaves_within(nodes, &depth, limit) <= MOST_LEAVES)
        .unwrap_or(1);
    let shown: Vec<usize> = (0..nodes.len()).filter(|&i| depth[i] <= limit).collect();
    let folded = nodes.len() - shown.len();
    let heights = heights(nodes, &shown, &depth, limit);
    let leaves = heights.values().fold(0.0_f64, |most, y| most.max(*y)) + 1.0;
    let deepest = shown.iter().map(|&i| depth[i]).max().unwrap_or(0);
    let texts: BTreeMap<usize, String> =
        shown.iter().map(|&i| (i, text(&nodes[i], depth[i] == limit))).collect();
    let widest =
        texts.values().flat_map(|text| text.split('\n')).map(|line| line.chars().count()).max();
    let step = 7.4 * widest.unwrap_or(0) as f64 + 50.0;
    let mut panel = Panel::new("", "")
        .bare()
        .size(step * (deepest + 1) as f64, (62.0 * leaves).max(70.0))
        .range_x(-0.5, deepest as f64 + 0.5)
        .range_y(0.5 - leaves, 0.5);
    panel = panel.mark(links(nodes, &shown, &depth, &heights));
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for &i in &shown {
        let leaf = nodes[i].question.is_none();
        groups.entry(if leaf { &nodes[i].group } else { "" }).or_default().push(i);
    }
    for (group, members) in groups {
        let x = members.iter().map(|&i| depth[i] as f64).collect();
        let y = members.iter().map(|i| -heights[i]).collect();
        let labels = members.iter().map(|i| texts[i].clone()).collect();
        let mark = Mark::texts(x, y, labels).boxed();
        panel = panel.mark(match group {
            "" => mark.muted(),
            group => Mark { series: group.to_string(), ..mark }.unnamed(),
        });
    }
    let mut chart =
        Chart::new("Decision tree", format!("{} nodes; the root asks first.", nodes.len()))
            .note("Where the condition holds, the upper branch is taken.")
            .panel(panel);
    if folded > 0 {
        chart.notes.push(format!("{folded} nodes below are not drawn."));
    }
    chart
}

fn depths(nodes: &[TreeNode]) -> Vec<usize> {
    let mut depths = vec![0; nodes.len()];
    for (i, node) in nodes.iter().enumerate() {
        if let Some(parent) = node.parent.filter(|&parent| parent < i) {
            depths[i] = depths[parent] + 1;
        }
    }
    depths
}

fn leaves_within(nodes: &[TreeNode], depth: &[usize], limit: usize) -> usize {
    let end = |i: &usize| depth[*i] == limit || (depth[*i] < limit && nodes[*i].question.is_none());
    (0..nodes.len()).filter(end).count()
}

/// Rows of the diagram: leaves one after another, inner nodes in the middle of their children.
fn heights(
    nodes: &[TreeNode],
    shown: &[usize],
    depth: &[usize],
    limit: usize,
) -> BTreeMap<usize, f64> {
    let mut heights: BTreeMap<usize, f64> = BTreeMap::new();
    let mut next = 0.0;
    for &i in shown.iter().filter(|&&i| depth[i] == limit || nodes[i].question.is_none()) {
        heights.insert(i, next);
        next += 1.0;
    }
    for &i in shown.iter().rev() {
        if heights.contains_key(&i) {
            continue;
        }
        let children: Vec<f64> = shown
            .iter()
            .filter(|&&child| child > i && nodes[child].parent == Some(i))
            .filter_map(|child| heights.get(child).copied())
            .collect();
        let middle = children.iter().sum::<f64>() / children.len().max(1) as f64;
        heights.insert(i, middle);
    }
    heights
}

fn links(
    nodes: &[TreeNode],
    shown: &[usize],
    depth: &[usize],
    heights: &BTreeMap<usize, f64>,
) -> Mark {
    let (mut from, mut to) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for &i in shown {
        if let Some(parent) = nodes[i].parent.filter(|parent| heights.contains_key(parent)) {
            from.0.push(depth[parent] as f64);
            from.1.push(-heights[&parent]);
            to.0.push(depth[i] as f64);
            to.1.push(-heights[&i]);
        }
    }
    Mark::links("", from, to).muted()
}

/// The lines of a node; a question at the edge of the drawing is only said to be there.
fn text(node: &TreeNode, edge: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    match &node.question {
        Some(question) if !edge => lines.push(short(question)),
        Some(_) => lines.push("…".to_string()),
        None => {}
    }
    lines.extend(node.lines.iter().map(|line| short(line)));
    lines.join("\n")
}

fn short(line: &str) -> String {
    if line.chars().count() <= LONGEST {
        return line.to_string();
    }
    line.chars().take(LONGEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(levels: usize) -> Vec<TreeNode> {
        let mut nodes: Vec<TreeNode> = Vec::new();
        let mut open = vec![(None, 0)];
        while let Some((parent, depth)) = open.pop() {
            let i = nodes.len();
            let question = (depth < levels).then(|| format!("x{depth} <= 1"));
            if question.is_some() {
                open.extend([(Some(i), depth + 1), (Some(i), depth + 1)]);
            }
            nodes.push(TreeNode {
                parent,
                question,
                lines: vec![format!("{i} rows")],
                group: "a".to_string(),
            });
        }
        nodes
    }

    #[test]
    fn inner_nodes_stand_between_their_children() {
        let nodes = complete(1);
        let shown = [0, 1, 2];
        let heights = heights(&nodes, &shown, &depths(&nodes), 5);
        assert_eq!((heights[&0], heights[&1], heights[&2]), (0.5, 0.0, 1.0));
    }

    #[test]
    fn a_large_tree_is_folded_and_it_is_said() {
        let small = diagram(&complete(3));
        assert_eq!(small.notes.len(), 1);
        let large = diagram(&complete(9));
        assert!(large.notes[1].ends_with("nodes below are not drawn."), "{:?}", large.notes);
        let drawn: usize = large.panels[0].marks[1..].iter().map(|mark| mark.labels.len()).sum();
        assert!(drawn < 2 * MOST_LEAVES, "{drawn}");
        assert_eq!(diagram(&complete(0)).panels[0].marks.len(), 2);
    }
}
