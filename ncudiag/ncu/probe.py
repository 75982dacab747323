"""A kernel of our own on the first GPU, for seeing whether ncu can count: ``python probe.py`` prints one JSON object.

It runs as a program of its own, alone and under ncu, so it imports nothing but the standard library: the driver's
library through ctypes, no CUDA toolkit, no compiler. The driver compiles the PTX for the GPU that it finds.
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

KERNEL = "ncudiag_probe"
PTX = f"""\
.version 6.0
.target sm_50
.address_size 64

.visible .entry {KERNEL}()
{{
    .reg .pred %p<2>;
    .reg .u64 %rd<4>;
    mov.u64 %rd1, %clock64;
$again:
    mov.u64 %rd2, %clock64;
    sub.u64 %rd3, %rd2, %rd1;
    setp.lt.u64 %p1, %rd3, 10000;
    @%p1 bra $again;
    ret;
}}
"""
"""Waits for ten thousand cycles. The oldest target that current drivers compile, so that every GPU can run it."""

_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
# Numbers of enum CUdevice_attribute in cuda.h.
_MULTIPROCESSORS, _MAJOR, _MINOR = 16, 75, 76
_NAME_BYTES = 256


class CudaError(Exception):
    """A call of the driver failed.

    Attributes:
        step: the function.
        error: the driver's name for the error, with its number.
    """

    def __init__(self, step: str, error: str) -> None:
        """Keep both."""
        super().__init__(f"{step}: {error}")
        self.step = step
        self.error = error


def load() -> Any:  # noqa: ANN401 - a library of C functions
    """The driver's library.

    Raises:
        OSError: it is not there.
    """
    return ctypes.CDLL(_LIBRARY)


def look(cuda: Any) -> dict[str, object]:  # noqa: ANN401 - as above
    """What the driver says about itself and its GPUs.

    Args:
        cuda: the driver's library.

    Returns:
        ``cuda`` (version) and ``gpus`` (name, compute_capability, sm_count of each).

    Raises:
        CudaError: a call failed.
    """
    _call(cuda, "cuInit", 0)
    version, count = ctypes.c_int(), ctypes.c_int()
    _call(cuda, "cuDriverGetVersion", ctypes.byref(version))
    _call(cuda, "cuDeviceGetCount", ctypes.byref(count))
    return {
        "cuda": f"{version.value // 1000}.{version.value % 1000 // 10}",
        "gpus": [_gpu(cuda, ordinal) for ordinal in range(count.value)],
    }


def _gpu(cuda: Any, ordinal: int) -> dict[str, object]:  # noqa: ANN401 - as above
    device = ctypes.c_int()
    _call(cuda, "cuDeviceGet", ctypes.byref(device), ordinal)
    name = ctypes.create_string_buffer(_NAME_BYTES)
    _call(cuda, "cuDeviceGetName", name, _NAME_BYTES, device)
    sms, major, minor = (_attribute(cuda, device, which) for which in (_MULTIPROCESSORS, _MAJOR, _MINOR))
    return {
        "name": name.value.decode("utf-8", "replace"),
        "compute_capability": f"{major}.{minor}",
        "sm_count": sms,
    }


def _attribute(cuda: Any, device: ctypes.c_int, which: int) -> int:  # noqa: ANN401 - as above
    value = ctypes.c_int()
    _call(cuda, "cuDeviceGetAttribute", ctypes.byref(value), which, device)
    return value.value


def launch(cuda: Any) -> None:  # noqa: ANN401 - as above
    """Run the kernel once on the first GPU, in the context that every CUDA program on it uses.

    Args:
        cuda: the driver's library, after :func:`look`.

    Raises:
        CudaError: a call failed.
    """
    device, context = ctypes.c_int(), ctypes.c_void_p()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    _call(cuda, "cuDeviceGet", ctypes.byref(device), 0)
    _call(cuda, "cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    _call(cuda, "cuCtxSetCurrent", context)
    _call(cuda, "cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(PTX.encode("ascii")))
    _call(cuda, "cuModuleGetFunction", ctypes.byref(function), module, ctypes.c_char_p(KERNEL.encode("ascii")))
    grid, block = (1, 1, 1), (32, 1, 1)
    shared_bytes, stream, parameters, extra = 0, None, None, None
    _call(cuda, "cuLaunchKernel", function, *grid, *block, shared_bytes, stream, parameters, extra)
    _call(cuda, "cuCtxSynchronize")


def _call(cuda: Any, step: str, *arguments: object) -> None:  # noqa: ANN401 - as above
    status = getattr(cuda, step)(*arguments)
    if status:
        raise CudaError(step, _error_name(cuda, status))


def _error_name(cuda: Any, status: int) -> str:  # noqa: ANN401 - as above
    name = ctypes.c_char_p()
    cuda.cuGetErrorName(status, ctypes.byref(name))
    return f"{(name.value or b'an unknown error').decode('ascii', 'replace')} ({status})"


def answer(loading: Callable[[], Any] = load) -> tuple[int, dict[str, object]]:
    """The exit status and the object to print; ``step`` and ``error`` say what failed.

    Args:
        loading: gives the driver's library.
    """
    said: dict[str, object] = {}
    try:
        cuda = loading()
        said |= look(cuda)
        launch(cuda)
    except OSError as error:
        return 1, {"step": "load", "error": str(error)}
    except CudaError as error:
        return 1, said | {"step": error.step, "error": error.error}
    return 0, said


if __name__ == "__main__":
    exit_status, said = answer()
    sys.stdout.write(json.dumps(said) + "\n")
    sys.exit(exit_status)
