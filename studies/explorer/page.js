// The page: the form's fields, what they mean, and the result. Its state is the address after #, so that a link holds it.

const FIELDS = ["a", "b", "c", "scale_a", "scale_b"];
const WHOLE = { K: "", order: "ascending", promote: "", split: "" };
const at = (id) => document.getElementById(id);
let data, engine, entries, chosen;

function start() {
  data = JSON.parse(at("data").textContent);
  const encoded = atob(at("engine").textContent.trim());
  engine = new Engine(Uint8Array.from(encoded, (letter) => letter.charCodeAt(0)), data);
  entries = data.entries.map((row) => Object.fromEntries(data.columns.map((column, n) => [column, row[n]])));
  fill(at("arch"), data.architectures.map(([name, sold], n) => [n, sold ? `${name} (${sold})` : name]));
  fill(at("preset"), [["", "choose …"], ...PRESETS.map(({ title }, n) => [n, title])]);
  fill(at("parts"), data.parts.map(([name]) => ["", name]));
  at("part").addEventListener("change", part);
  at("arch").addEventListener("change", () => ((at("part").value = at("part-note").textContent = ""), list() && choose(nearest())));
  at("filter").addEventListener("input", list);
  at("instruction").addEventListener("change", () => choose(entries[at("instruction").value]));
  at("preset").addEventListener("change", () => at("preset").value !== "" && preset(PRESETS[at("preset").value]));
  at("style").addEventListener("change", restyle);
  at("form").addEventListener("submit", (event) => (event.preventDefault(), compute()));
  const computes = ({ target }) => FIELDS.includes(target.id) || target.id in WHOLE;
  at("form").addEventListener("change", (event) => computes(event) && compute());
  at("form").addEventListener("input", (event) => computes(event) && soon());
  at("link").addEventListener("click", copyLink);
  addEventListener("hashchange", () => location.hash.slice(1) !== address() && open());
  open();
}

let waiting;

/** Compute when the reader pauses, so that the result is not that of an input which is no longer there. */
function soon() {
  at("preset").value = ""; // the input is no longer that of an example, which can be chosen again
  clearTimeout(waiting);
  waiting = setTimeout(compute, 400);
}

const fill = (select, options) => select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
const firstListed = () => entries[at("instruction").options[0].value];

/** Take the architecture of the part that is named, and say where it is only read as that one. */
function part() {
  const spelt = (name) => name.toLowerCase().replace(/[\s_-]/g, "");
  const asked = spelt(at("part").value), note = at("part-note");
  const found = data.parts.find(([name]) => spelt(name) === asked);
  note.className = asked && !found ? "note failed" : "note";
  note.textContent = "";
  if (!asked) return;
  if (!found) return (note.textContent = "no part of this name: choose an architecture");
  const [name, target, arch, why] = found;
  note.textContent = `${name} is ${target}${why ? `, read as ${data.architectures[arch][0]}: ${why}` : ""}`;
  at("arch").value = arch;
  at("filter").value = "";
  list();
  choose(nearest());
}

/** Of the listed instructions the one of the chosen name, or the first that takes the same operands, or the first. */
function nearest() {
  const listed = [...at("instruction").options].map(({ value }) => entries[value]);
  const takes = (entry) => ["a", "b", "c", "scale", "k"].every((key) => entry[key] === chosen[key]);
  return listed.find(({ name }) => name === chosen.name) ?? listed.find(takes) ?? listed[0];
}

/** List the instructions of the architecture that every word of the filter fits, in the name or as a format; whether there are any. */
function list() {
  const words = at("filter").value.toLowerCase().split(/\s+/);
  const arch = Number(at("arch").value);
  const all = entries.map((entry, n) => [n, entry]).filter(([, entry]) => entry.arch === arch);
  const fits = (entry, word) => entry.name.includes(word) || ["a", "b", "c", "d"].some((key) => entry[key] === word);
  const found = all.filter(([, entry]) => words.every((word) => fits(entry, word)));
  fill(at("instruction"), found.map(([n, { name }]) => [n, name]));
  at("count").textContent = `${found.length} of ${all.length} instructions`;
  if (chosen) at("instruction").value = entries.indexOf(chosen);
  return found.length > 0;
}

