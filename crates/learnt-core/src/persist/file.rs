//! Bytes of a model file.
//!
//! `learnt\0` and a format byte, then a safetensors body (header length, JSON header, raw
//! little-endian arrays), then the SHA-256 of everything before it. Any safetensors reader can read
//! the body between the two. The tree of values is the string `learnt` in the header's
//! `__metadata__`, where an array stands as `{"@": "tensor name"}`. Lists of many structs are one
//! array a field (`{"table": ...}`).
//!
//! Reading refuses: a wrong checksum, more than 16 MB or 32 levels of header, repeated keys, more
//! than 16,384 tensors, tables of more than a million values, offsets that overlap, leave gaps or point outside, shapes that overflow.

use super::{Node, invalid, table};
use crate::error::{Code, Error, Result};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

const MAGIC: &[u8; 7] = b"learnt\0";
/// The newest format this build reads, and the one it writes.
pub const FORMAT: u8 = 1;
const CHECKSUM: usize = 32;
const LONGEST_HEADER: usize = 16 << 20;
const MOST_TENSORS: usize = 16_384;
const DEEPEST: usize = 32;
const LONGEST_NAME: usize = 256;

/// A tree as the bytes of a model file.
pub fn to_bytes(root: Node) -> Result<Vec<u8>> {
    let layout = Layout::of(root)?;
    let mut out = Vec::with_capacity(16 + layout.header.len() + layout.bytes + CHECKSUM);
    layout.write(&mut out)?;
    Ok(out)
}

/// Writes a tree as a model file. Arrays go from the tree to the writer: no second copy of them is made.
pub fn write(root: Node, out: &mut dyn Write) -> Result<()> {
    Layout::of(root)?.write(out)
}

/// A file before it is written: the header, then the arrays, which are so many bytes.
struct Layout {
    header: Vec<u8>,
    arrays: Vec<Node>,
    bytes: usize,
}

impl Layout {
    fn of(root: Node) -> Result<Layout> {
        let mut tensors = Tensors { header: Map::new(), arrays: Vec::new(), bytes: 0 };
        let manifest = tensors.flatten(root, "")?;
        let Tensors { mut header, arrays, bytes } = tensors;
        if header.len() > MOST_TENSORS {
            let message =
                format!("the model has {} arrays, more than {MOST_TENSORS}", header.len());
            return Err(Error::new(Code::FileInvalid, message));
        }
        header.insert("__metadata__".into(), json!({ "learnt": manifest.to_string() }));
        let mut header = Json::Object(header).to_string().into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');
        match header.len() > LONGEST_HEADER {
            true => Err(Error::new(Code::FileInvalid, "the model's header is above 16 MB")),
            false => Ok(Layout { header, arrays, bytes }),
        }
    }

    fn write(self, out: &mut dyn Write) -> Result<()> {
        let mut out = Hashed { out, sha: Sha256::new() };
        out.put(MAGIC)?;
        out.put(&[FORMAT])?;
        out.put(&(self.header.len() as u64).to_le_bytes())?;
        out.put(&self.header)?;
        self.arrays.into_iter().try_for_each(|array| out.put_array(&array))?;
        let Hashed { out, sha } = out;
        Ok(out.write_all(&sha.finalize())?)
    }
}

/// A writer that knows the checksum of what it wrote.
struct Hashed<'a> {
    out: &'a mut dyn Write,
    sha: Sha256,
}

impl Hashed<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.sha.update(bytes);
        Ok(self.out.write_all(bytes)?)
    }

    fn put_array(&mut self, array: &Node) -> Result<()> {
        match array {
            Node::Reals(_, values) => self.put_words(values, |x| x.to_le_bytes()),
            Node::Indices(values) => self.put_words(values, |x| x.to_le_bytes()),
            Node::Ints(values) => self.put_words(values, |x| x.to_le_bytes()),
            Node::Bytes(values) => self.put(values),
            _ => Err(Error::internal("an array that is none")),
        }
    }

    fn put_words<T: Copy, const N: usize>(
        &mut self,
        values: &[T],
        bytes: fn(T) -> [u8; N],
    ) -> Result<()> {
        const AT_ONCE: usize = 4096;
        let mut words = vec![[0; N]; AT_ONCE.min(values.len())];
        for some in values.chunks(AT_ONCE) {
            let words = &mut words[..some.len()];
            words.iter_mut().zip(some).for_each(|(word, &value)| *word = bytes(value));
            self.put(words.as_flattened())?;
        }
        Ok(())
    }
}

