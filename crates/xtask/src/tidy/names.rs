//! Every learner, verb and Python name in README, CHANGELOG and the written pages exists.
//!
//! What is there is read from the registry (`docs/reference/registry.json`, which `cargo xtask gen --check`
//! keeps current), from the list of verbs in the command, and from the stubs of the Python package.

use super::{Source, in_name, name_at, text_of};
use std::collections::BTreeSet;

const REGISTRY: &str = "docs/reference/registry.json";
const VERBS: &str = "crates/learnt-cli/src/commands/mod.rs";
/// Where kinds of functions have their verbs: after the kind, its plural and then its verb.
const KINDS: &str = "crates/learnt-core/src/function.rs";
/// Classes of others that end as ours do.
const PEERS: &[&str] = &["GridSearchCV"];
/// Words of other tools that end as learners do.
const WORDS: &[&str] = &["default-features"];

/// Names that are written and do not exist.
pub(super) fn check(sources: &[Source]) -> Vec<String> {
    let known = Known::read(sources);
    if known.commands.is_empty() || known.verbs.is_empty() {
        return vec![format!("no learners in {REGISTRY} or no verbs in {VERBS}")];
    }
    let pages =
        sources.iter().filter(|source| source.path.ends_with(".md") && !source.is_generated());
    let mut out = Vec::new();
    for page in pages {
        let mut fenced = false;
        for (number, line) in page.text.lines().enumerate() {
            fenced ^= line.trim_start().starts_with("```");
            let problems = known.problems(line, fenced, sources);
            out.extend(problems.iter().map(|what| format!("{}:{}: {what}", page.path, number + 1)));
        }
    }
    out
}

/// What exists.
struct Known {
    /// Classes: `Ridge`.
    classes: BTreeSet<String>,
    /// Names and aliases on the command line: `ridge`, `ols`.
    commands: BTreeSet<String>,
    /// Modules of Python: `linear_model`.
    modules: BTreeSet<String>,
    verbs: BTreeSet<String>,
}

impl Known {
    fn read(sources: &[Source]) -> Known {
        let registry: serde_json::Value =
            serde_json::from_str(text_of(sources, REGISTRY)).unwrap_or_default();
        let entries = registry.as_array().map_or(&[][..], Vec::as_slice);
        let paths = || entries.iter().filter_map(|entry| entry["path"].as_str()?.rsplit_once('.'));
        let aliases = entries.iter().filter_map(|entry| entry["aliases"].as_array()).flatten();
        let names = entries.iter().map(|entry| &entry["command"]).chain(aliases);
        let verb = |line: &str| {
            let (word, rest) = line.trim().strip_prefix("(\"")?.split_once('"')?;
            (rest.starts_with(", ") && rest.contains(") =>")).then(|| word.to_string())
        };
        Known {
            classes: paths().map(|(_, class)| class.to_string()).collect(),
            commands: names.filter_map(|name| name.as_str()).map(ToString::to_string).collect(),
            modules: paths().map(|(module, _)| module.to_string()).collect(),
            verbs: text_of(sources, VERBS)
                .lines()
                .filter_map(verb)
                .chain(function_verbs(text_of(sources, KINDS)))
                .collect(),
        }
    }

    /// What one line names and does not exist.
    fn problems(&self, line: &str, fenced: bool, sources: &[Source]) -> Vec<String> {
        let mut out = self.unknown_classes(line);
        let spans: Vec<&str> = match fenced {
            true => vec![line],
            false => line.split('`').skip(1).step_by(2).collect(),
        };
        for code in spans {
            out.extend(self.unknown_calls(code));
            out.extend(self.unknown_commands(code));
            out.extend(unknown_imports(code, sources));
        }
        out
    }

    /// Classes that end like a learner's and are none.
    fn unknown_classes(&self, line: &str) -> Vec<String> {
        let words = line.split(|c| !in_name(c)).filter(|word| humps(word).len() > 1);
        let ends: BTreeSet<String> =
            self.classes.iter().filter_map(|class| humps(class).pop()).collect();
        words
            .filter(|word| humps(word).pop().is_some_and(|end| ends.contains(&end)))
            .filter(|word| !self.classes.contains(*word) && !PEERS.contains(word))
            .filter(|word| !word.ends_with("Model"))
            .map(|word| format!("no learner is called {word}"))
            .collect()
    }

    /// `learnt VERB` and `learnt fit LEARNER` with a verb or a learner that is not there.
    fn unknown_calls(&self, code: &str) -> Vec<String> {
        let mut out = Vec::new();
        for (at, _) in code.match_indices("learnt ") {
            let alone = code[..at].chars().next_back().is_none_or(|c| c == ' ' || c == '(');
            let mut words =
                code[at..].split([' ', ')', ';', '|']).skip(1).take_while(|w| !w.is_empty());
            let Some(verb) = words.next().filter(|word| alone && is_word(word)) else { continue };
            if !self.verbs.contains(verb) {
                out.push(format!("no verb is called {verb}"));
            } else if let Some(learner) = words.next().filter(|word| is_word(word)) {
                let takes = ["fit", "cv", "show", "path"].contains(&verb);
                if takes && !self.commands.contains(learner) {
                    out.push(format!("no learner is called {learner} on the command line"));
                }
            }
        }
        out
    }

