//! From values to places: domains, ticks and their texts.
//!
//! Ticks are 1, 2 or 5 times a power of ten. A logarithmic axis has powers of ten, with 2 and 5 times
//! between them where it is short; names of categories are thinned out where they do not fit.

use learnt_core::chart::{Axis, Mark, Panel, Scale, Shape};

/// Values further out are left out, so that differences of two stay finite.
const FARTHEST: f64 = 1e300;

/// An axis with its domain, on the way from values to a stretch of the page.
#[derive(Clone, Debug)]
pub(crate) struct Ruler {
    /// Ends of the domain, in logarithms where the axis is logarithmic.
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    logarithmic: bool,
    categories: Vec<String>,
}

/// A value to mark and its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub at: f64,
    pub text: String,
}

/// Which axis of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    X,
    Y,
}

impl Ruler {
    /// The axis of a panel between two places of the page. Vertical axes of categories run down.
    pub(crate) fn new(panel: &Panel, side: Side, start: f64, end: f64) -> Ruler {
        let axis = match side {
            Side::X => &panel.x,
            Side::Y => &panel.y,
        };
        let logarithmic = axis.scale == Scale::Log;
        let (start, end) = if axis.reversed { (end, start) } else { (start, end) };
        let mut ruler = Ruler { low: 0.0, high: 1.0, start, end, logarithmic, categories: vec![] };
        if let Scale::Categories(names) = &axis.scale {
            (ruler.low, ruler.high) = (-0.5, names.len().max(1) as f64 - 0.5);
            ruler.categories.clone_from(names);
            if side == Side::Y {
                (ruler.start, ruler.end) = (end, start);
            }
            return ruler;
        }
        (ruler.low, ruler.high) = domain(axis, panel, side);
        ruler
    }

    /// The place of a value, if it has one.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        let value = if self.logarithmic { value.log10() } else { value };
        if value.is_nan() || value.abs() > FARTHEST {
            return None;
        }
        let share = (value - self.low) / (self.high - self.low);
        share.is_finite().then_some(self.start + share * (self.end - self.start))
    }

    /// Moved along the page.
    pub(crate) fn shift(&mut self, by: f64) {
        self.start += by;
        self.end += by;
    }

    /// Where bars and areas start: zero, or the end of the axis next to it.
    pub(crate) fn floor(&self) -> f64 {
        let zero = if self.logarithmic { self.low } else { 0.0_f64.clamp(self.low, self.high) };
        let share = (zero - self.low) / (self.high - self.low);
        self.start + share * (self.end - self.start)
    }

    /// Whether its values are names.
    pub(crate) fn is_categorical(&self) -> bool {
        !self.categories.is_empty()
    }

    /// At most about `most` ticks, with places on the page.
    pub(crate) fn ticks(&self, most: usize) -> Vec<Tick> {
        let most = most.max(2);
        if self.is_categorical() {
            let step = self.categories.len().div_ceil(most).max(1);
            let names = self.categories.iter().enumerate().step_by(step);
            return names.filter_map(|(k, name)| self.tick(k as f64, name.clone())).collect();
        }
        let (low, high) = match self.logarithmic {
            true => (10_f64.powf(self.low), 10_f64.powf(self.high)),
            false => (self.low, self.high),
        };
        let (values, step) = match self.logarithmic && self.high - self.low > 0.9 {
            true => (log_ticks(self.low, self.high, most), None),
            false => {
                let step = round_step((high - low) / most as f64);
                (multiples(low, high, step), Some(step))
            }
        };
        values.into_iter().filter_map(|value| self.tick(value, number(value, step))).collect()
    }

    fn tick(&self, value: f64, text: String) -> Option<Tick> {
        let at = self.place(value)?;
        let (first, last) = (self.start.min(self.end), self.start.max(self.end));
        (at >= first - 0.01 && at <= last + 0.01).then_some(Tick { at, text })
    }
}

