//! The command line, made from the registry: a learner's flags are its parameters.

mod elsewhere;
mod registered;
mod shown;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
pub(crate) use elsewhere::{flag_elsewhere, unknown_verb, without_name};
use learnt::estimator::ROLES;
use learnt::function::FunctionKind;
use learnt::select::Splitter;
pub(crate) use registered::unknown_name;
use registered::{choose_k, function_verb, with_learners};
pub(crate) use shown::page;

/// Start of a learner's own flags in the matches, so that they cannot meet the common ones.
pub(crate) const PARAM: &str = "param:";

/// Start of a function's inputs in the matches.
pub(crate) const INPUT: &str = "input:";

/// What `learnt --help` prints: one screen.
const PAGE: &str = include_str!("page.txt");

/// The whole command.
pub(crate) fn command() -> Command {
    Command::new("learnt")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Machine learning at the terminal: one binary, a file in, a model, a table or a prediction out")
        .arg_required_else_help(true)
        .subcommand_required(true)
        .infer_subcommands(false)
        .disable_help_subcommand(true)
        .max_term_width(100)
        .override_help(PAGE)
        .subcommands(
            FunctionKind::ALL
                .iter()
                .map(|(kind, ..)| function_verb(*kind)),
        )
        .subcommands([
            look("list", "List what there is: learners, metrics, bounds, studies, generators and more", "learnt list\n  learnt list learners --role classifier\n  learnt list metrics")
                .arg(Arg::new("kind").value_name("KIND").help("learners, metrics, theory, studies, generators, splits, statistics, algebra or analyses"))
                .arg(Arg::new("role").long("role").value_name("ROLE").help(format!("Only one of {}", ROLES.iter().map(|role| role.name).collect::<Vec<_>>().join(", "))))
                .arg(flag("streaming", "Only learners that fit files larger than memory"))
                .arg(all_flag()),
            look("show", "Show a learner: what it does, its parameters and their defaults", "learnt show ridge\n  learnt show tree --json")
                .arg(Arg::new("learner").required(true).value_name("LEARNER").help("A learner or function by name"))
                .arg(all_flag()),
            data("describe", "Describe a table: types, missing values, ranges", "learnt describe iris\n  learnt describe penguins -t species --all"),
            look("dataset", "List the bundled data sets, or print one as CSV", "learnt dataset\n  learnt dataset penguins > penguins.csv")
                .arg(Arg::new("name").value_name("NAME").help("A bundled set"))
                .arg(all_flag())
                .arg(out_flag("Write to this file instead; the ending chooses the format")),
            data("convert", "Convert a table to another format", "learnt convert iris iris.arff\n  learnt convert iris - --to ndjson")
                .arg(Arg::new("to-path").required(true).value_name("TO").help("The new file, or - for standard output"))
                .arg(Arg::new("to").long("to").value_name("FORMAT").help("The new format, if the ending does not say it")),
            with_learners(data("fit", "Fit a learner and save the model", "learnt fit ridge cpu --alpha 0.1 -o cpu.learnt\n  learnt fit ols cpu --formula 'log(performance) ~ mmax * cach' --marks")),
            with_learners(data("cluster", "Cluster the rows of a table: fit a method, label every row, draw the clusters", "learnt cluster hdbscan iris -o labels.csv --plot clusters.svg\n  learnt cluster kmeans iris --n-clusters 3 --append -o with-clusters.csv")),
            with_learners(data("plan", "Plan a fit as tasks that any scheduler can run, and say what it will cost", "learnt make housing -o housing.csv\n  learnt plan ridge housing.csv -t SalePrice --tasks 2 -o job\n  learnt plan ridge housing.csv -t SalePrice --nodes 1000 --rows 1e11")),
            job("task", "Do a task of a job that `learnt plan` made", "learnt make housing -o housing.csv && learnt plan ridge housing.csv -t SalePrice --tasks 2 -o job\n  learnt task job 0\n  learnt task job rest")
                .arg(Arg::new("task").index(2).value_name("K").default_value("rest").help("Which task, from 0, or `rest` for all without an answer")),
            job("advance", "Go on with a job when all tasks of a round are done: exits with 9 if another round is to be run, with 0 if the model is there", "learnt make housing -o housing.csv && learnt plan ridge housing.csv -t SalePrice --tasks 2 -o job\n  until learnt task job && learnt advance job -o model.learnt; do test $? = 9 || break; done")
                .arg(flag("strict", "Exit with 5 if the fit did not converge"))
                .arg(out_flag("Save the model to this file [default: DIR/model.learnt]")),
            choose_k(),
            with_learners(data("reduce", "Reduce the columns of a table to a few coordinates, and draw them", "learnt reduce pca iris -o coords.csv --plot coords.svg\n  learnt reduce linear-discriminant-analysis iris --n-components 2 --plot -")),
            path(),
            deciding(model(data("predict", "Predict with a model", "learnt fit logistic breast_cancer -o tumours.learnt\n  learnt predict tumours.learnt breast_cancer --proba --threshold 0.3 > predictions.csv")
                .arg(flag("proba", "Add the probability of each class"))
                .arg(flag("scores", "Add the decision scores"))
                .arg(flag("append", "Put the predictions beside the input columns"))
                .arg(method_flag())
                .arg(missing_flag())
                .arg(out_flag("Write to this file instead; the ending chooses the format")))),
            deciding(model(data("score", "Score a model on data with a target", "learnt fit ridge cpu -o cpu.learnt\n  learnt score cpu.learnt cpu --fail-under r2=0.8"))
                .arg(metric_flag())
                .arg(missing_flag())
                .arg(Arg::new("fail-under").long("fail-under").value_name("METRIC=X").help("Exit with 6 if the metric is worse than X"))),
            with_learners(data("cv", "Cross-validate one learner", "learnt cv logistic iris\n  learnt cv ridge cpu --folds 5 --metric rmse,r2")),
            deciding(resampled(preparation(data("compare", "Cross-validate every learner for the task and compare them", "learnt compare iris\n  learnt compare cpu --only ridge,tree,knn")))
                .arg(formula_flag())
                .arg(Arg::new("only").long("only").value_name("LEARNERS").value_delimiter(',').help("Only these learners"))
                .arg(Arg::new("skip").long("skip").value_name("LEARNERS").value_delimiter(',').help("All but these learners"))
                .arg(plot_flag())),
            with_learners(data("curve", "Scores of a learner in and out of sample, for growing training parts or values of a parameter", "learnt curve tree iris --plot -\n  learnt curve knn iris --parameter n-neighbors --values 1,5,15,45,90 --plot curve.svg")),
            with_learners(data("tune", "Search for good parameters of a learner, and fit the best", "learnt tune ridge cpu --grid alpha=0.1,1,10,100 -o best.learnt\n  learnt tune knn iris --grid n-neighbors=25,15,9,5,3,1 --one-se --nested 5\n  learnt tune logistic iris --range C=0.01:100:real-log --trials 9 --log search.jsonl")),
            versus(),
            model(data("update", "Go on training a model with more rows", "learnt fit perceptron iris -o first.learnt\n  learnt update first.learnt iris -o second.learnt"))
                .arg(out_flag("Save the model to this file")),
            model(look("summary", "Print what a model learnt: coefficients with their tests, rules, loadings", "learnt fit ols cpu -o cpu.learnt\n  learnt summary cpu.learnt --marks")).arg(plot_flag()).arg(marks_flag()).arg(all_flag()),
            look("anova", "Compare nested models by their fit: F and likelihood-ratio tests", "learnt fit ols cpu --formula 'performance ~ mmax' -o small.learnt\n  learnt fit ols cpu --formula 'performance ~ mmax + cach' -o large.learnt\n  learnt anova small.learnt large.learnt --marks")
                .arg(Arg::new("models").required(true).num_args(1..).value_name("MODELS").help("Model files, the smallest first, fitted to the same rows"))
                .arg(marks_flag())
                .arg(all_flag()),
            question(data("ask", "Ask a model beyond prediction: intervals, tests, influence of rows", "learnt fit ols cpu -o cpu.learnt && learnt ask cpu.learnt\n  learnt ask cpu.learnt intervals cpu --with level=0.9")),
            model(data("explain", "Explain a model on rows: which columns matter, how the prediction moves with them, what they add to single rows", "learnt fit tree cpu -o cpu.learnt\n  learnt explain cpu.learnt cpu --rows 1,17 --columns mmax,cach --plot explained.html"))
                .arg(Arg::new("columns").long("columns").value_name("NAMES").value_delimiter(',').help("Columns whose dependence is shown; the three that matter most without"))
                .arg(Arg::new("rows").long("rows").value_name("NUMBERS").value_delimiter(',').help("Rows whose contributions are shown, from 1 [default: the first five]"))
                .arg(Arg::new("repeats").long("repeats").value_name("N").value_parser(value_parser!(usize)).help("Shuffles of each column [default: 5]"))
                .arg(Arg::new("class").long("class").value_name("CLASS").help("The class whose score or probability contributions explain"))
                .arg(out_flag("Write the answer to this file instead: .csv, .json, .md or .txt"))
                .arg(plot_flag()),
            picture(data("plot", "Draw a picture of a model: ROC, residuals, tree, coefficients", "learnt plot\n  learnt fit logistic breast_cancer -o tumours.learnt\n  learnt plot roc tumours.learnt breast_cancer -o roc.svg")),
            model(data("report", "Write one page about a model and how it does on rows", "learnt fit ridge cpu -o cpu.learnt\n  learnt report cpu.learnt cpu -o report.html").mut_arg("data", |arg| arg.required(false).value_name("TEST")))
                .arg(out_flag("The page [default: report.html]")),
            model(look("inspect", "Print what a model file holds: learner, parameters, columns, seed", "learnt fit ridge cpu -o cpu.learnt && learnt inspect cpu.learnt\n  learnt inspect cpu.learnt --schema"))
                .arg(flag("schema", "Only the columns"))
                .arg(all_flag())
                .arg(flag("privacy", "Which raw values of the training data the file holds")),
            model(look("verify", "Check a model file: checksum, structure, and its self-test rows", "learnt fit ridge cpu -o cpu.learnt && learnt verify cpu.learnt\n  learnt verify cpu.learnt --json")),
            look("completions", "Print shell completions", "learnt completions bash > learnt.bash\n  learnt completions zsh > _learnt")
                .arg(Arg::new("shell").required(true).value_name("SHELL").help("bash, zsh, fish, powershell or elvish")),
            look("help", "Show all options of a verb or a learner, or explain an error code", "learnt help fit ridge\n  learnt help E014")
                .arg(Arg::new("topic").value_name("TOPIC").help("A verb or an error code"))
                .arg(Arg::new("name").value_name("NAME").help("A learner or function under the verb")),
        ].map(|verb| {
            let name = verb.get_name().to_string();
            general(verb, &name)
        }))
}

