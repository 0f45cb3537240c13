//! Many structs as one: a list of maps with the same fields becomes one array a field, with offsets.
//! A forest of ten thousand trees is then as many arrays in the file as one tree.
//!
//! `rows` says how many there were, `columns` has one entry a field: numbers and texts side by side
//! (`reals`, `ints`, `flags`, `words`), arrays end to end with their shapes or lengths (`arrays`,
//! `indices`, `whole`, `bytes`, `texts`), structs as a table again (`table`), what only some rows
//! have with a flag for each (`some`), and anything else as it was (`list`).

use super::{Node, Stored, invalid};
use crate::error::Result;
use std::collections::BTreeMap;

/// A list shorter than this stays a list.
const FEWEST: usize = 16;
/// The most values that tables of a file may be taken apart into.
pub(super) const MOST: usize = 1 << 20;

/// What nodes hold, if every one is of this variant.
macro_rules! every {
    ($nodes:expr, $pattern:pat => $value:expr) => {
        $nodes
            .iter()
            .map(|node| match node {
                $pattern => Some($value),
                _ => None,
            })
            .collect::<Option<Vec<_>>>()
    };
}

/// The table of a list of maps with the same fields; `None` if it is not one.
pub(super) fn pack(items: &[Node]) -> Option<Node> {
    match items.len() >= FEWEST {
        true => pack_rows(&items.iter().collect::<Vec<_>>()),
        false => None,
    }
}

fn pack_rows(rows: &[&Node]) -> Option<Node> {
    let maps = every!(rows, Node::Map(map) => map)?;
    let first = maps.first()?;
    if first.is_empty() || maps.iter().any(|map| !map.keys().eq(first.keys())) {
        return None;
    }
    let column = |name: &String| {
        let values: Vec<&Node> = maps.iter().map(|map| &map[name]).collect();
        (name.clone(), pack_column(&values))
    };
    let columns = Node::Map(first.keys().map(column).collect());
    Some(tagged([("rows", rows.len().to_node()), ("columns", columns)]))
}

fn tagged<const N: usize>(fields: [(&str, Node); N]) -> Node {
    Node::Map(fields.into_iter().map(|(name, node)| (name.to_string(), node)).collect())
}

fn pack_column(nodes: &[&Node]) -> Node {
    if let Some(values) = every!(nodes, Node::Real(x) => *x) {
        return tagged([("reals", values.to_node())]);
    }
    if let Some(values) = every!(nodes, Node::Int(i) => *i) {
        return tagged([("ints", values.to_node())]);
    }
    if let Some(values) = every!(nodes, Node::Bool(b) => *b) {
        return tagged([("flags", values.to_node())]);
    }
    if let Some(values) = every!(nodes, Node::Text(text) => text.clone()) {
        return tagged([("words", values.to_node())]);
    }
    pack_arrays(nodes)
        .or_else(|| pack_rows(nodes).map(|table| tagged([("table", table)])))
        .unwrap_or_else(|| {
            let present: Vec<&Node> =
                nodes.iter().copied().filter(|node| **node != Node::Null).collect();
            match present.len() < nodes.len() {
                true => {
                    let flags: Vec<bool> = nodes.iter().map(|node| **node != Node::Null).collect();
                    let values = match present.is_empty() {
                        true => Node::Null,
                        false => pack_column(&present),
                    };
                    tagged([("some", tagged([("flags", flags.to_node()), ("values", values)]))])
                }
                false => {
                    tagged([("list", Node::List(nodes.iter().map(|n| (*n).clone()).collect()))])
                }
            }
        })
}

