//! Which series has which colour, and what the legend says.

use crate::axis::number;
use crate::colour::SERIES;
use learnt_core::chart::{Chart, Colour, Mark, Naming, Shape};
use std::collections::BTreeMap;

/// The colours of the series of a chart.
pub(crate) struct Palette<'a> {
    numbers: BTreeMap<&'a str, usize>,
}

/// A line of the legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub name: String,
    pub key: Key,
}

/// The sample beside a name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Key {
    /// A line, broken or not, in the colour of this class.
    Line(String, bool),
    /// A dot.
    Dot(String),
    /// A square.
    Square(String),
    /// The scale of values, between these texts.
    Values(String, String),
}

impl<'a> Palette<'a> {
    /// A number for each name that has a colour of its own, in the order of their appearance.
    pub(crate) fn new(chart: &'a Chart) -> Palette<'a> {
        let mut numbers = BTreeMap::new();
        for mark in chart.panels.iter().flat_map(|panel| &panel.marks) {
            if matches!(mark.colour, Colour::Series | Colour::Shade(_)) {
                let next = numbers.len();
                numbers.entry(mark.series.as_str()).or_insert(next);
            }
        }
        Palette { numbers }
    }

    /// The number of a mark's colour; none if it is muted.
    pub(crate) fn number(&self, mark: &Mark) -> Option<usize> {
        match mark.colour {
            Colour::Muted | Colour::Values(_) => None,
            _ => self.numbers.get(mark.series.as_str()).map(|k| k % SERIES),
        }
    }

    /// The class that ends in the colour of a mark: `f` + this fills, `s` + this strokes.
    pub(crate) fn class(&self, mark: &Mark) -> String {
        self.number(mark).map_or("m".to_string(), |k| k.to_string())
    }
}

/// What the legend says: every name once, unless it stands beside its mark.
pub(crate) fn entries(chart: &Chart, palette: &Palette) -> Vec<Entry> {
    let mut out: Vec<Entry> = Vec::new();
    let mut seen = BTreeMap::new();
    let marks = chart.panels.iter().flat_map(|panel| &panel.marks);
    for mark in marks.filter(|mark| mark.naming == Naming::Legend && !mark.series.is_empty()) {
        if seen.insert((mark.series.as_str(), palette.class(mark)), ()).is_none() {
            out.push(Entry { name: mark.series.clone(), key: key(mark, palette) });
        }
    }
    out
}

fn key(mark: &Mark, palette: &Palette) -> Key {
    let class = palette.class(mark);
    match (mark.colour, mark.shape) {
        (Colour::Values(range), _) => {
            let (low, high) = value_range(mark, range);
            Key::Values(
                number(low, Some((high - low) / 10.0)),
                number(high, Some((high - low) / 10.0)),
            )
        }
        (_, Shape::Line | Shape::Rule | Shape::Link) => Key::Line(class, mark.dashed),
        (_, Shape::Point | Shape::Text) => Key::Dot(class),
        _ => Key::Square(class),
    }
}

/// The ends of the scale of values of a mark.
pub(crate) fn value_range(mark: &Mark, range: Option<(f64, f64)>) -> (f64, f64) {
    let finite = || mark.values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = range.unwrap_or_else(|| {
        (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max))
    });
    match low < high {
        true => (low, high),
        false if low.is_finite() => (low - 0.5, low + 0.5),
        false => (0.0, 1.0),
    }
}

/// How strong each value of a shaded mark is: 0 to 1.
pub(crate) fn shade(mark: &Mark, most: Option<f64>) -> impl Fn(f64) -> f64 {
    let largest = mark.values.iter().copied().filter(|value| value.is_finite());
    let most = most.unwrap_or_else(|| largest.fold(0.0, f64::max));
    move |value| if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::chart::Panel;

    #[test]
    fn a_name_has_one_colour_in_all_panels_and_one_entry() {
        let mark = |name: &str| Mark::line(name, vec![0.0], vec![0.0]);
        let chart = Chart::new("", "")
            .panel(Panel::new("", "").mark(mark("a")).mark(mark("grey").muted()).mark(mark("b")))
            .panel(Panel::new("", "").mark(mark("b")).mark(mark("c").direct()).mark(mark("")));
        let palette = Palette::new(&chart);
        let class = |panel: usize, mark: usize| palette.class(&chart.panels[panel].marks[mark]);
        assert_eq!((class(0, 0), class(0, 1), class(0, 2)), ("0".into(), "m".into(), "1".into()));
        assert_eq!((class(1, 0), class(1, 1)), ("1".into(), "2".into()));
        let names: Vec<String> =
            entries(&chart, &palette).into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["a", "grey", "b"]);
    }
}