/// A verb with its examples.
fn look(name: &'static str, about: &'static str, examples: &'static str) -> Command {
    Command::new(name).about(about).before_help(format!("Examples:\n  {examples}"))
}

/// The names of the flags that every verb has.
const GENERAL: &[&str] = &["json", "seed", "threads", "quiet", "max-memory", "force", "progress"];

/// Adds the flags that every verb has, at the end of its help; verbs of learners have them in those. `path` is
/// what is typed to reach it.
fn general(command: Command, path: &str) -> Command {
    let there = command.get_arguments().any(|arg| arg.get_id() == "json");
    if there || command.is_subcommand_required_set() {
        return command;
    }
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help).help_heading("General")
    };
    let switch = |name: &'static str, help: &'static str| flag(name, help).help_heading("General");
    let command = command
        .arg(switch("json", "Print JSON"))
        .arg(text("seed", "N", "The seed of all random draws, or `random`").default_value("0"))
        .arg(
            text("threads", "N", "Threads; 0 takes all. The result does not depend on it")
                .short('j')
                .value_parser(value_parser!(usize))
                .default_value("0"),
        )
        .arg(switch("quiet", "Say less on standard error").short('q'))
        .arg(text(
            "max-memory",
            "SIZE",
            "Hold at most this much memory, such as 500MB or 2GB [default: what is free, less a tenth]",
        ))
        .arg(switch("force", "Replace files that are there").short('f'))
        .arg(
            text("progress", "HOW", "Progress on standard error")
                .value_parser(["auto", "none", "json"])
                .default_value("auto"),
        );
    shown::finished(command, path)
}

