"""Every small kernel against its slow twin, on random and on degenerate inputs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightrope as tr
from tightrope.engine import policy
from tightrope.engine.exponential import exp_into
from tightrope.engine.jit import _Files, compiled
from tightrope.learners import worlds


def exponential(x: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    exp_into(x, out, len(x))
    return out


def test_the_exponential_is_numpy_s_to_two_units_in_the_last_place():
    x = np.concatenate([np.linspace(-708, 709, 200_001), np.linspace(-1, 1, 100_001), [0.0, -0.0, 1e-300]])
    np.testing.assert_array_max_ulp(exponential(x), np.exp(x), maxulp=2)
    assert exponential(np.zeros(1))[0] == 1.0


def test_the_exponential_neither_overflows_nor_goes_below_zero():
    ends = exponential(np.array([-np.inf, -1e6, -745.2, 1e6, np.inf]))
    assert (ends[:3] >= 0.0).all() and (ends[:3] <= 4e-308).all()
    assert np.isfinite(ends[3:]).all() and (ends[3:] > 8e307).all()


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max(axis=0))
    return weights / weights.sum(axis=0)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    actions=st.integers(1, 6),
    columns=st.sampled_from([1, 2, 63, 512, 513, 1100]),
    scale=st.sampled_from([0.0, 1e-12, 1.0, 300.0, 1e5]),
    seed=st.integers(0, 10_000),
)
def test_the_multiplicative_step_is_a_softmax_in_log_space(actions, columns, scale, seed):
    random = np.random.default_rng(seed)
    logits, gain = random.normal(size=(2, actions, columns)) * np.array([scale, 1.0])[:, None, None]
    expected = logits - 0.7 * gain
    probabilities, room = np.empty((actions, columns)), np.empty((2, policy.WIDTH))
    policy.improve(logits, probabilities, gain, 0, 0.7, room, 0, columns)
    np.testing.assert_allclose(probabilities, softmax(expected), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(logits, expected - expected.max(axis=0), rtol=1e-12, atol=1e-12)
    assert (logits.max(axis=0) == 0.0).all()


def test_a_step_on_some_columns_leaves_the_others_alone():
    random = np.random.default_rng(0)
    logits, gain = random.normal(size=(3, 20)), random.normal(size=(3, 6))
    before, probabilities = logits.copy(), np.full((3, 20), 7.0)
    policy.improve(logits, probabilities, gain, 5, 0.3, np.empty((2, policy.WIDTH)), 5, 11)
    outside = np.r_[0:5, 11:20]
    assert np.array_equal(logits[:, outside], before[:, outside]) and (probabilities[:, outside] == 7.0).all()
    np.testing.assert_allclose(probabilities[:, 5:11], softmax(before[:, 5:11] - 0.3 * gain), rtol=1e-12)


@pytest.mark.parametrize("theta", [1e-12, 0.1, 1.0])
def test_mixing_is_an_average_with_the_uniform_policy_also_where_an_action_has_died(theta):
    probabilities = np.array([[1.0, 0.0, 0.3], [0.0, 1e-300, 0.3], [0.0, 1.0, 0.4]])
    logits = np.full((3, 3), np.nan)
    policy.mix(logits, probabilities, theta, 0, 3)
    np.testing.assert_allclose(np.exp(logits), (1 - theta) * probabilities + theta / 3, rtol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 11.5])
@pytest.mark.parametrize("beta_w", [0.0, 2.0, 1e6])
def test_contraction_is_a_sigmoid_of_the_norm(beta_w, offset):
    norms = np.random.default_rng(1).random((2, 700))
    contraction, bonus = np.empty((2, 700)), norms.copy()
    policy.contract(0.3, beta_w, offset, contraction, bonus, np.empty((2, policy.WIDTH)), 0, 700)
    sigma = np.exp(-np.logaddexp(0.0, beta_w * norms - offset))
    np.testing.assert_allclose(contraction, sigma, rtol=1e-9, atol=1e-307)
    np.testing.assert_allclose(bonus, 0.3 * sigma * norms, rtol=1e-9, atol=1e-307)


def test_a_kernel_for_kernels_refuses_python():
    inner = compiled(lambda x: x + 1, inner=True)
    with pytest.raises(TypeError, match="is for kernels only"):
        inner(1)


@pytest.mark.parametrize("name", ["job-scheduling", "random-linear", "streaming"])
def test_sampled_states_have_the_frequencies_of_the_kernel(name):
    """A million draws of each kind of world; five standard deviations."""
    cmdp = tr.problems.make(name)
    n = 20_000
    learner = tr.PDPO(alpha=0.0, eta=0.0, theta=0.0, beta_b=0.0, beta_w=0.0, mixing_period=1)
    run = tr.simulate(cmdp, tr.losses.make("fixed", cmdp, n), learner, n, trace=True, compare=False, evaluate=False)
    trace = run.trace
    assert trace is not None
    for h in range(cmdp.horizon):
        for s in np.unique(trace.states[:, h]):
            for a in range(cmdp.n_actions):
                arrived = trace.states[(trace.states[:, h] == s) & (trace.actions[:, h] == a), h + 1]
                chances = cmdp.features[s, a] @ cmdp.kernel[h]
                counts, visits = np.bincount(arrived, minlength=cmdp.n_states), len(arrived)
                slack = 5.0 * np.sqrt(visits * chances * (1 - chances)) + 5.0
                assert (np.abs(counts - visits * chances) <= slack).all()
                assert (counts[chances <= 0] == 0).all()


def test_a_large_dense_world_and_a_small_one_give_the_same_policies():
    """More than one tile of states, and the last one not full."""
    small = tr.problems.make("random-linear", n_states=130, n_actions=3, dim=7, horizon=3, seed=2)
    assert worlds.new_world(small, 5).features.shape[0] == 3  # pyright: ignore[reportAttributeAccessIssue]
    learner = tr.PDPO(alpha=0.5, eta=0.5, theta=0.1, beta_b=0.1, beta_w=1.0, mixing_period=3)
    run = tr.simulate(small, tr.losses.make("alternating", small, 40), learner, 40, trace=True, record_every=1)
    assert run.trace is not None
    exact = [
        tr.oracle.start_value(small, pi, w) for pi, w in zip(run.trace.policies, run.trace.loss_weights, strict=True)
    ]
    np.testing.assert_allclose(run.trace.exact_values[:, 0], exact, rtol=0, atol=1e-11)


def test_processes_that_compile_a_kernel_for_different_arguments_at_once_do_not_take_each_other_s_place(tmp_path):
    """Two that know of no other form of the kernel yet, as when both begin on a new machine."""
    stamp = "engine", 1
    one, other = (_Files(str(tmp_path), "kernel", stamp) for _ in range(2))
    other._load_index = lambda: {}  # it looked before the first had finished
    one.save(("float64",), "for doubles")
    other.save(("int64",), "for integers")
    later = _Files(str(tmp_path), "kernel", stamp)
    assert later.load(("int64",)) == "for integers"
    assert later.load(("float64",)) in (None, "for doubles")
    one.save(("float64",), "for doubles")
    assert (later.load(("int64",)), later.load(("float64",))) == ("for integers", "for doubles")


@pytest.mark.parametrize("tables", ["tables.dense_world(np.ones((2, 1, 3)), np.ones((1, 3, 2)), 1, 5)", "GROWING"])
def test_what_kernels_with_threads_call_is_known_before_any_is_loaded_from_disk(tables):
    growing = "growing.GrowingTables(2, 3, 1, 1, np.dtype('float64'))"
    code = f"""
