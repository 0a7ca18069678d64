// Joins the parts: what changes, and what is drawn again.

function fill(select, entries, value) {
  select.replaceChildren(...entries.map(([key, label]) => create("option", { value: key }, label)));
  select.value = value;
}

// All values above zero, over a decade and more in some panel: a logarithmic axis.
function wantsLog(key) {
  const of = (points) => points.map((point) => point.values[columnAt(key)]).filter((value) => value !== null && Number.isFinite(value));
  const panels = cellsOf(POINTS).map((cells) => of(POINTS.filter((point) => point.cells === cells)));
  return of(POINTS).every((value) => value >= 0) && panels.some((values) => values.length && Math.max(...values) > 10 * Math.min(...values.filter((value) => value > 0)));
}

function start() {
  let shown = [];
  const drawPlots = () => {
    if (!byId("trade-offs").hidden) drawScatter(shown);
    drawDistributions(shown);
    drawComponents(shown);
  };
  if (!COLUMNS.some((column) => column.number)) byId("trade-offs").hidden = true; // no point has a value
  const changed = () => {
    shown = sorted(POINTS.filter(isShown));
    byId("shown").textContent = `${shown.length} of ${POINTS.length} shown.`;
    drawTable(shown, changed);
    drawPlots();
  };

  const axes = COLUMNS.filter((column) => column.number).map((column) => [column.key, column.title]);
  for (const id of ["x", "y"]) {
    fill(byId(id), axes, DATA[id]);
    byId(`${id}-log`).checked = wantsLog(DATA[id]);
    byId(id).addEventListener("change", () => {
      byId(`${id}-log`).checked = wantsLog(byId(id).value);
      drawScatter(shown);
    });
    byId(`${id}-log`).addEventListener("change", () => drawScatter(shown));
  }
  const colours = COLUMNS.filter((column) => column.key.startsWith("axes.") || column.key.startsWith("parameters.")).map((column) => [column.key, column.title]);
  fill(byId("colour"), [["", "none"], ...colours], DATA.swept[0] ?? "");
  byId("colour").addEventListener("change", () => drawScatter(shown));
  fill(byId("workload"), DATA.workloads.map((name) => [name, name]), DATA.workloads[0]);
  byId("workload").addEventListener("change", () => drawDistributions(shown));
  byId("unzoom").addEventListener("click", () => Plotly.relayout("plot", { "xaxis.autorange": true, "yaxis.autorange": true }));
  byId("close").addEventListener("click", () => byId("point").close());

  byId("theme").addEventListener("change", () => {
    if (byId("theme").value) document.documentElement.dataset.theme = byId("theme").value;
    else delete document.documentElement.dataset.theme;
    drawPlots();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawPlots);

  buildFilters(changed);
  buildChooser(changed);
  changed();
  if (byId("trade-offs").hidden) return;
  byId("plot").on("plotly_click", (event) => {
    const number = event.points[0].customdata;
    if (number !== undefined) openPoint(POINTS[number]);
  });
}

// The library of the plots comes packed; the page's policy knows the script that it becomes.
const packed = Uint8Array.from(atob(byId("plotly").textContent), (letter) => letter.charCodeAt(0));
document.head.append(create("script", {}, new TextDecoder().decode(unpacked(packed))));
start();
