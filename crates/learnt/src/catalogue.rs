//! The registry as JSON: what `registry.json`, Python and the command line's `--json` print.

use crate::entries;
use learnt_core::estimator::{Entry, Power};
use learnt_core::function::FunctionEntry;
use learnt_core::params::{ParamSpec, Search, Value};
use learnt_core::question::{Needs, Question};
use serde_json::{Map, Value as Json, json};

/// Every learner, in the order of the registry.
pub fn catalogue() -> Json {
    Json::Array(entries().map(describe).collect())
}

/// One learner: its facts, parameters and attributes.
pub fn describe(entry: &Entry) -> Json {
    let about = entry.about;
    let learner = (entry.build)();
    let (accepts, offers, uses) = (about.accepts, about.offers, about.uses);
    json!({
        "path": about.path,
        "command": about.command(),
        "aliases": about.aliases,
        "doc": learner.documentation(),
        "roles": about.roles.names(),
        "two_classes": about.roles.two_classes,
        "target": match (about.roles.needs_classes(), about.roles.needs_target()) {
            (true, _) => "classes",
            (_, true) => "numbers",
            _ => "none",
        },
        "accepts": {
            "missing": accepts.missing,
            "categories": accepts.categories,
            "weights": accepts.weights,
            "many_outputs": accepts.many_outputs,
            "sequences": accepts.sequences,
            "volumes": accepts.volumes,
            "groups": accepts.groups,
        },
        "offers": {
            "probabilities": offers.probabilities,
            "some_probabilities": offers.some_probabilities,
            "decision_scores": offers.decision_scores,
            "inverse_transform": offers.inverse_transform,
            "assign": offers.assign,
        },
        "uses": {
            "randomness": uses.randomness,
            "threads": uses.threads,
            "iterations": uses.iterations,
            "streaming": uses.streaming,
            "online": uses.online,
            "extends": uses.extends,
            "members": learner.any_members().is_some(),
        },
        "cost": about.cost,
        "reference": about.reference,
        "complexity": about.complexity,
        "wants_scaling": about.wants_scaling,
        "positive_target": about.positive_target,
        "stores_rows": about.stores_rows,
        "deviance": about.deviance.map(|power| match power {
            Power::Fixed(power) => json!(power),
            Power::Parameter(name) => json!(name),
        }),
        "baseline": about.baseline,
        "check_with": about.check_with.iter()
            .map(|&(name, value)| (name.to_string(), Value::parse(value).to_json()))
            .collect::<Map<_, _>>(),
        "exempt": about.exempt.iter().map(|&(check, why)| (check.to_string(), json!(why)))
            .collect::<Map<_, _>>(),
        "params": learner.specs().iter().map(parameter).collect::<Vec<_>>(),
        "attributes": (entry.attributes)().iter()
            .map(|(name, doc)| {
                json!({
                    "name": name,
                    "doc": doc,
                    "stored": !(entry.transient)().contains(name),
                    "per_output": (entry.per_output)().contains(name),
                })
            })
            .collect::<Vec<_>>(),
        "questions": (entry.questions)().iter().map(question).collect::<Vec<_>>(),
    })
}

fn question(question: &Question) -> Json {
    json!({
        "name": question.name,
        "doc": question.doc,
        "needs": match question.needs {
            Needs::Nothing => "nothing",
            Needs::Rows => "rows",
            Needs::RowsAndTarget => "rows and target",
        },
        "arguments": (question.arguments)().specs().iter().map(parameter).collect::<Vec<_>>(),
    })
}

/// A function with its inputs, parameters and results.
pub fn function(entry: &FunctionEntry) -> Json {
    let about = entry.about;
    let function = (entry.build)();
    json!({
        "path": about.path,
        "command": about.command(),
        "kind": about.kind.verb(),
        "aliases": about.aliases,
        "text": function.documentation(),
        "reference": about.reference,
        "random": about.randomness,
        "inputs": entry.inputs.iter().map(|input| json!({
            "name": input.name,
            "kind": format!("{:?}", input.kind).to_lowercase(),
            "optional": input.optional,
            "doc": input.doc,
        })).collect::<Vec<_>>(),
        "params": function.specs().iter().map(parameter).collect::<Vec<_>>(),
        "outputs": entry.outputs.iter()
            .map(|(name, doc)| json!({ "name": name, "doc": doc }))
            .collect::<Vec<_>>(),
    })
}

fn parameter(spec: &ParamSpec) -> Json {
    json!({
        "name": spec.name,
        "accepts": spec.kind.to_string(),
        "default": spec.default.to_json(),
        "required": spec.required,
        "positional": spec.positional,
        "search": spec.search.as_ref().map(search),
        "doc": spec.doc,
    })
}

fn search(space: &Search) -> Json {
    match space {
        Search::Log(low, high) => json!({ "scale": "log", "low": low, "high": high }),
        Search::Linear(low, high) => json!({ "scale": "linear", "low": low, "high": high }),
        Search::Set(values) => {
            json!({ "values": values.iter().map(|value| value.to_json()).collect::<Vec<_>>() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_learner_is_listed_once_with_its_parameters() {
        let all = catalogue();
        let paths: Vec<&str> =
            all.as_array().unwrap().iter().map(|e| e["path"].as_str().unwrap()).collect();
        assert_eq!(paths.len(), entries().count());
        let dummy = all.as_array().unwrap().iter().find(|e| e["path"] == "dummy.DummyRegressor");
        assert_eq!(dummy.unwrap()["params"][0]["default"], "mean");
    }
}
