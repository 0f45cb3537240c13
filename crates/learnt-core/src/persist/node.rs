//! What a model stores: a tree of plain values and numeric arrays, and the trait that makes and
//! reads it. `#[derive(Stored)]` (and `#[derive(Model)]`, which includes it) write both sides.

use crate::data::{Column, ColumnKind, Label, Matrix, Schema, Volume};
use crate::error::{Code, Error, Result};
use crate::params::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A stored value.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Nothing.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number; any bits, NaN and infinities included.
    Real(f64),
    /// Text.
    Text(String),
    /// Numbers in a given shape, last index fastest.
    Reals(Vec<usize>, Vec<f64>),
    /// Unsigned 32-bit numbers: indices, codes, counts.
    Indices(Vec<u32>),
    /// Whole numbers.
    Ints(Vec<i64>),
    /// Bytes: flags, bins.
    Bytes(Vec<u8>),
    /// Many texts.
    Texts(Vec<String>),
    /// Several values.
    List(Vec<Node>),
    /// Named values.
    Map(BTreeMap<String, Node>),
}

/// A type that can be written to a model file and read back.
pub trait Stored: Sized {
    /// The value as a tree.
    fn to_node(&self) -> Node;
    /// The value from a tree; anything unexpected is an error that says where.
    fn from_node(node: &Node) -> Result<Self>;

    /// Many values; numbers and texts have a denser form than a list of nodes.
    fn list_to_node(items: &[Self]) -> Node {
        Node::List(items.iter().map(Self::to_node).collect())
    }

    /// The inverse of [`Stored::list_to_node`].
    fn list_from_node(node: &Node) -> Result<Vec<Self>> {
        match node {
            Node::List(items) => items.iter().map(Self::from_node).collect(),
            other => Err(other.mismatch("a list")),
        }
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn to_node(&self) -> Node {
        T::list_to_node(self)
    }
    fn from_node(node: &Node) -> Result<Self> {
        T::list_from_node(node)
    }
}

/// The error for stored content that is not what it should be.
pub fn invalid(what: impl std::fmt::Display) -> Error {
    Error::new(Code::FileInvalid, format!("model content: {what}"))
}

impl Node {
    /// The named values of a struct.
    pub fn map(&self, what: &str) -> Result<&BTreeMap<String, Node>> {
        match self {
            Node::Map(map) => Ok(map),
            other => Err(invalid(format!("{what}: expected named values, found {}", other.kind()))),
        }
    }

    /// The node of a field, whatever it holds.
    pub fn child(&self, name: &str) -> Result<&Node> {
        self.map(name)?.get(name).ok_or_else(|| invalid(format!("`{name}` is missing")))
    }

    /// The items of a list.
    pub fn list(&self) -> Result<&[Node]> {
        match self {
            Node::List(items) => Ok(items),
            other => Err(other.mismatch("a list")),
        }
    }

    /// Reads a field of a struct; unknown fields are found by [`Node::only`].
    pub fn field<T: Stored>(&self, name: &str) -> Result<T> {
        T::from_node(self.child(name)?).map_err(|error| error.within(name))
    }

    /// A field that older files do not have.
    pub fn later_field<T: Stored + Default>(&self, name: &str) -> Result<T> {
        match self.map(name)?.contains_key(name) {
            true => self.field(name),
            false => Ok(T::default()),
        }
    }

    /// Refuses fields that the reader does not know.
    pub fn only(&self, what: &str, known: &[&str]) -> Result<()> {
        for name in self.map(what)?.keys() {
            if !known.contains(&name.as_str()) {
                return Err(invalid(format!("{what}: unknown field `{name}`")));
            }
        }
        Ok(())
    }

    fn kind(&self) -> &'static str {
        match self {
            Node::Null => "nothing",
            Node::Bool(_) => "true or false",
            Node::Int(_) => "a whole number",
            Node::Real(_) => "a number",
            Node::Text(_) => "text",
            Node::Reals(..) => "an array of numbers",
            Node::Indices(_) => "an array of indices",
            Node::Ints(_) => "an array of whole numbers",
            Node::Bytes(_) => "bytes",
            Node::Texts(_) => "an array of texts",
            Node::List(_) => "a list",
            Node::Map(_) => "named values",
        }
    }

    fn mismatch(&self, expected: &str) -> Error {
        invalid(format!("expected {expected}, found {}", self.kind()))
    }
}

