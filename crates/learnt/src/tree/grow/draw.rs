//! Random cuts, each determined by the seed, the node and the column.

use super::Settings;
use super::scan::Group;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

impl Settings {
    /// A random cut between two values: how many go left, and the cut itself.
    pub(super) fn draw_cut(
        &self,
        feature: usize,
        low: f64,
        high: f64,
        count: impl Fn(f64) -> usize,
        key: u64,
        run: &Context,
    ) -> (Option<usize>, Option<f64>) {
        if !self.random {
            return (None, None);
        }
        let share = sample::uniform(&mut run.row_rng(key, feature as u64));
        let drawn = low * (1.0 - share) + high * share;
        let drawn = if drawn >= low && drawn < high { drawn } else { low };
        (Some(count(drawn)), Some(drawn))
    }

    /// A random number of groups that go left.
    pub(super) fn draw_group(
        &self,
        feature: usize,
        groups: usize,
        key: u64,
        run: &Context,
    ) -> Option<usize> {
        let rng = &mut run.row_rng(key, feature as u64);
        self.random.then(|| 1 + sample::below(rng, groups.saturating_sub(1).max(1) as u64) as usize)
    }

    /// The same as a number of rows.
    pub(super) fn draw_position(
        &self,
        feature: usize,
        groups: &[Group],
        rows: usize,
        key: u64,
        run: &Context,
    ) -> Option<usize> {
        let place = self.draw_group(feature, groups.len(), key, run)?;
        Some(groups.iter().take(place).map(|group| group.rows).sum::<usize>().min(rows))
    }
}
