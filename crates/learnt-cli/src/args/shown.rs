//! What help shows. `--help` has two examples, what is needed first and the usual options, so that it fits a
//! screen; `learnt help VERB NAME` has all options under their headings.

use super::registered;
use clap::builder::Resettable;
use clap::{Arg, ArgAction, Command};

/// Headings whose options only `learnt help` shows.
const FURTHER: &[&str] = &["Preparation", "Streaming", "Details", "Reading", "Output", "General"];

/// Examples, a sentence, usage, arguments and options, a word about the others.
const PAGE: &str = "{before-help}{about}\n{usage-heading} {usage}\n\n{all-args}{after-help}";

/// The same for a verb with learners or functions under it, which its last lines name.
const LIST: &str = "{before-help}{about}\n{usage-heading} {usage}{after-help}";

/// The same for a verb that has options of its own too.
const LIST_AND_OPTIONS: &str =
    "{before-help}{about}\n{usage-heading} {usage}\n\nOptions:\n{options}{after-help}";

/// The beginning of the word about the others.
const MORE: &str = "learnt help ";

/// The longest line of a list of names.
const LINE: usize = 98;

/// A verb, learner or function with its help; `path` is what is typed to reach it.
pub(super) fn finished(command: Command, path: &str) -> Command {
    // What MODEL and DATA are, the examples show.
    let known = |arg: &Arg| ["model", "data"].contains(&arg.get_id().as_str());
    let plain = command.get_positionals().all(known);
    let command = match plain {
        true => command.mut_args(|arg| {
            let known = known(&arg);
            arg.hide_short_help(known)
        }),
        false => command,
    };
    let is_further = |arg: &Arg| arg.get_help_heading().is_some_and(|own| FURTHER.contains(&own));
    let command = with_help(command).mut_args(|arg| {
        let further = is_further(&arg) || arg.is_hide_short_help_set();
        arg.hide_short_help(further)
    });
    let further: Vec<&Arg> = command.get_arguments().filter(|arg| is_further(arg)).collect();
    let mut headings: Vec<String> = Vec::new();
    for heading in further.iter().filter_map(|arg| arg.get_help_heading()) {
        let heading = heading.to_lowercase();
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    let (count, headings) = (further.len(), headings.join(", "));
    let word = format!("{MORE}{path} has {count} more options: {headings}.");
    command.help_template(PAGE).after_help(word)
}

/// The flag that prints the short page.
fn with_help(command: Command) -> Command {
    let help = Arg::new("help").long("help").short('h').action(ArgAction::HelpShort);
    command.disable_help_flag(true).arg(help.help("Print help").help_heading("General"))
}

/// A verb with others under it: their names, and where the rest is said.
pub(super) fn listing(command: Command, title: &str, names: &[String], more: &str) -> Command {
    let mut lines = vec![String::new()];
    for name in names {
        match lines.last_mut() {
            Some(line) if line.len() + name.len() + 4 <= LINE => {
                line.push_str("  ");
                line.push_str(name);
            }
            _ => lines.push(format!("  {name}")),
        }
    }
    lines.retain(|line| !line.is_empty());
    let own = command.is_disable_help_flag_set();
    let command = if own { command } else { with_help(command) };
    command
        .help_template(if own { LIST_AND_OPTIONS } else { LIST })
        .after_help(format!("{title}:\n{}\n\n{more}", lines.join("\n")))
}

/// The whole page of a verb, or of a learner or function under it.
pub(crate) fn page(verb: &str, name: Option<&str>) -> Option<String> {
    let found = match name {
        Some(name) => registered::under(verb, name)?,
        None => match registered::shared(verb) {
            Some(found) => found,
            None => super::command().find_subcommand(verb)?.clone(),
        },
    };
    let path = [Some("learnt"), Some(verb), name].into_iter().flatten().collect::<Vec<_>>();
    let whole = |arg: Arg| {
        let text = arg.get_long_help().cloned();
        let arg = arg.hide_short_help(false);
        match text {
            Some(text) => arg.help(text),
            None => arg,
        }
    };
    let is_whole = found.get_after_help().is_some_and(|word| word.to_string().starts_with(MORE));
    let found = found.bin_name(path.join(" ")).max_term_width(100).mut_args(whole);
    let mut found = if is_whole { found.after_help(Resettable::Reset) } else { found };
    Some(found.render_help().to_string())
}
