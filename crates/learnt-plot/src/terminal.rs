//! Charts for a terminal: braille dots, or plain characters where only those are safe.
//!
//! Each panel has its own axes; names of series stand under it. Nothing a chart's texts hold can reach
//! the terminal as a command.

use crate::axis::{Ruler, Side, Tick, lying, spacing};
use crate::reduce::{Place, stretches};
use crate::series::{Palette, shade, value_range};
use crate::text::{count, is_unprintable};
use learnt_core::chart::{Chart, Colour, Mark, Naming, Panel, Shape};
use std::collections::BTreeSet;

/// Escape codes of the colours of series; muted is bright black.
const CODES: [&str; 7] = ["34", "33", "32", "35", "36", "94", "95"];
const MUTED: &str = "90";
/// What dots of the series are where braille is not safe.
const LETTERS: [char; 7] = ['*', 'o', '+', 'x', '#', '@', '%'];

/// The chart as lines of text. Each panel's plotting area has `height` lines; `unicode` allows braille
/// and box characters, `colour` escape codes.
pub fn to_terminal(
    chart: &Chart,
    width: usize,
    height: usize,
    unicode: bool,
    colour: bool,
) -> String {
    let (width, height) = (width.clamp(24, 400), height.clamp(4, 200));
    let palette = Palette::new(chart);
    let style = Style { unicode, colour };
    let mut out = String::new();
    if !chart.title.is_empty() {
        out += &style.line(&chart.title, width);
    }
    for panel in &chart.panels {
        if !panel.title.is_empty() {
            out += &style.line(&format!(" {}", panel.title), width);
        }
        draw_panel(panel, &palette, (width, height), style, &mut out);
    }
    out += &legend(chart, &palette, width, style);
    for note in &chart.notes {
        out += &style.line(note, 4 * width);
    }
    out
}

#[derive(Clone, Copy)]
struct Style {
    unicode: bool,
    colour: bool,
}

impl Style {
    /// Text without anything a terminal would obey.
    fn safe(self, text: &str) -> String {
        let mut out = String::new();
        for c in text.chars() {
            match c {
                '\n' => out.push_str("; "),
                c if is_unprintable(c) => out.push(' '),
                c if self.unicode || c.is_ascii() => out.push(c),
                '−' | '–' => out.push('-'),
                '…' => out.push('~'),
                '≤' => out.push_str("<="),
                '≥' => out.push_str(">="),
                '²' => out.push('2'),
                _ => out.push('?'),
            }
        }
        out
    }

    fn line(self, text: &str, width: usize) -> String {
        cut(&self.safe(text), width) + "\n"
    }

    fn painted(self, text: &str, code: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_string() }
    }
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    text.chars().take(width.saturating_sub(1)).chain(['~']).collect()
}

/// Dots and characters of a plotting area.
struct Canvas {
    columns: usize,
    rows: usize,
    /// Dots of a character, across and down.
    fine: (usize, usize),
    dots: Vec<u8>,
    colours: Vec<Option<usize>>,
    letters: Vec<Option<char>>,
}

impl Canvas {
    fn new(columns: usize, rows: usize, unicode: bool) -> Canvas {
        let n = columns * rows;
        let fine = if unicode { (2, 4) } else { (1, 1) };
        Canvas {
            columns,
            rows,
            fine,
            dots: vec![0; n],
            colours: vec![None; n],
            letters: vec![None; n],
        }
    }

    fn width(&self) -> f64 {
        (self.columns * self.fine.0) as f64
    }

    fn height(&self) -> f64 {
        (self.rows * self.fine.1) as f64
    }

    fn dot(&mut self, (x, y): Place, colour: Option<usize>) {
        if !(x >= 0.0 && y >= 0.0 && x < self.width() && y < self.height()) {
            return;
        }
        let (x, y) = (x as usize, y as usize);
        let slot = y / self.fine.1 * self.columns + x / self.fine.0;
        // Dots of braille are numbered down the left, down the right, then the lowest two.
        const BITS: [[u8; 4]; 2] = [[0, 1, 2, 6], [3, 4, 5, 7]];
        self.dots[slot] |= 1 << BITS[x % self.fine.0][y % self.fine.1];
        if colour.is_some() || self.colours[slot].is_none() {
            self.colours[slot] = colour;
        }
    }

