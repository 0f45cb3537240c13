//! What single trees are asked beyond prediction.

use super::nodes::{NONE, Tree};
use super::prune::PruningPath;
use super::rules;
use super::text::{self, Sketch};
use learnt_core::prelude::*;

/// A question without arguments.
#[derive(Params, Clone, Debug)]
struct NoArguments {}

/// The form of an export.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TreeForm {
    /// One line a node.
    #[default]
    Text,
    /// The language of Graphviz.
    Graphviz,
    /// JSON.
    Json,
}

/// How a tree is written.
#[derive(Params, Clone, Debug)]
struct ExportArguments {
    /// The form: `text`, `graphviz` or `json`.
    pub form: TreeForm,
}

/// Writes a tree in the form that is asked for.
pub(super) fn export_answer(nodes: &[Sketch], asked: &Asked) -> Result<Answer> {
    let form = asked.choice("form", &["text", "graphviz", "json"])?;
    let mut answer = Answer::new("Tree");
    answer.push("text", [text::export, text::graphviz, text::json][form](nodes));
    Ok(answer)
}

/// The whole tree as text.
pub(super) const EXPORT: Question = Question {
    name: "export",
    doc: "The whole tree as text, in the language of Graphviz, or as JSON.",
    needs: Needs::Nothing,
    arguments: || Box::new(ExportArguments::default()),
};

/// The nodes as arrays.
pub(super) const NODES: Question = Question {
    name: "nodes",
    doc: "The nodes as arrays, under scikit-learn's names: -1 is no child, -2 no column.",
    needs: Needs::Nothing,
    arguments: || Box::new(NoArguments::default()),
};

/// The nodes of a binary tree as arrays.
pub(super) fn nodes_answer(tree: &Tree) -> Answer {
    let place = |node: u32, none: i64| if node == NONE { none } else { i64::from(node) };
    let places = |nodes: &[u32], none: i64| nodes.iter().map(|&node| place(node, none)).collect();
    let threshold = |node: usize| if tree.is_leaf(node) { -2.0 } else { tree.threshold[node] };
    let mut table = Columns::titled("Nodes")
        .counts("children_left", places(&tree.left, -1))
        .counts("children_right", places(&tree.right, -1))
        .counts("feature", places(&tree.feature, -2))
        .reals("threshold", (0..tree.len()).map(threshold).collect())
        .reals("impurity", tree.impurity.clone())
        .counts("n_node_samples", tree.rows.iter().map(|&rows| i64::from(rows)).collect())
        .reals("weighted_n_node_samples", tree.weight.clone())
        .counts(
            "missing_go_to_left",
            tree.missing_left.iter().map(|&left| i64::from(left)).collect(),
        );
    for k in 0..tree.outputs {
        let values = (0..tree.len()).map(|node| tree.value(node)[k]).collect();
        table = table.reals(format!("value {k}"), values);
    }
    let mut answer = Answer::new("Nodes");
    answer.tables.push(table);
    answer.push("numbers in a prediction", tree.outputs);
    answer.push("depth", tree.depth());
    answer
}

/// Where rows end.
pub(super) const LEAVES: Question = Question {
    name: "leaves",
    doc: "The leaf of each row, as its place among the nodes.",
    needs: Needs::Rows,
    arguments: || Box::new(NoArguments::default()),
};

/// The leaves of rows.
pub(super) fn leaves_answer(leaves: Vec<u32>) -> Answer {
    let leaves = leaves.into_iter().map(i64::from).collect();
    let mut answer = Answer::new("Leaves");
    answer.tables.push(Columns::titled("Leaves").counts("leaf", leaves));
    answer
}

/// The subtrees that cost-complexity pruning passes.
pub(super) const PRUNING: Question = Question {
    name: "pruning_path",
    doc: "The values of `ccp_alpha` from which on a smaller subtree is optimal, and its total impurity.",
    needs: Needs::Nothing,
    arguments: || Box::new(NoArguments::default()),
};

/// The subtrees of a tree, the whole one first.
pub(super) fn pruning_answer(path: PruningPath) -> Answer {
    let table = Columns::titled("Subtrees")
        .reals("ccp_alpha", path.ccp_alphas)
        .reals("impurity", path.impurities);
    let mut answer = Answer::new("Subtrees");
    answer.tables.push(table);
    answer
}

/// The rules of the leaves.
pub(super) const RULES: Question = Question {
    name: "rules",
    doc: "One rule a leaf: the conditions that lead to it, and what it predicts.",
    needs: Needs::Nothing,
    arguments: || Box::new(NoArguments::default()),
};

