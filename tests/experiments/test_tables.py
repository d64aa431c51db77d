"""What a table says of hand-made scores: means, spreads, bold, and who is as good as the best."""

from dataclasses import replace

import pytest
from experiments.catalog import EXPERIMENTS
from experiments.results import Result
from experiments.tables import markdown, numbers_of

EXPERIMENT = EXPERIMENTS["imdb-dan"]
PAPERS = [one.name for one in EXPERIMENT.methods if one.paper]
OURS = [one.name for one in EXPERIMENT.methods if not one.paper]


def scores(nll, errors, warnings=()):
    return {
        "nll": nll,
        "overall_ece": 0.5,
        "accuracy": 0.9,
        "ece": errors,
        "floor": [0.01, 0.03],
        "chosen": None,
        "warnings": list(warnings),
    }


def result(*, warnings=()):
    """Ten seeds that rank the methods alike: the last of the paper's best, of all the last."""
    seeds = []
    for seed in range(10):
        methods = {}
        for place, name in enumerate([*PAPERS, *OURS]):
            nll = 1.0 - 0.1 * place + 0.001 * seed
            told = warnings if name == PAPERS[0] and seed == 3 else ()
            methods[name] = scores(nll, [0.30 - 0.02 * place, 0.10 - 0.01 * place], told)
        seeds.append(
            {"stretches": [0, 1], "lengths": [1.0, 2.0], "rows": [5, 5], "methods": methods}
        )
    about = {"made_up": False, "complete": True}
    return Result(replace(EXPERIMENT, name="hand-made"), about, seeds)


def test_means_and_spreads():
    row = numbers_of(result())["methods"][PAPERS[0]]
    # Of the NLL over seeds; of the ECE over stretches, and in a column of its own over seeds.
    assert row["nll"] == pytest.approx([1.0045, 0.00287228], rel=1e-5)
    assert row["ece"] == pytest.approx([0.20, 0.10])
    assert row["ece_over_seeds"] == pytest.approx([0.20, 0.0], abs=1e-12)
    assert row["floor"] == pytest.approx(0.02)


def test_the_best_of_either_group_is_bold():
    lines = markdown(result()).splitlines()
    bold = [line.split("|")[2].strip() for line in lines if "**" in line]
    assert bold == [PAPERS[-1], OURS[-1]]


def test_marks_are_those_of_friedman_and_nemenyi():
    numbers = numbers_of(result())
    test = numbers["tests"]["nll, paper"]
    assert test["friedman_p"] < 0.05
    assert list(test["mean_ranks"].values()) == [3.0, 2.0, 1.0]
    # Three methods over ten runs: q = 2.343 times the root of 3 * 4 / (6 * 10).
    assert test["critical_difference"] == pytest.approx(2.343 * (12 / 60) ** 0.5, abs=2e-3)
    best = "as_good_as_the_best"
    marked = [name for name in PAPERS if "nll, paper" in numbers["methods"][name][best]]
    assert marked == PAPERS[1:]
    assert "nll, paper" not in numbers["methods"][OURS[-1]][best]
    assert "nll, all" in numbers["methods"][OURS[-1]][best]
    assert "nll, all" not in numbers["methods"][PAPERS[0]][best]


def test_methods_that_needed_shrinkage_are_marked():
    assert "†" not in markdown(result())
    told = markdown(result(warnings=["the best coefficients are infinite"])).splitlines()
    assert "†" in told[0]
    assert not any("†" in line for line in told[1:])
