"""Where a request ends: bytes that two programs could read in two ways are refused."""

import json

import pytest

from benchmarks.load.service import running
from serve.sockets import GOOD, send

BODY = json.dumps(GOOD).encode()
HEAD = b"POST /v1/score HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
# What somebody hopes that is taken for a request of its own.
SECOND = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

REFUSED = {
    "both": HEAD + LENGTH + CHUNKED + b"\r\n" + CHUNKS,
    "both, the other way": HEAD + CHUNKED + b"Content-Length: 4\r\n\r\n" + CHUNKS,
    "both, without a body": b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
    + LENGTH
    + CHUNKED
    + b"\r\n"
    + CHUNKS,
    "chunks in HTTP/1.0": HEAD.replace(b"1.1", b"1.0") + CHUNKED + b"\r\n" + CHUNKS,
    "two lengths": HEAD + LENGTH + b"Content-Length: 3\r\n\r\n" + BODY,
    "a list of lengths": HEAD + b"Content-Length: 26, 3\r\n\r\n" + BODY,
    "a length with a sign": HEAD + b"Content-Length: +26\r\n\r\n" + BODY,
    "a length below zero": HEAD + b"Content-Length: -1\r\n\r\n" + BODY,
    "a length in hexadecimal": HEAD + b"Content-Length: 0x1a\r\n\r\n" + BODY,
    "a length of no digits": HEAD + b"Content-Length:\r\n\r\n" + BODY,
    "a length of 5,000 digits": HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n" + BODY,
    "another encoding": HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNKS,
    "chunked twice": HEAD + CHUNKED + CHUNKED + b"\r\n" + CHUNKS,
    "nearly chunked": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNKS,
    "a folded encoding": HEAD + b"Transfer-Encoding:\r\n chunked\r\n" + LENGTH + b"\r\n" + BODY,
    "a blank before the colon": HEAD + b"Transfer-Encoding : chunked\r\n" + LENGTH + b"\r\n" + BODY,
    "NUL": HEAD + b"X-A: a\0b\r\n" + LENGTH + b"\r\n" + BODY,
    "a bare CR": HEAD + b"X-A: a\rb\r\n" + LENGTH + b"\r\n" + BODY,
    "NUL in the path": b"GET /health\0z HTTP/1.1\r\nHost: x\r\n\r\n",
    "no host": HEAD.replace(b"Host: x\r\n", b"") + LENGTH + b"\r\n" + BODY,
    "two hosts": HEAD + b"Host: y\r\n" + LENGTH + b"\r\n" + BODY,
    "a chunk of no size": HEAD + CHUNKED + b"\r\nzz\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a chunk below zero": HEAD + CHUNKED + b"\r\n-1\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a chunk with 0x": HEAD + CHUNKED + b"\r\n0x1a\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a chunk that goes on": HEAD + CHUNKED + b"\r\n%x\r\n" % len(BODY) + BODY + b"XX0\r\n\r\n",
    "HTTP/2.0": b"PRI * HTTP/2.0\r\nHost: x\r\n\r\nSM\r\n\r\n",
    "HTTP/0.9": b"GET /healthz\r\n\r\n",
}
ANSWERED = {
    "a length": HEAD + LENGTH + b"\r\n" + BODY,
    "chunks": HEAD + CHUNKED + b"\r\n" + CHUNKS,
    "one length twice": HEAD + LENGTH + LENGTH + b"\r\n" + BODY,
    "a folded header": HEAD + b"X-A: a\r\n b\r\n" + LENGTH + b"\r\n" + BODY,
    "a header after chunks": HEAD + CHUNKED + b"\r\n" + CHUNKS[:-2] + b"Content-Length: 3\r\n\r\n",
    "a chunk with an extension": HEAD + CHUNKED + b"\r\n" + CHUNKS.replace(b"\r\n", b";a=b\r\n", 1),
}


@pytest.fixture(scope="module")
def port(model):
    with running(model) as service:
        yield int(service.url.rsplit(":", 1)[1])


@pytest.mark.parametrize("what", REFUSED)
def test_refused_and_closed(port, what):
    found = send(port, REFUSED[what] + SECOND)
    assert found.count(b"HTTP/1.1 ") == 1, found
    assert found.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"connection: close" in found
    assert b'"not_http"' in found


@pytest.mark.parametrize("what", ANSWERED)
def test_answered_and_so_is_the_next(port, what):
    found = send(port, ANSWERED[what] + SECOND)
    assert found.count(b"HTTP/1.1 200 OK\r\n") == 2, found


def test_the_sentence_says_what_to_do(port):
    found = send(port, REFUSED["both"])
    assert b"has both a Content-Length and a Transfer-Encoding" in found
    assert b"send one of them" in found
