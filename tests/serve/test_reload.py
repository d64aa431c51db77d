"""A new model file is taken up whole, or not at all."""

import asyncio
import os
from itertools import count

import pytest

from serve.asking import model_of, save
from serve.sockets import PATIENCE
from tempocal.errors import ModelFileError
from tempocal.serve import reload as keepers
from tempocal.serve.metrics import Metrics
from tempocal.serve.reload import Keeper

OLD, NEW = model_of(slope=0.5), model_of(slope=0.7)


@pytest.fixture
def path(tmp_path):
    return save(OLD, tmp_path / "model.json")


@pytest.fixture
def keeper(path, caplog):
    caplog.set_level("INFO", "tempocal.serve")
    return Keeper(str(path), Metrics())


def counted(keeper):
    return tuple(keeper._metrics.reloads.values())


def test_a_good_file(keeper, path, caplog):
    old = keeper.model
    save(NEW, path)
    asyncio.run(keeper.reload())
    assert keeper.model.id != old.id
    assert keeper.model.probabilities(1.0, 0) != old.probabilities(1.0, 0)
    assert counted(keeper) == (1, 0)
    assert caplog.messages == [
        f"model {keeper.model.id} (temperature) answers in place of {old.id}"
    ]


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
def test_a_bad_file_keeps_the_old_model(keeper, path, caplog, spoil, said):
    old = keeper.model
    spoil(path)
    asyncio.run(keeper.reload())
    assert keeper.model is old
    assert counted(keeper) == (0, 1)
    (line,) = caplog.messages
    assert line.startswith(str(path))
    assert said in line
    assert line.endswith(f"; model {old.id} goes on answering")


def test_the_same_file_says_so(keeper, caplog):
    asyncio.run(keeper.reload())
    assert caplog.messages == [f"model {keeper.model.id} was read again: it is the same"]


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
        (model_of(classes=("lost", "won")), "its classes are others than before"),
    ],
    ids=["columns", "clocks", "inputs", "classes"],
)
def test_a_model_that_takes_other_rows_is_taken_up_and_said(keeper, path, caplog, model, said):
    save(model, path)
    asyncio.run(keeper.reload())
    assert counted(keeper) == (1, 0)
    assert said in caplog.messages[0]


def test_the_first_file_must_be_good(tmp_path):
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(ModelFileError, match="is not a tempocal model"):
        Keeper(str(tmp_path / "model.json"), Metrics())


def test_watching(keeper, path, monkeypatch, caplog):
    """Replaced, damaged, removed, put back: each is seen once."""
    monkeypatch.setattr(keepers, "LOOKS", 0.01)
    seen = []

    async def settled(change):
        change()
        before = counted(keeper)
        while counted(keeper) == before:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        seen.append((*counted(keeper), keeper.model.probabilities(1.0, 0)[1]))

    async def go():
        watching = asyncio.create_task(keeper.watch())
        await asyncio.sleep(0.05)
        assert counted(keeper) == (0, 0)
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


def test_what_is_not_the_fault_of_the_file_is_tried_again(keeper, path, monkeypatch, caplog):
    monkeypatch.setattr(keepers, "LOOKS", 0.01)
    monkeypatch.setattr(keepers, "UNSETTLED", 5)
    old = keeper.model

    async def go():
        watching = asyncio.create_task(keeper.watch())
        with monkeypatch.context() as patch:
            patch.setattr(keepers, "read_served", out_of_threads)
            save(NEW, path)
            while counted(keeper) == (0, 0):
                await asyncio.sleep(0.01)
        while keeper.model is old:
            await asyncio.sleep(0.01)
        save(OLD, path)
        while keeper.model.id != old.id:
            await asyncio.sleep(0.01)
        assert not watching.done()
        watching.cancel()

    asyncio.run(asyncio.wait_for(go(), PATIENCE))
    assert counted(keeper)[0] == 2
    assert caplog.messages[0] == f"{path}: RuntimeError; model {old.id} goes on answering"


def test_another_file_is_taken_up_at_once_after_any_failure(keeper, path, monkeypatch):
    monkeypatch.setattr(keepers, "LOOKS", 0.01)
    monkeypatch.setattr(keepers, "UNSETTLED", 10**6)
    old = keeper.model

    async def go():
        watching = asyncio.create_task(keeper.watch())
        with monkeypatch.context() as patch:
            patch.setattr(keepers, "read_served", out_of_threads)
            save(model_of(slope=0.6), path)
            while counted(keeper) == (0, 0):
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
        assert counted(keeper) == (0, 1)
        save(model_of(slope=0.75), path)
        while keeper.model is old:
            await asyncio.sleep(0.01)
        watching.cancel()

    asyncio.run(asyncio.wait_for(go(), PATIENCE))


def test_a_signal_that_meets_another_failure_says_so(keeper, path, monkeypatch, caplog):
    monkeypatch.setattr(keepers, "read_served", out_of_threads)
    asyncio.run(keeper.reload())
    assert counted(keeper) == (0, 1)
    assert caplog.messages == [f"{path}: RuntimeError; model {keeper.model.id} goes on answering"]


def test_a_file_that_is_being_written_is_left_alone(keeper, path, monkeypatch):
    monkeypatch.setattr(keepers, "LOOKS", 0.02)
    data = save(NEW, path.with_name("other")).read_bytes()

    async def write_slowly():
        with path.open("wb") as file:
            for k in range(0, len(data), 25):
                file.write(data[k : k + 25])
                file.flush()
                await asyncio.sleep(0.005)

    async def go():
        watching = asyncio.create_task(keeper.watch())
        await write_slowly()
        while counted(keeper) == (0, 0):
            await asyncio.sleep(0.01)
        watching.cancel()

    asyncio.run(asyncio.wait_for(go(), PATIENCE))
    assert counted(keeper) == (1, 0)


def test_a_file_that_is_replaced_all_the_time_is_taken_up(keeper, path, monkeypatch):
    """No two looks see the same file."""
    monkeypatch.setattr(keepers, "LOOKS", 0.02)
    first, seen = keeper.model.id, set()

    async def go():
        watching = asyncio.create_task(keeper.watch())
        for k in count():
            os.replace(save((NEW, OLD)[k % 2], path.with_name("spare")), path)
            await asyncio.sleep(0.003)
            seen.add(keeper.model.id)
            if counted(keeper)[0] >= 5:
                break
        last = keepers.read_served(str(path)).id
        while keeper.model.id != last:
            await asyncio.sleep(0.01)
        watching.cancel()

    asyncio.run(asyncio.wait_for(go(), PATIENCE))
    assert len(seen | {first}) == 2
    assert counted(keeper)[1] == 0


def test_bad_files_all_the_time_are_said_once(keeper, path, monkeypatch, caplog):
    monkeypatch.setattr(keepers, "LOOKS", 0.005)
    monkeypatch.setattr(keepers, "UNSETTLED", 10)
    old = keeper.model

    async def go():
        watching = asyncio.create_task(keeper.watch())
        await asyncio.sleep(0.02)
        for k in count():
            # Of another length each time, whatever the clock of the file system can tell apart.
            path.with_name("spare").write_bytes(b"{}" + b" " * k)
            os.replace(path.with_name("spare"), path)
            await asyncio.sleep(0.001)
            if k >= 300 and counted(keeper) != (0, 0):
                break
        assert counted(keeper) == (0, 1)
        while counted(keeper) == (0, 1):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        watching.cancel()

    asyncio.run(asyncio.wait_for(go(), PATIENCE))
    assert keeper.model is old
    assert counted(keeper) == (0, 2)  # in the course of it, and the last, which stays
    assert len(caplog.messages) == 2
