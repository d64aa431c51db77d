"""Engines that take a while to start, once for all tests."""

import os
import shutil
import warnings
from typing import Any

import psycopg
import pytest

from tables.engines import NAMES, make
from tables.postgres import programs, server


def lacking(what: str) -> None:
    """Skip a test for want of a program; where everything must be there it fails."""
    if os.environ.get("TEMPOCAL_CI"):
        pytest.fail(f"{what} is not installed")
    pytest.skip(f"{what} is not installed")


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    if shutil.which("java") is None:
        lacking("Java")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PySpark's own about the versions of others
        from pyspark.sql import SparkSession  # noqa: PLC0415 - its own warnings are not ours

        settings = {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
            # Queries are many and small: planning them in one thread takes half the CPU time.
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.sql.session.timeZone": "America/New_York",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
            "spark.driver.memory": "1g",
        }
        session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(scope="session")
def postgres():
    folder = programs()
    if folder is None:
        lacking("PostgreSQL")
    with (
        server(folder) as socket,
        psycopg.connect(
            host=socket, user="tempocal", dbname="postgres", autocommit=True
        ) as connection,
    ):
        yield connection


@pytest.fixture(params=NAMES)
def table_of(request):
    """Return what makes a table of columns, for each engine."""
    engine: str = request.param
    session: Any = request.getfixturevalue("spark") if engine == "spark" else None

    def table(columns):
        return make(engine, columns, session)

    table.engine = engine
    return table
