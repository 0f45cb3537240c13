//! What is built is what is locked, and nothing that is built opens a connection but to an address that a user names.
//!
//! Every package of `Cargo.lock` is from the one registry with its checksum, every dependency that a crate
//! names is there, and wheels are built from it. No package is a client of a network, and no source of the
//! library, the command or the Python package names sockets, except the one that reads tables at addresses
//! (`python/learnt/distributed/_fetch.py`). Engines (Ray, Dask, Spark) are packages that a user installs and starts;
//! they are loaded when they are asked for by name.

use super::{Source, text_of};

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Packages that open connections, or exist for programs that do.
const CLIENTS: &[&str] = &[
    "actix-web",
    "async-io",
    "async-std",
    "attohttpc",
    "aws-sdk-s3",
    "awc",
    "axum",
    "curl",
    "curl-sys",
    "ftp",
    "h2",
    "h3",
    "hickory-resolver",
    "http",
    "http-body",
    "httparse",
    "hyper",
    "hyper-util",
    "isahc",
    "lettre",
    "libssh2-sys",
    "mio",
    "minreq",
    "native-tls",
    "object_store",
    "opendal",
    "openssl",
    "openssl-sys",
    "opentelemetry",
    "polling",
    "quinn",
    "reqwest",
    "rustls",
    "self_update",
    "sentry",
    "smol",
    "socket2",
    "ssh2",
    "suppaftp",
    "surf",
    "tiny_http",
    "tokio",
    "tonic",
    "trust-dns-resolver",
    "tungstenite",
    "update-informer",
    "ureq",
    "webbrowser",
    "webpki",
    "ws",
    "zmq",
];

/// Words of Rust that open connections.
const RUST: &[&str] = &[
    "std::net",
    "core::net",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "UnixStream",
    "UnixListener",
];

/// Modules of Python that open connections.
const PYTHON: &[&str] = &[
    "aiohttp",
    "asyncio",
    "ftplib",
    "http",
    "httpx",
    "imaplib",
    "poplib",
    "requests",
    "smtplib",
    "socket",
    "socketserver",
    "ssl",
    "telnetlib",
    "urllib",
    "urllib3",
    "webbrowser",
    "websocket",
    "xmlrpc",
];

/// Sources that import such a module for something else: the file, the module, and the only name used of it.
/// Tables at addresses of the web are read by one of them.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("python/learnt/distributed/_worker.py", "socket", "gethostname"),
    ("python/learnt/distributed/_fetch.py", "urllib", "request"),
];

/// Problems of the locked packages, and of sources that could reach a network.
pub(super) fn check(sources: &[Source]) -> Vec<String> {
    let packages = packages(text_of(sources, "Cargo.lock"));
    let mut out = locked(&packages, sources);
    out.extend(packages.iter().filter(|package| CLIENTS.contains(&package.name)).map(|package| {
        format!("Cargo.lock: {} is a client of a network, and learnt has none", package.name)
    }));
    for source in sources.iter().filter(|source| is_shipped(&source.path)) {
        for (number, line) in source.text.lines().enumerate() {
            let place = format!("{}:{}", source.path, number + 1);
            let found = match source.path.ends_with(".py") {
                true => python(line).filter(|module| !allowed(source, module)),
                false => rust(line),
            };
            out.extend(found.map(|word| format!("{place}: {word} opens connections")));
        }
    }
    out
}

/// A package of the lock file.
struct Package<'a> {
    name: &'a str,
    source: Option<&'a str>,
    checksum: bool,
}

fn packages(lock: &str) -> Vec<Package<'_>> {
    lock.split("[[package]]")
        .skip(1)
        .filter_map(|entry| {
            let field = |name: &str| {
                let line = entry.lines().find(|line| line.starts_with(&format!("{name} = ")))?;
                Some(line.split_once('=')?.1.trim().trim_matches('"'))
            };
            Some(Package {
                name: field("name")?,
                source: field("source"),
                checksum: field("checksum").is_some_and(|sum| sum.len() == 64),
            })
        })
        .collect()
}

/// Problems of the lock file and of what is built without it.
fn locked(packages: &[Package], sources: &[Source]) -> Vec<String> {
    let mut out = Vec::new();
    if packages.is_empty() {
        out.push("Cargo.lock: not there, or without packages".to_string());
    }
    let members: Vec<String> = sources.iter().filter_map(member).collect();
    for package in packages {
        let name = package.name;
        match package.source {
            Some(REGISTRY) if package.checksum => {}
            Some(REGISTRY) => out.push(format!("Cargo.lock: {name} has no checksum")),
            Some(other) => out.push(format!("Cargo.lock: {name} is from {other}")),
            None if members.iter().any(|member| member == name) => {}
            None => out.push(format!("Cargo.lock: {name} is from a path outside the workspace")),
        }
    }
    for member in &members {
        if !packages.iter().any(|package| package.name == member) {
            out.push(format!("Cargo.lock: {member} is not in it: build once and commit the file"));
        }
    }
    let wheels = text_of(sources, "pyproject.toml");
    if !wheels.lines().any(|line| line.trim() == "locked = true") {
        out.push("pyproject.toml: [tool.maturin] has no `locked = true`".to_string());
    }
    out
}