fn pack_arrays(nodes: &[&Node]) -> Option<Node> {
    let lengths = |sizes: Vec<usize>| -> Option<Node> {
        let sizes = sizes.into_iter().map(|n| u32::try_from(n).ok());
        sizes.collect::<Option<Vec<u32>>>().map(Node::Indices)
    };
    let pair = |name: &str, sizes: Option<Node>, values: Node| {
        Some(tagged([(name, tagged([("sizes", sizes?), ("values", values)]))]))
    };
    if let Some(arrays) = every!(nodes, Node::Reals(shape, values) => (shape, values)) {
        let rank = arrays.first()?.0.len();
        if arrays.iter().any(|(shape, _)| shape.len() != rank) {
            return None;
        }
        let shapes = lengths(arrays.iter().flat_map(|(shape, _)| shape.iter().copied()).collect());
        let values: Vec<f64> =
            arrays.iter().flat_map(|(_, values)| values.iter().copied()).collect();
        return pair("arrays", shapes, values.to_node());
    }
    if let Some(arrays) = every!(nodes, Node::Indices(values) => values) {
        let sizes = lengths(arrays.iter().map(|values| values.len()).collect());
        return pair(
            "indices",
            sizes,
            Node::Indices(arrays.into_iter().flatten().copied().collect()),
        );
    }
    if let Some(arrays) = every!(nodes, Node::Ints(values) => values) {
        let sizes = lengths(arrays.iter().map(|values| values.len()).collect());
        return pair("whole", sizes, Node::Ints(arrays.into_iter().flatten().copied().collect()));
    }
    if let Some(arrays) = every!(nodes, Node::Bytes(values) => values) {
        let sizes = lengths(arrays.iter().map(|values| values.len()).collect());
        return pair("bytes", sizes, Node::Bytes(arrays.into_iter().flatten().copied().collect()));
    }
    let arrays = every!(nodes, Node::Texts(values) => values)?;
    let sizes = lengths(arrays.iter().map(|values| values.len()).collect());
    pair("texts", sizes, Node::Texts(arrays.into_iter().flatten().cloned().collect()))
}

/// The list that a table stands for. `left` counts down the values that it may become.
pub(super) fn unpack(table: &Node, left: &mut usize) -> Result<Vec<Node>> {
    table.only("table", &["rows", "columns"])?;
    let rows: usize = table.field("rows")?;
    let columns = table.child("columns")?.map("columns")?;
    spend(left, rows.checked_mul(columns.len() + 1))?;
    let mut maps: Vec<BTreeMap<String, Node>> = vec![BTreeMap::new(); rows];
    for (name, column) in columns {
        let values = unpack_column(column, rows, left).map_err(|error| error.within(name))?;
        for (map, value) in maps.iter_mut().zip(values) {
            map.insert(name.clone(), value);
        }
    }
    Ok(maps.into_iter().map(Node::Map).collect())
}

fn spend(left: &mut usize, values: Option<usize>) -> Result<()> {
    let rest = values.and_then(|values| left.checked_sub(values));
    *left = rest.ok_or_else(|| invalid(format!("tables of more than {MOST} values")))?;
    Ok(())
}

/// Exactly `rows` values.
fn unpack_column(column: &Node, rows: usize, left: &mut usize) -> Result<Vec<Node>> {
    let mut entries = column.map("column")?.iter();
    let (Some((tag, content)), None) = (entries.next(), entries.next()) else {
        return Err(invalid("a column without its kind"));
    };
    let values: Vec<Node> = match (tag.as_str(), content) {
        ("reals", node) => Vec::from_node(node)?.into_iter().map(Node::Real).collect(),
        ("ints", node) => Vec::from_node(node)?.into_iter().map(Node::Int).collect(),
        ("flags", node) => Vec::from_node(node)?.into_iter().map(Node::Bool).collect(),
        ("words", node) => Vec::from_node(node)?.into_iter().map(Node::Text).collect(),
        ("list", Node::List(items)) => items.clone(),
        ("table", table) => unpack(table, left)?,
        ("some", some) => unpack_some(some, left)?,
        (kind, arrays) => unpack_arrays(kind, arrays, rows)?,
    };
    match values.len() == rows {
        true => Ok(values),
        false => Err(invalid("a column of another length")),
    }
}

fn unpack_some(some: &Node, left: &mut usize) -> Result<Vec<Node>> {
    some.only("column", &["flags", "values"])?;
    let flags: Vec<bool> = some.field("flags")?;
    let present = flags.iter().filter(|flag| **flag).count();
    let values = match some.child("values")? {
        Node::Null if present == 0 => Vec::new(),
        column => unpack_column(column, present, left)?,
    };
    let mut values = values.into_iter();
    let value = |flag: bool| if flag { values.next() } else { Some(Node::Null) };
    let all = flags.into_iter().map(value).collect::<Option<Vec<Node>>>();
    all.ok_or_else(|| invalid("a column of another length"))
}

