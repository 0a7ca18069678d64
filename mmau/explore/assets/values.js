// The data of the page, how values are written, and the Pareto front.

const DATA = JSON.parse(document.getElementById("data").textContent);
const COLUMNS = DATA.columns; // key, label, title, unit, better, number
const POINTS = DATA.points; // name, kind, status, message, verdict, state, candidate, toml, unit, verilog, values, errors, histograms, components, missing

// JSON has no infinities: in a column of numbers they come as text. What is not a number counts as missing.
COLUMNS.forEach((column, at) => {
  if (!column.number) return;
  for (const point of POINTS) {
    const value = point.values[at] === null ? null : Number(point.values[at]);
    point.values[at] = Number.isNaN(value) ? null : value;
  }
});

const columnAt = (key) => COLUMNS.findIndex((column) => column.key === key);
const byId = (id) => document.getElementById(id);

function create(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children); // strings become text, never markup
  return made;
}

function written(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-US");
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-3 ? value.toExponential(3) : Number(value.toPrecision(5)).toLocaleString("en-US", { maximumSignificantDigits: 5 });
  return text.replace(/^-/, "−").replace("e-", "e−").replace("e+", "e");
}

// The value of a point in a column, with its uncertainty.
function writtenOf(point, key) {
  const [value, error] = [point.values[columnAt(key)], point.errors[key]];
  return error === undefined || value === null || !Number.isFinite(value) ? written(value) : `${value.toFixed(1).replace("-", "−")} ± ${error.toFixed(1)}`;
}

// Costs in different libraries of cells do not compare: each has a panel, a front and a scale.
const cellsOf = (points) => [...new Set(POINTS.filter((point) => points.includes(point)).map((point) => point.cells))];

// The text that plotly draws may hold tags of its own; a point's name may not.
const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// What is compared where the front is sought: smaller is better.
function rank(value, better) {
  if (value === null) return null;
  return better === "high" ? -value : better === "zero" ? Math.abs(value) : value;
}

// The places of the pairs that no pair dominates: nowhere larger and somewhere smaller. Equal pairs do not dominate each other.
function front(pairs) {
  const known = pairs.map((pair, at) => ({ pair, at })).filter(({ pair }) => pair[0] !== null && pair[1] !== null);
  const order = (p, q) => (p < q ? -1 : p > q ? 1 : 0);
  known.sort((p, q) => order(p.pair[0], q.pair[0]) || order(p.pair[1], q.pair[1]));
  const found = new Set();
  let best = null;
  let last = null;
  for (const { pair, at } of known) {
    const first = last === null || pair[0] !== last[0];
    if (first && (best === null || pair[1] < best)) {
      best = pair[1];
      found.add(at);
      last = pair;
    } else if (first) {
      last = [pair[0], null];
    } else if (pair[1] === last[1]) {
      found.add(at);
    }
  }
  return found;
}
