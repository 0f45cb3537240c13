//! Paths of SVG in whole tenths of a pixel: exact, short and the same on every machine.

use crate::reduce::Place;
use std::fmt::Write as _;

/// A path under way.
#[derive(Default)]
pub(crate) struct Pen {
    out: String,
    at: (i64, i64),
    drawing: bool,
}

impl Pen {
    /// Lifted and set down elsewhere.
    pub(crate) fn jump(&mut self, place: Place) {
        let (x, y) = (tenths(place.0), tenths(place.1));
        if self.out.is_empty() {
            self.out.push('M');
            number(&mut self.out, x, false);
            number(&mut self.out, y, true);
        } else {
            self.out.push('m');
            number(&mut self.out, x - self.at.0, false);
            number(&mut self.out, y - self.at.1, true);
        }
        (self.at, self.drawing) = ((x, y), false);
    }

    /// A straight line to a place.
    pub(crate) fn line(&mut self, place: Place) {
        let (x, y) = (tenths(place.0), tenths(place.1));
        let (dx, dy) = (x - self.at.0, y - self.at.1);
        if dx == 0 && dy == 0 {
            return;
        }
        if !self.drawing {
            self.out.push('l');
        }
        number(&mut self.out, dx, self.drawing);
        number(&mut self.out, dy, true);
        (self.at, self.drawing) = ((x, y), true);
    }

    /// Back to where it was set down: the path is taken up again only by a jump to a place.
    pub(crate) fn close(&mut self, start: Place) {
        self.out.push('z');
        (self.at, self.drawing) = ((tenths(start.0), tenths(start.1)), false);
    }

    /// A line from a place to the right.
    pub(crate) fn dash(&mut self, place: Place, width: f64) {
        self.jump(place);
        let width = tenths(width);
        self.out.push('h');
        number(&mut self.out, width, false);
        self.at.0 += width;
    }

    /// A whole line.
    pub(crate) fn stretch(&mut self, line: &[Place]) {
        if let Some((first, rest)) = line.split_first() {
            self.jump(*first);
            rest.iter().for_each(|place| self.line(*place));
            if !self.drawing {
                self.out.push_str("h0");
            }
        }
    }

    /// A whole outline.
    pub(crate) fn outline(&mut self, line: &[Place]) {
        if let Some((first, rest)) = line.split_first() {
            self.jump(*first);
            rest.iter().for_each(|place| self.line(*place));
            self.close(*first);
        }
    }

    /// A rectangle between two corners.
    pub(crate) fn rectangle(&mut self, a: Place, b: Place) {
        self.outline(&[a, (b.0, a.1), b, (a.0, b.1)]);
    }

    /// The text of the path.
    pub(crate) fn finish(self) -> String {
        self.out
    }
}

/// A place as text, in whole tenths.
pub(crate) fn short(value: f64) -> String {
    let mut out = String::new();
    number(&mut out, tenths(value), false);
    out
}

fn tenths(value: f64) -> i64 {
    (value.clamp(-1e7, 1e7) * 10.0).round() as i64
}

fn number(out: &mut String, tenths: i64, after_number: bool) {
    if tenths < 0 {
        out.push('-');
    } else if after_number {
        out.push(' ');
    }
    let (whole, part) = (tenths.abs() / 10, tenths.abs() % 10);
    let _ = match (whole, part) {
        (whole, 0) => write!(out, "{whole}"),
        (0, part) => write!(out, ".{part}"),
        (whole, part) => write!(out, "{whole}.{part}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_and_short() {
        let mut pen = Pen::default();
        pen.stretch(&[(1.0, 2.0), (1.04, 2.0), (3.5, 1.5), (0.0, 0.0)]);
        pen.dash((5.0, 5.0), 3.0);
        assert_eq!(pen.finish(), "M1 2l2.5-.5-3.5-1.5m5 5h3");
        let mut pen = Pen::default();
        pen.rectangle((0.0, 0.0), (2.0, 1.0));
        pen.rectangle((1.0, 1.0), (2.0, 2.0));
        assert_eq!(pen.finish(), "M0 0l2 0 0 1-2 0zm1 1l1 0 0 1-1 0z");
        assert_eq!(short(f64::NAN), "0");
    }

    #[test]
    fn a_line_of_one_point_leaves_a_dot() {
        let mut pen = Pen::default();
        pen.stretch(&[(1.0, 2.0)]);
        assert_eq!(pen.finish(), "M1 2h0");
    }
}