fn unpack_arrays(kind: &str, arrays: &Node, rows: usize) -> Result<Vec<Node>> {
    arrays.only("arrays", &["sizes", "values"])?;
    let sizes: Vec<u32> = arrays.field("sizes")?;
    let sizes: Vec<usize> = sizes.into_iter().map(|size| size as usize).collect();
    if kind == "arrays" {
        let values: Vec<f64> = arrays.field("values")?;
        let rank = sizes.len().checked_div(rows).unwrap_or(0);
        if rank == 0 || rank > 4 || sizes.len() != rank * rows {
            return Err(invalid("arrays without shapes"));
        }
        let shapes: Vec<&[usize]> = sizes.chunks_exact(rank).collect();
        let count = |shape: &&[usize]| {
            let product = |n: usize, side: &usize| n.checked_mul(*side);
            shape.iter().try_fold(1, product).ok_or_else(|| invalid("a shape that is too large"))
        };
        let counts = shapes.iter().map(count).collect::<Result<Vec<usize>>>()?;
        let parts = cut(&values, &counts)?;
        let node = |(shape, part): (&&[usize], &[f64])| Node::Reals(shape.to_vec(), part.to_vec());
        return Ok(shapes.iter().zip(parts).map(node).collect());
    }
    Ok(match (kind, arrays.child("values")?) {
        ("indices", Node::Indices(values)) => {
            cut(values, &sizes)?.into_iter().map(|part| Node::Indices(part.to_vec())).collect()
        }
        ("whole", Node::Ints(values)) => {
            cut(values, &sizes)?.into_iter().map(|part| Node::Ints(part.to_vec())).collect()
        }
        ("bytes", Node::Bytes(values)) => {
            cut(values, &sizes)?.into_iter().map(|part| Node::Bytes(part.to_vec())).collect()
        }
        ("texts", Node::Texts(values)) => {
            cut(values, &sizes)?.into_iter().map(|part| Node::Texts(part.to_vec())).collect()
        }
        _ => return Err(invalid("a column of an unknown kind")),
    })
}

/// The values in parts of these lengths, which must use up all of them.
fn cut<'a, T>(values: &'a [T], lengths: &[usize]) -> Result<Vec<&'a [T]>> {
    let mut rest = values;
    let mut parts = Vec::with_capacity(lengths.len());
    for &length in lengths {
        let (part, after) =
            rest.split_at_checked(length).ok_or_else(|| invalid("an array is cut"))?;
        parts.push(part);
        rest = after;
    }
    match rest.is_empty() {
        true => Ok(parts),
        false => Err(invalid("values after the last array")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Structs with every kind of field.
    fn structs(rows: usize) -> Vec<Node> {
        let one = |i: usize| {
            tagged([
                ("real", Node::Real(i as f64 / 3.0)),
                ("int", Node::Int(-(i as i64))),
                ("flag", Node::Bool(i.is_multiple_of(3))),
                ("word", Node::Text(format!("w{i}"))),
                ("reals", Node::Reals(vec![i % 4], vec![0.5; i % 4])),
                ("matrix", Node::Reals(vec![2, i % 3], vec![i as f64; 2 * (i % 3)])),
                ("indices", Node::Indices(vec![i as u32; i % 5])),
                ("whole", Node::Ints(vec![7; i % 2])),
                ("bytes", Node::Bytes(vec![1; i % 6])),
                ("texts", Node::Texts(vec!["ä".into(); i % 3])),
                ("inner", tagged([("a", Node::Int(1)), ("b", Node::Reals(vec![1], vec![2.0]))])),
                ("some", if i.is_multiple_of(2) { Node::Null } else { Node::Indices(vec![3]) }),
                ("none", Node::Null),
                ("mixed", if i == 0 { Node::Int(1) } else { Node::List(vec![Node::Real(0.0)]) }),
            ])
        };
        (0..rows).map(one).collect()
    }

    #[test]
    fn structs_come_back_as_they_were() {
        for rows in [FEWEST, 100] {
            let items = structs(rows);
            let table = pack(&items).unwrap();
            assert_eq!(unpack(&table, &mut MOST.clone()).unwrap(), items);
        }
        assert!(pack(&structs(FEWEST - 1)).is_none());
        assert!(pack(&vec![Node::Int(3); 100]).is_none());
    }

    #[test]
    fn tables_that_lie_are_refused() {
        let table = pack(&structs(20)).unwrap();
        let Node::Map(map) = &table else { panic!("not a map") };
        for rows in [0, 19, 21, 1 << 40] {
            let mut lie = map.clone();
            lie.insert("rows".into(), Node::Int(rows));
            assert!(unpack(&Node::Map(lie), &mut MOST.clone()).is_err(), "{rows} rows");
        }
        assert!(unpack(&table, &mut 100).is_err());
        let empty = tagged([("rows", Node::Int(1 << 40)), ("columns", tagged([]))]);
        assert!(unpack(&empty, &mut MOST.clone()).is_err());
        let lengths = Node::Indices(vec![u32::MAX; 20]);
        let long = tagged([("sizes", lengths), ("values", Node::Indices(vec![1]))]);
        assert!(unpack_arrays("indices", &long, 20).is_err());
    }
}
