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

/// What nodes hold, if every one is of this variant; else the nodes.
macro_rules! every {
    ($nodes:expr, $kind:ident($($field:pat),+) => $value:expr) => {
        match $nodes.iter().all(|node| matches!(node, Node::$kind(..))) {
            true => Ok($nodes
                .into_iter()
                .filter_map(|node| match node {
                    Node::$kind($($field),+) => Some($value),
                    _ => None,
                })
                .collect::<Vec<_>>()),
            false => Err($nodes),
        }
    };
}

/// What is left of nodes that cannot be packed in one way: the nodes.
type Packed = std::result::Result<Node, Vec<Node>>;

/// The table of a list of maps with the same fields; the list if it is not one.
pub(super) fn pack(items: Vec<Node>) -> Packed {
    match items.len() >= FEWEST {
        true => pack_rows(items),
        false => Err(items),
    }
}

/// Column by column: what a column held is gone when the next is packed.
fn pack_rows(rows: Vec<Node>) -> Packed {
    let count = rows.len();
    if !same_fields(&rows) {
        return Err(rows);
    }
    let mut maps = every!(rows, Map(map) => map)?;
    let names: Vec<String> = maps.first().map_or(Vec::new(), |map| map.keys().cloned().collect());
    let column = |name: String| {
        let values: Vec<Node> = maps.iter_mut().filter_map(|map| map.remove(&name)).collect();
        (name, pack_column(values))
    };
    let columns = Node::Map(names.into_iter().map(column).collect());
    Ok(tagged([("rows", count.to_node()), ("columns", columns)]))
}

/// Whether all are maps with the same fields, at least one.
fn same_fields(rows: &[Node]) -> bool {
    let Some(Node::Map(first)) = rows.first() else { return false };
    let same = |row: &Node| matches!(row, Node::Map(map) if map.keys().eq(first.keys()));
    !first.is_empty() && rows.iter().all(same)
}

fn tagged<const N: usize>(fields: [(&str, Node); N]) -> Node {
    Node::Map(fields.into_iter().map(|(name, node)| (name.to_string(), node)).collect())
}

fn pack_column(nodes: Vec<Node>) -> Node {
    let packed = pack_values(nodes)
        .or_else(pack_arrays)
        .or_else(|nodes| pack_rows(nodes).map(|table| tagged([("table", table)])));
    packed.unwrap_or_else(|nodes| {
        let flags: Vec<bool> = nodes.iter().map(|node| *node != Node::Null).collect();
        if flags.iter().all(|flag| *flag) {
            return tagged([("list", Node::List(nodes))]);
        }
        let present: Vec<Node> = nodes.into_iter().filter(|node| *node != Node::Null).collect();
        let values = match present.is_empty() {
            true => Node::Null,
            false => pack_column(present),
        };
        tagged([("some", tagged([("flags", flags.to_node()), ("values", values)]))])
    })
}

/// Numbers and texts side by side.
fn pack_values(nodes: Vec<Node>) -> Packed {
    let nodes = match every!(nodes, Real(x) => x) {
        Ok(values) => return Ok(tagged([("reals", values.to_node())])),
        Err(nodes) => nodes,
    };
    let nodes = match every!(nodes, Int(i) => i) {
        Ok(values) => return Ok(tagged([("ints", values.to_node())])),
        Err(nodes) => nodes,
    };
    let nodes = match every!(nodes, Bool(b) => b) {
        Ok(values) => return Ok(tagged([("flags", values.to_node())])),
        Err(nodes) => nodes,
    };
    every!(nodes, Text(text) => text).map(|values| tagged([("words", values.to_node())]))
}

