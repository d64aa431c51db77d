"""An average of candidates: its weights, its laws, and that whatever predicts from it agrees."""

import json

import numpy as np
import polars as pl
import pytest
from scipy.special import log_softmax, logit, softmax
from scipy.stats import t as student
from sklearn.base import clone

import tempocal as tc
from export.runs import EXPORTS, assert_equal
from tempocal import scorer
from tempocal.calibrators.fit_data import check_rows
from tempocal.errors import DamagedModelFileError, InputError
from tempocal.inputs import check_groups, check_time
from tempocal.maps import Average
from tempocal.modelfile import read_document
from tempocal.predictor import read_model
from tempocal.solve import fold_codes
from tempocal.temporal.cross_validation import Contender, cross_validate
from tempocal.temporal.held_out_folds import HeldOutFolds
from tempocal.temporal.loading import _restore

MATCHES = tc.datasets.simulate_match(120, seed=3)
Z, Y, T, G = MATCHES.logits, MATCHES.label, MATCHES.time, MATCHES.sequence
ORDERED = {"sequence": G, "order": np.arange(len(G))}
LINES = [
    (tc.TemperatureScaling(), tc.ExponentialDecay()),
    (tc.TemperatureScaling(), tc.Spline()),
    (tc.PlattScaling(), tc.Constant()),
]
MIXED = [*LINES, (tc.QuadraticScaling(), tc.ExponentialDecay())]
TIMES = np.linspace(0, 24, 7)


pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")


def three_classes(n=600, seed=0):
    rng = np.random.default_rng(seed)
    z, time = 2 * rng.normal(size=(n, 3)), np.arange(n) % 6
    y = (z * (0.3 + 0.1 * time)[:, None] + rng.gumbel(size=z.shape)).argmax(axis=1)
    return z, y, time, np.arange(n) // 6


def fit(candidates=LINES, **settings):
    return tc.AutoTemporalCalibrator(candidates, **settings).fit(Z, Y, time=T, groups=G)


def fit_three(**settings):
    z, y, time, groups = three_classes()
    kinds = (tc.TemperatureScaling, tc.VectorScaling, tc.BetaCalibration, tc.MatrixScaling)
    pairs = [(kind(), curve) for kind in kinds for curve in (tc.Constant(), tc.Spline())]
    cal = tc.AutoTemporalCalibrator(pairs, **settings)
    return cal.fit(z, y, time=time, groups=groups), z, time


def kept_by_name(cal):
    return {one.name: one.weight for one in cal.comparison_.kept}


class TestWeights:
    def test_are_those_written_out_in_numpy(self):
        """Losses, the design effect and the prior from fits to all but a fold."""
        cal = fit()
        weights = np.where(G % 3, 1.0, 2.0)
        weighed = tc.AutoTemporalCalibrator(LINES).fit(
            Z, Y, time=T, groups=G, sample_weight=weights
        )
        for found, w in ((cal, np.ones(len(Y))), (weighed, weights)):
            losses = held_out_losses(w if found is weighed else None)
            wanted = written_out(losses, w, np.array([0, 1, 1, 2]))
            by_name = {one.name: one for one in found.comparison_}
            for (name, loss), weight in zip(losses.items(), wanted, strict=True):
                assert by_name[name].nll == pytest.approx(np.average(loss, weights=w), abs=1e-9)
                assert by_name[name].weight == pytest.approx(weight, rel=1e-5)

    def test_sum_to_1_and_are_at_least_a_hundredth(self):
        cal, *_ = fit_three()
        weights = np.array([one.weight for one in cal.comparison_])
        assert weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert (weights[weights > 0] >= 0.01).all()
        assert 1 < (weights > 0).sum() < len(weights)
        left_out = [one.verdict for one in cal.comparison_ if one.weight == 0]
        assert set(left_out) == {"left out: its weight would be below 0.01"}

    def test_do_not_depend_on_the_order_of_candidates_or_rows(self):
        one = fit(MIXED)
        other = fit(MIXED[::-1])
        order = np.random.default_rng(0).permutation(len(Z))
        third = tc.AutoTemporalCalibrator(MIXED)
        third.fit(Z[order], Y[order], time=T[order], groups=G[order])
        for cal in (other, third):
            assert list(kept_by_name(cal)) == list(kept_by_name(one))
            np.testing.assert_allclose(
                cal.predict_proba(Z, time=T), one.predict_proba(Z, time=T), atol=1e-7
            )
        np.testing.assert_allclose(
            other.predict_proba(Z, time=T), one.predict_proba(Z, time=T), atol=1e-14
        )

    def test_of_fewer_sequences_stay_nearer_to_the_prior(self):
        few = MATCHES.sequence < 15
        cal = tc.AutoTemporalCalibrator(LINES).fit(Z[few], Y[few], time=T[few], groups=G[few])
        assert kept_by_name(cal)["Identity"] > 2 * kept_by_name(fit())["Identity"]
        assert "fewer than 100 groups" in str(cal.summary())
        assert "fewer than 100 groups" not in str(fit().summary())

    def test_of_a_repeated_row_are_those_of_its_weight(self):
        weights = np.where(G % 2, 2.0, 1.0)
        twice = np.repeat(np.arange(len(Z)), weights.astype(int))
        one = tc.AutoTemporalCalibrator(LINES)
        other = clone(one).fit(Z[twice], Y[twice], time=T[twice], groups=G[twice])
        one.fit(Z, Y, time=T, groups=G, sample_weight=weights)
        for name, weight in kept_by_name(one).items():
            assert kept_by_name(other)[name] == pytest.approx(weight, rel=1e-4)


