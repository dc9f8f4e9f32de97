"""Where is a table that grows? In blocks of memory that stay where they are, known to the kernels by their addresses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

ALIGNMENT = 64  # bytes: a vector register, a line of the cache
FEW = 16  # tiles that are taken one by one
SLAB = 64_000_000  # bytes
LARGE_PAGE = 2 << 20  # bytes


def _array_at(typingctx, address, like, shape):
    """The contiguous array of `like`'s kind of number and of this shape that begins at an address.

    (`numba.carray` does the same, but asks for the counting of references, which the kernels go without.)
    """
    kind = types.Array(like.dtype, len(shape), "C")
    sizes = types.UniTuple(types.intp, len(shape))

    def codegen(context, builder, signature, args):
        array = make_array(kind)(context, builder)
        itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        lengths = cgutils.unpack_tuple(builder, context.cast(builder, args[2], signature.args[2], sizes), len(shape))
        strides = [itemsize]
        for length in reversed(lengths[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        data = builder.inttoptr(args[0], array.data.type)
        populate_array(array, data=data, shape=lengths, strides=strides, itemsize=itemsize, meminfo=None)
        return array._getvalue()

    return kind(types.uint64, like, shape), codegen


array_at: Any = intrinsic(_array_at)


class Tiles:
    """Memory in tiles of one size, taken from the system in slabs and never moved.

    After a few tiles the slabs are large: reading through large pages is faster, NumPy asks for them only for arrays of 4 MB
    and more, and what nobody has written to costs no memory.
    """

    def __init__(self, tile_bytes: int):
        self.tile_bytes = tile_bytes
        self.taken = self.room = 0
        self._slab, self._next = np.zeros((0, tile_bytes), np.uint8), 0

    def take(self) -> np.ndarray:
        """A tile of zeros, as bytes."""
        if self._next == len(self._slab):
            tiles = 1 if self.taken < FEW else max(1, SLAB // self.tile_bytes)
            self._slab, self._next = _aligned_zeros(tiles, self.tile_bytes), 0
            self.room += tiles
        self.taken += 1
        self._next += 1
        return self._slab[self._next - 1]

    @property
    def bytes(self) -> int:
        """What the system has given: the tiles taken, and the rest of a large page."""
        return min(self.taken * self.tile_bytes + LARGE_PAGE, self.room * self.tile_bytes)


def _aligned_zeros(rows: int, row_bytes: int) -> np.ndarray:
    """Bytes that begin at a line of the cache; pages are taken from the system only when written to."""
    raw = np.zeros(rows * row_bytes + ALIGNMENT, np.uint8)
    first = -raw.ctypes.data % ALIGNMENT
    return raw[first : first + rows * row_bytes].reshape(rows, row_bytes)