/// A verb that reads a table.
fn data(name: &'static str, about: &'static str, examples: &'static str) -> Command {
    with_data(look(name, about, examples))
}

fn with_data(command: Command) -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help).help_heading("Reading")
    };
    command
        .arg(
            Arg::new("data")
                .required(true)
                .value_name("DATA")
                .help("A file, the name of a bundled set, or - for standard input"),
        )
        .arg(
            Arg::new("target")
                .long("target")
                .short('t')
                .value_name("COLUMN")
                .help("The column to predict; several with commas"),
        )
        .arg(text("task", "TASK", "What to make of the target: classify or regress"))
        .arg(text("weight", "COLUMN", "The column with row weights"))
        .arg(text("group", "COLUMN", "Rows with equal values stay together in folds and splits"))
        .arg(text("sequence", "COLUMN", "Consecutive rows with equal values are one sequence"))
        .arg(text(
            "volume",
            "SIDES",
            "The input columns are the cells of images: 28x28x1 is height x width x depth",
        ))
        .arg(text("ignore", "COLUMNS", "Columns to leave out").value_delimiter(','))
        .arg(text("format", "FORMAT", "csv, tsv, parquet, arrow, arff, libsvm or ndjson"))
        .arg(text("delimiter", "CHAR", "The delimiter of CSV"))
        .arg(
            text("skip-lines", "N", "Lines above the table, such as a title")
                .value_parser(value_parser!(usize)),
        )
        .arg(
            text("header", "YES|NO", "Whether the first line names the columns")
                .value_parser(["auto", "yes", "no"]),
        )
        .arg(
            text("na", "TOKENS", "Tokens that mean missing")
                .value_delimiter(',')
                .allow_hyphen_values(true),
        )
        .arg(text(
            "max-input",
            "SIZE",
            "Refuse more bytes than this after unpacking [default: 64GiB, and 1000 times the file]",
        ))
        .arg(
            text("max-features", "N", "Refuse more columns than this [default: 10000000]")
                .value_parser(value_parser!(usize)),
        )
        .arg(
            text(
                "type",
                "COLUMN=TYPE",
                "num, cat, tidy (Paris is paris), dmy or mdy (dates), unit ($5, 3 kg), skip or ord(S<M<L); may be repeated",
            )
            .action(ArgAction::Append),
        )
        .arg(
            text("rename", "OLD=NEW", "Rename a column; may be repeated").action(ArgAction::Append),
        )
        .arg(text("encoding", "NAME", "utf-8, latin-1 or utf-16"))
        .arg(
            text("ragged", "HOW", "Rows with too many or too few fields: error or skip")
                .value_parser(["error", "skip"]),
        )
        .arg(flag("dedupe-names", "Number repeated column names").help_heading("Reading"))
        .arg(flag("decimal-comma", "1,5 is one and a half").help_heading("Reading"))
        .arg(text(
            "thousands",
            "CHAR",
            "The mark between groups of three digits: , . ' _ or a space",
        ))
        .arg(all_flag().help_heading("Output"))
}

