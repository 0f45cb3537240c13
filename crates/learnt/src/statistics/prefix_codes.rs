//! Prefix codes: Huffman's code, Shannon's lengths, the sum of Kraft, and decoding.
//!
//! A code is prefix-free if no word begins another; then Σ 2^(-length) ≤ 1 (Kraft). Shannon's lengths are
//! ⌈-log₂ p⌉; Huffman's code has the least mean length Σ p · length, which lies between the entropy and the
//! entropy + 1. Two queues build Huffman's tree in n log n time; of equal weights single messages come
//! before joined ones, then earlier before later. Words are canonical: in the order of length, then place.
//!
//! Reference: Cover and Thomas (2006), Elements of information theory, chapter 5.

use super::information::Messages;
use learnt_core::prelude::*;
use std::collections::VecDeque;

/// Huffman's code for messages with these probabilities, beside Shannon's lengths and the entropy.
#[derive(Params, Clone, Debug)]
pub struct HuffmanCode {}

/// A code of least mean length, in bits.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Huffman {
    /// The word of each message.
    pub codewords: Vec<String>,
    /// Their lengths.
    pub lengths: Vec<usize>,
    /// Shannon's lengths.
    pub shannon_lengths: Vec<usize>,
    /// Mean length of Huffman's words.
    pub mean_length: f64,
    /// Mean of Shannon's lengths.
    pub shannon_mean_length: f64,
    /// Entropy, which no prefix code goes below.
    pub entropy: f64,
    /// Sum of Kraft; 1 for a complete code.
    pub kraft_sum: f64,
}

impl Function for HuffmanCode {
    type Inputs<'a> = Messages<'a>;
    type Output = Huffman;
    const ABOUT: &'static Callable = &Callable::new("stats.huffman_code", FunctionKind::Statistic)
        .reference("Huffman (1952); Cover and Thomas (2006), chapter 5");

    fn call(&self, given: Messages, _run: &Context) -> Result<Huffman> {
        if let Some(p) = given.p.iter().find(|p| **p <= 0.0) {
            return Err(Error::parameter("p", "numbers above 0", p));
        }
        let sum: f64 = given.p.iter().sum();
        let p: Vec<f64> = given.p.iter().map(|p| p / sum).collect();
        if !sum.is_finite() || p.contains(&0.0) {
            return Err(Error::parameter("p", "numbers whose shares can be told from 0", sum));
        }
        let lengths = huffman_lengths(&p);
        let shannon_lengths: Vec<usize> = p.iter().map(|p| (-p.log2()).ceil() as usize).collect();
        let mean = |lengths: &[usize]| -> f64 {
            p.iter().zip(lengths).map(|(p, &length)| p * length as f64).sum()
        };
        Ok(Huffman {
            codewords: canonical(&lengths),
            mean_length: mean(&lengths),
            shannon_mean_length: mean(&shannon_lengths),
            entropy: p.iter().map(|p| -p * p.log2()).sum(),
            kraft_sum: kraft_sum(&lengths),
            lengths,
            shannon_lengths,
        })
    }
}

fn kraft_sum(lengths: &[usize]) -> f64 {
    lengths.iter().map(|&length| 0.5_f64.powi(length.min(2000) as i32)).sum()
}

/// Depth of each message in Huffman's tree; 1 for a message that is alone.
fn huffman_lengths(p: &[f64]) -> Vec<usize> {
    let n = p.len();
    if n == 1 {
        return vec![1];
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut single: VecDeque<(f64, usize)> = order.into_iter().map(|i| (p[i], i)).collect();
    let mut joined: VecDeque<(f64, usize)> = VecDeque::new();
    let mut parent = vec![0; 2 * n - 1];
    for node in n..2 * n - 1 {
        let mut least = || match (single.front(), joined.front()) {
            (Some(a), Some(b)) if b.0 < a.0 => joined.pop_front(),
            (None, _) => joined.pop_front(),
            _ => single.pop_front(),
        };
        let (first, second) = (least().unwrap_or_default(), least().unwrap_or_default());
        (parent[first.1], parent[second.1]) = (node, node);
        joined.push_back((first.0 + second.0, node));
    }
    let mut depth = vec![0; 2 * n - 1];
    for node in (0..2 * n - 2).rev() {
        depth[node] = depth[parent[node]] + 1;
    }
    depth.truncate(n);
    depth
}

/// Words of these lengths: each is the last one plus 1, with zeros up to its length.
fn canonical(lengths: &[usize]) -> Vec<String> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&i| (lengths[i], i));
    let mut words = vec![String::new(); lengths.len()];
    let mut bits: Vec<bool> = Vec::new();
    for (place, &i) in order.iter().enumerate() {
        if place > 0 {
            while bits.pop() == Some(true) {}
            bits.push(true);
            let carried = lengths[order[place - 1]];
            bits.resize(carried.max(bits.len()), false);
        }
        bits.resize(lengths[i], false);
        words[i] = bits.iter().map(|&bit| if bit { '1' } else { '0' }).collect();
    }
    words
}

/// A code by its words: whether no word begins another, the sum of Kraft, and what a message says.
#[derive(Params, Clone, Debug)]
pub struct PrefixCode {
    /// The words, of 0 and 1.
    #[param(required, positional)]
    pub codewords: Vec<String>,
    /// Bits to be decoded.
    pub message: Option<String>,
    /// Probability of each word, for the mean length.
    pub probabilities: Option<Vec<f64>>,
}

