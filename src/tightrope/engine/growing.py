"""Where do the tables of endless states come from? Tiles that never move; and the way to a file and back."""

from __future__ import annotations

import numpy as np

from tightrope.engine import compact, endless_states, endless_tiles
from tightrope.engine.dense import STEP, WIDTH
from tightrope.engine.jit import ready_threads
from tightrope.engine.memory import Tiles

FULLEST = 0.7  # share of the slots that may be taken


class GrowingTables:
    """An `EndlessWorld` and the memory behind its addresses.

    Parameters
    ----------
    dtype: of the tables; gram, sums and parameters are doubles in any case.
    """

    def __init__(
        self,
        n_actions: int,
        dim: int,
        horizon: int,
        m: int,
        dtype: np.dtype,
    ):
        ready_threads()
        self.n_actions, self.dim, self.horizon, self.dtype = n_actions, dim, horizon, np.dtype(dtype)
        self.padded = padded = -(-dim // STEP) * STEP
        self.memory = Tiles(endless_tiles.tile_bytes(n_actions, padded, self.dtype.itemsize))
        self.tiles: list[list[np.ndarray]] = [[] for _ in range(horizon)]
        identity = np.broadcast_to(np.eye(dim), (horizon, dim, dim))
        self.world = endless_tiles.EndlessWorld(
            gram=identity.copy(),
            inverse=identity.copy(),
            factor=np.zeros((horizon, padded, padded)),
            cost_sums=np.zeros((horizon, m, dim)),
            dual=np.zeros(m),
            ledger=np.zeros((2, m)),
            growth=np.ones(horizon),
            tiles=np.zeros((horizon, 1), np.uint64),
            n_known=np.zeros(horizon, np.int64),
            slots=np.zeros((horizon, 16), np.uint64),
            parts=np.zeros((1, 1 + m, padded)),
            weights=np.zeros((horizon, 1 + m, padded)),
            kind=np.zeros(0, self.dtype),
            threads=np.zeros(1, np.int64),
            room=np.zeros((3, n_actions)),
        )
        self.segments = compact.Segments(
            count=np.zeros(2, np.int64),
            theta=np.zeros(1),
            beta=np.zeros((1, horizon)),
            weights=np.zeros((1, horizon, padded)),
            epoch=np.zeros(1, np.int64),
            factors=np.zeros((1, horizon, padded, padded)),
            room=np.zeros((3, n_actions)),
        )

    # ---- room ------------------------------------------------------------------------------------------------------

    def make_room(self, h: int) -> None:
        """See to it that one more state of step h can enter."""
        n = int(self.world.n_known[h])
        if n == len(self.tiles[h]) * WIDTH:
            self._add_tile(h)
        if n + 1 > FULLEST * self.world.slots.shape[1]:
            self._more_slots(2 * self.world.slots.shape[1])

    def _add_tile(self, h: int) -> None:
        tiles, n = self.tiles[h], len(self.tiles[h])
        tiles.append(self.memory.take())
        if n == self.world.tiles.shape[1]:
            addresses, parts = _longer(self.world.tiles, 1, 2 * n), _longer(self.world.parts, 0, 2 * n)
            self.world = self.world._replace(tiles=addresses, parts=parts)
        self.world.tiles[h, n] = tiles[n].ctypes.data

    def _more_slots(self, n: int) -> None:
        larger = np.zeros((self.horizon, n), np.uint64)
        endless_states.rehash(self.world.slots, larger)
        self.world = self.world._replace(slots=larger)

    # ---- segments --------------------------------------------------------------------------------------------------

    def new_segment(self, theta: float, new_factor: bool) -> None:
        """Begin a segment; with `new_factor` it has the norm of the epoch under way, else that of the segment before."""
        segments = self.segments
        n, e = int(segments.count[0]), int(segments.count[1])
        if n == len(segments.theta):
            grown = {name: _longer(getattr(segments, name), 0, 2 * n) for name in ("theta", "beta", "weights", "epoch")}
            segments = segments._replace(**grown)
        if new_factor and e == len(segments.factors):
            segments = segments._replace(factors=_longer(segments.factors, 0, 2 * e))
        if new_factor:
            segments.factors[e] = self.world.factor
            segments.count[1] = e = e + 1
        segments.theta[n], segments.beta[n], segments.weights[n], segments.epoch[n] = theta, 0.0, 0.0, e - 1
        segments.count[0] = n + 1
        self.segments = segments

    def fold(self) -> float:
        """Add the lightest segment that nothing is mixed after to its successor, which lends it its epoch's norm.

        Returns a bound on what that changes in an action's exponent at states seen later: with |phi| <= 1 and sigma in (0, 1),
        the loss part changes by at most |w| and the bonus part by at most beta. A log-policy, once normalised, may change by
        twice that, which whoever adds these bounds up counts. 0 where mixing follows every segment.
        """
        segments, n = self.segments, int(self.segments.count[0])
        mass = (np.linalg.norm(segments.weights[:n], axis=2) + np.abs(segments.beta[:n])).max(axis=1)
        followed_by_mixing = segments.theta[1:n] > 0.0
        if n < 2 or followed_by_mixing.all():
            return 0.0
        i = int(np.argmin(np.where(followed_by_mixing, np.inf, mass[: n - 1])))
        segments.weights[i + 1] += segments.weights[i]
        segments.beta[i + 1] += segments.beta[i]
        segments.theta[i + 1] = segments.theta[i]
        for part in (segments.weights, segments.beta, segments.theta, segments.epoch):
            part[i : n - 1] = part[i + 1 : n].copy()
        segments.count[0] = n - 1
        named, segments.epoch[: n - 1] = np.unique(segments.epoch[: n - 1], return_inverse=True)
        segments.factors[: len(named)] = segments.factors[named]
        segments.count[1] = len(named)
        return float(mass[i])

    # ---- files and sizes -------------------------------------------------------------------------------------------

    @property
    def bytes(self) -> int:
        """Everything that grows with the number of known states."""
        world = self.world
        return self.memory.bytes + world.slots.nbytes + world.tiles.nbytes + world.parts.nbytes

    def arrays(self) -> dict[str, np.ndarray]:
        """All that has been learnt, bit for bit; the tables as bytes, tile after tile, step after step."""
        world, segments = self.world, self.segments
        out = {name: getattr(world, name) for name in _KEPT}
        n, e = (int(x) for x in segments.count)
        out |= {f"segment_{name}": getattr(segments, name)[:n] for name in _PER_SEGMENT}
        out["segment_factors"] = segments.factors[:e]
        out["tables"] = np.array([tile for tiles in self.tiles for tile in tiles]).reshape(-1, self.memory.tile_bytes)
        return {name: array.copy() for name, array in out.items()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Put back what `arrays` gave into tables of the same sizes."""
        for name in _KEPT:
            if name != "slots":
                getattr(self.world, name)[...] = arrays[name]
        self.world = self.world._replace(slots=arrays["slots"].astype(np.uint64))
        saved = iter(arrays["tables"])
        for h in range(self.horizon):
            for _ in range(-(-int(self.world.n_known[h]) // WIDTH)):
                self._add_tile(h)
                self.tiles[h][-1][...] = next(saved)
        n, e = len(arrays["segment_theta"]), len(arrays["segment_factors"])
        segments = self.segments
        kept = {name: _longer(arrays[f"segment_{name}"], 0, max(n, 1)) for name in _PER_SEGMENT}
        kept["factors"] = _longer(arrays["segment_factors"], 0, max(e, 1))
        segments.count[:] = n, e
        self.segments = segments._replace(**kept)


_KEPT = ("gram", "inverse", "factor", "cost_sums", "dual", "ledger", "growth", "n_known", "slots", "weights")
_PER_SEGMENT = ("theta", "beta", "weights", "epoch")


def _longer(array: np.ndarray, axis: int, size: int) -> np.ndarray:
    """A copy with zeros behind, of so many entries along an axis."""
    shape = list(array.shape)
    shape[axis] = size
    out = np.zeros(shape, array.dtype)
    out[tuple(slice(n) for n in array.shape)] = array
    return out
