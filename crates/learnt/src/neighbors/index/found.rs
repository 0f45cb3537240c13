//! What a search finds.

/// The k nearest rows of each query, nearest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbors {
    pub(super) k: usize,
    pub(super) rows: Vec<u32>,
    pub(super) distances: Vec<f64>,
}

impl Neighbors {
    /// Number of queries.
    pub fn len(&self) -> usize {
        self.rows.len() / self.k
    }

    /// Whether there are no queries.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows nearest to a query.
    pub fn rows(&self, query: usize) -> &[u32] {
        &self.rows[query * self.k..(query + 1) * self.k]
    }

    /// Their distances.
    pub fn distances(&self, query: usize) -> &[f64] {
        &self.distances[query * self.k..(query + 1) * self.k]
    }

    /// All distances and all rows, query by query.
    pub fn into_parts(self) -> (Vec<f64>, Vec<u32>) {
        (self.distances, self.rows)
    }
}

/// The rows within a radius of each query, in the order of their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Within {
    pub(super) starts: Vec<usize>,
    pub(super) rows: Vec<u32>,
    pub(super) distances: Vec<f64>,
}

impl Within {
    /// Number of queries.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no queries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows within the radius of a query.
    pub fn rows(&self, query: usize) -> &[u32] {
        &self.rows[self.starts[query]..self.starts[query + 1]]
    }

    /// Their distances.
    pub fn distances(&self, query: usize) -> &[f64] {
        &self.distances[self.starts[query]..self.starts[query + 1]]
    }
}
