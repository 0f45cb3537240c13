//! Marks as elements of SVG, each kind in its own function, reduced where there are many.

use crate::axis::{lying, spacing};
use crate::colour::{hex, viridis};
use crate::layout::{Frame, LINE, Page, SIZE};
use crate::pen::{Pen, short};
use crate::reduce::{Grid, LEVELS, Place, Runs, straightened, stretches, thinned};
use crate::series::{Palette, shade, value_range};
use crate::svg::{lines, text};
use crate::text::{count, shortened, width};
use learnt_core::chart::{Chart, Colour, Mark, Naming, Panel, Shape};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// More points than this in a chart become cells.
const MOST_POINTS: usize = 5000;
/// More corners of lines than this in a chart are written only where they show.
const MOST_CORNERS: usize = 20_000;
/// More texts than this in a panel are not tried.
const MOST_TEXTS: usize = 400;
/// More cells than this become cells of a few pixels.
const MOST_CELLS: usize = 6000;

/// Draws the marks of a chart and remembers what has to be said about it.
pub(crate) struct Painter<'a> {
    palette: &'a Palette<'a>,
    /// Side of the cells of crowded points.
    cell: f64,
    crowded_points: bool,
    crowded_lines: bool,
    /// What was left out or changed.
    pub notes: Vec<String>,
    /// Boxes of the texts of the panel at hand.
    taken: Vec<[f64; 4]>,
}

