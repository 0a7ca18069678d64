// Which points are shown. Filters of parameters hold for points of the space; an instruction beside it is shown by its kind.

const MOST_BOXES = 12; // values of a parameter that get a box each; numbers beyond get a range

const filters = []; // each: passes(point) and reset()

function boxes(legend, values, valueOf, changed) {
  const inputs = values.map((value) => {
    const input = create("input", { type: "checkbox", "data-value": String(value) });
    input.checked = true;
    input.addEventListener("change", changed);
    return input;
  });
  const labels = inputs.map((input, at) => create("label", { class: "check" }, input, written(values[at])));
  filters.push({
    passes: (point) => {
      const at = values.indexOf(valueOf(point));
      return at < 0 || inputs[at].checked;
    },
    reset: () => inputs.forEach((input) => (input.checked = true)),
  });
  return create("fieldset", {}, create("legend", {}, legend), ...labels);
}

function range(legend, values, valueOf, changed) {
  const [low, high] = ["from", "to"].map((word, end) => {
    const input = create("input", { type: "number", step: "any", placeholder: written(values[end ? values.length - 1 : 0]), "aria-label": `${legend} ${word}` });
    input.addEventListener("input", changed);
    return input;
  });
  filters.push({
    passes: (point) => {
      const value = valueOf(point);
      if (value === null || value === undefined) return true;
      return (low.value === "" || value >= Number(low.value)) && (high.value === "" || value <= Number(high.value));
    },
    reset: () => [low, high].forEach((input) => (input.value = "")),
  });
  return create("fieldset", {}, create("legend", {}, legend), "from", low, "to", high);
}

function buildFilters(changed) {
  const form = byId("filters");
  form.addEventListener("submit", (event) => event.preventDefault());
  const search = create("input", { type: "search", "aria-label": "Name holds" });
  search.addEventListener("input", changed);
  filters.push({
    passes: (point) => point.name.toLowerCase().includes(search.value.trim().toLowerCase()),
    reset: () => (search.value = ""),
  });
  form.append(create("fieldset", {}, create("legend", {}, "name holds"), search));
  for (const key of DATA.swept) {
    const values = DATA.styles[key].map(([value]) => value);
    if (values.length < 2) continue;
    const at = columnAt(key);
    const valueOf = (point) => (point.kind === "point" ? point.values[at] : null);
    const many = values.length > MOST_BOXES && COLUMNS[at].number;
    form.append((many ? range : boxes)(COLUMNS[at].label, values, valueOf, changed));
  }
  for (const [legend, key] of [["kind", "kind"], ["status", "status"], ["circuit", "state"]]) {
    const values = [...new Set(POINTS.map((point) => point[key]))];
    if (values.length > 1) form.append(boxes(legend, values, (point) => point[key], changed));
  }
  byId("reset").addEventListener("click", () => {
    filters.forEach((filter) => filter.reset());
    changed();
  });
}

const isShown = (point) => filters.every((filter) => filter.passes(point));
