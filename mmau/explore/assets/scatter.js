// The plot of two columns against each other, with the front of the points that are shown.

const MOST_COLOURS = 8; // values that get a colour each; numbers beyond get a scale

const MOST_NAMES = 12; // points of a panel, or else of its front, whose names are written beside them
const [NAME, LINE] = [11, 15]; // size of names, and height of a line of them (pixels)
const [RADIUS, LEADER, CLEAR] = [7, 22, 2]; // as in names_in_plots.py, whose rules these are (pixels)
const DISTANCES = [10, 13, 18, 25, 33, 44, 58, 74, 92, 120];
const SIDES = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, 1], [1, -1], [-1, -1], ...[1, -1].flatMap((one) => [0.4, -0.4].flatMap((part) => [[one, part], [part, one]]))];

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
    ...Object.fromEntries(Object.entries(more).filter(([key]) => /^[xy]axis\d/.test(key)).map(([key, axis]) => [key, { ...grid, ...axis }])),
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

const SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-left", "triangle-right"];

// The second key that is swept gives the shape; where no circuit was co-simulated, filling says nothing.
const shapeAt = columnAt(DATA.swept[1] ?? "");
const shapeValues = shapeAt < 0 ? [] : DATA.styles[DATA.swept[1]].map(([value]) => value);
const isChecked = POINTS.some((point) => point.state === "agrees");

function shapeOf(value) {
  const at = Math.max(0, shapeValues.indexOf(value));
  return SHAPES[shapeValues.length <= SHAPES.length ? at : Math.floor((at * SHAPES.length) / shapeValues.length)];
}

function symbolOf(point) {
  if (point.state === "differs") return "x";
  if (point.kind === "reference") return "star-open";
  return shapeOf(shapeAt < 0 ? null : point.values[shapeAt]) + (point.state === "agrees" || !isChecked ? "" : "-open");
}

const isPale = (point) => point.status !== "done" || point.beyond !== "";

function hoverText(point, axes) {
  const status = point.status === "done" ? (point.beyond ? [plain(point.beyond)] : []) : [plain(point.status)];
  const lines = [`<b>${plain(point.name)}</b>`, ...axes.map(({ at }) => `${plain(COLUMNS[at].label)}: ${writtenOf(point, COLUMNS[at].key)} ${plain(COLUMNS[at].unit)}`)];
  return [...lines, ...status, plain(point.verdict)].join("<br>");
}

// Groups of points with one colour each; numbers of many values stay one group, with a scale.
function coloured(points, at) {
  if (at < 0) return [{ label: null, points, colour: colourOf("--1") }];
  const of = (point) => point.values[at];
  const fixed = new Map((DATA.styles[COLUMNS[at].key] ?? []).map(([value, colour], place) => [value, { colour, place }]));
  const order = (value) => fixed.get(value)?.place ?? (typeof value === "number" ? value : Infinity);
  const values = [...new Set(points.map(of))].sort((p, q) => order(p) - order(q) || (String(p) < String(q) ? -1 : 1));
  if (COLUMNS[at].number && values.length > MOST_COLOURS) {
    const without = points.filter((point) => of(point) === null);
    const rest = points.filter((point) => of(point) !== null);
    const none = without.length ? [{ label: "–", points: without, colour: colourOf("--8") }] : [];
    return [{ label: null, points: rest, scale: rest.map(of) }, ...none];
  }
  return values.map((value, number) => ({
    label: value === null && points.every((point) => of(point) !== null || point.kind === "reference") ? "reference" : written(value),
    points: points.filter((point) => of(point) === value),
    colour: styled(fixed.get(value)?.colour ?? (value === null ? "--8" : `--${(number % MOST_COLOURS) + 1}`)),
  }));
}

// A colour of the page's palette, by its name, or of a scale.
const styled = (colour) => (colour.startsWith("--") ? colourOf(colour) : colour);

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

// The width of a name with some air (pixels).
const pen = document.createElement("canvas").getContext("2d");
function widthOf(name) {
  pen.font = `${NAME}px system-ui, sans-serif`;
  return pen.measureText(name).width + 4;
}

