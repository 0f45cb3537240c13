//! Prefix codes: no codeword begins another, so that a message decodes as it arrives.
//!
//! Kraft: Σ 2^-length ≤ 1. Shannon's lengths are ⌈-log2 p⌉. Huffman's code joins the two least likely
//! symbols again and again (ties: the pair that was made first) and has the least mean length, which lies
//! between the entropy and the entropy plus one.
//!
//! Reference: Huffman (1952); Cover and Thomas (2006), chapter 5.

use learnt_core::prelude::*;

/// Whether codewords are a prefix code, its Kraft sum and mean length; decodes a message.
#[derive(Params, Clone, Debug)]
pub struct PrefixCode {
    /// The codewords, of 0 and 1.
    #[param(required, positional)]
    pub codewords: Vec<String>,
    /// Probabilities of the symbols.
    #[param(range = 0.0..=1.0)]
    pub probabilities: Vec<f64>,
    /// A message to decode.
    pub message: Option<String>,
}

/// Facts about a code.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct PrefixCodeFound {
    /// Whether no codeword begins another.
    pub is_prefix: bool,
    /// Σ 2^-length.
    pub kraft_sum: f64,
    /// Mean length in bits, where probabilities are given.
    pub mean_length: Option<f64>,
    /// Entropy in bits, where probabilities are given.
    pub entropy: Option<f64>,
    /// The symbols of the message, from 0.
    pub decoded: Option<Vec<u64>>,
}

impl Function for PrefixCode {
    type Inputs<'a> = ();
    type Output = PrefixCodeFound;
    const ABOUT: &'static Callable = &Callable::new("theory.prefix_code", FunctionKind::Theory)
        .reference("Cover and Thomas (2006)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<PrefixCodeFound> {
        let words = &self.codewords;
        for word in words {
            if word.is_empty() || word.bytes().any(|b| b != b'0' && b != b'1') {
                return Err(Error::parameter("codewords", "words of 0 and 1", format!("'{word}'")));
            }
        }
        let probabilities = match self.probabilities.is_empty() {
            true => None,
            false => Some(shares(&self.probabilities, words.len())?),
        };
        let begins = |i: usize, j: usize| i != j && words[j].starts_with(words[i].as_str());
        let is_prefix = !(0..words.len()).any(|i| (0..words.len()).any(|j| begins(i, j)));
        let decoded = match &self.message {
            Some(message) if is_prefix => Some(decode(message, words)?),
            Some(_) => {
                return Err(Error::new(Code::Undefined, "a codeword begins another")
                    .hint("only a prefix code decodes as it arrives"));
            }
            None => None,
        };
        let lengths: Vec<f64> = words.iter().map(|word| word.len() as f64).collect();
        Ok(PrefixCodeFound {
            is_prefix,
            kraft_sum: lengths.iter().map(|length| (-length).exp2()).sum(),
            mean_length: probabilities.as_ref().map(|p| mean_length(p, &lengths)),
            entropy: probabilities.as_ref().map(|p| entropy(p)),
            decoded,
        })
    }
}

/// Probabilities, one a symbol, that sum to one.
fn shares(probabilities: &[f64], symbols: usize) -> Result<Vec<f64>> {
    if probabilities.len() != symbols {
        let expected = format!("{symbols} numbers, one a symbol");
        return Err(Error::shape("probabilities", expected, probabilities.len()));
    }
    let total: f64 = probabilities.iter().sum();
    match (total - 1.0).abs() < 1e-6 {
        true => Ok(probabilities.iter().map(|p| p / total).collect()),
        false => Err(Error::parameter("probabilities", "numbers that sum to 1", total)),
    }
}

fn mean_length(probabilities: &[f64], lengths: &[f64]) -> f64 {
    probabilities.iter().zip(lengths).map(|(p, length)| p * length).sum()
}

fn entropy(probabilities: &[f64]) -> f64 {
    probabilities.iter().filter(|&&p| p > 0.0).map(|p| -p * p.log2()).sum()
}

fn decode(message: &str, words: &[String]) -> Result<Vec<u64>> {
    let (mut rest, mut symbols) = (message, Vec::new());
    while !rest.is_empty() {
        let found = words.iter().position(|word| rest.starts_with(word.as_str()));
        let symbol = found.ok_or_else(|| {
            let place = message.len() - rest.len() + 1;
            Error::new(Code::Parse, format!("no codeword at bit {place} of the message"))
        })?;
        rest = &rest[words[symbol].len()..];
        symbols.push(symbol as u64);
    }
    Ok(symbols)
}

/// Huffman's code: the shortest prefix code for given probabilities.
#[derive(Params, Clone, Debug)]
pub struct HuffmanCode {
    /// Probabilities of the symbols; they sum to 1.
    #[param(required, positional, range = 0.0..=1.0)]
    pub probabilities: Vec<f64>,
}