impl<'a> Painter<'a> {
    pub(crate) fn new(chart: &Chart, page: &Page, palette: &'a Palette<'a>) -> Painter<'a> {
        let marks = || chart.panels.iter().flat_map(|panel| &panel.marks);
        let sum = |shape: fn(&Mark) -> bool| -> usize {
            marks().filter(|mark| shape(mark)).map(|mark| mark.x.len().min(mark.y.len())).sum()
        };
        let points = sum(|mark| mark.shape == Shape::Point);
        let corners = sum(|mark| matches!(mark.shape, Shape::Line | Shape::Link));
        // Cells get coarser with the area that may be covered, so that files stay small.
        let area: f64 = chart
            .panels
            .iter()
            .zip(&page.frames)
            .map(|(panel, frame)| {
                let layers = panel.marks.iter().filter(|mark| mark.x.len() > 500).count();
                frame.width * frame.height * layers as f64
            })
            .sum();
        Painter {
            palette,
            cell: (area / 30_000.0).sqrt().ceil().clamp(2.0, 12.0),
            crowded_points: points > MOST_POINTS,
            crowded_lines: corners > MOST_CORNERS,
            notes: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// The mark without its texts.
    pub(crate) fn draw(&mut self, mark: &Mark, panel: &Panel, frame: &Frame, out: &mut String) {
        match mark.shape {
            Shape::Line => self.draw_line(mark, frame, out),
            Shape::Point => self.draw_points(mark, frame, out),
            Shape::Area | Shape::Band => self.draw_area(mark, frame, out),
            Shape::Bar => self.draw_bars(mark, panel, frame, out),
            Shape::Rule => self.draw_rules(mark, frame, out),
            Shape::Cell => self.draw_cells(mark, frame, out),
            Shape::Polygon => self.draw_polygons(mark, frame, out),
            Shape::Link => self.draw_links(mark, frame, out),
            Shape::Text => {}
        }
    }

    fn draw_line(&mut self, mark: &Mark, frame: &Frame, out: &mut String) {
        if self.is_in_crowd(mark) {
            return;
        }
        let lines: Vec<Vec<Place>> =
            stretches(places(mark, frame)).into_iter().map(thinned).collect();
        self.draw_stretches(mark, frame, &lines, 1.8, "", out);
    }

    /// Lines as one path, or as cells if that is too long.
    fn draw_stretches(
        &mut self,
        mark: &Mark,
        frame: &Frame,
        lines: &[Vec<Place>],
        width: f64,
        rest: &str,
        out: &mut String,
    ) {
        if lines.iter().map(Vec::len).sum::<usize>() <= MOST_CORNERS {
            let mut pen = Pen::default();
            lines.iter().for_each(|line| pen.stretch(line));
            return self.stroke_as(mark, pen, width, rest, out);
        }
        let mut grid = self.grid(frame);
        for pair in lines.iter().flat_map(|line| line.windows(2)) {
            grid.add_line(pair[0], pair[1]);
        }
        self.draw_runs(mark, &grid, out);
        self.note("Lines are drawn as cells, stronger where more lie.".to_string());
    }

    /// Without a name a line is one of a crowd.
    fn is_in_crowd(&self, mark: &Mark) -> bool {
        let nameless = mark.naming == Naming::Hidden || mark.series.is_empty();
        self.crowded_lines && nameless && mark.shape == Shape::Line
    }

    /// All lines of a crowd at once, as one path for each colour, or as cells if that is too long.
    pub(crate) fn draw_crowd(&mut self, panel: &Panel, frame: &Frame, out: &mut String) {
        let mut crowds: BTreeMap<String, (&Mark, Vec<Vec<Place>>)> = BTreeMap::new();
        for mark in panel.marks.iter().filter(|mark| self.is_in_crowd(mark)) {
            let lines = stretches(places(mark, frame)).into_iter();
            let lines = lines.map(|line| straightened(&thinned(line), 0.5));
            let crowd = crowds.entry(self.palette.class(mark)).or_insert((mark, Vec::new()));
            crowd.1.extend(lines);
        }
        for (mark, mut lines) in crowds.into_values() {
            lines.sort_by_key(|a| key(a));
            lines.dedup_by(|a, b| key(a) == key(b));
            self.draw_stretches(mark, frame, &lines, 0.7, " stroke-opacity=\".6\"", out);
        }
    }

    fn grid(&self, frame: &Frame) -> Grid {
        let size = (frame.width + 8.0, frame.height + 8.0);
        Grid::new((frame.left - 4.0, frame.top - 4.0), size, self.cell)
    }

    fn stroke(&self, mark: &Mark, pen: Pen, width: f64, out: &mut String) {
        self.stroke_as(mark, pen, width, "", out);
    }

    fn stroke_as(&self, mark: &Mark, pen: Pen, width: f64, rest: &str, out: &mut String) {
        let path = pen.finish();
        if path.is_empty() {
            return;
        }
        let class = self.palette.class(mark);
        let dash = if mark.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let width = short(width * strength(mark));
        let _ = writeln!(
            out,
            "<path class=\"s{class}\" d=\"{path}\" fill=\"none\" stroke-width=\"{width}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{dash}{rest}/>"
        );
    }

    fn draw_points(&mut self, mark: &Mark, frame: &Frame, out: &mut String) {
        let n = mark.x.len().min(mark.y.len());
        if self.crowded_points && n > 500 {
            return self.draw_crowded_points(mark, frame, n, out);
        }
        let radius =
            (3.0 - 0.4 * (n.max(30) as f64 / 30.0).log10()).max(1.6) * strength(mark).sqrt();
        let opacity = if n > 300 { ".5" } else { ".75" };
        let class = self.palette.class(mark);
        let colour = self.value_colours(mark);
        let _ = match colour {
            Some(_) => writeln!(out, "<g>"),
            None => writeln!(out, "<g class=\"f{class}\" fill-opacity=\"{opacity}\">"),
        };
        for (i, place) in places(mark, frame).enumerate() {
            let Some((x, y)) = place else { continue };
            let (x, y, r) = (short(x), short(y), short(radius));
            let fill = match &colour {
                Some(colour) => match mark.values.get(i).and_then(|value| colour(*value)) {
                    Some(colour) => format!(" fill=\"{}\"", hex(colour)),
                    None => " class=\"fm\"".to_string(),
                },
                None => String::new(),
            };
            let _ = writeln!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"{fill}/>");
        }
        *out += "</g>\n";
    }

