"""A property that is worked out once, and without a lock.

That of Python 3.11 has one lock for all objects of a class: threads that fit at the same time would
wait for each other, and a fork while one of them holds it would wait for ever.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as cached
else:

    class cached:  # noqa: N801 - it is used as a decorator
        """Keep what a method returns in its object."""

        def __init__(self, work: Any) -> None:
            self._work, self.__doc__ = work, work.__doc__

        def __set_name__(self, owner: Any, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            found = self._work(instance)
            # From now on it is found before this is.
            instance.__dict__[self._name] = found
            return found


__all__ = ["cached"]