    /// Every `step`-th dot of a straight line.
    fn line(&mut self, a: Place, b: Place, step: usize, colour: Option<usize>) {
        let reach = (b.0 - a.0).abs().max((b.1 - a.1).abs());
        let steps = reach.ceil().clamp(1.0, 20_000.0) as usize;
        for k in (0..=steps).step_by(step) {
            let part = k as f64 / steps as f64;
            self.dot((a.0 + part * (b.0 - a.0), a.1 + part * (b.1 - a.1)), colour);
        }
    }

    /// Every `step`-th dot between two corners.
    fn fill(&mut self, a: Place, b: Place, step: usize, colour: Option<usize>) {
        let (left, right) =
            (a.0.min(b.0).max(0.0) as usize, a.0.max(b.0).min(self.width()) as usize);
        let (top, bottom) =
            (a.1.min(b.1).max(0.0) as usize, a.1.max(b.1).min(self.height()) as usize);
        for x in left..=right {
            for y in (top..=bottom).filter(|y| (x + y) % step == 0) {
                self.dot((x as f64, y as f64), colour);
            }
        }
    }

    /// A text around a place.
    fn text(&mut self, (x, y): Place, text: &str) {
        let row = y / self.fine.1 as f64;
        if !(row >= 0.0 && row < self.rows as f64) {
            return;
        }
        let length = text.chars().count() as f64;
        let start = (x / self.fine.0 as f64 - length / 2.0)
            .round()
            .clamp(0.0, (self.columns as f64 - length).max(0.0));
        for (k, letter) in text.chars().enumerate() {
            let column = start as usize + k;
            if column < self.columns {
                self.letters[row as usize * self.columns + column] = Some(letter);
            }
        }
    }

    fn row(&self, i: usize, style: Style) -> String {
        let mut out = String::new();
        for slot in i * self.columns..(i + 1) * self.columns {
            if let Some(letter) = self.letters[slot] {
                out.push(letter);
                continue;
            }
            let letter = match (self.dots[slot], style.unicode) {
                (0, _) => ' ',
                (dots, true) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or('?'),
                (_, false) => self.colours[slot].map_or('.', |k| LETTERS[k % LETTERS.len()]),
            };
            let code = self.colours[slot].map_or(MUTED, |k| CODES[k % CODES.len()]);
            match letter {
                ' ' => out.push(' '),
                letter => out += &style.painted(&letter.to_string(), code),
            }
        }
        out
    }
}

fn draw_panel(
    panel: &Panel,
    palette: &Palette,
    (width, height): (usize, usize),
    style: Style,
    out: &mut String,
) {
    let probe = Ruler::new(panel, Side::Y, height as f64, 0.0);
    let most = if probe.is_categorical() { height } else { height / 4 };
    let texts: Vec<String> = match panel.y.hidden {
        true => Vec::new(),
        false => {
            probe.ticks(most).iter().map(|tick| cut(&style.safe(&tick.text), width / 3)).collect()
        }
    };
    let margin = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0) + 1;
    let mut canvas = Canvas::new(width - margin - 1, height, style.unicode);
    let (x, y) = (
        Ruler::new(panel, Side::X, 0.0, canvas.width() - 0.01),
        Ruler::new(panel, Side::Y, canvas.height() - 0.01, 0.0),
    );
    for mark in &panel.marks {
        draw_mark(mark, panel, palette, (&x, &y), style, &mut canvas);
    }
    if !panel.y.label.is_empty() && !panel.y.hidden {
        *out += &style.line(&format!(" {}", panel.y.label), width);
    }
    let ticks: Vec<Tick> = if panel.y.hidden { Vec::new() } else { y.ticks(most) };
    let (upright, corner, across) =
        if style.unicode { ('│', '└', '─') } else { ('|', '+', '-') };
    for i in 0..height {
        let here = |tick: &&Tick| (tick.at / canvas.fine.1 as f64) as usize == i;
        let text = ticks
            .iter()
            .find(here)
            .map_or(String::new(), |tick| cut(&style.safe(&tick.text), width / 3));
        let bar = if panel.y.hidden { ' ' } else { upright };
        let line = format!("{text:>margin$}{bar}{}", canvas.row(i, style));
        *out += line.trim_end();
        out.push('\n');
    }
    if !panel.x.hidden {
        *out +=
            &format!("{:>margin$}{corner}{}\n", "", String::from(across).repeat(canvas.columns));
        *out += &tick_line(&x, &canvas, margin, width, style);
        if !panel.x.label.is_empty() {
            let label = cut(&style.safe(&panel.x.label), width);
            let indent = margin + 1 + canvas.columns.saturating_sub(label.chars().count()) / 2;
            *out += &format!("{:indent$}{label}\n", "");
        }
    }
}