    fn draw_crowded_points(&mut self, mark: &Mark, frame: &Frame, n: usize, out: &mut String) {
        let mut grid = self.grid(frame);
        match mark.colour {
            Colour::Values(range) => {
                for (place, value) in places(mark, frame).zip(&mark.values) {
                    if let Some(place) = place
                        && value.is_finite()
                    {
                        grid.add_value(place, *value);
                    }
                }
                let (low, high) = value_range(mark, range);
                self.draw_value_runs(&grid, &grid.by_value(low, high), out);
                self.note(format!(
                    "{} points are drawn as cells with the mean of their values.",
                    count(n)
                ));
            }
            _ => {
                places(mark, frame).flatten().for_each(|place| grid.add(place));
                self.draw_runs(mark, &grid, out);
                self.note(format!(
                    "{} points are drawn as cells, stronger where more lie.",
                    count(n)
                ));
            }
        }
    }

    /// Cells in the colour of a mark, stronger for more points.
    fn draw_runs(&self, mark: &Mark, grid: &Grid, out: &mut String) {
        let (class, side) = (self.palette.class(mark), short(grid.cell()));
        let _ = writeln!(
            out,
            "<g class=\"s{class}\" fill=\"none\" stroke-width=\"{side}\" shape-rendering=\"crispEdges\">"
        );
        for (level, runs) in grid.by_count().iter().enumerate() {
            let opacity = 0.22 + 0.78 * level as f64 / (LEVELS - 1) as f64;
            if let Some(path) = dashes(runs) {
                let _ = writeln!(out, "<path d=\"{path}\" stroke-opacity=\"{opacity:.2}\"/>");
            }
        }
        *out += "</g>\n";
    }

    fn draw_value_runs(&self, grid: &Grid, levels: &[Runs], out: &mut String) {
        let side = short(grid.cell());
        let _ = writeln!(
            out,
            "<g fill=\"none\" stroke-width=\"{side}\" shape-rendering=\"crispEdges\">"
        );
        for (level, runs) in levels.iter().enumerate() {
            let colour = hex(viridis((level as f64 + 0.5) / LEVELS as f64));
            if let Some(path) = dashes(runs) {
                let _ = writeln!(out, "<path d=\"{path}\" stroke=\"{colour}\"/>");
            }
        }
        *out += "</g>\n";
    }

    fn draw_area(&mut self, mark: &Mark, frame: &Frame, out: &mut String) {
        let floor = frame.y.floor();
        let band = mark.shape == Shape::Band;
        let pairs = (0..mark.x.len().min(mark.y.len())).map(|i| {
            let one = frame.place(mark.x[i], mark.y[i])?;
            let two = match band {
                true => frame.place(mark.x[i], *mark.y2.get(i)?)?,
                false => (one.0, floor),
            };
            Some((one, two.1))
        });
        let mut open: Vec<Vec<(Place, f64)>> = vec![Vec::new()];
        for pair in pairs {
            match (pair, open.last_mut()) {
                (Some(pair), Some(last)) => last.push(pair),
                _ => open.push(Vec::new()),
            }
        }
        let mut pen = Pen::default();
        for part in open.iter().filter(|part| !part.is_empty()) {
            let one = thinned(part.iter().map(|pair| pair.0).collect());
            let two = match band {
                true => thinned(part.iter().map(|pair| (pair.0.0, pair.1)).collect()),
                false => vec![(part[0].0.0, floor), (part[part.len() - 1].0.0, floor)],
            };
            pen.outline(&one.into_iter().chain(two.into_iter().rev()).collect::<Vec<Place>>());
        }
        self.fill(mark, pen, if band { ".2" } else { ".35" }, out);
    }

    fn fill(&self, mark: &Mark, pen: Pen, opacity: &str, out: &mut String) {
        let path = pen.finish();
        if !path.is_empty() {
            let class = self.palette.class(mark);
            let _ =
                writeln!(out, "<path class=\"f{class}\" d=\"{path}\" fill-opacity=\"{opacity}\"/>");
        }
    }

