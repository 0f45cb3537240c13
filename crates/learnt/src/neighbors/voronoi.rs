//! Voronoi cells: the part of the plane that is nearest to each point, and what k-NN says on a grid.
//!
//! The cell of a point begins as the box and is cut by the perpendicular bisector to each other point,
//! the nearest first; points farther than twice the farthest corner cannot cut it any more. A copy of
//! an earlier point has no cell. The grid holds the class by the majority of the k nearest points at
//! the middle of each cell, equal distances to the lower row, equal votes to the first class.
//!
//! G. Voronoi (1908); A. Okabe, B. Boots, K. Sugihara and S. Chiu (2000), Spatial Tessellations.

use super::index::{Index, Metric, Structure};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;

/// Points of the plane.
#[derive(Inputs, Clone, Copy)]
pub struct PlanePoints<'a> {
    /// Points: two columns.
    #[input(name = "X")]
    pub x: MatRef<'a>,
}

/// Voronoi cells of points of the plane, clipped to a box: the regions of 1-NN.
#[derive(Params, Clone, Debug)]
pub struct VoronoiCells {
    /// The box as low x, high x, low y, high y; the ranges of the points and the margin by default.
    pub bounds: Option<Vec<f64>>,
    /// Share of the ranges that the box is wider on each side.
    #[param(default = 0.1, range = 0.0..)]
    pub margin: f64,
}

/// Cells with their corners.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Cells {
    /// Area of the cell of each point.
    pub area: Vec<f64>,
    /// Corners: the number of the point, x, y; around each cell in order.
    pub corners: Matrix,
    /// The box: low x, high x, low y, high y.
    pub bounds: Vec<f64>,
}

type Corner = [f64; 2];

fn check_plane(x: MatRef) -> Result<()> {
    match x.ncols() == 2 {
        true => Ok(()),
        false => Err(Error::shape("X", "2 columns", format!("{} columns", x.ncols()))),
    }
}

/// The box around points, wider by a share of the ranges; of a range that is zero, by one.
fn bounds_of(x: MatRef, margin: f64) -> [f64; 4] {
    let mut out = [0.0; 4];
    for j in 0..2 {
        let column = x.column(j);
        let low = column.iter().copied().fold(f64::INFINITY, f64::min);
        let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let wide = if high > low { margin * (high - low) } else { 1.0 };
        (out[2 * j], out[2 * j + 1]) = (low - wide, high + wide);
    }
    out
}

/// A box that a user gave.
fn given_bounds(bounds: &[f64]) -> Result<[f64; 4]> {
    let wrong = || {
        let expected = "low x, high x, low y, high y, each low below its high";
        Error::parameter("bounds", expected, format!("{bounds:?}"))
    };
    let four: [f64; 4] = bounds.try_into().map_err(|_| wrong())?;
    let good = four.iter().all(|v| v.is_finite()) && four[0] < four[1] && four[2] < four[3];
    if good { Ok(four) } else { Err(wrong()) }
}

/// What is left of a convex polygon on the side of `near` of the bisector of two points.
fn clipped(polygon: &[Corner], near: Corner, far: Corner) -> Vec<Corner> {
    let (a, b) = (far[0] - near[0], far[1] - near[1]);
    let (mx, my) = ((near[0] + far[0]) / 2.0, (near[1] + far[1]) / 2.0);
    // Positive beyond the bisector.
    let side = |p: Corner| (p[0] - mx) * a + (p[1] - my) * b;
    let mut out = Vec::with_capacity(polygon.len() + 1);
    for (i, &here) in polygon.iter().enumerate() {
        let next = polygon[(i + 1) % polygon.len()];
        let (s, t) = (side(here), side(next));
        if s <= 0.0 {
            out.push(here);
        }
        if (s < 0.0 && t > 0.0) || (s > 0.0 && t < 0.0) {
            let share = s / (s - t);
            out.push([
                here[0] + share * (next[0] - here[0]),
                here[1] + share * (next[1] - here[1]),
            ]);
        }
    }
    out
}

fn area(polygon: &[Corner]) -> f64 {
    let Some(&origin) = polygon.first() else { return 0.0 };
    let from = |p: Corner| [p[0] - origin[0], p[1] - origin[1]];
    let cross = |pair: &[Corner]| {
        let (p, q) = (from(pair[0]), from(pair[1]));
        p[0] * q[1] - p[1] * q[0]
    };
    (polygon.windows(2).map(cross).sum::<f64>() / 2.0).abs()
}