import numpy as np
from llvmlite import binding
from tightrope.engine import growing, tables
{tables.replace("GROWING", growing)}
print(all(binding.address_of_symbol(name) for name in ("numba_parallel_for", "get_num_threads", "allocate_sched")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def doubled(numbers, stride, weights, out, size, whole):
    """Both widths of the loop over lanes, for two channels; compiled where it is called."""
    from tightrope.engine.lanes import multiply_two, narrow_two

    @compiled(allocates=True)
    def wide(numbers, stride, weights, out, size):
        multiply_two(numbers, 0, stride, weights, 0, size, out, 0, out.size // 2, size)

    @compiled(allocates=True)
    def narrow(numbers, stride, weights, out, size):
        narrow_two(numbers, 0, stride, weights, 0, size, out, 0, out.size // 2, size)

    (wide if whole else narrow)(numbers, stride, weights, out, size)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_product_over_lanes_is_a_matrix_product_in_the_arrays_own_kind_of_number(kind, whole):
    random, size = np.random.default_rng(4), 21
    lanes = (256 if whole else 64) // np.dtype(kind).itemsize
    numbers = random.normal(size=(size, lanes + 3)).astype(kind)
    weights, out = random.normal(size=(2, size)).astype(kind), np.zeros(2 * lanes, kind)
    doubled(numbers.ravel(), lanes + 3, weights.ravel(), out, size, whole)
    expected = weights.astype(float) @ numbers[:, :lanes].astype(float)
    np.testing.assert_allclose(out.reshape(2, lanes), expected, atol=1e-13 if kind is np.float64 else 1e-5)


def test_the_exponential_of_single_numbers_stays_among_them_and_is_right_to_two_units_in_the_last_place():
    x = np.concatenate([np.linspace(-87, 88, 50_001), np.linspace(-1, 1, 10_001)]).astype(np.float32)
    out = np.empty_like(x)
    exp_into(x, out, len(x))
    assert out.dtype == np.float32
    np.testing.assert_array_max_ulp(out, np.exp(x.astype(float)).astype(np.float32), maxulp=2)
    assert exponential(np.zeros(1, np.float32))[0] == 1.0
    ends = exponential(np.array([-np.inf, -200.0, 200.0, np.inf], np.float32))
    assert (ends[:2] < 2e-38).all() and np.isfinite(ends[2:]).all() and (ends[2:] > 1e38).all()