    fn draw_bars(&mut self, mark: &Mark, panel: &Panel, frame: &Frame, out: &mut String) {
        let mut pen = Pen::default();
        let bars = bars(mark, panel, frame);
        if bars.len() as f64 > 2.0 * frame.width.max(frame.height) {
            self.note(format!("{} bars are drawn as a line.", count(bars.len())));
            let lie = lying(panel);
            let ends = bars.iter().map(|(_, b)| *b);
            let line: Vec<Place> = match lie {
                true => ends.map(|(x, y)| (y, x)).collect(),
                false => ends.collect(),
            };
            let line = thinned(line).into_iter().map(|(a, b)| if lie { (b, a) } else { (a, b) });
            pen.stretch(&line.collect::<Vec<Place>>());
            return self.stroke(mark, pen, 1.0, out);
        }
        bars.into_iter().for_each(|(a, b)| pen.rectangle(a, b));
        self.fill(mark, pen, ".8", out);
    }

    fn draw_rules(&mut self, mark: &Mark, frame: &Frame, out: &mut String) {
        let mut pen = Pen::default();
        let (right, bottom) = (frame.left + frame.width, frame.top + frame.height);
        let mut at: Vec<f64> = match mark.y.is_empty() {
            true => mark.x.iter().filter_map(|x| frame.x.place(*x)).collect(),
            false => mark.y.iter().filter_map(|y| frame.y.place(*y)).collect(),
        };
        at.sort_by(f64::total_cmp);
        at.dedup_by(|a, b| (*a - *b).abs() < 0.5);
        for at in at {
            match mark.y.is_empty() {
                true => pen.stretch(&[(at, frame.top), (at, bottom)]),
                false => pen.stretch(&[(frame.left, at), (right, at)]),
            }
        }
        self.stroke(mark, pen, 1.2, out);
    }

    fn draw_cells(&mut self, mark: &Mark, frame: &Frame, out: &mut String) {
        let n = mark.x.len().min(mark.y.len());
        if n > MOST_CELLS {
            let mut grid =
                Grid::new((frame.left, frame.top), (frame.width, frame.height), self.cell);
            for (place, value) in places(mark, frame).zip(&mark.values) {
                if let Some(place) = place
                    && value.is_finite()
                {
                    grid.add_value(place, *value);
                }
            }
            let (low, high) = match mark.colour {
                Colour::Values(range) => value_range(mark, range),
                _ => value_range(mark, None),
            };
            return self.draw_value_runs(&grid, &grid.by_value(low, high), out);
        }
        let strength = match mark.colour {
            Colour::Shade(most) => Some(shade(mark, most)),
            _ => None,
        };
        let colour = self.value_colours(mark);
        let class = self.palette.class(mark);
        *out += "<g shape-rendering=\"crispEdges\">\n";
        for i in 0..n {
            let Some((a, b)) = corners(mark, frame, i) else { continue };
            let value = mark.values.get(i).copied().unwrap_or(f64::NAN);
            let paint = match (&strength, &colour) {
                (Some(strength), _) => {
                    format!(
                        "class=\"f{class}\" fill-opacity=\"{:.2}\"",
                        0.04 + 0.86 * strength(value)
                    )
                }
                (None, Some(colour)) => match colour(value) {
                    Some(colour) => format!("fill=\"{}\"", hex(colour)),
                    None => continue,
                },
                (None, None) => format!("class=\"f{class}\" fill-opacity=\".5\""),
            };
            let [x, y, w, h] = [a.0, a.1, b.0 - a.0, b.1 - a.1].map(short);
            let _ =
                writeln!(out, "<rect {paint} x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/>");
        }
        *out += "</g>\n";
    }

    fn draw_polygons(&mut self, mark: &Mark, frame: &Frame, out: &mut String) {
        let mut pen = Pen::default();
        stretches(places(mark, frame)).into_iter().for_each(|line| pen.outline(&thinned(line)));
        let path = pen.finish();
        if !path.is_empty() {
            let class = self.palette.class(mark);
            let _ = writeln!(
                out,
                "<path class=\"f{class} s{class}\" d=\"{path}\" fill-opacity=\".15\" stroke-width=\"1.2\"/>"
            );
        }
    }

