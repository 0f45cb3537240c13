//! Where everything stands: title, legend, a grid of panels with room for their texts, notes.

use crate::axis::{Ruler, Side, Tick};
use crate::reduce::Place;
use crate::series::{Entry, Key, Palette, entries};
use crate::text::{count, shortened, width, wrapped};
use learnt_core::chart::{Chart, Mark, Naming, Panel, Shape};

/// Size of common text.
pub(crate) const SIZE: f64 = 12.0;
/// From one line of text to the next.
pub(crate) const LINE: f64 = 15.0;
const EDGE: f64 = 14.0;
const GAP: f64 = 22.0;
/// Names on an axis are not wider.
const WIDEST_NAME: f64 = 190.0;
const MOST_LEGEND_LINES: usize = 3;

/// A chart with places.
pub(crate) struct Page {
    pub width: f64,
    pub height: f64,
    pub title: Vec<String>,
    pub legend: Vec<(Place, Entry)>,
    pub frames: Vec<Frame>,
    /// Top of the notes.
    pub notes_top: f64,
}

/// A panel with places.
pub(crate) struct Frame {
    /// The plotting area.
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub x: Ruler,
    pub y: Ruler,
    pub x_ticks: Vec<Tick>,
    pub y_ticks: Vec<Tick>,
    /// Whether names under the horizontal axis are tilted.
    pub tilted: bool,
    /// Room for the texts of the axes.
    room: Room,
    /// Room that the vertical axis needs by itself.
    label_room: f64,
    /// Names beside the plotting area, with the class of their colour.
    pub labels: Vec<(f64, String, String)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Room {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame {
    /// Where the label of the vertical axis stands.
    pub(crate) fn y_label_at(&self) -> f64 {
        self.left - self.label_room + 12.0
    }

    /// Where the label of the horizontal axis stands.
    pub(crate) fn x_label_at(&self) -> f64 {
        self.top + self.height + self.room.bottom - 5.0
    }

    /// The place of a pair of values.
    pub(crate) fn place(&self, x: f64, y: f64) -> Option<Place> {
        self.x.place(x).zip(self.y.place(y))
    }
}

impl Page {
    /// The places of a chart.
    pub(crate) fn new(chart: &Chart) -> Page {
        let palette = Palette::new(chart);
        let mut frames: Vec<Frame> = chart.panels.iter().map(Frame::new).collect();
        let columns = columns(chart);
        align(&mut frames, columns);
        let (wide, high) = sizes(&frames, columns);
        let width =
            2.0 * EDGE + wide.iter().sum::<f64>() + GAP * wide.len().saturating_sub(1) as f64;
        let width = width.max(260.0);
        let title = wrapped(&chart.title, 16.0, width - 2.0 * EDGE);
        let title: Vec<String> = title.into_iter().take(3).collect();
        let mut top = EDGE + 20.0 * title.len() as f64;
        let legend = place_legend(entries(chart, &palette), width, &mut top);
        top += 8.0;
        let mut row_top = top;
        for (k, row) in frames.chunks_mut(columns).enumerate() {
            let mut left = EDGE;
            for (frame, wide) in row.iter_mut().zip(&wide) {
                frame.shift(left + frame.room.left, row_top + frame.room.top);
                left += wide + GAP;
            }
            row_top += high[k] + GAP * 0.7;
        }
        for (frame, panel) in frames.iter_mut().zip(&chart.panels) {
            frame.labels = direct_labels(frame, panel, &palette);
        }
        Page { width, height: row_top + EDGE, title, legend, frames, notes_top: row_top }
    }
}

impl Frame {
    /// At the origin; it is moved once all sizes are known.
    fn new(panel: &Panel) -> Frame {
        let sane =
            |size: f64, usual: f64| if size.is_finite() { size.clamp(40.0, 4000.0) } else { usual };
        let (width_, height) = (sane(panel.size.0, 520.0), sane(panel.size.1, 340.0));
        let x = Ruler::new(panel, Side::X, 0.0, width_);
        let y = Ruler::new(panel, Side::Y, height, 0.0);
        let y_ticks = match panel.y.hidden {
            true => Vec::new(),
            false if y.is_categorical() => short_names(y.ticks((height / LINE) as usize)),
            false => y.ticks((height / 48.0) as usize),
        };
        let (x_ticks, tilted) = horizontal_ticks(panel, &x, width_);
        let mut room = Room { left: 4.0, right: 10.0, top: 4.0, bottom: 4.0 };
        if !panel.title.is_empty() {
            room.top += 20.0;
        }
        let widest =
            |ticks: &[Tick]| ticks.iter().map(|t| width(&t.text, SIZE)).fold(0.0, f64::max);
        if !panel.y.hidden {
            room.left += widest(&y_ticks) + 8.0;
            room.left += if panel.y.label.is_empty() { 0.0 } else { 20.0 };
        }
        let label_room = room.left;
        if !panel.x.hidden {
            room.bottom += if tilted { 0.6 * widest(&x_ticks) + 16.0 } else { 20.0 };
            room.bottom += if panel.x.label.is_empty() { 0.0 } else { 20.0 };
            if tilted {
                let first = x_ticks.first().map_or(0.0, |t| 0.8 * width(&t.text, SIZE) - t.at);
                room.left = room.left.max(first);
            } else if let Some(last) = x_ticks.last() {
                room.right = room.right.max(last.at + 0.5 * width(&last.text, SIZE) - width_);
            }
        }
        let names = labelled(panel).map(|mark| width(&mark.series, SIZE)).fold(0.0, f64::max);
        if names > 0.0 {
            room.right = room.right.max(names.clamp(70.0, WIDEST_NAME) + 12.0);
        }
        Frame {
            left: 0.0,
            top: 0.0,
            width: width_,
            height,
            x,
            y,
            x_ticks,
            y_ticks,
            tilted,
            room,
            label_room,
            labels: Vec::new(),
        }
    }

    fn shift(&mut self, left: f64, top: f64) {
        (self.left, self.top) = (left, top);
        self.x.shift(left);
        self.y.shift(top);
        self.x_ticks.iter_mut().for_each(|tick| tick.at += left);
        self.y_ticks.iter_mut().for_each(|tick| tick.at += top);
    }
}

/// Ticks along the bottom, and whether their texts must be tilted.
fn horizontal_ticks(panel: &Panel, x: &Ruler, length: f64) -> (Vec<Tick>, bool) {
    if panel.x.hidden {
        return (Vec::new(), false);
    }
    if !x.is_categorical() {
        return (x.ticks((length / 60.0) as usize), false);
    }
    let names = short_names(x.ticks((length / LINE) as usize));
    let step = if names.len() > 1 { (names[1].at - names[0].at).abs() } else { length };
    let tilted = names.iter().any(|tick| width(&tick.text, SIZE) + 6.0 > step);
    (names, tilted)
}

fn short_names(mut ticks: Vec<Tick>) -> Vec<Tick> {
    for tick in &mut ticks {
        tick.text = shortened(&tick.text, SIZE, WIDEST_NAME);
    }
    ticks
}

/// Panels in a row.
fn columns(chart: &Chart) -> usize {
    let n = chart.panels.len();
    match chart.columns {
        0 => (n as f64).sqrt().ceil().clamp(1.0, 3.0) as usize,
        columns => columns.min(n).max(1),
    }
}

/// Plotting areas start at one line in each column, and end at one line in each row.
fn align(frames: &mut [Frame], columns: usize) {
    for j in 0..columns {
        let left = frames.iter().skip(j).step_by(columns).map(|f| f.room.left).fold(0.0, f64::max);
        frames.iter_mut().skip(j).step_by(columns).for_each(|frame| frame.room.left = left);
    }
    for row in frames.chunks_mut(columns) {
        let top = row.iter().map(|frame| frame.room.top).fold(0.0, f64::max);
        row.iter_mut().for_each(|frame| frame.room.top = top);
    }
}

/// Widths of the columns and heights of the rows of the grid.
fn sizes(frames: &[Frame], columns: usize) -> (Vec<f64>, Vec<f64>) {
    let mut wide = vec![0.0_f64; columns.min(frames.len())];
    let mut high = Vec::new();
    for row in frames.chunks(columns) {
        let mut most = 0.0_f64;
        for (wide, frame) in wide.iter_mut().zip(row) {
            *wide = wide.max(frame.room.left + frame.width + frame.room.right);
            most = most.max(frame.room.top + frame.height + frame.room.bottom);
        }
        high.push(most);
    }
    (wide, high)
}

/// Entries side by side in a few lines; those that do not fit are counted.
fn place_legend(entries: Vec<Entry>, page: f64, top: &mut f64) -> Vec<(Place, Entry)> {
    let mut out: Vec<(Place, Entry)> = Vec::new();
    if entries.is_empty() {
        return out;
    }
    let all = entries.len();
    let (mut x, mut line) = (EDGE, 0);
    for (k, mut entry) in entries.into_iter().enumerate() {
        entry.name = shortened(&entry.name, SIZE, 220.0);
        let scale = match &entry.key {
            Key::Values(low, high) => 90.0 + width(low, SIZE) + width(high, SIZE) + 12.0,
            _ => 26.0,
        };
        let needed = scale + width(&entry.name, SIZE) + 16.0;
        let more = width("and 10,000 more", SIZE);
        let room = page - EDGE - if line + 1 == MOST_LEGEND_LINES { more } else { 0.0 };
        if x > EDGE && x + needed > room {
            if line + 1 == MOST_LEGEND_LINES {
                let name = format!("and {} more", count(all - k));
                out.push((
                    (x, *top + 12.0 + 18.0 * line as f64),
                    Entry { name, key: Key::Dot(String::new()) },
                ));
                break;
            }
            (x, line) = (EDGE, line + 1);
        }
        out.push(((x, *top + 12.0 + 18.0 * line as f64), entry));
        x += needed;
    }
    *top += 18.0 * (line + 1) as f64 + 2.0;
    out
}

/// Marks whose names stand beside the plotting area.
fn labelled(panel: &Panel) -> impl Iterator<Item = &Mark> {
    let vertical = |mark: &Mark| mark.shape == Shape::Rule && mark.y.is_empty();
    panel.marks.iter().filter(move |mark| {
        mark.naming == Naming::Direct && !mark.series.is_empty() && !vertical(mark)
    })
}

/// Names at the height of the last points, pushed apart; the first marks go first where not all fit.
fn direct_labels(frame: &Frame, panel: &Panel, palette: &Palette) -> Vec<(f64, String, String)> {
    let most = ((frame.height / LINE) as usize).max(1);
    let all = labelled(panel).count();
    let shown = if all > most { most - 1 } else { all };
    let mut labels: Vec<(f64, String, String)> = labelled(panel)
        .take(shown)
        .filter_map(|mark| {
            let text = shortened(&mark.series, SIZE, WIDEST_NAME);
            Some((end_height(frame, mark)?, text, format!("f{}", palette.class(mark))))
        })
        .collect();
    labels.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    let bottom = frame.top + frame.height;
    if all > shown {
        labels.push((bottom, format!("and {} more", count(all - shown)), "m".to_string()));
    }
    for i in 1..labels.len() {
        labels[i].0 = labels[i].0.max(labels[i - 1].0 + LINE);
    }
    let mut ceiling = bottom;
    for label in labels.iter_mut().rev() {
        label.0 = label.0.min(ceiling).max(frame.top);
        ceiling = label.0 - LINE;
    }
    labels
}

/// Where a line ends.
fn end_height(frame: &Frame, mark: &Mark) -> Option<f64> {
    let inside = |y: f64| y.clamp(frame.top, frame.top + frame.height);
    if mark.shape == Shape::Rule {
        return mark.y.iter().rev().find_map(|y| frame.y.place(*y)).map(inside);
    }
    let mut best: Option<Place> = None;
    for (x, y) in mark.x.iter().zip(&mark.y) {
        if let Some(place) = frame.place(*x, *y)
            && best.is_none_or(|best| place.0 >= best.0)
        {
            best = Some(place);
        }
    }
    best.map(|place| inside(place.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(n: usize) -> Chart {
        let mut panel = Panel::new("x", "y");
        for k in 0..n {
            panel =
                panel.mark(Mark::line(format!("s{k}"), vec![0.0, 1.0], vec![0.0, 1.0]).direct());
        }
        Chart::new("t", "d").panel(panel)
    }

    #[test]
    fn labels_stand_apart_and_inside_and_the_rest_is_counted() {
        for n in [1, 5, 22, 23, 1000] {
            let page = Page::new(&lines(n));
            let frame = &page.frames[0];
            let heights: Vec<f64> = frame.labels.iter().map(|label| label.0).collect();
            assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= LINE - 0.01), "{n}");
            assert!(heights.iter().all(|y| *y >= frame.top && *y <= frame.top + frame.height));
            let last = &frame.labels[frame.labels.len() - 1].1;
            assert_eq!(last.starts_with("and "), n > 22, "{n}: {last}");
        }
    }

    #[test]
    fn panels_stand_in_a_grid_without_overlap() {
        let panel = || {
            Panel::new("x", "y").title("p").mark(Mark::points("", vec![0.0, 1e9], vec![0.0, 1.0]))
        };
        let chart = (0..4).fold(Chart::new("t", "d"), |chart, _| chart.panel(panel()));
        let page = Page::new(&chart);
        let f = &page.frames;
        assert!(f[1].left >= f[0].left + f[0].width + 20.0 && f[1].top == f[0].top);
        assert!(f[2].top >= f[0].top + f[0].height + 40.0 && f[2].left == f[0].left);
        assert!(f[3].left + f[3].width < page.width && f[3].top + f[3].height < page.height);
    }

    #[test]
    fn a_legend_of_many_names_ends_with_their_number() {
        let mut panel = Panel::new("x", "y");
        for k in 0..500 {
            panel = panel.mark(Mark::points(format!("group {k}"), vec![0.0], vec![0.0]));
        }
        let page = Page::new(&Chart::new("t", "d").panel(panel));
        let last = &page.legend[page.legend.len() - 1];
        assert!(last.1.name.starts_with("and 4") && last.0.0 < page.width - 60.0, "{last:?}");
    }

    #[test]
    fn long_names_under_an_axis_are_tilted() {
        let names = |text: &str| (0..10).map(|k| format!("{text}{k}")).collect();
        let page = |text| {
            Page::new(&Chart::new("", "").panel(Panel::new("", "").categories_x(names(text))))
        };
        assert!(!page("a").frames[0].tilted);
        assert!(page("a long name ").frames[0].tilted);
    }
}
