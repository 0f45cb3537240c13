//! The derives, on structs that use every attribute.

#![expect(missing_docs, clippy::unwrap_used, reason = "a test")]

use learnt_core::estimator::Described;
use learnt_core::params::{Interval, Kind, Search, Variant};
use learnt_core::persist::Node;
use learnt_core::prelude::*;

/// Least squares.
///
/// More.
#[derive(Params, Clone, Debug)]
#[params(rules = agree, nested = steps)]
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
    /// Steps.
    pub steps: Steps,
}

impl Ridge {
    fn agree(&self) -> Result<()> {
        if self.alpha == 13.0 { Err(Error::unsupported("no 13")) } else { Ok(()) }
    }
}

/// No fields.
#[derive(Params, Clone, Debug)]
pub struct Nothing;

#[derive(Clone, Debug, Default)]
pub struct Steps(Vec<f64>);
impl learnt_core::params::ParamType for Steps {
    fn kind() -> Kind {
        Kind::Any("steps")
    }
    fn to_value(&self) -> Value {
        Value::Null
    }
    fn from_value(_: &Value) -> Option<Self> {
        None
    }
}
impl Steps {
    fn get_nested(&self, name: &str) -> Result<Value> {
        Ok(Value::Text(format!("{name}{}", self.0.len())))
    }
    fn set_nested(&mut self, _name: &str, value: &Value) -> Result<()> {
        self.0.push(value.as_real().unwrap());
        Ok(())
    }
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
    fn table(&self) -> Answer {
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
    assert_eq!(specs.len(), 7);
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
    r.set("a__b", &Value::Int(1)).unwrap();
    assert_eq!(r.get("a__b").unwrap(), Value::Text("a__b1".into()));
    r.set("alpha", &Value::Int(13)).unwrap();
    assert!(r.check().is_err());
    assert!(Nothing.specs().is_empty());
    assert!(Nothing.set("x", &Value::Null).is_err());
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
            && m.report().is_some()
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
