//! What help shows. `--help` has two examples, what is needed first and the usual options, so that it fits a
//! screen; `learnt help VERB NAME` has all options under their headings.

use super::registered;
use clap::builder::Resettable;
use clap::{Arg, ArgAction, Command, Id};

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
/// The most lines of such a list.
const LIST_LINES: usize = 15;

/// The lines of a page of help, those that are not of its parameters and options, and its width.
const SCREEN: usize = 25;
const OTHER_LINES: usize = 14;
const WIDTH: usize = 100;
/// The heading of what a learner or function has of its own.
const OWN: &str = "Parameters";
/// The heading of what a search is told, which comes before what every verb has.
const SEARCH: &str = "Search";
/// The heading of what a function cannot do without.
const NEEDED: &str = "Inputs";

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
    let of_heading =
        |arg: &Arg| arg.get_help_heading().is_some_and(|heading| FURTHER.contains(&heading));
    let command = with_help(command);
    let beyond = beyond_the_screen(&command, |arg| {
        !of_heading(arg) && !arg.is_hide_short_help_set() && !arg.is_hide_set()
    });
    let is_further = |arg: &Arg| of_heading(arg) || beyond.contains(arg.get_id());
    let command = command.mut_args(|arg| {
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

/// The last parameters and options that do not fit a screen; of parameters at least half of it is filled.
fn beyond_the_screen(command: &Command, shown: impl Fn(&Arg) -> bool) -> Vec<Id> {
    let (needed, rest): (Vec<&Arg>, Vec<&Arg>) = command
        .get_arguments()
        .filter(|arg| shown(arg))
        .partition(|arg| arg.get_help_heading() == Some(NEEDED));
    let (own, mut others): (Vec<&Arg>, Vec<&Arg>) =
        rest.into_iter().partition(|arg| arg.get_help_heading() == Some(OWN));
    others.sort_by_key(|arg| match arg.get_help_heading() {
        _ if arg.get_id() == "target" => 0,
        Some(SEARCH) => 1,
        _ => 2,
    });
    if own.is_empty() {
        return Vec::new();
    }
    let total = |args: &[&Arg]| lines_of(args).iter().sum::<usize>();
    // A heading and a line between are two more; such pages have no examples.
    let taken = if needed.is_empty() { 0 } else { total(&needed) };
    let room = (SCREEN - OTHER_LINES).saturating_sub(taken).max(2);
    let for_own = room.saturating_sub(total(&others)).max(room / 2).min(total(&own));
    let mut beyond = over(&own, for_own);
    beyond.extend(over(&others, room - for_own));
    beyond
}

/// Those behind so many lines.
fn over(args: &[&Arg], room: usize) -> Vec<Id> {
    let mut used = 0;
    let ends = lines_of(args).into_iter().map(|lines| {
        used += lines;
        used
    });
    ends.zip(args).filter(|(end, _)| *end > room).map(|(_, arg)| arg.get_id().clone()).collect()
}

/// The lines that the help of each takes: flags stand in one column, texts in another.
fn lines_of(args: &[&Arg]) -> Vec<usize> {
    let flag = |arg: &&Arg| {
        let value = arg.get_value_names().into_iter().flatten().map(|name| name.len() + 3);
        // Room for a short name, dashes, brackets of an optional value and the space behind.
        12 + arg.get_long().map_or(0, str::len) + value.sum::<usize>()
    };
    let column = args.iter().map(flag).max().unwrap_or(0);
    let text = |arg: &&Arg| arg.get_help().map_or(0, |help| help.to_string().chars().count());
    args.iter().map(|arg| text(arg).div_ceil(WIDTH - column.min(WIDTH / 2)).max(1)).collect()
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
    if lines.len() > LIST_LINES {
        let kept: usize =
            lines[..LIST_LINES - 1].iter().map(|line| line.split_whitespace().count()).sum();
        lines.truncate(LIST_LINES - 1);
        lines.push(format!("  … and {} more: learnt list names all", names.len() - kept));
    }
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
