//! Reads `docs/courses.txt`: modules in brackets, one capability a line, fields between bars.

/// A module of the courses.
pub(super) struct Module {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) rows: Vec<Row>,
}

/// A capability. One that nothing gives is not there yet.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) given_by: Vec<Item>,
    pub(super) tests: Vec<String>,
    pub(super) missing: String,
}

/// What gives a capability.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// Every learner.
    Every,
    /// Nothing: it says that the command cannot have it, because it takes a function of the user.
    Callable,
    /// A learner or function of the registry, with parameters.
    Entry(String, Vec<(String, String)>),
    /// A question to the models of a learner.
    Question(String, String),
    /// An item of the crates, as `linear::Hyperplane::distance`.
    Rust(String),
    /// A verb of the command, and perhaps a name after it.
    Command(String),
    /// A name of the Python package, as `optimize.minimize`.
    Python(String),
}

/// The modules of the table; an error names every line that cannot be read.
pub(super) fn parse(text: &str) -> Result<Vec<Module>, String> {
    let mut modules: Vec<Module> = Vec::new();
    let mut wrong = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some((name, title)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let (name, title) = (name.to_string(), title.trim().to_string());
            modules.push(Module { name, title, rows: Vec::new() });
            continue;
        }
        match (row(i + 1, line), modules.last_mut()) {
            (Ok(_), Some(module)) if module.has(line) => {
                wrong.push(format!("line {}: the capability is there twice", i + 1));
            }
            (Ok(row), Some(module)) => module.rows.push(row),
            (Ok(_), None) => wrong.push(format!("line {}: no [module] before it", i + 1)),
            (Err(message), _) => wrong.push(format!("line {}: {message}", i + 1)),
        }
    }
    if wrong.is_empty() { Ok(modules) } else { Err(wrong.join("\n")) }
}

impl Module {
    fn has(&self, line: &str) -> bool {
        let name = line.split('|').next().unwrap_or_default().trim();
        self.rows.iter().any(|row| row.name == name)
    }
}

fn row(line: usize, text: &str) -> Result<Row, String> {
    let fields: Vec<&str> = text.split('|').map(str::trim).collect();
    let (name, given_by, tests, missing) = match fields.as_slice() {
        [name] => (*name, "", "", ""),
        [name, given_by, tests] => (*name, *given_by, *tests, ""),
        [name, given_by, tests, missing] => (*name, *given_by, *tests, *missing),
        _ => {
            return Err(
                "a name, or a name, what gives it, tests, and perhaps what is missing".into()
            );
        }
    };
    let given_by = list(given_by).into_iter().map(item).collect::<Result<Vec<_>, _>>()?;
    let tests: Vec<String> = list(tests).into_iter().map(str::to_string).collect();
    if given_by.is_empty() != tests.is_empty() {
        return Err("what is there has a test, and what is not there has none".into());
    }
    Ok(Row { line, name: name.to_string(), given_by, tests, missing: missing.to_string() })
}

/// The parts between commas that stand in no parentheses.
fn list(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let outside = move |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    };
    text.split(outside).map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn item(text: &str) -> Result<Item, String> {
    if let Some((surface, name)) = text.split_once(':').filter(|(_, rest)| !rest.starts_with(':')) {
        let name = name.to_string();
        return match surface {
            "rust" => Ok(Item::Rust(name)),
            "command" => Ok(Item::Command(name)),
            "python" => Ok(Item::Python(name)),
            _ => Err(format!("'{surface}' is no surface: rust, command or python")),
        };
    }
    if let Some((learner, question)) = text.split_once('?') {
        return Ok(Item::Question(learner.to_string(), question.to_string()));
    }
    match (text, text.split_once('(')) {
        ("*", _) => Ok(Item::Every),
        ("callable", _) => Ok(Item::Callable),
        (path, None) => Ok(Item::Entry(path.to_string(), Vec::new())),
        (_, Some((path, arguments))) => {
            let arguments = arguments.strip_suffix(')').ok_or("a parenthesis is open")?;
            let pair = |text: &str| {
                let (name, value) = text.split_once('=').ok_or("a parameter has no value")?;
                Ok((name.trim().to_string(), value.trim().to_string()))
            };
            let pairs = arguments.split(',').map(pair).collect::<Result<Vec<_>, String>>()?;
            Ok(Item::Entry(path.to_string(), pairs))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_name_what_gives_it_tests_and_what_is_missing() {
        let text = "# comment\n[tree] trees\ngain | tree.Tree(depth=1, loss=a), rust:tree::gain | a::b | c\nlater";
        let modules = parse(text).unwrap();
        assert_eq!((modules[0].name.as_str(), modules[0].title.as_str()), ("tree", "trees"));
        let pairs = [("depth", "1"), ("loss", "a")].map(|(a, b)| (a.to_string(), b.to_string()));
        let given_by =
            vec![Item::Entry("tree.Tree".into(), pairs.into()), Item::Rust("tree::gain".into())];
        let (name, tests, missing) = ("gain".into(), vec!["a::b".into()], "c".into());
        assert_eq!(modules[0].rows[0], Row { line: 3, name, given_by, tests, missing });
        assert!(modules[0].rows[1].given_by.is_empty());
    }

    #[test]
    fn every_line_that_cannot_be_read_is_named() {
        let text =
            "early\n[a] b\nx | y\nx | y | \ngo:x | go:x | t::t\nx | X(y | t::t\ntwice\ntwice";
        let error = parse(text).err().unwrap();
        let lines: Vec<&str> = error.lines().map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(lines, ["line 1", "line 3", "line 4", "line 5", "line 6", "line 8"]);
    }
}