    fn draw_links(&mut self, mark: &Mark, frame: &Frame, out: &mut String) {
        let n = [mark.x.len(), mark.y.len(), mark.x2.len(), mark.y2.len()].into_iter().min();
        let links = (0..n.unwrap_or(0)).filter_map(|i| {
            Some((frame.place(mark.x[i], mark.y[i])?, frame.place(mark.x2[i], mark.y2[i])?))
        });
        let links: Vec<Vec<Place>> = links.map(|(a, b)| vec![a, b]).collect();
        self.draw_stretches(mark, frame, &links, 1.4, "", out);
    }

    /// The texts of a mark, over all marks of its panel.
    pub(crate) fn draw_texts(
        &mut self,
        mark: &Mark,
        panel: &Panel,
        frame: &Frame,
        out: &mut String,
    ) {
        match mark.shape {
            Shape::Text => self.draw_text_mark(mark, frame, out),
            Shape::Cell => self.draw_cell_texts(mark, frame, out),
            Shape::Bar => self.draw_bar_texts(mark, panel, frame, out),
            Shape::Rule if mark.naming == Naming::Direct && mark.y.is_empty() => {
                self.name_rule(mark, frame, out)
            }
            _ => self.draw_point_texts(mark, frame, out),
        }
    }

    fn draw_text_mark(&mut self, mark: &Mark, frame: &Frame, out: &mut String) {
        for (place, label) in places(mark, frame).zip(&mark.labels) {
            let Some((x, y)) = place.filter(|_| !label.is_empty()) else { continue };
            if mark.boxed {
                let lines_of: Vec<&str> = label.split('\n').collect();
                let widest = lines_of.iter().map(|line| width(line, SIZE)).fold(0.0, f64::max);
                let (w, h) = (widest + 14.0, LINE * lines_of.len() as f64 + 9.0);
                let [a, b, c, d] = [x - w / 2.0, y - h / 2.0, w, h].map(short);
                let class = self.palette.class(mark);
                let _ = writeln!(
                    out,
                    "<rect class=\"p s{class}\" x=\"{a}\" y=\"{b}\" width=\"{c}\" height=\"{d}\" rx=\"4\"/>"
                );
                lines(out, (x, y), "t", "text-anchor=\"middle\"", label);
                continue;
            }
            let w = width(label, SIZE);
            let spots = [0.0, -11.0, 11.0, -20.0, 20.0]
                .map(|shift| [x - w / 2.0, y + shift - 7.0, x + w / 2.0, y + shift + 7.0]);
            if let Some([_, top, ..]) = self.free_spot(&spots, frame) {
                text(out, (x, top + 11.0), "t", "text-anchor=\"middle\"", label);
            }
        }
    }

