//! Bytes to read from: a regular file read in place, or anything else taken in once (standard
//! input, compressed files, other encodings) so that every reader sees the same bytes.

use crate::address::{self, Place};
use crate::options::{Encoding, ReadOptions};
use crate::report::Packing;
use learnt_core::context::Context;
use learnt_core::error::{Code, Error, Result, plain};
use learnt_core::faults::{Fault, meet};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

const BUFFER: usize = 1 << 20;

/// Bytes that can be read at any place by several threads.
pub(crate) enum Bytes {
    /// A file that is read in pieces.
    File {
        /// The open file.
        file: File,
        /// Its length when opened.
        len: u64,
        /// When it was last changed before it was opened.
        modified: Option<SystemTime>,
    },
    /// All of it.
    Memory(Vec<u8>),
}

/// A file or stream, unpacked.
pub(crate) struct Input {
    /// The bytes.
    pub(crate) bytes: Arc<Bytes>,
    /// How they were packed.
    pub(crate) packing: Packing,
    /// SHA-256 of the packed bytes, if they were taken in and it was asked for.
    pub(crate) digest: Option<String>,
    /// The name to put in messages.
    pub(crate) name: String,
}

impl Bytes {
    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Bytes::File { len, .. } => *len,
            Bytes::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Bytes `start..end`, from memory or by way of `buffer`.
    pub(crate) fn read<'a>(
        &'a self,
        start: u64,
        end: u64,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        let end = end.min(self.len()).max(start.min(self.len()));
        let start = start.min(end);
        match self {
            Bytes::Memory(bytes) => Ok(&bytes[start as usize..end as usize]),
            Bytes::File { file, .. } => {
                let count = (end - start) as usize;
                if buffer.len() < count {
                    buffer.try_reserve(count - buffer.len()).map_err(|_| no_memory(count))?;
                    buffer.resize(count, 0);
                }
                read_at(file, &mut buffer[..count], start)?;
                Ok(&buffer[..count])
            }
        }
    }

    /// A copy of the bytes `start..end`.
    #[cfg(feature = "columnar")]
    pub(crate) fn take(&self, start: u64, end: u64) -> Result<Vec<u8>> {
        let mut buffer = Vec::new();
        let count = match self {
            Bytes::Memory(_) => return Ok(self.read(start, end, &mut buffer)?.to_vec()),
            Bytes::File { .. } => self.read(start, end, &mut buffer)?.len(),
        };
        buffer.truncate(count);
        Ok(buffer)
    }

    /// All bytes at once, for formats that are read as one text.
    pub(crate) fn all(&self, run: &Context) -> Result<Cow<'_, [u8]>> {
        match self {
            Bytes::Memory(bytes) => Ok(Cow::Borrowed(bytes)),
            Bytes::File { len, .. } => {
                run.claim(*len, "the text of the file")?;
                let mut buffer = Vec::new();
                self.read(0, *len, &mut buffer)?;
                Ok(Cow::Owned(buffer))
            }
        }
    }

    /// Length and time of the last change of a file.
    pub(crate) fn stamp(&self) -> Option<(u64, Option<SystemTime>)> {
        match self {
            Bytes::File { len, modified, .. } => Some((*len, *modified)),
            Bytes::Memory(_) => None,
        }
    }

    /// An error if the file is no longer the one that was opened.
    pub(crate) fn unchanged(&self) -> Result<()> {
        let Bytes::File { file, len, modified } = self else { return Ok(()) };
        let now = file.metadata()?;
        match now.len() == *len && now.modified().ok() == *modified {
            true => Ok(()),
            false => Err(changed()),
        }
    }

    fn of_file(file: File) -> Result<Bytes> {
        let metadata = file.metadata()?;
        Ok(Bytes::File { len: metadata.len(), modified: metadata.modified().ok(), file })
    }
}

