"""Which kind of features? One name for each operation; the kernel for it is chosen by the type of the world, when compiling.

So the episode is written once, and each kind of features says only what it does differently.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import overload

from tightrope.engine import axis, clipped, dense, dense_epochs, dense_play
from tightrope.engine.jit import OPTIONS

# Where the kernels of a type of world are, first place first.
_DENSE = (dense, dense_epochs, dense_play)
_KINDS = {axis.AxisWorld: (axis,), dense.DenseWorld: _DENSE, clipped.ClippedDenseWorld: (clipped, *_DENSE)}


def _choose(world: object, name: str):
    """The kernel of `name` for this type of world."""
    if not isinstance(world, types.NamedTuple) or world.instance_class not in _KINDS:
        raise TypeError(f"no kernels for a world of type {world}")
    return next(getattr(module, name) for module in _KINDS[world.instance_class] if hasattr(module, name))


def update(world, state, loss, settings, theta):
    """See `axis.update`."""


def first_values(world, s, estimates):
    """See `axis.first_values`."""


def occupy(world, start, policy, occupancy, mu):
    """See `axis.occupy`."""


def dot_feature(world, weights, h, s, a) -> Any:
    """See `axis.dot_feature`."""


def sample(world, h, s, a, u) -> Any:
    """See `axis.sample`."""


def absorb(world, h, s, a, arrived, place, costs) -> Any:
    """See `axis.absorb`."""


def refresh(world, h, s, a, beta_b, bonus):
    """See `axis.refresh`."""


def begin_epoch(world, beta_b, beta_w, offset, contraction, bonus, room):
    """See `axis.begin_epoch`."""


@overload(update, jit_options=OPTIONS)
def _update(world, state, loss, settings, theta):
    kernel = _choose(world, "update")
    return lambda world, state, loss, settings, theta: kernel(world, state, loss, settings, theta)


@overload(first_values, jit_options=OPTIONS)
def _first_values(world, s, estimates):
    kernel = _choose(world, "first_values")
    return lambda world, s, estimates: kernel(world, s, estimates)


@overload(occupy, jit_options=OPTIONS)
def _occupy(world, start, policy, occupancy, mu):
    kernel = _choose(world, "occupy")
    return lambda world, start, policy, occupancy, mu: kernel(world, start, policy, occupancy, mu)


@overload(dot_feature, jit_options=OPTIONS)
def _dot_feature(world, weights, h, s, a):
    kernel = _choose(world, "dot_feature")
    return lambda world, weights, h, s, a: kernel(world, weights, h, s, a)


@overload(sample, jit_options=OPTIONS)
def _sample(world, h, s, a, u):
    kernel = _choose(world, "sample")
    return lambda world, h, s, a, u: kernel(world, h, s, a, u)


@overload(absorb, jit_options=OPTIONS)
def _absorb(world, h, s, a, arrived, place, costs):
    kernel = _choose(world, "absorb")
    return lambda world, h, s, a, arrived, place, costs: kernel(world, h, s, a, arrived, place, costs)


@overload(refresh, jit_options=OPTIONS)
def _refresh(world, h, s, a, beta_b, bonus):
    kernel = _choose(world, "refresh")
    return lambda world, h, s, a, beta_b, bonus: kernel(world, h, s, a, beta_b, bonus)


@overload(begin_epoch, jit_options=OPTIONS)
def _begin_epoch(world, beta_b, beta_w, offset, contraction, bonus, room):
    kernel = _choose(world, "begin_epoch")
    return lambda world, beta_b, beta_w, offset, contraction, bonus, room: kernel(
        world, beta_b, beta_w, offset, contraction, bonus, room
    )
