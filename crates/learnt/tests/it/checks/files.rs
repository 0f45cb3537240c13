//! Model files of every learner: they come back whole, and damage of any kind is refused.

use super::{easy, fit, learners, noise, outputs, same_bits};
use learnt::persist::{Node, file};
use learnt::prelude::*;
use learnt_core::trained::History;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How many values of an array are replaced, one at a time.
const VALUES: usize = 4;

/// A small model of each learner, with the rows it was fitted on.
fn models() -> Vec<(&'static str, OwnedDataset, Vec<u8>)> {
    let model = |(entry, learner): (&'static Entry, Box<dyn AnyEstimator>)| {
        let data = easy(15, learner.any_roles());
        let bytes = fit(learner.as_ref(), &data.view()).unwrap().to_bytes().unwrap();
        (entry.about.path, data, bytes)
    };
    learners().into_iter().map(model).collect()
}

#[test]
fn a_loaded_model_predicts_the_same_bits_and_saves_the_same_bytes() {
    for (entry, learner) in learners() {
        let data = easy(40, learner.any_roles());
        let trained = fit(learner.as_ref(), &data.view()).unwrap();
        let bytes = trained.to_bytes().unwrap();
        let loaded = learnt::from_bytes(&bytes)
            .unwrap_or_else(|error| panic!("{}: {error}", entry.about.path));
        let frame = data.x.frame();
        let (a, b) = (outputs(&trained, &frame).unwrap(), outputs(&loaded, &frame).unwrap());
        assert!(same_bits(&a, &b), "{}", entry.about.path);
        assert_eq!(loaded.to_bytes().unwrap(), bytes, "{}", entry.about.path);
        assert_ne!(loaded.verify().unwrap(), Some(false), "{}", entry.about.path);
        assert_eq!(loaded.history, filed(trained.history, &loaded.history));
    }
}

/// A history as its file has it: outputs of the self-test may be made for the first file only.
fn filed(mut history: History, loaded: &History) -> History {
    if let (Some(own), Some(others)) = (&mut history.examples, &loaded.examples) {
        assert!(others.outputs.is_some());
        own.outputs = own.outputs.take().or_else(|| others.outputs.clone());
    }
    history
}

/// Every place of the smallest model, and of the others a sample: the checksum covers all bytes alike,
/// so that one whole sweep finds a byte that it leaves out, and samples find a learner that evades it.
#[test]
fn truncations_and_flipped_bytes_are_refused() {
    let models = models();
    let smallest = models.iter().map(|(_, _, bytes)| bytes.len()).min().unwrap_or(0);
    for (path, _, bytes) in &models {
        let places = match every_place() || bytes.len() == smallest {
            true => (0..bytes.len()).collect(),
            false => places(bytes.len()),
        };
        let mut damaged = bytes.clone();
        for i in places {
            assert!(learnt::from_bytes(&bytes[..i]).is_err(), "{path} cut at {i}");
            damaged[i] ^= 1 << (i % 8);
            assert!(learnt::from_bytes(&damaged).is_err(), "{path} with byte {i} changed");
            damaged[i] = bytes[i];
        }
    }
}

/// Whether to damage every place of every model: slow, for those who change the file format.
fn every_place() -> bool {
    std::env::var_os("LEARNT_TEST_EVERY_PLACE").is_some()
}

/// The places of `length` that are damaged: those of the file's frame at both ends (magic, lengths and
/// checksum), and one drawn from each of 48 equal pieces between them.
fn places(length: usize) -> Vec<usize> {
    const FRAME: usize = 40;
    const DRAWN: usize = 48;
    if length <= 2 * FRAME + DRAWN {
        return (0..length).collect();
    }
    let inside = (length - 2 * FRAME) as f64 / DRAWN as f64;
    let drawn = |k: usize| FRAME + ((k as f64 + 0.5 + 0.499 * noise(length, k)) * inside) as usize;
    (0..FRAME).chain((0..DRAWN).map(drawn)).chain(length - FRAME..length).collect()
}