// Where names stand: each covers no point, no name and no line, the first ones first, and is near its own point alone, or joined to it.
// `spots` has the places of all points of a panel, `frame` its ends, `lines` pairs of places, `taken` boxes: all in pixels, boxes as [left, top, right, bottom].
function nameBoxes(named, spots, frame, lines, taken) {
  const overlap = (p, q) => p[0] < q[2] && q[0] < p[2] && p[1] < q[3] && q[1] < p[3];
  const around = ([x, y]) => [x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS];
  const nearest = (box, [x, y]) => [Math.min(Math.max(x, box[0]), box[2]), Math.min(Math.max(y, box[1]), box[3])];
  const gap = (box, place) => Math.hypot(...nearest(box, place).map((end, axis) => end - place[axis]));
  const crosses = (box, [from, to]) => {
    let [first, last] = [0, 1];
    for (const axis of [0, 1]) {
      const step = to[axis] - from[axis];
      if (step === 0 && !(box[axis] < from[axis] && from[axis] < box[axis + 2])) return false;
      if (step === 0) continue;
      const ends = [(box[axis] - from[axis]) / step, (box[axis + 2] - from[axis]) / step];
      [first, last] = [Math.max(first, Math.min(...ends)), Math.min(last, Math.max(...ends))];
    }
    return first < last;
  };
  const places = [...spots.values()];
  const full = [...taken, ...places.map(around)];
  const drawn = [...lines];
  const candidates = DISTANCES.flatMap((distance) => SIDES.map(([right, down]) => [distance, right, down]));
  const found = [];
  for (const { point, name } of named) {
    const [x, y] = spots.get(point);
    const width = widthOf(name);
    for (const [distance, right, down, isLast] of [...candidates, ...candidates.map((each) => [...each, true])]) {
      const step = right === 0 || down === 0 ? distance : 0.7 * distance;
      const left = x + right * step - (right > 0 ? 0 : right < 0 ? width : width / 2);
      const top = y + down * step - (down > 0 ? 0 : down < 0 ? LINE : LINE / 2);
      const box = [left, top, left + width, top + LINE];
      const joined = distance > LEADER;
      const leader = [[x, y], nearest(box, [x, y])];
      if (box[0] < frame[0] || box[1] < frame[1] || box[2] > frame[2] || box[3] > frame[3]) continue;
      if (full.some((other) => overlap(box, other)) || drawn.some((line) => crosses(box, line))) continue;
      const own = gap(box, [x, y]);
      const others = Math.min(...places.filter((other) => other[0] !== x || other[1] !== y).map((other) => gap(box, other)));
      if (others < own && !(isLast && joined)) continue;
      if (!joined && others < CLEAR * own) continue;
      if (joined && full.some((other) => !overlap(other, around([x, y])) && crosses(other, leader))) continue;
      full.push(box);
      if (joined) drawn.push(leader);
      found.push({ point, name, joined, x: (box[0] + box[2]) / 2 - x, y: (box[1] + box[3]) / 2 - y });
      break;
    }
  }
  return found;
}

