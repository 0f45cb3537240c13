//! Pictures of clusterings: rows by cluster, the order of reachability, the condensed tree, and the
//! ellipses of a mixture.

use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::linalg::eigh;
use learnt_core::prelude::*;
use std::f64::consts::TAU;

/// Clusters with an entry of the legend.
const MOST: usize = 10;

/// The name of a cluster.
pub fn name(cluster: usize) -> String {
    format!("cluster {cluster}")
}

/// The numbers of the clusters that some labels hold, from the lowest.
fn known(labels: &[Option<u32>]) -> Vec<u32> {
    let mut all: Vec<u32> = labels.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Rows as points of a plane, one colour a cluster and grey for noise. A plane of one column has the
/// cluster as its height.
pub fn scatter(axes: [&str; 2], points: MatRef, labels: &[Option<u32>]) -> Chart {
    let clusters = known(labels);
    let of = |cluster: Option<u32>| -> (Vec<f64>, Vec<f64>) {
        let rows = (0..labels.len()).filter(|&i| labels[i] == cluster);
        rows.map(|i| match points.ncols() {
            1 => (points.at(i, 0), cluster.map_or(-1.0, f64::from)),
            _ => (points.at(i, 0), points.at(i, 1)),
        })
        .unzip()
    };
    let up = if points.ncols() == 1 { "cluster" } else { axes[1] };
    let mut panel = Panel::new(axes[0], up).size(480.0, 420.0);
    let (x, y) = of(None);
    let noise = x.len();
    if noise > 0 {
        panel = panel.mark(Mark::points("noise", x, y).muted());
    }
    for (k, &cluster) in clusters.iter().enumerate() {
        let (x, y) = of(Some(cluster));
        let mark = Mark::points(name(cluster as usize), x, y);
        panel = panel.mark(if k < MOST { mark } else { mark.unnamed() });
    }
    let text = format!("{} rows in {} clusters, {noise} noise.", labels.len(), clusters.len());
    let chart = Chart::new("Clusters", text).panel(panel);
    match clusters.len() > MOST {
        true => chart.note(format!("The first {MOST} of {} clusters are named.", clusters.len())),
        false => chart,
    }
}

/// The reachability of rows in the order of visits; valleys are clusters. Infinite values reach the top.
pub fn reachability(order: &[u32], reachability: &[f64], labels: &[Option<u32>]) -> Chart {
    let finite = reachability.iter().copied().filter(|value| value.is_finite());
    let most = finite.fold(0.0, f64::max);
    let top = if most > 0.0 { most * 1.08 } else { 1.0 };
    let outline = |cluster: Option<u32>| -> (Vec<f64>, Vec<f64>) {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for (place, &row) in order.iter().enumerate() {
            if labels[row as usize] != cluster {
                continue;
            }
            if x.last().is_some_and(|&last: &f64| last < place as f64 - 0.5) {
                x.push(place as f64);
                y.push(f64::NAN);
            }
            let height = reachability[row as usize].min(top);
            x.extend([place as f64 - 0.5, place as f64 + 0.5]);
            y.extend([height, height]);
        }
        (x, y)
    };
    let mut panel = Panel::new("rows in the order of visits", "reachability").range_y(0.0, top);
    let (x, y) = outline(None);
    if !x.is_empty() {
        panel = panel.mark(Mark::area("noise", x, y).muted());
    }
    for (k, cluster) in known(labels).into_iter().enumerate() {
        let (x, y) = outline(Some(cluster));
        let mark = Mark::area(name(cluster as usize), x, y);
        panel = panel.mark(if k < MOST { mark } else { mark.unnamed() });
    }
    let text = "How far each row lay from those before it: valleys are clusters.";
    Chart::new("Reachability", text).panel(panel)
}

/// A branch of a condensed tree, as it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Limb {
    /// The branch that it split from; its own number for the first.
    pub parent: usize,
    /// λ at which it begins.
    pub birth: f64,
    /// λ at which it ends.
    pub death: f64,
    /// Rows at its beginning.
    pub size: f64,
    /// λ at which rows fall out of it.
    pub losses: Vec<f64>,
    /// The cluster that it is, if it was chosen.
    pub cluster: Option<u32>,
}

