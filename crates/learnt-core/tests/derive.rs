//! The derives, on structs that use every attribute.

#![expect(missing_docs, reason = "a test")]

use learnt_core::estimator::Described;
use learnt_core::params::{Interval, Kind, Search, Variant};
use learnt_core::persist::Node;
use learnt_core::prelude::*;

/// Least squares.
///
/// More.
#[derive(Params, Clone, Debug)]
#[params(constraints = agree)]
pub struct Ridge {
    /// Strength.
    #[param(positional, default = 1.0, range = 0.0.., search = log(1e-4, 1e4))]
    pub alpha: f64,
    /// Intercept.
    #[param(default = true)]
    pub fit_intercept: bool,
    /// C.
    #[param(name = "C", default = Some(3), above = 0, below = 10, search = set(1, none, 2.0))]
    pub c: Option<usize>,
    /// Solver.
    #[param(default = MaxFeatures::Sqrt, search = set("all", "log2", 3, 0.5, MaxFeatures::Sqrt))]
    pub max_features: MaxFeatures,
    /// Sizes.
    #[param(default = vec![100, 50], range = 1.., search = set(10, vec![10, 20]))]
    pub sizes: Vec<usize>,
    /// Plain.
    pub plain: String,
}

impl Ridge {
    fn agree(&self) -> Result<()> {
        if self.alpha == 13.0 { Err(Error::unsupported("no 13")) } else { Ok(()) }
    }
}

/// No fields.
#[derive(Params, Clone, Debug)]
pub struct Nothing;

/// Parameters that several structs share.
#[derive(Params, Clone, Debug)]
#[params(constraints = agree)]
pub struct Growth {
    /// Depth.
    #[param(default = None, range = 1..)]
    pub max_depth: Option<usize>,
    /// Leaf.
    #[param(default = 1, range = 1..)]
    pub min_leaf: usize,
}

impl Growth {
    fn agree(&self) -> Result<()> {
        if self.min_leaf == 13 { Err(Error::unsupported("no 13")) } else { Ok(()) }
    }
}

/// Owner of shared parameters, with defaults of its own.
#[derive(Params, Clone, Debug)]
pub struct Forest {
    /// Trees.
    #[param(default = 100, range = 1..)]
    pub n: usize,
    /// Shared.
    #[param(flatten, default = Growth { max_depth: Some(4), ..Growth::default() })]
    pub growth: Growth,
    /// Seed of nothing.
    #[param(default = false)]
    pub last: bool,
}

/// Arguments that must be given.
#[derive(Params, Clone, Debug)]
pub struct Bound {
    /// Rows.
    #[param(required, range = 1..)]
    pub n: u64,
    /// Name.
    #[param(required)]
    pub name: String,
    /// Values.
    #[param(required)]
    pub values: Vec<f64>,
    /// One.
    #[param(required)]
    pub one: Option<f64>,
    /// Free.
    #[param(default = 0.05, above = 0.0, below = 1.0)]
    pub delta: f64,
}

/// How many.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum MaxFeatures {
    /// All of them.
    #[choice(none)]
    All,
    /// Root.
    Sqrt,
    Log2,
    /// Fraction first.
    #[choice(above = 0.0, range = ..=1.0)]
    Fraction(f64),
    #[choice(range = 1..)]
    Count(usize),
}

#[derive(Choice, Clone, Copy, Debug, PartialEq)]
enum Words {
    A,
    #[choice(name = "b-b")]
    B,
}

/// The words of another choice, and one more.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
enum WordsOrNone {
    /// Those.
    Of(Words),
    /// Another.
    Other,
}

#[derive(Choice, Clone, Debug, PartialEq)]
enum OnlyValues {
    Number(f64),
    Name(String),
    Flags(Vec<bool>),
}

#[derive(Stored, Clone, Debug, PartialEq)]
#[stored(validate = positive)]
enum Shape {
    Point,
    HalfPlane,
    Circle(f64),
    Box { width: f64, name: Option<String> },
}
impl Shape {
    fn positive(&self) -> Result<()> {
        match self {
            Shape::Circle(r) if *r < 0.0 => Err(learnt_core::persist::invalid("negative")),
            _ => Ok(()),
        }
    }
}
#[derive(Stored, Clone, Debug, PartialEq)]
enum JustWords {
    First,
    SecondOne,
}
#[derive(Stored, Clone, Debug, PartialEq)]
enum JustTags {
    First(u64),
    Second(f64),
}
#[derive(Stored, Clone, Debug, PartialEq)]
struct Pair<T: Stored> {
    left: T,
    right: T,
}

