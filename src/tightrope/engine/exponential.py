"""How does a loop over exponentials run in vector registers? An `exp` without branches or calls.

`x = k ln 2 + r`, `|r| <= ln(2)/2`; `exp(r)` by its Taylor polynomial, `2^k` by putting `k` into the exponent bits. Doubles:
degree 13 (remainder below 2^-53), arguments below -708 give at most 3e-308, above 709 at most 8e307. Single numbers: degree 7
(below 2^-27), arguments below -87 give at most 2e-38, above 88 at most 2e38.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from tightrope.engine.jit import OPTIONS, compiled

_LOG2E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01  # the first 32 bits of ln 2, so that k * _LN2_HIGH is exact
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding and subtracting it rounds to the nearest integer

_LOG2E_SINGLE = np.float32(_LOG2E)
_LN2_HIGH_SINGLE = np.float32(0.693359375)  # 9 bits, for the same reason
_LN2_LOW_SINGLE = np.float32(-2.1219444005469058e-4)
_ROUND_SINGLE = np.float32(12582912.0)  # 1.5 * 2^23
_LEAST_SINGLE, _MOST_SINGLE = np.float32(-87.0), np.float32(88.0)
_ONE_SINGLE, _HALF_SINGLE = np.float32(1.0), np.float32(0.5)
_P7, _P6, _P5 = np.float32(1.0 / 5040.0), np.float32(1.0 / 720.0), np.float32(1.0 / 120.0)
_P4, _P3 = np.float32(1.0 / 24.0), np.float32(1.0 / 6.0)


@intrinsic
def _bits_as_float(typingctx, bits):  # pyright: ignore[reportUnusedParameter]
    """Read the bits of an integer as the floating number of its size."""
    single = bits == types.int32

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.FloatType() if single else ir.DoubleType())

    return (types.float32(types.int32) if single else types.float64(types.int64)), codegen


@compiled(fastmath={"contract"})
def _exp_double(x):
    """Accurate to 2 units in the last place; nothing is reordered, because the rounding trick needs its order."""
    x = min(max(x, -708.0), 709.0)
    k = (x * _LOG2E + _ROUND) - _ROUND
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 1.984126984126984e-04
    p = p * r + 1.388888888888889e-03
    p = p * r + 8.333333333333333e-03
    p = p * r + 4.1666666666666664e-02
    p = p * r + 1.6666666666666666e-01
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * _bits_as_float((int(k) + 1023) << 52)  # pyright: ignore[reportCallIssue]


@compiled(inner=True, fastmath={"contract"})
def _exp_single(x):
    """The same for single numbers, in half the room: every operation stays among them."""
    x = min(max(x, _LEAST_SINGLE), _MOST_SINGLE)
    k = (x * _LOG2E_SINGLE + _ROUND_SINGLE) - _ROUND_SINGLE
    r = (x - k * _LN2_HIGH_SINGLE) - k * _LN2_LOW_SINGLE
    p = _P7 * r + _P6
    p = p * r + _P5
    p = p * r + _P4
    p = p * r + _P3
    p = p * r + _HALF_SINGLE
    p = p * r + _ONE_SINGLE
    p = p * r + _ONE_SINGLE
    bits = np.int32((np.int32(k) + np.int32(127)) << np.int32(23))
    return p * _bits_as_float(bits)  # pyright: ignore[reportCallIssue]


def exp(x) -> Any:
    """exp(x), in x's own kind of number; for kernels."""


@overload(exp, jit_options=OPTIONS)
def _exp(x):
    kernel = _exp_single if x == types.float32 else _exp_double
    return lambda x: kernel(x)


@compiled
def exp_into(x, out, n):
    """out[:n] = exp(x[:n]); x and out may be the same array."""
    for i in range(n):
        out[i] = exp(x[i])