/// The rules with as few conditions as they need.
pub(super) const PRUNED_RULES: Question = Question {
    name: "pruned_rules",
    doc: "Rules without the conditions that they do not need on these rows, the most accurate first.",
    needs: Needs::RowsAndTarget,
    arguments: || Box::new(rules::RuleArguments::default()),
};

#[cfg(test)]
mod tests {
    use super::super::{DecisionTreeClassifier, DecisionTreeRegressor, Growth};
    use super::*;

    /// Numbers, and classes of the same rows.
    fn rows() -> [OwnedDataset; 2] {
        let x = Matrix::from_fn(90, 2, |i, j| ((i * (7 + 4 * j)) % 31) as f64);
        let y: Vec<f64> = (0..90).map(|i| x[(i, 0)] + (x[(i, 1)] * 0.7).sin() * 9.0).collect();
        let labels: Vec<Label> =
            y.iter().map(|&y| Label::Int((y / 9.0).floor().clamp(0.0, 2.0) as i64)).collect();
        [OwnedDataset::regression(x.clone(), y), OwnedDataset::classification(x, &labels)]
    }

    fn growth(ccp_alpha: f64) -> Growth {
        Growth { max_depth: Some(4), ccp_alpha, ..Growth::default() }
    }

    /// A regression tree and a classification tree.
    fn fitted(ccp_alpha: f64) -> [(Box<dyn Model>, Tree); 2] {
        let [numbers, classes] = rows();
        let growth = growth(ccp_alpha);
        let regressor = DecisionTreeRegressor { growth: growth.clone(), ..Default::default() };
        let classifier = DecisionTreeClassifier { growth, ..Default::default() };
        let regressor = regressor.fit(&numbers.view()).unwrap();
        let classifier = classifier.fit(&classes.view()).unwrap();
        let trees = [regressor.tree.clone(), classifier.tree.clone()];
        let models: [Box<dyn Model>; 2] = [Box::new(regressor), Box::new(classifier)];
        let [a, b] = models;
        let [c, d] = trees;
        [(a, c), (b, d)]
    }

    fn asked(model: &dyn Model, name: &str, data: Option<Dataset>) -> Answer {
        let question = model.questions().iter().find(|q| q.name == name).unwrap();
        model.answer(&question.ask(&[], data, Context::default()).unwrap()).unwrap()
    }

    fn numbers(answer: &Answer, column: &str) -> Vec<f64> {
        answer.column(column).unwrap().reals().unwrap()
    }

    #[test]
    fn leaves_of_training_rows_are_those_that_nodes_count() {
        for ((model, _), data) in fitted(0.0).iter().zip(rows()) {
            let leaves = numbers(&asked(model.as_ref(), "leaves", Some(data.view())), "leaf");
            let nodes = asked(model.as_ref(), "nodes", None);
            let (children, rows) =
                (numbers(&nodes, "children_left"), numbers(&nodes, "n_node_samples"));
            let mut found = vec![0.0; rows.len()];
            leaves.iter().for_each(|&leaf| found[leaf as usize] += 1.0);
            for node in 0..rows.len() {
                let expected = if children[node] == -1.0 { rows[node] } else { 0.0 };
                assert_eq!(found[node], expected, "node {node}");
            }
        }
    }

    #[test]
    fn a_tree_pruned_between_two_steps_of_the_path_has_the_impurity_of_the_first() {
        let total = |tree: &Tree| -> f64 {
            let leaves = (0..tree.len()).filter(|&node| tree.is_leaf(node));
            leaves.map(|node| tree.weight[node] * tree.impurity[node]).sum::<f64>() / tree.weight[0]
        };
        for k in 0..2 {
            let path = asked(fitted(0.0)[k].0.as_ref(), "pruning_path", None);
            let (alphas, costs) = (numbers(&path, "ccp_alpha"), numbers(&path, "impurity"));
            assert!(alphas.len() > 3 && alphas[0] == 0.0, "{alphas:?}");
            for step in 0..alphas.len() {
                let next = alphas.get(step + 1).copied().unwrap_or(2.0 * alphas[step]);
                let pruned = &fitted(0.5 * (alphas[step] + next))[k].1;
                let scale = costs[0].max(costs[costs.len() - 1]);
                assert!((total(pruned) - costs[step]).abs() < 1e-9 * scale, "step {step}");
                assert_eq!(pruned.len() == 1, step + 1 == alphas.len(), "step {step}");
            }
        }
    }
}
