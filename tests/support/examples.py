"""How many examples a law is tried with."""

from hypothesis import HealthCheck, settings


def examples(count: int, *, without: tuple[HealthCheck, ...] = ()) -> settings:
    """Ask for so many of a hundred examples, of which a profile has its share; skip some checks.

    The profiles are in `tests/conftest.py`.
    """
    profile = settings()
    return settings(
        max_examples=count * profile.max_examples // 100,
        suppress_health_check=[*profile.suppress_health_check, *without],
    )
