"""Auto compares candidates on held-out sequences; combine="choose" takes the best, or Identity."""

import numpy as np
import pytest
from sklearn.base import clone

import tempocal as tc
from tempocal.calibrators.fit_data import check_rows
from tempocal.curves.constant import Constant
from tempocal.curves.exponential import ExponentialDecay
from tempocal.curves.random_walk import RandomWalk
from tempocal.curves.spline import Spline
from tempocal.errors import InputError
from tempocal.inputs import check_time
from tempocal.solve import fold_codes
from tempocal.temporal.comparison import HeldOutResult, compare
from tempocal.temporal.cross_validation import Contender, cross_validate
from tempocal.temporal.held_out import RowLosses
from tempocal.temporal.held_out_folds import held_out_folds

MATCHES = tc.datasets.simulate_match(150, seed=1)
Z, Y, T, G = MATCHES.logits, MATCHES.label, MATCHES.time, MATCHES.sequence
FEW = [(tc.TemperatureScaling(), tc.Constant()), (tc.TemperatureScaling(), tc.RandomWalk())]


def auto(**settings):
    return tc.AutoTemporalCalibrator(FEW, **{"combine": "choose", **settings})


def data(logits=Z, groups=G, weights=None):
    return check_rows(
        logits,
        Y,
        sample_weight=weights,
        groups=groups,
        inputs="logits",
        classes=None,
        times=check_time(T, len(T)),
    ).data


class TestChoice:
    def test_follows_time_where_the_fault_does(self):
        matches = tc.datasets.simulate_match(400)
        cal = tc.AutoTemporalCalibrator(combine="choose").fit(
            matches.logits, matches.label, time=matches.time, groups=matches.sequence
        )
        chosen = cal.comparison_.chosen
        assert "Constant" not in chosen.name
        assert chosen.name != "Identity"
        assert len(cal.comparison_) == 13

    def test_does_nothing_to_a_model_that_is_right(self):
        """On most sets: what is left to chance is recorded in the docs on validation."""
        kept = 0
        for seed in range(8):
            matches = tc.datasets.simulate_match(150, seed=seed)
            p = matches.true_probability
            cal = auto().fit(
                np.log(p / (1 - p)), matches.label, time=matches.time, groups=matches.sequence
            )
            kept += cal.comparison_.chosen.name == "Identity"
        assert kept >= 6

    def test_with_three_classes_compares_vector_scaling(self):
        rng = np.random.default_rng(0)
        z = 2 * rng.normal(size=(300, 3))
        y = (0.5 * z + rng.gumbel(size=z.shape)).argmax(axis=1)
        cal = tc.AutoTemporalCalibrator().fit(
            z, y, time=np.arange(300) % 6, groups=np.arange(300) // 6
        )
        names = [one.name for one in cal.comparison_]
        assert "VectorScaling, Spline" in names
        assert not any("Platt" in name for name in names)
        assert cal.comparison_.chosen.name != "Identity"

    def test_of_one_group_is_nothing(self):
        for combine in ("choose", "average"):
            cal = auto(combine=combine).fit(Z, Y, time=T, groups=np.zeros(len(Y)))
            assert [one.name for one in cal.comparison_.kept] == ["Identity"]
            np.testing.assert_array_equal(cal.map_(Z, T.astype(float)), Z)

    def test_predicts_as_the_chosen_one_alone(self):
        cal = auto().fit(Z, Y, time=T, groups=G)
        alone = clone(cal.best_).fit(Z, Y, time=T, groups=G)
        assert (cal.predict_proba(Z, time=T) == alone.predict_proba(Z, time=T)).all()
        assert cal.summary().nll_after == alone.summary().nll_after
        assert "of 3 candidates" in str(cal.summary())
        for name, values in alone.parameters_at([0, 3]).items():
            np.testing.assert_array_equal(cal.parameters_at([0, 3])[name], values)


def test_the_same_seed_gives_the_same_and_another_seed_other_folds():
    first, again, other = (auto(seed=seed).fit(Z, Y, time=T, groups=G) for seed in (0, 0, 1))
    nll = [[one.nll for one in cal.comparison_] for cal in (first, again, other)]
    assert nll[0] == nll[1]
    assert nll[0] != nll[2]


