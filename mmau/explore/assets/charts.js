// Distributions of the error, and area by component, of the first points of the table.

const MOST_LINES = 8;
const MOST_BARS = 25;

function firstOf(points, most, what) {
  const some = points.length > most ? `The first ${most} of ${points.length} points in the order of the table that have ${what}.` : `All ${points.length} shown points that have ${what}.`;
  return [points.slice(0, most), points.length ? some : `No shown point has ${what}.`];
}

// The lower edges from the first to the last bin that holds something.
function filledEdges(histograms) {
  const all = [...new Set(histograms.flatMap((bins) => bins.map(([edge]) => edge)))].sort((p, q) => p - q);
  const filled = new Set(histograms.flatMap((bins) => bins.filter(([, count]) => count > 0).map(([edge]) => edge)));
  const places = all.map((edge, at) => (filled.has(edge) ? at : -1)).filter((at) => at >= 0);
  return places.length ? all.slice(places[0], places[places.length - 1] + 1) : all;
}

function drawDistributions(shown) {
  const workload = byId("workload").value;
  const [points, note] = firstOf(shown.filter((point) => (point.histograms[workload] || []).some(([, count]) => count > 0)), MOST_LINES, "a distribution for this workload");
  byId("distribution").hidden = !points.length;
  byId("distribution-note").textContent = `${note} A line's height is the share of the results in that bin; bins are drawn equally wide, the outermost hold all beyond.`;
  if (!points.length) return;
  const edges = filledEdges(points.map((point) => point.histograms[workload]));
  const traces = points.map((point, number) => {
    const counts = new Map(point.histograms[workload]);
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const shares = edges.map((edge) => (counts.get(edge) || 0) / total);
    return {
      type: "scatter",
      mode: "lines",
      name: plain(point.name),
      x: [...edges.keys(), edges.length], // the bins are octaves far from 0: drawn equally wide
      y: [...shares, shares[shares.length - 1]],
      text: [...edges, edges[edges.length - 1]].map(written),
      line: { shape: "hv", color: colourOf(`--${number + 1}`), width: 1.8 },
      hovertemplate: "from %{text} ulp: %{y:.3%}<extra>%{fullData.name}</extra>",
    };
  });
  const every = Math.ceil(edges.length / 12);
  const ticks = { tickvals: [...edges.keys()].filter((at) => at % every === 0), ticktext: edges.filter((_, at) => at % every === 0).map(written) };
  const axes = { xaxis: { title: { text: "error (ulp): lower edges of the bins", standoff: 8 }, ...ticks }, yaxis: { title: { text: "share" }, tickformat: ".0%", rangemode: "tozero" } };
  byId("distribution").setAttribute("aria-label", `Distributions of the error of ${points.length} points on ${workload}`);
  Plotly.react("distribution", traces, layout({ ...axes, showlegend: true }), CONFIG);
}

function drawComponents(shown) {
  const [points, note] = firstOf(shown.filter((point) => Object.keys(point.components).length), MOST_BARS, "an area by component");
  byId("components").hidden = !points.length;
  byId("component-note").textContent = note;
  if (!points.length) return;
  const names = [...new Set(points.flatMap((point) => Object.keys(point.components)))];
  const traces = names.map((name, number) => ({
    type: "bar",
    orientation: "h",
    name: plain(name),
    y: points.map((_, at) => at),
    x: points.map((point) => point.components[name] ?? null),
    text: points.map((point) => plain(point.name)),
    textposition: "none",
    marker: { color: colourOf(`--${(number % MOST_COLOURS) + 1}`), pattern: { shape: ["", "/", "."][Math.floor(number / MOST_COLOURS) % 3] } },
    hovertemplate: "%{text}<br>%{fullData.name}: %{x:,.0f} µm²<extra></extra>",
  }));
  byId("components").style.height = byId("components").style.maxHeight = `${8 + 1.7 * points.length}rem`;
  const ticks = { tickvals: points.map((_, at) => at), ticktext: points.map((point) => plain(point.name)), autorange: "reversed" };
  byId("components").setAttribute("aria-label", `Area by component of ${points.length} points`);
  Plotly.react("components", traces, layout({ barmode: "stack", showlegend: true, xaxis: { title: { text: "area (µm²)" }, tickformat: ",", nticks: innerWidth < 640 ? 4 : 8 }, yaxis: ticks }), CONFIG);
}
