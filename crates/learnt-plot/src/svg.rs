//! Charts as SVG: one file that needs nothing beside itself, the same bytes for the same chart.
//!
//! Colours are classes, with a second set for readers who prefer dark pages. Title and description are
//! there for screen readers; sizes are those of a drawing that scales.

use crate::colour::{Theme, hex, style_sheet, viridis};
use crate::layout::{Frame, LINE, Page, SIZE};
use crate::marks::Painter;
use crate::pen::{Pen, short};
use crate::series::{Entry, Key, Palette};
use crate::text::{escaped, wrapped};
use learnt_core::chart::{Chart, Panel};
use std::fmt::Write as _;

const FONTS: &str = "system-ui,-apple-system,&quot;Segoe UI&quot;,Roboto,&quot;Helvetica Neue&quot;,Arial,&quot;DejaVu Sans&quot;,sans-serif";

/// The picture, light or dark as the reader's system is.
///
/// ```
/// use learnt_core::chart::{Chart, Mark, Panel};
/// let panel = Panel::new("x", "y").mark(Mark::points("", vec![1.0, 2.0], vec![3.0, 5.0]));
/// let svg = learnt_plot::to_svg(&Chart::new("Two points", "They rise.").panel(panel));
/// assert!(svg.starts_with("<svg ") && svg.contains("<title>Two points</title>"));
/// ```
pub fn to_svg(chart: &Chart) -> String {
    to_svg_in(chart, Theme::Auto)
}

/// The picture on this paper.
pub fn to_svg_in(chart: &Chart, theme: Theme) -> String {
    let page = Page::new(chart);
    let palette = Palette::new(chart);
    let mut painter = Painter::new(chart, &page, &palette);
    let mut body = String::new();
    for (panel, frame) in chart.panels.iter().zip(&page.frames) {
        draw_panel(panel, frame, &mut painter, &mut body);
    }
    let notes = chart.notes.iter().chain(&painter.notes);
    let notes: Vec<String> =
        notes.flat_map(|note| wrapped(note, 11.0, page.width - 28.0)).take(12).collect();
    let height = page.height + 14.0 * notes.len() as f64;
    let mut out = head(chart, &page, height, theme);
    draw_title_and_legend(&page, &mut out);
    out += &body;
    for (k, note) in notes.iter().enumerate() {
        let y = page.notes_top + 10.0 + 14.0 * k as f64;
        text(&mut out, (14.0, y), "m", "font-size=\"11\"", note);
    }
    out + "</svg>\n"
}

fn head(chart: &Chart, page: &Page, height: f64, theme: Theme) -> String {
    let (title, description) = (escaped(&chart.title), escaped(&chart.description));
    let (width, height) = (page.width.ceil(), height.ceil());
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lp\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" style=\"max-width:100%;height:auto\" \
         font-family=\"{FONTS}\" font-size=\"{SIZE}\" role=\"img\" aria-label=\"{title}. {description}\">\n\
         <title>{title}</title>\n<desc>{description}</desc>\n<style>{}</style>\n\
         <rect class=\"p\" width=\"{width}\" height=\"{height}\"/>\n",
        style_sheet(theme)
    )
}

fn draw_title_and_legend(page: &Page, out: &mut String) {
    for (k, line) in page.title.iter().enumerate() {
        let y = 28.0 + 20.0 * k as f64;
        text(out, (14.0, y), "t", "font-size=\"16\" font-weight=\"600\"", line);
    }
    for ((x, y), entry) in &page.legend {
        draw_entry((*x, *y), entry, out);
    }
}

fn draw_entry((x, y): (f64, f64), entry: &Entry, out: &mut String) {
    let middle = y - 4.0;
    let name_at = match &entry.key {
        Key::Dot(class) if class.is_empty() => x,
        Key::Line(class, dashed) => {
            let dash = if *dashed { " stroke-dasharray=\"5 4\"" } else { "" };
            let (a, b) = (short(x), short(middle));
            let _ = writeln!(
                out,
                "<path class=\"s{class}\" d=\"M{a} {b}h20\" stroke-width=\"2\"{dash}/>"
            );
            x + 26.0
        }
        Key::Dot(class) => {
            let (a, b) = (short(x + 10.0), short(middle));
            let _ = writeln!(out, "<circle class=\"f{class}\" cx=\"{a}\" cy=\"{b}\" r=\"4\"/>");
            x + 20.0
        }
        Key::Square(class) => {
            let (a, b) = (short(x + 2.0), short(middle - 6.0));
            let _ = writeln!(
                out,
                "<rect class=\"f{class}\" x=\"{a}\" y=\"{b}\" width=\"12\" height=\"12\" fill-opacity=\".7\"/>"
            );
            x + 20.0
        }
        Key::Values(low, high) => {
            text(out, (x, y), "m", "", low);
            let start = x + crate::text::width(low, SIZE) + 5.0;
            for k in 0..16 {
                let (a, colour) =
                    (short(start + 5.0 * f64::from(k)), hex(viridis(f64::from(k) / 15.0)));
                let _ = writeln!(
                    out,
                    "<rect x=\"{a}\" y=\"{}\" width=\"5.2\" height=\"12\" fill=\"{colour}\"/>",
                    short(middle - 6.0)
                );
            }
            text(out, (start + 85.0, y), "m", "", high);
            start + 85.0 + crate::text::width(high, SIZE) + 7.0
        }
    };
    text(out, (name_at, y), "t", "", &entry.name);
}

