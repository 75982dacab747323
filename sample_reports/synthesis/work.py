"""What one launch does, counted by hand from the kernel's source: the only input of a sample."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Dim3: TypeAlias = tuple[int, int, int]
WARP = 32
SECTOR_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class Access:
    """All loads or stores of one kind, summed over the grid.

    Attributes:
        space: where they go.
        op: load or store.
        requests: warp instructions.
        bits: width per thread.
        sectors: 32-byte sectors touched (global only); 4 per request is a coalesced 4-byte access.
        l1_hits: sectors that L1 answers (global loads only).
        wavefronts: cycles of the L1 data stage; None means one per 128 bytes, at least one per request.
        conflicts: shared memory: wavefronts beyond the ideal.
    """

    space: Literal["global", "shared"]
    op: Literal["ld", "st"]
    requests: int
    bits: int = 32
    sectors: int = 0
    l1_hits: int = 0
    wavefronts: int | None = None
    conflicts: int = 0

    @property
    def data_cycles(self) -> int:
        """Wavefronts in the L1 data stage."""
        if self.wavefronts is not None:
            return self.wavefronts
        return max(self.requests, -(-self.sectors // 4)) + self.conflicts

    @property
    def useful_bytes(self) -> int:
        """Bytes that the threads asked for (all 32 threads active)."""
        return self.requests * WARP * self.bits // 8


@dataclass(frozen=True, kw_only=True)
class Work:
    """One launch.

    Attributes:
        kernel: the name as ncu prints it.
        grid, block: launch shape.
        registers: per thread.
        static_shared, dynamic_shared: bytes per block.
        instructions: warp instructions by pipe, without the loads and stores.
        thread_ops: floating-point thread instructions by opcode (ffma, fadd, fmul, dfma, hfma, ...).
        accesses: the loads and stores.
        dram_read_bytes, dram_write_bytes: what must come from and go to DRAM.
        chain_cycles: the longest chain of dependent work of one block, from its start to its end.
        stalls: how waiting beyond issue divides among ncu's stall reasons (weights).
        active_threads: threads per executed warp instruction.
    """

    kernel: str
    grid: Dim3
    block: Dim3
    registers: int
    static_shared: int = 0
    dynamic_shared: int = 0
    instructions: Mapping[str, int]
    thread_ops: Mapping[str, int] = field(default_factory=dict)
    accesses: tuple[Access, ...] = ()
    dram_read_bytes: int = 0
    dram_write_bytes: int = 0
    chain_cycles: float
    stalls: Mapping[str, float]
    active_threads: float = 32.0

    @property
    def blocks(self) -> int:
        """Blocks in the grid."""
        x, y, z = self.grid
        return x * y * z

    @property
    def threads_per_block(self) -> int:
        """Threads in a block."""
        x, y, z = self.block
        return x * y * z

    @property
    def warps_per_block(self) -> int:
        """Warps in a block."""
        return -(-self.threads_per_block // WARP)

    @property
    def warps(self) -> int:
        """Warps in the grid."""
        return self.blocks * self.warps_per_block

    @property
    def memory_instructions(self) -> int:
        """Warp instructions that load or store."""
        return sum(access.requests for access in self.accesses)

    @property
    def warp_instructions(self) -> int:
        """All warp instructions."""
        return sum(self.instructions.values()) + self.memory_instructions

    def pipe(self, name: str) -> int:
        """Warp instructions of one pipe; loads and stores go to the load/store pipe."""
        return self.instructions.get(name, 0) + (self.memory_instructions if name == "lsu" else 0)

    def select(self, space: str, op: str) -> tuple[Access, ...]:
        """The accesses of one space and direction."""
        return tuple(access for access in self.accesses if access.space == space and access.op == op)

    @property
    def l2_read_sectors(self) -> int:
        """Sectors that L1 asks L2 for."""
        return sum(access.sectors - access.l1_hits for access in self.select("global", "ld"))

    @property
    def l2_write_sectors(self) -> int:
        """Sectors that L1 writes through to L2."""
        return sum(access.sectors for access in self.select("global", "st"))

    @property
    def dram_bytes(self) -> int:
        """Bytes to and from DRAM."""
        return self.dram_read_bytes + self.dram_write_bytes

    @property
    def flops(self) -> int:
        """Floating-point operations without tensor work; a fused multiply-add is two."""
        return sum(count * (2 if op.endswith("fma") else 1) for op, count in self.thread_ops.items())
