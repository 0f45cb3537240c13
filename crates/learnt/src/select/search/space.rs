//! Spaces of settings: for each parameter a list of values or a range of numbers.
//!
//! Grids vary the last parameter fastest. Draws from lists alone are different settings of the grid;
//! where a range is among them they are independent. The place of a value in its domain, from 0 for
//! the first to 1 for the last, is what model-based search and the rule of one standard error see: a
//! range may be written from its simple end to its complex one.

use learnt_core::context::Rng;
use learnt_core::params::{ParamSpec, Search as Declared};
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// Values of parameters by name; `a__b` reaches inside.
pub type Setting = Vec<(String, Value)>;

/// More settings than this are no grid.
const MOST: usize = 1_000_000;

/// What a parameter is tried with.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// These values.
    List(Vec<Value>),
    /// Numbers from the first to the last, on a logarithmic scale if `log`.
    Real {
        /// The first end.
        first: f64,
        /// The other end.
        last: f64,
        /// Evenly in the logarithm.
        log: bool,
    },
    /// Whole numbers from the first to the last, ends included.
    Whole {
        /// The first end.
        first: i64,
        /// The other end.
        last: i64,
        /// Evenly in the logarithm.
        log: bool,
    },
}

/// The domains of parameters, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Space {
    /// Names with their domains.
    pub domains: Vec<(String, Domain)>,
}

impl Domain {
    /// A list typed at a terminal: `0.1,1,10`, or a list in JSON for values with commas.
    pub fn list(word: &str, spec: Option<&ParamSpec>) -> Result<Domain> {
        let one = |word: &str| spec.map_or_else(|| Value::parse(word), |spec| spec.parse(word));
        let values = match Value::parse(word) {
            Value::List(values) if word.trim_start().starts_with('[') => values,
            _ => word.split(',').map(|word| one(word.trim())).collect(),
        };
        match word.trim().is_empty() || values.is_empty() {
            true => Err(Error::new(Code::Usage, "a list without values").hint("NAME=0.1,1,10")),
            false => Ok(Domain::List(values)),
        }
    }

    /// A range typed at a terminal: `0.001:1000:log`, `1:20`; whole numbers if both ends are and the
    /// scale does not say `real`.
    pub fn range(word: &str) -> Result<Domain> {
        let bad = || {
            Error::new(Code::Usage, format!("'{word}' is no range"))
                .hint("FIRST:LAST, FIRST:LAST:log, FIRST:LAST:real or FIRST:LAST:real-log")
        };
        let parts: Vec<&str> = word.split(':').map(str::trim).collect();
        let (first, last, scale) = match parts.as_slice() {
            [first, last] => (*first, *last, ""),
            [first, last, scale] => (*first, *last, *scale),
            _ => return Err(bad()),
        };
        let (real, log) = match scale {
            "" => (false, false),
            "log" => (false, true),
            "real" => (true, false),
            "real-log" => (true, true),
            _ => return Err(bad()),
        };
        let domain = match (first.parse::<i64>(), last.parse::<i64>()) {
            (Ok(first), Ok(last)) if !real => Domain::Whole { first, last, log },
            _ => {
                let number = |word: &str| word.parse::<f64>().map_err(|_| bad());
                Domain::Real { first: number(first)?, last: number(last)?, log }
            }
        };
        domain.check().map(|()| domain)
    }

    /// What a learner's parameter declares as worth trying.
    pub fn declared(search: &Declared) -> Domain {
        match search {
            Declared::Log(first, last) => Domain::Real { first: *first, last: *last, log: true },
            Declared::Linear(first, last) => {
                Domain::Real { first: *first, last: *last, log: false }
            }
            Declared::Set(values) => Domain::List(values.clone()),
        }
    }

    /// Refuses empty lists and ranges without a scale.
    pub fn check(&self) -> Result<()> {
        let (first, last, log) = match self {
            Domain::List(values) if values.is_empty() => {
                return Err(Error::new(Code::Usage, "a list without values"));
            }
            Domain::List(_) => return Ok(()),
            Domain::Real { first, last, log } => (*first, *last, *log),
            Domain::Whole { first, last, log } => (*first as f64, *last as f64, *log),
        };
        if !(first.is_finite() && last.is_finite()) || first == last {
            let got = format!("{first} and {last}");
            return Err(Error::parameter("range", "two different finite ends", got));
        }
        match log && (first <= 0.0 || last <= 0.0) {
            true => Err(Error::parameter("range", "ends above 0 on a log scale", first.min(last))),
            false => Ok(()),
        }
    }