def held_out_losses(weights=None):
    """Return the losses of held-out rows under each candidate, by separate fits to the others."""
    folds = fold_codes(len(Y), codes_of(G), 5, 0)
    losses = {"Identity": np.logaddexp(0.0, np.where(Y == 1, -Z, Z))}
    data = checked(weights)
    for pair in LINES:
        [trial] = cross_validate([Contender(*pair)], data, HeldOutFolds(folds), progress=False)
        losses[trial.held_out.name] = trial.held_out.losses.values
    return losses


def codes_of(groups):
    return check_groups(groups, len(groups))


def checked(weights):
    times = check_time(T, len(T), clocks=1, keep_int64=True)
    given = {"sample_weight": weights, "groups": G, "inputs": "logits", "classes": None}
    return check_rows(Z, Y, times=times, **given).data


def written_out(losses, w, n_coefficients):
    """Weights from the losses of rows; of the first candidate half of the prior."""
    table = np.stack(list(losses.values()))
    changes = table - table[0]
    means = changes @ w / w.sum()
    n_groups = len(np.unique(G))
    between = within = 0.0
    for change, mean in zip(changes, means, strict=True):
        sums = np.bincount(G, w * (change - mean))
        between += n_groups / (n_groups - 1) * (sums**2).sum()
        within += (w * (change - mean) ** 2).sum()
    effect = max(between / within, 1.0) * (1 + 60 / n_groups)
    prior = np.append(0.5, 0.5 * (1 / n_coefficients[1:]) / (1 / n_coefficients[1:]).sum())
    found = softmax(np.log(prior) - table @ w / effect)
    found[found < 0.01] = 0
    return found / found.sum()


