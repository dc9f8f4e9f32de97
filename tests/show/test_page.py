"""The page carries the right numbers and no more than it may; its reasons are the learner's own; all text is only text."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import sys
import tomllib
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tightrope as tr
from tightrope.cli.main import _run
from tightrope.errors import InputError
from tightrope.lab.spec_checks import read_spec
from tightrope.run_files import load_run
from tightrope.show.page import html, words
from tightrope.show.page.explorer import snapshots
from tightrope.show.page.html import report
from tightrope.show.page.packing import thinned
from tightrope.show.page.reasons import replay
from tightrope.show.page.spec_text import spec_text
from tightrope.show.reading import Kept, group_names, read_folder, series_names


class Page(HTMLParser):
    """The scripts of a page by id, and all tags."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[str] = []
        self.scripts: dict[str, str] = {}
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._inside = (dict(attrs).get("id") or "code") if tag == "script" else ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts[self._inside] = self.scripts.get(self._inside, "") + data

    def numbers(self, reference: list) -> np.ndarray:
        kind, place, length = reference
        content = gzip.decompress(base64.b64decode(self.scripts["blob"]))
        return np.frombuffer(content, np.uint32 if kind == "u" else np.float32, length, place)

    @property
    def data(self) -> dict:
        return json.loads(self.scripts["data"])


@pytest.fixture(scope="module")
def page(one) -> Page:
    return Page(report(read_folder(one)))


def test_the_page_carries_the_curves_of_the_run(page, one):
    run = load_run(one)
    (kept,) = page.data["curves"]["runs"]
    assert np.array_equal(page.numbers(kept["episodes"]), run.episodes)
    assert np.allclose(page.numbers(kept["columns"]["regret"][0]), run.regret, rtol=1e-6)
    assert np.allclose(page.numbers(kept["columns"]["violation"][0]), run.violation[:, 0], rtol=1e-6, atol=1e-5)


def test_a_mean_is_as_fine_as_the_runs_where_there_is_room(tmp_path):
    cmdp = tr.problems.make("priced-jobs")
    losses = tr.losses.make("drift", cmdp, 4000)
    tr.simulate(cmdp, losses, tr.PDPO.practical(cmdp, 4000), 4000, record_every=5).save(tmp_path / "run")
    found = Page(report(read_folder(tmp_path)))
    (group,) = found.data["curves"]["groups"]
    assert len(found.numbers(group["episodes"])) == 800


def test_a_page_is_the_same_bytes_again(one):
    assert report(read_folder(one)) == report(read_folder(one))


def test_a_page_names_no_address_to_load_from(page, one):
    text = report(read_folder(one))
    own = re.sub(r'<script type="text/plain" id="(plotly|blob)">.*?</script>', "", text, flags=re.DOTALL)
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", own)
    assert "connect-src" not in own  # so that `default-src 'none'` holds for every request


@given(st.integers(2, 400), st.integers(3, 120), st.integers(0, 10_000))
def test_thinning_keeps_every_extreme_and_both_ends(n, points, seed):
    columns = list(np.random.default_rng(seed).normal(size=(2, n)).cumsum(axis=1))
    keep = thinned(columns, points)
    assert {0, n - 1} <= set(keep)
    assert len(keep) <= max(points, 6) and (np.diff(keep) > 0).all()
    for column in columns:
        assert column[keep].min() == column.min() and column[keep].max() == column.max()


def test_reasons_are_the_learner_s_own_estimates(one):
    run = load_run(one)
    assert run.trace is not None
    at = snapshots(run.about["episodes"], 12)
    for reasons in replay(run, at):
        k, s = reasons.episode, run.trace.states[reasons.episode, 0]
        q = np.concatenate([reasons.loss_to_go[None], reasons.cost_to_go])
        assert np.allclose((reasons.policy[0, s] * q[:, 0, s]).sum(axis=1), run.trace.values[k], atol=1e-9)
        assert reasons.visits is not None and reasons.visits.sum() == k * run.cmdp.horizon


def test_reasons_are_the_learner_s_own_with_dense_features_and_restarts():
    cmdp = tr.problems.make("random-linear", seed=4, constraints=3)
    settings = {"alpha": 0.3, "eta": 0.4, "theta": 0.1, "beta_b": 0.01, "beta_w": 2.0, "mixing_period": 5}
    learner = tr.PDPO(**settings, contraction_offset=2.0)
    run = tr.simulate(cmdp, tr.losses.make("alternating", cmdp, 150), learner, 150, trace=True)
    assert run.trace is not None and len(run.trace.epoch_starts) > 3
    for reasons in replay(run, np.array([0, 1, 40, 90, 149])):
        s = run.trace.states[reasons.episode, 0]
        q = np.concatenate([reasons.loss_to_go[None], reasons.cost_to_go])
        found = (reasons.policy[0, s] * q[:, 0, s]).sum(axis=1)
        assert np.allclose(found, run.trace.values[reasons.episode], atol=1e-9)


