// The plot of two columns against each other, with the front of the points that are shown.

const MOST_COLOURS = 8; // values that get a colour each; numbers beyond get a scale

const CONFIG = { displayModeBar: false, responsive: true, showTips: false, doubleClick: "reset" };

const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function layout(more) {
  const text = colourOf("--text");
  const grid = { gridcolor: colourOf("--grid"), zerolinecolor: colourOf("--line"), linecolor: colourOf("--line"), automargin: true };
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: text, family: "system-ui, sans-serif", size: 13 },
    margin: { l: 60, r: 15, t: 15, b: 50 },
    hoverlabel: { bgcolor: colourOf("--box"), bordercolor: colourOf("--line"), font: { color: text }, align: "left" },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom", // a finger scrolls the page
    ...more,
    xaxis: { ...grid, ...more.xaxis },
    yaxis: { ...grid, ...more.yaxis },
  };
}

// Where each shown point stands; null where it cannot be drawn on these axes, with the reason counted.
function placed(shown, axes, reasons) {
  const positive = axes.map(({ at, log }) => {
    const values = log ? shown.map((point) => point.values[at]).filter((value) => value > 0 && Number.isFinite(value)) : [];
    return values.length ? values.reduce((p, q) => Math.min(p, q)) : null;
  });
  return shown.map((point) => {
    const place = axes.map(({ at, log }, axis) => {
      const value = point.values[at];
      if (value === null) return "without a value";
      if (!Number.isFinite(value)) return "infinite";
      if (!log || value > 0) return value;
      if (value === 0 && positive[axis] !== null) return positive[axis] / 10; // zero has no place there: below the smallest
      return "not positive";
    });
    const reason = place.find((part) => typeof part === "string");
    if (reason !== undefined) reasons[reason] = (reasons[reason] || 0) + 1;
    return reason === undefined ? place : null;
  });
}

function symbolOf(point) {
  if (point.state === "differs") return "x";
  return (point.kind === "reference" ? "diamond" : "circle") + (point.state === "agrees" ? "" : "-open");
}

function hoverText(point, axes) {
  const status = point.status === "done" ? [] : [plain(point.status)];
  const lines = [`<b>${plain(point.name)}</b>`, ...axes.map(({ at }) => `${plain(COLUMNS[at].label)}: ${written(point.values[at])} ${plain(COLUMNS[at].unit)}`)];
  return [...lines, ...status, plain(point.verdict)].join("<br>");
}

// Groups of points with one colour each; numbers of many values stay one group, with a scale.
function coloured(points, at) {
  if (at < 0) return [{ label: null, points, colour: colourOf("--1") }];
  const of = (point) => point.values[at];
  const values = [...new Set(points.map(of))].sort((p, q) => (typeof p === "number" && typeof q === "number" ? p - q : String(p) < String(q) ? -1 : 1));
  if (COLUMNS[at].number && values.length > MOST_COLOURS) {
    const without = points.filter((point) => of(point) === null);
    const rest = points.filter((point) => of(point) !== null);
    const none = without.length ? [{ label: "–", points: without, colour: colourOf("--8") }] : [];
    return [{ label: null, points: rest, scale: rest.map(of) }, ...none];
  }
  return values.map((value, number) => ({
    label: written(value),
    points: points.filter((point) => of(point) === value),
    colour: colourOf(`--${(number % MOST_COLOURS) + 1}`),
  }));
}

const NOTHING = { type: "scatter", mode: "markers", x: [null], y: [null], hoverinfo: "skip" };

function axisOf(column, log, values) {
  const sizes = values.map(Math.abs).filter((value) => value > 0);
  const decades = sizes.length ? Math.log10(sizes.reduce((p, q) => Math.max(p, q)) / sizes.reduce((p, q) => Math.min(p, q))) : 0;
  const large = sizes.some((value) => value >= 1e4) && sizes.every((value) => value < 1e9);
  return {
    title: { text: plain(column.title), standoff: 8 },
    type: log ? "log" : "linear",
    exponentformat: "power",
    ...(log && decades > 2 ? { dtick: Math.ceil(decades / 8) } : {}),
    ...(!log && large ? { tickformat: ",", nticks: innerWidth < 640 ? 4 : 10 } : {}),
  };
}

