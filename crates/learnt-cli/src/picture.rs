//! Charts to files and to the terminal; the ending of a file chooses its form.

use crate::commands::Call;
use crate::output::print_as_is;
use crate::place;
use learnt::answer::Answer;
use learnt::chart::Chart;
use learnt::error::{Error, Result};
use std::io::IsTerminal;
use std::path::Path;

/// Draws the charts of an answer where `--plot` says.
pub(crate) fn plot_answer(call: &Call, answer: &Answer) -> Result<()> {
    let Some(place) = call.text("plot") else { return Ok(()) };
    if answer.charts.is_empty() {
        return Err(Error::unsupported("this answer has no picture")
            .hint("`learnt plot` lists the pictures of models"));
    }
    draw(call, &answer.charts, place)
}

/// Draws charts into a file, or into the terminal for `-`. More than one go into one page, or into
/// files with a number.
pub(crate) fn draw(call: &Call, charts: &[Chart], path: &str) -> Result<()> {
    if path == "-" {
        charts.iter().for_each(|chart| print_as_is(&in_terminal(chart)));
        return Ok(());
    }
    let ending = Path::new(path).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if ending.eq_ignore_ascii_case("html") {
        let title = charts.first().map_or("", |chart| &chart.title);
        let page = Answer { charts: charts.to_vec(), ..Answer::new("Pictures") };
        return place::bytes(call, path, learnt_plot::to_page(title, &[page]).as_bytes());
    }
    for (k, chart) in charts.iter().enumerate() {
        let numbered = match k {
            0 => path.to_string(),
            k => format!(
                "{}-{}.{ending}",
                path.trim_end_matches(ending).trim_end_matches('.'),
                k + 1
            ),
        };
        place::bytes(call, &numbered, &form(chart, ending)?)?;
    }
    Ok(())
}

/// The bytes of a chart in the form of a file's ending.
fn form(chart: &Chart, ending: &str) -> Result<Vec<u8>> {
    match ending.to_ascii_lowercase().as_str() {
        "svg" => Ok(learnt_plot::to_svg(chart).into_bytes()),
        "json" => Ok(format!("{:#}\n", learnt_plot::to_vega_lite(chart)).into_bytes()),
        "txt" => Ok(learnt_plot::to_terminal(chart, 100, 24, true, false).into_bytes()),
        "png" => png(chart),
        other => Err(Error::parameter(
            "the picture's file",
            "a name that ends in .svg, .png, .html, .json (Vega-Lite) or .txt",
            format!("'.{other}'"),
        )),
    }
}

#[cfg(feature = "png")]
fn png(chart: &Chart) -> Result<Vec<u8>> {
    learnt_plot::to_png(chart, learnt_plot::Theme::Light, 2.0)
}

#[cfg(not(feature = "png"))]
fn png(_: &Chart) -> Result<Vec<u8>> {
    Err(Error::unsupported("this build of learnt writes no PNG")
        .hint("write .svg, or build with `cargo install --path crates/learnt-cli --features png`"))
}

/// As wide as the terminal; colours and braille only where they can be seen.
fn in_terminal(chart: &Chart) -> String {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let seen = std::io::stdout().is_terminal();
    let width = number("COLUMNS").unwrap_or(80).clamp(40, 160);
    let height = if chart.panels.len() > 1 { 12 } else { 18 };
    let language = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let plain = language.is_some_and(|language| matches!(language.as_str(), "C" | "POSIX"));
    let colour = seen
        && std::env::var_os("NO_COLOR").is_none()
        && std::env::var("TERM").as_deref() != Ok("dumb");
    learnt_plot::to_terminal(chart, width, height, !plain, colour)
}