/// The name of a crate of the workspace, from its manifest.
fn member(source: &Source) -> Option<String> {
    if !source.path.starts_with("crates/") || !source.path.ends_with("/Cargo.toml") {
        return None;
    }
    let line = source.text.lines().find(|line| line.starts_with("name = "))?;
    Some(line.split('"').nth(1)?.to_string())
}

/// Whether a source becomes part of the library, the command or the Python package.
fn is_shipped(path: &str) -> bool {
    let rust = path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs");
    let tools = ["crates/xtask/", "crates/generate/"].iter().any(|tool| path.starts_with(tool));
    (rust && !tools) || (path.starts_with("python/learnt/") && path.ends_with(".py"))
}

fn rust(line: &str) -> Option<&'static str> {
    let code = line.split("//").next().unwrap_or(line);
    RUST.iter().find(|word| code.contains(**word)).copied()
}

/// The module that a line imports, if it opens connections.
fn python(line: &str) -> Option<&'static str> {
    let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || ",.".contains(c)).collect();
    let first = words.iter().position(|word| !word.is_empty())?;
    match words[first] {
        "import" => PYTHON.iter().find(|module| words[first..].contains(module)).copied(),
        "from" => PYTHON.iter().find(|module| words.get(first + 1) == Some(module)).copied(),
        _ => None,
    }
}

/// Whether the source uses the one name of the module that it may.
fn allowed(source: &Source, module: &str) -> bool {
    let Some((.., name)) =
        ALLOWED.iter().find(|(path, known, _)| source.path == *path && *known == module)
    else {
        return false;
    };
    let prefix = format!("{module}.");
    source.text.match_indices(&prefix).all(|(at, _)| {
        let after = &source.text[at + prefix.len()..];
        super::name_at(after) == *name
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    const CRATE: (&str, &str) = ("crates/a/Cargo.toml", "[package]\nname = \"a\"\n");
    const WHEELS: (&str, &str) = ("pyproject.toml", "[tool.maturin]\nlocked = true\n");

    fn lock(more: &str) -> String {
        format!("version = 4\n\n[[package]]\nname = \"a\"\nversion = \"0.1.0\"\n\n{more}")
    }

    fn package(name: &str, source: &str, checksum: &str) -> String {
        let sum = if checksum.is_empty() {
            String::new()
        } else {
            format!("checksum = \"{checksum}\"\n")
        };
        lock(&format!(
            "[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\nsource = \"{source}\"\n{sum}"
        ))
    }

    fn problems(lock: &str, more: &[(&str, &str)]) -> Vec<String> {
        check(&files(&[&[("Cargo.lock", lock), CRATE, WHEELS], more].concat()))
    }

    #[test]
    fn packages_are_of_the_registry_with_checksums() {
        let sum = "a".repeat(64);
        assert!(problems(&package("serde", REGISTRY, &sum), &[]).is_empty());
        assert_eq!(problems(&package("serde", REGISTRY, ""), &[]).len(), 1);
        assert_eq!(problems(&package("serde", "git+https://example.org/x", &sum), &[]).len(), 1);
        assert_eq!(problems(&lock("[[package]]\nname = \"b\"\nversion = \"1\"\n"), &[]).len(), 1);
        assert_eq!(problems("", &[]).len(), 2);
        let without = files(&[("Cargo.lock", &lock("")), CRATE, ("pyproject.toml", "")]);
        assert_eq!(check(&without).len(), 1);
    }

    #[test]
    fn clients_of_networks_are_refused() {
        let sum = "a".repeat(64);
        for client in ["tokio", "reqwest", "object_store"] {
            assert_eq!(problems(&package(client, REGISTRY, &sum), &[]).len(), 1, "{client}");
        }
    }

    #[test]
    fn sources_that_open_connections_are_refused() {
        let of = |path: &str, text: &str| problems(&lock(""), &[(path, text)]).len();
        assert_eq!(of("crates/a/src/lib.rs", "use std::net::TcpStream;"), 1);
        assert_eq!(of("crates/a/src/lib.rs", "// nothing of std::net"), 0);
        assert_eq!(of("crates/xtask/src/main.rs", "use std::net::TcpStream;"), 0);
        assert_eq!(of("python/learnt/x.py", "    import urllib.request"), 1);
        assert_eq!(of("python/learnt/x.py", "from http.client import HTTPConnection"), 1);
        assert_eq!(of("python/learnt/x.py", "import json, socket"), 1);
        assert_eq!(of("python/learnt/x.py", "from learnt import http_like"), 0);
        let worker = "python/learnt/distributed/_worker.py";
        assert_eq!(of(worker, "import socket\nsocket.gethostname()"), 0);
        assert_eq!(of(worker, "import socket\nsocket.create_connection(x)"), 1);
        let fetch = "import urllib.request\nurllib.request.urlopen(x)";
        assert_eq!(of("python/learnt/distributed/_fetch.py", fetch), 0);
        assert_eq!(of("python/learnt/distributed/_drive.py", fetch), 1);
    }
}