    /// The value at a place of the unit interval.
    pub fn at(&self, place: f64) -> Value {
        match self {
            Domain::List(values) => {
                let index = (place * values.len() as f64) as usize;
                values[index.min(values.len() - 1)].clone()
            }
            Domain::Real { first, last, log } => {
                let (low, high) = (first.min(*last), first.max(*last));
                Value::Real(between(*first, *last, *log, place).clamp(low, high))
            }
            Domain::Whole { first, last, log } => {
                let (low, high) = ((*first).min(*last), (*first).max(*last));
                let (from, to) = around(*first, *last);
                Value::Int((between(from, to, *log, place).round() as i64).clamp(low, high))
            }
        }
    }

    /// The place of a value, rising from the first to the last; `None` if it is not in the domain.
    pub fn place(&self, value: &Value) -> Option<f64> {
        let (first, last, log) = match self {
            Domain::List(values) => {
                let index = values.iter().position(|known| known == value)?;
                return Some(index as f64 / (values.len() - 1).max(1) as f64);
            }
            Domain::Real { first, last, log } => (*first, *last, *log),
            Domain::Whole { first, last, log } => {
                let (from, to) = around(*first, *last);
                (from, to, *log)
            }
        };
        let x = value.as_real()?;
        let place = match log {
            true => (x / first).ln() / (last / first).ln(),
            false => (x - first) / (last - first),
        };
        place.is_finite().then(|| place.clamp(0.0, 1.0))
    }

    /// Whether the scale is logarithmic.
    pub fn is_log(&self) -> bool {
        matches!(self, Domain::Real { log: true, .. } | Domain::Whole { log: true, .. })
    }
}

/// The ends of whole numbers, each of which has the interval of a half around it.
fn around(first: i64, last: i64) -> (f64, f64) {
    let half = if first <= last { 0.5 } else { -0.5 };
    (first as f64 - half, last as f64 + half)
}

fn between(first: f64, last: f64, log: bool, place: f64) -> f64 {
    match log {
        true => first * ((last / first).ln() * place).exp(),
        false => first + (last - first) * place,
    }
}

impl Space {
    /// The space that a learner declares: every parameter with values worth trying.
    pub fn declared(learner: &dyn AnyEstimator) -> Space {
        let of = |spec: &ParamSpec| {
            let search = spec.search.as_ref()?;
            Some((spec.name.to_string(), Domain::declared(search)))
        };
        Space { domains: learner.specs().iter().filter_map(of).collect() }
    }

    /// Whether every domain is a list.
    pub fn is_grid(&self) -> bool {
        self.domains.iter().all(|(_, domain)| matches!(domain, Domain::List(_)))
    }

    /// Refuses a space without parameters, names that the learner lacks, names twice, and domains
    /// that are none.
    pub fn check(&self, learner: &dyn AnyEstimator) -> Result<()> {
        if self.domains.is_empty() {
            return Err(Error::new(Code::Usage, "there is nothing to search")
                .hint("name parameters: --grid NAME=VALUES or --range NAME=FIRST:LAST"));
        }
        for (i, (name, domain)) in self.domains.iter().enumerate() {
            learner.get(name).map_err(|error| error.within(learner.about().name()))?;
            domain.check().map_err(|error| error.within(name))?;
            if self.domains[..i].iter().any(|(other, _)| other == name) {
                let message = format!("`{name}` is searched twice");
                return Err(Error::new(Code::Usage, message));
            }
        }
        Ok(())
    }

    /// How many settings a grid has.
    pub fn grid_size(&self) -> Result<usize> {
        let mut size = 1_usize;
        for (name, domain) in &self.domains {
            let Domain::List(values) = domain else {
                return Err(Error::new(
                    Code::Usage,
                    format!("`{name}` is a range, and a grid needs lists"),
                )
                .hint("name values with --grid, or draw settings: --method random or model"));
            };
            size = size.saturating_mul(values.len());
        }
        match size <= MOST {
            true => Ok(size),
            false => Err(Error::new(Code::Usage, format!("a grid of more than {MOST} settings"))
                .hint("draw some of them: --method random --trials 100")),
        }
    }