def test_the_order_of_the_rows_does_not_matter():
    order = np.random.default_rng(0).permutation(len(Z))
    one = auto().fit(Z, Y, time=T, groups=G)
    other = auto().fit(Z[order], Y[order], time=T[order], groups=G[order])
    for a, b in zip(one.comparison_, other.comparison_, strict=True):
        assert a.name == b.name
        assert a.nll == pytest.approx(b.nll, rel=1e-8)


def test_sequences_are_what_is_independent_unless_groups_are():
    by_group = auto().fit(Z, Y, time=T, groups=G)
    order = np.argsort(np.argsort(T, kind="stable"))
    clusters = G // 3
    for given in (
        {"sequence": G, "order": order},
        {"sequence": G, "order": order, "groups": G},
    ):
        cal = auto().fit(Z, Y, time=T, **given)
        np.testing.assert_array_equal(
            cal.predict_proba(Z, time=T), by_group.predict_proba(Z, time=T)
        )
        assert cal.summary_.n_groups == by_group.summary_.n_groups
    coarse = auto().fit(Z, Y, time=T, sequence=G, order=order, groups=clusters)
    assert coarse.summary_.n_groups == len(np.unique(clusters))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sequence": G, "order": np.zeros(len(G))}, "order must differ between the rows"),
        ({"order": np.arange(len(G))}, "order puts .* but sequence is None"),
        ({"sequence": G, "groups": np.arange(len(G))}, "groups must be the same in all rows"),
    ],
)
def test_bad_sequences_are_refused(given, words):
    given = {"order": np.arange(len(G)), **given}
    with pytest.raises(InputError, match=words):
        auto().fit(Z, Y, time=T, **given)


def test_a_choice_with_a_candidate_that_learns_from_forecasts_is_refused():
    candidate = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline(), td_horizon=0.1)
    settings = {"combine": "choose", "folds": 2}
    with pytest.raises(InputError, match=r"td_horizon=0.1, but with combine=\"choose\""):
        tc.AutoTemporalCalibrator([candidate], **settings).fit(Z, Y, time=T, groups=G)
    candidate.set_params(td_horizon=float("inf"))
    tc.AutoTemporalCalibrator([candidate], **settings).fit(Z, Y, time=T, groups=G)


def test_a_weight_is_a_repetition():
    weights = np.where(G % 2, 2.0, 1.0)
    twice = np.repeat(np.arange(len(Z)), weights.astype(int))
    weighed = auto().fit(Z, Y, time=T, groups=G, sample_weight=weights)
    repeated = auto().fit(Z[twice], Y[twice], time=T[twice], groups=G[twice])
    for a, b in zip(weighed.comparison_, repeated.comparison_, strict=True):
        assert (a.name, a.verdict) == (b.name, b.verdict)
        assert a.difference_error == pytest.approx(b.difference_error, rel=1e-6)


@pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
@pytest.mark.parametrize(
    ("calibrator", "curve"),
    [
        (tc.TemperatureScaling(), Constant()),
        (tc.TemperatureScaling(), ExponentialDecay()),
        (tc.TemperatureScaling(), Spline()),
        (tc.TemperatureScaling(), RandomWalk()),
        (tc.PlattScaling(), Constant()),
        (tc.PlattScaling(), ExponentialDecay()),
    ],
)
def test_folds_are_fits_to_the_other_groups(calibrator, curve):
    """At the strengths of the fit to all rows, written out as separate fits."""
    all_rows = tc.TemporalCalibrator(calibrator, curve).fit(Z, Y, time=T, groups=G)
    details = all_rows.summary().details
    strengths = details["shrinkage_of_slopes"]
    if isinstance(calibrator, tc.PlattScaling):
        strengths = (strengths, details["shrinkage_of_biases"])
    if isinstance(curve, Spline | RandomWalk):
        curve = type(curve)(smoothness=details["smoothness_of_slopes"])
    rows = data()
    contender = Contender(calibrator, type(curve)())
    [trial] = cross_validate([contender], rows, held_out_folds(rows, 5, 3), progress=False)
    folds = fold_codes(len(Y), rows.groups, 5, 3)
    expected = np.empty(len(Y))
    for fold in range(5):
        inside = folds == fold
        alone = tc.TemporalCalibrator(calibrator, curve, shrinkage=strengths)
        alone.fit(Z[~inside], Y[~inside], time=T[~inside], groups=G[~inside])
        log_p = alone.predict_log_proba(Z[inside], time=T[inside])
        expected[inside] = -log_p[np.arange(inside.sum()), Y[inside]]
    # Knots and cells are those of all rows; without a fold the last step may differ.
    assert trial.held_out.losses.mean == pytest.approx(expected.mean(), abs=2e-4)


