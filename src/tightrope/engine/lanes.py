"""How are rows of numbers multiplied by weights at the speed of memory? Vector registers, said outright.

One loop serves both products of an update: features of states side by side with weights, and next-state sums with values. It
reads strictly in order and keeps its sums in registers until the end. The compiler does not find this by itself: it cannot
know that the results do not lie among the numbers read.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

REGISTER = 64  # bytes
AHEAD = 2048  # bytes: how far ahead of the sums memory is asked for, so that it answers while they are made
MANY = 4  # registers side by side: with two channels, as many sums as it takes that none waits for another


def _multiply(channels: int, registers: int, register: int = REGISTER) -> Any:
    """The intrinsic for one or two channels and so many registers side by side, of so many bytes each."""

    def multiply(typingctx, numbers, first, stride, weights, row, further, out, place, step, size):
        """out[place + i (+ step)] = sum_j numbers[first + j * stride + i] * weights[row + j (+ further)], j < size.

        Flat arrays of one kind of number, i over all lanes of the registers; what is in brackets is for the second channel.
        """
        kind = numbers.dtype
        if weights.dtype != kind or out.dtype != kind:
            raise TypeError(f"one kind of number, not {kind}, {weights.dtype} and {out.dtype}")
        lanes = 8 * register // kind.bitwidth

        def codegen(context, builder, signature, args):
            def integer(which: int):
                return context.cast(builder, args[which], signature.args[which], types.intp)

            def pointer(which: int, offset):
                array = make_array(signature.args[which])(context, builder, args[which])
                return builder.gep(array.data, [offset])

            def further_on(start, by):
                return [start, builder.gep(start, [by])][:channels]

            index = ir.IntType(context.get_value_type(types.intp).width)
            wide = ir.VectorType(context.get_data_type(kind), lanes)
            zero, align = ir.Constant(wide, [0.0] * lanes), kind.bitwidth // 8
            start, stride_ = pointer(0, integer(1)), integer(2)
            rows = further_on(pointer(3, integer(4)), integer(5))
            places = further_on(pointer(6, integer(7)), integer(8))
            sums = [[cgutils.alloca_once_value(builder, zero) for _ in range(registers)] for _ in rows]
            with cgutils.for_range(builder, integer(9), intp=index) as loop:
                here = builder.gep(start, [builder.mul(loop.index, stride_)])
                blocks = [_load(builder, here, r * lanes, wide, align) for r in range(registers)]
                for r in range(registers):
                    _ask_for(builder, here, AHEAD + r * REGISTER)
                for weight_row, kept in zip(rows, sums):
                    weight = _all(builder, builder.load(builder.gep(weight_row, [loop.index])), wide)
                    for block, total in zip(blocks, kept):
                        product = builder.fmul(block, weight, flags=("contract",))
                        builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
            for to, kept in zip(places, sums):
                for r, total in enumerate(kept):
                    at = builder.gep(to, [ir.Constant(index, r * lanes)])
                    builder.store(builder.load(total), builder.bitcast(at, wide.as_pointer()), align=align)
            return context.get_dummy_value()

        given = (numbers, first, stride, weights, row, further, out, place, step, size)
        return types.none(*given), codegen

    return intrinsic(multiply)


def _load(builder, start, offset: int, wide, align: int):
    """The register of numbers that begins so many behind a place."""
    at = builder.gep(start, [ir.Constant(ir.IntType(64), offset)])
    return builder.load(builder.bitcast(at, wide.as_pointer()), align=align)


def _ask_for(builder, start, offset: int) -> None:
    """Ask for the line of memory so many bytes behind a place, which need not be ours: nothing is read."""
    small, byte = ir.IntType(32), ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, small, small, small])
    ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    at = builder.gep(builder.bitcast(start, byte), [ir.Constant(ir.IntType(64), offset)])
    to_read, keep, data = (ir.Constant(small, number) for number in (0, 3, 1))
    builder.call(ask, [at, to_read, keep, data])


def _all(builder, number, wide):
    """A register with the same number in every lane."""
    one = builder.insert_element(ir.Constant(wide, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), wide.count), [0] * wide.count)
    return builder.shuffle_vector(one, ir.Constant(wide, ir.Undefined), zeros)


multiply_one: Any = _multiply(1, MANY)
multiply_two: Any = _multiply(2, MANY)
narrow_one: Any = _multiply(1, 1)
narrow_two: Any = _multiply(2, 1)
half_one: Any = _multiply(1, 1, REGISTER // 2)
half_two: Any = _multiply(2, 1, REGISTER // 2)