function drawScatter(shown) {
  const axes = ["x", "y"].map((id) => ({ at: columnAt(byId(id).value), log: byId(`${id}-log`).checked }));
  const colourAt = columnAt(byId("colour").value);
  const reasons = {};
  const places = new Map();
  placed(shown, axes, reasons).forEach((place, number) => place && places.set(shown[number], place));
  const drawn = shown.filter((point) => places.has(point));

  const better = axes.map(({ at }) => COLUMNS[at].better);
  const comparable = better.every((which) => which !== null) && axes[0].at !== axes[1].at;
  const ranks = shown.map((point) => (point.candidate && comparable ? axes.map(({ at }, axis) => rank(point.values[at], better[axis])) : [null, null]));
  const best = new Set([...front(ranks)].map((number) => shown[number]));

  const traces = coloured(drawn, colourAt).map((group) => ({
    type: "scatter",
    mode: "markers",
    name: plain(group.label ?? ""),
    legendgroup: group.label ?? "",
    showlegend: false,
    x: group.points.map((point) => places.get(point)[0]),
    y: group.points.map((point) => places.get(point)[1]),
    customdata: group.points.map((point) => POINTS.indexOf(point)),
    text: group.points.map((point) => hoverText(point, axes)),
    hovertemplate: "%{text}<extra></extra>",
    marker: {
      size: group.points.map((point) => (best.has(point) ? 12 : 9)),
      opacity: group.points.map((point) => (point.status === "done" ? 1 : 0.35)),
      symbol: group.points.map(symbolOf),
      color: group.scale ?? group.colour,
      ...(group.scale ? { colorscale: "Viridis", showscale: true, colorbar: { title: { text: plain(COLUMNS[colourAt].title) }, thickness: 12 } } : {}),
      line: { width: 1.5, color: group.scale ? colourOf("--text") : group.colour },
    },
  }));
  // The legend shows colours alone, with a symbol that stands for no state.
  const groups = traces.filter((trace) => trace.name);
  traces.push(...groups.map((trace) => ({ ...NOTHING, name: trace.name, legendgroup: trace.legendgroup, marker: { size: 10, symbol: "square", color: trace.marker.color } })));
  if (best.size && !better.includes("zero")) {
    const line = drawn.filter((point) => best.has(point)).map((point) => places.get(point));
    line.sort((p, q) => p[0] - q[0] || (better[0] === better[1] ? q[1] - p[1] : p[1] - q[1]));
    traces.unshift({
      type: "scatter",
      mode: "lines",
      name: "Pareto front",
      x: line.map((place) => place[0]),
      y: line.map((place) => place[1]),
      line: { shape: better[0] === "low" ? "hv" : "vh", color: colourOf("--soft"), width: 1.5, dash: "dot" },
      hoverinfo: "skip",
    });
  }
  const [x, y] = axes.map(({ at, log }, axis) => axisOf(COLUMNS[at], log, [...places.values()].map((place) => place[axis])));
  const legend = { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, title: { text: colourAt < 0 || !groups.length ? "" : plain(COLUMNS[colourAt].label) } };
  Plotly.react("plot", traces, layout({ xaxis: x, yaxis: y, legend, showlegend: groups.length > 0 || best.size > 0 }), CONFIG);

  const names = [...best].map((point) => point.name);
  const zeros = drawn.filter((point) => axes.some(({ at, log }) => log && point.values[at] === 0)).length;
  const without = Object.entries(reasons).map(([reason, count]) => `${count} ${reason}`);
  byId("plot").setAttribute("aria-label", `${COLUMNS[axes[1].at].title} over ${COLUMNS[axes[0].at].title}, ${drawn.length} points`);
  byId("plot-note").textContent = [
    `${drawn.length} of ${shown.length} shown points are drawn${without.length ? `; not drawn: ${without.join(", ")}` : ""}.`,
    comparable ? `${best.size} on the Pareto front${names.length && names.length <= 6 ? `: ${names.join("; ")}` : ""}.` : "No Pareto front: one of the two columns has no better value, or both are the same.",
    axes.some(({ at }) => DATA.steps.includes(COLUMNS[at].key)) ? "Beware: the points take unequal numbers of products a step, and this cost is of a step; for equal work choose the cost per product." : "",
    zeros ? `${zeros} of them are 0 and stand a decade below the smallest other value.` : "",
  ].join(" ");
}

// Marks a point, as the pointer would; null marks none.
function markPoint(number) {
  const traces = byId("plot").data || [];
  for (let trace = 0; trace < traces.length; trace += 1) {
    const at = number === null ? -1 : (traces[trace].customdata || []).indexOf(number);
    if (at >= 0) {
      Plotly.Fx.hover("plot", [{ curveNumber: trace, pointNumber: at }]);
      return;
    }
  }
  Plotly.Fx.unhover("plot");
}
