"""Calibrators and curves by their names on the command line, and what to fit given some of them."""

import re
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import Any

import click

from tempocal.cli.options import ColumnOptions, Command
from tempocal.registry import public_names

# What names on the command line leave out: TemperatureScaling is "temperature".
_SUFFIXES = ("Scaling", "Calibration", "Binning", "Ensemble", "Decay")
# Public names that are no calibrator, and a curve that needs settings.
_OTHERS = ("Summary", "Surface")


def _short_names(package: str) -> dict[str, str]:
    """Return the short name of each public class of a package, which is not imported for it."""
    return {_short(name): name for name in public_names(package) if name not in _OTHERS}


def _short(name: str) -> str:
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


CALIBRATORS = _short_names("calibrators")
CURVES = _short_names("curves")
PER_STEP = "per-step"
_COMPARED = ("constant", "exponential", "spline", "random-walk")


def candidates(
    calibrators: tuple[str, ...],
    curves: tuple[Any, ...],
    n_classes: int,
    bins: int | None = None,
) -> Any:
    """Return what Auto is to compare: all pairs of what was named; None for its own list."""
    require_steps(bins, calibrators, curves)
    if not calibrators and not curves:
        return None
    second = "platt" if n_classes == 2 else "vector"
    return [
        (make(CALIBRATORS, name), make_curve(curve, bins))
        for name in calibrators or ("temperature", second, "beta")
        for curve in curves or _curves_for(name)
    ]


def curves_of(names: tuple[str, ...], clocks: int, bins: int | None) -> tuple[Any, ...]:
    """Return the curves that were named: for two clocks one surface, with a curve for each."""
    if clocks < 2:
        if len(names) > 1:
            raise click.UsageError(
                f"--curve names {len(names)} curves, and there is one clock: name one, or compare "
                "several with `tempocal compare`"
            )
        return names
    if len(names) > 2:
        raise click.UsageError(f"--curve names {len(names)} curves, and there are two clocks")
    import tempocal as tc

    first, second = (names * 2)[:2] or ("spline", "spline")
    require_steps(bins, (), (first, second))
    return (tc.Surface(make_curve(first, bins), make_curve(second, bins)),)


def single(
    calibrator: str | None,
    curve: Any,
    settings: dict[str, Any],
    td_horizon: Any = None,
    bins: int | None = None,
) -> Any:
    """Return the one calibrator along time that was named, or None if that leaves a choice."""
    if calibrator is not None and curve is None and not _has_parameters(calibrator):
        curve = PER_STEP
    if calibrator is None or curve is None:
        return None
    require_steps(bins, (calibrator,), (curve,))
    import tempocal as tc

    horizon = {} if td_horizon is None else {"td_horizon": td_horizon}
    named = make(CALIBRATORS, calibrator, settings), make_curve(curve, bins)
    return tc.TemporalCalibrator(*named, **horizon)


def require_steps(bins: int | None, calibrators: tuple[str, ...], curves: tuple[Any, ...]) -> None:
    """Refuse bins where no candidate goes in steps."""
    if not all(isinstance(curve, str) for curve in curves):
        return  # a surface: its curves have been asked
    has_steps = PER_STEP in curves or not (curves or all(map(_has_parameters, calibrators)))
    if bins is not None and not has_steps:
        raise click.UsageError(f"--bins {bins} cuts steps into stretches: say --curve {PER_STEP}")


def make_curve(name: Any, bins: int | None) -> Any:
    """Return the curve of a name; steps may be cut into bins."""
    return make(CURVES, name, {"bins": bins} if name == PER_STEP and bins is not None else {})


def make(kinds: dict[str, str], name: Any, settings: dict[str, Any] | None = None) -> Any:
    """Return the calibrator or curve of a name; a curve that is made already is returned."""
    if not isinstance(name, str):
        return name
    import tempocal as tc

    return getattr(tc, kinds[name])(**settings or {})


def _curves_for(calibrator: str) -> tuple[str, ...]:
    return _COMPARED if _has_parameters(calibrator) else (PER_STEP,)


def _has_parameters(calibrator: str) -> bool:
    """Tell whether a calibrator has parameters that can follow a curve of time."""
    import tempocal as tc
    from tempocal.calibrators.parametric import ParametricCalibrator

    return issubclass(getattr(tc, CALIBRATORS[calibrator]), ParametricCalibrator | tc.Identity)


def calibrator_option(*, multiple: bool = False) -> Callable[[Command], Command]:
    """Return the option that names a calibrator, or some."""
    return click.option(
        "--calibrator",
        type=click.Choice(list(CALIBRATORS)),
        metavar="NAME",
        multiple=multiple,
        help=f"What is fitted: {_words(CALIBRATORS)}.",
    )


class _ChoiceOfSome(click.Choice[str]):
    """Names with commas between them."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return each of the names."""
        return tuple(
            super(_ChoiceOfSome, self).convert(one.strip(), param, ctx) for one in value.split(",")
        )


def _join(context: Any, option: Any, given: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(name for names in given for name in names)


def curve_option(command: Command) -> Command:
    """Add the option that names curves."""
    return click.option(
        "--curve",
        type=_ChoiceOfSome(list(CURVES)),
        metavar="NAME",
        multiple=True,
        callback=_join,
        help=f"How the calibrator changes along time: {_words(CURVES)}; several comma separated or "
        "repeated.",
    )(command)


def _read_horizon(
    context: click.Context, option: click.Parameter, text: str | None
) -> float | str | None:
    """Return "auto", infinity or the share of a sequence."""
    if text is None or text == "auto":
        return text
    with suppress(ValueError):
        if text == "inf" or 0.0 < float(text) < inf:
            return float(text)
    raise click.BadParameter(
        f'{text!r} is neither "auto" nor "inf" nor a share of a sequence above 0, such as 0.1.',
        context,
        option,
    )


def td_horizon_option(command: Command) -> Command:
    """Add the option for how far ahead rows learn from forecasts."""
    return click.option(
        "--td-horizon",
        metavar="[auto|inf|NUMBER]",
        callback=_read_horizon,
        help="How far ahead rows learn from the forecasts that follow them in their sequence, as a "
        "share of a typical one: 0.1, say. inf: from outcomes only; auto: chosen by the fit. "
        "Default: auto with --sequence, if the time or --order puts its rows in order; else inf.",
    )(command)


def learns_from_forecasts(options: ColumnOptions, td_horizon: float | str | None) -> bool | None:
    """Whether rows learn from the forecasts that follow them; None stands for: if they can.

    Refuses a horizon where none are known to follow.
    """
    if td_horizon == inf:
        return False
    missing = [name for name in ("time", "sequence") if getattr(options, name) is None]
    if td_horizon is None:
        return False if missing else None
    for name in missing:
        raise click.UsageError(
            f"--td-horizon {td_horizon} needs a {name}: name its column with --{name}"
        )
    return True


def bins_option(command: Command) -> Command:
    """Add the option for the stretches that steps are cut into."""
    return click.option(
        "--bins",
        type=click.IntRange(min=1),
        metavar="N",
        help="With the curve per-step: cut time into N stretches of about as many rows each, "
        "instead of its steps.",
    )(command)


def combine_option(command: Command) -> Command:
    """Add the option for what becomes of the candidates that are compared."""
    return click.option(
        "--combine",
        type=click.Choice(["average", "choose"]),
        default="average",
        show_default=True,
        help="Average the candidates, weighted by their losses on sequences left out, or choose "
        "one of them.",
    )(command)


def _words(kinds: dict[str, str]) -> str:
    *others, last = kinds
    return f"{', '.join(others)} or {last}"
