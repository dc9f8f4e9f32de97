"""How are the features of eight states multiplied by weights at the speed of memory? Vector registers, said outright.

Features come as blocks [D, LANES], coordinate by coordinate, eight states side by side, and are read strictly in order. The
compiler does not find this by itself: it cannot know that the results do not lie among the features.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

LANES = 8  # states side by side: a register of doubles
UNROLLED = 4  # coordinates at a time, each with sums of its own, so that none waits for another


def _multiply(channels: int) -> Any:
    """The intrinsic for one or two channels."""

    def multiply(typingctx, features, first, weights, row, out, place, dim, step):
        """out[place + i (+ step)] = sum_j features[first + j * LANES + i] * weights[row + j (+ dim)], i < LANES.

        Flat arrays; the second channel has its weights `dim` and its results `step` further on.
        """

        def codegen(context, builder, signature, args):
            def pointer(which: int, offset):
                array = make_array(signature.args[which])(context, builder, args[which])
                return builder.gep(array.data, [offset])

            def integer(which: int):
                return context.cast(builder, args[which], signature.args[which], types.intp)

            index = ir.IntType(context.get_value_type(types.intp).width)
            wide = ir.VectorType(ir.DoubleType(), LANES)
            narrow = ir.VectorType(context.get_data_type(features.dtype), LANES)
            start, rows = pointer(0, integer(1)), pointer(2, integer(3))
            size, further = integer(6), integer(7)
            zero = ir.Constant(wide, [0.0] * LANES)
            sums = [cgutils.alloca_once_value(builder, zero) for _ in range(channels * UNROLLED)]
            with cgutils.for_range(builder, builder.sdiv(size, ir.Constant(index, UNROLLED)), intp=index) as loop:
                for r in range(UNROLLED):
                    j = builder.add(builder.mul(loop.index, ir.Constant(index, UNROLLED)), ir.Constant(index, r))
                    at = builder.gep(start, [builder.mul(j, ir.Constant(index, LANES))])
                    block = builder.load(builder.bitcast(at, narrow.as_pointer()), align=features.dtype.bitwidth // 8)
                    values = builder.fpext(block, wide) if features.dtype == types.float32 else block
                    for c in range(channels):
                        weight = builder.load(builder.gep(rows, [builder.add(j, size) if c else j]))
                        kept = sums[c * UNROLLED + r]
                        product = builder.fmul(values, _all(builder, weight, wide), flags=("contract",))
                        builder.store(builder.fadd(builder.load(kept), product, flags=("contract",)), kept)
            for c in range(channels):
                parts = [builder.load(kept) for kept in sums[c * UNROLLED : (c + 1) * UNROLLED]]
                total = builder.fadd(builder.fadd(parts[0], parts[1]), builder.fadd(parts[2], parts[3]))
                to = integer(5) if c == 0 else builder.add(integer(5), further)
                builder.store(total, builder.bitcast(pointer(4, to), wide.as_pointer()), align=8)
            return context.get_dummy_value()

        return types.none(features, first, weights, row, out, place, dim, step), codegen

    return intrinsic(multiply)


def _all(builder, number, wide):
    """A register with the same number in every lane."""
    one = builder.insert_element(ir.Constant(wide, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), wide.count), [0] * wide.count)
    return builder.shuffle_vector(one, ir.Constant(wide, ir.Undefined), zeros)


multiply_one: Any = _multiply(1)
multiply_two: Any = _multiply(2)