/// The arrays of a tree, in the order of the file, and what the header says of them.
struct Tensors {
    header: Map<String, Json>,
    arrays: Vec<Node>,
    bytes: usize,
}

impl Tensors {
    /// The tree as JSON, with arrays moved out.
    fn flatten(&mut self, node: Node, path: &str) -> Result<Json> {
        Ok(match node {
            Node::Null => Json::Null,
            Node::Bool(b) => json!(b),
            Node::Int(i) => json!(i),
            Node::Real(x) if x.is_finite() => json!({ "r": x }),
            Node::Real(x) => json!({ "r": format!("{:016x}", x.to_bits()) }),
            Node::Text(text) => json!(text),
            Node::Reals(shape, values) => {
                let bytes = 8 * values.len();
                let entry = json!({ "dtype": "F64", "shape": &shape });
                self.push(path, entry, bytes, Node::Reals(shape, values))
            }
            Node::Indices(values) => {
                let entry = json!({ "dtype": "U32", "shape": [values.len()] });
                self.push(path, entry, 4 * values.len(), Node::Indices(values))
            }
            Node::Ints(values) => {
                let entry = json!({ "dtype": "I64", "shape": [values.len()] });
                self.push(path, entry, 8 * values.len(), Node::Ints(values))
            }
            Node::Bytes(values) => {
                let entry = json!({ "dtype": "U8", "shape": [values.len()] });
                self.push(path, entry, values.len(), Node::Bytes(values))
            }
            Node::Texts(texts) => {
                let lengths = Node::Indices(texts.iter().map(|t| t.len() as u32).collect());
                let bytes = Node::Bytes(texts.concat().into_bytes());
                let lengths = self.flatten(lengths, &join(path, "lengths"))?;
                json!({ "texts": [lengths, self.flatten(bytes, &join(path, "bytes"))?] })
            }
            Node::List(items) => match table::pack(items) {
                Ok(table) => json!({ "table": self.flatten(table, path)? }),
                Err(items) => {
                    let items: Result<Vec<Json>> = items
                        .into_iter()
                        .enumerate()
                        .map(|(i, item)| self.flatten(item, &join(path, &i.to_string())))
                        .collect();
                    Json::Array(items?)
                }
            },
            Node::Map(map) => {
                let mut object = Map::new();
                for (name, value) in map {
                    let value = self.flatten(value, &join(path, &name))?;
                    object.insert(name, value);
                }
                json!({ "m": object })
            }
        })
    }

    fn push(&mut self, path: &str, mut entry: Json, bytes: usize, array: Node) -> Json {
        let name = if path.len() > LONGEST_NAME - 16 || !is_tensor_name(path) {
            format!("array-{}", self.header.len())
        } else {
            path.to_string()
        };
        entry["data_offsets"] = json!([self.bytes, self.bytes + bytes]);
        self.bytes += bytes;
        self.arrays.push(array);
        self.header.insert(name.clone(), entry);
        json!({ "@": name })
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}/{name}") }
}

fn is_tensor_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= LONGEST_NAME
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_./-".contains(&b))
}

/// The tree in the bytes of a model file.
pub fn from_bytes(bytes: &[u8]) -> Result<Node> {
    let body = checked_body(bytes)?;
    let (header, data) = split_header(body)?;
    let Json::Object(mut header) = header else {
        return Err(invalid("the header is not an object"));
    };
    let manifest = match header.remove("__metadata__") {
        Some(Json::Object(mut metadata)) if metadata.len() == 1 => metadata.remove("learnt"),
        _ => None,
    };
    let Some(Json::String(manifest)) = manifest else { return Err(invalid("no manifest")) };
    let manifest = parse_json(manifest.as_bytes())?;
    let tensors = read_tensors(&header, data)?;
    let mut reader = Reader { tensors: &tensors, data, used: BTreeSet::new(), left: table::MOST };
    let root = reader.node(&manifest)?;
    match reader.used.len() == tensors.len() {
        true => Ok(root),
        false => Err(invalid("an array that nothing refers to")),
    }
}

/// The checksum at the end of these bytes, found right.
pub fn checksum(bytes: &[u8]) -> Result<[u8; 32]> {
    checked_body(bytes)?;
    bytes.last_chunk().copied().ok_or_else(truncated)
}