/// Lends a buffer that the thread keeps, because fresh memory costs more than the reading.
pub(crate) fn with_buffer<T>(f: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    const KEPT: usize = 8 << 20;
    thread_local! {
        static BUFFER: std::cell::RefCell<Vec<u8>> = const { std::cell::RefCell::new(Vec::new()) };
    }
    let mut buffer = BUFFER.with(std::cell::RefCell::take);
    let result = f(&mut buffer);
    if buffer.capacity() <= KEPT {
        BUFFER.with(|kept| kept.replace(buffer));
    }
    result
}

/// The error for a file that changed between two looks at it.
pub(crate) fn changed() -> Error {
    Error::new(Code::Io, "the file changed while it was being read").hint("read it again")
}

fn no_memory(bytes: usize) -> Error {
    Error::new(Code::Memory, format!("no memory for {} MB of input", bytes >> 20))
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], start: u64) -> Result<()> {
    meet(Fault::Read)?;
    use std::os::unix::fs::FileExt;
    file.read_exact_at(buffer, start).map_err(short_read)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], start: u64) -> Result<()> {
    use std::os::windows::fs::FileExt;
    let mut done = 0;
    while done < buffer.len() {
        match file.seek_read(&mut buffer[done..], start + done as u64)? {
            0 => return Err(changed()),
            count => done += count,
        }
    }
    Ok(())
}

#[cfg(not(any(unix, windows)))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> Result<()> {
    Err(Error::unsupported("files cannot be read on this platform"))
}

#[cfg(unix)]
fn short_read(error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => changed(),
        _ => error.into(),
    }
}

/// Opens a path, or standard input for `-`. With `spool`, what cannot be read in place goes to a
/// temporary file instead of memory.
pub(crate) fn open(
    path: &Path,
    options: &ReadOptions,
    spool: bool,
    run: &Context,
) -> Result<Input> {
    let name = plain(&path.display().to_string());
    let most = if spool { 0 } else { most_in_memory(run) };
    let result = match path.as_os_str() == "-" {
        true => take_in(&mut std::io::stdin().lock(), options, most, run),
        false => match address::place(path) {
            Ok(Place::Here(path)) => open_path(&path, options, most, run),
            Ok(Place::There(text)) => {
                address::read(text).and_then(|mut pipe| take_in(&mut pipe, options, most, run))
            }
            // Its words leave out what may be a secret, and so does the place of the error.
            Err(error) => return Err(error),
        },
    };
    result.map(|input| Input { name: name.clone(), ..input }).map_err(|error| error.within(&name))
}

/// What a stream may take of memory before it goes to a temporary file.
fn most_in_memory(run: &Context) -> u64 {
    const MOST: u64 = 64 << 20;
    run.memory_limit().map_or(MOST, |limit| (limit / 16).min(MOST))
}

/// Bytes that are already in memory, unpacked.
pub(crate) fn from_memory(name: &str, bytes: &[u8]) -> Input {
    Input {
        bytes: Arc::new(Bytes::Memory(bytes.to_vec())),
        packing: Packing::Plain,
        digest: None,
        name: plain(name),
    }
}

fn open_path(path: &Path, options: &ReadOptions, most: u64, run: &Context) -> Result<Input> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(Error::new(Code::Io, "is a directory, not a file")
            .hint("with --stream the files of a folder are one table"));
    }
    if !metadata.is_file() {
        return take_in(&mut file, options, most, run);
    }
    let mut head = [0; 16];
    let got = fill(&mut file, &mut head)?;
    file.seek(SeekFrom::Start(0))?;
    let plain_text = options.encoding == Encoding::Utf8 || is_binary(&head[..got]);
    if packing_of(&head[..got]) != Packing::Plain || !plain_text {
        return take_in(&mut file, options, most, run);
    }
    options.check_size(metadata.len(), metadata.len())?;
    Ok(Input {
        bytes: Arc::new(Bytes::of_file(file)?),
        packing: Packing::Plain,
        digest: None,
        name: String::new(),
    })
}

