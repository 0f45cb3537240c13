//! What comes back from a block.

use learnt_core::prelude::*;

/// What a round learnt from some rows; what it did not ask for is empty.
#[derive(Stored, Clone, Debug, Default)]
pub struct Summary {
    /// Rows that count.
    pub(super) rows: u64,
    /// Values of each column of quantities in order, each once.
    pub(super) values: Vec<Vec<f64>>,
    /// How many rows have them; of categories, how many rows each level has.
    pub(super) counts: Vec<Vec<u64>>,
    /// Rows of each group whose keys lie in each part.
    pub(super) key_counts: Vec<u64>,
    /// Keys of each group on the border of the rows set aside.
    pub(super) keys: Vec<Vec<u64>>,
    /// Smallest and largest values of bins of quantities.
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    /// Sums along the tree of rows: weights of classes, moments of targets, or losses and derivatives.
    pub(super) sums: Vec<f64>,
    /// Histograms, node after node.
    pub(super) cells: Vec<i64>,
}

impl Merge for Summary {
    fn merge(mut self, later: Self) -> Result<Self> {
        let lengths = |s: &Self| {
            let keys = (s.key_counts.len(), s.keys.len());
            let columns = (s.values.len(), s.counts.len(), s.low.len(), s.high.len());
            (keys, columns, s.sums.len(), s.cells.len())
        };
        if lengths(&self) != lengths(&later) {
            return Err(Error::internal("summaries of different rounds"));
        }
        self.rows += later.rows;
        for (j, (values, counts)) in later.values.into_iter().zip(later.counts).enumerate() {
            let own = (std::mem::take(&mut self.values[j]), std::mem::take(&mut self.counts[j]));
            (self.values[j], self.counts[j]) = together(own, (values, counts))?;
        }
        self.key_counts.iter_mut().zip(later.key_counts).for_each(|(sum, count)| *sum += count);
        self.keys.iter_mut().zip(later.keys).for_each(|(all, keys)| all.extend(keys));
        self.low.iter_mut().zip(later.low).for_each(|(least, value)| *least = least.min(value));
        self.high.iter_mut().zip(later.high).for_each(|(most, value)| *most = most.max(value));
        self.sums = self.sums.merge(later.sums)?;
        let cells = self.cells.iter_mut().zip(later.cells);
        cells.for_each(|(sum, cell)| *sum = sum.wrapping_add(cell));
        Ok(self)
    }
}

/// Values with their counts.
type Counted = (Vec<f64>, Vec<u64>);

/// Two lists of values in order as one, with the counts of both; counts of levels add up.
fn together(earlier: Counted, later: Counted) -> Result<Counted> {
    let ((a, m), (b, n)) = (&earlier, &later);
    if a.is_empty() && b.is_empty() && m.len() == n.len() {
        let sums = m.iter().zip(n).map(|(m, n)| m + n).collect();
        return Ok((Vec::new(), sums));
    }
    if a.len() != m.len() || b.len() != n.len() {
        return Err(Error::internal("values without their counts"));
    }
    let (mut values, mut counts) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let from_first = j == b.len() || (i < a.len() && a[i] <= b[j]);
        let both = from_first && j < b.len() && a[i] == b[j];
        values.push(if from_first { a[i] } else { b[j] });
        let first = if from_first { m[i] } else { 0 };
        let second = if both || !from_first { n[j] } else { 0 };
        counts.push(first + second);
        i += usize::from(from_first);
        j += usize::from(both || !from_first);
    }
    Ok((values, counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_merge_in_order_with_their_counts() {
        let merged = together(
            (vec![1.0, 2.0, 5.0], vec![1, 2, 3]),
            (vec![-1.0, 2.0, 6.0, 7.0], vec![4, 5, 6, 7]),
        );
        let expected = (vec![-1.0, 1.0, 2.0, 5.0, 6.0, 7.0], vec![4, 1, 7, 3, 6, 7]);
        assert_eq!(merged.unwrap(), expected);
        let levels = together((Vec::new(), vec![1, 0]), (Vec::new(), vec![2, 3]));
        assert_eq!(levels.unwrap(), (Vec::new(), vec![3, 3]));
        let one_sided = together((Vec::new(), Vec::new()), (vec![1.0], vec![9]));
        assert_eq!(one_sided.unwrap(), (vec![1.0], vec![9]));
    }
}
