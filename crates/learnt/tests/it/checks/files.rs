//! Model files of every learner: they come back whole, and damage of any kind is refused.

use super::{easy, fit, learners, outputs, same_bits};
use learnt::persist::{Node, file};
use learnt::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

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
        assert_eq!(loaded.history, trained.history);
    }
}

#[test]
fn every_truncation_and_every_flipped_byte_is_refused() {
    for (path, _, bytes) in models() {
        for length in 0..bytes.len() {
            assert!(learnt::from_bytes(&bytes[..length]).is_err(), "{path} cut at {length}");
        }
        let mut damaged = bytes.clone();
        for i in 0..bytes.len() {
            damaged[i] ^= 1 << (i % 8);
            assert!(learnt::from_bytes(&damaged).is_err(), "{path} with byte {i} changed");
            damaged[i] = bytes[i];
        }
    }
}

/// Hostile files with a right checksum: every leaf of the tree replaced, cut, lengthened, removed.
#[test]
fn hostile_content_under_a_right_checksum_is_refused_or_harmless() {
    let mut tried = 0;
    for (path, data, bytes) in models() {
        let root = file::from_bytes(&bytes).unwrap();
        for hostile in mutations(&root) {
            tried += 1;
            let Ok(bytes) = file::to_bytes(&hostile) else { continue };
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                if let Ok(trained) = learnt::from_bytes(&bytes) {
                    let _ = outputs(&trained, &data.x.frame());
                    let _ = trained.model.report();
                    let _ = trained.model.attributes();
                }
            }));
            assert!(
                outcome.is_ok(),
                "{path}: a hostile file panics: {}",
                difference(&root, &hostile, "")
            );
        }
    }
    assert!(tried > 1000, "only {tried} hostile files were tried");
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

/// All trees that differ from `node` in one place.
fn mutations(node: &Node) -> Vec<Node> {
    let mut out = replacements(node);
    match node {
        Node::Map(map) => {
            for (name, child) in map {
                for changed in mutations(child) {
                    let mut copy = map.clone();
                    copy.insert(name.clone(), changed);
                    out.push(Node::Map(copy));
                }
                let mut without = map.clone();
                without.remove(name);
                out.push(Node::Map(without));
            }
        }
        Node::List(items) => {
            for (k, child) in items.iter().enumerate() {
                for changed in mutations(child) {
                    let mut copy = items.clone();
                    copy[k] = changed;
                    out.push(Node::List(copy));
                }
            }
            out.push(Node::List(Vec::new()));
            out.push(Node::List([items.as_slice(), items.as_slice()].concat()));
        }
        _ => {}
    }
    out
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
                    (0..values.len().min(12)).map(|k| Node::Indices(replaced(values, k, bad))),
                );
            }
            out.push(Node::Indices(values[..values.len() / 2].to_vec()));
            out.push(Node::Indices([values.as_slice(), &[0, 0]].concat()));
        }
        Node::Ints(values) => {
            for bad in [0, -1, i64::MAX, values.len() as i64] {
                out.extend((0..values.len().min(12)).map(|k| Node::Ints(replaced(values, k, bad))));
            }
            out.push(Node::Ints(values[..values.len() / 2].to_vec()));
            out.push(Node::Ints([values.as_slice(), &[0, 0]].concat()));
        }
        Node::Bytes(values) => {
            out.extend((0..values.len().min(12)).map(|k| Node::Bytes(replaced(values, k, 255))));
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
            (0..values.len().min(12))
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
