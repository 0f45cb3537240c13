//! Two classes as signs: the first class is -1, the second +1; and rows reflected by their sign.

use learnt_core::prelude::*;

/// -1 for the first of two classes, +1 for the second.
pub fn signs(codes: &[u32], classes: &[Label]) -> Result<Vec<f64>> {
    match classes.len() {
        2 => Ok(codes.iter().map(|&code| if code == 0 { -1.0 } else { 1.0 }).collect()),
        1 => Err(Error::new(Code::OneClass, format!("the only class is '{}'", classes[0]))),
        many => {
            let message = format!("signs are for two classes, and there are {many}");
            Err(Error::new(Code::Target, message))
        }
    }
}

/// The classes of scores: a negative score is the first class, any other the second.
pub fn classes_of_signs(scores: &[f64]) -> Vec<u32> {
    scores.iter().map(|&score| u32::from(score >= 0.0)).collect()
}

/// Rows (1, x) times their sign, so that a separating weight vector has a positive product with
/// every row.
pub fn reflected(x: MatRef, signs: &[f64]) -> Result<Matrix> {
    if signs.len() != x.nrows() {
        return Err(Error::shape("signs", format!("{} rows", x.nrows()), signs.len()));
    }
    Ok(Matrix::from_fn(x.nrows(), x.ncols() + 1, |i, j| match j {
        0 => signs[i],
        _ => signs[i] * x.at(i, j - 1),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_round_trip() {
        let codes = [0, 1, 1, 0];
        let classes = ["no", "yes"].map(Label::from);
        assert_eq!(classes_of_signs(&signs(&codes, &classes).unwrap()), codes);
        assert!(signs(&codes, &["a", "b", "c"].map(Label::from)).is_err());
    }
}