/// Reads a stream to its end: hashes, unpacks, makes it UTF-8.
fn take_in(
    source: &mut dyn Read,
    options: &ReadOptions,
    most: u64,
    run: &Context,
) -> Result<Input> {
    let mut head = vec![0; 16];
    let got = fill(source, &mut head)?;
    head.truncate(got);
    let packing = packing_of(&head);
    let mut raw = Counted { source, head, given: 0, count: 0, hash: None };
    raw.hash = options.digest.then(Sha256::new);
    let mut sink = Sink::Memory(Vec::new(), most);
    match packing {
        Packing::Plain => pump(&mut raw, |raw| raw, packing, &mut sink, options, run)?,
        Packing::Gzip => {
            let mut unpacked = flate2::read::MultiGzDecoder::new(&mut raw);
            pump(&mut unpacked, |unpacked| unpacked.get_mut(), packing, &mut sink, options, run)?;
        }
        #[cfg(not(feature = "columnar"))]
        Packing::Zstd => return Err(crate::options::left_out("zstd")),
        #[cfg(feature = "columnar")]
        Packing::Zstd => {
            let buffered = std::io::BufReader::with_capacity(BUFFER, &mut raw);
            let mut unpacked = zstd::stream::read::Decoder::with_buffer(buffered)?;
            pump(
                &mut unpacked,
                |unpacked| unpacked.get_mut().get_mut(),
                packing,
                &mut sink,
                options,
                run,
            )?;
        }
    }
    std::io::copy(&mut raw, &mut std::io::sink())?;
    let digest = raw.hash.map(|hash| hex(&hash.finalize()));
    let bytes = match sink {
        Sink::Memory(bytes, _) => Bytes::Memory(bytes),
        Sink::File(file) => Bytes::of_file(file)?,
    };
    Ok(Input { bytes: Arc::new(bytes), packing, digest, name: String::new() })
}

/// Moves everything from `source` to `sink` as UTF-8, within the limits. `raw` finds the reader of
/// packed bytes inside `source`.
fn pump<R: Read, H: Consumed>(
    source: &mut R,
    raw: impl Fn(&mut R) -> &mut H,
    packing: Packing,
    sink: &mut Sink,
    options: &ReadOptions,
    run: &Context,
) -> Result<()> {
    let mut buffer = vec![0; BUFFER];
    let mut recoder = Recoder::new(options.encoding);
    let mut total = 0;
    loop {
        run.checkpoint()?;
        let got = fill(source, &mut buffer).map_err(|error| match error.code() {
            Code::Io if packing != Packing::Plain => {
                Error::new(Code::Parse, format!("cannot be unpacked: {}", error.message()))
            }
            _ => error,
        })?;
        if got == 0 {
            break;
        }
        total += got as u64;
        options.check_size(raw(source).consumed(), total)?;
        sink.write(recoder.recode(&buffer[..got])?)?;
    }
    recoder.end()
}

trait Consumed {
    fn consumed(&self) -> u64;
}

/// A reader that counts and hashes what passes.
struct Counted<'a> {
    source: &'a mut dyn Read,
    head: Vec<u8>,
    given: usize,
    count: u64,
    hash: Option<Sha256>,
}

impl Consumed for Counted<'_> {
    fn consumed(&self) -> u64 {
        self.count
    }
}

impl<T: Consumed + ?Sized> Consumed for &mut T {
    fn consumed(&self) -> u64 {
        (**self).consumed()
    }
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let left = &self.head[self.given..];
        let got = if left.is_empty() {
            self.source.read(buffer)?
        } else {
            let count = left.len().min(buffer.len());
            buffer[..count].copy_from_slice(&left[..count]);
            self.given += count;
            count
        };
        self.count += got as u64;
        if let Some(hash) = &mut self.hash {
            hash.update(&buffer[..got]);
        }
        Ok(got)
    }
}

/// Memory up to some bytes, then a temporary file that has no name.
enum Sink {
    Memory(Vec<u8>, u64),
    File(File),
}

