// How does the page start, change its colours, copy its spec, and ask for news?

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
  [0, 1].forEach(watchZoom);
  await startExplorer(kept);
  startTheme(() => Promise.all([drawCharts(), drawDecomposition(), drawDifferences(), drawExplorer()]));
  if (kept.focus && $(kept.focus)) $(kept.focus).focus({ preventScroll: true });
  if (kept.scroll) scrollTo(0, kept.scroll);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

start().catch((error) => {
  console.error(error);
  if ($("chart-status")) $("chart-status").textContent = `The curves could not be drawn: ${error.message}`;
});