/// A model.
#[derive(Model, Clone, Debug, PartialEq)]
#[model(regressor, transformer, version = 2, report = table, converged = done, validate = ok)]
pub struct Fitted {
    /// Centers.
    #[model(name = "cluster_centers")]
    pub centers: Matrix,
    /// Choice.
    pub features: MaxFeatures,
    /// Hidden.
    #[model(hidden)]
    pub secret: u64,
    inner: Shape,
    done: bool,
}
impl Fitted {
    fn table(&self, _: &Names) -> Answer {
        Answer::default()
    }
    fn ok(&self) -> Result<()> {
        Ok(())
    }
}
impl Regressor for Fitted {
    fn predict_in(&self, _: &Frame, _: &Context) -> Result<Matrix> {
        Ok(self.centers.clone())
    }
}
impl Transformer for Fitted {
    fn transform_in(&self, _: &Frame, _: &Context) -> Result<Table> {
        Err(Error::unsupported("x"))
    }
}
/// Attributes by method, convergence by method.
#[derive(Model, Debug)]
#[model(attributes = own, converged = far)]
pub struct Other {}
impl Other {
    fn own(&self) -> Vec<(&'static str, Node)> {
        vec![("x", Node::Null)]
    }
    fn far(&self) -> bool {
        false
    }
}

#[test]
fn params() {
    let mut r = Ridge::default();
    assert_eq!(r.documentation(), "Least squares.\n\nMore.");
    r.check().unwrap();
    let specs = r.specs();
    assert_eq!(specs.len(), 6);
    assert_eq!(specs[0].kind, Kind::Real(Interval { low: Some((0.0, true)), high: None }));
    assert!(specs[0].positional && !specs[1].positional);
    assert_eq!(specs[0].search, Some(Search::Log(1e-4, 1e4)));
    assert_eq!(specs[2].name, "C");
    assert_eq!(specs[2].doc, "C.");
    assert_eq!(specs[2].default, Value::Int(3));
    assert_eq!(specs[2].search, Some(Search::Set(vec![Value::Int(1), Value::Null, Value::Int(2)])));
    assert_eq!(
        specs[3].search,
        Some(Search::Set(vec![
            Value::Null,
            Value::Text("log2".into()),
            Value::Int(3),
            Value::Real(0.5),
            Value::Text("sqrt".into())
        ]))
    );
    assert_eq!(
        specs[4].search,
        Some(Search::Set(vec![
            Value::List(vec![Value::Int(10)]),
            Value::List(vec![Value::Int(10), Value::Int(20)])
        ]))
    );
    r.set("C", &Value::Int(10)).unwrap();
    println!("{}", r.check().unwrap_err());
    r.set("C", &Value::Null).unwrap();
    r.check().unwrap();
    println!("{}", r.set("alpha", &Value::Text("x".into())).unwrap_err());
    println!("{}", r.set("alhpa", &Value::Int(1)).unwrap_err());
    println!("{}", r.get("c").unwrap_err());
    assert!(r.set("a__b", &Value::Int(1)).is_err() && r.get("a__b").is_err());
    r.set("alpha", &Value::Int(13)).unwrap();
    assert!(r.check().is_err());
    assert!(Nothing.specs().is_empty());
    assert!(Nothing.set("x", &Value::Null).is_err());
}

#[test]
fn flattened_parameters_are_the_owners_own() {
    let mut forest = Forest::default();
    let names: Vec<&str> = forest.specs().iter().map(|spec| spec.name).collect();
    assert_eq!(names, ["n", "max_depth", "min_leaf", "last"]);
    assert_eq!(forest.specs()[1].default, Value::Int(4));
    assert_eq!(Growth::default().specs()[0].default, Value::Null);
    forest.set("min_leaf", &Value::Int(7)).unwrap();
    assert_eq!(forest.growth.min_leaf, 7);
    assert_eq!(forest.get("min_leaf").unwrap(), Value::Int(7));
    let refused = forest.set("min_leaf", &Value::Text("x".into())).unwrap_err();
    assert_eq!(refused.message(), "`min_leaf` must be a whole number >= 1, got 'x'");
    forest.set("max_depth", &Value::Int(0)).unwrap();
    assert!(forest.check().unwrap_err().message().contains("`max_depth`"));
    forest.set("max_depth", &Value::Null).unwrap();
    forest.check().unwrap();
    forest.set("min_leaf", &Value::Int(13)).unwrap();
    assert_eq!(forest.check().unwrap_err().message(), "no 13");
    assert!(forest.set("growth", &Value::Null).is_err());
    let near = forest.set("min_laef", &Value::Int(1)).unwrap_err();
    assert_eq!(near.hint_text(), Some("did you mean 'min_leaf'?"));
}

#[test]
fn required_parameters_are_refused_while_they_are_unset() {
    let mut bound = Bound::default();
    assert!(bound.specs()[..4].iter().all(|spec| spec.required) && !bound.specs()[4].required);
    let missing = |bound: &Bound| bound.check().unwrap_err().message().to_string();
    assert_eq!(missing(&bound), "`n` must be a whole number >= 1, got 0");
    bound.n = 1;
    assert_eq!(missing(&bound), "`name` must be text, got nothing");
    bound.name = "a".into();
    assert_eq!(missing(&bound), "`values` must be a list, each a number, got nothing");
    bound.values = vec![1.0];
    assert_eq!(missing(&bound), "`one` must be a number or none, got nothing");
    bound.one = Some(2.0);
    bound.check().unwrap();
}