/// Texts under the horizontal axis, as many as do not touch.
fn tick_line(x: &Ruler, canvas: &Canvas, margin: usize, width: usize, style: Style) -> String {
    let most = if x.is_categorical() { canvas.columns / 3 } else { canvas.columns / 10 };
    let mut line: Vec<char> = vec![' '; width];
    let mut free = 0;
    for tick in x.ticks(most) {
        let text = cut(&style.safe(&tick.text), 18);
        let length = text.chars().count();
        let middle = margin + 1 + (tick.at / canvas.fine.0 as f64) as usize;
        let start = (middle.saturating_sub(length / 2)).min(width.saturating_sub(length));
        if start < free {
            continue;
        }
        for (k, letter) in text.chars().enumerate().filter(|(k, _)| start + k < width) {
            line[start + k] = letter;
        }
        free = start + length + 1;
    }
    let line: String = line.into_iter().collect();
    format!("{}\n", line.trim_end())
}

fn draw_mark(
    mark: &Mark,
    panel: &Panel,
    palette: &Palette,
    (x, y): (&Ruler, &Ruler),
    style: Style,
    canvas: &mut Canvas,
) {
    let colour = palette.number(mark);
    let place = |a: f64, b: f64| x.place(a).zip(y.place(b));
    let places = || mark.x.iter().zip(&mark.y).map(|(a, b)| place(*a, *b));
    let step = if mark.dashed { 3 } else { 1 };
    match mark.shape {
        Shape::Line => {
            for line in stretches(places()) {
                line.windows(2).for_each(|pair| canvas.line(pair[0], pair[1], step, colour));
                line.first().into_iter().for_each(|only| canvas.dot(*only, colour));
            }
        }
        Shape::Polygon => {
            for line in stretches(places()) {
                let next = line.iter().cycle().skip(1);
                line.iter().zip(next).for_each(|(a, b)| canvas.line(*a, *b, 1, colour));
            }
        }
        Shape::Point => places().flatten().for_each(|at| canvas.dot(at, colour)),
        Shape::Area | Shape::Band => {
            let floor = y.floor();
            for i in 0..mark.x.len().min(mark.y.len()) {
                let other = match mark.shape {
                    Shape::Band => mark.y2.get(i).and_then(|two| y.place(*two)),
                    _ => Some(floor),
                };
                if let (Some(a), Some(b)) = (place(mark.x[i], mark.y[i]), other) {
                    canvas.line(a, (a.0, b), 2, colour);
                }
            }
        }
        Shape::Bar => draw_bars(mark, panel, (x, y), colour, canvas),
        Shape::Rule => {
            let (right, bottom) = (canvas.width() - 1.0, canvas.height() - 1.0);
            if mark.y.is_empty() {
                let at: BTreeSet<i64> =
                    mark.x.iter().filter_map(|a| x.place(*a)).map(|a| a as i64).collect();
                at.into_iter()
                    .for_each(|a| canvas.line((a as f64, 0.0), (a as f64, bottom), 2, colour));
            } else {
                let at: BTreeSet<i64> =
                    mark.y.iter().filter_map(|b| y.place(*b)).map(|b| b as i64).collect();
                at.into_iter()
                    .for_each(|b| canvas.line((0.0, b as f64), (right, b as f64), 2, colour));
            }
        }
        Shape::Cell => draw_cells(mark, (x, y), style, canvas),
        Shape::Text => {}
        Shape::Link => {
            let ends = mark.x2.iter().zip(&mark.y2).map(|(a, b)| place(*a, *b));
            for (a, b) in places().zip(ends) {
                if let (Some(a), Some(b)) = (a, b) {
                    canvas.line(a, b, step, colour);
                }
            }
        }
    }
    if matches!(mark.shape, Shape::Text | Shape::Cell) {
        for (at, label) in places().zip(&mark.labels).take(2000) {
            if let Some((a, b)) = at.filter(|_| !label.is_empty()) {
                for (k, line) in label.split('\n').enumerate() {
                    canvas.text((a, b + (k * canvas.fine.1) as f64), &style.safe(line));
                }
            }
        }
    }
}