/// Hostile files with a right checksum: every leaf of the tree replaced, cut, lengthened, removed. Most are given
/// as trees to what reads models, which is all that a file's bytes come to; some go through the bytes.
#[test]
fn hostile_content_under_a_right_checksum_is_refused_or_harmless() {
    const THROUGH_BYTES: usize = 25;
    let mut tried = 0;
    for (path, data, bytes) in models() {
        let root = file::from_bytes(&bytes).unwrap();
        for_each_mutation(&root, &mut |hostile| {
            tried += 1;
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let loaded = match tried % THROUGH_BYTES {
                    0 => {
                        file::to_bytes(hostile.clone()).and_then(|bytes| learnt::from_bytes(&bytes))
                    }
                    _ => learnt::from_tree(hostile),
                };
                if let Ok(trained) = loaded {
                    let _ = outputs(&trained, &data.x.frame());
                    let _ = trained.report();
                    let _ = trained.model.attributes();
                }
            }));
            let place = || difference(&root, hostile, "");
            assert!(outcome.is_ok(), "{path}: a hostile file panics: {}", place());
        });
    }
    assert!(tried > 10_000, "only {tried} hostile files were tried");
}

/// A history with another number of classes than the model has is refused when it is loaded, with and
/// without self-test rows.
#[test]
fn a_history_with_other_classes_is_refused() {
    let mut tried = 0;
    for (path, _, bytes) in models() {
        let Node::Map(root) = file::from_bytes(&bytes).unwrap() else { continue };
        let Some(Node::Map(history)) = root.get("history") else { continue };
        let Some(Node::List(classes)) = history.get("classes") else {
            continue;
        };
        let trained = learnt::from_bytes(&bytes).unwrap();
        if trained.model.as_classifier().is_none() || classes.len() < 2 {
            continue;
        }
        for with_examples in [true, false] {
            let mut history = history.clone();
            history.insert("classes".into(), Node::List(classes[1..].to_vec()));
            if !with_examples {
                history.insert("example_inputs".into(), Node::Null);
                history.insert("example_outputs".into(), Node::Null);
            }
            let mut forged = root.clone();
            forged.insert("history".into(), Node::Map(history));
            let forged = file::to_bytes(Node::Map(forged)).unwrap();
            tried += 1;
            let error = learnt::from_bytes(&forged).err();
            assert!(
                error.is_some_and(|error| error.code() == Code::FileInvalid),
                "{path} was taken with a class too few (examples: {with_examples})"
            );
        }
    }
    assert!(tried > 10, "only {tried} files were tried");
}

/// Where two trees first differ.
fn difference(a: &Node, b: &Node, place: &str) -> String {
    match (a, b) {
        (Node::Map(a), Node::Map(b)) => {
            for (name, node) in a {
                match b.get(name) {
                    None => return format!("{place}/{name} removed"),
                    Some(other) if other != node => {
                        return difference(node, other, &format!("{place}/{name}"));
                    }
                    Some(_) => {}
                }
            }
            format!("{place} has another field")
        }
        (Node::List(a), Node::List(b)) if a.len() == b.len() => {
            let k = a.iter().zip(b).position(|(x, y)| x != y).unwrap_or(0);
            difference(&a[k], &b[k], &format!("{place}/{k}"))
        }
        (_, other) => format!("{place} = {other:?}").chars().take(300).collect(),
    }
}

/// Calls `f` with trees that differ from `root` in one place. Of the items of a list, which are alike, the first,
/// the last and one between are changed.
fn for_each_mutation(root: &Node, f: &mut dyn FnMut(&Node)) {
    let mut places = Vec::new();
    collect(root, &mut Vec::new(), &mut places);
    let mut tree = root.clone();
    for place in places {
        let node = find(&mut tree, &place).clone();
        let mut others = replacements(&node);
        match &node {
            Node::Map(map) => others.extend(map.keys().map(|name| {
                let mut copy = map.clone();
                copy.remove(name);
                Node::Map(copy)
            })),
            Node::List(items) => {
                others.push(Node::List(Vec::new()));
                others.push(Node::List([items.as_slice(), items.as_slice()].concat()));
            }
            _ => {}
        }
        for other in others {
            *find(&mut tree, &place) = other;
            f(&tree);
        }
        *find(&mut tree, &place) = node;
    }
}

/// A step from a node to one of its children.
#[derive(Clone)]
enum Step {
    Name(String),
    Item(usize),
}

