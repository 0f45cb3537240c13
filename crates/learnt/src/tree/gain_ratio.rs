//! The gain ratio of a split: information gain over split information, as C4.5 chooses attributes.
//!
//! gain = H(y) - Σ_v n_v/n H(y | v), split information = -Σ_v n_v/n log₂ n_v/n, in bits; n are weights.
//! The ratio is 0 where all rows have one value.
//!
//! Reference: Quinlan (1986), Induction of decision trees.

use super::impurity::ImpurityKind;
use learnt_core::prelude::*;

/// Gain ratio of a categorical attribute: information gain over the information of the split.
#[derive(Params, Clone, Debug)]
pub struct GainRatio {}

/// An attribute beside the classes.
#[derive(Inputs, Clone, Copy)]
pub struct AttributeAndClass<'a> {
    /// The value of the attribute in each row.
    pub x: Classes<'a>,
    /// The class of each row.
    pub y: Classes<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// What a split tells about the classes, in bits.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct SplitGain {
    /// Information gain over split information.
    pub gain_ratio: f64,
    /// Entropy of the classes less its mean within the values.
    pub gain: f64,
    /// Entropy of the values themselves.
    pub split_information: f64,
}

impl Function for GainRatio {
    type Inputs<'a> = AttributeAndClass<'a>;
    type Output = SplitGain;
    const ABOUT: &'static Callable =
        &Callable::new("tree.gain_ratio", FunctionKind::Metric).reference("Quinlan (1986)");

    fn call(&self, given: AttributeAndClass, _run: &Context) -> Result<SplitGain> {
        let counts = given.table();
        let values: Vec<f64> = counts.rows().map(|row| row.iter().sum()).collect();
        let gain = ImpurityKind::Entropy.decrease(&counts);
        let split_information = ImpurityKind::Entropy.of(&values);
        let gain_ratio = if split_information > 0.0 { gain / split_information } else { 0.0 };
        Ok(SplitGain { gain_ratio, gain, split_information })
    }
}

impl AttributeAndClass<'_> {
    /// Weight of the rows of each value (rows) and class (columns).
    pub(super) fn table(&self) -> Matrix {
        let mut counts = Matrix::zeros(self.x.classes.len(), self.y.classes.len());
        for (i, (&value, &class)) in self.x.codes.iter().zip(self.y.codes).enumerate() {
            let weight = self.sample_weight.map_or(1.0, |weights| weights[i]);
            counts[(value as usize, class as usize)] += weight;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(column: &str) -> f64 {
        let data = crate::datasets::load("weather_nominal").unwrap();
        let j = data.x.schema().find(column).unwrap();
        let x: Vec<u32> = data.x.values().view().column(j).iter().map(|&v| v as u32).collect();
        let levels = data.x.schema().column(j).levels().unwrap();
        let values: Vec<Label> = levels.iter().map(|level| Label::Text(level.clone())).collect();
        let Some(Target::Class { codes, classes }) = data.view().y else { panic!("no classes") };
        let given = AttributeAndClass {
            x: Classes { codes: &x, classes: &values },
            y: Classes { codes, classes },
            sample_weight: None,
        };
        GainRatio {}.compute(given).unwrap().gain_ratio
    }

    #[test]
    fn the_tennis_table_agrees() {
        assert!((ratio("outlook") - 0.156_428).abs() < 1e-6);
        assert!((ratio("humidity") - 0.151_836).abs() < 1e-6);
    }

    #[test]
    fn a_split_into_one_part_has_no_gain() {
        let classes = ["a", "b"].map(Label::from);
        let x = Classes { codes: &[0, 0, 0], classes: &classes };
        let y = Classes { codes: &[0, 1, 0], classes: &classes };
        let found = GainRatio {}.compute(AttributeAndClass { x, y, sample_weight: None }).unwrap();
        assert_eq!((found.gain_ratio, found.split_information), (0.0, 0.0));
    }
}
