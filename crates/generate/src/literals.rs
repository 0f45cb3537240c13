//! Values, choices and types as Python writes them.

use learnt_core::params::{Kind, Value, Variant};

use super::python::WIDTH;
use super::text::{first_sentence, wrap};

/// What each word of a choice means.
pub(super) fn choices(kind: &Kind) -> String {
    match kind {
        Kind::Optional(inner) => choices(inner),
        Kind::Choice(variants) => {
            let mut out = String::from("\n");
            for variant in variants {
                let (word, doc) = match variant {
                    Variant::Word(word, doc) => (format!("'{word}'"), doc),
                    Variant::Null(doc) => ("None".to_string(), doc),
                    Variant::Of(kind, doc) => (python_words(&kind.to_string()), doc),
                };
                let line = format!("- {word}: {}", first_sentence(doc));
                out += &format!("\n{}", wrap(&line, 8, WIDTH));
            }
            out
        }
        _ => String::new(),
    }
}

/// `none`, `true` and `false` as Python writes them.
pub(super) fn python_words(text: &str) -> String {
    let swap = |word: &str| {
        let bare = word.trim_end_matches(',');
        let python = match bare {
            "none" => "None",
            "true" => "True",
            "false" => "False",
            other => other,
        };
        format!("{python}{}", &word[bare.len()..])
    };
    text.split(' ').map(swap).collect::<Vec<_>>().join(" ")
}

/// A default as Python writes it. A learner is made by the native half where nothing is given.
pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::Null | Value::Learner(_) => "None".to_string(),
        Value::Bool(b) => if *b { "True" } else { "False" }.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Real(x) if x.is_finite() => format!("{x:?}"),
        Value::Real(x) => format!("float(\"{x}\")").to_lowercase(),
        Value::Text(text) => format!("{text:?}"),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            let comma = if items.len() == 1 { "," } else { "" };
            format!("({}{comma})", items.join(", "))
        }
    }
}

/// A type annotation.
pub(super) fn annotation(kind: &Kind) -> String {
    match kind {
        Kind::Bool => "bool".to_string(),
        Kind::Int(_) => "int".to_string(),
        Kind::Real(_) => "float".to_string(),
        Kind::Text => "str".to_string(),
        Kind::Optional(inner) => format!("{} | None", annotation(inner)),
        Kind::List(inner) => format!("Sequence[{}]", annotation(inner)),
        Kind::Any(_) | Kind::Learner(_) | Kind::Named(_) => "Any".to_string(),
        Kind::Choice(variants) => {
            let words: Vec<String> = variants
                .iter()
                .filter_map(|variant| match variant {
                    Variant::Word(word, _) => Some(format!("{word:?}")),
                    _ => None,
                })
                .collect();
            let mut parts = Vec::new();
            if !words.is_empty() {
                parts.push(format!("Literal[{}]", words.join(", ")));
            }
            parts.extend(variants.iter().filter_map(|variant| match variant {
                Variant::Of(kind, _) => Some(annotation(kind)),
                Variant::Null(_) => Some("None".to_string()),
                Variant::Word(..) => None,
            }));
            parts.join(" | ")
        }
    }
}