    fn draw_cell_texts(&mut self, mark: &Mark, frame: &Frame, out: &mut String) {
        if mark.labels.is_empty() || mark.x.len() > MOST_CELLS {
            return;
        }
        let strength = match mark.colour {
            Colour::Shade(most) => Some(shade(mark, most)),
            _ => None,
        };
        let colour = self.value_colours(mark);
        for (i, label) in mark.labels.iter().enumerate().filter(|(_, label)| !label.is_empty()) {
            let Some((a, b)) = corners(mark, frame, i) else { continue };
            let rows = label.split('\n').count() as f64;
            let widest = label.split('\n').map(|line| width(line, 1.0)).fold(0.1, f64::max);
            let size =
                ((b.0 - a.0 - 4.0) / widest).min((b.1 - a.1 - 2.0) / (1.25 * rows)).min(13.0);
            if size < 7.0 {
                continue;
            }
            let value = mark.values.get(i).copied().unwrap_or(f64::NAN);
            let dark = match (&strength, &colour) {
                (Some(strength), _) => strength(value) > 0.55,
                (None, Some(colour)) => colour(value).is_some_and(|[r, g, b]| {
                    0.3 * f64::from(r) + 0.59 * f64::from(g) + 0.11 * f64::from(b) < 140.0
                }),
                (None, None) => false,
            };
            let class = match (&strength, dark) {
                (Some(_), true) => "p",
                (Some(_), false) => "t",
                (None, true) => "\" fill=\"#fff",
                (None, false) => "\" fill=\"#000",
            };
            let rest = format!("font-size=\"{}\" text-anchor=\"middle\"", short(size));
            lines(out, ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0), class, &rest, label);
        }
    }

    /// Texts at the ends of bars.
    fn draw_bar_texts(&mut self, mark: &Mark, panel: &Panel, frame: &Frame, out: &mut String) {
        let lie = lying(panel);
        for ((a, b), label) in
            bars(mark, panel, frame).into_iter().zip(&mark.labels).take(MOST_TEXTS)
        {
            let w = width(label, 11.0);
            let spot = match lie {
                true => [a.0.max(b.0) + 4.0, (a.1 + b.1) / 2.0 - 6.0],
                false => [(a.0 + b.0) / 2.0 - w / 2.0, a.1.min(b.1) - 15.0],
            };
            let around = [spot[0], spot[1], spot[0] + w, spot[1] + 12.0];
            if let Some([x, y, ..]) = self.free_spot(&[around], frame) {
                text(out, (x, y + 10.0), "m", "font-size=\"11\"", label);
            }
        }
    }

    /// The name of an upright rule, beside its upper end.
    fn name_rule(&mut self, mark: &Mark, frame: &Frame, out: &mut String) {
        let Some(x) = mark.x.iter().find_map(|x| frame.x.place(*x)) else { return };
        let name = shortened(&mark.series, SIZE, 0.6 * frame.width);
        let w = width(&name, SIZE);
        let spot = |left: f64, row: f64| {
            [left, frame.top + 3.0 + row * LINE, left + w, frame.top + 17.0 + row * LINE]
        };
        let spots: Vec<[f64; 4]> = (0..6)
            .flat_map(|row| [spot(x + 5.0, f64::from(row)), spot(x - 5.0 - w, f64::from(row))])
            .collect();
        if let Some([left, top, ..]) = self.free_spot(&spots, frame) {
            let class = format!("f{}", self.palette.class(mark));
            text(out, (left, top + 11.0), &class, "", &name);
        }
    }

    /// Texts beside points, where there is room.
    fn draw_point_texts(&mut self, mark: &Mark, frame: &Frame, out: &mut String) {
        let mut missing = 0;
        let dots: Vec<Place> = match mark.x.len() <= MOST_POINTS {
            true => places(mark, frame).flatten().collect(),
            false => Vec::new(),
        };
        let texts = places(mark, frame).zip(&mark.labels).filter(|(_, label)| !label.is_empty());
        for (tried, (place, label)) in texts.enumerate() {
            let Some((x, y)) = place.filter(|_| tried < MOST_TEXTS) else {
                missing += usize::from(tried >= MOST_TEXTS);
                continue;
            };
            let label = shortened(label, 11.0, 140.0);
            let w = width(&label, 11.0);
            let mut spots = [
                [x + 6.0, y - 6.0, x + 6.0 + w, y + 6.0],
                [x - 6.0 - w, y - 6.0, x - 6.0, y + 6.0],
                [x - w / 2.0, y - 18.0, x + w / 2.0, y - 6.0],
                [x - w / 2.0, y + 6.0, x + w / 2.0, y + 18.0],
            ];
            spots.sort_by_key(|spot| dots.iter().filter(|dot| covers(spot, **dot)).count());
            match self.free_spot(&spots, frame) {
                Some([left, top, ..]) => {
                    text(out, (left, top + 10.0), "t", "font-size=\"11\"", &label)
                }
                None => missing += 1,
            }
        }
        if missing > 0 {
            self.note(format!("Names that did not fit: {}.", count(missing)));
        }
    }

    /// The first of these boxes that lies inside the panel and over no other text; it is taken.
    fn free_spot(&mut self, spots: &[[f64; 4]], frame: &Frame) -> Option<[f64; 4]> {
        let (right, bottom) = (frame.left + frame.width, frame.top + frame.height);
        let found = spots.iter().copied().find(|[x0, y0, x1, y1]| {
            let inside = *x0 >= frame.left - 2.0
                && *x1 <= right + 8.0
                && *y0 >= frame.top - 4.0
                && *y1 <= bottom + 4.0;
            inside
                && self.taken.iter().all(|t| *x1 < t[0] || *x0 > t[2] || *y1 < t[1] || *y0 > t[3])
        })?;
        self.taken.push(found);
        Some(found)
    }

    fn value_colours(&self, mark: &Mark) -> Option<impl Fn(f64) -> Option<[u8; 3]> + use<>> {
        let Colour::Values(range) = mark.colour else { return None };
        let (low, high) = value_range(mark, range);
        Some(move |value: f64| value.is_finite().then(|| viridis((value - low) / (high - low))))
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Whether a box lies over a dot.
fn covers([x0, y0, x1, y1]: &[f64; 4], (x, y): Place) -> bool {
    const RADIUS: f64 = 3.0;
    x > x0 - RADIUS && x < x1 + RADIUS && y > y0 - RADIUS && y < y1 + RADIUS
}

/// What tells lines apart on the page.
fn key(line: &[Place]) -> Vec<(i64, i64)> {
    line.iter().map(|(x, y)| ((x * 10.0) as i64, (y * 10.0) as i64)).collect()
}

fn strength(mark: &Mark) -> f64 {
    if mark.weight.is_finite() { mark.weight.clamp(0.1, 10.0) } else { 1.0 }
}

fn places(mark: &Mark, frame: &Frame) -> impl Iterator<Item = Option<Place>> {
    mark.x.iter().zip(&mark.y).map(|(x, y)| frame.place(*x, *y))
}

/// Upper left and lower right corner of a cell.
fn corners(mark: &Mark, frame: &Frame, i: usize) -> Option<(Place, Place)> {
    let (x, y) = (*mark.x.get(i)?, *mark.y.get(i)?);
    let ends =
        |at: f64, other: Option<&f64>| other.map_or((at - 0.5, at + 0.5), |other| (at, *other));
    let (x0, x1) = ends(x, mark.x2.get(i));
    let (y0, y1) = ends(y, mark.y2.get(i));
    let (a, b) = (frame.place(x0, y0)?, frame.place(x1, y1)?);
    Some(((a.0.min(b.0), a.1.min(b.1)), (a.0.max(b.0), a.1.max(b.1))))
}

/// Opposite corners of bars: the first at the floor, the second at the value.
fn bars(mark: &Mark, panel: &Panel, frame: &Frame) -> Vec<(Place, Place)> {
    let lie = lying(panel);
    let (along, across) = if lie { (&frame.y, &frame.x) } else { (&frame.x, &frame.y) };
    let (at, to, from) =
        if lie { (&mark.y, &mark.x, &mark.x2) } else { (&mark.x, &mark.y, &mark.y2) };
    let half = 0.42 * spacing(at);
    (0..at.len().min(to.len()))
        .filter_map(|i| {
            let (one, two) = (along.place(at[i] - half)?, along.place(at[i] + half)?);
            let end = across.place(to[i])?;
            let start = match from.get(i) {
                Some(from) => across.place(*from)?,
                None => across.floor(),
            };
            Some(match lie {
                true => ((start, one), (end, two)),
                false => ((one, start), (two, end)),
            })
        })
        .collect()
}

fn dashes(runs: &Runs) -> Option<String> {
    let mut pen = Pen::default();
    runs.iter().for_each(|&(left, middle, width)| pen.dash((left, middle), width));
    (!runs.is_empty()).then(|| pen.finish())
}