/// The cell of a point of a set.
fn cell(
    x: &Matrix,
    i: usize,
    bounds: &[f64; 4],
    index: &Index,
    run: &Context,
) -> Result<Vec<Corner>> {
    let own = [x[(i, 0)], x[(i, 1)]];
    let [left, right, low, high] = *bounds;
    let mut polygon = vec![[left, low], [right, low], [right, high], [left, high]];
    let query = Matrix::from_rows(&[own])?;
    let (mut done, mut wanted) = (0, 16.min(x.nrows()));
    loop {
        let found = index.nearest(query.view(), wanted, run)?;
        for (&row, &distance) in found.rows(0).iter().zip(found.distances(0)).skip(done) {
            let row = row as usize;
            if row == i {
                continue;
            }
            if distance == 0.0 {
                if row < i {
                    return Ok(Vec::new());
                }
                continue;
            }
            let reach =
                polygon.iter().map(|p| (p[0] - own[0]).hypot(p[1] - own[1])).fold(0.0, f64::max);
            if polygon.is_empty() || distance > 2.0 * reach {
                return Ok(polygon);
            }
            polygon = clipped(&polygon, own, [x[(row, 0)], x[(row, 1)]]);
        }
        if wanted == x.nrows() {
            return Ok(polygon);
        }
        (done, wanted) = (wanted, (4 * wanted).min(x.nrows()));
    }
}

impl Function for VoronoiCells {
    type Inputs<'a> = PlanePoints<'a>;
    type Output = Cells;
    const ABOUT: &'static Callable =
        &Callable::new("neighbors.voronoi_cells", FunctionKind::Analysis)
            .threads()
            .reference("Okabe, Boots, Sugihara and Chiu (2000), Spatial Tessellations");

    fn call(&self, given: PlanePoints, run: &Context) -> Result<Cells> {
        check_plane(given.x)?;
        let bounds = match &self.bounds {
            Some(bounds) => given_bounds(bounds)?,
            None => bounds_of(given.x, self.margin),
        };
        let x = given.x.to_matrix();
        let structure = Structure::suited(Metric::Euclidean, x.nrows(), 2);
        let index = Index::build(x.view(), Metric::Euclidean, structure, 30, run)?;
        let cells = run.try_par_map(x.nrows(), |i| {
            run.checkpoint()?;
            cell(&x, i, &bounds, &index, &run.with_threads(1))
        })?;
        let corners: Vec<[f64; 3]> = cells
            .iter()
            .enumerate()
            .flat_map(|(i, cell)| cell.iter().map(move |p| [i as f64, p[0], p[1]]))
            .collect();
        let areas: Vec<f64> = cells.iter().map(|cell| area(cell)).collect();
        if !areas.iter().all(|area| area.is_finite()) {
            return Err(Error::numeric("areas overflow: the values are too large"));
        }
        let corners = match corners.is_empty() {
            true => Matrix::zeros(0, 3),
            false => Matrix::from_rows(&corners)?,
        };
        Ok(Cells { area: areas, corners, bounds: bounds.to_vec() })
    }

    fn chart(&self, found: &Cells) -> Option<Chart> {
        let (mut x, mut y, mut last) = (Vec::new(), Vec::new(), None);
        for row in found.corners.rows() {
            if last.is_some_and(|last| last != row[0]) {
                x.push(f64::NAN);
                y.push(f64::NAN);
            }
            last = Some(row[0]);
            x.push(row[1]);
            y.push(row[2]);
        }
        let panel = Panel::new("x", "y")
            .size(460.0, 420.0)
            .range_x(found.bounds[0], found.bounds[1])
            .range_y(found.bounds[2], found.bounds[3])
            .mark(Mark::polygon("cells", x, y).unnamed());
        let text = format!("The cells of {} points.", found.area.len());
        Some(Chart::new("Voronoi cells", text).panel(panel))
    }
}

/// Points of the plane with their classes.
#[derive(Inputs, Clone, Copy)]
pub struct ClassedPoints<'a> {
    /// Points: two columns.
    #[input(name = "X")]
    pub x: MatRef<'a>,
    /// Their classes.
    pub y: Classes<'a>,
}

/// Decision regions of k-NN over the plane, on a grid.
#[derive(Params, Clone, Debug)]
pub struct KnnRegions {
    /// Number of neighbours that vote.
    #[param(positional, default = 1, range = 1..)]
    pub k: usize,
    /// Cells along each side of the grid.
    #[param(default = 60, range = 2..=2000)]
    pub steps: usize,
    /// Share of the ranges that the grid is wider on each side.
    #[param(default = 0.1, range = 0.0..)]
    pub margin: f64,
}

/// Classes on a grid.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Regions {
    /// Codes of the classes, a row for each y from the lowest, a column for each x.
    pub value: Matrix,
    /// Places of the columns.
    pub x: Vec<f64>,
    /// Places of the rows.
    pub y: Vec<f64>,
    /// The classes, in the order of their codes.
    pub classes: Vec<String>,
}

impl Function for KnnRegions {
    type Inputs<'a> = ClassedPoints<'a>;
    type Output = Regions;
    const ABOUT: &'static Callable =
        &Callable::new("neighbors.knn_regions", FunctionKind::Analysis)
            .threads()
            .reference("Hastie, Tibshirani and Friedman (2009), section 2.3");