fn draw_bars(
    mark: &Mark,
    panel: &Panel,
    (x, y): (&Ruler, &Ruler),
    colour: Option<usize>,
    canvas: &mut Canvas,
) {
    let lie = lying(panel);
    let (along, across) = if lie { (y, x) } else { (x, y) };
    let (at, to, from) =
        if lie { (&mark.y, &mark.x, &mark.x2) } else { (&mark.x, &mark.y, &mark.y2) };
    let half = 0.36 * spacing(at);
    for i in 0..at.len().min(to.len()) {
        let sides = along.place(at[i] - half).zip(along.place(at[i] + half));
        let start = from.get(i).map_or(Some(across.floor()), |from| across.place(*from));
        if let (Some((one, two)), Some(start), Some(end)) = (sides, start, across.place(to[i])) {
            match lie {
                true => canvas.fill((start, one), (end, two), 1, colour),
                false => canvas.fill((one, start), (two, end), 1, colour),
            }
        }
    }
}

/// Cells as shades of a block.
fn draw_cells(mark: &Mark, (x, y): (&Ruler, &Ruler), style: Style, canvas: &mut Canvas) {
    let shades: [char; 5] =
        if style.unicode { [' ', '░', '▒', '▓', '█'] } else { [' ', '.', ':', '+', '#'] };
    let share: Box<dyn Fn(f64) -> f64> = match mark.colour {
        Colour::Shade(most) => Box::new(shade(mark, most)),
        Colour::Values(range) => {
            let (low, high) = value_range(mark, range);
            Box::new(move |value| (value - low) / (high - low))
        }
        _ => Box::new(|_| 1.0),
    };
    let ends =
        |at: f64, other: Option<&f64>| other.map_or((at - 0.5, at + 0.5), |other| (at, *other));
    for i in 0..mark.x.len().min(mark.y.len()) {
        let ((a, b), (c, d)) = (ends(mark.x[i], mark.x2.get(i)), ends(mark.y[i], mark.y2.get(i)));
        let corners = x.place(a).zip(x.place(b)).zip(y.place(c).zip(y.place(d)));
        let Some(((a, b), (c, d))) = corners else { continue };
        let value = mark.values.get(i).copied().unwrap_or(f64::NAN);
        let level = if value.is_finite() {
            (share(value).clamp(0.0, 1.0) * 4.0).round() as usize
        } else {
            0
        };
        let slots = |low: f64, high: f64, fine: usize, most: usize| {
            let start = (low.min(high) / fine as f64).round().max(0.0) as usize;
            start..((low.max(high) / fine as f64).round().max(0.0) as usize).min(most)
        };
        for row in slots(c, d, canvas.fine.1, canvas.rows) {
            for column in slots(a, b, canvas.fine.0, canvas.columns) {
                canvas.letters[row * canvas.columns + column] = Some(shades[level]);
            }
        }
    }
}