fn model(command: Command) -> Command {
    let has_data = command.get_arguments().any(|arg| arg.get_id() == "data");
    let command = if has_data { command.mut_arg("data", |arg| arg.index(2)) } else { command };
    command.arg(Arg::new("model").required(true).index(1).value_name("MODEL").help("A model file"))
}

/// `path`, whose first argument is a penalty.
fn path() -> Command {
    let number = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    preparation(data(
        "path",
        "Follow the coefficients of a penalised regression as the penalty falls",
        "learnt path lasso cpu --plot path.svg\n  learnt path elastic-net cpu --l1-ratio 0.9 -o path.csv",
    ))
    .mut_arg("data", |arg| arg.index(2))
    .arg(
        Arg::new("penalty")
            .required(true)
            .index(1)
            .value_name("PENALTY")
            .value_parser(["lasso", "elastic-net", "ridge"])
            .help("Which penalty"),
    )
    .arg(formula_flag())
    .arg(number("l1-ratio", "X", "Share of the L1 penalty in elastic-net [default: 0.5]").value_parser(value_parser!(f64)))
    .arg(number("n-alphas", "N", "Number of penalties [default: 100]").value_parser(value_parser!(usize)))
    .arg(number("eps", "X", "Least penalty as a share of the largest [default: 0.001]").value_parser(value_parser!(f64)))
    .arg(flag("positive", "Keep the coefficients at or above zero"))
    .arg(flag("strict", "Exit with 5 if a penalty did not converge"))
    .arg(out_flag("Write the path as a table to this file; the ending chooses the format"))
    .arg(plot_flag())
}

