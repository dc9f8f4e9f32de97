// How does what somebody chose live on when a live page is loaded again? In the tab's own storage, by names that stay.

const REMEMBERED = ["y0", "y1", "x", "mode", "per", "logx", "logy", "snapshot", "step", "state"];
const zoom = {}; // of each chart: what it shows (`of`), and the ranges of the axes that somebody has zoomed

function remember() {
  if (!page.live || !document.documentElement.dataset.ready) return; // while it starts, not all is as it was chosen
  const kept = { scroll: scrollY, zoom, theme: document.documentElement.dataset.theme, focus: document.activeElement.id };
  for (const id of REMEMBERED) if ($(id)) kept[id] = $(id).type === "checkbox" ? $(id).checked : $(id).value;
  kept.player = player().key;
  kept.off = [...document.querySelectorAll("#choices input")].filter((box) => !box.checked).map((box) => box.dataset.name);
  kept.open = [...document.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent);
  sessionStorage.setItem("tightrope", JSON.stringify(kept));
}

function recall() {
  const kept = (page.live && JSON.parse(sessionStorage.getItem("tightrope") || "null")) || {};
  Object.assign(zoom, kept.zoom);
  if (kept.theme) document.documentElement.dataset.theme = kept.theme;
  for (const summary of document.querySelectorAll("details > summary"))
    if ((kept.open || []).includes(summary.textContent)) summary.parentElement.open = true;
  return kept;
}

function restore(id, kept) {
  if (!(id in kept)) return;
  if ($(id).type === "checkbox") $(id).checked = kept[id];
  else if ($(id).type === "range" || [...$(id).options].some((option) => option.value === kept[id])) $(id).value = kept[id];
}

function watchZoom(i) {
  const box = $(`chart${i}`);
  box.on("plotly_relayout", () => {
    const range = ({ autorange, range }) => (autorange ? null : [...range]);
    zoom[i] = { of: meaning(i), x: range(box._fullLayout.xaxis), y: range(box._fullLayout.yaxis) };
    remember();
  });
}

function zoomed(i, along) {
  const range = zoom[i] && zoom[i].of === meaning(i) ? zoom[i][along] : null;
  return range ? { range, autorange: false } : {};
}
