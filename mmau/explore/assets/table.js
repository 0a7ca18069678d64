// The table: a row for each point, sorted by a heading, with the columns that were chosen.

const sorting = { key: null, descending: false };
let chosen = DATA.chosen.slice(); // keys of the columns that the table has

// What every table has stands first, if it tells points apart; the others hold a value of the point.
const FIXED = [
  { key: "name", title: "point", of: (point) => point.name },
  ...(POINTS.some((point) => point.status !== "done" || point.beyond) ? [{ key: "status", title: "status", of: (point) => point.status }] : []),
  ...(POINTS.some((point) => point.state !== "not compared") ? [{ key: "verdict", title: "circuit against its model", of: (point) => point.verdict }] : []),
];

function headings() {
  return [
    ...FIXED,
    ...chosen.map((key) => {
      const at = columnAt(key);
      return { key, title: COLUMNS[at].title, number: COLUMNS[at].number, of: (point) => point.values[at] };
    }),
  ];
}

// In the order of the column, without a value at the end either way; points that are alike stay in the order of the space.
function sorted(points) {
  const heading = headings().find(({ key }) => key === sorting.key);
  if (!heading) return points;
  const empty = (value) => value === null || value === undefined;
  const sign = sorting.descending ? -1 : 1;
  return points.slice().sort((p, q) => {
    const [a, b] = [heading.of(p), heading.of(q)];
    if (empty(a) || empty(b)) return Number(empty(a)) - Number(empty(b));
    return a < b ? -sign : a > b ? sign : 0;
  });
}

function cell(point, heading) {
  if (heading.key === "verdict") {
    const kind = { agrees: "passed", differs: "failed", "not compared": "soft" }[point.state];
    return create("td", { class: "verdict" }, create("span", { class: kind }, point.verdict));
  }
  if (heading.key === "status") {
    const text = point.status === "done" && point.beyond ? "beyond a limit" : point.status;
    return create("td", point.beyond ? { title: point.beyond } : {}, create("span", { class: text === "done" ? "" : "failed" }, text));
  }
  const value = heading.of(point);
  const why = value === null ? point.missing[heading.key] : undefined;
  return create("td", { ...(heading.number ? { class: "number" } : {}), ...(why ? { title: why } : {}) }, heading.number ? writtenOf(point, heading.key) : written(value));
}

function row(point) {
  const open = create("button", { type: "button", class: "name" }, point.name);
  open.addEventListener("click", () => openPoint(point));
  const made = create("tr", { "data-point": POINTS.indexOf(point) }, create("th", { scope: "row" }, open));
  made.append(...headings().slice(1).map((heading) => cell(point, heading)));
  made.addEventListener("focusin", () => markPoint(POINTS.indexOf(point)));
  made.addEventListener("focusout", () => markPoint(null));
  return made;
}

function drawHead(changed) {
  const head = create("tr");
  for (const heading of headings()) {
    const button = create("button", { type: "button" }, heading.title);
    const state = sorting.key !== heading.key ? "none" : sorting.descending ? "descending" : "ascending";
    button.addEventListener("click", () => {
      sorting.descending = sorting.key === heading.key && !sorting.descending;
      sorting.key = heading.key;
      changed();
      document.querySelector(`#table thead [data-key="${CSS.escape(heading.key)}"] button`).focus();
    });
    head.append(create("th", { scope: "col", "aria-sort": state, "data-key": heading.key, class: `${heading.number ? "number" : ""} ${heading.title.length > 24 ? "long" : ""}` }, button));
  }
  document.querySelector("#table thead").replaceChildren(head);
}

function drawTable(shown, changed) {
  drawHead(changed);
  document.querySelector("#table tbody").replaceChildren(...shown.map(row));
}

function buildChooser(changed) {
  for (const column of COLUMNS) {
    const input = create("input", { type: "checkbox", "data-key": column.key });
    input.checked = chosen.includes(column.key);
    input.addEventListener("change", () => {
      const wanted = new Set(input.checked ? [...chosen, column.key] : chosen.filter((key) => key !== column.key));
      chosen = [...new Set([...DATA.chosen, ...COLUMNS.map(({ key }) => key)])].filter((key) => wanted.has(key));
      if (!input.checked && sorting.key === column.key) sorting.key = null;
      changed();
    });
    byId("columns").append(create("label", { class: "check" }, input, column.title));
  }
}