/// Arrays end to end, with their shapes or lengths.
fn pack_arrays(nodes: Vec<Node>) -> Packed {
    let Some(sizes) = sizes(&nodes) else { return Err(nodes) };
    let pair = |name: &str, values: Node| {
        tagged([(name, tagged([("sizes", Node::Indices(sizes)), ("values", values)]))])
    };
    let nodes = match every!(nodes, Reals(_, values) => values) {
        Ok(arrays) => {
            let all = end_to_end(arrays);
            return Ok(pair("arrays", Node::Reals(vec![all.len()], all)));
        }
        Err(nodes) => nodes,
    };
    let nodes = match every!(nodes, Indices(values) => values) {
        Ok(arrays) => return Ok(pair("indices", Node::Indices(end_to_end(arrays)))),
        Err(nodes) => nodes,
    };
    let nodes = match every!(nodes, Ints(values) => values) {
        Ok(arrays) => return Ok(pair("whole", Node::Ints(end_to_end(arrays)))),
        Err(nodes) => nodes,
    };
    let nodes = match every!(nodes, Bytes(values) => values) {
        Ok(arrays) => return Ok(pair("bytes", Node::Bytes(end_to_end(arrays)))),
        Err(nodes) => nodes,
    };
    let arrays = every!(nodes, Texts(values) => values)?;
    Ok(pair("texts", Node::Texts(end_to_end(arrays))))
}

/// The arrays as one, each gone once it is copied.
fn end_to_end<T>(arrays: Vec<Vec<T>>) -> Vec<T> {
    let mut all = Vec::with_capacity(arrays.iter().map(Vec::len).sum());
    arrays.into_iter().for_each(|array| all.extend(array));
    all
}

/// The sides of all arrays, or their lengths; `None` for other nodes, for arrays of numbers with different
/// numbers of sides, and for very long ones.
fn sizes(nodes: &[Node]) -> Option<Vec<u32>> {
    let rank = |node: &Node| if let Node::Reals(shape, _) = node { shape.len() } else { 1 };
    let first = rank(nodes.first()?);
    let mut sizes = Vec::with_capacity(first * nodes.len());
    for node in nodes {
        match node {
            Node::Reals(shape, _) if shape.len() == first => {
                for &side in shape {
                    sizes.push(u32::try_from(side).ok()?);
                }
            }
            Node::Indices(values) => sizes.push(u32::try_from(values.len()).ok()?),
            Node::Ints(values) => sizes.push(u32::try_from(values.len()).ok()?),
            Node::Bytes(values) => sizes.push(u32::try_from(values.len()).ok()?),
            Node::Texts(values) => sizes.push(u32::try_from(values.len()).ok()?),
            _ => return None,
        }
    }
    Some(sizes)
}

/// The list that a table stands for. `left` counts down the values that it may become.
pub(super) fn unpack(table: Node, left: &mut usize) -> Result<Vec<Node>> {
    table.only("table", &["rows", "columns"])?;
    let rows: usize = table.field("rows")?;
    let columns = fields(taken(table, "columns")?, "columns")?;
    spend(left, rows.checked_mul(columns.len() + 1))?;
    let mut maps: Vec<BTreeMap<String, Node>> = vec![BTreeMap::new(); rows];
    for (name, column) in columns {
        let values = unpack_column(column, rows, left).map_err(|error| error.within(&name))?;
        for (map, value) in maps.iter_mut().zip(values) {
            map.insert(name.clone(), value);
        }
    }
    Ok(maps.into_iter().map(Node::Map).collect())
}

fn fields(node: Node, what: &str) -> Result<BTreeMap<String, Node>> {
    match node {
        Node::Map(map) => Ok(map),
        other => other.map(what).cloned(),
    }
}

/// One field of a map, the rest of which is not needed.
fn taken(node: Node, name: &str) -> Result<Node> {
    let taken = fields(node, name)?.remove(name);
    taken.ok_or_else(|| invalid(format!("no {name}")))
}

fn spend(left: &mut usize, values: Option<usize>) -> Result<()> {
    let rest = values.and_then(|values| left.checked_sub(values));
    *left = rest.ok_or_else(|| invalid(format!("tables of more than {MOST} values")))?;
    Ok(())
}

