"""How does a loop over exponentials run in vector registers? An `exp` without branches or calls.

`x = k ln 2 + r`, `|r| <= ln(2)/2`; `exp(r)` by its Taylor polynomial of degree 13 (remainder below 2^-53), `2^k` by putting
`k` into the exponent bits. Arguments below -708 give at most 3e-308, above 709 at most 8e307.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from tightrope.engine.jit import compiled

_LOG2E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01  # the first 32 bits of ln 2, so that k * _LN2_HIGH is exact
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding and subtracting it rounds to the nearest integer


@intrinsic
def _bits_as_float(typingctx, bits):  # pyright: ignore[reportUnusedParameter]
    """Read the 64 bits of an integer as a float."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@compiled(fastmath={"contract"})
def exp(x):
    """exp(x), accurate to 2 units in the last place; nothing is reordered, because the rounding trick needs its order."""
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


@compiled(fastmath={"contract"})
def exp_into(x, out, n):
    """out[:n] = exp(x[:n]); x and out may be the same array."""
    for i in range(n):
        out[i] = exp(x[i])