/// The range of the values of a panel's marks on one axis, with a margin where it may have one.
fn domain(axis: &Axis, panel: &Panel, side: Side) -> (f64, f64) {
    let logarithmic = axis.scale == Scale::Log;
    let ends =
        |low: f64, high: f64| if logarithmic { (low.log10(), high.log10()) } else { (low, high) };
    if let Some((low, high)) = axis.range {
        let (low, high) = ends(low, high);
        if low.is_finite() && high.is_finite() && low < high {
            return (low, high);
        }
    }
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut from_zero = false;
    for mark in &panel.marks {
        let (columns, pad) = extent(mark, side, panel);
        for value in columns.into_iter().flatten() {
            if value.abs() <= FARTHEST && (!logarithmic || *value > 0.0) {
                (low, high) = (low.min(value - pad), high.max(value + pad));
            }
        }
        from_zero |= !logarithmic && starts_at_zero(mark, side, panel);
    }
    if from_zero {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    if low > high {
        return (0.0, 1.0);
    }
    let (low, high) = ends(low, high);
    let width = high - low;
    if width <= 1e-12 * high.abs().max(low.abs()) {
        let half = if logarithmic { 0.5 } else { (0.05 * high.abs()).max(0.5) };
        return (low - half, high + half);
    }
    let snug = panel.marks.iter().any(|mark| mark.shape == Shape::Cell);
    let labelled = |mark: &Mark| mark.shape == Shape::Bar && !mark.labels.is_empty();
    let labelled = from_zero && panel.marks.iter().any(labelled);
    let margin = if snug {
        0.0
    } else if labelled {
        0.12 * width
    } else {
        0.04 * width
    };
    let at_zero = |end: f64| from_zero && end == 0.0;
    (
        if at_zero(low) { low } else { low - margin },
        if at_zero(high) { high } else { high + margin },
    )
}

/// The columns of a mark on one axis, and how far it reaches beyond their values.
fn extent<'a>(mark: &'a Mark, side: Side, panel: &Panel) -> ([&'a [f64]; 2], f64) {
    let (one, two) = match side {
        Side::X => (&mark.x, &mark.x2),
        Side::Y => (&mark.y, &mark.y2),
    };
    let along_bars = (side == Side::Y) == lying(panel);
    let pad = match mark.shape {
        Shape::Cell if two.is_empty() => 0.5,
        Shape::Bar if along_bars => 0.5 * spacing(one),
        _ => 0.0,
    };
    ([one, two], pad)
}

/// Whether bars of this panel lie.
pub(crate) fn lying(panel: &Panel) -> bool {
    let names = |axis: &Axis| matches!(axis.scale, Scale::Categories(_));
    names(&panel.y) && !names(&panel.x)
}

/// The least distance between neighbouring values: how wide bars may be.
pub(crate) fn spacing(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| x.abs() <= FARTHEST).collect();
    sorted.sort_by(f64::total_cmp);
    let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0);
    let least = gaps.fold(f64::INFINITY, f64::min);
    if least.is_finite() { least } else { 1.0 }
}

fn starts_at_zero(mark: &Mark, side: Side, panel: &Panel) -> bool {
    match mark.shape {
        Shape::Area => side == Side::Y,
        Shape::Bar => match lying(panel) {
            true => side == Side::X && mark.x2.is_empty(),
            false => side == Side::Y && mark.y2.is_empty(),
        },
        _ => false,
    }
}

/// 1, 2 or 5 times a power of ten, not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let factor =
        [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= least * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    if !(step > 0.0 && first.is_finite() && last - first < 200.0) {
        return Vec::new();
    }
    (0..=(last - first) as usize).map(|i| (first + i as f64) * step).collect()
}

/// Powers of ten, or 1, 2 and 5 times them where there is room.
fn log_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let decades = high - low;
    let step = (decades / most as f64).ceil().max(1.0);
    let factors: &[f64] = if 2.5 * decades <= most as f64 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let first = (low / step).floor() as i64;
    let last = (high / step).ceil() as i64;
    let mut out = Vec::new();
    for i in first..=last.min(first + 400) {
        let power = 10_f64.powi((i as f64 * step) as i32);
        out.extend(factors.iter().map(|factor| factor * power));
    }
    out
}