class TestComparison:
    def result(self, losses, parameters, name="", failure=""):
        found = None if losses is None else RowLosses(losses, data())
        return HeldOutResult(name, found, 0.0, parameters, 0.0, failure)

    def test_prefers_the_simpler_within_the_standard_error(self):
        rows = data()
        rng = np.random.default_rng(0)
        base = rng.random(len(Y))
        noise = rng.normal(size=len(Y))
        noise -= noise.mean()
        trials = [
            self.result(base + 1.0, 0.0, "Identity"),
            self.result(base, 5.0, "best"),
            self.result(base + 1e-4 + 0.05 * noise, 1.0, "simpler"),
            self.result(base + 0.01 + 0.05 * noise, 0.5, "simplest, but worse"),
        ]
        table, chosen = compare(trials, rows, identity=0)
        assert chosen == 2
        assert table.chosen.verdict.startswith("chosen: simpler")
        assert table[0].name == "best"

    def test_candidates_that_are_equal_in_all_digits_are_not_worse(self):
        """What is left of a difference by rounding has no standard error to speak of."""
        rows = data()
        base = np.random.default_rng(0).random(len(Y))
        trials = [self.result(base + 1.0, 0.0, "Identity")]
        trials += [self.result(base + 1e-10 * k, 3.0 - k, f"{k} less") for k in range(3)]
        table, chosen = compare(trials, rows, identity=0)
        assert chosen == 3
        assert {one.verdict for one in table[:2]} == {"as good, but not simpler than the chosen"}
        same = [self.result(base + 1e-10, 0.0, "Identity"), self.result(base, 1.0, "no gain")]
        assert compare(same, rows, identity=0)[1] == 0

    def test_differences_are_paired_by_group(self):
        rows = data()
        difference = 0.01 + 0.1 * np.random.default_rng(1).normal(size=rows.groups.count)
        base = np.ones(len(Y))
        trials = [self.result(base + difference[rows.groups.codes], 0.0), self.result(base, 1.0)]
        table, _ = compare(trials, rows, identity=0)
        sums = np.bincount(rows.groups.codes, difference[rows.groups.codes])
        sizes = np.bincount(rows.groups.codes)
        mean, n = sums.sum() / sizes.sum(), len(sums)
        error = np.sqrt(n / (n - 1) * ((sums - mean * sizes) ** 2).sum()) / sizes.sum()
        worse = table[1]
        assert worse.difference == pytest.approx(mean)
        assert worse.difference_error == pytest.approx(error)

    def test_a_candidate_that_fails_says_why_and_is_not_chosen(self):
        z = np.where(T == 0, np.abs(Z) * (2 * Y - 1), Z)  # the first step is separable
        pairs = [
            (tc.TemperatureScaling(), tc.Spline()),
            (tc.TemperatureScaling(shrinkage=0), tc.PerStep()),
        ]
        cal = tc.AutoTemporalCalibrator(pairs).fit(z, Y, time=T, groups=G)
        failed = next(one for one in cal.comparison_ if "PerStep" in one.name)
        assert failed.verdict.startswith("failed: at shrinkage=0 the best coefficients are inf")
        assert "failed" in str(cal.comparison_)

    def test_a_candidate_that_only_fails_in_a_fold_fails_too(self):
        """Without the one group that has both classes at the first step it is separable."""
        z = np.where(T == 0, np.abs(Z) * (2 * Y - 1), Z)
        odd = (T == 0) & (G == 7)
        z[odd] *= -1
        pairs = [(tc.TemperatureScaling(shrinkage=0), tc.PerStep())]
        cal = tc.AutoTemporalCalibrator(pairs).fit(z, Y, time=T, groups=G)
        assert [one.name for one in cal.comparison_.kept] == ["Identity"]
        assert any("without some of the groups" in one.verdict for one in cal.comparison_)

    def test_is_a_table(self):
        cal = auto().fit(Z, Y, time=T, groups=G)
        rows = cal.comparison_.to_dicts()
        assert set(rows[0]) >= {"name", "nll", "nll_error", "ece_over_time", "seconds", "verdict"}
        assert sum(row["verdict"].startswith("chosen") for row in rows) == 1
        assert [row["nll"] for row in rows] == sorted(row["nll"] for row in rows)