class TestAverage:
    def test_is_the_weighted_mean_of_log_odds(self):
        cal = fit(MIXED)
        kept = kept_by_name(cal)
        assert len(kept) > 2
        odds = np.zeros(len(Z))
        for pair in MIXED:
            alone = tc.TemporalCalibrator(*pair).fit(Z, Y, time=T, groups=G)
            name = next(n for n in kept_names(pair))
            odds += kept.get(name, 0.0) * logit(alone.predict_proba(Z, time=T)[:, 1])
        odds += kept.get("Identity", 0.0) * Z
        np.testing.assert_allclose(cal.decision_function(Z, time=T), odds, rtol=1e-9, atol=1e-9)

    def test_of_classes_is_the_softmax_of_the_mean_of_log_probabilities(self):
        cal, z, time = fit_three()
        average = cal.map_
        mean = sum(
            weight * log_softmax(one(z, time.astype(float)), axis=1)
            for weight, one in zip(average.weights, average.maps, strict=True)
        )
        np.testing.assert_allclose(
            cal.predict_proba(z, time=time), softmax(mean, axis=1), rtol=1e-12
        )

    def test_of_one_candidate_is_that_candidate_to_the_bit(self, tmp_path):
        m = tc.datasets.simulate_match(600, seed=1)
        rows = {"time": m.time, "groups": m.sequence}
        pair = (tc.TemperatureScaling(), tc.Spline())
        cal = tc.AutoTemporalCalibrator([pair]).fit(m.logits, m.label, **rows)
        assert kept_by_name(cal) == {"TemperatureScaling, Spline": 1.0}
        alone = tc.TemporalCalibrator(*pair).fit(m.logits, m.label, **rows)
        assert (cal.predict_proba(Z, time=T) == alone.predict_proba(Z, time=T)).all()
        for own, wanted in zip(bounds(cal), bounds(alone), strict=True):
            np.testing.assert_array_equal(own, wanted)
        assert "average" not in content_of(cal, tmp_path / "auto.json")
        best, wanted = (
            content_of(cal, tmp_path / "auto.json")["best"],
            content_of(alone, tmp_path / "alone.json"),
        )
        for name in ("map", "bands", "classes", "time_kinds"):
            assert best[name] == wanted[name]

    def test_is_monotone_at_each_time(self):
        cal = fit(MIXED)
        grid = np.linspace(-8, 8, 201)
        for time in TIMES:
            odds = cal.decision_function(grid, time=np.full(len(grid), time))
            assert (np.diff(odds) >= 0).all()

    def test_of_few_sequences_is_closer_to_the_truth_than_a_choice(self):
        """On average over a few sets; the docs on validation have more."""
        new = tc.datasets.simulate_match(300, seed=10**6)
        true = np.stack([1 - new.true_probability, new.true_probability], axis=1)
        excess = {"average": 0.0, "choose": 0.0}
        for seed in range(6):
            m = tc.datasets.simulate_match(50, seed=seed)
            for combine in excess:
                cal = tc.AutoTemporalCalibrator(LINES, combine=combine)
                cal.fit(m.logits, m.label, time=m.time, groups=m.sequence)
                log_p = cal.predict_log_proba(new.logits, time=new.time)
                excess[combine] -= (true * log_p).sum(axis=1).mean() / 6
        assert excess["average"] < excess["choose"]


def kept_names(pair):
    calibrator, curve = pair
    curve_name = repr(curve) if curve != type(curve)() else type(curve).__name__
    return [f"{type(calibrator).__name__}, {curve_name}"]


def bounds(cal):
    return [part for band in cal.interval_at(TIMES).values() for part in (band.lower, band.upper)]


def content_of(cal, path):
    cal.save(path)
    return read_document(path, "model")


class TestParameters:
    def test_of_lines_are_their_weighted_mean(self):
        cal = fit()
        found = cal.parameters_at(TIMES)
        assert set(found) == {"slope", "bias"}
        ahead = cal.decision_function(np.ones(7), time=TIMES)
        origin = cal.decision_function(np.zeros(7), time=TIMES)
        np.testing.assert_allclose(found["slope"], ahead - origin, rtol=1e-12)
        np.testing.assert_allclose(found["bias"], origin, rtol=1e-12, atol=1e-14)

    def test_of_temperatures_are_a_temperature(self):
        cal = fit(LINES[:2])
        assert set(cal.parameters_at(TIMES)) == {"inverse_temperature"}

    def test_of_classes_are_weights_and_biases(self):
        z, y, time, groups = three_classes()
        linear = [
            (tc.TemperatureScaling(), tc.Spline()),
            (tc.VectorScaling(), tc.Spline()),
            (tc.MatrixScaling(), tc.Constant()),
        ]
        cal = tc.AutoTemporalCalibrator(linear).fit(z, y, time=time, groups=groups)
        assert len(cal.comparison_.kept) > 1
        found = cal.parameters_at(time)
        weights = found["weights"]
        if weights.ndim == 2:
            weights = weights[:, :, None] * np.eye(3)
        odds = np.einsum("nkj,nj->nk", weights, z) + found["bias"]
        np.testing.assert_allclose(
            softmax(odds, axis=1), cal.predict_proba(z, time=time), rtol=1e-9
        )
        assert set(cal.interval_at(time)) == {"weights", "bias"}

    def test_bands_add_how_far_the_members_differ(self):
        """Law of total variance, of bands that are asked for one by one."""
        cal = fit()
        kept, n_groups = kept_by_name(cal), len(np.unique(G))
        names = {kept_names(pair)[0]: pair for pair in LINES}
        quantile = student.ppf(0.975, n_groups - 1)
        centers, variances, weights = [], [], []
        for name, weight in kept.items():
            pair = names.get(name, (tc.Identity(), tc.Constant()))
            alone = tc.TemporalCalibrator(*pair).fit(Z, Y, time=T, groups=G)
            key = "slope" if "Platt" in name else "inverse_temperature"
            upper = alone.interval_at(TIMES)[key].upper
            centers.append(alone.parameters_at(TIMES)[key])
            variances.append(((upper - centers[-1]) / quantile) ** 2)
            weights.append(weight)
        weights, centers = np.array(weights)[:, None], np.array(centers)
        mean = (weights * centers).sum(axis=0)
        total = (weights * (np.array(variances) + (centers - mean) ** 2)).sum(axis=0)
        found = cal.interval_at(TIMES)["slope"]
        np.testing.assert_allclose(found.upper - mean, quantile * np.sqrt(total), rtol=1e-9)

    def test_of_what_is_not_linear_are_refused_with_a_word_on_best(self):
        cal = fit(MIXED)
        assert any("Quadratic" in name for name in kept_by_name(cal))
        for ask in (cal.parameters_at, cal.interval_at):
            with pytest.raises(InputError, match=r"not linear in the logits.*ask best_"):
                ask(TIMES)
        assert cal.best_.parameters_at(TIMES)