/// Values that have a node of their own, alone and in number.
macro_rules! stored_as {
    ($($t:ty, $one:ident, $many:ident, $what:literal);* $(;)?) => {$(
        impl Stored for $t {
            fn to_node(&self) -> Node {
                Node::$one(self.clone())
            }
            fn from_node(node: &Node) -> Result<Self> {
                match node {
                    Node::$one(value) => Ok(value.clone()),
                    other => Err(other.mismatch($what)),
                }
            }
            fn list_to_node(items: &[Self]) -> Node {
                Node::$many(items.to_vec())
            }
            fn list_from_node(node: &Node) -> Result<Vec<Self>> {
                match node {
                    Node::$many(values) => Ok(values.clone()),
                    other => Err(other.mismatch(concat!("many times ", $what))),
                }
            }
        }
    )*};
}
stored_as! {
    i64, Int, Ints, "a whole number";
    String, Text, Texts, "text";
}

/// Whole numbers of other sizes, alone and in number.
macro_rules! stored_whole {
    ($($t:ty),*) => {$(
        impl Stored for $t {
            fn to_node(&self) -> Node {
                Node::Int(i64::try_from(*self).unwrap_or(i64::MAX))
            }
            fn from_node(node: &Node) -> Result<Self> {
                <$t>::try_from(i64::from_node(node)?).map_err(|_| invalid("a whole number is out of range"))
            }
            fn list_to_node(items: &[Self]) -> Node {
                Node::Ints(items.iter().map(|&i| i64::try_from(i).unwrap_or(i64::MAX)).collect())
            }
            fn list_from_node(node: &Node) -> Result<Vec<Self>> {
                let whole = |i: i64| <$t>::try_from(i).map_err(|_| invalid("a whole number is out of range"));
                i64::list_from_node(node)?.into_iter().map(whole).collect()
            }
        }
    )*};
}
stored_whole!(usize, u64);

/// Small numbers that stand in arrays of their own.
macro_rules! stored_small {
    ($($t:ty, $many:ident, $what:literal);* $(;)?) => {$(
        impl Stored for $t {
            fn to_node(&self) -> Node {
                Node::Int(i64::from(*self))
            }
            fn from_node(node: &Node) -> Result<Self> {
                <$t>::try_from(i64::from_node(node)?).map_err(|_| invalid("a whole number is out of range"))
            }
            fn list_to_node(items: &[Self]) -> Node {
                Node::$many(items.to_vec())
            }
            fn list_from_node(node: &Node) -> Result<Vec<Self>> {
                match node {
                    Node::$many(values) => Ok(values.clone()),
                    other => Err(other.mismatch($what)),
                }
            }
        }
    )*};
}
stored_small! {
    u32, Indices, "an array of indices";
    u8, Bytes, "bytes";
}

impl Stored for f64 {
    fn to_node(&self) -> Node {
        Node::Real(*self)
    }
    fn from_node(node: &Node) -> Result<Self> {
        match node {
            Node::Real(x) => Ok(*x),
            other => Err(other.mismatch("a number")),
        }
    }
    fn list_to_node(items: &[Self]) -> Node {
        Node::Reals(vec![items.len()], items.to_vec())
    }
    fn list_from_node(node: &Node) -> Result<Vec<Self>> {
        match node {
            Node::Reals(shape, values) if shape.len() == 1 => Ok(values.clone()),
            other => Err(other.mismatch("an array of numbers")),
        }
    }
}

impl Stored for bool {
    fn to_node(&self) -> Node {
        Node::Bool(*self)
    }
    fn from_node(node: &Node) -> Result<Self> {
        match node {
            Node::Bool(b) => Ok(*b),
            other => Err(other.mismatch("true or false")),
        }
    }
    fn list_to_node(items: &[Self]) -> Node {
        Node::Bytes(items.iter().map(|&b| u8::from(b)).collect())
    }
    fn list_from_node(node: &Node) -> Result<Vec<Self>> {
        let flag = |byte: u8| match byte {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(invalid("a flag is neither 0 nor 1")),
        };
        u8::list_from_node(node)?.into_iter().map(flag).collect()
    }
}

/// Nothing, for states that need none.
impl Stored for () {
    fn to_node(&self) -> Node {
        Node::Null
    }
    fn from_node(node: &Node) -> Result<Self> {
        match node {
            Node::Null => Ok(()),
            other => Err(other.mismatch("nothing")),
        }
    }
}

