"""The roofline on paper: can a kernel ever be anything but memory-bound?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ncudiag.errors import UsageError
from ncudiag.roofline.estimate import Estimate, Roof, Variant
from ncudiag.roofline.gpus import DEFAULT_GPU, find_gpu
from ncudiag.roofline.kernels.registry import checked, kernel_model
from ncudiag.roofline.kernels.work import NO_PARAMETERS, KernelWork
from ncudiag.roofline.moves import Case, moves_of
from ncudiag.roofline.notes import notes_of
from ncudiag.roofline.precision import FACTS, PRECISION_NAMES, precision_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ncudiag.roofline.gpu import Gpu
    from ncudiag.roofline.kernels.work import KernelModel, Parameter


class Roofline:
    """The roofline of one GPU.

    >>> from ncudiag import Roofline
    >>> roofline = Roofline("H100")
    >>> stencil = roofline.estimate(flops=5, bytes=16, precision="fp32")
    >>> stencil.arithmetic_intensity, stencil.bound
    (0.3125, 'memory-bound')
    >>> roofline.kernel("gemm", precision="fp16", m=4096, n=4096, k=4096).bound
    'compute-bound'

    Attributes:
        gpu: the GPU's values.
        notes: what was assumed to choose it.
    """

    def __init__(self, gpu: str | Gpu = DEFAULT_GPU, *, notes: tuple[str, ...] = ()) -> None:
        """Choose a GPU.

        Args:
            gpu: a name (``H100``, ``RTX 4090``, ``NVIDIA A100-SXM4-40GB``), or values of your own.
            notes: what every estimate shall say first.

        Raises:
            UsageError: no GPU is called so, or several are (``usage``).
        """
        self.gpu: Gpu
        self.notes: tuple[str, ...] = notes
        if isinstance(gpu, str):
            self.gpu, assumed = find_gpu(gpu)
            self.notes = (*notes, *assumed)
        else:
            self.gpu = gpu

    def estimate(
        self,
        *,
        flops: float,
        bytes: float,  # noqa: A002 - the field's word, and the name of the answer's field
        precision: str = "fp32",
        element_bytes: float | None = None,
    ) -> Estimate:
        """Put plain numbers under the roofline.

        Args:
            flops: operations (a fused multiply-add is two), of the whole kernel or of one element.
            bytes: to and from DRAM, for the same.
            precision: a word such as ``fp32``, ``fp16``, ``fp64-tensor``.
            element_bytes: of one element in DRAM; by default that of the precision.

        Raises:
            UsageError: a negative or infinite number, no work at all, or a precision that the GPU lacks (``usage``).
        """
        for name, value in (("flops", flops), ("bytes", bytes)):
            if not math.isfinite(value) or value < 0:
                message = f"--{name} is a number from 0 on, not {value:g}"
                raise UsageError("usage", message, "Count operations and bytes of the whole kernel, or of one element.")
        if flops == 0 and bytes == 0:
            message = "no operations and no bytes: there is nothing to estimate"
            raise UsageError("usage", message, "Give --flops or --bytes above 0, or the name of a kernel.")
        work = KernelWork(float(flops), float(bytes), "")
        return self._answer(lambda _: work, precision, element_bytes)

    def kernel(
        self, name: str, *, precision: str | None = None, element_bytes: float | None = None, **parameters: Parameter
    ) -> Estimate:
        """Put a named kernel under the roofline.

        Args:
            name: ``saxpy``, ``gemm``, ``attention``, ...; :data:`ncudiag.roofline.kernels.registry.KERNELS` has all.
            precision: what it is computed in; FP32 (for ``daxpy`` FP64) unless given.
            element_bytes: of one element in DRAM; by default that of the precision.
            parameters: the kernel's own, as in ``m=4096, n=4096, k=4096, tile=32``.

        Raises:
            UsageError: no such kernel, precision or parameter, or a value that it cannot have (``usage``).
        """
        model = kernel_model(name)
        known = checked(model, parameters)
        return self._answer(
            lambda size: model.count(e=size, **known), precision or model.precision, element_bytes, model, known
        )

    def roofs(self, precisions: Iterable[str] | None = None) -> tuple[Roof, ...]:
        """The lines to draw: DRAM first, then one for each precision.

        Args:
            precisions: words; all that the GPU has unless given.
        """
        asked = None if precisions is None else [precision_named(word) for word in precisions]
        gpu = self.gpu
        peaks = (
            [(name, gpu.peaks[name]) for name in PRECISION_NAMES if name in gpu.peaks]
            if asked is None
            else [gpu.peak_for(name) for name in asked]
        )
        return (
            Roof(
                kind="memory",
                name="dram",
                label="DRAM bandwidth",
                value=gpu.dram_bandwidth_bytes_per_s,
                source=gpu.bandwidth_basis,
                doubtful="dram-bandwidth" in gpu.doubtful,
            ),
            *(
                Roof(
                    kind="compute",
                    name=name,
                    label=FACTS[name].label,
                    value=peak.flops_per_s,
                    source=peak.basis,
                    doubtful=peak.doubtful,
                )
                for name, peak in peaks
            ),
        )

    def _answer(
        self,
        count: Callable[[float], KernelWork],
        word: str,
        element_bytes: float | None,
        model: KernelModel | None = None,
        parameters: Mapping[str, Parameter] = NO_PARAMETERS,
    ) -> Estimate:
        asked = precision_named(word)
        precision, peak = self.gpu.peak_for(asked)
        size = FACTS[precision].element_bytes if element_bytes is None else element_bytes
        if not math.isfinite(size) or size <= 0:
            raise UsageError("usage", f"--element-bytes is a number above 0, not {size:g}", "FP32 has 4, FP16 has 2.")
        work = count(size)
        case = Case(self.gpu, precision, size, model, parameters, work)
        stands = case.standing()
        min_time_s = stands.min_time_s if work.per is None else None
        return Estimate(
            gpu=self.gpu.product,
            precision=precision,
            peak=FACTS[precision].label,
            peak_basis=peak.basis,
            doubtful=tuple(name for name in (precision, "dram-bandwidth") if name in self.gpu.doubtful),
            kernel=model.name if model is not None else None,
            parameters=dict(parameters),
            element_bytes=size,
            per=work.per,
            flops=work.flops,
            bytes=work.bytes,
            arithmetic_intensity=stands.arithmetic_intensity,
            ridge_point=peak.ridge_point,
            peak_flops_per_s=peak.flops_per_s,
            bandwidth_bytes_per_s=self.gpu.dram_bandwidth_bytes_per_s,
            attainable_flops_per_s=stands.attainable_flops_per_s,
            bound=stands.bound,
            min_time_s=min_time_s,
            bytes_at_ridge_point=work.flops / peak.ridge_point,
            formula=work.formula or None,
            moves=moves_of(case),
            variants=_variants(case),
            notes=(*self.notes, *notes_of(case, asked=asked, min_time_s=min_time_s)),
            gpu_source=self.gpu.source,
        )


def _variants(case: Case) -> tuple[Variant, ...]:
    """The same kernel, written in the other ways that it knows."""
    model = case.model
    if model is None or model.variant is None:
        return ()
    answers = []
    for word in model.variants:
        if word == case.parameters[model.variant]:
            continue
        work = model.count(e=case.element_bytes, **(dict(case.parameters) | {model.variant: word}))
        stands = case.standing(work)
        answers.append(
            Variant(
                name=word if model.variant == "variant" else f"{model.variant} {word}",
                flops=work.flops,
                bytes=work.bytes,
                arithmetic_intensity=stands.arithmetic_intensity,
                attainable_flops_per_s=stands.attainable_flops_per_s,
                bound=stands.bound,
                min_time_s=stands.min_time_s if work.per is None else None,
            )
        )
    return tuple(answers)