/** Take an instruction; operands stay where their formats are the same, otherwise all become zero. */
function choose(entry) {
  const same = chosen && ["a", "b", "c", "scale"].every((key) => chosen[key] === entry[key]);
  chosen = entry;
  at("preset").value = "";
  if (!same) FIELDS.forEach((field) => (at(field).value = ""));
  if (!same) fillWhole({});
  at("scales").hidden = !entry.scale;
  at("instruction").value = entries.indexOf(entry);
  compute();
}

function preset({ arch, name, ...operands }) {
  select(arch, name);
  FIELDS.forEach((field) => (at(field).value = operands[field] ?? ""));
  fillWhole(operands);
  compute();
}

/** Fill the fields of a whole K, and unfold them where any of them says something. */
function fillWhole(given) {
  for (const [id, without] of Object.entries(WHOLE)) at(id).value = given[id] ?? without;
  if (Object.keys(whole()).length) at("whole").open = true;
}

/** What the fields of a whole K say beyond one instruction. */
const whole = () => Object.fromEntries(Object.keys(WHOLE).filter((id) => at(id).value !== WHOLE[id]).map((id) => [id, at(id).value]));

/** The number of products that the field K says; NaN where it says none. */
const wholeLength = () => (at("K").value > 0 && at("K").value <= LONGEST_K ? Math.floor(at("K").value) : NaN);

/** The whole K and its order as numbers; null where it is one instruction. */
function wholeOrder() {
  const said = whole();
  if (!Object.keys(said).length) return null;
  const number = (id, most, otherwise) => {
    const value = said[id] === undefined ? otherwise : Number(said[id]);
    const least = id === "promote" ? 0 : 1;
    if (!Number.isInteger(value) || value < least || value > most) throw new Error(`${id} must be an integer from ${least} to ${most}`);
    return value;
  };
  return { K: number("K", LONGEST_K, chosen.k), order: at("order").value, promote: number("promote", LONGEST_K, 0), split: number("split", 64, 1) };
}

/** Show an architecture and an instruction of it; the first one where there is none of that name. */
function select(arch, name) {
  at("arch").value = Math.max(0, data.architectures.findIndex(([known]) => known === arch));
  at("filter").value = "";
  list();
  chosen = entries.find((entry) => data.architectures[entry.arch][0] === arch && entry.name === name) ?? firstListed();
  at("scales").hidden = !chosen.scale;
  at("instruction").value = entries.indexOf(chosen);
}

/** Format and number of codes of each field. */
function expected(field, entry = chosen) {
  const scale = field.startsWith("scale");
  const count = field === "c" ? 1 : !scale ? (entry === chosen && wholeLength()) || entry.k : entry.scale ? Math.ceil(entry.k / entry.block_size) : 0;
  return { format: data.formats[scale ? entry.scale : entry[field]], name: scale ? entry.scale : entry[field], count };
}

/** The codes of a field, filled up with zeros or, of scales, ones; notes and complaints stand below the field. */
function codes(field) {
  const { format, name, count } = expected(field);
  if (!count) return [];
  const words = at(field).value.split(/[\s,]+/).filter(Boolean);
  const note = at(`${field}-note`);
  try {
    if (words.length > count) throw new Error(`${field} has ${count} element${count > 1 ? "s" : ""}, got ${words.length}`);
    const parsed = words.map((word) => parse(format, word));
    const rounded = parsed.flatMap(({ exact, code }, n) => (exact ? [] : [`${words[n]} is rounded to ${shown(format, code, "decimal")}`]));
    note.className = "note";
    note.textContent = `${name}, ${count} element${count > 1 ? "s" : ""}${rounded.length ? ": " + rounded.join(", ") : ""}`;
    const missing = parse(format, field.startsWith("scale") ? "1" : "0").code;
    return [...parsed.map(({ code }) => code), ...Array(count - words.length).fill(missing)];
  } catch (error) {
    note.className = "note failed";
    note.textContent = error.message;
    throw error;
  }
}

/** All operands, as the engine takes them. Every field is looked at, so that each complaint is shown. */
function operands() {
  const found = {}, errors = [];
  for (const field of FIELDS) {
    try {
      found[field] = codes(field);
    } catch (error) {
      errors.push(`${field}: ${error.message}`);
    }
  }
  if (errors.length) throw new Error(errors.join("; "));
  return { ...found, c: found.c[0] };
}