/// Everything between the magic and the checksum, after both are found right.
fn checked_body(bytes: &[u8]) -> Result<&[u8]> {
    if !bytes.starts_with(MAGIC) {
        let cut = !bytes.is_empty() && MAGIC.starts_with(bytes);
        return Err(if cut { truncated() } else { foreign(bytes) });
    }
    match bytes.get(MAGIC.len()) {
        None => return Err(truncated()),
        Some(&format) if format > FORMAT => {
            let message =
                format!("this file has format {format}, and this build reads up to {FORMAT}");
            return Err(Error::new(Code::FileVersion, message).hint("use a newer learnt"));
        }
        Some(_) => {}
    }
    let Some(end) = bytes.len().checked_sub(CHECKSUM).filter(|&end| end >= 16) else {
        return Err(truncated());
    };
    match Sha256::digest(&bytes[..end])[..] == bytes[end..] {
        true => Ok(&bytes[8..end]),
        false => Err(Error::new(
            Code::FileDamaged,
            "the model file is damaged or cut short: its checksum does not match its content",
        )),
    }
}

fn truncated() -> Error {
    Error::new(Code::FileTruncated, "the model file ends too early")
}

/// Names well-known kinds of files, which are never handed to another loader.
fn foreign(bytes: &[u8]) -> Error {
    let kind = match bytes {
        [] => "an empty file",
        [0x80, 2..=5, ..] => "a Python pickle",
        [b'P', b'K', 3, 4, ..] => "a zip archive",
        [0x1f, 0x8b, ..] => "a gzip file",
        [b'P', b'A', b'R', b'1', ..] => "a Parquet file",
        [0x08, _, ..] => "an ONNX or protobuf file",
        [b'{', ..] => "a JSON file",
        _ if bytes.iter().take(256).all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()) => {
            "a text file"
        }
        _ => "an unknown kind of file",
    };
    Error::new(Code::FileKind, format!("not a learnt model: this is {kind}"))
        .hint("model files are written by `learnt fit ... -o model.learnt`")
}

/// Reads the header length and parses the header; the rest is array data.
fn split_header(body: &[u8]) -> Result<(Json, &[u8])> {
    let (length, rest) = body.split_first_chunk::<8>().ok_or_else(truncated)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    if length > LONGEST_HEADER || length > rest.len() {
        return Err(invalid("the header is longer than the file or than 16 MB"));
    }
    let (header, data) = rest.split_at(length);
    Ok((parse_json(header)?, data))
}

/// Parses JSON after a scan has bounded its depth and its number of values.
fn parse_json(bytes: &[u8]) -> Result<Json> {
    scan_json(bytes)?;
    let strict: Strict = serde_json::from_slice(bytes).map_err(invalid)?;
    Ok(strict.0)
}

/// A first look at JSON that allocates nothing: bounds depth and number of values.
fn scan_json(bytes: &[u8]) -> Result<()> {
    const MOST_VALUES: usize = 20 * MOST_TENSORS;
    let (mut depth, mut values, mut in_text, mut escaped) = (0_usize, 1_usize, false, false);
    for &byte in bytes {
        if in_text {
            (in_text, escaped) = (escaped || byte != b'"', !escaped && byte == b'\\');
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => {}
        }
        if depth > DEEPEST {
            return Err(invalid(format!("nested deeper than {DEEPEST} levels")));
        }
        if values > MOST_VALUES {
            return Err(invalid(format!("more than {MOST_VALUES} values in the header")));
        }
    }
    Ok(())
}

/// JSON in which no object has a key twice.
struct Strict(Json);

impl<'de> serde_core::Deserialize<'de> for Strict {
    fn deserialize<D: serde_core::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> serde_core::de::Visitor<'de> for StrictVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "JSON")
    }
    fn visit_bool<E>(self, value: bool) -> std::result::Result<Json, E> {
        Ok(json!(value))
    }
    fn visit_i64<E>(self, value: i64) -> std::result::Result<Json, E> {
        Ok(json!(value))
    }
    fn visit_u64<E>(self, value: u64) -> std::result::Result<Json, E> {
        Ok(json!(value))
    }
    fn visit_f64<E>(self, value: f64) -> std::result::Result<Json, E> {
        Ok(json!(value))
    }
    fn visit_str<E>(self, value: &str) -> std::result::Result<Json, E> {
        Ok(json!(value))
    }
    fn visit_string<E>(self, value: String) -> std::result::Result<Json, E> {
        Ok(Json::String(value))
    }
    fn visit_unit<E>(self) -> std::result::Result<Json, E> {
        Ok(Json::Null)
    }
    fn visit_seq<A: serde_core::de::SeqAccess<'de>>(
        self,
        mut items: A,
    ) -> std::result::Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::Array(list))
    }
    fn visit_map<A: serde_core::de::MapAccess<'de>>(
        self,
        mut entries: A,
    ) -> std::result::Result<Json, A::Error> {
        let mut map = Map::new();
        while let Some((key, Strict(value))) = entries.next_entry::<String, Strict>()? {
            if map.insert(key, value).is_some() {
                return Err(serde_core::de::Error::custom("a key stands twice"));
            }
        }
        Ok(Json::Object(map))
    }
}