/// A verb about a folder that holds a job.
fn job(name: &'static str, about: &'static str, examples: &'static str) -> Command {
    look(name, about, examples).arg(
        Arg::new("job")
            .required(true)
            .index(1)
            .value_name("DIR")
            .help("The folder that `learnt plan` made"),
    )
}

/// MODEL, then OTHER, then DATA.
fn versus() -> Command {
    let examples = "learnt fit logistic iris -o a.learnt && learnt fit tree iris -o b.learnt\n  learnt versus a.learnt b.learnt iris --folds 5";
    model(folds(data("versus", "Test whether two models differ: t, 5x2cv F and McNemar", examples)))
        .mut_arg("data", |arg| arg.index(3))
        .arg(
            Arg::new("other")
                .required(true)
                .index(2)
                .value_name("OTHER")
                .help("Another model file"),
        )
        .arg(
            Arg::new("repeats")
                .long("repeats")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .default_value("1")
                .help("How often the folds are drawn for the t test"),
        )
}

/// MODEL, then QUESTION, then DATA, the last two by choice.
fn question(command: Command) -> Command {
    model(command.mut_arg("data", |arg| arg.required(false)))
        .mut_arg("data", |arg| arg.index(3))
        .arg(
            Arg::new("question")
                .index(2)
                .value_name("QUESTION")
                .help("Which; all are listed without one"),
        )
        .arg(
            Arg::new("with")
                .long("with")
                .value_name("NAME=VALUE")
                .action(ArgAction::Append)
                .help("An argument of the question; may be repeated"),
        )
        .arg(marks_flag())
        .arg(plot_flag())
}

/// NAME, then MODEL, then DATA, all by choice.
fn picture(command: Command) -> Command {
    let place = |name: &'static str, index: usize, value: &'static str, help: &'static str| {
        Arg::new(name).index(index).value_name(value).help(help)
    };
    command
        .mut_arg("data", |arg| arg.required(false).index(3))
        .arg(place("name", 1, "NAME", "Which picture; all are listed without one"))
        .arg(place("model", 2, "MODEL", "A model file"))
        .arg(out_flag(
            "The file: .svg, .png, .html, .json (Vega-Lite) or .txt; the terminal without one",
        ))
}

fn plot_flag() -> Arg {
    Arg::new("plot")
        .long("plot")
        .value_name("FILE")
        .help("Draw the answer into a file, or - for the terminal")
        .long_help("Draw the answer into .svg, .png, .html, .json (Vega-Lite) or .txt, or - for the terminal")
}

