//! `learnt help` and `learnt completions`.

use super::Call;
use crate::ExitCode;
use crate::args;
use crate::output::{print, print_as_is, print_json};
use learnt::error::{Code, Error, Result, plain};
use serde_json::json;

/// What each code means and what usually helps.
fn explanation(code: Code) -> &'static str {
    match code {
        Code::Usage => {
            "The call itself is off: a missing argument, or two that exclude each other. `learnt VERB --help` has examples."
        }
        Code::Parameter => {
            "A parameter is outside what it accepts. `learnt show LEARNER` lists what each accepts."
        }
        Code::Unknown => "Nothing has this name. The message suggests the nearest one.",
        Code::Unsupported => {
            "This model or learner cannot do that. `learnt list` shows what each can."
        }
        Code::Empty => "The table has no rows or no columns.",
        Code::Ragged => {
            "A row has more or fewer fields than the header. --ragged skip leaves such rows out and counts them."
        }
        Code::Encoding => {
            "The file is not text in the stated encoding. Say --encoding latin-1 or utf-16."
        }
        Code::Parse => {
            "A value cannot be read as its column's type. --type COLUMN=cat makes the column categorical."
        }
        Code::Schema => {
            "The columns differ from those the model was trained on. --rename NEW=OLD gives a column its old name; `learnt inspect MODEL --schema` lists them."
        }
        Code::Names => "Column names are repeated or empty. --dedupe-names numbers them.",
        Code::Shape => "Two things that must have the same size do not.",
        Code::NotFinite => "A value is infinite. Replace it, or make it missing.",
        Code::Missing => {
            "The learner cannot take missing values. --impute median fills them, --impute drop-rows leaves those rows out, trees take them as they are."
        }
        Code::Category => {
            "A category was not in the training data. Fit with --unknown missing to treat such categories as missing."
        }
        Code::Weights => {
            "Weights must be finite, not negative, not all zero, one for each row; some learners take none."
        }
        Code::NotNumeric => {
            "The learner needs numbers and a column holds categories. Leave out --no-prepare, or encode the column."
        }
        Code::Target => {
            "The target is absent or of the wrong type. -t COLUMN names it, --task classify or regress says what it is."
        }
        Code::OneClass => "Only one class is left, so there is nothing to tell apart.",
        Code::TooFew => "Too few rows, in all or of one class, for what was asked.",
        Code::Numeric => {
            "Arithmetic could not go on: a singular matrix, or numbers too large. Scale the columns, or raise the penalty."
        }
        Code::Separation => {
            "The classes are separated completely, so unpenalised coefficients would be infinite. Use a penalty."
        }
        Code::NotConverged => {
            "The iteration limit was reached. Raise --max-iter or scale the columns."
        }
        Code::Undefined => {
            "The score does not exist for these rows: one class, nothing predicted positive, a constant truth."
        }
        Code::FileDamaged => {
            "The model file's checksum does not match: it was damaged or cut. Take another copy."
        }
        Code::FileTruncated => "The model file ends too early. Take another copy.",
        Code::FileInvalid => {
            "The model file has a right checksum but wrong content. It was not written by learnt."
        }
        Code::FileVersion => "The model file was written by a newer learnt. Update.",
        Code::FileKind => "This is not a model file.",
        Code::Memory => {
            "The work would need more memory than allowed. Raise --max-memory, use --stream, or fewer rows."
        }
        Code::Cancelled => "You stopped it. No file was left half written.",
        Code::Io => {
            "The operating system refused: a missing file, a directory, permissions, a full disk."
        }
        _ => "A mistake in learnt. Answer the command and, if you can, the data.",
    }
}

