"""How many examples a law is tried with."""

from hypothesis import HealthCheck, settings


def examples(count: int, *, without: tuple[HealthCheck, ...] = ()) -> settings:
    """Ask for so many examples where the profile asks for a hundred, without some health checks.

    The profiles are in `tests/conftest.py`.
    """
    profile = settings()
    return settings(
        max_examples=count * profile.max_examples // 100,
        suppress_health_check=[*profile.suppress_health_check, *without],
    )