/// The code beside its bounds.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct HuffmanCodeFound {
    /// Codewords in the order of the symbols.
    pub codewords: Vec<String>,
    /// Their lengths.
    pub lengths: Vec<u64>,
    /// Shannon's lengths ⌈-log2 p⌉.
    pub shannon_lengths: Vec<f64>,
    /// Mean length in bits.
    pub mean_length: f64,
    /// Entropy in bits, which no code falls below.
    pub entropy: f64,
}

impl Function for HuffmanCode {
    type Inputs<'a> = ();
    type Output = HuffmanCodeFound;
    const ABOUT: &'static Callable =
        &Callable::new("theory.huffman_code", FunctionKind::Theory).reference("Huffman (1952)");

    fn call(&self, _inputs: (), run: &Context) -> Result<HuffmanCodeFound> {
        if self.probabilities.is_empty() {
            return Err(Error::parameter("probabilities", "at least one number", "none"));
        }
        let probabilities = shares(&self.probabilities, self.probabilities.len())?;
        let codewords = huffman(&probabilities, run)?;
        let lengths: Vec<f64> = codewords.iter().map(|word| word.len() as f64).collect();
        Ok(HuffmanCodeFound {
            lengths: codewords.iter().map(|word| word.len() as u64).collect(),
            shannon_lengths: probabilities.iter().map(|p| (-p.log2()).ceil()).collect(),
            mean_length: mean_length(&probabilities, &lengths),
            entropy: entropy(&probabilities),
            codewords,
        })
    }
}

/// Codewords by joining the two least likely groups of symbols; a single symbol is `0`.
fn huffman(probabilities: &[f64], run: &Context) -> Result<Vec<String>> {
    let n = probabilities.len();
    if n == 1 {
        return Ok(vec!["0".to_string()]);
    }
    // Nodes from n on are joins; each knows its two children.
    let mut weights = probabilities.to_vec();
    let mut children: Vec<(usize, usize)> = Vec::new();
    let mut open: std::collections::BTreeSet<(u64, usize)> =
        probabilities.iter().enumerate().map(|(i, p)| (p.to_bits(), i)).collect();
    while open.len() > 1 {
        run.checkpoint()?;
        let (Some((_, a)), Some((_, b))) = (open.pop_first(), open.pop_first()) else { break };
        weights.push(weights[a] + weights[b]);
        children.push((a, b));
        let node = weights.len() - 1;
        open.insert((weights[node].to_bits(), node));
    }
    let mut words = vec![String::new(); weights.len()];
    for node in (n..weights.len()).rev() {
        let (a, b) = children[node - n];
        words[a] = format!("{}0", words[node]);
        words[b] = format!("{}1", words[node]);
    }
    words.truncate(n);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(probabilities: &[f64]) -> PrefixCodeFound {
        let code = PrefixCode {
            codewords: ["0", "10", "110", "111"].map(String::from).to_vec(),
            probabilities: probabilities.to_vec(),
            message: Some("0101101110".into()),
        };
        code.compute(()).unwrap()
    }

    #[test]
    fn a_prefix_code_decodes_as_it_arrives() {
        let found = code(&[0.5, 0.25, 0.125, 0.125]);
        assert!(found.is_prefix && found.kraft_sum == 1.0);
        assert_eq!((found.mean_length, found.entropy), (Some(1.75), Some(1.75)));
        assert_eq!(found.decoded, Some(vec![0, 1, 2, 3, 0]));
        let other = code(&[0.4, 0.3, 0.2, 0.1]);
        assert!((other.mean_length.unwrap() - 1.9).abs() < 1e-12);
        assert!((other.entropy.unwrap() - 1.846_439_344_67).abs() < 1e-10);
    }

    #[test]
    fn codewords_that_begin_others_are_no_prefix_code() {
        let words = ["0", "01"].map(String::from).to_vec();
        let code = PrefixCode { codewords: words, ..Default::default() };
        assert!(!code.compute(()).unwrap().is_prefix);
        let message = PrefixCode { message: Some("01".into()), ..code };
        assert_eq!(message.compute(()).unwrap_err().code(), Code::Undefined);
    }

    #[test]
    fn huffmans_code_is_the_shortest() {
        let of = |p: &[f64]| HuffmanCode { probabilities: p.to_vec() }.compute(()).unwrap();
        let mut lengths = of(&[0.4, 0.3, 0.2, 0.1]).lengths;
        lengths.sort_unstable();
        assert_eq!(lengths, [1, 2, 3, 3]);
        let six = of(&[0.05, 0.1, 0.15, 0.2, 0.23, 0.27]);
        assert!((six.mean_length - 2.45).abs() < 1e-10);
        assert!((six.entropy - 2.420_908_891_75).abs() < 1e-10);
        let check = PrefixCode { codewords: six.codewords, ..Default::default() };
        assert!(check.compute(()).unwrap().is_prefix);
    }
}
