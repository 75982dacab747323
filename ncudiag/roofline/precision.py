"""The words for precisions: which peak each one means, how large an element is, what is narrower."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from ncudiag.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

PrecisionName: TypeAlias = Literal[
    "fp64",
    "fp64-tensor",
    "fp32",
    "tf32",
    "fp16",
    "fp16-fp16acc",
    "fp16-vector",
    "bf16",
    "fp8",
    "int8",
    "int4",
    "fp4",
]

PRECISION_NAMES: tuple[PrecisionName, ...] = get_args(PrecisionName)
"""All precisions, from wide to narrow."""


class PrecisionFacts(NamedTuple):
    """What a precision means.

    Attributes:
        label: which peak it stands for, in words.
        element_bytes: bytes of one element in DRAM (TF32 operands are stored as FP32).
        units: tensor cores (their dense peak) or vector units.
        operation: FLOP, or OP for integers.
        faster: precisions that tensor cores or vector units may run faster, the nearest first.
    """

    label: str
    element_bytes: float
    units: Literal["tensor", "vector"]
    operation: Literal["FLOP", "OP"]
    faster: tuple[PrecisionName, ...]


# Sizes: IEEE 754 binary64, binary32, binary16; bfloat16; OCP FP8 and FP4 (their scale factors are not counted).
FACTS: Mapping[PrecisionName, PrecisionFacts] = MappingProxyType(
    {
        "fp64": PrecisionFacts("FP64 vector", 8, "vector", "FLOP", ("fp64-tensor", "fp32")),
        "fp64-tensor": PrecisionFacts("FP64 tensor", 8, "tensor", "FLOP", ("tf32",)),
        "fp32": PrecisionFacts("FP32 vector", 4, "vector", "FLOP", ("tf32", "fp16")),
        "tf32": PrecisionFacts("TF32 tensor, FP32 accumulation", 4, "tensor", "FLOP", ("bf16", "fp16")),
        "fp16": PrecisionFacts("FP16 tensor, FP32 accumulation", 2, "tensor", "FLOP", ("fp8",)),
        "fp16-fp16acc": PrecisionFacts("FP16 tensor, FP16 accumulation", 2, "tensor", "FLOP", ("fp8",)),
        "fp16-vector": PrecisionFacts("FP16 vector", 2, "vector", "FLOP", ("fp16",)),
        "bf16": PrecisionFacts("BF16 tensor, FP32 accumulation", 2, "tensor", "FLOP", ("fp8",)),
        "fp8": PrecisionFacts("FP8 tensor, FP32 accumulation", 1, "tensor", "FLOP", ("fp4",)),
        "int8": PrecisionFacts("INT8 tensor, INT32 accumulation", 1, "tensor", "OP", ("int4",)),
        "int4": PrecisionFacts("INT4 tensor, INT32 accumulation", 0.5, "tensor", "OP", ()),
        "fp4": PrecisionFacts("FP4 tensor, FP32 accumulation", 0.5, "tensor", "FLOP", ()),
    }
)

_OTHER_WORDS: Mapping[str, PrecisionName] = MappingProxyType(
    {
        "double": "fp64",
        "float64": "fp64",
        "fp64-vector": "fp64",
        "single": "fp32",
        "float": "fp32",
        "float32": "fp32",
        "fp32-vector": "fp32",
        "tf32-tensor": "tf32",
        "half": "fp16",
        "float16": "fp16",
        "fp16-tensor": "fp16",
        "fp16-fp32acc": "fp16",
        "bfloat16": "bf16",
        "bf16-tensor": "bf16",
        "fp8-tensor": "fp8",
        "int8-tensor": "int8",
        "int4-tensor": "int4",
        "fp4-tensor": "fp4",
        "nvfp4": "fp4",
        "mxfp4": "fp4",
    }
)


def precision_named(word: str) -> PrecisionName:
    """The precision that a word means.

    ``fp16``, ``bf16``, ``fp8`` and ``int8`` without more are the dense tensor peak with FP32 (INT32) accumulation;
    ``fp64`` and ``fp32`` are the vector peak.

    Raises:
        UsageError: no such precision (``usage``); the hint lists all of them.
    """
    asked = word.strip().lower().replace("_", "-")
    for name in PRECISION_NAMES:
        if name == asked:
            return name
    if asked in _OTHER_WORDS:
        return _OTHER_WORDS[asked]
    raise UsageError(
        "usage",
        f"there is no precision {word!r}",
        f"Precisions: {', '.join(PRECISION_NAMES)}.",
        details={"given": word},
    )
