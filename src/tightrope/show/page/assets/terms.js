// What do regret and violation consist of, and how do settings differ?

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
