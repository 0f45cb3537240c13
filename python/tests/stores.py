"""Servers on this machine: files over the web, and as much of S3 as reading needs."""

import hashlib
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, body):
        server, parts = self.server, urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        server.seen.append((self.command, unquote(parts.path), headers))
        query = parse_qs(parts.query)
        if server.bucket and server.wants_key and "AWS4-HMAC-SHA256" not in self.headers.get("Authorization", ""):
            return self.give(403, _xml_error("AccessDenied"), {}, body)
        if server.bucket and "list-type" in query:
            return self.give(200, self.listing(query), {"Content-Type": "application/xml"}, body)
        name = unquote(parts.path).removeprefix(f"/{server.bucket}/" if server.bucket else "/")
        file = server.folder / name
        if not file.is_file():
            return self.give(404, _xml_error("NoSuchKey"), {}, body)
        data = file.read_bytes()
        more = {"ETag": f'"{hashlib.md5(data).hexdigest()}"', "Last-Modified": "Mon, 02 Nov 2026 10:00:00 GMT"}
        asked = self.headers.get("Range")
        if asked is None:
            return self.give(200, data[: len(data) - server.lose], more, body, len(data))
        first, _, last = asked.removeprefix("bytes=").partition("-")
        end = min(int(last or len(data) - 1), len(data) - 1)
        more["Content-Range"] = f"bytes {first}-{end}/{len(data)}"
        return self.give(206, data[int(first) : end + 1], more, body)

    def listing(self, query):
        prefix = query.get("prefix", [""])[0]
        names = sorted(p.relative_to(self.server.folder).as_posix() for p in self.server.folder.rglob("*"))
        found = "".join(
            f"<Contents><Key>{escape(n)}</Key><Size>{(self.server.folder / n).stat().st_size}</Size>"
            "<LastModified>2026-11-02T10:00:00.000Z</LastModified></Contents>"
            for n in names
            if n.startswith(prefix) and (self.server.folder / n).is_file()
        )
        return (
            f"<ListBucketResult><Name>{self.server.bucket}</Name><Prefix>{escape(prefix)}</Prefix>"
            f"<IsTruncated>false</IsTruncated>{found}</ListBucketResult>"
        ).encode()

    def give(self, code, data, more, body, length=None):
        self.send_response(code)
        for name, value in more.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data) if length is None else length))
        self.end_headers()
        if body:
            self.wfile.write(data)
        if length is not None and length > len(data):
            self.close_connection = True


def _xml_error(code):
    return f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()


@contextmanager
def serving(folder, bucket=None, wants_key=False):
    """A server of the files of a folder; `seen` holds its requests, `lose` bytes are missing at the end of files."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.folder, server.bucket, server.wants_key = folder, bucket, wants_key
    server.seen, server.lose, server.daemon_threads = [], 0, True
    server.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
