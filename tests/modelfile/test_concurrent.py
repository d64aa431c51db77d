"""Many writers, many readers, one path: everybody always sees a whole model."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from tempocal.modelfile import read_document, write_document

CODE = """
import sys
from tempocal.modelfile import write_document
writer = int(sys.argv[2])
for save in range(40):
    write_document(sys.argv[1], {"id": [writer, save], "body": [writer] * (500 * writer)})
"""


def is_whole(content):
    writer, _ = content["id"]
    return content["body"] == [writer] * (500 * writer)


def test_writers_and_readers_in_threads(path):
    def write(writer):
        for save in range(25):
            body = [writer] * (500 * writer)
            write_document(path, {"id": [writer, save], "body": body})

    def read(_):
        return all(is_whole(read_document(path)) for _ in range(100))

    write_document(path, {"id": [0, 0], "body": []})
    with ThreadPoolExecutor(8) as pool:
        writers = [pool.submit(write, writer) for writer in range(1, 5)]
        readers = [pool.submit(read, reader) for reader in range(4)]
        assert all(reader.result() for reader in readers)
        for writer in writers:
            writer.result()
    assert read_document(path)["id"][1] == 24
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_writers_in_processes(path):
    write_document(path, {"id": [0, 0], "body": []})
    run = [sys.executable, "-c", CODE, path]
    writers = [subprocess.Popen([*run, str(writer)]) for writer in (1, 2, 3)]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        content = read_document(path)
        assert is_whole(content)
        seen.add(tuple(content["id"]))
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert len(seen) > 3
    assert read_document(path)["id"][1] == 39
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