    fn call(&self, given: ClassedPoints, run: &Context) -> Result<Regions> {
        check_plane(given.x)?;
        let bounds = bounds_of(given.x, self.margin);
        let middle = |low: f64, high: f64, k: usize| {
            low + (high - low) * (k as f64 + 0.5) / self.steps as f64
        };
        let x: Vec<f64> = (0..self.steps).map(|k| middle(bounds[0], bounds[1], k)).collect();
        let y: Vec<f64> = (0..self.steps).map(|k| middle(bounds[2], bounds[3], k)).collect();
        let structure = Structure::suited(Metric::Euclidean, given.x.nrows(), 2);
        let index = Index::build(given.x, Metric::Euclidean, structure, 30, run)?;
        let mut value = Matrix::zeros(self.steps, self.steps);
        for (i, &height) in y.iter().enumerate() {
            run.checkpoint()?;
            let places = Matrix::from_fn(self.steps, 2, |j, c| if c == 0 { x[j] } else { height });
            let found = index.nearest(places.view(), self.k, run)?;
            for j in 0..self.steps {
                let mut votes = vec![0_u32; given.y.classes.len()];
                found
                    .rows(j)
                    .iter()
                    .for_each(|&row| votes[given.y.codes[row as usize] as usize] += 1);
                let best = (0..votes.len()).fold(0, |b, c| if votes[c] > votes[b] { c } else { b });
                value[(i, j)] = best as f64;
            }
        }
        let classes = given.y.classes.iter().map(ToString::to_string).collect();
        Ok(Regions { value, x, y, classes })
    }

    fn chart(&self, found: &Regions) -> Option<Chart> {
        let mut panel = Panel::new("x", "y").size(460.0, 420.0);
        for (code, name) in found.classes.iter().enumerate() {
            let (mut x, mut y) = (Vec::new(), Vec::new());
            for (i, row) in found.value.rows().enumerate() {
                for j in (0..row.len()).filter(|&j| row[j] as usize == code) {
                    x.push(found.x[j]);
                    y.push(found.y[i]);
                }
            }
            panel = panel.mark(Mark::points(name.clone(), x, y).weight(0.6));
        }
        let text = format!("The class of most of the {} nearest points, on a grid.", self.k);
        Some(Chart::new("Regions of k-NN", text).panel(panel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(n: usize) -> Matrix {
        Matrix::from_fn(n, 2, |i, j| ((i * (3 + 2 * j) + 1) as f64 * 1.37).sin() * 5.0)
    }

    #[test]
    fn areas_sum_to_the_box_and_corners_are_as_near_as_the_nearest_point() {
        for n in [1, 2, 3, 40, 300] {
            let x = points(n);
            let found = VoronoiCells::default().compute(PlanePoints { x: x.view() }).unwrap();
            let b = &found.bounds;
            let whole = (b[1] - b[0]) * (b[3] - b[2]);
            let sum: f64 = found.area.iter().sum();
            assert!((sum / whole - 1.0).abs() < 1e-10, "{n}: {sum} {whole}");
            for corner in found.corners.rows() {
                let to = |i: usize| (x[(i, 0)] - corner[1]).hypot(x[(i, 1)] - corner[2]);
                let nearest = (0..n).map(to).fold(f64::INFINITY, f64::min);
                assert!(to(corner[0] as usize) <= nearest + 1e-9, "{n}");
            }
        }
    }

    #[test]
    fn copies_have_no_cell_and_the_box_may_be_given() {
        let x = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0], [3.0, 1.0]]).unwrap();
        let learner =
            VoronoiCells { bounds: Some(vec![0.0, 4.0, 0.0, 2.0]), ..VoronoiCells::default() };
        let found = learner.compute(PlanePoints { x: x.view() }).unwrap();
        assert_eq!(found.area, [4.0, 0.0, 4.0]);
        let wrong = VoronoiCells { bounds: Some(vec![4.0, 0.0, 0.0, 2.0]), ..Default::default() };
        assert!(wrong.compute(PlanePoints { x: x.view() }).is_err());
    }

    #[test]
    fn the_grid_of_one_neighbour_is_the_class_of_the_nearest_point() {
        let x = points(25);
        let codes: Vec<u32> = (0..25).map(|i| i % 3).collect();
        let classes = ["a", "b", "c"].map(Label::from);
        let given = ClassedPoints { x: x.view(), y: Classes { codes: &codes, classes: &classes } };
        let found = KnnRegions { steps: 12, ..Default::default() }.compute(given).unwrap();
        for (i, &y) in found.y.iter().enumerate() {
            for (j, &at) in found.x.iter().enumerate() {
                let to = |r: usize| (x[(r, 0)] - at).hypot(x[(r, 1)] - y);
                let best = (0..25).fold(0, |b, r| if to(r) < to(b) { r } else { b });
                assert_eq!(found.value[(i, j)], f64::from(codes[best]));
            }
        }
    }
}