    /// The setting at a place of the grid.
    fn cell(&self, mut place: usize) -> Setting {
        let mut out: Setting = Vec::with_capacity(self.domains.len());
        for (name, domain) in self.domains.iter().rev() {
            let Domain::List(values) = domain else { continue };
            out.push((name.clone(), values[place % values.len()].clone()));
            place /= values.len();
        }
        out.reverse();
        out
    }

    /// Every setting of the grid.
    pub fn grid(&self) -> Result<Vec<Setting>> {
        Ok((0..self.grid_size()?).map(|place| self.cell(place)).collect())
    }

    /// Settings at random; different ones if all domains are lists, at most all of them.
    pub fn draw(&self, count: usize, rng: &mut Rng) -> Vec<Setting> {
        if let (true, Ok(size)) = (self.is_grid(), self.grid_size()) {
            let places = sample::choose(rng, size, count);
            return places.into_iter().map(|place| self.cell(place)).collect();
        }
        (0..count).map(|_| self.draw_one(rng)).collect()
    }

    fn draw_one(&self, rng: &mut Rng) -> Setting {
        let one =
            |(name, domain): &(String, Domain)| (name.clone(), domain.at(sample::uniform(rng)));
        self.domains.iter().map(one).collect()
    }

    /// The places of a setting's values in their domains.
    pub fn places(&self, setting: &Setting) -> Vec<f64> {
        let of = |(name, domain): &(String, Domain)| {
            let value = setting.iter().find(|(known, _)| known == name).map(|(_, value)| value);
            value.and_then(|value| domain.place(value)).unwrap_or(0.5)
        };
        self.domains.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Ridge;

    fn space() -> Space {
        let ints = |values: &[i64]| Domain::List(values.iter().map(|&i| Value::Int(i)).collect());
        Space { domains: vec![("a".into(), ints(&[1, 2])), ("b".into(), ints(&[3, 4, 5]))] }
    }

    #[test]
    fn a_grid_varies_the_last_parameter_fastest_and_draws_are_different_cells() {
        let grid = space().grid().unwrap();
        let b: Vec<f64> = grid.iter().map(|setting| setting[1].1.as_real().unwrap()).collect();
        assert_eq!(b, [3.0, 4.0, 5.0, 3.0, 4.0, 5.0]);
        let mut drawn = space().draw(100, &mut Context::default().rng(0));
        assert_eq!(drawn.len(), 6);
        drawn.sort_by_key(|setting| format!("{setting:?}"));
        drawn.dedup();
        assert_eq!(drawn.len(), 6);
    }

    #[test]
    fn places_and_values_are_inverse_also_on_reversed_ranges() {
        for word in ["0.001:1000:log", "1000:0.001:log", "2:9", "9:2", "0:1:real", "1:1000:log"] {
            let domain = Domain::range(word).unwrap();
            for place in [0.0, 0.2, 0.5, 0.999] {
                let value = domain.at(place);
                let again = domain.at(domain.place(&value).unwrap().min(0.999));
                let (x, y) = (value.as_real().unwrap(), again.as_real().unwrap());
                assert!((x / y).ln().abs() < 0.01 || x == y, "{word}: {x} {y}");
            }
        }
        assert_eq!(Domain::range("9:2").unwrap().at(0.0), Value::Int(9));
        let counts = (0..1000).map(|i| Domain::range("1:4").unwrap().at(f64::from(i) / 1000.0));
        assert_eq!(counts.filter(|value| *value == Value::Int(1)).count(), 250);
    }

    #[test]
    fn domains_that_are_none_are_refused_by_name() {
        for word in ["1", "1:1", "0:1:log", "a:b", "1:2:3:4", "1:inf"] {
            assert!(Domain::range(word).is_err(), "{word}");
        }
        let wrong = Space { domains: vec![("alhpa".into(), Domain::range("1:2").unwrap())] };
        let error = wrong.check(&Ridge::default()).unwrap_err();
        assert!(error.to_string().contains("alpha"), "{error}");
        assert_eq!(Space::declared(&Ridge::default()).domains[0].0, "alpha");
        assert!(Space::default().check(&Ridge::default()).is_err());
    }
}