def test_the_spec_of_the_page_makes_the_same_run_again(one, tmp_path):
    kept = read_folder(one).kept[0]
    path = tmp_path / "again.toml"
    path.write_text(spec_text(kept))
    assert tomllib.loads(path.read_text())["learner"]["restart"] == "warm"
    spec = read_spec(path)
    assert spec.cmdp.digest == kept.run.cmdp.digest
    assert tr.learners.describe(spec.learner) == kept.spec["learner"]
    assert _run(["run", str(path), "--out", str(tmp_path / "runs"), "-q"]) == 0
    (again,) = read_folder(tmp_path / "runs").kept
    assert again.curves.equals(kept.curves)


@pytest.mark.parametrize(
    "learner",
    [f'name = "{name}"\npreset = "{preset}"' for name in tr.learners.names() for preset in tr.learners.presets(name)]
    + ['name = "dope"\npreset = "theory"\ndelta = 0.3', 'name = "ghosh2022"\nxi = 3', "tighten = 0\nalpha = 1"],
)
def test_the_spec_of_the_page_asks_for_the_very_same_run(tmp_path, learner):
    path, again = tmp_path / "spec.toml", tmp_path / "again.toml"
    tables = '[problem]\nname = "streaming"\n[losses]\nkind = "switching"\n[learner]\n'
    path.write_text(f"episodes = 3\nseeds = [5]\n{tables}{learner}\n")
    assert _run(["run", str(path), "--out", str(tmp_path / "runs"), "-q"]) == 0
    (kept,) = read_folder(tmp_path / "runs").kept
    again.write_text(spec_text(kept))
    assert read_spec(again).key(5) == read_spec(path).key(5) == kept.key


def test_the_spec_of_the_page_has_the_seed_of_the_losses_where_it_is_not_the_run_s(one):
    (kept,) = read_folder(one).kept

    def with_seed(seed):
        spec = {**kept.spec, "losses": {**kept.spec["losses"], "seed": seed}}
        return tomllib.loads(spec_text(Kept(kept.folder, {**kept.manifest, "spec": spec}, "", kept.curves)))

    assert "seed" not in with_seed(kept.seed)["losses"]
    assert with_seed(77)["losses"]["seed"] == 77


def test_text_stays_text_whatever_it_says(one, tmp_path):
    nasty = "</script><script>alert(1)</script>@@js@@&lt;<!--"
    folder = tmp_path / nasty.replace("/", "\u2215")
    shutil.copytree(one, folder)
    before = Page(report(read_folder(one)))
    found = Page(report(read_folder(folder)))
    assert found.tags == before.tags
    assert folder.name in [run["key"] for run in found.data["curves"]["runs"]]


def test_groups_are_named_by_what_sets_them_apart():
    base = {"seed": 0, "episodes": 10, "learner": {"name": "pdpo", "eta": 0.1}, "problem": {"name": "p", "digest": "x"}}
    other = base | {"seed": 1, "learner": {"name": "pdpo", "eta": 0.25}}
    third = base | {"learner": {"name": "naive", "xi": 2.0}}
    assert group_names([base, base | {"seed": 3}]) == ["pdpo", "pdpo"]
    assert group_names([base, other]) == ["eta 0.1", "eta 0.25"]
    assert group_names([base, third]) == ["pdpo", "naive"]
    assert group_names([base, other, third]) == ["pdpo, eta 0.1", "pdpo, eta 0.25", "naive"]


