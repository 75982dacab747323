"""Launch ids without an object for each: reports of hundreds of thousands of launches hold as many."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


class LaunchIds(Sequence[int]):
    """Ids in file order: used, compared, shown and written like a tuple of them, in a fifth of its memory."""

    __slots__ = ("_ids",)

    def __init__(self, ids: Iterable[int] = ()) -> None:
        """Copy the ids.

        Raises:
            OverflowError: one does not fit into 64 bits.
        """
        self._ids = array("q", ids)

    @overload
    def __getitem__(self, key: int) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> LaunchIds: ...
    def __getitem__(self, key: int | slice) -> int | LaunchIds:
        """One id, or several.

        Raises:
            IndexError: no such number.
        """
        return LaunchIds(self._ids[key]) if isinstance(key, slice) else self._ids[key]

    def __len__(self) -> int:
        """How many."""
        return len(self._ids)

    def __iter__(self) -> Iterator[int]:
        """One after another."""
        return iter(self._ids)

    def __eq__(self, other: object) -> bool:
        """Whether the other sequence has the same ids; a tuple's elements count."""
        if isinstance(other, LaunchIds):
            return self._ids == other._ids
        return tuple(self) == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        """As the tuple's."""
        return hash(tuple(self))

    def __repr__(self) -> str:
        """As the tuple's."""
        return repr(tuple(self))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401 - pydantic's own signature
        """Checked, written and described as a tuple of integers."""
        from pydantic_core import core_schema

        ids = handler.generate_schema(tuple[int, ...])
        return core_schema.no_info_after_validator_function(
            cls,
            ids,
            serialization=core_schema.plain_serializer_function_ser_schema(tuple, return_schema=ids),
        )
