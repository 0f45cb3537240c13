//! Free text as a fixed number of columns: each word adds 1 or -1 to the column that its hash says.
//!
//! Words are runs of letters and digits, in lower case. The hash is FNV-1a of 64 bits, finished by a round of
//! SplitMix64; its last bits choose the column and its first the sign, so that words which meet in a column
//! cancel on average (Weinberger et al. 2009). Rows have length 1 unless `normalize` is false; a text without
//! words, and a missing one, is all zeros. Nothing is learnt, so new words are no trouble and no text is kept.

use super::affine::check_width;
use learnt_core::linalg::ColumnMoments;
use learnt_core::prelude::*;

/// Hashes the words of texts into a fixed number of columns (the hashing trick).
///
/// ```
/// use learnt::{prepare::TextHasher, prelude::*};
/// let notes = Column::categorical("note", vec!["late, late again".into(), "Again late".into()]);
/// let x = Table::new(Matrix::column_vector(vec![0.0, 1.0]), Schema::new(vec![notes])?)?;
/// let data = OwnedDataset { x, ..OwnedDataset::default() };
/// let learner = TextHasher { n_features: 16, normalize: false, ..Default::default() };
/// let table = learner.fit(&data.view())?.transform(&data.x.frame())?;
/// let words = |i: usize| table.values().row(i).iter().map(|x| x.abs()).sum::<f64>();
/// assert_eq!((words(0), words(1)), (3.0, 2.0));
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct TextHasher {
    /// Columns that each text becomes.
    #[param(default = 64, range = 1..=1_048_576)]
    pub n_features: usize,
    /// Give words signs, so that those in one column cancel on average.
    #[param(default = true)]
    pub alternate_sign: bool,
    /// Give every row the length 1.
    #[param(default = true)]
    pub normalize: bool,
}

/// A fitted [`TextHasher`].
#[derive(Model, Clone, Debug)]
#[model(transformer, validate = validate)]
pub struct TextHasherModel {
    columns: usize,
    n_features: usize,
    alternate_sign: bool,
    normalize: bool,
}

impl Estimator for TextHasher {
    type Model = TextHasherModel;
    type Fit = Pass<ColumnMoments>;
    const ABOUT: &'static About = &About::transformer("preprocessing.TextHasher")
        .missing()
        .categories()
        .reads_text()
        .streaming()
        .complexity(5)
        .cost("time of the length of the texts, n n_features memory")
        .reference("Weinberger et al. (2009), Feature Hashing for Large Scale Multitask Learning");
}

impl OnePass<ColumnMoments> for TextHasher {
    fn finish(&self, _: ColumnMoments, outline: &Outline) -> Result<TextHasherModel> {
        Ok(TextHasherModel {
            columns: outline.schema.len(),
            n_features: self.n_features,
            alternate_sign: self.alternate_sign,
            normalize: self.normalize,
        })
    }
}

impl TextHasherModel {
    fn validate(&self) -> Result<()> {
        match (1..=1_048_576).contains(&self.n_features) && self.columns <= 10_000_000 {
            true => Ok(()),
            false => Err(learnt_core::persist::invalid("a hasher without columns")),
        }
    }

    /// Adds the words of a text to its row.
    fn add(&self, text: &str, row: &mut [f64]) {
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let hash = hash(word);
            let sign = if self.alternate_sign && hash >> 63 == 1 { -1.0 } else { 1.0 };
            row[(hash % self.n_features as u64) as usize] += sign;
        }
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        if self.normalize && length > 0.0 {
            row.iter_mut().for_each(|x| *x /= length);
        }
    }
}

fn hash(word: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut bytes = [0; 4];
    for letter in word.chars().flat_map(char::to_lowercase) {
        for byte in letter.encode_utf8(&mut bytes).bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

impl Transformer for TextHasherModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        check_width(x, self.columns)?;
        let width = self.columns.saturating_mul(self.n_features);
        let bytes = (x.nrows() as u64).saturating_mul(width as u64).saturating_mul(8);
        run.claim(bytes, &format!("{width} columns of hashed words"))?;
        let mut out = Matrix::zeros(x.nrows(), width);
        for j in 0..self.columns {
            let (start, column) = (j * self.n_features, x.schema().column(j));
            for i in 0..x.nrows() {
                if i % 4096 == 0 {
                    run.checkpoint()?;
                }
                let value = x.values().at(i, j);
                let row = &mut out.row_mut(i)[start..start + self.n_features];
                match column.levels() {
                    _ if value.is_nan() => {}
                    Some(levels) => {
                        self.add(levels.get(value as usize).map_or("", String::as_str), row);
                    }
                    None => self.add(&value.to_string(), row),
                }
            }
        }
        let names = x
            .schema()
            .names()
            .flat_map(|name| (0..self.n_features).map(move |k| format!("{name}: words {k}")));
        Table::new(out, Schema::numeric(names)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(levels: &[&str]) -> OwnedDataset {
        let column = Column::categorical("t", levels.iter().map(ToString::to_string).collect());
        let codes = (0..levels.len()).map(|i| i as f64).collect();
        let schema = Schema::new(vec![column]).unwrap();
        let x = Table::new(Matrix::column_vector(codes), schema).unwrap();
        OwnedDataset { x, ..Default::default() }
    }

    #[test]
    fn texts_of_equal_words_are_equal_rows_of_length_one() {
        let data =
            texts(&["Slow internet, again!", "again slow INTERNET", "quick internet", "..."]);
        let model = TextHasher::default().fit(&data.view()).unwrap();
        let table = model.transform(&data.x.frame()).unwrap();
        let row = |i: usize| table.values().row(i).to_vec();
        assert_eq!(row(0), row(1));
        assert_ne!(row(0), row(2));
        assert!((row(0).iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(row(3).iter().all(|x| *x == 0.0));
        assert_eq!(table.schema().column(63).name, "t: words 63");
    }

    #[test]
    fn the_hash_is_the_same_for_ever() {
        // Computed apart from this code.
        assert_eq!(hash("learnt"), 0xf3da_d59c_fce4_4af7);
        assert_eq!(hash("Müller"), 0x29c8_93a6_d78d_1dc1);
    }
}