// The names of the points of all panels, as annotations of the plot that is drawn, and the points without a place for theirs.
function names(panels, places, best, fronts, axes, limits) {
  const drawn = byId("plot")._fullLayout;
  const [annotations, left] = [[], []];
  for (const [panel, cells] of panels.entries()) {
    const x = drawn[`xaxis${panel > 0 ? panel + 1 : ""}`];
    const y = drawn.yaxis;
    const pixel = (place) => [x._offset + x.d2p(place[0]), y._offset + y.d2p(place[1])];
    const frame = [x._offset, y._offset, x._offset + x._length, y._offset + y._length];
    const inside = [...places.keys()].filter((point) => point.cells === cells);
    const spots = new Map(inside.map((point) => [point, pixel(places.get(point))]));
    const front = inside.filter((point) => best.has(point));
    const chosen = inside.length <= MOST_NAMES ? [...front, ...inside.filter((point) => !best.has(point))] : front.length <= MOST_NAMES ? front : [];
    const shorter = (name) => (panels.length > 1 && name.split(" ").filter((word) => word !== cells).join(" ")) || name;
    const lines = fronts.filter((line) => line.panel === panel).flatMap(({ corners }) => corners.slice(1).map((corner, at) => [pixel(corners[at]), pixel(corner)]));
    const boxes = [];
    for (const { axis, at, text } of limits) {
      const [across, up] = pixel([at, at]);
      lines.push(axis ? [[frame[0], up], [frame[2], up]] : [[across, frame[1]], [across, frame[3]]]);
      if (axis) boxes.push([frame[2] - widthOf(text), up - 1.5 * LINE, frame[2], up]);
    }
    const named = nameBoxes(chosen.map((point) => ({ point, name: shorter(point.name) })), spots, frame, lines, boxes);
    const on = (axis, value) => (axes[axis].log ? Math.log10(value) : value);
    annotations.push(...named.map(({ point, name, joined, x: right, y: down }) => ({
      text: plain(name),
      xref: `x${panel > 0 ? panel + 1 : ""}`,
      yref: "y",
      x: on(0, places.get(point)[0]),
      y: on(1, places.get(point)[1]),
      font: { size: NAME },
      ...(joined ? { showarrow: true, arrowhead: 0, arrowwidth: 1, arrowcolor: colourOf("--soft"), ax: right, ay: down, standoff: 4 } : { showarrow: false, xshift: right, yshift: -down }),
    })));
    left.push(...chosen.filter((point) => !named.some((each) => each.point === point)));
  }
  return [annotations, left];
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
  const lines = cellsOf(shown.filter((point) => point.candidate)).map((cells) =>
    [...front(ranks.map((pair, number) => (shown[number].cells === cells ? pair : [null, null])))].map((number) => shown[number]),
  );
  const best = new Set(lines.flat());

  const panels = cellsOf(drawn.length ? drawn : POINTS);
  const panelOf = (point) => panels.indexOf(point.cells);
  const axisNo = (panel) => `x${panel > 0 ? panel + 1 : ""}`;
  const traces = coloured(drawn, colourAt).flatMap((group) =>
    panels.map((cells, panel) => [group.points.filter((point) => point.cells === cells), panel]).filter(([points]) => points.length).map(([points, panel]) => ({
      type: "scatter",
      mode: "markers",
      name: plain(group.label ?? ""),
      legendgroup: group.label ?? "",
      showlegend: false,
      xaxis: axisNo(panel),
      x: points.map((point) => places.get(point)[0]),
      y: points.map((point) => places.get(point)[1]),
      customdata: points.map((point) => POINTS.indexOf(point)),
      text: points.map((point) => hoverText(point, axes)),
      hovertemplate: "%{text}<extra></extra>",
      marker: {
        size: points.map((point) => (best.has(point) ? 12 : 9)),
        opacity: points.map((point) => (isPale(point) ? 0.35 : 1)),
        symbol: points.map(symbolOf),
        color: group.scale ? points.map((point) => point.values[colourAt]) : group.colour,
        ...(group.scale ? { colorscale: "Viridis", cmin: Math.min(...group.scale), cmax: Math.max(...group.scale), showscale: true, colorbar: { title: { text: plain(COLUMNS[colourAt].title) }, thickness: 12 } } : {}),
        line: { width: 1.5, color: group.scale ? colourOf("--text") : group.colour },
      },
    })),
  );
  // The legend shows colours alone, with a symbol that stands for no state.
  const groups = [...new Map(traces.filter((trace) => trace.name).map((trace) => [trace.name, trace])).values()];
  traces.push(...groups.map((trace) => ({ ...NOTHING, name: trace.name, legendgroup: trace.legendgroup, marker: { size: 10, symbol: "square", color: trace.marker.color } })));
  if (shapeAt >= 0 && shapeValues.length > 1) {
    const shapes = shapeValues.length <= SHAPES.length ? shapeValues : [];
    traces.push(...shapes.map((value) => ({ ...NOTHING, name: `${plain(COLUMNS[shapeAt].label)} ${plain(written(value))}`, marker: { size: 10, symbol: shapeOf(value), color: colourOf("--soft") } })));
  }
  // Unseen and larger than the points: room for names at the ends of the axes.
  traces.push(...panels.map((cells, panel) => {
    const inside = drawn.filter((point) => point.cells === cells).map((point) => places.get(point));
    return { type: "scatter", mode: "markers", xaxis: axisNo(panel), x: inside.map(([x]) => x), y: inside.map(([, y]) => y), marker: { size: 60, opacity: 0 }, hoverinfo: "skip", showlegend: false };
  }));
  const joined = better.includes("zero") ? [] : lines.map((of) => drawn.filter((point) => of.includes(point))).filter((of) => of.length);
  const fronts = [];
  for (const [number, of] of joined.entries()) {
    const line = of.map((point) => places.get(point));
    line.sort((p, q) => p[0] - q[0] || (better[0] === better[1] ? q[1] - p[1] : p[1] - q[1]));
    const corners = line.flatMap((place, at) => (at === 0 ? [place] : [better[0] === "low" ? [place[0], line[at - 1][1]] : [line[at - 1][0], place[1]], place]));
    fronts.push({ panel: panelOf(of[0]), corners });
    traces.unshift({
      type: "scatter",
      mode: "lines",
      name: "Pareto front",
      showlegend: number === 0,
      xaxis: axisNo(panelOf(of[0])),
      x: line.map((place) => place[0]),
      y: line.map((place) => place[1]),
      line: { shape: better[0] === "low" ? "hv" : "vh", color: colourOf("--soft"), width: 1.5, dash: "dot" },
      hoverinfo: "skip",
    });
  }
  const y = axisOf(COLUMNS[axes[1].at], axes[1].log, [...places.values()].map((place) => place[1]));
  const space = 0.06;
  const share = (1 + space) / panels.length;
  const xs = panels.map((cells, panel) => [
    `xaxis${panel > 0 ? panel + 1 : ""}`,
    { ...axisOf(COLUMNS[axes[0].at], axes[0].log, drawn.filter((point) => point.cells === cells).map((point) => places.get(point)[0])), domain: [panel * share, Math.min(1, panel * share + share - space)], anchor: "y" },
  ]);
  const titles = panels.length < 2 ? [] : panels.map((cells, panel) => ({ text: `<b>${plain(cells || "no cells")}</b>`, xref: "paper", yref: "paper", x: panel * share, y: 1, xanchor: "left", yanchor: "bottom", showarrow: false }));
  const legend = { orientation: "h", y: panels.length > 1 ? 1.08 : 1.02, yanchor: "bottom", x: 0, title: { text: colourAt < 0 || !groups.length ? "" : plain(COLUMNS[colourAt].label) } };
  const shapes = DATA.limits.flatMap(({ key, at, text }) =>
    axes.flatMap((axis, number) => {
      if (COLUMNS[axis.at].key !== key) return [];
      const value = axis.log ? Math.log10(at) : at;
      const [along, across] = number ? ["x", "y"] : ["y", "x"];
      return (number ? [0] : [...panels.keys()]).map((panel) => ({ type: "line", [`${across}ref`]: number ? "y" : axisNo(panel), [`${along}ref`]: "paper", [`${along}0`]: 0, [`${along}1`]: 1, [`${across}0`]: value, [`${across}1`]: value, line: { color: colourOf("--bad"), width: 1.5, dash: "dash" },
        label: { text: plain(text), textposition: "end", yanchor: "bottom", font: { size: 11, color: colourOf("--bad") } } }));
    }),
  );
  const limits = [...new Set(DATA.limits.filter(({ key }) => axes.some(({ at }) => COLUMNS[at].key === key)).map(({ text }) => text))];
  Plotly.react("plot", traces, layout({ ...Object.fromEntries(xs), yaxis: y, legend, shapes, annotations: titles, showlegend: groups.length > 0 || best.size > 0 }), CONFIG);
  const dashed = DATA.limits.flatMap(({ key, at, text }) => axes.flatMap((axis, number) => (COLUMNS[axis.at].key === key ? [{ axis: number, at, text }] : [])));
  const [named, nameless] = names(panels, places, best, fronts, axes, dashed);
  Plotly.relayout("plot", { annotations: [...titles, ...named] });

  const inFront = [...best].map((point) => point.name);
  const zeros = drawn.filter((point) => axes.some(({ at, log }) => log && point.values[at] === 0)).length;
  const without = Object.entries(reasons).map(([reason, count]) => `${count} ${reason}`);
  byId("plot").setAttribute("aria-label", `${COLUMNS[axes[1].at].title} over ${COLUMNS[axes[0].at].title}, ${drawn.length} points`);
  byId("plot-note").textContent = [
    `${drawn.length} of ${shown.length} shown points are drawn${without.length ? `; not drawn: ${without.join(", ")}` : ""}.`,
    comparable ? `${best.size} on the Pareto front${inFront.length && inFront.length <= 6 ? `: ${inFront.join("; ")}` : ""}.` : "No Pareto front: one of the two columns has no better value, or both are the same.",
    axes.some(({ at }) => DATA.steps.includes(COLUMNS[at].key)) ? "Beware: the points take unequal numbers of products a step, and this cost is of a step; for equal work choose the cost per product." : "",
    limits.length ? `Dashed: ${limits.join(", ")}.` : "",
    nameless.length ? `Without a place for their names: ${nameless.map((point) => point.name).join("; ")}.` : "",
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