fn collect(node: &Node, place: &mut Vec<Step>, out: &mut Vec<Vec<Step>>) {
    out.push(place.clone());
    let children: Vec<(Step, &Node)> = match node {
        Node::Map(map) => map.iter().map(|(name, node)| (Step::Name(name.clone()), node)).collect(),
        Node::List(items) => {
            sampled(items.len(), 3).into_iter().map(|k| (Step::Item(k), &items[k])).collect()
        }
        _ => Vec::new(),
    };
    for (step, child) in children {
        place.push(step);
        collect(child, place, out);
        place.pop();
    }
}

fn find<'a>(mut node: &'a mut Node, place: &[Step]) -> &'a mut Node {
    for step in place {
        node = match (node, step) {
            (Node::Map(map), Step::Name(name)) => map.get_mut(name).unwrap(),
            (Node::List(items), Step::Item(k)) => &mut items[*k],
            _ => panic!("a place that is not there"),
        };
    }
    node
}

/// At most `count` positions of `length`: the first, the last, and others spread between them.
fn sampled(length: usize, count: usize) -> Vec<usize> {
    if every_place() || length <= count {
        return (0..length).collect();
    }
    (0..count).map(|k| k * (length - 1) / (count - 1)).collect()
}

/// Other values in the place of one node.
fn replacements(node: &Node) -> Vec<Node> {
    let mut out =
        vec![Node::Null, Node::Bool(true), Node::Text("\u{1b}[31m../../x".into()), Node::Int(-1)];
    match node {
        Node::Int(i) => {
            out.extend([0, 1, i + 1, i - 1, i64::MAX, i64::MIN, 1 << 40].map(Node::Int))
        }
        Node::Real(_) => out.extend([f64::NAN, f64::INFINITY, -1.0, 0.0, 1e308].map(Node::Real)),
        Node::Text(_) => out.push(Node::Text("x".repeat(100_000))),
        Node::Reals(shape, values) => out.extend(reals(shape, values)),
        Node::Indices(values) => {
            for bad in [0, u32::MAX, values.len() as u32] {
                out.extend(
                    sampled(values.len(), VALUES)
                        .into_iter()
                        .map(|k| Node::Indices(replaced(values, k, bad))),
                );
            }
            out.push(Node::Indices(values[..values.len() / 2].to_vec()));
            out.push(Node::Indices([values.as_slice(), &[0, 0]].concat()));
        }
        Node::Ints(values) => {
            for bad in [0, -1, i64::MAX, values.len() as i64] {
                out.extend(
                    sampled(values.len(), VALUES)
                        .into_iter()
                        .map(|k| Node::Ints(replaced(values, k, bad))),
                );
            }
            out.push(Node::Ints(values[..values.len() / 2].to_vec()));
            out.push(Node::Ints([values.as_slice(), &[0, 0]].concat()));
        }
        Node::Bytes(values) => {
            out.extend(
                sampled(values.len(), VALUES)
                    .into_iter()
                    .map(|k| Node::Bytes(replaced(values, k, 255))),
            );
            out.push(Node::Bytes(Vec::new()));
        }
        Node::Texts(texts) => {
            out.push(Node::Texts(Vec::new()));
            out.push(Node::Texts([texts.as_slice(), texts.as_slice()].concat()));
        }
        _ => {}
    }
    out
}

fn reals(shape: &[usize], values: &[f64]) -> Vec<Node> {
    let mut out = Vec::new();
    for bad in [f64::NAN, f64::INFINITY, -1.0, 1e308, 4_294_967_296.0] {
        out.extend(
            sampled(values.len(), VALUES)
                .into_iter()
                .map(|k| Node::Reals(shape.to_vec(), replaced(values, k, bad))),
        );
    }
    out.push(Node::Reals(vec![0], Vec::new()));
    out.push(Node::Reals(vec![0, 0], Vec::new()));
    out.push(Node::Reals(vec![values.len()], values.to_vec()));
    out.push(Node::Reals(vec![values.len(), 1], values.to_vec()));
    out.push(Node::Reals(vec![1, values.len()], values.to_vec()));
    out.push(Node::Reals(vec![values.len() + 1], [values, &[1.0]].concat()));
    if let Some((_, shorter)) = values.split_last() {
        out.push(Node::Reals(vec![shorter.len()], shorter.to_vec()));
    }
    out
}

fn replaced<T: Clone>(values: &[T], k: usize, value: T) -> Vec<T> {
    let mut copy = values.to_vec();
    copy[k] = value;
    copy
}