class TestWhatIsLeftOut:
    def test_candidates_that_can_say_0_are_compared_but_not_averaged(self):
        pairs = [*LINES, (tc.IsotonicCalibration(), tc.PerStep(bins=2))]
        cal = fit(pairs)
        binned = next(one for one in cal.comparison_ if "Isotonic" in one.name)
        assert binned.weight == 0.0
        assert binned.verdict.startswith("not averaged, for it can say 0")
        assert (cal.predict_proba(Z, time=T) == fit().predict_proba(Z, time=T)).all()

    def test_with_nothing_to_average_identity_is_left(self):
        cal = fit([(tc.HistogramBinning(bins=3), tc.PerStep(bins=2))])
        assert kept_by_name(cal) == {"Identity": 1.0}
        np.testing.assert_allclose(cal.decision_function(Z, time=T), Z)

    def test_the_comparison_says_so(self):
        text = str(fit(MIXED).comparison_)
        assert text.splitlines()[0].split()[-2:] == ["weight", "verdict"]
        assert "averaged, with the largest weight" in text


class TestHorizons:
    def test_with_sequences_candidates_learn_from_forecasts(self):
        cal = tc.AutoTemporalCalibrator(LINES).fit(Z, Y, time=T, **ORDERED)
        alone = tc.TemporalCalibrator(*LINES[0]).fit(Z, Y, time=T, **ORDERED)
        assert alone.summary().details["td_horizon"] == pytest.approx(0.1)
        member = next(
            one for one in cal.map_.maps if one.bases[0].__class__.__name__ == "ExponentialBasis"
        )
        np.testing.assert_array_equal(member.tables[0], alone.map_.tables[0])

    def test_horizons_can_be_candidates(self):
        pairs = [
            tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline(), td_horizon=h)
            for h in (0.1, 0.5, float("inf"))
        ]
        cal = tc.AutoTemporalCalibrator(pairs).fit(Z, Y, time=T, **ORDERED)
        assert {one.name for one in cal.comparison_} == {
            "Identity",
            "TemperatureScaling, Spline",
            "TemperatureScaling, Spline, td_horizon=0.1",
            "TemperatureScaling, Spline, td_horizon=0.5",
        }

    def test_outcomes_only_beside_a_chosen_horizon_has_its_own_name(self):
        pairs = [
            tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline(), td_horizon=h)
            for h in ("auto", float("inf"))
        ]
        cal = tc.AutoTemporalCalibrator(pairs).fit(Z, Y, time=T, **ORDERED)
        assert {one.name for one in cal.comparison_} == {
            "Identity",
            "TemperatureScaling, Spline",
            "TemperatureScaling, Spline, td_horizon=inf",
        }

    @pytest.mark.parametrize("horizon", [0.1, 0.5])
    def test_folds_are_fits_at_the_same_horizon_to_the_other_sequences(self, horizon):
        """With given strengths and no rates: the refits are separate fits, written out."""
        kind = tc.TemperatureScaling(shrinkage=3.0)
        one = tc.TemporalCalibrator(kind, tc.Constant(), td_horizon=horizon)
        cal = tc.AutoTemporalCalibrator([one], folds=3).fit(Z, Y, time=T, **ORDERED)
        found = next(each for each in cal.comparison_ if each.name != "Identity")
        folds = fold_codes(len(Y), codes_of(G), 3, 0)
        losses = np.empty(len(Y))
        # A share of a typical sequence of all rows; in the other folds sequences are as long.
        mean_length = len(G) / len(np.unique(G))
        for fold in range(3):
            inside = folds == fold
            length = (~inside).sum() / len(np.unique(G[~inside]))
            alone = clone(one).set_params(td_horizon=horizon * mean_length / length)
            alone.fit(
                Z[~inside],
                Y[~inside],
                time=T[~inside],
                sequence=G[~inside],
                order=np.arange(len(G))[~inside],
            )
            log_p = alone.predict_log_proba(Z[inside], time=T[inside])
            losses[inside] = -log_p[np.arange(inside.sum()), Y[inside]]
        assert found.nll == pytest.approx(losses.mean(), abs=1e-8)

    def test_come_back_from_a_file(self, tmp_path):
        pairs = [
            tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline(), td_horizon=0.1),
            (tc.PlattScaling(), tc.Spline()),
        ]
        cal = tc.AutoTemporalCalibrator(pairs).fit(Z, Y, time=T, **ORDERED)
        cal.save(tmp_path / "model.json")
        loaded = tc.load(tmp_path / "model.json")
        assert (loaded.predict_proba(Z, time=T) == cal.predict_proba(Z, time=T)).all()
        assert loaded.best_.td_horizon_ == cal.best_.td_horizon_ < 1.0
        assert repr(loaded) == repr(tc.AutoTemporalCalibrator(cal.as_temporal()))
        loaded.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()

    def test_one_without_sequences_is_refused(self):
        one = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline(), td_horizon=0.2)
        with pytest.raises(InputError, match="sequence="):
            tc.AutoTemporalCalibrator([one]).fit(Z, Y, time=T, groups=G)


