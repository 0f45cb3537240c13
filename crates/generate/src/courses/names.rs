//! Which names there are on each surface: of learners and their questions in the registry, of Rust
//! items and tests in the crates, of verbs in the command, of Python's names in its package.

use super::table::Item;
use learnt_core::params::{Params, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What an item is called on each surface; empty where it is not.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Called {
    pub(super) rust: String,
    pub(super) command: String,
    pub(super) python: String,
}

/// The sources in which names are looked up, by path from the root of the repository.
pub(super) struct Names {
    files: BTreeMap<PathBuf, String>,
}

impl Names {
    /// Reads the crates and the Python package; `generated` goes before what is on the disk.
    pub(super) fn read(root: &Path, generated: &BTreeMap<PathBuf, String>) -> Names {
        let mut files = BTreeMap::new();
        for folder in ["crates", "python"] {
            gather(root, &root.join(folder), &mut files);
        }
        files.extend(generated.iter().map(|(path, text)| (path.clone(), text.clone())));
        Names { files }
    }

    /// What an item is called; an error says which name does not exist.
    pub(super) fn called(&self, item: &Item) -> Result<Called, String> {
        match item {
            Item::Every => Ok(Called {
                rust: "every learner".into(),
                command: "every learner".into(),
                python: "every learner".into(),
            }),
            Item::Callable => Ok(Called::default()),
            Item::Entry(path, arguments) => self.entry(path, arguments),
            Item::Question(path, question) => asked(path, question),
            Item::Rust(path) => match self.has_rust(path) {
                true => Ok(Called { rust: code(path), ..Called::default() }),
                false => Err(format!("no public item '{path}' in the crates")),
            },
            Item::Command(words) => match self.has_command(words) {
                true => {
                    Ok(Called { command: code(&format!("learnt {words}")), ..Called::default() })
                }
                false => Err(format!("no command 'learnt {words}'")),
            },
            Item::Python(path) => match self.has_python(path) {
                true => Ok(Called { python: code(&format!("learnt.{path}")), ..Called::default() }),
                false => Err(format!("no name 'learnt.{path}' in Python")),
            },
        }
    }

    /// Whether a test `file::name` exists.
    pub(super) fn has_test(&self, test: &str) -> bool {
        let Some((file, name)) = test.rsplit_once("::") else { return false };
        self.files.iter().filter(|(path, _)| stem(path) == file).any(|(path, text)| {
            match path.extension().is_some_and(|e| e == "py") {
                true => text.lines().any(|line| declares(line, &["def"], name)),
                false => has_rust_test(text, name),
            }
        })
    }

    /// Whether a text stands between quotes in some file.
    #[cfg(test)]
    pub(super) fn is_quoted(&self, text: &str) -> bool {
        let quoted = format!("\"{text}\"");
        self.files.values().any(|file| file.contains(&quoted))
    }

    /// The last part is public in a file whose folders, name or types are the parts before it.
    fn has_rust(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split("::").collect();
        let Some((name, before)) = parts.split_last() else { return false };
        const KINDS: &[&str] = &["fn", "const fn", "struct", "enum", "trait", "const", "type"];
        let public = |line: &str, name: &str| {
            line.trim_start().strip_prefix("pub ").is_some_and(|rest| declares(rest, KINDS, name))
        };
        self.files.iter().filter(|(path, _)| is_source(path)).any(|(path, text)| {
            text.lines().any(|line| public(line, name))
                && before.iter().all(|part| {
                    path.iter().any(|folder| folder == *part)
                        || path.file_stem().is_some_and(|stem| stem == *part)
                        || text.lines().any(|line| public(line, part))
                        || text.lines().any(|line| line.starts_with(&format!("impl {part} ")))
                })
        })
    }

    /// A learner or function of the registry, which takes these parameters.
    fn entry(&self, path: &str, arguments: &[(String, String)]) -> Result<Called, String> {
        if let Some(entry) = learnt::entries().find(|entry| entry.about.path == path) {
            let (flags, keywords) = typed(path, &mut *(entry.build)(), arguments)?;
            return Ok(Called {
                rust: code(entry.about.name()),
                command: code(&format!("learnt fit {}{flags}", entry.about.command())),
                python: linked(&format!("learnt.{path}{keywords}"), path),
            });
        }
        let entry = learnt::functions()
            .find(|entry| entry.about.path == path)
            .ok_or_else(|| format!("no learner or function '{path}' in the registry"))?;
        let (flags, keywords) = typed(path, &mut *(entry.build)(), arguments)?;
        let (verb, command) = (entry.about.kind.verb(), entry.about.command());
        Ok(Called {
            rust: code(&self.type_of(path).unwrap_or_else(|| path.to_string())),
            command: code(&format!("learnt {verb} {command}{flags}")),
            python: linked(&format!("learnt.{path}{keywords}"), path),
        })
    }

    /// The struct of a function: named beside its path, or by the implementation around it.
    fn type_of(&self, path: &str) -> Option<String> {
        let quoted = format!("\"{path}\"");
        let word = |text: &str| -> String {
            text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
        };
        self.files.iter().filter(|(file, _)| is_source(file)).find_map(|(_, text)| {
            let lines: Vec<&str> = text.lines().collect();
            let place = lines.iter().position(|line| line.contains(&quoted))?;
            let beside = format!("{quoted}: ");
            if let Some((_, rest)) = lines[place].split_once(&beside) {
                return Some(word(rest));
            }
            let start = |line: &&str| line.trim().strip_prefix("impl Function for ").map(word);
            lines[..place].iter().rev().find_map(start)
        })
    }

    /// The verb has its arm in the command's list of verbs, and what follows it is a known name.
    fn has_command(&self, words: &str) -> bool {
        let mut words = words.split(' ');
        let verb = words.next().unwrap_or_default();
        let list = Path::new("crates/learnt-cli/src/commands/mod.rs");
        let known =
            self.files.get(list).is_some_and(|text| text.contains(&format!("(\"{verb}\", ")));
        known
            && match (verb, words.next()) {
                (_, None) => true,
                ("dataset", Some(name)) => learnt::datasets::describe(name).is_ok(),
                ("fit" | "cv", Some(name)) => !learnt::find_all(name).is_empty(),
                _ => false,
            }
    }

    /// `module.name` is defined in the module or its stub, or passed on by the stub.
    fn has_python(&self, path: &str) -> bool {
        let Some((module, name)) = path.rsplit_once('.') else { return false };
        let base = Path::new("python").join("learnt").join(module.replace('.', "/"));
        let passed_on = format!(" import {name} as {name}");
        ["py", "pyi"].iter().any(|end| {
            self.files.get(&base.with_extension(end)).is_some_and(|text| {
                text.lines().any(|line| {
                    declares(line, &["def", "class"], name) || line.ends_with(&passed_on)
                })
            })
        })
    }
}

/// Parameters as flags of the command and as arguments in Python, if they can be set.
fn typed(
    path: &str,
    params: &mut (impl Params + ?Sized),
    arguments: &[(String, String)],
) -> Result<(String, String), String> {
    let (mut flags, mut keywords) = (String::new(), Vec::new());
    for (name, word) in arguments {
        let value = Value::parse(word);
        params.set(name, &value).map_err(|error| format!("{path}: {error}"))?;
        flags += &format!(" --{} {word}", name.replace('_', "-"));
        keywords.push(format!("{name}={}", crate::python::literal(&value)));
    }
    let keywords = match keywords.is_empty() {
        true => String::new(),
        false => format!("({})", keywords.join(", ")),
    };
    Ok((flags, keywords))
}

/// A question that the models of a learner answer.
fn asked(path: &str, question: &str) -> Result<Called, String> {
    let entry = learnt::entries()
        .find(|entry| entry.about.path == path)
        .ok_or_else(|| format!("no learner '{path}' in the registry"))?;
    match (entry.questions)().iter().any(|known| known.name == question) {
        true => Ok(Called {
            rust: code(&format!("{}: {question}", entry.about.name())),
            command: code(&format!("learnt ask MODEL {question}")),
            python: linked(&format!("learnt.{path}.{question}"), path),
        }),
        false => Err(format!("models of {path} are not asked '{question}'")),
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// A name with a link to its section of the reference.
fn linked(text: &str, path: &str) -> String {
    let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
    format!("[`{text}`](reference/{module}.md#{})", name.to_lowercase())
}

/// The name of a file without its ending; of its folder for `mod.rs` and `tests.rs`.
fn stem(path: &Path) -> String {
    let name = |path: &Path| path.file_stem().map(|s| s.to_string_lossy().into_owned());
    match name(path).unwrap_or_default() {
        own if own == "mod" || own == "tests" => path.parent().and_then(name).unwrap_or_default(),
        own => own,
    }
}

/// Whether a line of code declares this name by one of these words.
fn declares(line: &str, words: &[&str], name: &str) -> bool {
    words.iter().any(|word| {
        line.trim_start()
            .strip_prefix(word)
            .and_then(|rest| rest.strip_prefix(' '))
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// The function is there, with `#[test]` among the attributes above it.
fn has_rust_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len()).filter(|&i| declares(lines[i], &["fn"], name)).any(|i| {
        let above = lines[..i].iter().rev().take_while(|line| line.trim_start().starts_with("#["));
        above.into_iter().any(|line| line.trim() == "#[test]")
    })
}

/// Code of a crate, not its tests or examples.
fn is_source(path: &Path) -> bool {
    path.starts_with("crates") && path.iter().nth(2).is_some_and(|folder| folder == "src")
}

/// Every file of Rust and Python below a folder.
fn gather(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather(root, &path, files);
        } else if path.extension().is_some_and(|end| end == "rs" || end == "py" || end == "pyi")
            && let (Ok(text), Ok(short)) = (fs::read_to_string(&path), path.strip_prefix(root))
        {
            files.insert(short.to_path_buf(), text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let files = [
            ("crates/a/src/tree/gain.rs", "pub struct Gain;\nimpl Gain {\n    pub fn of() {}\n}\n"),
            ("crates/a/src/tree/mod.rs", "    #[test]\n    fn it_holds() {}\nfn no_test() {}\n"),
            ("crates/learnt-cli/src/commands/mod.rs", "(\"fit\", Some(name)) => (\"path\", _) =>"),
            ("crates/a/src/bound.rs", "impl Function for VcBound {\n    \"theory.vc_bound\"\n}\n"),
            (
                "python/learnt/tree.pyi",
                "def gain(x): ...\nclass Tree:\nfrom ._a import loss as loss\n",
            ),
            ("python/tests/test_tree.py", "def test_gain():\n"),
        ];
        let files = files.map(|(path, text)| (PathBuf::from(path), text.to_string()));
        Names { files: files.into() }
    }

    fn refused(item: Item) -> String {
        names().called(&item).unwrap_err()
    }

    #[test]
    fn a_learner_is_on_all_three_surfaces_with_its_parameters() {
        let item = Item::Entry("linear_model.Ridge".into(), vec![("alpha".into(), "0.5".into())]);
        let called = names().called(&item).unwrap();
        assert_eq!(called.rust, "`Ridge`");
        assert_eq!(called.command, "`learnt fit ridge --alpha 0.5`");
        let link = "(reference/linear_model.md#ridge)";
        assert_eq!(called.python, format!("[`learnt.linear_model.Ridge(alpha=0.5)`]{link}"));
    }

    #[test]
    fn a_function_is_on_all_three_surfaces() {
        let item = Item::Entry("theory.vc_bound".into(), vec![("delta".into(), "0.1".into())]);
        let called = names().called(&item).unwrap();
        assert_eq!(called.rust, "`VcBound`");
        assert_eq!(called.command, "`learnt theory vc-bound --delta 0.1`");
        let link = "(reference/theory.md#vc_bound)";
        assert_eq!(called.python, format!("[`learnt.theory.vc_bound(delta=0.1)`]{link}"));
    }

    #[test]
    fn a_learner_or_function_that_is_not_in_the_registry_is_refused() {
        let error = refused(Item::Entry("linear_model.Rigde".into(), Vec::new()));
        assert_eq!(error, "no learner or function 'linear_model.Rigde' in the registry");
        assert!(refused(Item::Entry("theory.vc_bond".into(), Vec::new())).contains("vc_bond"));
    }

    #[test]
    fn a_parameter_or_value_that_a_learner_does_not_take_is_refused() {
        for (name, value) in [("alhpa", "1"), ("solver", "magic")] {
            let pair = vec![(name.to_string(), value.to_string())];
            assert!(refused(Item::Entry("linear_model.Ridge".into(), pair)).contains(name));
        }
    }

    #[test]
    fn a_question_that_is_not_answered_is_refused() {
        let path = "linear_model.LinearRegression".to_string();
        assert!(names().called(&Item::Question(path.clone(), "intervals".into())).is_ok());
        assert!(refused(Item::Question(path, "future".into())).contains("not asked 'future'"));
    }

    #[test]
    fn a_rust_item_that_does_not_exist_or_is_elsewhere_is_refused() {
        for path in ["tree::Gain", "tree::gain::Gain", "tree::Gain::of"] {
            assert!(names().called(&Item::Rust(path.into())).is_ok(), "{path}");
        }
        for path in ["tree::Loss", "linear::Gain", "tree::Gain::off"] {
            assert!(refused(Item::Rust(path.into())).contains(path));
        }
    }

    #[test]
    fn a_command_whose_verb_or_name_does_not_exist_is_refused() {
        for words in ["path", "fit ridge"] {
            assert!(names().called(&Item::Command(words.into())).is_ok(), "{words}");
        }
        for words in ["walk", "fit rigde", "path lasso"] {
            assert!(refused(Item::Command(words.into())).contains(words));
        }
    }

    #[test]
    fn a_python_name_that_does_not_exist_is_refused() {
        for path in ["tree.gain", "tree.Tree", "tree.loss"] {
            assert!(names().called(&Item::Python(path.into())).is_ok(), "{path}");
        }
        for path in ["tree.gai", "tree.los", "wood.gain", "gain"] {
            assert!(refused(Item::Python(path.into())).contains(path));
        }
    }

    #[test]
    fn a_test_that_does_not_exist_or_is_none_is_refused() {
        assert!(names().has_test("tree::it_holds") && names().has_test("test_tree::test_gain"));
        for test in ["tree::no_test", "tree::it_hold", "gain::it_holds", "it_holds"] {
            assert!(!names().has_test(test), "{test}");
        }
    }
}
