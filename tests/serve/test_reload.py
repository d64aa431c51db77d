"""A new model file is taken up whole, or not at all."""

import asyncio
import os
from itertools import count

import pytest

from serve.asking import model_of, save
from serve.sockets import PATIENCE
from tempocal.errors import ModelFileError
from tempocal.serve import reload as reloading
from tempocal.serve.metrics import Metrics
from tempocal.serve.reload import ModelReloader

OLD, NEW = model_of(slope=0.5), model_of(slope=0.7)


@pytest.fixture
def path(tmp_path):
    return save(OLD, tmp_path / "model.json")


@pytest.fixture
def reloader(path, caplog):
    caplog.set_level("INFO", "tempocal.serve")
    return ModelReloader(str(path), Metrics())


def counted(reloader):
    return tuple(reloader._metrics.reloads.values())


def test_a_good_file(reloader, path, caplog):
    old = reloader.model
    save(NEW, path)
    asyncio.run(reloader.reload())
    assert reloader.model.id != old.id
    assert reloader.model.probabilities(1.0, 0) != old.probabilities(1.0, 0)
    assert counted(reloader) == (1, 0)
    assert caplog.messages == [f"model {reloader.model.id} (temperature) replaces {old.id}"]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-40]), "is damaged: incomplete"),
        (lambda path: path.write_text("{}"), "is not a tempocal model"),
        (lambda path: path.unlink(), "No such file"),
        (lambda path: (path.unlink(), path.mkdir()), "Is a directory"),
        (lambda path: (path.unlink(), os.mkfifo(path)), "not an ordinary file"),
    ],
    ids=["damaged", "another", "gone", "folder", "pipe"],
)
def test_a_bad_file_keeps_the_old_model(reloader, path, caplog, spoil, said):
    old = reloader.model
    spoil(path)
    asyncio.run(reloader.reload())
    assert reloader.model is old
    assert counted(reloader) == (0, 1)
    (line,) = caplog.messages
    assert line.startswith(str(path))
    assert said in line
    assert line.endswith(f"; model {old.id} stays in use")


def test_the_same_file_says_so(reloader, caplog):
    asyncio.run(reloader.reload())
    assert caplog.messages == [f"model {reloader.model.id} was read again: it is the same"]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            model_of(3, (0, 1, 2)),
            "it takes logits (3 numbers) and time (number), the one before took logits (a number) "
            "and time (number)",
        ),
        (model_of(kinds=()), "it takes logits (a number), the one before took"),
        (model_of(inputs="proba"), "it takes proba (a number) and time"),
        (model_of(classes=("lost", "won")), "its classes differ"),
    ],
    ids=["columns", "clocks", "inputs", "classes"],
)
def test_a_model_that_takes_other_rows_is_taken_up_and_said(reloader, path, caplog, model, said):
    save(model, path)
    asyncio.run(reloader.reload())
    assert counted(reloader) == (1, 0)
    assert said in caplog.messages[0]


def test_the_first_file_must_be_good(tmp_path):
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(ModelFileError, match="is not a tempocal model"):
        ModelReloader(str(tmp_path / "model.json"), Metrics())


def test_watching(reloader, path, monkeypatch, caplog):
    """Replaced, damaged, removed, put back: each is seen once."""
    monkeypatch.setattr(reloading, "POLL_SECONDS", 0.01)
    seen = []

    async def settled(change):
        change()
        before = counted(reloader)
        while counted(reloader) == before:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        seen.append((*counted(reloader), reloader.model.probabilities(1.0, 0)[1]))

    async def go():
        watching = asyncio.create_task(reloader.watch())
        await asyncio.sleep(0.05)
        assert counted(reloader) == (0, 0)
        await settled(lambda: save(NEW, path))
        await settled(lambda: path.write_bytes(path.read_bytes()[:-40]))
        await settled(path.unlink)
        await settled(lambda: save(OLD, path))
        watching.cancel()

    asyncio.run(asyncio.wait_for(go(), PATIENCE))
    old, new = (model.predict_proba([1.0], [0.0])[0, 1] for model in (OLD, NEW))
    assert [one[:2] for one in seen] == [(1, 0), (1, 1), (1, 2), (2, 2)]
    assert [one[2] for one in seen] == pytest.approx([new, new, new, old], rel=1e-12)
    assert len(caplog.messages) == 4


def out_of_threads(path):
    raise RuntimeError("can't start new thread")