/// The condensed tree: the width of a branch is the number of its rows, which falls as λ = 1/distance
/// rises; chosen branches have the colours of their clusters. Parents come before their children.
pub fn condensed_tree(limbs: &[Limb]) -> Chart {
    let mut left = vec![0.0; limbs.len()];
    let mut taken = vec![0.0; limbs.len()];
    for k in 1..limbs.len() {
        let parent = limbs[k].parent;
        let children: f64 =
            limbs.iter().skip(1).filter(|limb| limb.parent == parent).map(|limb| limb.size).sum();
        // Rows that fell out leave equal margins on both sides.
        let margin = (limbs[parent].size - children).max(0.0) / 2.0;
        left[k] = left[parent] + margin + taken[parent];
        taken[parent] += limbs[k].size;
    }
    let mut panel = Panel::new("rows", "λ = 1 / distance").size(520.0, 400.0);
    panel.y.reversed = true;
    let mut rest = (Vec::new(), Vec::new());
    let mut links = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (k, limb) in limbs.iter().enumerate() {
        let (x, y) = outline(limb, left[k]);
        if k > 0 {
            let parent = &limbs[limb.parent];
            links.0.push(left[limb.parent] + parent.size / 2.0);
            links.2.push(left[k] + limb.size / 2.0);
            links.1.push(limb.birth);
            links.3.push(limb.birth);
        }
        match limb.cluster {
            Some(cluster) => {
                panel = panel.mark(Mark::polygon(name(cluster as usize), x, y));
            }
            None => {
                rest.0.extend(x);
                rest.1.extend(y);
                rest.0.push(f64::NAN);
                rest.1.push(f64::NAN);
            }
        }
    }
    let splits = Mark::links("splits", (links.0, links.1), (links.2, links.3)).muted().unnamed();
    panel.marks.insert(0, splits);
    panel.marks.insert(0, Mark::polygon("not chosen", rest.0, rest.1).muted());
    let text =
        format!("{} branches; wide ones hold many rows, coloured ones are clusters.", limbs.len());
    Chart::new("Condensed tree", text).panel(panel)
}

/// The closed outline of a branch around the middle of its place.
fn outline(limb: &Limb, left: f64) -> (Vec<f64>, Vec<f64>) {
    let middle = left + limb.size / 2.0;
    let mut losses = limb.losses.clone();
    losses.sort_by(f64::total_cmp);
    let mut steps = vec![(limb.birth, limb.size)];
    let mut rows = limb.size;
    for part in losses.chunk_by(|a, b| a == b) {
        steps.push((part[0], rows));
        rows -= part.len() as f64;
        steps.push((part[0], rows));
    }
    steps.push((limb.death, rows));
    let right = steps.iter().map(|&(lambda, rows)| (middle + rows / 2.0, lambda));
    let back = steps.iter().rev().map(|&(lambda, rows)| (middle - rows / 2.0, lambda));
    right.chain(back).unzip()
}

/// A normal component in the plane of a picture.
#[derive(Clone, Debug)]
pub struct Ellipse {
    /// Share of the rows.
    pub weight: f64,
    /// Its centre.
    pub mean: [f64; 2],
    /// Its covariance in the plane.
    pub covariance: [[f64; 2]; 2],
}

/// The points of an ellipse at so many standard deviations, closed.
pub fn ellipse(part: &Ellipse, deviations: f64) -> Result<(Vec<f64>, Vec<f64>)> {
    const STEPS: usize = 72;
    let covariance = Matrix::from_rows(&part.covariance)?;
    let axes = eigh(&covariance)?;
    let along = |k: usize| deviations * axes.values[k].max(0.0).sqrt();
    let place = |step: usize| {
        let angle = TAU * step as f64 / STEPS as f64;
        let (a, b) = (along(0) * angle.cos(), along(1) * angle.sin());
        let at = |j: usize| part.mean[j] + a * axes.vectors[(j, 0)] + b * axes.vectors[(j, 1)];
        (at(0), at(1))
    };
    Ok((0..=STEPS).map(place).unzip())
}