class TestFoldsInTime:
    PAIR = (tc.TemperatureScaling(shrinkage=2.0), tc.Constant())

    def nll(self, order, times=T):
        cal = tc.AutoTemporalCalibrator([self.PAIR], folds="time")
        cal.fit(Z[order], Y[order], time=times[order], groups=G[order])
        return {one.name: one.nll for one in cal.comparison_}

    def test_are_fits_to_what_came_before(self):
        """The later half in five blocks, each predicted by a fit to all groups before it."""
        later = np.array_split(np.arange(60, 120), 5)
        losses = []
        for block in later:
            past, now = block[0] > G, np.isin(G, block)
            alone = tc.TemporalCalibrator(*self.PAIR)
            alone.fit(Z[past], Y[past], time=T[past], groups=G[past])
            log_p = alone.predict_log_proba(Z[now], time=T[now])
            losses.append(-log_p[np.arange(now.sum()), Y[now]])
        found = self.nll(np.arange(len(Z)))
        assert found["TemperatureScaling, Constant"] == pytest.approx(
            np.concatenate(losses).mean(), abs=1e-9
        )

    def test_go_by_the_rows_unless_times_are_dates(self):
        order = np.argsort(-G, kind="stable")
        assert self.nll(order) != self.nll(np.arange(len(Z)))
        dates = np.datetime64("2026-01-01", "s") + (100 * G + T).astype("timedelta64[s]")
        one, other = self.nll(order, dates), self.nll(np.arange(len(Z)), dates)
        assert one == pytest.approx(other, rel=1e-9)

    def test_of_two_groups_and_of_one(self):
        for n_groups, kept in ((1, {"Identity": 1.0}), (2, None)):
            few = n_groups > G
            cal = tc.AutoTemporalCalibrator([self.PAIR], folds="time", classes=[0, 1])
            cal.fit(Z[few], Y[few], time=T[few], groups=G[few])
            assert kept is None or kept_by_name(cal) == kept
            assert np.isfinite(cal.comparison_[0].nll)

    def test_tables_have_none(self):
        table = pl.DataFrame({"z": Z, "y": Y, "t": T, "g": G})
        with pytest.raises(InputError, match="needs the order of the rows, which a table has not"):
            tc.AutoTemporalCalibrator(LINES, folds="time").fit_table(
                table, logits="z", label="y", time="t", groups="g"
            )


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    cal, path = fit(MIXED), tmp_path_factory.mktemp("models") / "average.json"
    cal.save(path)
    return cal, path