def test_what_is_not_the_fault_of_the_file_is_tried_again(reloader, path, monkeypatch, caplog):
    monkeypatch.setattr(reloading, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(reloading, "RETRY_POLLS", 5)
    old = reloader.model

    async def go():
        watching = asyncio.create_task(reloader.watch())
        with monkeypatch.context() as patch:
            patch.setattr(reloading, "read_served_model", out_of_threads)
            save(NEW, path)
            while counted(reloader) == (0, 0):
                await asyncio.sleep(0.01)
        while reloader.model is old:
            await asyncio.sleep(0.01)
        save(OLD, path)
        while reloader.model.id != old.id:
            await asyncio.sleep(0.01)
        assert not watching.done()
        watching.cancel()

    asyncio.run(asyncio.wait_for(go(), PATIENCE))
    assert counted(reloader)[0] == 2
    assert caplog.messages[0] == f"{path}: RuntimeError; model {old.id} stays in use"


def test_another_file_is_taken_up_at_once_after_any_failure(reloader, path, monkeypatch):
    monkeypatch.setattr(reloading, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(reloading, "RETRY_POLLS", 10**6)
    old = reloader.model

    async def go():
        watching = asyncio.create_task(reloader.watch())
        with monkeypatch.context() as patch:
            patch.setattr(reloading, "read_served_model", out_of_threads)
            save(model_of(slope=0.6), path)
            while counted(reloader) == (0, 0):
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
        assert counted(reloader) == (0, 1)
        save(model_of(slope=0.75), path)
        while reloader.model is old:
            await asyncio.sleep(0.01)
        watching.cancel()

    asyncio.run(asyncio.wait_for(go(), PATIENCE))


def test_a_signal_that_meets_another_failure_says_so(reloader, path, monkeypatch, caplog):
    monkeypatch.setattr(reloading, "read_served_model", out_of_threads)
    asyncio.run(reloader.reload())
    assert counted(reloader) == (0, 1)
    assert caplog.messages == [f"{path}: RuntimeError; model {reloader.model.id} stays in use"]


def test_a_file_that_is_being_written_is_left_alone(reloader, path, monkeypatch):
    monkeypatch.setattr(reloading, "POLL_SECONDS", 0.02)
    data = save(NEW, path.with_name("other")).read_bytes()

    async def write_slowly():
        with path.open("wb") as file:
            for k in range(0, len(data), 25):
                file.write(data[k : k + 25])
                file.flush()
                await asyncio.sleep(0.005)

    async def go():
        watching = asyncio.create_task(reloader.watch())
        await write_slowly()
        while counted(reloader) == (0, 0):
            await asyncio.sleep(0.01)
        watching.cancel()

    asyncio.run(asyncio.wait_for(go(), PATIENCE))
    assert counted(reloader) == (1, 0)


def test_a_file_that_is_replaced_all_the_time_is_taken_up(reloader, path, monkeypatch):
    """No two looks see the same file."""
    monkeypatch.setattr(reloading, "POLL_SECONDS", 0.02)
    first, seen = reloader.model.id, set()

    async def go():
        watching = asyncio.create_task(reloader.watch())
        for k in count():
            os.replace(save((NEW, OLD)[k % 2], path.with_name("spare")), path)
            await asyncio.sleep(0.003)
            seen.add(reloader.model.id)
            # Five looks may all find the same one of the two.
            if counted(reloader)[0] >= 5 and seen - {first}:
                break
        last = reloading.read_served_model(str(path)).id
        while reloader.model.id != last:
            await asyncio.sleep(0.01)
        watching.cancel()

    asyncio.run(asyncio.wait_for(go(), PATIENCE))
    assert len(seen | {first}) == 2
    assert counted(reloader)[1] == 0


def test_bad_files_all_the_time_are_said_once(reloader, path, monkeypatch, caplog):
    monkeypatch.setattr(reloading, "POLL_SECONDS", 0.005)
    monkeypatch.setattr(reloading, "RETRY_POLLS", 10)
    old = reloader.model

    async def go():
        watching = asyncio.create_task(reloader.watch())
        await asyncio.sleep(0.02)
        for k in count():
            # Of another length each time, whatever the clock of the file system can tell apart.
            path.with_name("spare").write_bytes(b"{}" + b" " * k)
            os.replace(path.with_name("spare"), path)
            await asyncio.sleep(0.001)
            if k >= 300 and counted(reloader) != (0, 0):
                break
        assert counted(reloader) == (0, 1)
        while counted(reloader) == (0, 1):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        watching.cancel()

    asyncio.run(asyncio.wait_for(go(), PATIENCE))
    assert reloader.model is old
    assert counted(reloader) == (0, 2)  # in the course of it, and the last, which stays
    assert len(caplog.messages) == 2