function compute() {
  clearTimeout(waiting);
  about();
  remember();
  let given, order;
  try {
    order = wholeOrder();
    given = operands();
  } catch (error) {
    return refuse(error.message);
  }
  for (const id of ["result", "trace", "others"]) at(id).replaceChildren();
  at("others-section").hidden = Boolean(order);
  const format = data.formats[chosen.d];
  let d, events;
  try {
    if (order) ({ d, events } = wholeK(data, engine, chosen, given, order));
    else d = engine.dot(chosen, given);
  } catch (error) {
    return refuse(error.message);
  }
  at("result").append(
    made("p", {}, `d = ${asNumber(format, d)}`),
    made("p", { className: "code" }, `${chosen.d} ${hexBits(format, d)}${finite(format, d) ? ` · ${hexFloat(decode(format, d))}` : ""}`),
  );
  if (decode(format, d).cls === "nan" && !data.descriptions[chosen.operation][1]) {
    at("result").append(made("p", { className: "soft" }, "Which NaN the hardware writes is not known: its bits may be others."));
  }
  if (events) return instructions(events);
  trace(given);
  others(given, d);
}

/** The instructions and additions of a whole K; each instruction unfolds into its steps. */
function instructions(events) {
  const format = data.formats[chosen.d];
  at("trace").append(...events.map(({ title, code, operands }) => {
    const line = `${title}: ${asNumber(format, code)}, ${hexBits(format, code)}`;
    if (!operands) return made("p", {}, line);
    const details = made("details", {}, made("summary", {}, line));
    details.addEventListener("toggle", () => details.children.length > 1 || details.append(...steps(operands)), { once: true });
    return details;
  }));
}

/** A complaint in the place of results. */
function refuse(message) {
  for (const id of ["trace", "others"]) at(id).replaceChildren();
  at("result").replaceChildren(made("p", { className: "failed" }, message));
}

/** A result for people: any NaN is nan, for its code stands beside it. */
const asNumber = (format, code) => (decode(format, code).cls === "nan" ? "nan" : shown(format, code, "decimal"));

const finite = (format, code) => !["nan", "infinity"].includes(decode(format, code).cls);

function about() {
  const [kind, meaning] = data.evidence[chosen.evidence];
  const rows = [
    ["name", `${data.architectures[chosen.arch][0]} ${chosen.name}`],
    ["shape", `m = ${chosen.m}, n = ${chosen.n}, k = ${chosen.k}`],
    ["formats", `a ${chosen.a}, b ${chosen.b}, c ${chosen.c}, d ${chosen.d}${chosen.scale ? `, scales ${chosen.scale}, one for ${chosen.block_size} elements` : ""}`],
    ["operation", linked("numerics.html#5-elementary-operations", data.descriptions[chosen.operation][0])],
    ["evidence", linked("evidence/index.html", `${kind}: ${meaning}`)],
    ...(data.notes[chosen.note] ? [["note", data.notes[chosen.note]]] : []),
  ];
  at("about").replaceChildren(table("", rows.map(([key, value]) => [header(key), value]), [], "Facts about the instruction"));
}

function trace(given) {
  at("trace").append(...steps(given));
}

/** The steps of an instruction as elements. */
function steps(given) {
  return stepsOf(data, engine, chosen, given, at("style").value).map(({ title, facts, tables }, n) =>
    made("details", { open: n === 0 }, made("summary", {}, title), made("ul", { className: "facts" }, ...facts.map((fact) => made("li", {}, fact))),
      ...tables.map(({ caption, header: heads, rows }) => table(caption, rows.map(([name, ...rest]) => [header(name), ...rest]), heads))));
}

