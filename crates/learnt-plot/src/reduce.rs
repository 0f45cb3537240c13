//! Fewer marks for the same picture: what a pixel cannot show is not written.
//!
//! Points become square cells, stronger where more lie. A line that runs one way keeps the first,
//! lowest, highest and last point of each column of pixels; then points that lie on the line between
//! their neighbours go (Douglas and Peucker, 1973), and lines that are still too many become cells.

/// A place on the page.
pub(crate) type Place = (f64, f64);

/// Steps between the weakest and the strongest cell.
pub(crate) const LEVELS: usize = 12;

/// Square cells over a part of the page, with the number of points in each and the sum of their values.
pub(crate) struct Grid {
    left: f64,
    top: f64,
    cell: f64,
    columns: usize,
    rows: usize,
    counts: Vec<u32>,
    sums: Vec<f64>,
}

/// Horizontal runs of cells of one level, as (left, middle, width).
pub(crate) type Runs = Vec<(f64, f64, f64)>;

impl Grid {
    /// An empty grid.
    pub(crate) fn new((left, top): Place, (width, height): (f64, f64), cell: f64) -> Grid {
        let steps = |length: f64| (length / cell).ceil().clamp(1.0, 4000.0) as usize;
        let (columns, rows) = (steps(width), steps(height));
        let sums = Vec::new();
        Grid { left, top, cell, columns, rows, counts: vec![0; columns * rows], sums }
    }

    /// The side of a cell.
    pub(crate) fn cell(&self) -> f64 {
        self.cell
    }

    fn slot(&self, (x, y): Place) -> Option<usize> {
        let (j, i) = ((x - self.left) / self.cell, (y - self.top) / self.cell);
        let inside = j >= 0.0 && i >= 0.0 && j < self.columns as f64 && i < self.rows as f64;
        inside.then(|| i as usize * self.columns + j as usize)
    }

    /// One more point.
    pub(crate) fn add(&mut self, place: Place) {
        if let Some(slot) = self.slot(place) {
            self.counts[slot] = self.counts[slot].saturating_add(1);
        }
    }

    /// One more point with a value.
    pub(crate) fn add_value(&mut self, place: Place, value: f64) {
        if self.sums.is_empty() {
            self.sums = vec![0.0; self.counts.len()];
        }
        if let Some(slot) = self.slot(place) {
            self.counts[slot] = self.counts[slot].saturating_add(1);
            self.sums[slot] += value;
        }
    }

    /// One more straight line: every cell it passes counts once.
    pub(crate) fn add_line(&mut self, a: Place, b: Place) {
        let reach = (b.0 - a.0).abs().max((b.1 - a.1).abs()) / self.cell;
        let steps = reach.ceil().clamp(1.0, 8000.0) as usize;
        let mut last = None;
        for k in 0..=steps {
            let part = k as f64 / steps as f64;
            let slot = self.slot((a.0 + part * (b.0 - a.0), a.1 + part * (b.1 - a.1)));
            if slot != last
                && let Some(slot) = slot
            {
                self.counts[slot] = self.counts[slot].saturating_add(1);
            }
            last = slot;
        }
    }

    /// Runs of cells for each level of strength, weakest first: levels are even in the logarithm of
    /// the count.
    pub(crate) fn by_count(&self) -> Vec<Runs> {
        let most = self.counts.iter().copied().max().unwrap_or(0).max(2);
        let whole = f64::from(most).ln();
        self.runs(|slot| f64::from(self.counts[slot]).ln() / whole)
    }

    /// Runs of cells for each level of their mean value between two ends.
    pub(crate) fn by_value(&self, low: f64, high: f64) -> Vec<Runs> {
        self.runs(|slot| {
            let mean = self.sums.get(slot).map_or(0.0, |sum| sum / f64::from(self.counts[slot]));
            (mean - low) / (high - low)
        })
    }

    fn runs(&self, share: impl Fn(usize) -> f64) -> Vec<Runs> {
        let mut out = vec![Runs::new(); LEVELS];
        for i in 0..self.rows {
            let middle = self.top + (i as f64 + 0.5) * self.cell;
            let mut open: Option<(usize, usize)> = None;
            for j in 0..=self.columns {
                let level = (j < self.columns && self.counts[i * self.columns + j] > 0)
                    .then(|| (share(i * self.columns + j) * LEVELS as f64) as usize)
                    .map(|level| level.min(LEVELS - 1));
                if let Some((start, of)) = open
                    && level != Some(of)
                {
                    let width = (j - start) as f64 * self.cell;
                    out[of].push((self.left + start as f64 * self.cell, middle, width));
                    open = None;
                }
                if open.is_none() {
                    open = level.map(|level| (j, level));
                }
            }
        }
        out
    }
}

/// Unbroken stretches of a line.
pub(crate) fn stretches(places: impl Iterator<Item = Option<Place>>) -> Vec<Vec<Place>> {
    let mut out: Vec<Vec<Place>> = Vec::new();
    let mut open = false;
    for place in places {
        if let Some(place) = place {
            match out.last_mut() {
                Some(last) if open => last.push(place),
                _ => out.push(vec![place]),
            }
        }
        open = place.is_some();
    }
    out
}

/// A line that looks the same, with fewer points.
pub(crate) fn thinned(line: Vec<Place>) -> Vec<Place> {
    const EXACT: usize = 400;
    const LONGEST: usize = 8000;
    if line.len() <= EXACT {
        return line;
    }
    let rising = line.windows(2).all(|pair| pair[0].0 <= pair[1].0);
    let falling = line.windows(2).all(|pair| pair[0].0 >= pair[1].0);
    let line = if rising || falling { by_column(&line) } else { by_distance(&line, 0.7) };
    if line.len() <= LONGEST { straightened(&line, 0.3) } else { line }
}

