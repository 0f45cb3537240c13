//! Rows that are copies of others: points by the million at few places cost what the places cost.

use learnt_core::prelude::*;
use std::cmp::Ordering;

/// The different rows of a table, in the order of their first copies.
pub(super) struct Different {
    /// The first copy of each.
    pub(super) firsts: Vec<usize>,
    /// Which of them each row is.
    pub(super) of_row: Vec<u32>,
}

impl Different {
    /// Of finite rows.
    pub(super) fn of(x: MatRef, run: &Context) -> Result<Different> {
        let (n, width) = (x.nrows(), x.ncols());
        run.claim_table(n, width + 3, "the rows in order")?;
        let rows = x.to_matrix();
        let order = |a: u32, b: u32| {
            let pairs = rows.row(a as usize).iter().zip(rows.row(b as usize));
            // Zero has two signs.
            let mut orders = pairs.map(|(x, y)| (x + 0.0).total_cmp(&(y + 0.0)));
            let first = orders.find(|order| order.is_ne());
            first.unwrap_or(Ordering::Equal)
        };
        let mut sorted: Vec<u32> = (0..n as u32).collect();
        sorted.sort_unstable_by(|&a, &b| order(a, b).then(a.cmp(&b)));
        run.checkpoint()?;
        let mut first_of_row = vec![0_u32; n];
        for (k, &row) in sorted.iter().enumerate() {
            let before = k.checked_sub(1).map(|before| sorted[before]);
            first_of_row[row as usize] = match before {
                Some(before) if order(before, row).is_eq() => first_of_row[before as usize],
                _ => row,
            };
        }
        let mut firsts = Vec::new();
        let mut of_row = vec![0; n];
        for (i, &first) in first_of_row.iter().enumerate() {
            of_row[i] = match first as usize == i {
                true => {
                    firsts.push(i);
                    firsts.len() as u32 - 1
                }
                false => of_row[first as usize],
            };
        }
        Ok(Different { firsts, of_row })
    }

    /// Whether so many rows are copies that the others are worth a table of their own.
    pub(super) fn are_few(&self) -> bool {
        2 * self.firsts.len() <= self.of_row.len()
    }

    /// How many copies each has.
    pub(super) fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.firsts.len()];
        self.of_row.iter().for_each(|&place| counts[place as usize] += 1);
        counts
    }

    /// The different rows, each with the weight of its copies.
    pub(super) fn table(&self, data: &Dataset) -> OwnedDataset {
        let mut weights = vec![0.0; self.firsts.len()];
        for (i, &place) in self.of_row.iter().enumerate() {
            weights[place as usize] += data.weight(i);
        }
        let x = data.x.gather(&self.firsts);
        OwnedDataset { x, weights: Some(weights), ..OwnedDataset::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_found_and_their_weights_added() {
        let x = Matrix::from_rows(&[[2.0, 1.0], [0.0, 3.0], [2.0, 1.0], [2.0, 0.0], [0.0, 3.0]]);
        let data = OwnedDataset {
            weights: Some(vec![1.0, 2.0, 4.0, 8.0, 16.0]),
            ..OwnedDataset::unsupervised(x.unwrap())
        };
        let found = Different::of(data.x.values().view(), &Context::default()).unwrap();
        assert_eq!(
            (found.firsts.as_slice(), found.of_row.as_slice()),
            (&[0, 1, 3][..], &[0, 1, 0, 2, 1][..])
        );
        assert!(!found.are_few());
        let table = found.table(&data.view());
        assert_eq!(table.weights.unwrap(), [5.0, 18.0, 8.0]);
        assert_eq!(table.x.values().as_slice(), [2.0, 1.0, 0.0, 3.0, 2.0, 0.0]);
    }
}
