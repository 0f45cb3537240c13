//! Figures: named series of points with axes, as JSON for programs and SVG for people.
//!
//! Lines are labelled at their ends, in the order of their last values, and labels never overlap.
//! Ticks are 1, 2 or 5 times a power of ten; on a logarithmic axis, powers of ten. Points that are
//! not finite leave a gap.

use crate::answer::finite;
use serde_json::{Value as Json, json};
use std::fmt::Write as _;

/// A chart of one or more series over common axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series, drawn in this order.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What its numbers are.
    pub label: String,
    /// Whether equal distances are equal ratios; values at or below zero are left out.
    pub logarithmic: bool,
}

/// Points in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
    /// Whether they are dots instead of a line.
    pub dots: bool,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 56.0;
const LINE_HEIGHT: f64 = 14.0;
/// More series than this have no labels of their own.
const MOST_LABELS: usize = 26;
/// Okabe and Ito (2008): told apart with every kind of colour vision.
const COLORS: [&str; 8] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A900"];

/// Where the values of an axis lie on the page.
struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    logarithmic: bool,
}

impl Scale {
    fn new(axis: &Axis, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Scale {
        let logarithmic = axis.logarithmic;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.map(|value| if logarithmic { value.log10() } else { value }) {
            if value.is_finite() {
                (low, high) = (low.min(value), high.max(value));
            }
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if high - low <= 1e-12 * high.abs().max(low.abs()) {
            (low, high) = (low - 0.5, high + 0.5);
        }
        let margin = 0.04 * (high - low);
        Scale { low: low - margin, high: high + margin, start, end, logarithmic }
    }

    /// The place of a value, if it has one.
    fn place(&self, value: f64) -> Option<f64> {
        let value = if self.logarithmic { value.log10() } else { value };
        let share = (value - self.low) / (self.high - self.low);
        share.is_finite().then_some(self.start + share * (self.end - self.start))
    }

    /// Values to mark.
    fn ticks(&self) -> Vec<f64> {
        let step = if self.logarithmic {
            ((self.high - self.low) / 7.0).ceil().max(1.0)
        } else {
            round_step((self.high - self.low) / 6.0)
        };
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        let value = |i: i64| i as f64 * step;
        (first..=last.min(first + 20))
            .map(|i| if self.logarithmic { 10_f64.powf(value(i)) } else { value(i) })
            .collect()
    }
}

/// 1, 2 or 5 times a power of ten, not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= least);
    factor.unwrap_or(10.0) * power
}

impl Figure {
    /// The series as data.
    pub fn to_json(&self) -> Json {
        let axis = |axis: &Axis| json!({ "label": axis.label, "logarithmic": axis.logarithmic });
        let series: Vec<Json> = self
            .series
            .iter()
            .map(|series| {
                let column = |pick: fn(&(f64, f64)) -> f64| -> Vec<Json> {
                    series.points.iter().map(|point| finite(pick(point))).collect()
                };
                json!({ "name": series.name, "x": column(|p| p.0), "y": column(|p| p.1) })
            })
            .collect();
        json!({ "title": self.title, "x": axis(&self.x), "y": axis(&self.y), "series": series })
    }

    /// A picture that needs nothing beside itself.
    pub fn to_svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Scale::new(&self.x, points().map(|p| p.0), LEFT, WIDTH - RIGHT);
        let y = Scale::new(&self.y, points().map(|p| p.1), HEIGHT - BOTTOM, TOP);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>{0}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{0}</text>\n",
            escaped(&self.title)
        );
        self.draw_axes(&x, &y, &mut out);
        for (k, series) in self.series.iter().enumerate() {
            series.draw(COLORS[k % COLORS.len()], &x, &y, &mut out);
        }
        self.draw_labels(&x, &y, &mut out);
        out + "</svg>\n"
    }

    fn draw_axes(&self, x: &Scale, y: &Scale, out: &mut String) {
        let (floor, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        for tick in x.ticks() {
            let Some(at) = x.place(tick) else { continue };
            let _ = writeln!(
                out,
                "<path d=\"M{at:.1} {TOP}V{floor}\" stroke=\"#ddd\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                floor + 18.0,
                tick_text(tick)
            );
        }
        for tick in y.ticks() {
            let Some(at) = y.place(tick) else { continue };
            let _ = writeln!(
                out,
                "<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                at + 4.0,
                tick_text(tick)
            );
        }
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {TOP}V{floor}H{right}\" fill=\"none\" stroke=\"#444\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(18 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            (LEFT + right) / 2.0,
            HEIGHT - 14.0,
            escaped(&self.x.label),
            (TOP + floor) / 2.0,
            escaped(&self.y.label)
        );
    }

    /// Names beside the ends of the lines, pushed apart.
    fn draw_labels(&self, x: &Scale, y: &Scale, out: &mut String) {
        if self.series.len() > MOST_LABELS {
            return;
        }
        let mut labels: Vec<(f64, usize)> = Vec::new();
        for (k, series) in self.series.iter().enumerate() {
            let last = series.points.iter().rev().find_map(|&(a, b)| x.place(a).and(y.place(b)));
            labels.extend(last.map(|at| (at, k)));
        }
        labels.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for i in 1..labels.len() {
            labels[i].0 = labels[i].0.max(labels[i - 1].0 + LINE_HEIGHT);
        }
        let mut ceiling = HEIGHT - BOTTOM;
        for label in labels.iter_mut().rev() {
            label.0 = label.0.min(ceiling);
            ceiling = label.0 - LINE_HEIGHT;
        }
        for (at, k) in labels {
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{}\">{}</text>",
                WIDTH - RIGHT + 8.0,
                at + 4.0,
                COLORS[k % COLORS.len()],
                escaped(&shortened(&self.series[k].name))
            );
        }
    }
}

