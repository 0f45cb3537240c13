//! Ensembles whose members are fitted apart: one after another behind a smaller model, or anywhere and joined.

use super::boosted::fewer;
use learnt_core::prelude::*;
use std::ops::Range;

/// A learner that fits members, each determined by its number and the seed.
pub(super) trait OfMembers: Estimator {
    /// How many members a model has.
    fn count(&self) -> usize;

    /// Refuses what only a model with all its members knows.
    fn check_apart(&self) -> Result<()>;

    /// How many members a model has that is there already.
    fn made(model: &Self::Model) -> usize;

    /// Some members by number, as a model, behind those of another model.
    fn grown(
        &self,
        members: Range<usize>,
        before: Option<&Self::Model>,
        data: &Dataset,
        run: &Context,
    ) -> Result<Self::Model>;

    /// The rows that a member draws from so many, in its own run.
    fn drawn(&self, rows: usize, run: &Context) -> Result<Vec<u32>>;

    /// The model of the members of several.
    fn joined(parts: &[&Self::Model]) -> Result<Self::Model>;

    /// The members that a model lacks, behind those it has.
    fn lengthened(
        &self,
        model: &Self::Model,
        data: &Dataset,
        run: &Context,
    ) -> Result<Self::Model> {
        let (made, count) = (Self::made(model), self.count());
        match made > count {
            true => Err(fewer("n_estimators", made, count)),
            false => self.grown(made..count, Some(model), data, run),
        }
    }
}

/// What an [`OfMembers`] learner does as an [`Estimator`].
macro_rules! of_members {
    () => {
        fn train(&self, data: &Dataset, run: &Context) -> Result<Self::Model> {
            self.grown(0..self.count(), None, data, run)
        }

        fn members(&self) -> Option<usize> {
            Some(self.count())
        }

        fn train_members(
            &self,
            members: std::ops::Range<usize>,
            data: &Dataset,
            run: &Context,
        ) -> Result<Self::Model> {
            self.check_apart()?;
            self.grown(members, None, data, run)
        }

        fn draws(&self, rows: usize, run: &Context) -> Result<Option<Vec<Vec<u32>>>> {
            let of_member = |m: usize| self.drawn(rows, &run.child(m as u64));
            Ok(Some(run.try_par_map(self.count(), of_member)?))
        }

        fn join(&self, parts: &[&Self::Model]) -> Result<Self::Model> {
            Self::joined(parts)
        }

        fn extend(
            &self,
            model: &Self::Model,
            data: &Dataset,
            run: &Context,
        ) -> Result<Self::Model> {
            self.lengthened(model, data, run)
        }
    };
}
pub(super) use of_members;