#[test]
fn choices() {
    use learnt_core::params::ParamType;
    let from = MaxFeatures::from_value;
    assert_eq!(from(&Value::Null), Some(MaxFeatures::All));
    assert_eq!(from(&Value::Text("all".into())), Some(MaxFeatures::All));
    assert_eq!(from(&Value::Int(1)), Some(MaxFeatures::Count(1)));
    assert_eq!(from(&Value::Real(1.0)), Some(MaxFeatures::Fraction(1.0)));
    assert_eq!(from(&Value::Int(-1)), Some(MaxFeatures::Fraction(-1.0)));
    assert_eq!(from(&Value::Text("huh".into())), None);
    assert_eq!(Words::from_value(&Value::Text("b-b".into())), Some(Words::B));
    assert_eq!(Words::from_value(&Value::Null), None);
    assert_eq!(Words::A.to_string(), "a");
    assert_eq!(OnlyValues::from_value(&Value::Int(2)), Some(OnlyValues::Number(2.0)));
    assert_eq!(
        OnlyValues::from_value(&Value::Text("a".into())),
        Some(OnlyValues::Name("a".into()))
    );
    assert_eq!(OnlyValues::from_value(&Value::Bool(true)), Some(OnlyValues::Flags(vec![true])));
    for m in
        [MaxFeatures::All, MaxFeatures::Sqrt, MaxFeatures::Count(3), MaxFeatures::Fraction(1.0)]
    {
        println!("{m} {:?}", m.to_node());
        assert_eq!(MaxFeatures::from_node(&m.to_node()).unwrap(), m);
    }
    println!("{}", MaxFeatures::from_node(&Node::Text("\"x\"".into())).unwrap_err());
    let Kind::Choice(v) = MaxFeatures::kind() else { panic!() };
    assert_eq!(v[0], Variant::Null("All of them."));
    println!("{}", MaxFeatures::kind());
    let Kind::Choice(inner) = Words::kind() else { panic!() };
    let Kind::Choice(outer) = WordsOrNone::kind() else { panic!() };
    assert_eq!(outer[..inner.len()], inner);
    assert_eq!(outer.len(), inner.len() + 1);
    let word = Value::Text("b-b".into());
    assert_eq!(WordsOrNone::from_value(&word), Some(WordsOrNone::Of(Words::B)));
    assert_eq!(WordsOrNone::Of(Words::B).to_value(), word);
}

#[test]
fn stores() {
    for s in
        [Shape::Point, Shape::HalfPlane, Shape::Circle(1.0), Shape::Box { width: 1.0, name: None }]
    {
        assert_eq!(Shape::from_node(&s.to_node()).unwrap(), s);
    }
    for bad in [
        Shape::Circle(-1.0).to_node(),
        Node::Text("no".into()),
        Node::Null,
        Node::Map(Default::default()),
        JustTags::Second(1.0).to_node(),
        Node::Map([("circle".to_string(), Node::Null)].into()),
        Node::Map([("box".to_string(), Node::Map([("x".to_string(), Node::Null)].into()))].into()),
    ] {
        println!("{}", Shape::from_node(&bad).unwrap_err());
    }
    assert_eq!(
        JustWords::from_node(&JustWords::SecondOne.to_node()).unwrap(),
        JustWords::SecondOne
    );
    println!("{}", JustWords::from_node(&Node::Null).unwrap_err());
    assert_eq!(JustTags::from_node(&JustTags::First(1).to_node()).unwrap(), JustTags::First(1));
    println!("{}", JustTags::from_node(&Node::Null).unwrap_err());
    let p = Pair { left: 1.0, right: 2.0 };
    assert_eq!(Pair::from_node(&p.to_node()).unwrap(), p);
    let _ = JustWords::First;
}

#[test]
fn models() {
    let m = Fitted {
        centers: Matrix::from_vec(1, 1, vec![2.0]).unwrap(),
        features: MaxFeatures::All,
        secret: 3,
        inner: Shape::Point,
        done: false,
    };
    assert_eq!(Fitted::from_node(&m.stored()).unwrap(), m);
    assert_eq!(Fitted::FIELDS, [("cluster_centers", "Centers."), ("features", "Choice.")]);
    assert_eq!(m.version(), 2);
    assert!(
        m.as_regressor().is_some()
            && m.as_classifier().is_none()
            && m.report(&Names::default()).is_some()
            && !m.converged()
    );
    assert_eq!(
        m.attributes().iter().map(|a| a.0).collect::<Vec<_>>(),
        ["cluster_centers", "features"]
    );
    assert_eq!(Other::VERSION, 1);
    assert!(!Other {}.converged());
    assert_eq!(Other {}.attributes().len(), 1);
}
