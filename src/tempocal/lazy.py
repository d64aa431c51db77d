"""A cached property without a lock.

``functools.cached_property`` of Python 3.11 has one lock for all objects of a class: threads that
fit at the same time would wait for each other, and a fork while one holds it would deadlock.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as cached
else:

    class cached:  # noqa: N801 - used as a decorator
        """Store the result of a method in its object."""

        def __init__(self, work: Any) -> None:
            self._work, self.__doc__ = work, work.__doc__

        def __set_name__(self, owner: Any, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            result = self._work(instance)
            # This is a non-data descriptor: from now on the instance attribute takes precedence.
            instance.__dict__[self._name] = result
            return result


__all__ = ["cached"]