def test_the_number_of_episodes_stands_for_all_that_goes_with_it():
    def spec(K: int, name: str = "pdpo", **more: float) -> dict:
        learner = {"name": name, "alpha": 1.0 / K, "eta": 2.0 / K, "beta_b": 0.02} | more
        return {"seed": 0, "episodes": K, "record_every": K // 10, "problem": {"name": "streaming"}, "learner": learner}

    assert group_names([spec(100), spec(100), spec(200)]) == ["episodes 100", "episodes 100", "episodes 200"]
    swept = [spec(K, beta_b=b) for K in (100, 200) for b in (0.1, 0.2)]
    assert group_names(swept)[:2] == ["episodes 100, beta_b 0.1", "episodes 100, beta_b 0.2"]
    assert series_names(swept) == ["beta_b 0.1", "beta_b 0.2"] * 2
    beside = [spec(100), spec(200), spec(100, "naive", eta=0.5), spec(100, "naive", eta=0.6)]
    assert group_names(beside)[1:3] == ["pdpo, episodes 200", "naive, episodes 100, eta 0.5"]
    alone = [spec(100, alpha=0.1), spec(100, alpha=0.2), spec(200, alpha=0.3)]  # settings that nothing else tells apart
    assert len(set(group_names(alone))) == 3 and len(set(series_names(alone)[:2])) == 2


def test_three_sentences_say_what_was_found(one, sweep):
    for folder in (one, sweep):
        found = words.findings(read_folder(folder))
        assert len(found) == 3
        assert all(sentence.endswith(".") and "nan" not in sentence for sentence in found)
    run = load_run(one)
    budget = words.findings(read_folder(one))[0]
    assert f"exceeded by {run.violation[-1, 0] / 400:.3g} an episode" in budget
    best = words.findings(read_folder(sweep))[0]
    score = words.scores(read_folder(sweep))
    assert min(score, key=lambda group: sum(score[group])) in best


def test_an_inert_dual_is_told_on_the_page(tmp_path):
    cmdp = tr.problems.make("job-scheduling")
    losses, learner = tr.losses.make("drift", cmdp, 200), tr.PDPO.experiment(cmdp, 200)
    tr.simulate(cmdp, losses, learner, 200).save(tmp_path / "run")
    text = report(read_folder(tmp_path))
    assert "exactly 0 throughout" in text
    assert "<code>dual-inert</code>" in text


def test_damaged_runs_are_named_and_left_out(one, tmp_path):
    shutil.copytree(one, tmp_path / "good")
    shutil.copytree(one, tmp_path / "bad")
    manifest = tmp_path / "bad" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"seed": 0', '"seed": 7'))
    collection = read_folder(tmp_path)
    assert [kept.key for kept in collection.kept] == ["good"]
    assert "bad" in collection.broken[0]
    assert "Left out" in report(collection)


def test_the_certificate_s_failures_come_first(one, tmp_path):
    shutil.copytree(one, tmp_path / "run")
    assert _run(["certify", str(tmp_path / "run"), "-q"]) == 0
    path = tmp_path / "run" / "certificate.json"
    about = json.loads(path.read_text())
    about["rows"][7] |= {"holds": False, "applies": True, "name": "<b>seventh</b>"}
    path.write_text(json.dumps(about))
    text = report(read_folder(tmp_path / "run"))
    names = re.findall(r'<tr class="([\w-]+)"><th scope="row">(.*?)</th>', text)
    assert names[0] == ("fails", "&lt;b&gt;seventh&lt;/b&gt;")
    assert len(names) == len(about["rows"]) and [name for name, _ in names].count("fails") == 1
    assert "1 of them fail" in text


def test_the_terms_of_the_decomposition_sum_to_the_run_s_own_curves(page, one):
    run = load_run(one)
    for whole, curve in zip(page.data["decomposition"], (run.regret, run.violation[:, 0])):
        total = np.sum(list(whole["terms"].values()), axis=0)
        at = np.searchsorted(run.episodes, whole["episodes"])
        assert np.allclose(total, curve[at], atol=1e-3)


def test_without_plotly_the_extra_is_named(one, monkeypatch, capsys):
    html.plotly.cache_clear()
    monkeypatch.setitem(sys.modules, "plotly", None)
    try:
        assert _run(["report", str(one), "--out", "nowhere.html"]) == 2
        assert "install tightrope[report]" in capsys.readouterr().err
    finally:
        html.plotly.cache_clear()


def test_a_folder_without_runs_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no run"):
        read_folder(tmp_path)
    with pytest.raises(InputError, match="not a folder"):
        read_folder(tmp_path / "nowhere")


def test_runs_of_problems_with_one_and_with_three_constraints_share_a_page(one, tmp_path):
    shutil.copytree(one, tmp_path / "one")
    cmdp = tr.problems.make("random-linear", seed=4, constraints=3)
    learner, losses = tr.PDPO.practical(cmdp, 60), tr.losses.make("alternating", cmdp, 60)
    tr.simulate(cmdp, losses, learner, 60).save(tmp_path / "three")
    found = Page(report(read_folder(tmp_path))).data["curves"]
    columns = {group["name"].split(",")[0]: set(group["columns"]) for group in found["groups"]}
    assert {len([name for name in of if name.startswith("violation")]) for of in columns.values()} == {1, 3}
    assert any("priced-jobs" in group["name"] for group in found["groups"])


def test_runs_without_a_comparator_and_without_evaluation_have_a_page_too(tmp_path):
    cmdp = tr.problems.make("priced-jobs")
    losses, learner = tr.losses.make("alternating", cmdp, 50), tr.PDPO.practical(cmdp, 50)
    for seed in range(2):
        run = tr.simulate(cmdp, losses, learner, 50, seed, compare=False, evaluate=False)
        run.save(tmp_path / f"run-{seed}")
    collection = read_folder(tmp_path)
    assert "no regret to tell" in words.findings(collection)[1]
    assert Page(report(collection)).data["players"][0]["snapshots"]


def test_a_learner_and_losses_of_one_s_own_have_a_page_too(tmp_path):
    class Fixed:
        def start(self, cmdp, episodes):
            return self

        def policy(self):
            return np.full((10, 10, 2), 0.5)

        def learn(self, episode):
            pass

    class Mine(tr.losses.Adversary):
        def next(self, k, policy):
            return np.full((10, 20), 0.5)

    cmdp = tr.problems.make("priced-jobs")
    tr.simulate(cmdp, Mine(), Fixed(), 30, trace=True).save(tmp_path / "run")
    text = report(read_folder(tmp_path))
    assert "Fixed plays priced-jobs for 30 episodes, losses: Mine; once." in text
