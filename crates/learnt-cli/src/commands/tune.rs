//! `learnt tune`: a search for good parameters, and the model with the best.

use super::Call;
use super::compare::{chosen_metrics, folds, source, splitter};
use crate::ExitCode;
use crate::input::{self, Supervised};
use crate::learner;
use crate::output::{print, print_json};
use crate::picture;
use crate::place;
use learnt::answer::Answer;
use learnt::data::Dataset;
use learnt::error::{Code, Error, Result, plain, shell};
use learnt::estimator::AnyEstimator;
use learnt::metrics::{Metric, Task};
use learnt::params::{LearnerSpec, ParamSpec};
use learnt::select::search::{Domain, Found, Halving, Journal, Method, Plan, Space};
use learnt::select::{self, Split, Splitter};
use learnt::trained::Trained;
use serde_json::json;
use std::path::Path;

/// Settings that are drawn where no number is named.
const TRIALS: usize = 30;

/// Larger grids are drawn from, unless the method is named.
const LARGE_GRID: usize = 60;

pub(crate) fn tune(call: &Call, name: &str) -> Result<ExitCode> {
    let k = folds(call)?;
    let log = log_place(call)?;
    let supervised = input::supervised(call, input::read(call)?, Some(name))?;
    let data = supervised.data.view();
    let entry = learner::resolve(name, learner::task_of(&data))?;
    learner::check_task(entry, learner::task_of(&data))?;
    let mut base = learner::build(call, entry)?;
    let schema = data.x.schema();
    learner::fit_formula(call, base.as_mut(), schema)?;
    let missing = learner::has_missing(&data);
    let (preparation, said) = learner::preparation(call, base.as_ref(), schema, missing)?.unzip();
    said.iter().for_each(|said| call.say(said));
    let mut space = space(call, base.as_ref())?;
    let mut method = method(call, &space, &data)?;
    let inside = learner::inside(learner::changes_target(call, base.as_ref(), schema)?);
    reach(inside, &mut space, &mut method);
    let base = learner::with_left_side(call, base, schema)?;
    let metrics = chosen_metrics(call, Task::of(&data), &data)?;
    let splitter = splitter(call, &data, k)?;
    let splits: Vec<Split> = splitter.splits(&data, &call.run)?.collect();
    let plan = Plan {
        learner: base.as_ref(),
        preparation: preparation.as_deref(),
        space: &space,
        method,
        budget: call.number("budget"),
        one_standard_error: call.flag("one-se"),
    };
    let identity = || plan.identity(&data, &splits, &metrics, &call.run);
    let journal = log.map(|path| Journal::open(path, &identity(), call.flag("resume")));
    let journal = journal.transpose()?;
    if let Some(journal) = journal.as_ref().filter(|journal| !journal.is_empty()) {
        call.say(&format!("goes on after {} finished fits of the log", journal.len()));
    }
    let mut found = plan.run(&data, &splits, &metrics, journal.as_ref(), &call.run)?;
    if let Some(&outer) = call.args.get_one::<usize>("nested") {
        found.nested = Some(nested(&plan, &data, (outer, k), &metrics, journal.as_ref(), call)?);
    }
    let chosen = plan.with(&found.chosen()?)?;
    found.rename(|name| name.strip_prefix(inside).unwrap_or(name).to_string());
    let answer = found.report(title(call, &supervised, &entry.about.command(), &splitter));
    let whole = whole(chosen.as_ref(), plan.preparation)?;
    save(call, whole.as_ref(), &supervised)?;
    show(call, &answer, &found, &supervised, entry.about.path)?;
    Ok(ExitCode::from(if found.failures().next().is_some() { 8 } else { 0 }))
}

/// The log, which is not what is read, and is there only to go on with it.
fn log_place<'a>(call: &'a Call) -> Result<Option<&'a Path>> {
    let Some(path) = call.text("log") else { return Ok(None) };
    if Path::new(path).is_file() && !call.flag("resume") && !call.flag("force") {
        return Err(Error::new(Code::Usage, format!("{} exists", plain(path)))
            .hint("add --resume to go on with it, or -f to begin again"));
    }
    place::not_read(call, path)?;
    Ok(Some(Path::new(path)))
}

fn pair<'a>(word: &'a str, flag: &str) -> Result<(&'a str, &'a str)> {
    word.split_once('=')
        .map(|(name, rest)| (name.trim(), rest))
        .ok_or_else(|| Error::parameter(flag, "NAME=VALUES", format!("'{}'", plain(word))))
}

/// What the flags ask to be searched, or what the learner declares.
fn space(call: &Call, learner: &dyn AnyEstimator) -> Result<Space> {
    let mut space = Space::default();
    for word in call.texts("grid") {
        let (name, values) = pair(&word, "--grid")?;
        let name = name.replace('-', "_");
        let spec = spec(learner, &name);
        space.domains.push((name, Domain::list(values, spec.as_ref())?));
    }
    for word in call.texts("range") {
        let (name, ends) = pair(&word, "--range")?;
        space.domains.push((name.replace('-', "_"), Domain::range(ends)?));
    }
    if space.domains.is_empty() {
        space = Space::declared(learner);
        if space.domains.is_empty() {
            let message = format!("{} declares no values to try", learner.about().command());
            return Err(Error::new(Code::Usage, message)
                .hint("name some: --grid NAME=VALUES or --range NAME=FIRST:LAST"));
        }
        let names: Vec<&str> = space.domains.iter().map(|(name, _)| name.as_str()).collect();
        call.say(&format!("searches the declared values of {}", names.join(", ")));
    }
    space.check(learner)?;
    Ok(space)
}

