"use strict";
// The page's own script: unpacks the numbers, draws with Plotly, explains a state. No request leaves the page,
// but for a live one's question to its own server whether there is something new.
(() => {
  const $ = (id) => document.getElementById(id);
  const page = JSON.parse($("data").textContent);
  const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D1F", "#7F7F7F"];
  const CUMULATIVE = /^(regret|violation|hard_violation|loss)/;
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = (x, digits = 4) => Number.isFinite(x) ? Number(x.toPrecision(digits)).toLocaleString("en-GB", { maximumSignificantDigits: digits }) : "none";
  // Plotly reads a little HTML in its texts; names are shown as they are.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  let buffer = null;

  async function unpacked(id) {
    const text = atob($(id).textContent.trim());
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }

  function numbers([kind, place, length]) {
    return kind === "u" ? new Uint32Array(buffer, place, length) : new Float32Array(buffer, place, length);
  }

  function element(name, text, properties = {}) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return Object.assign(made, properties);
  }

  function fill(select, options) {
    select.replaceChildren(...options.map(([value, words]) => element("option", words, { value })));
  }

  // ---- what somebody chose lives on when a live page is loaded again ------------------------------------------

  const REMEMBERED = ["y0", "y1", "x", "mode", "per", "logx", "logy", "player", "snapshot", "step", "state"];

  function remember() {
    if (!page.live) return;
    const kept = { scroll: scrollY };
    for (const id of REMEMBERED) if ($(id)) kept[id] = $(id).type === "checkbox" ? $(id).checked : $(id).value;
    sessionStorage.setItem("tightrope", JSON.stringify(kept));
  }

  function recall() {
    const kept = page.live && JSON.parse(sessionStorage.getItem("tightrope") || "null");
    return kept || {};
  }

  function restore(id, kept) {
    if (!(id in kept)) return;
    if ($(id).type === "checkbox") $(id).checked = kept[id];
    else if ($(id).type === "range" || [...$(id).options].some((option) => option.value === kept[id])) $(id).value = kept[id];
  }

  // ---- curves -------------------------------------------------------------------------------------------------

  function layout(extra) {
    const axis = { gridcolor: style("--grid"), zerolinecolor: style("--soft"), linecolor: style("--line"), automargin: true };
    const { xaxis, yaxis, ...rest } = extra;
    return {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 60, r: 15, t: 30, b: 45 },
      font: { color: style("--text"), family: "system-ui, 'DejaVu Sans', sans-serif", size: 12 }, hovermode: "closest",
      legend: { orientation: "h", y: -0.22 }, modebar: { bgcolor: "rgba(0,0,0,0)", color: style("--soft"), activecolor: style("--text") }, xaxis: { ...axis, ...xaxis }, yaxis: { ...axis, ...yaxis }, ...rest,
    };
  }

  const CONFIG = { responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "", modeBarButtonsToRemove: ["select2d", "lasso2d", "toImage"] };

  function words(name) {
    if (name === "episode") return "episode";
    const found = page.curves.columns.find((column) => column.name === name).words;
    return $("per").checked && CUMULATIVE.test(name) ? `${found} an episode` : found;
  }

  function values(item, name, edge = 0) {
    const episodes = numbers(item.episodes);
    if (name === "episode") return episodes;
    if (!(name in item.columns)) return null;
    const found = numbers(item.columns[name][edge]);
    return $("per").checked && CUMULATIVE.test(name) ? found.map((value, i) => value / episodes[i]) : found;
  }

  function bandOf(group, name, colour) {
    const x = Array.from(values(group, "episode"));
    const low = Array.from(values(group, name, 1)), high = Array.from(values(group, name, 2));
    return {
      x: [...x, ...x.slice().reverse()], y: [...high, ...low.reverse()], fill: "toself", fillcolor: colour + "33", line: { width: 0 },
      mode: "lines", hoverinfo: "skip", showlegend: false, legendgroup: group.name, type: "scatter",
    };
  }

  function lineOf(item, xName, yName, colour, name, legend, width) {
    return {
      x: values(item, xName), y: values(item, yName), mode: "lines", type: "scatter", name: plain(name), legendgroup: legend,
      line: { color: colour, width }, hovertemplate: `%{x:,.4~g}, %{y:,.4~g}<extra>${plain(name)}</extra>`,
    };
  }

  function chosen(kind) {
    return new Set([...document.querySelectorAll(`#choices input[data-kind="${kind}"]`)].filter((box) => box.checked).map((box) => +box.value));
  }

  function traces(yName) {
    const { groups, runs } = page.curves, xName = $("x").value, shown = chosen("group"), made = [];
    if ($("mode").value === "mean") {
      groups.forEach((group, i) => {
        if (!shown.has(i) || !values(group, yName)) return;
        const colour = COLOURS[i % COLOURS.length];
        if (xName === "episode" && group.columns[yName].length > 1 && !$("logy").checked) made.push(bandOf(group, yName, colour));
        made.push(lineOf(group, xName, yName, colour, group.name, group.name, 2));
      });
      return made;
    }
    const each = chosen("run"), named = new Set();
    runs.forEach((run, i) => {
      if (!shown.has(run.group) || !each.has(i) || !values(run, yName)) return;
      const group = groups[run.group].name;
      const trace = lineOf(run, xName, yName, COLOURS[run.group % COLOURS.length], `${group}, seed ${run.seed}`, group, 1);
      if (groups.length > 1) Object.assign(trace, { showlegend: !named.has(group), name: plain(group) });
      named.add(group);
      made.push(trace);
    });
    return made;
  }

  function drawChart(i) {
    const yName = $(`y${i}`).value, xName = $("x").value, lines = traces(yName);
    const title = `${words(yName)[0].toUpperCase()}${words(yName).slice(1)}`;
    const box = $(`chart${i}`);
    box.setAttribute("aria-label", `Chart: ${words(yName)} over ${words(xName)}, ${lines.length} lines. The table below has where they end.`);
    return Plotly.react(box, lines, layout({
      title: { text: title, x: 0, xanchor: "left", font: { size: 14 } }, showlegend: lines.length > 1 && lines.length < 80,
      xaxis: { title: { text: words(xName) }, type: $("logx").checked ? "log" : "linear" },
      yaxis: { title: { text: words(yName) }, type: $("logy").checked ? "log" : "linear" },
    }), CONFIG);
  }

  function drawCharts() {
    $("chart-status").textContent = $("logx").checked || $("logy").checked ? "A log axis leaves out what is zero or below, and bands." : "";
    remember();
    return Promise.all([drawChart(0), drawChart(1)]);
  }

  function choices() {
    const { groups, runs } = page.curves;
    const box = (kind, value, words) => {
      const label = element("label"), input = element("input", undefined, { type: "checkbox", checked: true, value });
      input.dataset.kind = kind;
      label.append(input, ` ${words}`);
      return label;
    };
    const list = groups.map((group, i) => box("group", i, `${group.name} (${group.seeds} ${group.seeds === 1 ? "run" : "runs"})`));
    const each = runs.map((run, i) => box("run", i, `${run.key}, seed ${run.seed}`));
    $("choices").replaceChildren(...(groups.length > 1 ? list : list.map((one) => ((one.hidden = true), one))), ...each);
    const set = (on) => {
      document.querySelectorAll("#choices label:not([hidden]) input").forEach((input) => (input.checked = on));
      drawCharts();
    };
    $("all").addEventListener("click", () => set(true));
    $("none").addEventListener("click", () => set(false));
    $("choices").addEventListener("change", drawCharts);
  }

  function startCurves(kept) {
    const columns = page.curves.columns.map((column) => [column.name, column.words]);
    fill($("y0"), columns);
    fill($("y1"), columns);
    fill($("x"), [["episode", "episode"], ...columns]);
    $("y1").value = (page.curves.columns.find((column) => column.name.startsWith("violation")) || { name: "regret" }).name;
    choices();
    const ids = ["y0", "y1", "x", "mode", "per", "logx", "logy"];
    for (const id of ids) {
      restore(id, kept);
      $(id).addEventListener("change", drawCharts);
    }
  }

  // ---- decomposition and differences --------------------------------------------------------------------------

  function drawDecomposition() {
    return Promise.all(page.decomposition.map(({ whole, episodes, terms }, i) => {
      const names = Object.keys(terms), title = whole[0].toUpperCase() + whole.slice(1);
      const areas = names.flatMap((name, n) => ["+", "-"].map((sign) => ({
        x: episodes, y: terms[name].map((value) => (sign === "+" ? Math.max(value, 0) : Math.min(value, 0))), stackgroup: sign,
        type: "scatter", mode: "lines", name: plain(name), legendgroup: name, line: { width: 0 }, fillcolor: COLOURS[n % COLOURS.length] + "aa",
        showlegend: sign === (terms[name][terms[name].length - 1] < 0 ? "-" : "+"), hoverinfo: "skip",
      })));
      const sum = { x: episodes, y: episodes.map((_, k) => names.reduce((total, name) => total + terms[name][k], 0)), type: "scatter", mode: "lines", name: "sum", line: { color: style("--text"), width: 2 } };
      $(`whole${i}`).setAttribute("aria-label", `Chart: the terms of the ${whole}, stacked over the episodes.`);
      return Plotly.react($(`whole${i}`), [...areas, sum], layout({
        title: { text: plain(title), x: 0, xanchor: "left", font: { size: 14 } }, showlegend: true, xaxis: { title: { text: "episode" } }, yaxis: { title: { text: "running sum" } },
      }), CONFIG);
    }));
  }

  function drawDifferences() {
    if (!page.differences) return null;
    const { against, rows } = page.differences, measures = [...new Set(rows.map((row) => row.measure))];
    if (!$("differences").children.length) $("differences").append(...measures.map(() => {
      const figure = element("figure");
      figure.append(element("div"));
      return figure;
    }));
    return Promise.all(measures.map((measure, i) => {
      const own = rows.filter((row) => row.measure === measure).reverse(), box = $("differences").children[i].firstChild;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", `Chart: ${measure}, difference of each setting to ${against}.`);
      box.style.height = `${8 + 1.6 * own.length}rem`;
      return Plotly.react(box, [{
        x: own.map((row) => row.mean), y: own.map((row) => plain(row.group)), type: "scatter", mode: "markers", marker: { color: COLOURS[0], size: 8 },
        error_x: { type: "data", array: own.map((row) => row.high - row.mean), color: COLOURS[0] }, hovertemplate: "%{y}: %{x:.4~g}<extra></extra>",
      }], layout({ title: { text: plain(measure), x: 0, xanchor: "left", font: { size: 14 } }, xaxis: { title: { text: plain(`difference to ${against}`) } }, yaxis: { type: "category", showgrid: false } }), CONFIG);
    }));
  }

  // ---- policy explorer ----------------------------------------------------------------------------------------

  const player = () => page.players[+$("player").value];
  const snapshot = () => player().snapshots[+$("snapshot").value];

  function table(reference) {
    // The rows [n][A] of the chosen step from an array [H, n, A].
    const { states, actions } = player(), all = numbers(reference), begin = +$("step").value * states.length * actions;
    return states.map((_, s) => Array.from(all.subarray(begin + s * actions, begin + (s + 1) * actions)));
  }

  function drawPolicy() {
    const { states, actions, traced } = player(), there = numbers(snapshot().there), begin = +$("step").value * states.length;
    $("snapshot-name").textContent = `${traced ? snapshot().name[0].toUpperCase() + snapshot().name.slice(1) : "Policy: " + snapshot().name}`;
    $("step-name").textContent = `Step ${+$("step").value + 1} of ${player().horizon}`;
    const labels = states.map((s) => `${s}`), place = states.indexOf(+$("state").value);
    $("policy").setAttribute("aria-label", `Heat map: probability of each action in each state at ${snapshot().name}, ${$("step-name").textContent}.`);
    const reached = states.map((_, s) => Array(actions).fill(there[begin + s]));
    remember();
    return Plotly.react($("policy"), [{
      type: "heatmap", z: table(snapshot().policy), x: [...Array(actions).keys()].map((a) => `action ${a}`), y: labels, customdata: reached,
      zmin: 0, zmax: 1, colorscale: "Cividis", colorbar: { title: { text: "probability", side: "right" }, thickness: 12 },
      hovertemplate: "state %{y}, %{x}: %{z:.3f}<br>reached with probability %{customdata:.3f}<extra></extra>",
    }], layout({
      margin: { l: 50, r: 10, t: 35, b: 40 }, xaxis: { type: "category", showgrid: false }, yaxis: { title: { text: "state" }, type: "category", showgrid: false },
      shapes: [{ type: "rect", xref: "paper", x0: 0, x1: 1, y0: place - 0.5, y1: place + 0.5, line: { color: style("--bad"), width: 3 } }],
    }), CONFIG);
  }

  function rowsOfState() {
    const shot = snapshot(), place = player().states.indexOf(+$("state").value);
    const row = (reference) => (reference ? table(reference)[place] : null);
    const costs = shot.cost_to_go.map(row), loss = row(shot.loss_to_go);
    return {
      policy: row(shot.policy), loss: row(shot.loss), toGo: loss, costs, visits: row(shot.visits), contraction: row(shot.contraction), bonus: row(shot.bonus),
      gain: loss.map((q, a) => q + costs.reduce((sum, cost, i) => sum + shot.dual[i] * cost[a], 0)),
    };
  }

  function sentence(row) {
    const best = row.policy.indexOf(Math.max(...row.policy)), { estimated, actions } = player();
    const others = [...Array(actions).keys()].filter((a) => a !== best);
    let text = `In state ${$("state").value} at step ${+$("step").value + 1} (${snapshot().name}) action ${best} has probability ${number(row.policy[best], 3)}. `;
    if (others.length) {
      const rival = others.reduce((a, b) => (row.gain[b] < row.gain[a] ? b : a));
      const lead = row.gain[rival] - row.gain[best];
      const source = estimated ? "By this episode's estimates" : "By its exact values";
      text += lead >= 0
        ? `${source} it is better than action ${rival} by ${number(lead, 3)}, in loss to go plus dual times cost to go. `
        : `${source} action ${rival} is now better by ${number(-lead, 3)}, in loss to go plus dual times cost to go; the policy sums up all earlier episodes. `;
    }
    if (row.contraction && row.contraction[best] < 0.5) text += `Its feature is still contracted to ${number(row.contraction[best], 2)}: seen ${number(row.visits[best], 6)} times, its estimates hardly count yet. `;
    if (snapshot().dual.every((y) => y === 0)) text += "The dual is 0, so costs do not count here.";
    return text;
  }

  function explain() {
    const row = rowsOfState(), { actions, budgets } = player(), box = $("why");
    const several = budgets.length > 1 ? (i) => ` of constraint ${i}` : () => "";
    const lines = [
      ["probability", row.policy], ["loss at once", row.loss], ["loss to go", row.toGo],
      ...row.costs.map((cost, i) => [`cost to go${several(i)}`, cost]),
      ...snapshot().dual.map((y, i) => [`dual${several(i)}, times cost`, row.costs[i].map((cost) => y * cost)]),
      ["loss + dual × cost", row.gain], ["bonus", row.bonus], ["contraction", row.contraction], ["visits before", row.visits],
    ].filter(([, cells]) => cells);
    const head = element("tr");
    head.append(element("th", "", { scope: "col" }), ...[...Array(actions).keys()].map((a) => element("th", `action ${a}`, { scope: "col" })));
    head.firstChild.textContent = "of each action";
    const body = lines.map(([words, cells]) => {
      const tr = element("tr");
      tr.append(element("th", words, { scope: "row" }), ...cells.map((cell) => element("td", number(cell))));
      return tr;
    });
    const made = element("table"), thead = element("thead"), tbody = element("tbody");
    thead.append(head);
    tbody.append(...body);
    made.append(thead, tbody);
    const wide = element("div", undefined, { className: "wide", tabIndex: 0 });
    wide.setAttribute("role", "region");
    wide.setAttribute("aria-label", "What spoke for each action");
    wide.append(made);
    box.replaceChildren(element("h3", "Why this action?"), element("p", sentence(row)), wide);
  }

  function drawExplorer() {
    explain();
    return drawPolicy();
  }

  function choosePlayer(kept = {}) {
    const { states, snapshots, horizon, traced, estimated, all_states: all } = player();
    $("snapshot").max = snapshots.length - 1;
    $("snapshot").value = traced ? snapshots.length - 1 : 0;
    $("step").max = horizon - 1;
    fill($("state"), states.map((s) => [s, s]));
    const there = numbers(snapshots[0].there).subarray(0, states.length);
    $("state").value = states[there.indexOf(Math.max(...there))];
    for (const id of ["snapshot", "step", "state"]) restore(id, kept);
    $("explorer-note").textContent =
      (traced ? "" : "This run was made without a trace, so there are no episodes to go through: run it with trace = true. ") +
      (estimated ? "Numbers are the learner's own estimates at that episode; a smaller loss + dual × cost is better. " : "Numbers are exact values of the policy shown. ") +
      (all ? "" : `The ${states.length} states most visited are shown.`);
    return drawExplorer();
  }

  function startExplorer(kept) {
    fill($("player"), page.players.map((one, i) => [i, one.name]));
    $("player-label").hidden = page.players.length < 2;
    restore("player", kept);
    $("player").addEventListener("change", () => choosePlayer());
    for (const id of ["snapshot", "step", "state"]) $(id).addEventListener(id === "state" ? "change" : "input", drawExplorer);
    return choosePlayer(kept).then(() => {
      $("policy").on("plotly_click", (event) => {
        $("state").value = event.points[0].y;
        drawExplorer();
      });
    });
  }

  // ---- the rest -----------------------------------------------------------------------------------------------

  function startSpec() {
    const text = $("spec-text");
    if ($("spec-of")) {
      fill($("spec-of"), page.specs.map(([name], i) => [i, name]));
      $("spec-of").addEventListener("change", () => (text.textContent = page.specs[+$("spec-of").value][1]));
    }
    $("copy").hidden = false;
    $("copy").addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
      } catch {
        getSelection().selectAllChildren(text); // no clipboard, as in some mail readers: the browser's own copying
        document.execCommand("copy");
      }
      $("copied").textContent = " Copied.";
    });
  }

  function startTheme(redraw) {
    const dark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    $("theme").hidden = false;
    $("theme").addEventListener("click", () => {
      document.documentElement.dataset.theme = dark() ? "light" : "dark";
      redraw();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    let before;
    addEventListener("beforeprint", () => {
      before = document.documentElement.dataset.theme;
      document.documentElement.dataset.theme = "light";
      redraw();
    });
    addEventListener("afterprint", () => {
      if (before) document.documentElement.dataset.theme = before;
      else delete document.documentElement.dataset.theme;
      redraw();
    });
  }

  function watch() {
    let known;
    setInterval(async () => {
      try {
        const stamp = await (await fetch("stamp", { cache: "no-store" })).text();
        if (known !== undefined && stamp !== known) {
          remember();
          location.reload();
        }
        known = stamp;
      } catch { /* the server has gone; what is shown stays */ }
    }, 2000);
  }

  async function start() {
    if (page.live) watch();
    if (!page.curves) return;
    startSpec();
    if (typeof DecompressionStream === "undefined") {
      $("chart-status").textContent = "This browser is too old to unpack the curves; findings, tables and spec are complete.";
      return;
    }
    const kept = recall();
    const [library, content] = await Promise.all([unpacked("plotly"), unpacked("blob")]);
    buffer = content;
    document.head.append(element("script", new TextDecoder().decode(library)));
    startCurves(kept);
    await Promise.all([drawCharts(), drawDecomposition(), drawDifferences()]);
    await startExplorer(kept);
    startTheme(() => Promise.all([drawCharts(), drawDecomposition(), drawDifferences(), drawExplorer()]));
    if (kept.scroll) scrollTo(0, kept.scroll);
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  }

  start().catch((error) => {
    console.error(error);
    if ($("chart-status")) $("chart-status").textContent = `The curves could not be drawn: ${error.message}`;
  });
})();