/// Names of the series with their sign, as many as fit into three lines.
fn legend(chart: &Chart, palette: &Palette, width: usize, style: Style) -> String {
    let mut seen = BTreeSet::new();
    let named: Vec<&Mark> = chart
        .panels
        .iter()
        .flat_map(|panel| &panel.marks)
        .filter(|mark| mark.naming != Naming::Hidden && !mark.series.is_empty())
        .filter(|mark| seen.insert((mark.series.as_str(), palette.number(mark))))
        .collect();
    let (mut out, mut used, mut lines) = (String::new(), 0, 0);
    for (k, mark) in named.iter().enumerate() {
        let name = cut(&style.safe(&mark.series), 30);
        let length = name.chars().count() + 5;
        if used > 0 && used + length > width {
            if lines == 2 {
                out += &format!("  and {} more", count(named.len() - k));
                break;
            }
            out.push('\n');
            (used, lines) = (0, lines + 1);
        }
        let (sign, code) = match palette.number(mark) {
            Some(k) if style.unicode => ("⠤⠤".to_string(), CODES[k % CODES.len()]),
            Some(k) => (LETTERS[k % LETTERS.len()].to_string().repeat(2), CODES[k % CODES.len()]),
            None => ("..".to_string(), MUTED),
        };
        out += &format!(" {} {name} ", style.painted(&sign, code));
        used += length;
    }
    if out.is_empty() { out } else { out + "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Chart {
        let x: Vec<f64> = (0..50).map(f64::from).collect();
        let panel = Panel::new("time", "height")
            .mark(Mark::line("up", x.clone(), x))
            .mark(Mark::horizontal("half", vec![25.0]));
        Chart::new("A line", "").panel(panel)
    }

    #[test]
    fn a_rising_line_goes_from_the_lower_left_to_the_upper_right() {
        let text = to_terminal(&line(), 60, 12, false, false);
        let rows: Vec<&str> = text.lines().filter(|row| row.contains('|')).collect();
        assert_eq!(rows.len(), 12);
        let first = rows.iter().find_map(|row| row.find('*')).unwrap();
        let last = rows.iter().rev().find_map(|row| row.find('*')).unwrap();
        assert!(first > 50 && last < 10, "{text}");
        assert!(text.is_ascii() && text.contains("** up") && text.contains("time"));
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    }

    #[test]
    fn braille_and_colours_only_when_allowed() {
        let text = to_terminal(&line(), 60, 12, true, false);
        assert!(text.contains('⠤') && !text.contains('\u{1b}'));
        assert!(to_terminal(&line(), 60, 12, true, true).contains("\u{1b}[34m"));
    }

    #[test]
    fn texts_cannot_command_the_terminal() {
        let mut chart = line();
        chart.title = "\u{1b}]0;owned\u{7}".to_string();
        chart.panels[0].marks[0].series = "\u{1b}[2J\r".to_string();
        chart.panels[0].marks.push(Mark::texts(vec![1.0], vec![1.0], vec!["\u{1b}c".to_string()]));
        let text = to_terminal(&chart, 60, 12, true, false);
        assert!(!text.contains(['\u{1b}', '\u{7}', '\r']));
    }

    #[test]
    fn cells_show_their_texts() {
        let names = vec!["yes".to_string(), "no".to_string()];
        let cells = Mark::cells("", vec![0.0, 1.0], vec![0.0, 1.0], vec![3.0, 7.0]);
        let panel = Panel::new("p", "a").categories_x(names.clone()).categories_y(names);
        let chart =
            Chart::new("", "").panel(panel.mark(cells.labels(vec!["3".into(), "7".into()])));
        let text = to_terminal(&chart, 40, 8, false, false);
        assert!(text.find('3') < text.find('7') && text.contains("yes"), "{text}");
    }
}