fn marks_flag() -> Arg {
    flag("marks", "Mark p-values: *** below 0.001, ** 0.01, * 0.05, . 0.1")
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn all_flag() -> Arg {
    flag("all", "Show every row and column of a long table")
}

fn out_flag(help: &'static str) -> Arg {
    Arg::new("out").long("out").short('o').value_name("FILE").help(help)
}

/// Everything that some role can be asked, from the table of roles.
fn method_flag() -> Arg {
    let all = ROLES.iter().flat_map(|role| role.methods.iter().map(|method| method.name));
    let names: Vec<String> = all.map(|name| name.replace('_', "-")).collect();
    Arg::new("method")
        .long("method")
        .value_name("METHOD")
        .help("What to ask of the model instead, such as link or transform")
        .long_help(format!("What to ask of the model instead: {}", names.join(", ")))
}

fn missing_flag() -> Arg {
    Arg::new("missing")
        .long("missing")
        .value_name("HOW")
        .value_parser(["error", "skip", "impute"])
        .help("What to do with missing values that the learner cannot take")
        .long_help("What prediction does with missing values that the learner cannot take: refuse, leave the row without a prediction, or fill in means and commonest levels of training [default: error, or what was said at fit]")
}

fn metric_flag() -> Arg {
    Arg::new("metric")
        .long("metric")
        .value_name("METRICS")
        .value_delimiter(',')
        .help("Which metrics, best known first")
}

fn folds(command: Command) -> Command {
    command
        .arg(
            Arg::new("folds")
                .long("folds")
                .value_name("K")
                .value_parser(value_parser!(usize))
                .default_value("10")
                .help("Number of folds"),
        )
        .arg(metric_flag())
        .arg(out_flag("Write the table to this file: .csv, .json, .md or .txt"))
}

/// Folds, and how they are made.
pub(crate) fn resampled(command: Command) -> Command {
    let cv = Arg::new("cv").long("cv").value_name("KIND").value_parser(Splitter::NAMES);
    let repeats = Arg::new("repeats").long("repeats").value_name("N");
    folds(command)
        .arg(cv.hide_possible_values(true).help("How rows are divided: k-fold, stratified, group, time and others").long_help(format!("How rows are divided: {} [default: whole groups with --group, else stratified for classes, else k-fold]", Splitter::NAMES.join(", "))))
        .arg(repeats.value_parser(value_parser!(usize)).help("How often folds are drawn [default: 1]"))
}

/// The flags of `curve`.
fn curve(command: Command) -> Command {
    let text =
        |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    resampled(command)
        .mut_arg("folds", |arg| arg.default_value("5"))
        .mut_arg("metric", |arg| arg.help("The metric"))
        .arg(
            text("sizes", "SIZES").value_delimiter(',').help(
                "Training rows: shares up to 1, or numbers [default: 0.1,0.325,0.55,0.775,1]",
            ),
        )
        .arg(
            text("parameter", "NAME")
                .help("Vary this parameter instead of the training rows")
                .conflicts_with("sizes"),
        )
        .arg(
            text("values", "VALUES")
                .value_delimiter(',')
                .help("The values of the parameter, with commas"),
        )
        .arg(plot_flag())
}

/// How classes are decided.
fn deciding(command: Command) -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help).help_heading("Classes")
    };
    command
        .arg(text("positive", "CLASS", "The positive class [default: the last of two, in sorted order]"))
        .arg(
            text("threshold", "P", "Predict the positive class from this probability on")
                .value_parser(value_parser!(f64))
                .conflicts_with("cost"),
        )
        .arg(
            text("cost", "CLASS=X", "Predict by least expected cost: X for missing a row of that class")
                .long_help("Predict by least expected cost: X for a row of that class that is called another, CLASS:CALLED=X for one mistake, 1 for others; with commas or repeated")
                .action(ArgAction::Append),
        )
}