fn draw_panel(panel: &Panel, frame: &Frame, painter: &mut Painter, out: &mut String) {
    let (left, top) = (frame.left, frame.top);
    if !panel.title.is_empty() {
        let title = crate::text::shortened(&panel.title, 13.0, frame.width);
        text(out, (left, top - 9.0), "t", "font-size=\"13\" font-weight=\"600\"", &title);
    }
    draw_grid(panel, frame, out);
    // A picture in the picture cuts off what reaches beyond the axes.
    let numbers = [left - 5.0, top - 5.0, frame.width + 10.0, frame.height + 10.0].map(short);
    let [x, y, width, height] = &numbers;
    let _ = writeln!(
        out,
        "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" viewBox=\"{}\">",
        numbers.join(" ")
    );
    painter.draw_crowd(panel, frame, out);
    for mark in &panel.marks {
        painter.draw(mark, panel, frame, out);
    }
    *out += "</svg>\n";
    for mark in &panel.marks {
        painter.draw_texts(mark, panel, frame, out);
    }
    for (y, name, class) in &frame.labels {
        text(out, (left + frame.width + 8.0, y + 4.0), class, "", name);
    }
}

/// Grid lines, ticks, axes and their labels.
fn draw_grid(panel: &Panel, frame: &Frame, out: &mut String) {
    let (left, top, right, bottom) =
        (frame.left, frame.top, frame.left + frame.width, frame.top + frame.height);
    let mut grid = Pen::default();
    if !frame.x.is_categorical() {
        frame.x_ticks.iter().for_each(|tick| grid.stretch(&[(tick.at, top), (tick.at, bottom)]));
    }
    if !frame.y.is_categorical() {
        frame.y_ticks.iter().for_each(|tick| grid.stretch(&[(left, tick.at), (right, tick.at)]));
    }
    let grid = grid.finish();
    if !grid.is_empty() {
        let _ = writeln!(out, "<path class=\"g\" d=\"{grid}\" fill=\"none\"/>");
    }
    for tick in &frame.x_ticks {
        if frame.tilted {
            let turn = format!(
                "transform=\"rotate(-35 {} {})\" text-anchor=\"end\"",
                short(tick.at),
                short(bottom + 14.0)
            );
            text(out, (tick.at + 4.0, bottom + 14.0), "m", &turn, &tick.text);
        } else {
            text(out, (tick.at, bottom + 16.0), "m", "text-anchor=\"middle\"", &tick.text);
        }
    }
    for tick in &frame.y_ticks {
        text(out, (left - 6.0, tick.at + 4.0), "m", "text-anchor=\"end\"", &tick.text);
    }
    if !panel.x.hidden && !panel.y.hidden {
        let [l, t, b, r] = [left, top, bottom, right].map(short);
        let _ = writeln!(out, "<path class=\"sm\" d=\"M{l} {t}V{b}H{r}\" fill=\"none\"/>");
    }
    if !panel.x.hidden && !panel.x.label.is_empty() {
        let label = crate::text::shortened(&panel.x.label, SIZE, frame.width + 60.0);
        text(
            out,
            ((left + right) / 2.0, frame.x_label_at()),
            "t",
            "text-anchor=\"middle\"",
            &label,
        );
    }
    if !panel.y.hidden && !panel.y.label.is_empty() {
        let (x, y) = (frame.y_label_at(), (top + bottom) / 2.0);
        let turn =
            format!("transform=\"rotate(-90 {} {})\" text-anchor=\"middle\"", short(x), short(y));
        let label = crate::text::shortened(&panel.y.label, SIZE, frame.height + 30.0);
        text(out, (x, y), "t", &turn, &label);
    }
}

/// A line of text; `rest` are further attributes.
pub(crate) fn text(out: &mut String, (x, y): (f64, f64), class: &str, rest: &str, content: &str) {
    let space = if rest.is_empty() { "" } else { " " };
    let (x, y) = (short(x), short(y));
    let _ = writeln!(
        out,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{space}{rest}>{}</text>",
        escaped(content)
    );
}

/// Several lines of text around a height.
pub(crate) fn lines(out: &mut String, (x, y): (f64, f64), class: &str, rest: &str, content: &str) {
    let lines: Vec<&str> = content.split('\n').collect();
    let first = y - 0.5 * LINE * (lines.len() - 1) as f64 + 4.0;
    for (k, line) in lines.iter().enumerate() {
        text(out, (x, first + LINE * k as f64), class, rest, line);
    }
}
