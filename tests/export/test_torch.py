"""Modules of torch: gradients, precision, devices' dtypes, and what torch can make of them."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import tempocal as tc
from formula.random_models import random_model, random_rows
from support.calibrators import ALL, PARAMETRIC, simulate
from support.lanes import by_turns
from support.matches import fitted
from tempocal.errors import InputError
from tempocal.export import CalibratedModel, TorchCalibrator
from tempocal.export.torch import exported, save_exported, to_torch

DECAY = (tc.TemperatureScaling(shrinkage=1.0), tc.ExponentialDecay())
# A map for each step, a curve for each class, and one map of four classes.
SEEDS = [63, 20, 2]

pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.TempocalWarning")


def tensors(*arrays):
    return tuple(torch.tensor(each) for each in arrays if each is not None)


def rows_of(model, seed):
    z, time = random_rows(model, seed)
    return z.reshape(len(z), -1), time


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ALL)
def test_calibrated_logits_are_those_of_the_decision_function(kind, n_classes):
    z, y = simulate(n_classes, 300)
    cal = kind().fit(z, y)
    other, _ = simulate(n_classes, 50, seed=1)
    other *= np.geomspace(1.0, 1e4, 50).reshape(-1, *[1] * (z.ndim - 1))
    found = cal.to_torch().decision_function(torch.tensor(other))
    wanted = cal.decision_function(other)
    if n_classes > 2:  # up to a constant a row
        found, wanted = torch.log_softmax(found, -1), cal.predict_log_proba(other)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", PARAMETRIC)
def test_gradients_are_those_of_finite_differences(kind, n_classes):
    module = fitted(kind(shrinkage=1.0), tc.Spline(), n_classes).to_torch()
    z = torch.randn(7, module.columns, dtype=torch.float64, generator=torch.manual_seed(0))
    z.requires_grad_()
    time = torch.arange(7)
    assert torch.autograd.gradcheck(lambda given: module(given, time), z)
    assert torch.autograd.gradcheck(lambda given: module.decision_function(given, time), z)


@pytest.mark.parametrize("kind", PARAMETRIC)
def test_gradients_where_logits_are_zero(kind):
    """There the formulas have corners that cancel."""
    z, y = simulate(2, 300)
    module = kind().fit(z, y).to_torch()
    near = torch.tensor([-1e-6, 0.0, 1e-6], dtype=torch.float64, requires_grad=True)
    module(near)[:, 1].sum().backward()
    np.testing.assert_allclose(near.grad, near.grad[1].repeat(3), rtol=1e-4)
    assert near.grad[1] > 0.0


@pytest.mark.parametrize("seed", range(15))
def test_no_row_has_a_gradient_that_is_no_number(seed):
    model = random_model(seed)
    z, time = rows_of(model, seed)
    z[4, 0] = np.nan
    refused = [4]
    if time is not None:
        time[5] = np.nan
        refused += [5]
    for method in ("forward", "decision_function"):
        given = torch.tensor(z, requires_grad=True)
        found = getattr(to_torch(model), method)(given, *tensors(time))
        assert found[refused].isnan().all()
        found[[k for k in range(len(z)) if k not in refused]].sum().backward()
        assert given.grad[refused].eq(0.0).all()
        if method == "forward":  # logits may be infinite
            assert given.grad.isfinite().all()


def test_learning_through_the_calibrator_lowers_the_loss():
    torch.manual_seed(0)
    model = CalibratedModel(torch.nn.Linear(3, 1), fitted(*DECAY))
    x = torch.randn(200, 3)
    y, time = (x[:, 0] > 0).double(), torch.arange(200) % 9
    loss = torch.nn.BCEWithLogitsLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        losses.append(loss(model.decision_function(x, time=time).double(), y))
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < 0.7 * losses[0]
    assert {name.split(".")[0] for name, _ in model.named_parameters()} == {"model"}


def script(model, args):
    return torch.jit.script(to_torch(model))


def trace(model, args):
    return torch.jit.trace(to_torch(model), args)


def program(model, args):
    stored = io.BytesIO()
    torch.export.save(exported(model), stored)
    stored.seek(0)
    return torch.export.load(stored).module()


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")  # torch.jit is in use nevertheless
@pytest.mark.filterwarnings("ignore:.*:torch.jit.TracerWarning")
@pytest.mark.parametrize(("how", "seed"), by_turns([script, trace, program], SEEDS, every=3))
def test_what_torch_makes_of_it_gives_the_same(how, seed):
    model = random_model(seed)
    args = tensors(*rows_of(model, seed + 1))
    made, wanted = how(model, args), to_torch(model)(*args)
    for n in (60, 2, 1, 0):
        found = made(*(each[:n] for each in args))
        torch.testing.assert_close(found, wanted[:n], rtol=1e-13, atol=0.0)


def test_precision_is_that_of_the_logits_and_nothing_is_lost_inside():
    cal = fitted(*DECAY)
    z, time = torch.linspace(-8, 8, 50), 1.7e9 + torch.arange(50, dtype=torch.float64)
    module = CalibratedModel(torch.nn.Identity(), cal)
    whole = module(z.double(), time=time)
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        module = module.to(dtype)
        torch.testing.assert_close(module(z.double(), time=time), whole, rtol=0.0, atol=0.0)
        assert module(z.to(dtype), time=time).dtype == dtype
    assert module(torch.tensor([1, 2]), time=time[:2]).dtype == torch.float64


def test_numbers_are_buffers_that_another_module_takes_over():
    one, other = fitted(*DECAY).to_torch(), fitted(*DECAY).to_torch()
    z, time = torch.tensor([1.0, 2.0]), torch.tensor([0.0, 5.0])
    for buffer in other.buffers():
        buffer.zero_()
    assert not torch.equal(one(z, time), other(z, time))
    other.load_state_dict(one.state_dict())
    assert torch.equal(one(z, time), other(z, time))
    assert not list(one.parameters())


def test_leading_axes_stay():
    module = fitted(*DECAY).to_torch()
    z, time = torch.randn(4, 6, 1), torch.arange(6.0).expand(4, 6)
    found = module(z, time)
    assert found.shape == (4, 6, 2)
    torch.testing.assert_close(found[2], module(z[2], time[2]))
    torch.testing.assert_close(found[2], module(z[2, :, 0], time[2]))


@pytest.mark.parametrize(
    ("z", "time", "said"),
    [
        ((3, 2), (3,), "last axis of the logits must have length 1"),
        ((3, 1), None, "time is missing"),
        ((3, 1), (3, 1), "one value for each row"),
        ((3, 1), (4,), "one value for each row"),
        ((3, 1), (), "one value for each row"),
    ],
)
def test_shapes_that_do_not_go_together_are_refused(z, time, said):
    with pytest.raises(ValueError, match=said):
        fitted(*DECAY).to_torch()(torch.zeros(z), None if time is None else torch.zeros(time))


def test_time_that_is_not_asked_for_is_refused():
    z, y = simulate(2, 300)
    module = tc.TemperatureScaling().fit(z, y).to_torch()
    with pytest.raises(ValueError, match="leave time out"):
        module(torch.zeros(3), torch.zeros(3))


def test_a_model_whose_output_has_logits():
    class Head(torch.nn.Module):
        def forward(self, input_ids, attention_mask=None):
            return SimpleNamespace(logits=input_ids.sum(-1, keepdim=True) * 1.0)

    cal = fitted(*DECAY)
    ids, time = torch.tensor([[1, 2], [0, 1]]), torch.tensor([3, 8])
    found = CalibratedModel(Head(), cal)(input_ids=ids, time=time)
    np.testing.assert_allclose(found, cal.predict_proba([3.0, 1.0], time=[3, 8]), rtol=1e-6)
    same = [cal._predictor(), cal.to_torch(), cal]
    outputs = [CalibratedModel(Head(), each)(ids, time=time) for each in same]
    assert all(torch.equal(output, found) for output in outputs)
    with pytest.raises(InputError, match="must be a fitted one"):
        CalibratedModel(Head(), "model.json")


def test_a_program_in_a_file(tmp_path):
    cal = fitted(*DECAY)
    save_exported(cal._predictor(), str(tmp_path / "model.pt2"), "float32")
    module = torch.export.load(tmp_path / "model.pt2").module()
    time = torch.tensor([3.0, 8.0], dtype=torch.float64)
    found = module(torch.tensor([[1.0], [-2.0]]), time)
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found, cal.predict_proba([1.0, -2.0], time=time), rtol=1e-6)
    assert [each.name for each in tmp_path.iterdir()] == ["model.pt2"]


def test_classes_are_kept():
    z, y = simulate(2, 300)
    module = tc.TemperatureScaling().fit(z, np.array(["no", "yes"])[y]).to_torch()
    assert isinstance(module, TorchCalibrator)
    assert module.classes == ["no", "yes"]
    assert "classes: ['no', 'yes']" in repr(module)
