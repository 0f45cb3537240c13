//! Serves predictions of a model file over HTTP: POST rows as CSV with a header, get predictions as CSV.
//!
//! ```text
//! learnt fit ridge cpu -o cpu.learnt
//! cargo run -p learnt-cli --example serve -- cpu.learnt 127.0.0.1:8080
//! learnt dataset cpu | head -3 | curl --data-binary @- http://127.0.0.1:8080
//! ```

use learnt::prelude::*;
use learnt_io::{self as io, Format, ReadOptions, WriteOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

/// Bytes of a request that are read at most.
const LARGEST: u64 = 64 << 20;

#[expect(clippy::print_stderr, reason = "an example talks to a terminal")]
fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(address)) = (arguments.next(), arguments.next()) else {
        return Err(Error::new(Code::Usage, "serve MODEL.learnt ADDRESS:PORT"));
    };
    let trained = learnt::load(path)?;
    let listener = TcpListener::bind(address)?;
    eprintln!("listening on {}", listener.local_addr()?);
    for stream in listener.incoming() {
        // A client that goes away is no reason to stop.
        if let Err(error) = answer(&trained, &stream?) {
            eprintln!("{error}");
        }
    }
    Ok(())
}

fn answer(trained: &Trained, mut stream: &TcpStream) -> Result<()> {
    let (status, body) = match request(stream).and_then(|rows| predicted(trained, &rows)) {
        Ok(body) => ("200 OK", body),
        Err(error) => ("400 Bad Request", format!("{error}\n").into_bytes()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/csv\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    Ok(stream.write_all(&body)?)
}

/// The body of a request.
fn request(stream: &TcpStream) -> Result<Vec<u8>> {
    let mut reader = BufReader::new(stream).take(LARGEST);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    Ok(body)
}

/// Predictions for rows in CSV; columns are matched by name, and others are not used.
fn predicted(trained: &Trained, rows: &[u8]) -> Result<Vec<u8>> {
    let run = Context::default();
    let table = io::read_bytes("request.csv", rows, &ReadOptions::default(), &run)?.table;
    let frame = table.frame();
    let admitted = trained.admit(&frame, None, None, &run)?;
    let found = trained.table("predict", false, &admitted, &run)?;
    let mut out = Vec::new();
    io::write_to(&mut out, &found.frame(), Format::Csv, &WriteOptions::default())?;
    Ok(out)
}
