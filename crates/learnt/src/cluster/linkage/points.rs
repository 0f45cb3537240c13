//! Clusters as points with sizes: means, or midpoints. Eight points at a time are measured; points
//! that have merged are squeezed out now and then, in order.

use super::{Linkage, Space};
use learnt_core::prelude::*;
use learnt_core::vectorized;

const LANES: usize = 8;
type Lanes = [f64; LANES];

/// Live clusters in order of their numbers.
pub(super) struct Points {
    linkage: Linkage,
    width: usize,
    /// Points eight by eight, column after column.
    values: Vec<Lanes>,
    sizes: Vec<Lanes>,
    /// Zero for live points, infinite for those that are gone.
    gone: Vec<Lanes>,
    /// The cluster at each place.
    clusters: Vec<u32>,
    /// The place of each cluster.
    places: Vec<u32>,
    live: usize,
}

impl Points {
    pub(super) fn new(x: MatRef, linkage: Linkage) -> Points {
        let (n, width) = (x.nrows(), x.ncols());
        let blocks = n.div_ceil(LANES);
        let mut points = Points {
            linkage,
            width,
            values: vec![[0.0; LANES]; blocks * width],
            sizes: vec![[1.0; LANES]; blocks],
            gone: vec![[f64::INFINITY; LANES]; blocks],
            clusters: (0..n as u32).collect(),
            places: (0..n as u32).collect(),
            live: n,
        };
        let mut row = vec![0.0; width];
        for i in 0..n {
            x.copy_row(i, &mut row);
            points.put(i, &row, 1.0);
        }
        points
    }

    fn put(&mut self, place: usize, row: &[f64], size: f64) {
        let (block, lane) = (place / LANES, place % LANES);
        for (lanes, &value) in self.values[block * self.width..].iter_mut().zip(row) {
            lanes[lane] = value;
        }
        self.sizes[block][lane] = size;
        self.gone[block][lane] = 0.0;
    }

    fn get(&self, place: usize) -> (Vec<f64>, f64) {
        let (block, lane) = (place / LANES, place % LANES);
        let values = &self.values[block * self.width..(block + 1) * self.width];
        (values.iter().map(|lanes| lanes[lane]).collect(), self.sizes[block][lane])
    }

    /// Squeezes out what is gone; the order stays.
    fn squeeze(&mut self) {
        let mut kept = Vec::with_capacity(self.live);
        for place in 0..self.clusters.len() {
            if self.gone[place / LANES][place % LANES] > 0.0 {
                continue;
            }
            let (row, size) = self.get(place);
            self.put(kept.len(), &row, size);
            self.places[self.clusters[place] as usize] = kept.len() as u32;
            kept.push(self.clusters[place]);
        }
        let blocks = kept.len().div_ceil(LANES);
        for place in kept.len()..blocks * LANES {
            self.gone[place / LANES][place % LANES] = f64::INFINITY;
        }
        self.values.truncate(blocks * self.width);
        self.sizes.truncate(blocks);
        self.gone.truncate(blocks);
        self.clusters = kept;
    }

    /// The distance to compare by: half the squared height.
    #[inline(always)]
    fn scale(linkage: Linkage, a: f64, b: f64) -> f64 {
        match linkage {
            Linkage::Ward => 2.0 * a * b / (a + b),
            _ => 1.0,
        }
    }

    #[inline(always)]
    fn scan(&self, row: &[f64], size: f64, own: usize) -> (usize, f64) {
        let mut least = [f64::INFINITY; LANES];
        let mut blocks = [u32::MAX; LANES];
        for (b, values) in self.values.chunks_exact(self.width).enumerate() {
            let mut sums = [0.0; LANES];
            for (lanes, &x) in values.iter().zip(row) {
                for lane in 0..LANES {
                    let d = lanes[lane] - x;
                    sums[lane] += d * d;
                }
            }
            let (sizes, gone) = (&self.sizes[b], &self.gone[b]);
            for lane in 0..LANES {
                sums[lane] = sums[lane] * Self::scale(self.linkage, size, sizes[lane]) + gone[lane];
            }
            if b == own / LANES {
                sums[own % LANES] = f64::INFINITY;
            }
            for lane in 0..LANES {
                let better = sums[lane] < least[lane];
                least[lane] = if better { sums[lane] } else { least[lane] };
                blocks[lane] = if better { b as u32 } else { blocks[lane] };
            }
        }
        let mut best = (f64::INFINITY, usize::MAX);
        for lane in 0..LANES {
            let place = (blocks[lane] as usize).saturating_mul(LANES).saturating_add(lane);
            if least[lane] < best.0 || (least[lane] == best.0 && place < best.1) {
                best = (least[lane], place);
            }
        }
        (best.1, best.0)
    }
}

impl Space for Points {
    fn nearest(&mut self, of: usize) -> (usize, f64) {
        let place = self.places[of] as usize;
        let (row, size) = self.get(place);
        let this = &*self;
        let (found, distance) = vectorized!(this.scan(&row, size, place));
        // Distances that overflow leave nobody: any other live cluster will do.
        let found = match self.clusters.get(found) {
            Some(&cluster) => cluster,
            None => {
                let mut others = (0..self.clusters.len()).filter(|&other| {
                    other != place && self.gone[other / LANES][other % LANES] == 0.0
                });
                self.clusters[others.next().unwrap_or(place)]
            }
        };
        (found as usize, distance)
    }

    fn distance(&self, a: usize, b: usize) -> f64 {
        let (x, size) = self.get(self.places[a] as usize);
        let (y, other) = self.get(self.places[b] as usize);
        let square = x.iter().zip(&y).fold(0.0, |sum, (x, y)| {
            let d = x - y;
            sum + d * d
        });
        square * Self::scale(self.linkage, size, other)
    }

    fn merge(&mut self, gone: usize, kept: usize) {
        let (a, b) = (self.places[gone] as usize, self.places[kept] as usize);
        let ((x, size), (y, other)) = (self.get(a), self.get(b));
        let share = match self.linkage {
            Linkage::Median => 0.5,
            _ => size / (size + other),
        };
        let middle: Vec<f64> = x.iter().zip(&y).map(|(x, y)| y + share * (x - y)).collect();
        self.put(b, &middle, size + other);
        self.gone[a / LANES][a % LANES] = f64::INFINITY;
        self.live -= 1;
        if self.live * 4 < self.clusters.len() * 3 {
            self.squeeze();
        }
    }

    fn height(&self, distance: f64) -> f64 {
        distance.sqrt()
    }
}
