//! Words of other tools, and the words to type here.

use clap::Command;
use learnt::error::{Code, Error, plain};

/// What other tools call a verb, and the verb to type here.
const VERBS: &[(&str, &str)] = &[
    ("benchmark", "compare"),
    ("crossval", "cv"),
    ("draw", "plot"),
    ("evaluate", "score"),
    ("importance", "explain"),
    ("info", "describe"),
    ("learn", "fit"),
    ("ls", "list"),
    ("search", "tune"),
    ("summarise", "describe"),
    ("summarize", "describe"),
    ("test", "score"),
    ("train", "fit"),
    ("validate", "cv"),
];

/// The error about a word that is no verb: a learner or function may be meant, or what another tool calls a verb.
pub(crate) fn unknown_verb(name: &str) -> Error {
    let message = format!("`learnt` has no verb '{}'", plain(name));
    let error = Error::new(Code::Unknown, message);
    if let Some((_, verb)) = VERBS.iter().find(|(other, _)| *other == name) {
        return error.hint(format!("learnt {verb}; learnt {verb} --help has examples"));
    }
    if !learnt::find_all(name).is_empty() {
        return error.hint(format!(
            "{name} is a learner: learnt fit {name} DATA; learnt show {name} explains it"
        ));
    }
    if let Ok(entry) = learnt::find_function(name) {
        return error.hint(format!("learnt {} {name}", entry.about.kind.verb()));
    }
    let command = super::command();
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    match learnt::error::nearest(name, &names) {
        Some(near) => error.hint(format!("did you mean '{near}'? learnt --help names all")),
        None => error.hint("learnt --help names the verbs"),
    }
}

/// The error about a verb without the learner or function that it is about.
pub(crate) fn without_name(verb: &str) -> Error {
    let message = format!("`learnt {verb}` needs a name behind it");
    let examples =
        super::command().find_subcommand(verb).and_then(|c| c.get_before_help().cloned());
    let text = examples.map_or(String::new(), |text| text.to_string());
    let first = text.lines().map(str::trim).find(|line| line.starts_with("learnt "));
    let example = first.map_or(String::new(), |line| format!("for example: {line}\n"));
    let hint = format!("{example}learnt {verb} --help names them");
    Error::new(Code::Usage, message).hint(hint)
}

/// What other tools call a flag, without its dashes, and the flag to type here.
const FLAGS: &[(&str, &str)] = &[
    ("algorithms", "--only"),
    ("drop", "--ignore"),
    ("exclude", "--ignore"),
    ("k", "--folds"),
    ("label", "--target"),
    ("models", "--only"),
    ("n-jobs", "--threads"),
    ("na-values", "--na"),
    ("nfolds", "--folds"),
    ("output", "--out"),
    ("random-state", "--seed"),
    ("response", "--target"),
    ("scoring", "--metric"),
    ("sep", "--delimiter"),
    ("separator", "--delimiter"),
    ("weights", "--weight"),
    ("y", "--target"),
];

/// The error about a flag that has another name here, if the verb has that.
pub(crate) fn flag_elsewhere(verb: &str, flag: &str) -> Option<Error> {
    let word = flag.strip_prefix("--")?;
    let (_, here) = FLAGS.iter().find(|(other, _)| *other == word)?;
    let page = super::page(verb, None)?;
    page.split_whitespace().any(|word| word.trim_end_matches(',') == *here).then_some(())?;
    let message = format!("`learnt {verb}` has no {flag}");
    Some(Error::new(Code::Usage, message).hint(format!("it is called {here} here")))
}
