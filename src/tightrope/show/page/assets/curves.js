// How are curves drawn, and chosen?

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

function meaning(i) {
  return [`y${i}`, "x"].map((id) => $(id).value).concat(["per", "logx", "logy"].map((id) => $(id).checked)).join();
}

function drawChart(i) {
  const yName = $(`y${i}`).value, xName = $("x").value, lines = traces(yName);
  const title = `${words(yName)[0].toUpperCase()}${words(yName).slice(1)}`;
  const box = $(`chart${i}`);
  box.setAttribute("aria-label", `Chart: ${words(yName)} over ${words(xName)}, ${lines.length} lines. The table below has where they end.`);
  return Plotly.react(box, lines, layout({
    title: { text: title, x: 0, xanchor: "left", font: { size: 14 } }, showlegend: lines.length > 1 && lines.length < 80,
    xaxis: { title: { text: words(xName) }, type: $("logx").checked ? "log" : "linear", ...zoomed(i, "x") },
    yaxis: { title: { text: words(yName) }, type: $("logy").checked ? "log" : "linear", ...zoomed(i, "y") },
  }), CONFIG);
}

function drawCharts() {
  $("chart-status").textContent = $("logx").checked || $("logy").checked ? "A log axis leaves out what is zero or below, and bands." : "";
  remember();
  return Promise.all([drawChart(0), drawChart(1)]);
}

function choices(kept) {
  const { groups, runs } = page.curves;
  const off = new Set(kept.off);
  const box = (kind, value, name, words) => {
    const label = element("label"), input = element("input", undefined, { type: "checkbox", checked: !off.has(`${kind} ${name}`), value });
    input.dataset.kind = kind;
    input.dataset.name = `${kind} ${name}`;
    label.append(input, ` ${words}`);
    return label;
  };
  const list = groups.map((group, i) => box("group", i, group.name, `${group.name} (${group.seeds} ${group.seeds === 1 ? "run" : "runs"})`));
  const each = runs.map((run, i) => box("run", i, run.key, `${run.key}, seed ${run.seed}`));
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
  choices(kept);
  const ids = ["y0", "y1", "x", "mode", "per", "logx", "logy"];
  for (const id of ids) {
    restore(id, kept);
    $(id).addEventListener("change", drawCharts);
  }
}
