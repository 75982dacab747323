"""What is changed: the mutation operators, and every place of a file where one of them applies.

The operators are those of cosmic-ray; what it lacks stands here as operators of the same kind. Texts are not mutated:
a test that pins the wording of a sentence says little, and the golden reports of sample_reports/ pin them anyway.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

import parso
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import MutationVisitor
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator
from parso.python.tree import Keyword

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from parso.tree import NodeOrLeaf

    Position = tuple[tuple[int, int], tuple[int, int]]

_COMPARISONS = "Lt_LtE Lt_GtE LtE_Lt LtE_Gt Gt_GtE Gt_LtE GtE_Gt GtE_Lt Eq_NotEq NotEq_Eq Is_IsNot IsNot_Is"
_ARITHMETIC = "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Mul Mod_Mul Pow_Mul BitOr_BitAnd BitAnd_BitOr BitXor_BitOr"
_OTHERS = (
    "AddNot ReplaceTrueWithFalse ReplaceFalseWithTrue ReplaceAndWithOr ReplaceOrWithAnd ReplaceBreakWithContinue "
    "ReplaceContinueWithBreak NumberReplacer ZeroIterationForLoop"
)
_UNARY = "USub_UAdd Delete_Not"
# Where a `|` says a type, not a union of sets.
_ANNOTATIONS = {"annassign", "tfpdef", "funcdef"}
_STATEMENTS = {"simple_stmt", "suite", "file_input"}


class _Membership(Operator):  # type: ignore[misc] # cosmic-ray has no types
    """`in` and `not in` change places."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Position]:
        if node.type == "comparison" and self._operator(node) is not None:
            yield (node.start_pos, node.end_pos)

    def mutate(self, node: NodeOrLeaf, _index: int) -> NodeOrLeaf:
        at = self._operator(node)
        child = node.children[at]
        word = "in" if child.type == "comp_op" else "not in"
        node.children[at] = Keyword(word, child.start_pos, child.get_first_leaf().prefix)
        return node

    @staticmethod
    def _operator(node: NodeOrLeaf) -> int | None:
        return next((at for at, child in enumerate(node.children) if child.get_code().split() in _IN), None)

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()


_IN = (["in"], ["not", "in"])


class _Filter(Operator):  # type: ignore[misc] # cosmic-ray has no types
    """The condition of a comprehension is negated."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Position]:
        if node.type == "comp_if":
            yield (node.start_pos, node.end_pos)

    def mutate(self, node: NodeOrLeaf, _index: int) -> NodeOrLeaf:
        node.children[1] = parso.parse(f" (not ({node.children[1].get_code().strip()}))")
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()


class _Call(Operator):  # type: ignore[misc] # cosmic-ray has no types
    """A call that is made for its effect is left out."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Position]:
        if node.type == "simple_stmt" and node.children[0].type in {"atom_expr", "await"}:
            yield (node.start_pos, node.children[0].end_pos)

    def mutate(self, node: NodeOrLeaf, _index: int) -> NodeOrLeaf:
        call = node.children[0]
        lines = call.end_pos[0] - call.start_pos[0]
        # As many lines as before: a function is found again by the line that it starts on.
        node.children[0] = parso.parse(call.get_first_leaf().prefix + "(..." + "\n" * lines + ")")
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()


def _operators() -> dict[str, Operator]:
    names = [f"ReplaceComparisonOperator_{pair}" for pair in _COMPARISONS.split()]
    names += [f"ReplaceBinaryOperator_{pair}" for pair in _ARITHMETIC.split()]
    names += [f"ReplaceUnaryOperator_{pair}" for pair in _UNARY.split()]
    names += _OTHERS.split()
    cosmic = {name: get_operator(f"core/{name}")() for name in names}
    return {**cosmic, "Membership": _Membership(), "Filter": _Filter(), "Call": _Call()}


OPERATORS = _operators()


SEED = 1


@dataclass(frozen=True)
class Mutant:
    """One change of one file; `before` and `after` are the changed lines without their indentation."""

    module: str
    function: str
    operator: str
    occurrence: int
    first_line: int
    last_line: int
    before: str
    after: str
    source: str = field(repr=False)

    @property
    def key(self) -> str:
        """What stays the same when lines above are added or removed."""
        return f"{self.module} {self.function}: {self.before}  ->  {self.after}"


def mutants_of(path: Path, module: str, *, share: float) -> list[Mutant]:
    """Mutants of a file in the order of its lines, or the same random part of them every time."""
    source = path.read_text(encoding="utf-8")
    nodes = list(ast_nodes(get_ast(source)))
    places = [
        (name, occurrence, node, start[0], end[0])
        for name, operator in OPERATORS.items()
        for occurrence, (node, (start, end)) in enumerate(_places(operator, nodes))
        if not _says_nothing(node)
    ]
    if share < 1:
        places = random.Random(f"{SEED} {module}").sample(places, round(len(places) * share))  # noqa: S311 # no secret
    found = {}
    for name, occurrence, node, first, last in places:
        changed = _mutated(source, name, occurrence)
        before, after = _changed_lines(source, changed)
        mutant = Mutant(module, _function(node), name, occurrence, first, last, before, after, changed)
        found.setdefault((first, after), mutant)  # two operators may say the same
    return sorted(found.values(), key=lambda mutant: (mutant.first_line, mutant.operator, mutant.occurrence))


def _places(operator: Operator, nodes: list[NodeOrLeaf]) -> Iterator[tuple[NodeOrLeaf, Position]]:
    return ((node, place) for node in nodes for place in operator.mutation_positions(node))


def _mutated(source: str, operator: str, occurrence: int) -> str:
    """The file with one change."""
    changed = MutationVisitor.mutate_code(source, OPERATORS[operator], occurrence)
    if changed is None:
        raise LookupError(operator, occurrence)
    return changed


def _says_nothing(node: NodeOrLeaf) -> bool:
    """Whether a place is no behaviour: types, `if TYPE_CHECKING:`, how a class is made, `*` and `/` of parameters."""
    above = list(takewhile(lambda parent: parent.type not in _STATEMENTS, _parents(node)))
    kinds = {parent.type for parent in above}
    text = getattr(node, "value", None)
    return (
        "decorator" in kinds
        or (text == "|" and not kinds.isdisjoint(_ANNOTATIONS))
        or (text in {"*", "/"} and node.parent.type == "parameters")
        or (node.type == "if_stmt" and node.children[1].get_code().strip() == "TYPE_CHECKING")
    )


def _parents(node: NodeOrLeaf) -> Iterator[NodeOrLeaf]:
    while node.parent is not None:
        node = node.parent
        yield node


def _function(node: NodeOrLeaf) -> str:
    names = [parent.name.value for parent in _parents(node) if parent.type in {"funcdef", "classdef"}]
    return ".".join(reversed(names)) or "(module)"


def _changed_lines(source: str, changed: str) -> tuple[str, str]:
    old, new = source.splitlines(), changed.splitlines()
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    old, new = old[same:], new[same:]
    while old and new and old[-1] == new[-1]:
        old.pop()
        new.pop()
    return tuple(" ".join(line.strip() for line in lines if line.strip()) for lines in (old, new))