/// The declaration of a parameter, also of a learner inside.
fn spec(learner: &dyn AnyEstimator, name: &str) -> Option<ParamSpec> {
    if let Some(spec) = learner.specs().iter().find(|spec| spec.name == name) {
        return Some(spec.clone());
    }
    let (step, rest) = name.split_once("__")?;
    let inner = learner.learners().into_iter().find(|inner| inner.name == step)?;
    spec(inner.learner, rest)
}

fn method(call: &Call, space: &Space, data: &Dataset) -> Result<Method> {
    let trials = call.args.get_one::<usize>("trials").copied();
    let grid = space.is_grid();
    let small = grid && space.grid_size().is_ok_and(|size| size <= LARGE_GRID);
    let word = match call.text("method") {
        Some(word) => word,
        None if small && trials.is_none() => "grid",
        None => "model",
    };
    let count = trials.unwrap_or(TRIALS).max(1);
    Ok(match word {
        "grid" => Method::Grid,
        "random" => Method::Random(count),
        "halving" => {
            let resource = call.text("resource").filter(|word| *word != "rows");
            let most = match (call.args.get_one::<u64>("max-resource").copied(), resource) {
                (Some(most), _) => most,
                (None, None) => data.nrows() as u64,
                (None, Some(name)) => {
                    return Err(Error::new(Code::Usage, format!("how far may {name} grow?"))
                        .hint("add --max-resource N"));
                }
            };
            let least = call.args.get_one::<u64>("min-resource").copied();
            let factor = call.number("factor").unwrap_or(3.0);
            let halving =
                Halving { factor, least, most, exhaust: least.is_none(), aggressive: false };
            let draws = (trials.is_some() || !grid).then_some(count);
            Method::Halving { draws, resource: resource.map(ToString::to_string), halving }
        }
        _ => Method::Model(count),
    })
}

/// Names of parameters with the way to the learner that has them.
fn reach(inside: &str, space: &mut Space, method: &mut Method) {
    space.domains.iter_mut().for_each(|(name, _)| name.insert_str(0, inside));
    if let Method::Halving { resource: Some(name), .. } = method {
        name.insert_str(0, inside);
    }
}

fn nested(
    plan: &Plan,
    data: &Dataset,
    (outer, inner): (usize, usize),
    metrics: &[&'static Metric],
    journal: Option<&Journal>,
    call: &Call,
) -> Result<select::search::Nested> {
    let run = call.run.child(NESTED).with_threads(call.run.threads());
    let splits: Vec<Split> = splitter(call, data, outer)?.splits(data, &run)?.collect();
    let inner = splitter(call, data, inner)?;
    plan.run_nested(data, (&splits, &inner), metrics, journal, &run)
}

/// The stream of the outer splits.
const NESTED: u64 = 0x6e65_7374;

/// The chosen learner with its preparation in front.
fn whole(
    chosen: &dyn AnyEstimator,
    preparation: Option<&dyn AnyEstimator>,
) -> Result<Box<dyn AnyEstimator>> {
    match preparation {
        None => Ok(chosen.clone_any()),
        Some(preparation) => {
            let (first, last) = (LearnerSpec::of(preparation), LearnerSpec::of(chosen));
            learnt::build(&select::joined(first, last))
        }
    }
}

/// Fits the choice to all rows and saves it, where a file is named.
fn save(call: &Call, learner: &dyn AnyEstimator, supervised: &Supervised) -> Result<()> {
    let Some(path) = call.text("out") else { return Ok(()) };
    let data = supervised.data.view();
    let mut trained = Trained::fit(learner, &data, &supervised.targets, &call.run)?;
    trained.history.digest.clone_from(&supervised.digest);
    trained.history.formula = super::fit::formula(call, &supervised.targets)?;
    trained.history.weight = call.text("weight").map(str::to_string);
    trained.save(Path::new(path))?;
    let (next, data) = (shell(path), shell(&supervised.name));
    call.say(&format!(
        "wrote {path}   next: learnt score {next} TEST.csv, or learnt report {next} {data}"
    ));
    Ok(())
}

fn title(call: &Call, supervised: &Supervised, learner: &str, splitter: &Splitter) -> String {
    let target = supervised.targets.join(", ");
    let seed = call.run.seed();
    let (name, cv) = (&supervised.name, splitter.title());
    format!("tune {learner} on {name}: {target}   {cv}, seed {seed}")
}

fn show(
    call: &Call,
    answer: &Answer,
    found: &Found,
    supervised: &Supervised,
    learner: &str,
) -> Result<()> {
    picture::plot_answer(call, answer)?;
    if let Some(path) = call.text("table") {
        super::answer::write(call, path, answer)?;
    }
    if call.json {
        let setting = found.chosen()?;
        let best: serde_json::Map<_, _> =
            setting.iter().map(|(name, value)| (name.clone(), value.to_json())).collect();
        let payload = json!({
            "learner": learner, "data": source(supervised), "best": best,
            "model": call.text("out"), "answer": answer.to_json(),
        });
        print_json("tune", Some(call.run.seed()), payload);
        return Ok(());
    }
    let most = if call.flag("all") { usize::MAX } else { 20 };
    print(&answer.to_text_fitted(most, call.line_width()));
    if call.text("out").is_none() {
        call.say("no model was saved: add -o MODEL.learnt");
    }
    Ok(())
}
