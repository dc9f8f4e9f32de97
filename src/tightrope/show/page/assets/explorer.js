// What does the policy do in a state, and why?

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
    ["loss + dual × cost", row.gain], ["bonus on the loss", row.bonus], ["contraction", row.contraction], ["visits before", row.visits],
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
  $("player").value = Math.max(page.players.findIndex((one) => one.key === kept.player), 0);
  $("player").addEventListener("change", () => choosePlayer());
  for (const id of ["snapshot", "step", "state"]) $(id).addEventListener(id === "state" ? "change" : "input", drawExplorer);
  return choosePlayer(kept).then(() => {
    $("policy").on("plotly_click", (event) => {
      $("state").value = event.points[0].y;
      drawExplorer();
    });
  });
}