/// What is known about a code.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct CodeCheck {
    /// Whether no word begins another.
    pub prefix_free: bool,
    /// Σ 2^(-length); above 1 there is no prefix code of these lengths.
    pub kraft_sum: f64,
    /// Mean length of the words.
    pub mean_length: Option<f64>,
    /// Places of the words that the message consists of, counted from 0.
    pub decoded: Option<Vec<usize>>,
}

impl Function for PrefixCode {
    type Inputs<'a> = ();
    type Output = CodeCheck;
    const ABOUT: &'static Callable = &Callable::new("stats.prefix_code", FunctionKind::Statistic)
        .reference("Cover and Thomas (2006), chapter 5");

    fn call(&self, _inputs: (), _run: &Context) -> Result<CodeCheck> {
        let words = &self.codewords;
        let is_bits = |text: &str| text.chars().all(|c| c == '0' || c == '1');
        if words.is_empty() || words.iter().any(|word| word.is_empty() || !is_bits(word)) {
            let got = words.iter().find(|word| word.is_empty() || !is_bits(word));
            let got = format!("'{}'", got.map_or("", String::as_str));
            return Err(Error::parameter("codewords", "words of 0 and 1", got));
        }
        let mut sorted: Vec<&String> = words.iter().collect();
        sorted.sort();
        let prefix_free = sorted.windows(2).all(|pair| !pair[1].starts_with(pair[0].as_str()));
        let lengths: Vec<usize> = words.iter().map(String::len).collect();
        Ok(CodeCheck {
            prefix_free,
            kraft_sum: kraft_sum(&lengths),
            mean_length: self.probabilities.as_deref().map(|p| mean(p, &lengths)).transpose()?,
            decoded: match &self.message {
                None => None,
                Some(_) if !prefix_free => {
                    return Err(Error::new(Code::Usage, "a word begins another")
                        .hint("only a prefix-free code is decoded word by word"));
                }
                Some(message) => Some(decode(words, message)?),
            },
        })
    }
}

fn mean(p: &[f64], lengths: &[usize]) -> Result<f64> {
    let sum: f64 = p.iter().sum();
    if p.len() != lengths.len() || p.iter().any(|p| *p < 0.0) || sum <= 0.0 {
        let expected = format!("{} numbers >= 0, one for each word", lengths.len());
        return Err(Error::parameter("probabilities", expected, format!("{p:?}")));
    }
    Ok(p.iter().zip(lengths).map(|(p, &length)| p / sum * length as f64).sum())
}

fn decode(words: &[String], message: &str) -> Result<Vec<usize>> {
    let mut out = Vec::new();
    let mut rest = message;
    while !rest.is_empty() {
        let found = words.iter().position(|word| rest.starts_with(word.as_str()));
        let Some(k) = found else {
            let place = message.len() - rest.len() + 1;
            let text = format!("no word begins at bit {place} of the message");
            return Err(Error::parameter("message", "words of the code one after another", text));
        };
        out.push(k);
        rest = &rest[words[k].len()..];
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn huffman(p: &[f64]) -> Huffman {
        HuffmanCode {}.compute(Messages { p }).unwrap()
    }

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn powers_of_two_reach_the_entropy_and_others_nearly() {
        let found = huffman(&[0.5, 0.25, 0.125, 0.125]);
        assert_eq!(found.codewords, words(&["0", "10", "110", "111"]));
        assert_eq!((found.mean_length, found.entropy, found.kraft_sum), (1.75, 1.75, 1.0));
        let found = huffman(&[0.4, 0.3, 0.2, 0.1]);
        assert!((found.mean_length - 1.9).abs() < 1e-12);
        assert!((found.entropy - 1.846_439).abs() < 1e-6);
        assert!(found.shannon_mean_length >= found.mean_length);
        assert_eq!(huffman(&[3.0]).codewords, ["0"]);
    }

    #[test]
    fn every_code_is_complete_prefix_free_and_within_one_bit_of_the_entropy() {
        for n in 2..40_usize {
            let p: Vec<f64> = (1..=n).map(|i| ((i * i) % 17 + 1) as f64).collect();
            let found = huffman(&p);
            assert!((found.kraft_sum - 1.0).abs() < 1e-12, "{n}");
            let check = PrefixCode { codewords: found.codewords.clone(), ..Default::default() };
            assert!(check.compute(()).unwrap().prefix_free, "{:?}", found.codewords);
            assert!(found.entropy <= found.mean_length + 1e-12);
            assert!(found.mean_length < found.entropy + 1.0);
        }
    }

    #[test]
    fn a_message_is_read_word_by_word() {
        let mut code = PrefixCode {
            codewords: words(&["0", "10", "110", "111"]),
            message: Some("0101100111".to_string()),
            probabilities: Some(vec![0.5, 0.25, 0.125, 0.125]),
        };
        let found = code.compute(()).unwrap();
        assert_eq!(found.decoded, Some(vec![0, 1, 2, 0, 3]));
        assert_eq!((found.mean_length, found.kraft_sum), (Some(1.75), 1.0));
        code.message = Some("11".to_string());
        assert!(code.compute(()).unwrap_err().message().contains("bit 1"));
        let not = PrefixCode { codewords: words(&["0", "01"]), ..Default::default() };
        assert!(!not.compute(()).unwrap().prefix_free);
    }
}