/** The result of one instruction of each arithmetic with the same formats, of the shortest that takes all products. */
function others(given, d) {
  const used = Math.max(1, ...["a", "b"].map((field) => given[field].findLastIndex((code) => decode(data.formats[chosen[field]], code).cls !== "zero") + 1));
  const kinds = new Map();
  for (const entry of entries) {
    if (["a", "b", "c", "scale", "block_size"].some((key) => entry[key] !== chosen[key]) || entry.k < used) continue;
    const kind = `${entry.arch} ${entry.d} ${entry.operation}`;
    if (!(kinds.get(kind)?.k <= entry.k)) kinds.set(kind, entry);
  }
  const rows = new Map(); // where other lengths give the same bits, the shortest stands for all
  for (const entry of [...kinds.values()].sort((x, y) => x.arch - y.arch || x.k - y.k)) {
    const result = engine.dot(entry, resized(given, entry)), format = data.formats[entry.d];
    const [operation] = data.descriptions[entry.operation];
    const kind = [entry.arch, entry.d, operation.split(":")[0], result].join();
    const cells = [header(data.architectures[entry.arch][0]), entry.name, asNumber(format, result), hexBits(format, result), operation];
    if (!rows.has(kind)) rows.set(kind, Object.assign(cells, { same: entry.d === chosen.d && result === d }));
  }
  at("others").append(table("", [...rows.values()], ["architecture", "instruction", "d", "bits", "operation"], "Results of other units"));
}

function resized(given, entry) {
  const fit = (field) => {
    const { format, count } = expected(field, entry);
    const missing = count ? parse(format, field.startsWith("scale") ? "1" : "0").code : 0n;
    return [...given[field].slice(0, count), ...Array(Math.max(0, count - given[field].length)).fill(missing)];
  };
  return { c: given.c, ...Object.fromEntries(["a", "b", "scale_a", "scale_b"].map((field) => [field, fit(field)])) };
}

/** Write every field that can be read in the chosen notation. */
function restyle() {
  for (const field of FIELDS) {
    const { format, count } = expected(field);
    const words = at(field).value.split(/[\s,]+/).filter(Boolean);
    try {
      if (count) at(field).value = words.map((word) => shown(format, parse(format, word).code, at("style").value)).join(" ");
    } catch {
      continue; // its complaint stands below the field
    }
  }
  compute();
}

const address = () => new URLSearchParams({ arch: data.architectures[chosen.arch][0], instr: chosen.name, ...Object.fromEntries(FIELDS.filter((field) => expected(field).count).map((field) => [field, at(field).value.trim().split(/[\s,]+/).join(" ")])), ...whole() }).toString();

/** Show the instruction and the operands that the address names, or the first example. A name that is not here stays in the address. */
function open() {
  const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  if (!given.arch && !given.instr) return preset(PRESETS[0]);
  if (entries.some(({ arch, name }) => data.architectures[arch][0] === given.arch && name === given.instr)) {
    return preset({ ...given, name: given.instr });
  }
  select(given.arch, given.instr);
  FIELDS.forEach((field) => (at(field).value = ""));
  about();
  refuse(`The link names ${shortened(`${given.arch ?? ""} ${given.instr ?? ""}`.trim())}, which is no instruction of this page: choose one, or see whether the link is whole.`);
}

const LONGEST_LINK = 100_000; // characters; browsers refuse longer addresses, and nobody could send them

/** Put the input into the address, also one that is refused: a report may be about that. */
function remember() {
  at("copied").textContent = "";
  history.replaceState(null, "", address().length > LONGEST_LINK ? "#" : `#${address()}`);
}

async function copyLink() {
  remember();
  if (location.hash.length < 2) {
    at("copied").textContent = "The input is too long for a link.";
    return;
  }
  try {
    await navigator.clipboard.writeText(location.href);
    at("copied").textContent = "Copied.";
  } catch {
    at("copied").textContent = "The link is in the address bar.";
  }
}

// Elements.

function made(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const header = (text) => made("th", { scope: "row" }, text);

/** A cell whose text leads to a page of the documentation. */
const linked = (page, text) => made("td", {}, made("a", { href: page }, text));

/** A table that scrolls, also by keyboard, if it is too wide. Cells are text or elements; a screen reader says its name. */
function table(caption, rows, heads = [], name = caption) {
  const line = (cells) => made("tr", { className: cells.same ? "same" : "" }, ...cells.map((cell) => (cell instanceof Element ? cell : made("td", {}, cell))));
  const parts = [];
  if (caption) parts.push(made("caption", {}, caption));
  if (heads.length) parts.push(made("thead", {}, made("tr", {}, ...heads.map((head) => made("th", { scope: "col" }, head)))));
  const wide = made("div", { className: "wide", tabIndex: 0 }, made("table", {}, ...parts, made("tbody", {}, ...rows.map(line))));
  wide.setAttribute("role", "region");
  wide.setAttribute("aria-label", name);
  return wide;
}

start();
