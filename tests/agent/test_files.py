"""Saved and loaded, even in the middle of an episode, an agent goes on bit for bit; what is no agent is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tightrope as tr

from .conftest import SETTINGS, Table, make_agent, play_episode, uniforms


def state_of(agent: tr.Agent) -> dict[str, bytes]:
    player = agent._player
    assert player is not None
    told = {name: array.tobytes() for name, array in player.tables.arrays().items()}
    return told | {"estimates": agent.estimates.tobytes(), "random": repr(agent.random.bit_generator.state).encode()}


def go_on(agent: tr.Agent, cmdp: tr.LinearCMDP, first: int, last: int) -> list[list[int]]:
    """Episodes in which the agent's own randomness decides; every fifth in a batch with the one before."""
    taken, profiles = [], cmdp.loss_profiles
    assert profiles is not None
    for k in range(first, last):
        if agent.current is None:
            agent.begin(0)
        played: Any = agent.current
        while played.steps < cmdp.horizon and not played.ended:
            a, h = agent.act(), played.steps
            agent.observe(0.3 + 0.1 * a, (7 * k + 3 * h + a) % cmdp.n_states, ended=k % 9 == 4 and h == 2)
        taken.append(list(played.actions))
        if k % 5 == 3:
            agent.set_aside()
        else:
            agent.finish(profiles[k % 2])
    return taken


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("restart", ["paper", "warm"])
def test_saving_in_the_middle_of_an_episode_changes_no_bit(wide, tmp_path, restart, dtype):
    learner = tr.PDPO(**SETTINGS, mixing_period=4, restart=restart)
    agent = make_agent(wide, learner, 300, seed=5, dtype=dtype)
    go_on(agent, wide, 0, 99)
    assert len(agent._batch) == 1  # episode 98 waits
    agent.begin(3)
    agent.act()
    agent.observe(0.2, 17)
    chosen = agent.act()
    agent.save(tmp_path / "agent.npz")
    other = tr.Agent.load(tmp_path / "agent.npz", Table(wide))
    assert other.act() == chosen
    assert state_of(other) == state_of(agent)
    assert go_on(agent, wide, 99, 160) == go_on(other, wide, 99, 160)
    assert state_of(other) == state_of(agent)
    assert str(other.status()) == str(agent.status())
    assert agent.status().epoch > 3


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
def test_a_copy_goes_on_by_itself_and_shares_no_table(wide, copied):
    agent = make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=4), 300, seed=5)
    go_on(agent, wide, 0, 20)
    agent.begin(3)
    other = copied(agent)
    before = state_of(agent)
    taken = go_on(other, wide, 20, 40)
    assert state_of(agent) == before
    assert go_on(agent, wide, 20, 40) == taken and state_of(agent) == state_of(other)


def test_a_place_that_cannot_be_written_is_named(wide, tmp_path):
    agent = make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=4), 300)
    for path, said in (
        (tmp_path / "none" / "a.npz", r"a\.npz: cannot be written"),
        (None, "path: None, wanted the name"),
    ):
        with pytest.raises(tr.InputError, match=said):
            agent.save(path)  # pyright: ignore[reportArgumentType]
    assert not list(tmp_path.iterdir())
    with pytest.raises(tr.InputError, match="path: None, wanted the name"):
        tr.Agent.load(None, Table(wide))  # pyright: ignore[reportArgumentType]


def test_a_merged_increment_is_kept_too(wide, tmp_path):
    agent = make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=4), 300)
    fork = agent.fork(seed=1)
    for u in uniforms(0, 3, wide.horizon):
        play_episode(fork, wide, u)
        fork.set_aside()
    agent.merge(fork.increment())
    agent.save(tmp_path / "agent.npz")
    other = tr.Agent.load(tmp_path / "agent.npz", Table(wide))
    for one in (agent, other):
        one.learn(np.asarray(wide.loss_profiles)[0])
    assert state_of(other) == state_of(agent)


def test_an_agent_that_has_seen_nothing_can_be_saved(wide, tmp_path):
    sizes = (wide.horizon, wide.n_actions, wide.budgets)
    agent = tr.Agent(tr.PDPO(**SETTINGS, mixing_period=4), lambda s: wide.features[s], *sizes, episodes=300)
    agent.save(tmp_path / "agent.npz")
    other = tr.Agent.load(tmp_path / "agent.npz", lambda s: wide.features[s])
    assert go_on(agent, wide, 0, 5) == go_on(other, wide, 0, 5)


def test_a_file_that_is_no_agent_is_refused(wide, tmp_path):
    text, other, single = tmp_path / "text.npz", tmp_path / "other.npz", tmp_path / "single.npy"
    np.save(single, np.zeros(3))
    text.write_text("not an agent")
    np.savez(other, x=np.zeros(3))
    agent = make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=4), 300)
    go_on(agent, wide, 0, 3)
    whole = tmp_path / "agent.npz"
    agent.save(whole)
    cut, robbed = tmp_path / "cut.npz", tmp_path / "robbed.npz"
    cut.write_bytes(whole.read_bytes()[:-200])
    with np.load(whole) as file:
        np.savez(robbed, **{name: file[name] for name in file.files if name != "player_gram"})
    for path, said in (
        (tmp_path / "none.npz", "no such file"),
        (text, "not an agent that was saved here"),
        (other, "no header of kind"),
        (single, "not an agent that was saved here .a single array"),
        (cut, "not an agent that was saved here"),
        (robbed, "damaged, or not of this version"),
    ):
        with pytest.raises(tr.InputError, match=said) as told:
            tr.Agent.load(path, Table(wide))
        assert str(path) in str(told.value)


def test_features_that_do_not_fit_the_file_are_refused(wide, tmp_path):
    agent = make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=4), 300)
    agent.save(tmp_path / "agent.npz")
    table = Table(tr.problems.make("random-linear", n_states=5, dim=7, n_actions=4))
    with pytest.raises(tr.InputError, match="features: dim = 7, the agent in this file has dim = 5"):
        tr.Agent.load(tmp_path / "agent.npz", table)
    table = Table(tr.problems.make("random-linear", n_states=5, dim=5, n_actions=3))
    with pytest.raises(tr.InputError, match="features: n_actions = 3, the agent in this file has n_actions = 4"):
        tr.Agent.load(tmp_path / "agent.npz", table)