class TestFiles:
    def test_saved_is_loaded_to_the_bit(self, saved, tmp_path):
        cal, path = saved
        loaded = tc.load(path)
        assert isinstance(loaded.map_, Average)
        assert (loaded.predict_proba(Z, time=T) == cal.predict_proba(Z, time=T)).all()
        assert loaded.comparison_ == cal.comparison_
        assert loaded.summary() == cal.summary()
        assert (loaded.combine, repr(loaded.best_)) == ("average", repr(cal.best_))
        loaded.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
        assert read_model(path).name == f"Average of {len(cal.comparison_.kept)} candidates"

    def test_bands_come_back(self, tmp_path):
        cal = fit()
        cal.save(tmp_path / "model.json")
        for own, wanted in zip(bounds(tc.load(tmp_path / "model.json")), bounds(cal), strict=True):
            np.testing.assert_array_equal(own, wanted)

    def test_an_average_has_schema_2_and_a_choice_schema_1(self, saved, tmp_path):
        fit(combine="choose").save(tmp_path / "choice.json")
        schemas = [
            json.loads(p.read_text())["schema"] for p in (saved[1], tmp_path / "choice.json")
        ]
        assert schemas == [2, 1]
        content = read_document(tmp_path / "choice.json", "model")
        assert "combine" not in content["parameters"]
        assert not any("weight" in row for row in content["comparison"])
        assert tc.load(tmp_path / "choice.json").combine == "choose"

    @pytest.mark.parametrize(
        ("path", "value", "message"),
        [
            (["average", "map", "weights", 0], 0.0, "do not go together"),
            (["comparison", 0, "weight"], 0.011, "weights of the average are not those"),
            (["average", "bands"], [], "bands are not those of the average"),
            (["average", "more"], 1, "the model needs"),
            (["parameters", "combine"], "choose", "the settings of the model"),
            (["parameters", "folds"], "days", "the settings of the model"),
        ],
    )
    def test_parts_that_do_not_go_together_are_refused(self, saved, path, value, message):
        content = json.loads(saved[1].read_text())["content"]
        inner = content
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        self.assert_refused(content, message)

    def test_another_leader_is_refused(self, saved):
        content = json.loads(saved[1].read_text())["content"]
        content["average"]["map"]["maps"].reverse()
        self.assert_refused(content, "does not begin with its best candidate")

    def assert_refused(self, content, message):
        with pytest.raises(DamagedModelFileError, match=message):
            _restore(content)

    def test_the_scorer_agrees(self, saved, tmp_path):
        cal, path = saved
        one = scorer.load(path)
        wanted = cal.predict_proba(Z[:50], time=T[:50])[:, 1]
        found = [one(float(z), float(t)) for z, t in zip(Z[:50], T[:50], strict=True)]
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        three, z, time = fit_three()
        three.save(tmp_path / "three.json")
        one = scorer.load(tmp_path / "three.json")
        found = [one(row.tolist(), float(t)) for row, t in zip(z[:50], time[:50], strict=True)]
        np.testing.assert_allclose(found, three.predict_proba(z[:50], time=time[:50]), rtol=1e-11)

    @pytest.mark.parametrize("export", EXPORTS)
    def test_exports_agree(self, saved, export):
        assert_equal(export, saved[0]._predictor(), Z[:100], T[:100].astype(float))


def test_a_table_gives_the_same_weights():
    table = pl.DataFrame({"z": Z, "y": Y, "t": T, "g": G})
    cal = tc.AutoTemporalCalibrator(LINES)
    from_table = clone(cal).fit_table(table, logits="z", label="y", time="t", groups="g")
    from_rows = cal.fit(Z, Y, time=T, groups=G)
    for name, weight in kept_by_name(from_rows).items():
        assert kept_by_name(from_table)[name] == pytest.approx(weight, rel=1e-6)
    np.testing.assert_allclose(
        from_table.predict_proba(Z, time=T), from_rows.predict_proba(Z, time=T), rtol=1e-7
    )
    for name in ("gain", "gain_on_new_rows"):
        assert from_table.summary().details[name] == pytest.approx(
            from_rows.summary().details[name], rel=1e-6
        )


def test_the_gain_on_new_rows_is_that_of_held_out_rows():
    cal = fit()
    held_out = {one.name: one for one in cal.comparison_}
    gain = held_out["Identity"].nll - sum(one.weight * one.nll for one in cal.comparison_)
    details = cal.summary().details
    assert details["gain_on_new_rows"] == pytest.approx(gain)
    low, high = details["gain_on_new_rows_interval"]
    assert low < gain < high
    assert "0." in details["weights"]
