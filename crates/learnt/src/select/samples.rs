//! Division into training and test rows, resamples and class weights, as functions.

use super::resample::{
    Balance as Balanced, balanced_class_weights, balanced_sample, bootstrap,
    median_frequency_weights, weighted_resample,
};
use super::split::{Size, holdout};
use super::splitters::{PartSize, bare_rows, part_sizes};
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// Divisions, resamples and class weights.
pub const SAMPLES: &[FunctionEntry] = &[
    function::<TrainTestRows>(),
    function::<BootstrapSample>(),
    function::<WeightedResample>(),
    function::<BalancedSample>(),
    function::<ClassWeights>(),
    function::<RowWeights>(),
];

/// The stream of random numbers of resamples.
const SAMPLES_STREAM: u64 = 0x7361_6d70_6c65;

/// Divides rows at random into training, validation and test rows, by their numbers.
#[derive(Params, Clone, Debug)]
pub struct TrainTestRows {
    /// Number of rows.
    #[param(positional)]
    pub n_samples: usize,
    /// Test rows: a share or a number; what training leaves, or a quarter.
    pub test_size: Option<PartSize>,
    /// Training rows: a share or a number; what testing leaves by default.
    pub train_size: Option<PartSize>,
    /// Validation rows: a share or a number, taken from those for training.
    pub validation_size: Option<PartSize>,
    /// Whether rows are drawn at random; else the first are for training and the last for testing.
    #[param(default = true)]
    pub shuffle: bool,
}

/// What a division has to respect.
#[derive(Inputs, Clone, Copy)]
pub struct Respected<'a> {
    /// Classes whose shares each part keeps.
    pub stratify: Option<Classes<'a>>,
    /// Groups that stay together.
    pub groups: Option<Classes<'a>>,
}

/// The numbers of the rows in each part, from 0.
#[derive(Output, Clone, Debug, PartialEq, Eq)]
pub struct PartRows {
    /// Rows to train on.
    pub train: Vec<usize>,
    /// Rows for the final estimate.
    pub test: Vec<usize>,
    /// Rows to choose by.
    pub validation: Vec<usize>,
}

impl Function for TrainTestRows {
    type Inputs<'a> = Respected<'a>;
    type Output = PartRows;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.train_test_rows", FunctionKind::Split)
            .alias(&["train-test", "holdout"])
            .randomness();

    fn call(&self, given: Respected, run: &Context) -> Result<PartRows> {
        let n = self.n_samples;
        let (train, test) = part_sizes(n, self.train_size, self.test_size, 0.25)?;
        let validation = match self.validation_size {
            None => 0,
            Some(PartSize::Rows(rows)) => rows,
            Some(PartSize::Share(share)) => (share * n as f64).ceil() as usize,
        };
        if validation >= train {
            let message = format!("{validation} validation rows leave none of {train} to train on");
            return Err(Error::new(Code::TooFew, message));
        }
        if !self.shuffle {
            return self.in_order(train - validation, validation, test, given);
        }
        self.at_random(train - validation, validation, test, given, run)
    }
}

impl TrainTestRows {
    fn in_order(
        &self,
        train: usize,
        validation: usize,
        test: usize,
        given: Respected,
    ) -> Result<PartRows> {
        if given.stratify.is_some() || given.groups.is_some() {
            let message = "rows in their order cannot keep classes or groups";
            return Err(
                Error::new(Code::Usage, message).hint("shuffle, or leave out stratify and groups")
            );
        }
        let end = train + validation;
        Ok(PartRows {
            train: (0..train).collect(),
            validation: (train..end).collect(),
            test: (end..end + test).collect(),
        })
    }

    /// Draws the test rows, then the others; the order within a part is random too.
    fn at_random(
        &self,
        train: usize,
        validation: usize,
        test: usize,
        given: Respected,
        run: &Context,
    ) -> Result<PartRows> {
        let data = bare_rows(self.n_samples, given.stratify, given.groups)?;
        let stratify = given.stratify.is_some();
        let parts = holdout(&data.view(), Size::Rows(validation), Size::Rows(test), stratify, run)?;
        let mut out =
            PartRows { train: parts.train, test: parts.test, validation: parts.validation };
        let mut rng = run.rng(SAMPLES_STREAM);
        let unused = out.train.len().saturating_sub(train);
        if given.groups.is_none() && unused > 0 {
            let own: Vec<usize> = out.train.clone();
            let codes = given.stratify.map(|classes| {
                let codes: Vec<u32> = own.iter().map(|&i| classes.codes[i]).collect();
                (codes, classes.classes)
            });
            let classes = codes.as_ref().map(|(codes, classes)| Classes { codes, classes });
            let inner = bare_rows(own.len(), classes, None)?;
            let kept =
                holdout(&inner.view(), Size::Rows(0), Size::Rows(unused), stratify, &run.child(1))?;
            out.train = kept.train.into_iter().map(|i| own[i]).collect();
        }
        for part in [&mut out.train, &mut out.test, &mut out.validation] {
            sample::shuffle(&mut rng, part);
        }
        Ok(out)
    }
}