class TestInput:
    def test_candidates_of_several_kinds(self):
        given = [
            tc.TemperatureScaling(),
            (tc.PlattScaling(), tc.Spline()),
            tc.TemporalCalibrator(tc.BetaCalibration(), tc.Constant(), shrinkage=3.0),
            tc.TemporalCalibrator(tc.HistogramBinning(bins=3), tc.PerStep(bins=2)),
        ]
        cal = tc.AutoTemporalCalibrator(given).fit(Z, Y, time=T, groups=G)
        assert len(cal.comparison_) == 5

    def test_is_left_as_it_was(self):
        calibrator = tc.TemperatureScaling()
        tc.AutoTemporalCalibrator(
            [(calibrator, tc.Constant())], inputs="proba", classes=[0, 1]
        ).fit(1 / (1 + np.exp(-Z)), Y, time=T, groups=G)
        assert calibrator.get_params() == tc.TemperatureScaling().get_params()

    @pytest.mark.parametrize(
        ("candidates", "message"),
        [
            ([], "candidates is empty"),
            ([3], "candidates must be"),
            ([(tc.TemperatureScaling(), 3)], "candidates must be"),
            ([tc.TemperatureScaling(inputs="proba")], "inputs='proba'"),
            ([tc.TemperatureScaling(classes=[0, 1])], "say classes of"),
            ([tc.TemporalCalibrator(time_column=0)], "say time_column of"),
            ([(tc.TemperatureScaling(), tc.Spline(intervals=-3))], "intervals"),
            ([(tc.IsotonicCalibration(), tc.Spline())], "has no coefficients"),
            (
                [
                    (tc.TemperatureScaling(), tc.Spline()),
                    (tc.TemperatureScaling(), tc.Surface(tc.Spline(), tc.Spline())),
                ],
                "one clock, or all along two",
            ),
        ],
    )
    def test_that_is_wrong_is_refused_in_words(self, candidates, message):
        with pytest.raises(InputError, match=message):
            tc.AutoTemporalCalibrator(candidates).fit(Z, Y, time=T, groups=G)

    @pytest.mark.parametrize(
        "settings",
        [
            {"folds": 1},
            {"folds": 2.5},
            {"folds": "days"},
            {"seed": -1},
            {"seed": None},
            {"combine": "x"},
            {"combine": None},
        ],
    )
    def test_settings_that_are_wrong_are_refused(self, settings):
        with pytest.raises(InputError, match=next(iter(settings))):
            auto(**settings).fit(Z, Y, time=T, groups=G)

    def test_what_the_chosen_fit_warns_of_is_said(self):
        with pytest.warns(tc.errors.AtBoundWarning):
            tc.AutoTemporalCalibrator([tc.TemperatureScaling()]).fit(-3 * Z, Y, time=T, groups=G)

    def test_probabilities_and_a_column_of_time(self):
        p = 1 / (1 + np.exp(-Z))
        by_keyword = auto(inputs="proba").fit(p, Y, time=T, groups=G)
        X = np.column_stack([p, T])
        by_column = auto(inputs="proba", time_column=1).fit(X, Y, groups=G)
        np.testing.assert_array_equal(
            by_keyword.predict_proba(p, time=T), by_column.predict_proba(X)
        )

    def test_without_groups_rows_are_dealt(self):
        cal = auto().fit(Z, Y, time=T)
        assert "no groups were given" in str(cal.summary())


@pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
def test_a_saved_choice_is_the_same(tmp_path):
    for candidates in (FEW, None):
        cal = tc.AutoTemporalCalibrator(candidates, combine="choose")
        cal.fit(Z[:300], Y[:300], time=T[:300])
        cal.save(tmp_path / "model.json")
        loaded = tc.load(tmp_path / "model.json")
        assert (loaded.predict_proba(Z, time=T) == cal.predict_proba(Z, time=T)).all()
        assert loaded.comparison_.to_dicts() == cal.comparison_.to_dicts()
        assert repr(loaded.best_) == repr(cal.best_)
        loaded.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_progress_is_shown_on_long_fits(capsys, monkeypatch):
    monkeypatch.setattr("tempocal.temporal.progress.LOG_DELAY", 0.0)
    monkeypatch.setattr("tempocal.temporal.progress.LOG_INTERVAL", 0.0)
    auto(progress=True).fit(Z, Y, time=T, groups=G)
    shown = capsys.readouterr().err
    assert "1 of 3" in shown
    assert "s left" in shown
    auto().fit(Z, Y, time=T, groups=G)
    assert capsys.readouterr().err == ""