/// First, lowest, highest and last point of each column of pixels.
fn by_column(line: &[Place]) -> Vec<Place> {
    let mut out = Vec::new();
    let mut start = 0;
    while start < line.len() {
        let column = line[start].0.floor();
        let mut end = start + 1;
        while end < line.len() && line[end].0.floor() == column {
            end += 1;
        }
        let extreme = |pick: fn(f64, f64) -> bool| {
            (start + 1..end)
                .fold(start, |best, i| if pick(line[i].1, line[best].1) { i } else { best })
        };
        let mut kept = [start, extreme(|a, b| a < b), extreme(|a, b| a > b), end - 1];
        kept.sort_unstable();
        for (k, &i) in kept.iter().enumerate() {
            if k == 0 || kept[k - 1] != i {
                out.push(line[i]);
            }
        }
        start = end;
    }
    out
}

/// Without points nearer than this to the last one kept.
fn by_distance(line: &[Place], least: f64) -> Vec<Place> {
    let mut out: Vec<Place> = Vec::new();
    for (i, &(x, y)) in line.iter().enumerate() {
        let near = out.last().is_some_and(|&(a, b)| (x - a).hypot(y - b) < least);
        if !near || i + 1 == line.len() {
            out.push((x, y));
        }
    }
    out
}

/// Without points nearer than the tolerance to the line between the kept ones around them.
pub(crate) fn straightened(line: &[Place], tolerance: f64) -> Vec<Place> {
    if line.len() < 3 {
        return line.to_vec();
    }
    let mut kept = vec![false; line.len()];
    (kept[0], kept[line.len() - 1]) = (true, true);
    let mut open = vec![(0, line.len() - 1)];
    while let Some((first, last)) = open.pop() {
        let (mut far, mut at) = (tolerance, None);
        for i in first + 1..last {
            let distance = distance(line[i], line[first], line[last]);
            if distance > far {
                (far, at) = (distance, Some(i));
            }
        }
        if let Some(at) = at {
            kept[at] = true;
            open.extend([(first, at), (at, last)]);
        }
    }
    line.iter().zip(kept).filter_map(|(&place, kept)| kept.then_some(place)).collect()
}

/// From a point to a straight line between two others.
fn distance(p: Place, a: Place, b: Place) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let squared = dx * dx + dy * dy;
    let part = match squared > 0.0 {
        true => (((p.0 - a.0) * dx + (p.1 - a.1) * dy) / squared).clamp(0.0, 1.0),
        false => 0.0,
    };
    (p.0 - a.0 - part * dx).hypot(p.1 - a.1 - part * dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_in_a_cell_and_stronger_cells_hold_more() {
        let mut grid = Grid::new((10.0, 20.0), (30.0, 9.0), 3.0);
        for _ in 0..100 {
            grid.add((10.5, 20.5));
        }
        grid.add((39.9, 28.9));
        grid.add((9.9, 20.0));
        let runs = grid.by_count();
        assert_eq!(runs[0], [(37.0, 27.5, 3.0)]);
        assert_eq!(runs[LEVELS - 1], [(10.0, 21.5, 3.0)]);
        assert_eq!(runs.iter().flatten().count(), 2);
    }

    #[test]
    fn neighbouring_cells_of_one_level_are_one_run() {
        let mut grid = Grid::new((0.0, 0.0), (30.0, 3.0), 3.0);
        grid.add_line((1.0, 1.0), (20.0, 1.0));
        assert_eq!(grid.by_count()[0], [(0.0, 1.5, 21.0)]);
        let mut grid = Grid::new((0.0, 0.0), (30.0, 3.0), 3.0);
        grid.add_value((1.0, 1.0), 1.0);
        grid.add_value((1.0, 1.0), 3.0);
        grid.add_value((4.0, 1.0), 4.0);
        assert_eq!(grid.by_value(0.0, 4.0)[LEVELS / 2], [(0.0, 1.5, 3.0)]);
    }

    #[test]
    fn a_thinned_line_keeps_its_ends_and_extremes() {
        let n = 100_000;
        let mut line: Vec<Place> = (0..n)
            .map(|i| (i as f64 * 500.0 / n as f64, 100.0 + (i as f64 * 0.01).sin() * 50.0))
            .collect();
        line[54_321].1 = 300.0;
        let thin = thinned(line.clone());
        assert!(thin.len() < 2100, "{}", thin.len());
        assert!(thin.contains(&line[54_321]));
        assert_eq!((thin[0], thin[thin.len() - 1]), (line[0], line[n - 1]));
    }

    #[test]
    fn points_on_a_straight_line_go() {
        let line: Vec<Place> = (0..1000).map(|i| (f64::from(i), 2.0 * f64::from(i))).collect();
        assert_eq!(straightened(&line, 0.3).len(), 2);
        let circle: Vec<Place> = (0..100_000)
            .map(|i| (f64::from(i) * 1e-3).sin_cos())
            .map(|(s, c)| (200.0 * s, 200.0 * c))
            .collect();
        assert!(thinned(circle).len() < 60_000);
    }

    #[test]
    fn a_value_that_is_not_there_breaks_the_line() {
        let places = [Some((0.0, 0.0)), None, None, Some((1.0, 1.0)), Some((2.0, 1.0))];
        assert_eq!(stretches(places.into_iter()).len(), 2);
    }
}