impl Sink {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Sink::File(file) => Ok(file.write_all(bytes)?),
            Sink::Memory(all, most) if (all.len() + bytes.len()) as u64 > *most => {
                let mut file = tempfile::tempfile()?;
                file.write_all(all)?;
                file.write_all(bytes)?;
                *self = Sink::File(file);
                Ok(())
            }
            Sink::Memory(all, _) => {
                all.try_reserve(bytes.len()).map_err(|_| no_memory(all.len() + bytes.len()))?;
                all.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}

/// Text in another encoding into UTF-8, piece by piece.
struct Recoder {
    encoding: Encoding,
    big_endian: bool,
    started: bool,
    waiting: Vec<u8>,
    text: String,
}

impl Recoder {
    fn new(encoding: Encoding) -> Self {
        Recoder {
            encoding,
            big_endian: false,
            started: false,
            waiting: Vec::new(),
            text: String::new(),
        }
    }

    fn recode<'a>(&'a mut self, bytes: &'a [u8]) -> Result<&'a [u8]> {
        self.text.clear();
        match self.encoding {
            Encoding::Utf8 => return Ok(bytes),
            Encoding::Latin1 => self.text.extend(bytes.iter().map(|&byte| char::from(byte))),
            Encoding::Utf16 => self.recode_utf16(bytes)?,
        }
        Ok(self.text.as_bytes())
    }

    fn recode_utf16(&mut self, bytes: &[u8]) -> Result<()> {
        self.waiting.extend_from_slice(bytes);
        if !self.started && self.waiting.len() >= 2 {
            self.started = true;
            self.big_endian = is_big_endian(&self.waiting)?;
        }
        let big_endian = self.big_endian;
        let unit = |pair: &[u8]| match big_endian {
            true => u16::from_be_bytes([pair[0], pair[1]]),
            false => u16::from_le_bytes([pair[0], pair[1]]),
        };
        let mut count = self.waiting.len() / 2 * 2;
        let is_high = |pair: &[u8]| (0xd800..0xdc00).contains(&unit(pair));
        if count >= 2 && is_high(&self.waiting[count - 2..count]) {
            count -= 2;
        }
        let units = self.waiting[..count].chunks_exact(2).map(unit);
        for decoded in char::decode_utf16(units) {
            self.text.push(decoded.map_err(|_| not_utf16())?);
        }
        self.waiting.drain(..count);
        Ok(())
    }

    fn end(&self) -> Result<()> {
        if self.waiting.is_empty() { Ok(()) } else { Err(not_utf16()) }
    }
}

/// The order of bytes: as the mark at the start says, else as marks and line ends say, one byte of which is zero.
fn is_big_endian(start: &[u8]) -> Result<bool> {
    match start {
        [0xfe, 0xff, ..] => return Ok(true),
        [0xff, 0xfe, ..] => return Ok(false),
        _ => {}
    }
    let zeros = |from: usize| start.iter().skip(from).step_by(2).filter(|&&byte| byte == 0).count();
    match zeros(0).cmp(&zeros(1)) {
        std::cmp::Ordering::Greater => Ok(true),
        std::cmp::Ordering::Less => Ok(false),
        std::cmp::Ordering::Equal => Err(not_utf16()),
    }
}

fn not_utf16() -> Error {
    Error::new(Code::Encoding, "the text is not valid UTF-16").hint("leave out --encoding utf-16")
}

/// Reads until the buffer is full or the source ends.
fn fill<R: Read + ?Sized>(source: &mut R, buffer: &mut [u8]) -> Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        meet(Fault::Read)?;
        match source.read(&mut buffer[done..]) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(done)
}

fn packing_of(head: &[u8]) -> Packing {
    match head {
        [0x1f, 0x8b, ..] => Packing::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
        _ => Packing::Plain,
    }
}

fn is_binary(head: &[u8]) -> bool {
    head.starts_with(b"PAR1") || head.starts_with(b"ARROW1") || head.starts_with(&[0xff; 4])
}

/// SHA-256 of a file.
pub(crate) fn digest_of(bytes: &Bytes) -> Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let end = (start + BUFFER as u64).min(bytes.len());
        hash.update(bytes.read(start, end, &mut buffer)?);
        start = end;
    }
    Ok(hex(&hash.finalize()))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
