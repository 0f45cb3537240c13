//! What a learner declares: names, texts, bounds, facts.

use super::{for_each, learners, spec};
use learnt::params::{Kind, ParamSpec, Variant};
use learnt::prelude::*;
use std::collections::BTreeSet;

#[test]
fn names_are_unique_and_every_learner_is_found_by_each_of_its_names() {
    let mut seen = BTreeSet::new();
    for entry in learnt::entries() {
        assert!(seen.insert(entry.about.path), "{} twice", entry.about.path);
        for name in
            [entry.about.path.to_string(), entry.about.name().to_string(), entry.about.command()]
        {
            assert_eq!(learnt::find(&name).unwrap().about.path, entry.about.path);
        }
    }
    assert!(seen.len() >= 8);
}

#[test]
fn everything_is_documented() {
    for_each("documented", |entry, learner| {
        let first = learner.documentation().lines().next().unwrap_or_default();
        if !first.ends_with('.') || first.len() < 20 {
            return Err(format!("its first line must be a sentence, not '{first}'"));
        }
        if entry.about.cost.is_empty() {
            return Err("no word about its cost".into());
        }
        let mut names = BTreeSet::new();
        for spec in learner.specs() {
            if !names.insert(spec.name) {
                return Err(format!("two parameters have the name {}", spec.name));
            }
            if !spec.doc.trim_end().ends_with('.') {
                return Err(format!("parameter {} has no sentence", spec.name));
            }
        }
        for (name, text) in (entry.attributes)() {
            if text.is_empty() {
                return Err(format!("attribute {name} has no text"));
            }
        }
        Ok(())
    });
}

#[test]
fn defaults_are_valid_and_survive_the_way_through_values() {
    for_each("defaults", |_, learner| {
        learner.check().map_err(|error| format!("defaults: {error}"))?;
        let again = learnt::build(&spec(learner)).map_err(|error| error.to_string())?;
        match spec(again.as_ref()) == spec(learner) {
            true => Ok(()),
            false => Err("get after set gives another value".into()),
        }
    });
}

#[test]
fn every_bound_is_refused_just_outside_and_accepted_just_inside() {
    let mut bounds = 0;
    for (entry, learner) in learners() {
        for param in learner.specs() {
            for (value, inside) in edges(&param.kind) {
                bounds += 1;
                check_edge(entry.about.name(), learner.as_ref(), param, &value, inside);
            }
        }
    }
    assert!(bounds > 10, "only {bounds} bounds were tested");
}

fn check_edge(
    name: &str,
    learner: &dyn AnyEstimator,
    param: &ParamSpec,
    value: &Value,
    inside: bool,
) {
    let accepted = param.kind.accepts(value);
    assert_eq!(accepted, inside, "{name}: {} = {value}", param.name);
    if inside {
        return;
    }
    let mut changed = learner.clone_any();
    let refused = changed.set(param.name, value).and_then(|()| changed.check());
    let error = refused.expect_err(&format!("{name}: {} = {value} is accepted", param.name));
    assert!(error.message().contains(param.name), "{name}: {error} does not name {}", param.name);
}

/// Values on both sides of every bound of a kind.
pub(super) fn edges(kind: &Kind) -> Vec<(Value, bool)> {
    match kind {
        Kind::Int(range) => {
            let mut out = Vec::new();
            if let Some((low, closed)) = range.low {
                let first = low as i64 + i64::from(!closed);
                out.extend([(Value::Int(first), true), (Value::Int(first - 1), false)]);
            }
            if let Some((high, closed)) = range.high {
                let last = high as i64 - i64::from(!closed);
                out.extend([(Value::Int(last), true), (Value::Int(last + 1), false)]);
            }
            out
        }
        Kind::Real(range) => {
            let mut out = vec![(Value::Real(f64::NAN), false)];
            if let Some((low, closed)) = range.low {
                out.extend([(Value::Real(low), closed), (Value::Real(low.next_down()), false)]);
            }
            if let Some((high, closed)) = range.high {
                out.push((Value::Real(high), closed));
                // Nothing is above infinity.
                out.extend(high.is_finite().then(|| (Value::Real(high.next_up()), false)));
            }
            out
        }
        Kind::Optional(inner) => edges(inner),
        Kind::Choice(variants) => {
            let of = |variant: &Variant| match variant {
                Variant::Of(kind, _) => edges(kind),
                _ => Vec::new(),
            };
            let mut out: Vec<_> = variants.iter().flat_map(of).collect();
            out.push((Value::Text("no such word".into()), false));
            out
        }
        _ => Vec::new(),
    }
}