/// Rows by component, with ellipses at one and two standard deviations of each.
pub fn ellipses(
    axes: [&str; 2],
    points: MatRef,
    labels: &[Option<u32>],
    parts: &[Ellipse],
) -> Result<Chart> {
    let mut chart = scatter(axes, points, labels);
    let Some(panel) = chart.panels.first_mut() else { return Ok(chart) };
    for (k, part) in parts.iter().enumerate() {
        for deviations in [1.0, 2.0] {
            let (x, y) = ellipse(part, deviations)?;
            let mark = Mark::line(name(k), x, y).unnamed();
            panel.marks.push(if deviations > 1.0 { mark.dashed() } else { mark.weight(1.3) });
        }
    }
    let (x, y) = parts.iter().map(|part| (part.mean[0], part.mean[1])).unzip();
    panel.marks.push(Mark::points("mean", x, y).muted().weight(2.5));
    chart.title = "Components of the mixture".into();
    chart.description = format!(
        "{} components: ellipses at one (solid) and two (dashed) standard deviations.",
        parts.len()
    );
    Ok(chart)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_point_of_its_cluster_and_noise_is_grey() {
        let points = Matrix::from_rows(&[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [9.0, 9.0]]).unwrap();
        let labels = [Some(0), Some(2), Some(0), None];
        let marks = &scatter(["a", "b"], points.view(), &labels).panels[0].marks;
        let found: Vec<(&str, usize)> =
            marks.iter().map(|mark| (mark.series.as_str(), mark.x.len())).collect();
        assert_eq!(found, [("noise", 1), ("cluster 0", 2), ("cluster 2", 1)]);
        assert_eq!((&marks[1].x, &marks[1].y), (&vec![0.0, 4.0], &vec![1.0, 5.0]));
    }

    #[test]
    fn areas_have_the_heights_of_their_rows_with_gaps_between_valleys() {
        let reach = [f64::INFINITY, 1.0, 3.0, 2.0];
        let chart = reachability(&[0, 3, 2, 1], &reach, &[Some(0), Some(0), None, Some(0)]);
        let marks = &chart.panels[0].marks;
        assert_eq!(marks[0].y, [3.0, 3.0]);
        let top = 3.0 * 1.08;
        assert_eq!(marks[1].y[..4], [top, top, 2.0, 2.0]);
        assert!(marks[1].y[4].is_nan() && marks[1].y[5..] == [1.0, 1.0]);
    }

    #[test]
    fn a_branch_is_as_wide_as_the_rows_that_are_left() {
        let limb = Limb {
            parent: 0,
            birth: 0.0,
            death: 4.0,
            size: 10.0,
            losses: vec![1.0, 1.0, 2.0],
            cluster: None,
        };
        let (x, y) = outline(&limb, 0.0);
        let half = x.len() / 2;
        let width = |i: usize| x[i] - x[x.len() - 1 - i];
        let widths: Vec<(f64, f64)> = (0..half).map(|i| (y[i], width(i))).collect();
        let expected = [(0.0, 10.0), (1.0, 10.0), (1.0, 8.0), (2.0, 8.0), (2.0, 7.0), (4.0, 7.0)];
        assert_eq!(widths, expected);
    }

    #[test]
    fn points_of_an_ellipse_lie_at_its_deviations() {
        let part = Ellipse { weight: 1.0, mean: [1.0, -2.0], covariance: [[4.0, 1.5], [1.5, 2.0]] };
        let determinant = 4.0 * 2.0 - 1.5 * 1.5;
        let (x, y) = ellipse(&part, 2.0).unwrap();
        for (x, y) in x.iter().zip(&y) {
            let (a, b) = (x - 1.0, y + 2.0);
            let square = (2.0 * a * a - 3.0 * a * b + 4.0 * b * b) / determinant;
            assert!((square - 4.0).abs() < 1e-9, "{square}");
        }
    }
}