impl Stored for Matrix {
    fn to_node(&self) -> Node {
        Node::Reals(vec![self.nrows(), self.ncols()], self.as_slice().to_vec())
    }
    fn from_node(node: &Node) -> Result<Self> {
        match node {
            Node::Reals(shape, values) if shape.len() == 2 => {
                Matrix::from_vec(shape[0], shape[1], values.clone())
            }
            other => Err(other.mismatch("a matrix")),
        }
    }
}

impl<T: Stored> Stored for Arc<T> {
    fn to_node(&self) -> Node {
        T::to_node(self)
    }
    fn from_node(node: &Node) -> Result<Self> {
        T::from_node(node).map(Arc::new)
    }
}

impl<T: Stored> Stored for Option<T> {
    fn to_node(&self) -> Node {
        self.as_ref().map_or(Node::Null, T::to_node)
    }
    fn from_node(node: &Node) -> Result<Self> {
        match node {
            Node::Null => Ok(None),
            node => T::from_node(node).map(Some),
        }
    }
}

impl Stored for Label {
    fn to_node(&self) -> Node {
        match self {
            Label::Bool(b) => Node::Bool(*b),
            Label::Int(i) => Node::Int(*i),
            Label::Real(x) => Node::Real(*x),
            Label::Text(text) => Node::Text(text.clone()),
        }
    }
    fn from_node(node: &Node) -> Result<Self> {
        Ok(match node {
            Node::Bool(b) => Label::Bool(*b),
            Node::Int(i) => Label::Int(*i),
            Node::Real(x) => Label::Real(*x),
            Node::Text(text) => Label::Text(text.clone()),
            other => return Err(other.mismatch("a label")),
        })
    }
}

impl Stored for Column {
    fn to_node(&self) -> Node {
        let mut map = BTreeMap::new();
        map.insert("name".to_string(), self.name.to_node());
        if let ColumnKind::Categorical { levels, ordered } = &self.kind {
            map.insert("levels".to_string(), levels.to_node());
            map.insert("ordered".to_string(), ordered.to_node());
        }
        Node::Map(map)
    }
    fn from_node(node: &Node) -> Result<Self> {
        node.only("column", &["name", "levels", "ordered"])?;
        let name = node.field("name")?;
        let kind = match node.map("column")?.contains_key("levels") {
            true => ColumnKind::Categorical {
                levels: node.field("levels")?,
                ordered: node.field("ordered")?,
            },
            false => ColumnKind::Numeric,
        };
        Ok(Column { name, kind })
    }
}

/// Schemas of only numeric columns, the common case, are one array of names.
impl Stored for Schema {
    fn to_node(&self) -> Node {
        let columns = match self.all_numeric() {
            true => self.names().map(str::to_string).collect::<Vec<_>>().to_node(),
            false => self.columns().to_vec().to_node(),
        };
        let Some(volume) = self.volume() else { return columns };
        let sides = vec![volume.height, volume.width, volume.depth];
        Node::Map(BTreeMap::from([
            ("cells".to_string(), columns),
            ("volume".to_string(), sides.to_node()),
        ]))
    }
    fn from_node(node: &Node) -> Result<Self> {
        if let Node::Map(parts) = node
            && parts.contains_key("volume")
        {
            node.only("schema", &["cells", "volume"])?;
            let volume = Volume::new(&node.field::<Vec<usize>>("volume")?);
            let cells: Schema = node.field("cells")?;
            return volume
                .and_then(|volume| cells.with_volume(volume))
                .map_err(|error| invalid(error.message()));
        }
        let columns = match node {
            Node::Texts(names) => names
                .iter()
                .map(|name| Column { name: name.clone(), kind: ColumnKind::Numeric })
                .collect(),
            node => Vec::<Column>::from_node(node)?,
        };
        Schema::new(columns).map_err(|error| invalid(error.message()))
    }
}

/// Parameter values travel as the JSON text they have everywhere else.
impl Stored for Value {
    fn to_node(&self) -> Node {
        Node::Text(self.to_json().to_string())
    }
    fn from_node(node: &Node) -> Result<Self> {
        let text = String::from_node(node)?;
        let json = serde_json::from_str(&text).map_err(invalid)?;
        Value::from_json(&json).ok_or_else(|| invalid("not a parameter value"))
    }
}