/// Where an array lies and what it holds.
struct Tensor {
    dtype: &'static str,
    shape: Vec<usize>,
    start: usize,
    end: usize,
}

/// The table of arrays, proved to cover the data exactly once.
fn read_tensors(header: &Map<String, Json>, data: &[u8]) -> Result<BTreeMap<String, Tensor>> {
    if header.len() > MOST_TENSORS {
        return Err(invalid(format!("more than {MOST_TENSORS} arrays")));
    }
    let mut tensors = BTreeMap::new();
    for (name, entry) in header {
        if !is_tensor_name(name) {
            return Err(invalid("an array with a forbidden name"));
        }
        tensors.insert(name.clone(), read_tensor(name, entry, data.len())?);
    }
    let mut extents: Vec<(usize, usize)> = tensors.values().map(|t| (t.start, t.end)).collect();
    extents.sort_unstable();
    let mut reached = 0;
    for (start, end) in extents {
        if start != reached {
            return Err(invalid("arrays overlap or leave a gap"));
        }
        reached = end;
    }
    match reached == data.len() {
        true => Ok(tensors),
        false => Err(invalid("bytes after the last array")),
    }
}

fn read_tensor(name: &str, entry: &Json, available: usize) -> Result<Tensor> {
    let bad = |what: &str| invalid(format!("array `{name}`: {what}"));
    let entry = entry.as_object().filter(|e| e.len() == 3).ok_or_else(|| bad("not described"))?;
    let (dtype, size) = match entry.get("dtype").and_then(Json::as_str) {
        Some("F64") => ("F64", 8),
        Some("I64") => ("I64", 8),
        Some("U32") => ("U32", 4),
        Some("U8") => ("U8", 1),
        _ => return Err(bad("a type that is not allowed")),
    };
    let whole_numbers = |key: &str, most: usize| -> Option<Vec<usize>> {
        let items = entry.get(key)?.as_array().filter(|items| items.len() <= most)?;
        items.iter().map(|n| usize::try_from(n.as_u64()?).ok()).collect()
    };
    let shape = whole_numbers("shape", 4).ok_or_else(|| bad("no shape"))?;
    let offsets = whole_numbers("data_offsets", 2).ok_or_else(|| bad("no offsets"))?;
    let &[start, end] = offsets.as_slice() else { return Err(bad("no offsets")) };
    let bytes = shape.iter().try_fold(size, |product: usize, &n| product.checked_mul(n));
    match bytes {
        Some(bytes) if start <= end && end <= available && end - start == bytes => {
            Ok(Tensor { dtype, shape, start, end })
        }
        _ => Err(bad("its shape and its bytes differ")),
    }
}

struct Reader<'a> {
    tensors: &'a BTreeMap<String, Tensor>,
    data: &'a [u8],
    used: BTreeSet<String>,
    /// How many more values tables may become.
    left: usize,
}

