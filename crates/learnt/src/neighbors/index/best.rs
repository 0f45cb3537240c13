//! The k best rows so far, in order.

/// Sums and rows, ascending by (sum, row). Places not yet taken hold an infinite sum and a row
/// number that no row has.
pub(super) struct Best {
    sums: Vec<f64>,
    rows: Vec<u32>,
}

impl Best {
    /// Room for `k` > 0 rows.
    pub(super) fn new(k: usize) -> Best {
        Best { sums: vec![f64::INFINITY; k], rows: vec![u32::MAX; k] }
    }

    /// The largest sum kept; a row with a larger one cannot enter.
    #[inline(always)]
    pub(super) fn worst(&self) -> f64 {
        self.sums[self.sums.len() - 1]
    }

    /// The sums, ascending.
    pub(super) fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// The rows of the sums.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Takes the row in if it is better than the worst one kept.
    #[inline(always)]
    pub(super) fn offer(&mut self, sum: f64, row: u32) {
        let last = self.sums.len() - 1;
        let before = |i: usize, best: &Best| {
            sum < best.sums[i] || (sum == best.sums[i] && row < best.rows[i])
        };
        if !before(last, self) {
            return;
        }
        let mut place = last;
        while place > 0 && before(place - 1, self) {
            self.sums[place] = self.sums[place - 1];
            self.rows[place] = self.rows[place - 1];
            place -= 1;
        }
        self.sums[place] = sum;
        self.rows[place] = row;
    }
}
