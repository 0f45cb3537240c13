//! The cuts of a quantity where the class changes: the only ones that can be best for the entropy.
//!
//! Sorted by value, a cut lies halfway between two neighbouring distinct values unless all rows of both
//! have one and the same class.
//!
//! Reference: Fayyad and Irani (1992), Machine Learning 8, 87-102.

use super::grow::midpoint;
use learnt_core::prelude::*;

/// Cuts of a quantity between values of different classes.
#[derive(Params, Clone, Debug)]
pub struct ClassChangeCuts {}

/// A quantity beside the classes.
#[derive(Inputs, Clone, Copy)]
pub struct QuantityAndClass<'a> {
    /// The quantity in each row.
    pub x: &'a [f64],
    /// The class of each row.
    pub y: Classes<'a>,
}

impl Function for ClassChangeCuts {
    type Inputs<'a> = QuantityAndClass<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable =
        &Callable::new("tree.class_change_cuts", FunctionKind::Analysis)
            .reference("Fayyad and Irani (1992)");

    fn call(&self, given: QuantityAndClass, _run: &Context) -> Result<Vec<f64>> {
        let mut rows: Vec<(f64, u32)> =
            given.x.iter().copied().zip(given.y.codes.iter().copied()).collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let groups: Vec<&[(f64, u32)]> = rows.chunk_by(|a, b| a.0 == b.0).collect();
        let changes = |pair: &[&[(f64, u32)]]| {
            let class = pair[0][0].1;
            !pair.iter().all(|group| group.iter().all(|row| row.1 == class))
        };
        let cuts = groups.windows(2).filter(|pair| changes(pair));
        Ok(cuts.map(|pair| midpoint(pair[0][0].0, pair[1][0].0)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_lie_where_the_class_changes() {
        let x = [64., 65., 68., 69., 70., 71., 72., 75., 80., 81., 83., 85.];
        let (codes, classes) = Label::encode(
            &"ynyyynnynyyn"
                .chars()
                .map(|c| Label::from(c.to_string().as_str()))
                .collect::<Vec<_>>(),
        );
        let y = Classes { codes: &codes, classes: &classes };
        let cuts = ClassChangeCuts {}.compute(QuantityAndClass { x: &x, y }).unwrap();
        assert_eq!(cuts, [64.5, 66.5, 70.5, 73.5, 77.5, 80.5, 84.0]);
        // Two classes at one value: both cuts beside it count.
        let y = Classes { codes: &[0, 0, 1, 1], classes: &classes };
        let cuts =
            ClassChangeCuts {}.compute(QuantityAndClass { x: &[1., 2., 2., 3.], y }).unwrap();
        assert_eq!(cuts, [1.5, 2.5]);
    }
}
