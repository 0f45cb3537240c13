//! Columns that alone predict the target almost perfectly, which real inputs hardly ever do: they were made
//! from the target, or known only after it.
//!
//! Classes: the rows of each level, or of each of fifty parts of the sorted numbers, are given their commonest
//! class; a column tells if this is wrong for at most a fiftieth of the rows that the commonest class of all is
//! wrong for. Numbers: the share of variance between those groups is above 0.999. At most 20,000 rows are
//! looked at, evenly spread, and at least a hundred are needed.

use learnt_core::prelude::*;

/// A column that alone predicts the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Giveaway {
    /// Which.
    pub column: usize,
    /// Share of the rows that it classifies rightly, or of the variance that it explains.
    pub share: f64,
}

const ROWS: usize = 20_000;
const ENOUGH: usize = 100;
const PARTS: usize = 50;

/// The columns that alone predict the target.
pub fn giveaways(data: &Dataset) -> Vec<Giveaway> {
    let step = data.nrows().div_ceil(ROWS).max(1);
    let rows: Vec<usize> = (0..data.nrows()).step_by(step).collect();
    if rows.len() < ENOUGH {
        return Vec::new();
    }
    let tells = |column: usize| {
        let groups = groups_of(data, column, &rows)?;
        let share = match data.y? {
            Target::Class { codes, classes } => class_share(&rows, &groups, codes, classes.len()),
            Target::Real(y) if y.ncols() == 1 => variance_share(&rows, &groups, |i| y.at(i, 0)),
            Target::Real(_) => None,
        }?;
        Some(Giveaway { column, share })
    };
    (0..data.x.ncols()).filter_map(tells).collect()
}

/// The group of each row, missing values a group of their own; none where groups are hardly larger than rows.
fn groups_of(data: &Dataset, column: usize, rows: &[usize]) -> Option<Vec<usize>> {
    let value = |i: usize| data.x.values().at(i, column);
    if let Some(levels) = data.x.schema().column(column).levels() {
        let group = |&i: &usize| if value(i).is_nan() { levels.len() } else { value(i) as usize };
        return (10 * levels.len() <= rows.len()).then(|| rows.iter().map(group).collect());
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| value(rows[a]).total_cmp(&value(rows[b])));
    let size = rows.len().div_ceil(PARTS);
    let mut groups = vec![0; rows.len()];
    let (mut group, mut inside) = (0, 0);
    for (k, &place) in order.iter().enumerate() {
        let new = k > 0 && value(rows[place]).to_bits() != value(rows[order[k - 1]]).to_bits();
        if new && inside >= size {
            (group, inside) = (group + 1, 0);
        }
        groups[place] = group;
        inside += 1;
    }
    Some(groups)
}

fn class_share(rows: &[usize], groups: &[usize], codes: &[u32], classes: usize) -> Option<f64> {
    let count = groups.iter().max()? + 1;
    let mut table = vec![0_usize; count * classes];
    let mut whole = vec![0_usize; classes];
    for (&i, &group) in rows.iter().zip(groups) {
        table[group * classes + codes[i] as usize] += 1;
        whole[codes[i] as usize] += 1;
    }
    let right: usize = table.chunks(classes).filter_map(|group| group.iter().max()).sum();
    let (wrong, usual) = (rows.len() - right, rows.len() - whole.iter().max()?);
    (usual > 0 && 50 * wrong <= usual).then(|| right as f64 / rows.len() as f64)
}

fn variance_share(rows: &[usize], groups: &[usize], y: impl Fn(usize) -> f64) -> Option<f64> {
    let count = groups.iter().max()? + 1;
    let mean = rows.iter().map(|&i| y(i)).sum::<f64>() / rows.len() as f64;
    let (mut sums, mut sizes) = (vec![0.0; count], vec![0.0_f64; count]);
    for (&i, &group) in rows.iter().zip(groups) {
        sums[group] += y(i) - mean;
        sizes[group] += 1.0;
    }
    let total: f64 = rows.iter().map(|&i| (y(i) - mean).powi(2)).sum();
    let between: f64 = sums.iter().zip(&sizes).map(|(sum, size)| sum * sum / size.max(1.0)).sum();
    let share = between / total;
    (share > 0.999 && share.is_finite()).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(data: &OwnedDataset) -> Vec<usize> {
        giveaways(&data.view()).iter().map(|found| found.column).collect()
    }

    #[test]
    fn a_copy_of_the_target_is_found_among_honest_columns() {
        let run = Context::default();
        let mut churn = crate::datasets::generate::Churn::default().call((), &run).unwrap();
        assert_eq!(columns(&churn), [] as [usize; 0]);
        let codes = churn.view().class_target().unwrap().0.to_vec();
        let (tenure, calls) = (9, 17);
        for (i, &code) in codes.iter().enumerate() {
            churn.x.values_mut()[(i, tenure)] = f64::from(code) * 3.0 - 1.0;
            let noisy = code == 1 && i % 10 > 0;
            churn.x.values_mut()[(i, calls)] = f64::from(u8::from(noisy));
        }
        assert_eq!(columns(&churn), [tenure]);
    }

    #[test]
    fn a_number_that_is_the_target_in_other_units_is_found() {
        let x = Matrix::from_fn(
            300,
            2,
            |i, j| if j == 0 { i as f64 * 2.0 + 1.0 } else { (i % 7) as f64 },
        );
        let y = (0..300).map(f64::from).collect();
        assert_eq!(columns(&OwnedDataset::regression(x, y)), [0]);
        for name in ["iris", "wine", "breast_cancer", "cpu", "digits", "vote"] {
            assert_eq!(columns(&crate::datasets::load(name).unwrap()), [] as [usize; 0], "{name}");
        }
    }
}