impl Series {
    fn draw(&self, color: &str, x: &Scale, y: &Scale, out: &mut String) {
        let places = self.points.iter().map(|&(a, b)| x.place(a).zip(y.place(b)));
        if self.dots {
            for (a, b) in places.flatten() {
                let _ = writeln!(
                    out,
                    "<circle cx=\"{a:.1}\" cy=\"{b:.1}\" r=\"2.5\" fill=\"{color}\"/>"
                );
            }
            return;
        }
        let (mut path, mut pen_is_down) = (String::new(), false);
        for place in places {
            if let Some((a, b)) = place {
                let _ = write!(path, "{}{a:.1} {b:.1}", if pen_is_down { 'L' } else { 'M' });
            }
            pen_is_down = place.is_some();
        }
        let _ = writeln!(
            out,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\"/>"
        );
    }
}

fn tick_text(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_string(),
        size if (1e-3..1e5).contains(&size) => format!("{}", (value * 1e9).round() / 1e9),
        _ => format!("{value:.0e}"),
    }
}

fn shortened(name: &str) -> String {
    const MOST: usize = 20;
    match name.chars().count() > MOST {
        true => name.chars().take(MOST - 1).chain(['…']).collect(),
        false => name.to_string(),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(points: Vec<(f64, f64)>) -> Figure {
        let series = Series { name: "a<b".to_string(), points, dots: false };
        Figure { title: "t".to_string(), series: vec![series], ..Figure::default() }
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let scale = Scale::new(&Axis::default(), [0.0, 9.7].into_iter(), 0.0, 1.0);
        assert_eq!(scale.ticks(), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        let axis = Axis { logarithmic: true, ..Axis::default() };
        let scale = Scale::new(&axis, [0.001, 1000.0, -1.0].into_iter(), 0.0, 1.0);
        assert_eq!(scale.ticks().len(), 7);
    }

    #[test]
    fn a_point_that_is_not_finite_leaves_a_gap() {
        let svg = figure(vec![(0.0, 0.0), (1.0, 1.0), (2.0, f64::NAN), (3.0, 1.0)]).to_svg();
        let line = svg.lines().find(|line| line.contains("stroke-width")).unwrap();
        assert_eq!(line.matches('M').count(), 2);
    }

    #[test]
    fn names_are_escaped_and_empty_figures_are_drawn() {
        assert!(figure(vec![(0.0, 1.0)]).to_svg().contains("a&lt;b"));
        assert!(figure(Vec::new()).to_svg().ends_with("</svg>\n"));
        assert!(figure(vec![(f64::INFINITY, f64::MAX), (1.0, -f64::MAX)]).to_svg().contains("svg"));
    }

    #[test]
    fn labels_stand_apart() {
        let series = |k: usize| Series {
            name: format!("s{k}"),
            points: vec![(0.0, 0.0), (1.0, 1.0)],
            dots: false,
        };
        let svg = Figure { series: (0..10).map(series).collect(), ..Figure::default() }.to_svg();
        let mut heights: Vec<f64> = svg
            .lines()
            .filter(|line| line.contains(">s"))
            .map(|line| {
                line.split("y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
            })
            .collect();
        heights.sort_by(f64::total_cmp);
        assert_eq!(heights.len(), 10);
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= LINE_HEIGHT - 0.11));
    }
}