/// The flags of `tune`.
fn search(command: Command) -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help).help_heading("Search")
    };
    let number = |name: &'static str, value: &'static str, help: &'static str| {
        text(name, value, help).value_parser(value_parser!(f64))
    };
    let count = |name: &'static str, help: &'static str| {
        text(name, "N", help).value_parser(value_parser!(u64).range(1..))
    };
    let whole = |name: &'static str, value: &'static str, help: &'static str| {
        text(name, value, help).value_parser(value_parser!(usize))
    };
    command
        .mut_arg("folds", |arg| arg.default_value("5"))
        .mut_arg("out", |arg| arg.help("Fit the best setting to all rows and save the model here"))
        .arg(text("grid", "NAME=VALUES", "Values of a parameter with commas; may be repeated").long_help("Values of a parameter with commas, the simplest first; a__b reaches inside; may be repeated").action(ArgAction::Append))
        .arg(text("range", "NAME=FIRST:LAST", "A range of a parameter, :log for a log scale").long_help("A range of a parameter, :log for a logarithmic scale, :real for numbers that are not whole; may be repeated").action(ArgAction::Append))
        .arg(text("method", "METHOD", "How settings are proposed: grid, random, halving, model").long_help("How settings are proposed: grid, random, halving, or model (Parzen estimators) [default: grid where it is small, else model]").hide_possible_values(true).value_parser(["grid", "random", "halving", "model"]))
        .arg(whole("trials", "N", "Settings to draw [default: 30]"))
        .arg(number("budget", "FITS", "Work at most, in fits of whole training parts: a setting costs one a fold").help_heading("Details"))
        .arg(number("factor", "X", "One in so many settings goes on in halving [default: 3]").help_heading("Details"))
        .arg(text("resource", "NAME", "What grows in halving: rows, or a parameter [default: rows]").help_heading("Details"))
        .arg(count("min-resource", "What settings get in the first rung of halving").help_heading("Details"))
        .arg(count("max-resource", "What settings get in the last rung of halving").help_heading("Details"))
        .arg(flag("one-se", "Choose the simplest setting within one standard error of the best").help_heading("Search"))
        .arg(whole("nested", "K", "Repeat the search in K outer folds, and score its choices on their test rows"))
        .arg(text("log", "FILE", "Keep finished fits in this file").help_heading("Details"))
        .arg(flag("resume", "Go on with the log, if there is one").requires("log").help_heading("Details"))
        .arg(text("table", "FILE", "Write the table to this file: .csv, .json, .md or .txt").help_heading("Details"))
        .arg(plot_flag())
}

fn formula_flag() -> Arg {
    Arg::new("formula")
        .long("formula")
        .value_name("FORMULA")
        .help("Target and columns, such as 'mpg ~ wt * hp + factor(cyl) - 1'")
}

fn preparation(command: Command) -> Command {
    let heading = "Preparation";
    let scale = "Put numbers on one scale (standardise them) in front of the learner";
    command
        .arg(flag("no-prepare", "Add no preparation in front of the learner, and leave no column out").help_heading(heading))
        .arg(
            Arg::new("keep")
                .help_heading(heading)
                .long("keep")
                .value_name("COLUMNS")
                .value_delimiter(',')
                .action(ArgAction::Append)
                .help("Use these columns although they look like identifiers, dates, text or constants; `all` for all"),
        )
        .arg(
            Arg::new("date")
                .help_heading(heading)
                .long("date")
                .value_name("COLUMN=PARTS")
                .action(ArgAction::Append)
                .help("Use a column of dates as year, month, day, weekday, yearday, hour or elapsed (days since the first)"),
        )
        .arg(
            Arg::new("text")
                .help_heading(heading)
                .long("text")
                .value_name("COLUMN=hash:N")
                .action(ArgAction::Append)
                .help("Use a column of free text as N columns of hashed words"),
        )
        .arg(flag("scale", scale).help_heading(heading))
        .arg(
            Arg::new("impute")
                .help_heading(heading)
                .long("impute")
                .value_name("HOW")
                .value_parser(["auto", "mean", "median", "mode", "drop-rows", "none"])
                .default_value("auto")
                .help("What to do with missing values that the learner cannot take"),
        )
        .arg(
            flag("drop-unlabelled", "Leave out rows whose target is missing")
                .help_heading(heading),
        )
}

/// Whether `--json` stands anywhere in the matches.
pub(crate) fn wants_json(matches: &ArgMatches) -> bool {
    let own = matches.try_get_one::<bool>("json").ok().flatten().copied().unwrap_or(false);
    own || matches.subcommand().is_some_and(|(_, inner)| wants_json(inner))
}