/// Exactly `rows` values.
fn unpack_column(column: Node, rows: usize, left: &mut usize) -> Result<Vec<Node>> {
    let mut entries = fields(column, "column")?.into_iter();
    let (Some((tag, content)), None) = (entries.next(), entries.next()) else {
        return Err(invalid("a column without its kind"));
    };
    let values: Vec<Node> = match (tag.as_str(), content) {
        ("reals", node) => Vec::from_node(&node)?.into_iter().map(Node::Real).collect(),
        ("ints", node) => Vec::from_node(&node)?.into_iter().map(Node::Int).collect(),
        ("flags", node) => Vec::from_node(&node)?.into_iter().map(Node::Bool).collect(),
        ("words", node) => Vec::from_node(&node)?.into_iter().map(Node::Text).collect(),
        ("list", Node::List(items)) => items,
        ("table", table) => unpack(table, left)?,
        ("some", some) => unpack_some(some, left)?,
        (kind, arrays) => unpack_arrays(kind, arrays, rows)?,
    };
    match values.len() == rows {
        true => Ok(values),
        false => Err(invalid("a column of another length")),
    }
}

fn unpack_some(some: Node, left: &mut usize) -> Result<Vec<Node>> {
    some.only("column", &["flags", "values"])?;
    let flags: Vec<bool> = some.field("flags")?;
    let present = flags.iter().filter(|flag| **flag).count();
    let values = match taken(some, "values")? {
        Node::Null if present == 0 => Vec::new(),
        column => unpack_column(column, present, left)?,
    };
    let mut values = values.into_iter();
    let value = |flag: bool| if flag { values.next() } else { Some(Node::Null) };
    let all = flags.into_iter().map(value).collect::<Option<Vec<Node>>>();
    all.ok_or_else(|| invalid("a column of another length"))
}

fn unpack_arrays(kind: &str, arrays: Node, rows: usize) -> Result<Vec<Node>> {
    arrays.only("arrays", &["sizes", "values"])?;
    let sizes: Vec<u32> = arrays.field("sizes")?;
    let sizes: Vec<usize> = sizes.into_iter().map(|size| size as usize).collect();
    Ok(match (kind, taken(arrays, "values")?) {
        ("arrays", Node::Reals(shape, values)) if shape.len() == 1 => {
            unpack_reals(&values, &sizes, rows)?
        }
        ("indices", Node::Indices(values)) => {
            cut(&values, &sizes)?.into_iter().map(|part| Node::Indices(part.to_vec())).collect()
        }
        ("whole", Node::Ints(values)) => {
            cut(&values, &sizes)?.into_iter().map(|part| Node::Ints(part.to_vec())).collect()
        }
        ("bytes", Node::Bytes(values)) => {
            cut(&values, &sizes)?.into_iter().map(|part| Node::Bytes(part.to_vec())).collect()
        }
        ("texts", Node::Texts(values)) => {
            cut(&values, &sizes)?.into_iter().map(|part| Node::Texts(part.to_vec())).collect()
        }
        _ => return Err(invalid("a column of an unknown kind")),
    })
}

fn unpack_reals(values: &[f64], sizes: &[usize], rows: usize) -> Result<Vec<Node>> {
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
    let parts = cut(values, &counts)?;
    let node = |(shape, part): (&&[usize], &[f64])| Node::Reals(shape.to_vec(), part.to_vec());
    Ok(shapes.iter().zip(parts).map(node).collect())
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
            let table = pack(items.clone()).unwrap();
            assert_eq!(unpack(table, &mut MOST.clone()).unwrap(), items);
        }
        assert!(pack(structs(FEWEST - 1)).is_err());
        assert!(pack(vec![Node::Int(3); 100]).is_err());
    }

    #[test]
    fn tables_that_lie_are_refused() {
        let table = pack(structs(20)).unwrap();
        let Node::Map(map) = &table else { panic!("not a map") };
        for rows in [0, 19, 21, 1 << 40] {
            let mut lie = map.clone();
            lie.insert("rows".into(), Node::Int(rows));
            assert!(unpack(Node::Map(lie), &mut MOST.clone()).is_err(), "{rows} rows");
        }
        assert!(unpack(table, &mut 100).is_err());
        let empty = tagged([("rows", Node::Int(1 << 40)), ("columns", tagged([]))]);
        assert!(unpack(empty, &mut MOST.clone()).is_err());
        let lengths = Node::Indices(vec![u32::MAX; 20]);
        let long = tagged([("sizes", lengths), ("values", Node::Indices(vec![1]))]);
        assert!(unpack_arrays("indices", long, 20).is_err());
    }
}