/// Draws rows with replacement: the bootstrap sample, and the rows left out of it.
#[derive(Params, Clone, Debug)]
pub struct BootstrapSample {
    /// Number of rows to draw from.
    #[param(required, positional, range = 1..)]
    pub n_samples: usize,
    /// Number of draws; as many as rows by default.
    #[param(range = 1..)]
    pub draws: Option<usize>,
}

/// A sample with replacement.
#[derive(Output, Clone, Debug, PartialEq, Eq)]
pub struct BootstrapRows {
    /// The drawn rows, in the order of the draws.
    pub rows: Vec<usize>,
    /// Rows that were not drawn, in rising order.
    pub out_of_bag: Vec<usize>,
}

impl Function for BootstrapSample {
    type Inputs<'a> = ();
    type Output = BootstrapRows;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.bootstrap_sample", FunctionKind::Statistic).randomness();

    fn call(&self, _inputs: (), run: &Context) -> Result<BootstrapRows> {
        let draws = self.draws.unwrap_or(self.n_samples);
        run.claim((draws.saturating_add(self.n_samples) as u64).saturating_mul(24), "the sample")?;
        let drawn = bootstrap(self.n_samples, draws, &mut run.rng(SAMPLES_STREAM));
        Ok(BootstrapRows { rows: drawn.rows, out_of_bag: drawn.out_of_bag })
    }
}

/// Draws rows with replacement, each with probability proportional to its weight.
#[derive(Params, Clone, Debug)]
pub struct WeightedResample {
    /// Number of draws; as many as weights by default.
    #[param(range = 1..)]
    pub draws: Option<usize>,
}

/// A weight for each row.
#[derive(Inputs, Clone, Copy)]
pub struct WeightOfRow<'a> {
    /// How likely each row is drawn.
    pub weights: &'a [f64],
}

impl Function for WeightedResample {
    type Inputs<'a> = WeightOfRow<'a>;
    type Output = Vec<i64>;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.weighted_resample", FunctionKind::Statistic).randomness();

    fn call(&self, given: WeightOfRow, run: &Context) -> Result<Vec<i64>> {
        let draws = self.draws.unwrap_or(given.weights.len());
        run.claim((draws as u64).saturating_mul(16), "the sample")?;
        let rows = weighted_resample(given.weights, draws, &mut run.rng(SAMPLES_STREAM))?;
        Ok(rows.into_iter().map(|row| row as i64).collect())
    }
}

/// Draws rows so that all classes are equally frequent.
#[derive(Params, Clone, Debug)]
pub struct BalancedSample {
    /// How many rows each class gets.
    #[param(default = Balance::Over)]
    pub balance: Balance,
}

/// How classes are brought to equal numbers.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balance {
    /// As many as the largest class has; rows of smaller ones repeat.
    Over,
    /// As many as the smallest class has.
    Under,
    /// This many rows in all.
    #[choice(range = 1..)]
    Total(usize),
}

impl Function for BalancedSample {
    type Inputs<'a> = super::splitters::ClassOfRow<'a>;
    type Output = Vec<i64>;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.balanced_sample", FunctionKind::Statistic).randomness();

    fn call(&self, given: super::splitters::ClassOfRow, run: &Context) -> Result<Vec<i64>> {
        let balance = match self.balance {
            Balance::Over => Balanced::Over,
            Balance::Under => Balanced::Under,
            Balance::Total(rows) => Balanced::Total(rows),
        };
        let most = match self.balance {
            Balance::Total(rows) => rows,
            _ => given.y.codes.len().saturating_mul(given.y.classes.len()),
        };
        run.claim((most as u64).saturating_mul(8), "the sample")?;
        let rows = balanced_sample(given.y.codes, balance, &mut run.rng(SAMPLES_STREAM));
        Ok(rows.into_iter().map(|row| row as i64).collect())
    }
}

/// How weights follow from the numbers of rows of the classes.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClassWeight {
    /// All rows over the number of classes times the rows of the class.
    #[default]
    Balanced,
    /// The median number of rows over the rows of the class.
    MedianFrequency,
    /// 1 for every class.
    #[choice(none)]
    Even,
}

impl ClassWeight {
    /// The weight of each class from its rows; classes without rows have weight 0.
    fn weights(self, counts: &[f64]) -> Vec<f64> {
        match self {
            ClassWeight::Balanced => balanced_class_weights(counts),
            ClassWeight::MedianFrequency => median_frequency_weights(counts),
            ClassWeight::Even => vec![1.0; counts.len()],
        }
    }
}

/// A weight for each class, so that rare classes count as much as frequent ones.
#[derive(Params, Clone, Debug)]
pub struct ClassWeights {
    /// How weights follow from the numbers of rows.
    #[param(positional)]
    pub class_weight: ClassWeight,
    /// The classes in the order wanted; all in sorted order by default.
    pub classes: Option<Vec<Value>>,
}

