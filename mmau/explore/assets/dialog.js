// Everything about one point: what was verified, its TOML to copy, all values.

function valueTable(caption, keys, point) {
  const rows = keys
    .map((key) => columnAt(key))
    .filter((at) => at >= 0 && (point.values[at] !== null || point.missing[COLUMNS[at].key]))
    .map((at) => {
      const why = point.values[at] === null ? create("span", { class: "soft" }, `– ${point.missing[COLUMNS[at].key]}`) : writtenOf(point, COLUMNS[at].key);
      return create("tr", {}, create("th", { scope: "row" }, COLUMNS[at].title), create("td", { class: COLUMNS[at].number ? "number" : "" }, why));
    });
  if (!rows.length) return "";
  return create("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption }, create("table", {}, create("caption", {}, caption), create("tbody", {}, ...rows)));
}

async function copyText(text, status, source) {
  try {
    await navigator.clipboard.writeText(text);
    status.textContent = "Copied.";
  } catch {
    // Without the clipboard's permission: select it, so that the keyboard copies it.
    getSelection().selectAllChildren(source);
    status.textContent = "This browser does not let the page copy. The text is selected: copy it with Ctrl+C.";
  }
}

function tomlPart(point) {
  if (!point.toml) return [];
  const source = create("pre", { tabindex: "0", "aria-label": "the unit as TOML", id: "toml" }, point.toml);
  const status = create("span", { role: "status", class: "soft", id: "copied" });
  const button = create("button", { type: "button", id: "copy" }, "Copy TOML");
  button.addEventListener("click", () => copyText(point.toml, status, source));
  return [create("h3", {}, "The unit"), source, create("p", {}, button, " ", status)];
}

function openPoint(point) {
  byId("point-name").textContent = point.name;
  const kind = { agrees: "passed", differs: "failed", "not compared": "soft" }[point.state];
  const lines = [create("p", {}, "Circuit against its model: ", create("span", { class: kind }, point.verdict), ".")];
  if (point.status !== "done" || point.message) lines.unshift(create("p", { class: "failed" }, `${point.status}${point.message ? `: ${point.message}` : ""}`));
  if (point.beyond) lines.unshift(create("p", { class: "failed" }, `Beyond a limit: ${point.beyond}`));
  const files = [point.unit, point.verilog].filter(Boolean);
  if (files.length) lines.push(create("p", { class: "soft" }, `Files: ${files.join(", ")}`));
  const of = (prefix) => COLUMNS.map(({ key }) => key).filter((key) => key.startsWith(prefix));
  const tables = [["Parameters", "parameters."], ["Cost", "cost."], ["Accuracy", "accuracy."], ["Co-simulation", "cosimulation."], ["Proof", "proof."], ["Time spent", "seconds."]];
  byId("point-body").replaceChildren(...lines, ...tomlPart(point), create("div", { class: "two" }, ...tables.map(([caption, prefix]) => valueTable(caption, of(prefix), point))));
  byId("point").showModal();
  byId("point").scrollTop = 0;
}
