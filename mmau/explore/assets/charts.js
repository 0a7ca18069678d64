// Distributions of the error of each arithmetic, and area by component of the first points of the table.

const MOST_LINES = 16;
const TICKS = 10; // into how many parts the labels of an axis of bins divide it at most
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

// The places of the edges that have a label: 0, the ends, powers of two, then others, none too near to another.
function labelled(edges) {
  const places = [...edges.keys()];
  const powers = places.filter((at) => edges[at] && Number.isInteger(Math.log2(Math.abs(edges[at])))).sort((p, q) => Math.abs(edges[q]) - Math.abs(edges[p]));
  const found = [];
  for (const at of [...places.filter((place) => edges[place] === 0), 0, edges.length - 1, ...powers, ...places])
    if (found.every((other) => Math.abs(at - other) >= edges.length / TICKS)) found.push(at);
  return found.sort((p, q) => p - q);
}

function drawDistributions(shown) {
  const workload = byId("workload").value;
  const having = shown.filter((point) => (point.histograms[workload] || []).some(([, count]) => count > 0));
  const all = [...new Map(having.map((point) => [point.arithmetic, point]).reverse()).values()].reverse();
  const points = all.length <= MOST_LINES ? all : Array.from({ length: MOST_LINES }, (_, at) => all[Math.floor((at * (all.length - 1)) / (MOST_LINES - 1))]);
  byId("distribution").hidden = !points.length;
  const some = all.length > points.length ? `${points.length} of the ${all.length} arithmetics of the shown points, evenly from the order of the table.` : "Every arithmetic of the shown points.";
  byId("distribution-note").textContent = !points.length ? "No shown point has a distribution for this workload." : `${some} The error is that of the arithmetic alone: quantising comes before it. Points of one arithmetic share a row, whatever they are built of. A row is as high as its fullest bin; bins are drawn equally wide, and hold an octave each far from 0.`;
  if (!points.length) return;
  const edges = filledEdges(points.map((point) => point.histograms[workload]));
  // A row for each point, so that none hides another.
  const traces = points.map((point, number) => {
    const counts = new Map(point.histograms[workload]);
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const shares = edges.map((edge) => (counts.get(edge) || 0) / total);
    const most = Math.max(...shares) || 1;
    return {
      type: "bar",
      name: plain(point.arithmetic),
      x: [...edges.keys()], // the bins are octaves far from 0: drawn equally wide
      y: shares.map((share) => (0.85 * share) / most),
      base: -number,
      width: 1,
      offset: 0,
      customdata: shares,
      text: edges.map(written),
      textposition: "none",
      marker: { color: colourOf("--1") },
      hovertemplate: "from %{text} ulp: %{customdata:.3%}<extra>%{fullData.name}</extra>",
    };
  });
  const tickvals = labelled(edges);
  const ticks = { tickvals, ticktext: tickvals.map((at) => written(edges[at])), tickangle: 0 };
  const rows = { tickvals: points.map((_, number) => 0.4 - number), ticktext: points.map((point) => plain(point.arithmetic)), showgrid: false, zeroline: false, range: [-points.length + 0.95, 1] };
  const axes = { xaxis: { title: { text: "error (ulp): lower edges of the bins", standoff: 8 }, ...ticks }, yaxis: rows };
  byId("distribution").setAttribute("aria-label", `Distributions of the error of ${points.length} arithmetics on ${workload}`);
  Plotly.react("distribution", traces, layout({ ...axes, barmode: "overlay", showlegend: false }), CONFIG);
}

// The components with the largest shares by name, and the others together: as many as there are colours.
function largestComponents(points) {
  const shares = new Map();
  for (const { components } of points) {
    const whole = Object.values(components).reduce((sum, area) => sum + area, 0) || 1;
    for (const [name, area] of Object.entries(components)) shares.set(name, Math.max(shares.get(name) ?? 0, area / whole));
  }
  const most = shares.size <= MOST_COLOURS ? MOST_COLOURS : MOST_COLOURS - 1;
  const large = new Set([...shares].sort((p, q) => q[1] - p[1]).slice(0, most).map(([name]) => name));
  const [kept, rest] = [true, false].map((which) => [...shares.keys()].filter((name) => large.has(name) === which));
  return [...kept.map((name) => [name, [name]]), ...(rest.length ? [["others", rest]] : [])];
}

function drawComponents(shown) {
  const [points, note] = firstOf(shown.filter((point) => Object.keys(point.components).length), MOST_BARS, "an area by component");
  byId("components").hidden = !points.length;
  byId("component-note").textContent = points.length ? `${note} ${DATA.parts}` : note;
  if (!points.length) return;
  const panels = cellsOf(points); // one above the other
  const rows = panels.map((cells) => points.filter((point) => point.cells === cells));
  const traces = largestComponents(points).flatMap(([name, parts], number) =>
    rows.map((held, panel) => ({
      type: "bar",
      orientation: "h",
      name: plain(name),
      legendgroup: name,
      showlegend: panel === 0,
      xaxis: `x${panel > 0 ? panel + 1 : ""}`,
      yaxis: `y${panel > 0 ? panel + 1 : ""}`,
      y: held.map((_, at) => at),
      x: held.map((point) => parts.reduce((sum, part) => sum + (point.components[part] ?? 0), 0)),
      text: held.map((point) => plain(point.name)),
      textposition: "none",
      marker: { color: colourOf(`--${number + 1}`) },
      hovertemplate: "%{text}<br>%{fullData.name}: %{x:,.4~g} µm²<extra></extra>",
    })),
  );
  const wholes = rows.map((held, panel) => ({
    type: "scatter",
    mode: "markers",
    name: "mapped as a whole",
    legendgroup: "mapped as a whole",
    showlegend: panel === 0,
    xaxis: `x${panel > 0 ? panel + 1 : ""}`,
    yaxis: `y${panel > 0 ? panel + 1 : ""}`,
    y: held.map((_, at) => at),
    x: held.map((point) => point.area),
    text: held.map((point) => plain(point.name)),
    marker: { symbol: "line-ns", size: 20, line: { width: 3, color: colourOf("--text") } },
    hovertemplate: "%{text}<br>mapped as a whole: %{x:,.4~g} µm²<extra></extra>",
  }));
  const height = 6 + 5 * panels.length + 1.7 * points.length;
  byId("components").style.height = byId("components").style.maxHeight = `${height}rem`;
  const space = panels.length > 1 ? 5 / height : 0;
  let top = 1;
  const axes = rows.flatMap((held, panel) => {
    const bottom = panel === rows.length - 1 ? 0 : top - ((1 - space * (rows.length - 1)) * held.length) / points.length;
    const [number, domain] = [panel > 0 ? panel + 1 : "", [bottom, top]];
    top = bottom - space;
    const ticks = { tickvals: held.map((_, at) => at), ticktext: held.map((point) => plain(point.name)), autorange: "reversed", domain, anchor: `x${number}` };
    const title = { text: panels.length > 1 ? `area, ${plain(panels[panel] || "no cells")} (µm²)` : "area (µm²)", standoff: 4 };
    return [[`xaxis${number}`, { title, tickformat: ",", nticks: innerWidth < 640 ? 4 : 8, anchor: `y${number}` }], [`yaxis${number}`, ticks]];
  });
  byId("components").setAttribute("aria-label", `Area by component of ${points.length} points`);
  Plotly.react("components", [...traces, ...wholes], layout({ barmode: "stack", showlegend: true, ...Object.fromEntries(axes) }), CONFIG);
}