/// A call that fails with the code, and the same mended.
fn example(code: Code) -> (&'static str, &'static str) {
    match code {
        Code::Usage => ("learnt fit ridge", "learnt fit ridge cpu"),
        Code::Parameter => ("learnt fit ridge cpu --alpha -1", "learnt fit ridge cpu --alpha 1"),
        Code::Unknown => ("learnt show rigde", "learnt show ridge"),
        Code::Unsupported => ("learnt fit tree iris --stream", "learnt fit tree iris"),
        Code::Empty => ("learnt describe empty.csv", "learnt describe iris"),
        Code::Ragged => ("learnt describe my.csv", "learnt describe my.csv --ragged skip"),
        Code::Encoding => ("learnt describe my.csv", "learnt describe my.csv --encoding latin-1"),
        Code::Parse => (
            "learnt fit ridge my.csv -t price --type zip=num",
            "learnt fit ridge my.csv -t price --type zip=cat",
        ),
        Code::Schema => (
            "learnt predict my.learnt new.csv",
            "learnt predict my.learnt new.csv --rename Size=size",
        ),
        Code::Names => ("learnt describe my.csv", "learnt describe my.csv --dedupe-names"),
        Code::Shape => ("learnt fit knn digits --volume 9x9", "learnt fit knn digits"),
        Code::NotFinite => (
            "learnt fit ols cpu --formula 'performance ~ log(chmin)'",
            "learnt fit ols cpu --formula 'performance ~ sqrt(chmin)'",
        ),
        Code::Missing => (
            "learnt fit logistic penguins --no-prepare --ignore sex,island",
            "learnt fit logistic penguins --impute median",
        ),
        Code::Category => (
            "learnt fit ols my.csv -t price --unknown error -o my.learnt",
            "learnt fit ols my.csv -t price --unknown other -o my.learnt",
        ),
        Code::Weights => (
            "learnt fit ridge my.csv -t y --weight loss",
            "learnt fit ridge my.csv -t y --weight count",
        ),
        Code::NotNumeric => ("learnt fit ridge prices --no-prepare", "learnt fit ridge prices"),
        Code::Target => ("learnt fit ridge iris", "learnt fit ridge iris -t sepal_length"),
        Code::OneClass => {
            ("learnt fit logistic one_class.csv -t y", "learnt describe one_class.csv -t y")
        }
        Code::TooFew => ("learnt cv ridge houses --folds 10", "learnt cv ridge houses --folds 2"),
        Code::Numeric => {
            ("learnt fit qda my.csv -t y", "learnt fit qda my.csv -t y --reg-param 0.1")
        }
        Code::Separation => {
            ("learnt fit logistic margin_four --penalty none", "learnt fit logistic margin_four")
        }
        Code::NotConverged => (
            "learnt fit lasso cpu --max-iter 1 --strict",
            "learnt fit lasso cpu --max-iter 10000 --strict",
        ),
        Code::Undefined => (
            "learnt metric roc-auc-score --y-true '[1, 1]' --y-score '[0.2, 0.9]'",
            "learnt metric roc-auc-score --y-true '[0, 1]' --y-score '[0.2, 0.9]'",
        ),
        Code::FileDamaged | Code::FileTruncated | Code::FileInvalid => {
            ("learnt predict copy.learnt new.csv", "learnt verify my.learnt   (and copy it again)")
        }
        Code::FileVersion => {
            ("learnt predict newer.learnt new.csv", "learnt --version   (and update)")
        }
        Code::FileKind => ("learnt predict new.csv my.learnt", "learnt predict my.learnt new.csv"),
        Code::Memory => (
            "learnt fit ridge big.csv -t y --max-memory 100MB",
            "learnt fit ridge big.csv -t y --max-memory 100MB --stream",
        ),
        Code::Cancelled => (
            "learnt fit ridge big.csv -t y --stream   (and Ctrl-C)",
            "learnt fit ridge big.csv -t y --stream --checkpoint kept --resume",
        ),
        Code::Io => ("learnt describe missing.csv", "learnt describe iris"),
        _ => ("", ""),
    }
}

pub(crate) fn help(call: &Call) -> Result<ExitCode> {
    let Some(topic) = call.text("topic") else {
        print(&args::command().render_help().to_string());
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(&code) = Code::ALL.iter().find(|code| code.to_string().eq_ignore_ascii_case(topic))
    {
        match call.json {
            true => print_json(
                "help",
                None,
                json!({
                    "code": code.to_string(), "text": explanation(code), "exit": code.exit_code(),
                    "example": example(code).0, "mended": example(code).1,
                }),
            ),
            false => {
                let (text, (wrong, mended)) = (explanation(code), example(code));
                let shown = match wrong.is_empty() {
                    true => String::new(),
                    false => format!("\nExample:  {wrong}\nMended:   {mended}\n"),
                };
                print(&format!("{code} (exit code {})\n{text}\n{shown}", code.exit_code()));
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let name = call.text("name");
    if let Some(page) = args::page(topic, name) {
        print(&page);
        return Ok(ExitCode::SUCCESS);
    }
    if name.is_none()
        && (!learnt::find_all(topic).is_empty() || learnt::find_function(topic).is_ok())
    {
        return super::registry::show_named(call, topic);
    }
    let command = args::command();
    let is_verb = command.get_subcommands().any(|verb| verb.get_name() == topic);
    match name.filter(|_| is_verb) {
        None => Err(args::unknown_verb(topic)),
        Some(name) => {
            let message = format!("`learnt {topic}` has no '{}' under it", plain(name));
            Err(Error::new(Code::Unknown, message)
                .hint(format!("learnt {topic} --help names what it has")))
        }
    }
}

pub(crate) fn completions(call: &Call) -> Result<ExitCode> {
    let name = call.text("shell").unwrap_or_default();
    let shell: clap_complete::Shell = name.parse().map_err(|_| {
        Error::unknown("shell", name, ["bash", "zsh", "fish", "powershell", "elvish"])
    })?;
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "learnt", &mut text);
    print_as_is(&String::from_utf8_lossy(&text));
    Ok(ExitCode::SUCCESS)
}