/// Rows of classes that may count differently.
#[derive(Inputs, Clone, Copy)]
pub struct WeightedClasses<'a> {
    /// The class of each row.
    pub y: Classes<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

impl WeightedClasses<'_> {
    fn counts(&self) -> Vec<f64> {
        let mut counts = vec![0.0; self.y.classes.len()];
        for (i, &code) in self.y.codes.iter().enumerate() {
            counts[code as usize] += self.sample_weight.map_or(1.0, |weights| weights[i]);
        }
        counts
    }
}

impl Function for ClassWeights {
    type Inputs<'a> = WeightedClasses<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable = &Callable::new("utils.class_weights", FunctionKind::Statistic)
        .alias(&["compute-class-weight"]);

    fn call(&self, given: WeightedClasses, _run: &Context) -> Result<Vec<f64>> {
        let weights = self.class_weight.weights(&given.counts());
        let Some(wanted) = &self.classes else { return Ok(weights) };
        let find = |value: &Value| {
            let label = Label::from_value(value);
            let place = given.y.classes.iter().position(|class| Some(class) == label.as_ref());
            place.map(|k| weights[k]).ok_or_else(|| {
                Error::parameter("classes", "classes that are among those of y", value)
            })
        };
        wanted.iter().map(find).collect()
    }
}

/// A weight for each row from the number of rows of its class.
#[derive(Params, Clone, Debug)]
pub struct RowWeights {
    /// How weights follow from the numbers of rows.
    #[param(positional)]
    pub class_weight: ClassWeight,
}

impl Function for RowWeights {
    type Inputs<'a> = WeightedClasses<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable = &Callable::new("utils.row_weights", FunctionKind::Statistic)
        .alias(&["compute-sample-weight"]);

    fn call(&self, given: WeightedClasses, _run: &Context) -> Result<Vec<f64>> {
        super::resample::row_weights(given.y.codes, &self.class_weight.weights(&given.counts()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(codes: &[u32]) -> Classes<'_> {
        const NAMES: &[Label] = &[Label::Int(0), Label::Int(1)];
        Classes { codes, classes: NAMES }
    }

    #[test]
    fn rows_are_divided_once_and_keep_the_shares_of_the_classes() {
        let codes: Vec<u32> = (0..40).map(|i| u32::from(i % 4 == 0)).collect();
        let split = TrainTestRows {
            n_samples: 40,
            validation_size: Some(PartSize::Share(0.25)),
            ..Default::default()
        };
        let given = Respected { stratify: Some(classes(&codes)), groups: None };
        let parts = split.compute(given).unwrap();
        assert_eq!((parts.train.len(), parts.validation.len(), parts.test.len()), (20, 10, 10));
        let ones = |rows: &[usize]| rows.iter().filter(|&&i| codes[i] == 1).count();
        assert_eq!(ones(&parts.train), 5);
        let mut all = [parts.train, parts.validation, parts.test].concat();
        all.sort_unstable();
        assert_eq!(all, (0..40).collect::<Vec<_>>());
    }

    #[test]
    fn a_smaller_training_part_leaves_rows_out_and_order_can_be_kept() {
        let none = || Respected { stratify: None, groups: None };
        let small = TrainTestRows {
            n_samples: 20,
            train_size: Some(PartSize::Rows(4)),
            test_size: Some(PartSize::Rows(6)),
            ..Default::default()
        };
        let parts = small.compute(none()).unwrap();
        assert_eq!((parts.train.len(), parts.test.len()), (4, 6));
        let ordered = TrainTestRows { shuffle: false, ..small };
        let parts = ordered.compute(none()).unwrap();
        assert_eq!((parts.train, parts.test), (vec![0, 1, 2, 3], vec![4, 5, 6, 7, 8, 9]));
    }

    #[test]
    fn weights_of_classes_and_rows_agree_and_follow_the_order_wanted() {
        let codes = [0, 0, 0, 1];
        let given = WeightedClasses { y: classes(&codes), sample_weight: None };
        let balanced = ClassWeights::default().compute(given).unwrap();
        assert_eq!(balanced, [4.0 / 6.0, 2.0]);
        let wanted = Some(vec![Value::Int(1), Value::Int(0)]);
        let turned = ClassWeights { classes: wanted, ..Default::default() };
        assert_eq!(turned.compute(given).unwrap(), [2.0, 4.0 / 6.0]);
        let rows = RowWeights::default().compute(given).unwrap();
        assert_eq!(rows, [4.0 / 6.0, 4.0 / 6.0, 4.0 / 6.0, 2.0]);
        let unknown = Some(vec![Value::Int(7)]);
        let unknown = ClassWeights { classes: unknown, ..Default::default() };
        assert_eq!(unknown.compute(given).unwrap_err().code(), Code::Parameter);
    }
}