impl Reader<'_> {
    fn node(&mut self, json: &Json) -> Result<Node> {
        Ok(match json {
            Json::Null => Node::Null,
            Json::Bool(b) => Node::Bool(*b),
            Json::Number(n) => Node::Int(
                n.as_i64().ok_or_else(|| invalid("a fraction where a whole number belongs"))?,
            ),
            Json::String(text) => Node::Text(text.clone()),
            Json::Array(items) => {
                Node::List(items.iter().map(|item| self.node(item)).collect::<Result<_>>()?)
            }
            Json::Object(object) => {
                let mut entries = object.iter();
                match (entries.next(), entries.next()) {
                    (Some((key, value)), None) => self.tagged(key, value)?,
                    _ => return Err(invalid("an object without a tag")),
                }
            }
        })
    }

    fn tagged(&mut self, tag: &str, value: &Json) -> Result<Node> {
        match (tag, value) {
            ("r", Json::Number(x)) => {
                x.as_f64().map(Node::Real).ok_or_else(|| invalid("not a number"))
            }
            ("r", Json::String(bits)) if bits.len() == 16 => u64::from_str_radix(bits, 16)
                .map(|bits| Node::Real(f64::from_bits(bits)))
                .map_err(invalid),
            ("m", Json::Object(fields)) => {
                let mut map = BTreeMap::new();
                for (name, field) in fields {
                    map.insert(name.clone(), self.node(field).map_err(|e| e.within(name))?);
                }
                Ok(Node::Map(map))
            }
            ("@", Json::String(name)) => self.array(name),
            ("table", columns) => {
                let columns = self.node(columns)?;
                table::unpack(columns, &mut self.left).map(Node::List)
            }
            ("texts", Json::Array(parts)) if parts.len() == 2 => {
                let (lengths, bytes) = (self.node(&parts[0])?, self.node(&parts[1])?);
                texts(lengths, bytes)
            }
            _ => Err(invalid("an object with an unknown tag")),
        }
    }

    /// Copies an array out of the data. Each may be named once, so that memory stays bounded.
    fn array(&mut self, name: &str) -> Result<Node> {
        let tensor = self.tensors.get(name).ok_or_else(|| invalid("an array that is not there"))?;
        if !self.used.insert(name.to_string()) {
            return Err(invalid("an array used twice"));
        }
        let bytes = &self.data[tensor.start..tensor.end];
        Ok(match tensor.dtype {
            "F64" => Node::Reals(tensor.shape.clone(), words(bytes, f64::from_le_bytes)),
            "I64" if tensor.shape.len() == 1 => Node::Ints(words(bytes, i64::from_le_bytes)),
            "U32" if tensor.shape.len() == 1 => Node::Indices(words(bytes, u32::from_le_bytes)),
            "U8" if tensor.shape.len() == 1 => Node::Bytes(bytes.to_vec()),
            _ => return Err(invalid("an array with a shape that its type cannot have")),
        })
    }
}

fn words<const N: usize, T>(bytes: &[u8], convert: fn([u8; N]) -> T) -> Vec<T> {
    let (words, _) = bytes.as_chunks::<N>();
    words.iter().map(|word| convert(*word)).collect()
}

fn texts(lengths: Node, bytes: Node) -> Result<Node> {
    let (Node::Indices(lengths), Node::Bytes(bytes)) = (lengths, bytes) else {
        return Err(invalid("texts without lengths and bytes"));
    };
    let mut rest = std::str::from_utf8(&bytes).map_err(invalid)?;
    let mut texts = Vec::with_capacity(lengths.len());
    for length in lengths {
        let (text, after) =
            rest.split_at_checked(length as usize).ok_or_else(|| invalid("a text is cut"))?;
        texts.push(text.to_string());
        rest = after;
    }
    match rest.is_empty() {
        true => Ok(Node::Texts(texts)),
        false => Err(invalid("bytes after the last text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Node {
        let mut map = BTreeMap::new();
        map.insert("alpha".to_string(), Node::Real(0.1));
        map.insert("odd".to_string(), Node::Real(f64::NAN));
        map.insert(
            "coef".to_string(),
            Node::Reals(vec![2, 2], vec![1.0, -0.0, f64::INFINITY, 5e-324]),
        );
        map.insert("names".to_string(), Node::Texts(vec!["ä".into(), String::new(), "b".into()]));
        map.insert("list".to_string(), Node::List(vec![Node::Int(-3), Node::Indices(vec![7])]));
        map.insert("none".to_string(), Node::Null);
        Node::Map(map)
    }

    #[test]
    fn bytes_round_trip_to_the_bit() {
        let bytes = to_bytes(sample()).unwrap();
        let back = from_bytes(&bytes).unwrap();
        assert_eq!(to_bytes(back).unwrap(), bytes);
    }

    #[test]
    fn every_truncation_and_every_flipped_byte_is_refused() {
        let bytes = to_bytes(sample()).unwrap();
        for length in 0..bytes.len() {
            assert!(from_bytes(&bytes[..length]).is_err(), "cut at {length}");
        }
        for i in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[i] ^= flip;
                assert!(from_bytes(&damaged).is_err(), "byte {i} flipped by {flip:#x}");
            }
        }
    }

    #[test]
    fn other_kinds_of_files_are_named() {
        let message = |bytes: &[u8]| from_bytes(bytes).unwrap_err().message().to_string();
        assert!(message(b"\x80\x04\x95abcdefgh").contains("pickle"));
        assert!(message(b"a,b\n1,2\n").contains("text"));
        assert!(message(b"").contains("empty"));
    }
}