    /// Names such as `k-neighbors-classifier` that end like a learner's and are none.
    fn unknown_commands(&self, code: &str) -> Vec<String> {
        let end = |name: &str| name.rsplit_once('-').map(|(_, end)| end.to_string());
        let ends: BTreeSet<String> = self.commands.iter().filter_map(|name| end(name)).collect();
        code.split(|c: char| !(in_name(c) || c == '-'))
            .filter(|word| {
                !word.starts_with('-') && end(word).is_some_and(|end| ends.contains(&end))
            })
            .filter(|word| !self.commands.contains(*word) && !WORDS.contains(word))
            .map(|word| format!("no learner is called {word} on the command line"))
            .chain(self.unknown_paths(code))
            .collect()
    }

    /// Paths such as `linear_model.Ridge` whose class is not there.
    fn unknown_paths(&self, code: &str) -> Vec<String> {
        let words = code.split(|c: char| !(in_name(c) || c == '.'));
        words
            .filter_map(|word| word.rsplit_once('.').map(|parts| (word, parts)))
            .filter(|(_, (module, class))| {
                self.modules.contains(*module)
                    && class.starts_with(|c: char| c.is_ascii_uppercase())
            })
            .filter(|(_, (_, class))| !self.classes.contains(*class))
            .map(|(word, _)| format!("no learner is called {word}"))
            .collect()
    }
}

/// `from learnt.module import a, b` with a name that the module's stub does not have.
fn unknown_imports(code: &str, sources: &[Source]) -> Vec<String> {
    let Some((module, names)) =
        code.trim().strip_prefix("from learnt.").and_then(|rest| rest.split_once(" import "))
    else {
        return Vec::new();
    };
    let stub = text_of(sources, &format!("python/learnt/{}.pyi", module.replace('.', "/")));
    let has = |name: &str| stub.split(|c| !in_name(c)).any(|word| word == name);
    let names = names.split(',').map(|name| name_at(name.trim()));
    names
        .filter(|name| !name.is_empty() && !has(name))
        .map(|name| format!("learnt.{module} has no {name}"))
        .collect()
}

/// Whether a word can be a verb or a learner: small letters, digits and dashes.
fn is_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The parts of a class name that begin with capitals: `RidgeCV` has `Ridge` and `CV`. A word that is
/// not written like a class has none.
fn humps(word: &str) -> Vec<String> {
    if !word.starts_with(|c: char| c.is_ascii_uppercase())
        || !word.chars().all(|c| c.is_ascii_alphanumeric())
        || !word.contains(|c: char| c.is_ascii_lowercase())
    {
        return Vec::new();
    }
    let mut out: Vec<String> = Vec::new();
    let mut capital = false;
    for c in word.chars() {
        if c.is_ascii_uppercase() && !capital {
            out.push(String::new());
        }
        capital = c.is_ascii_uppercase();
        out.last_mut().into_iter().for_each(|hump| hump.push(c));
    }
    out
}

/// The second text after each kind in the list of kinds.
fn function_verbs(text: &str) -> Vec<String> {
    let list = text.split("pub const ALL").nth(1).unwrap_or_default();
    let list = list.split("];").next().unwrap_or_default();
    let kinds = list.split("FunctionKind::").skip(1);
    kinds.filter_map(|kind| kind.split('"').nth(3)).map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    fn problems(page: &str) -> Vec<String> {
        let registry = r#"[
            {"path": "linear_model.RidgeCV", "command": "ridge-cv", "aliases": []},
            {"path": "tree.DecisionTreeClassifier", "command": "decision-tree-classifier", "aliases": ["tree"]}
        ]"#;
        let verbs =
            "        (\"fit\", Some(name)) => fit(name),\n        (\"list\", _) => list(),\n";
        check(&files(&[
            (REGISTRY, registry),
            (VERBS, verbs),
            (KINDS, "pub const ALL = &[(FunctionKind::Metric, \"metrics\", \"metric\", \"\")];"),
            ("python/learnt/linear_model.pyi", "class RidgeCV: ...\ndef path() -> None: ..."),
            ("README.md", page),
        ]))
    }

    #[test]
    fn names_that_exist_are_fine() {
        let page = "RidgeCV, DecisionTreeClassifier and GridSearchCV; `learnt fit tree my.csv`\n\
                    ```\nlearnt list | head\nlearnt metric x\nlearnt fit LEARNER\nlearnt = { path = \"x\" }\n\
                    1 decision-tree-classifier 0.9\nfrom learnt.linear_model import RidgeCV, path\n```\n\
                    `tree.DecisionTreeClassifier`, the verb learnt once is prose";
        assert_eq!(problems(page), Vec::<String>::new());
    }

    #[test]
    fn names_that_do_not_exist_are_refused() {
        for (page, what) in [
            (
                "new: RandomForestClassifier",
                "README.md:1: no learner is called RandomForestClassifier",
            ),
            ("LassoCV", "README.md:1: no learner is called LassoCV"),
            ("`learnt train tree x`", "README.md:1: no verb is called train"),
            (
                "```\nlearnt fit forest x\n```",
                "README.md:2: no learner is called forest on the command line",
            ),
            ("```\nzcat x | learnt guess m -\n```", "README.md:2: no verb is called guess"),
            (
                "`extra-tree-classifier`",
                "README.md:1: no learner is called extra-tree-classifier on the command line",
            ),
            ("`tree.Forest`", "README.md:1: no learner is called tree.Forest"),
            (
                "```\nfrom learnt.linear_model import Ridge\n```",
                "README.md:2: learnt.linear_model has no Ridge",
            ),
        ] {
            assert_eq!(problems(page), [what]);
        }
    }

    #[test]
    fn nothing_to_compare_with_is_refused() {
        assert_eq!(check(&files(&[("README.md", "x")])).len(), 1);
    }
}