/// A number as short as its neighbours a step away allow.
pub(crate) fn number(value: f64, step: Option<f64>) -> String {
    let size = value.abs();
    let step = step.unwrap_or(size);
    if size < step * 1e-6 || size == 0.0 {
        return "0".to_string();
    }
    if (1e-4..1e6).contains(&size.max(step)) {
        let decimals = (-step.log10().floor()).clamp(0.0, 10.0) as usize;
        return minus(&format!("{value:.decimals$}"));
    }
    let power = size.max(step).log10().floor();
    let mantissa = value / 10_f64.powf(power);
    let decimals = (power - step.log10().floor()).clamp(0.0, 6.0) as usize;
    minus(&format!("{mantissa:.decimals$}e{power}"))
}

/// With a true minus sign before the number.
fn minus(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) => format!("−{rest}"),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(panel: &Panel, side: Side, most: usize) -> Vec<String> {
        let ruler = Ruler::new(panel, side, 0.0, 100.0);
        ruler.ticks(most).into_iter().map(|tick| tick.text).collect()
    }

    fn of(values: Vec<f64>) -> Panel {
        Panel::new("", "").mark(Mark::points("", values.clone(), values))
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(texts(&of(vec![0.0, 9.7]), Side::X, 6), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(&of(vec![-0.31, 0.3]), Side::X, 4), ["−0.2", "0", "0.2"]);
        assert_eq!(texts(&of(vec![1e9, 3e9]), Side::X, 3), ["1e9", "2e9", "3e9"]);
        assert_eq!(texts(&of(vec![1e-9, 3e-9]), Side::X, 3), ["1e-9", "2e-9", "3e-9"]);
        assert_eq!(texts(&of(vec![1.5e6, 3e6]), Side::X, 4), ["1.5e6", "2.0e6", "2.5e6", "3.0e6"]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten_or_finer_on_short_axes() {
        let wide = of(vec![0.001, 1000.0, -1.0, 0.0]).log_x();
        assert_eq!(texts(&wide, Side::X, 7), ["0.001", "0.01", "0.1", "1", "10", "100", "1000"]);
        let short = of(vec![1.0, 90.0]).log_x();
        assert_eq!(texts(&short, Side::X, 6), ["1", "2", "5", "10", "20", "50", "100"]);
        let shorter = of(vec![2.0, 3.0]).log_x();
        assert_eq!(texts(&shorter, Side::X, 6), ["2.0", "2.2", "2.4", "2.6", "2.8", "3.0"]);
    }

    #[test]
    fn bars_and_areas_start_at_zero_and_lines_do_not() {
        let low = |mark: Mark| Ruler::new(&Panel::new("", "").mark(mark), Side::Y, 100.0, 0.0);
        let (x, y) = (vec![1.0, 2.0], vec![10.0, 12.0]);
        assert_eq!(low(Mark::bars("", x.clone(), y.clone())).place(0.0), Some(100.0));
        assert_eq!(low(Mark::area("", x.clone(), y.clone())).place(0.0), Some(100.0));
        assert!(low(Mark::line("", x, y)).place(0.0).unwrap() > 100.0);
    }

    #[test]
    fn odd_values_have_no_place_and_constant_ones_have_room() {
        let panel = of(vec![f64::NAN, f64::INFINITY, f64::MAX, -f64::MAX, 3.0]);
        let ruler = Ruler::new(&panel, Side::X, 0.0, 100.0);
        assert_eq!(ruler.place(3.0), Some(50.0));
        assert!(ruler.place(f64::NAN).or(ruler.place(f64::MAX)).is_none());
        assert!(!ruler.ticks(5).is_empty());
        assert_eq!(texts(&of(Vec::new()), Side::X, 2), ["0", "0.5", "1.0"]);
    }

    #[test]
    fn names_are_thinned_out() {
        let names: Vec<String> = (0..100).map(|k| format!("n{k}")).collect();
        let panel = Panel::new("", "").categories_y(names);
        assert_eq!(texts(&panel, Side::Y, 4), ["n0", "n25", "n50", "n75"]);
        let ruler = Ruler::new(&panel, Side::Y, 340.0, 0.0);
        assert!(ruler.place(0.0).unwrap() < ruler.place(99.0).unwrap(), "the first is at the top");
    }
}
