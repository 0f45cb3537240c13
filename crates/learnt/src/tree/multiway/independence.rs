//! Whether classes and branches are independent: Pearson's chi-squared test with (r-1)(c-1) degrees of
//! freedom, Fisher's exact test for two branches and two classes where an expected count is below 5.

use learnt_core::stats::distribution::{ChiSquared, Continuous};
use learnt_core::stats::special::ln_choose;

/// The probability of a table as uneven as this one if branches say nothing about classes.
pub(super) fn p_value(table: &[Vec<f64>]) -> f64 {
    let used: Vec<usize> = (0..table.first().map_or(0, Vec::len))
        .filter(|&k| table.iter().any(|row| row[k] > 0.0))
        .collect();
    let rows: Vec<Vec<f64>> =
        table.iter().map(|row| used.iter().map(|&k| row[k]).collect()).collect();
    let sums: Vec<f64> = rows.iter().map(|row| row.iter().sum()).collect();
    let columns: Vec<f64> = (0..used.len()).map(|k| rows.iter().map(|row| row[k]).sum()).collect();
    let total: f64 = sums.iter().sum();
    if rows.len() < 2 || used.len() < 2 {
        return 1.0;
    }
    let expected = |i: usize, k: usize| sums[i] * columns[k] / total;
    let cells = || (0..rows.len()).flat_map(|i| (0..used.len()).map(move |k| (i, k)));
    let small = cells().any(|(i, k)| expected(i, k) < 5.0);
    let whole = cells().all(|(i, k)| rows[i][k].fract() == 0.0 && rows[i][k] < 1e9);
    if rows.len() == 2 && used.len() == 2 && small && whole {
        return fisher([rows[0][0], rows[0][1], rows[1][0], rows[1][1]].map(|count| count as u64));
    }
    let statistic: f64 =
        cells().map(|(i, k)| (rows[i][k] - expected(i, k)).powi(2) / expected(i, k)).sum();
    let freedom = (rows.len() - 1) * (used.len() - 1);
    ChiSquared::new(freedom as f64).map_or(1.0, |law| law.sf(statistic))
}

/// Two-sided: all tables with the same margins that are at most as probable.
fn fisher([a, b, c, d]: [u64; 4]) -> f64 {
    let (first, second, column) = (a + b, c + d, a + c);
    let log = |x: u64| {
        ln_choose(first, x) + ln_choose(second, column - x) - ln_choose(first + second, column)
    };
    let (low, high) = (column.saturating_sub(second), column.min(first));
    let here = log(a) + 1e-9;
    (low..=high).map(log).filter(|&p| p <= here).map(f64::exp).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_the_p_values_of_r() {
        // chisq.test(correct = FALSE) and fisher.test of the tea tasting table.
        let large = p_value(&[vec![30.0, 20.0], vec![15.0, 35.0]]);
        assert!((large - 0.002_568_831_5).abs() < 1e-9, "{large}");
        let small = p_value(&[vec![3.0, 1.0], vec![1.0, 3.0]]);
        assert!((small - 0.485_714_285_7).abs() < 1e-9, "{small}");
        assert_eq!(p_value(&[vec![3.0, 0.0], vec![1.0, 0.0]]), 1.0);
    }
}
