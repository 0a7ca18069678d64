// The steps of one instruction in words and tables, from the engine's records. The order of sums and terms is that of mmau.h.

/** [{title, terms: [name]}] of one step over the products `ks`: its sums in order, and what they add. */
function sumsOf(operation, ks, groupSize) {
  const products = ks.map((k) => `a[${k}]·b[${k}]`);
  const parity = (rest) => products.filter((_, n) => n % 2 === rest);
  switch (operation) {
    case "GST-FDPA":
    case "PS-FDPA": {
      const groups = Array.from({ length: ks.length / groupSize }, (_, g) => products.slice(g * groupSize, (g + 1) * groupSize));
      const scaled = operation === "GST-FDPA" ? ", scaled" : "";
      const inside = groups.map((terms, g) => ({ title: `group ${g}${scaled}`, terms }));
      return [...inside, { title: "groups and c", terms: [...groups.map((_, g) => `group ${g}`), "c"] }];
    }
    case "TR-FDPA":
      return [{ title: "products", terms: products }, { title: "T and c", terms: ["T", "c"] }];
    case "GTR-FDPA":
      if (ks.length === 1) return sumsOf("TR-FDPA", ks, groupSize);
      return [
        { title: "even products", terms: parity(0) },
        { title: "odd products", terms: parity(1) },
        { title: "both sums", terms: ["even sum", "odd sum"] },
        { title: "T and c", terms: ["T", "c"] },
      ];
    case "FTZ-AddMul":
      return pairwiseSums(products);
    case "FTZ-FMA":
      return ks.map((k, n) => ks[ks.length - 1 - n]).map((k, n) => ({ title: `multiply-add ${n + 1}`, terms: [`a[${k}]·b[${k}]`, n ? "sum before" : "c"] }));
    case "FTZ-EO-FMA":
      return [
        ...ks.map((k, n) => ({ title: `${n % 2 ? "odd" : "even"} multiply-add`, terms: [`a[${k}]·b[${k}]`, n < 2 ? "+0" : "sum before"] })),
        { title: "even and odd", terms: ["even sum", "odd sum"] },
        { title: "c and both", terms: ["c", "sum"] },
      ];
    default:
      return [{ title: "products and c", terms: [...products, "c"] }];
  }
}

/** FTZ-AddMul: two addends a sum, level by level, c last. */
function pairwiseSums(products) {
  const sums = [];
  for (let level = products; level.length > 1; ) {
    const next = [];
    for (let n = 0; n < level.length; n += 2) {
      sums.push({ title: "two neighbours", terms: [level[n], level[n + 1]] });
      next.push(`sum ${sums.length}`);
    }
    level = next;
  }
  return [...sums, { title: "c and the products' sum", terms: ["c", products.length > 1 ? `sum ${sums.length}` : products[0]] }];
}

/** The indices of the products in the order in which steps take them: runs of a length by turns (RUNS of golden/chains/chain.py). */
function productOrder(run, K) {
  const ks = Array.from({ length: K }, (_, k) => k);
  const isFirst = (k) => k % (2 * run) < run;
  return run ? [...ks.filter(isFirst), ...ks.filter((k) => !isFirst(k))] : ks;
}

const RUN_OF_FP16_ORDER = [0, 0, 2, 1]; // enum mmau_fp16_order

/** The exact value of a term where the page knows it: c, and a product that is neither scaled nor rounded by itself. */
function exactTerms(entry, formats, operands, step, exactProducts) {
  const known = {};
  if (!entry.scale && exactProducts) {
    operands.a.forEach((code, k) => {
      const x = decode(formats.a, code), y = decode(formats.b, operands.b[k]);
      known[`a[${k}]·b[${k}]`] = { sign: x.sign ^ y.sign, sig: x.sig * y.sig, exp: x.exp + y.exp };
    });
  }
  known.c = decode(step.cFormat, step.c);
  return known;
}

/** What alignment cut off an exact value of which `kept` bits from the leading one down remain. */
function cutOff({ sign, sig, exp }, kept) {
  const dropped = bitLength(sig) - Math.max(kept, 0);
  return dropped > 0 ? { sign, sig: sig & ones(dropped), exp } : { sign: 0, sig: 0n, exp: 0 };
}

/** A record of a rounding as a phrase. */
function roundingWords({ lead, flags }) {
  if (!(flags & ROUNDING.NONZERO)) return "the sum is zero";
  const has = (flag) => (flags & flag ? 1 : 0);
  const inexact = has(ROUNDING.GUARD) || has(ROUNDING.STICKY);
  const way = has(ROUNDING.AWAY) ? "away from zero" : inexact ? "toward zero" : "exact";
  const after = [
    [ROUNDING.CARRY, "carry into a new leading bit"],
    [ROUNDING.SUBNORMAL, "subnormal result"],
    [ROUNDING.OVERFLOW, "overflow"],
    [ROUNDING.FLUSHED, "flushed to zero"],
  ].filter(([flag]) => has(flag)).map(([, words]) => `, ${words}`).join("");
  const bitsBelow = `last bit ${has(ROUNDING.LAST)}, guard ${has(ROUNDING.GUARD)}, sticky ${has(ROUNDING.STICKY)}`;
  return `${has(ROUNDING.NEGATIVE) ? "negative, " : ""}leading one at 2^${lead}; ${bitsBelow}: ${way}${after}`;
}

/** The steps of an instruction for the page: [{title, facts, tables: [{caption, header, rows}]}]. */
function stepsOf(data, engine, entry, operands, style) {
  const [kind, subtract, start, ...calls] = data.programs[entry.program];
  const taken = engine.taken(entry, operands);
  const inverted = subtract ? [signsStep(data.formats[entry.a], taken.a, style)] : [];
  if (kind === "paired") return [...inverted, ...pairedSteps(data, engine, entry, calls, start, taken, style)];
  if (kind === "call") return [...inverted, ...callSteps(data, engine, entry, calls[0], taken, style)];
  const { first, products, d } = engine.added(calls, start, taken);
  const format = data.formats[entry.d];
  const last = addedStep([["sum of the products", products], ["c", operands.c], ["d", d]].map(([name, code]) => `${name} = ${shown(format, code, style)}`));
  return [...inverted, ...callSteps(data, engine, entry, calls[0], first, style, true), last];
}

const signsStep = (format, codes, style) => ({
  title: "First, every element of a has its sign inverted: the products are subtracted",
  facts: [`a = ${codes.map((code) => shown(format, code, style)).join(", ")}`],
  tables: [],
});

const addedStep = (facts) => ({ title: "Last, c is added and the sum rounded once", facts, tables: [] });

/** The steps of one call; `fromZero`: whether they begin with a zero in place of c. */
function callSteps(data, engine, entry, call, operands, style, fromZero = false) {
  const value = (key) => call[1][data.keys.indexOf(key)];
  const operation = data.operations[value("operation")];
  const converted = value("fp16_order") > 0;
  const order = productOrder(value("order") || RUN_OF_FP16_ORDER[value("fp16_order")], entry.k);
  const formats = { a: data.formats[entry.a], b: data.formats[entry.b] };
  const observed = engine.observe(call, operands);
  const L = entry.k / observed.length;
  const steps = observed.map((step, n) => {
    const cFormat = data.formats[n || converted || fromZero ? call[0] : entry.c];
    const ks = order.slice(n * L, (n + 1) * L);
    const known = exactTerms(entry, formats, operands, { c: step.c, cFormat }, operation !== "FTZ-AddMul" && !value("combination"));
    const begin = !n && (converted || fromZero) ? "begins with" : "c =";
    const d = shown(data.formats[call[0]], step.d, style);
    const inverted = operation === "OC-FDPA" ? invertedFacts(step, ks, known, value("F")) : [];
    return {
      title: `Step ${n + 1} of ${observed.length}: products ${range(ks)}`,
      facts: [`${begin} ${shown(cFormat, step.c, style)}`, ...inverted, ...factsOf(step), `d = ${d}`],
      tables: tablesOf(step, sumsOf(operation, ks, value("G")), known),
    };
  });
  if (converted) steps.push(addedStep([`c = ${shown(data.formats[entry.c], operands.c, style)}`]));
  return steps;
}

/** What one's complement adds to the sum: each product of the other sign than c's enters inverted, one unit of the last place away
 * from c, zeros too. */
function invertedFacts({ sums }, ks, known, F) {
  if (!(sums[0].flags & SUM.MADE)) return [];
  const other = ks.filter((k) => known[`a[${k}]·b[${k}]`]?.sign !== known.c.sign);
  if (!other.length) return ["one's complement: no product has another sign than c, and none is inverted"];
  const added = { sign: known.c.sign ^ 1, sig: BigInt(other.length), exp: sums[0].e_max - F };
  const names = other.map((k) => `a[${k}]·b[${k}]`).join(", ");
  return [`one's complement: ${names} of the other sign than c enter${other.length > 1 ? "" : "s"} inverted; that adds ${decimal(added)}`];
}

function factsOf({ sums, roundings }) {
  const made = sums.filter((sum) => sum.flags & SUM.MADE);
  if (!made.length) return ["A NaN or an infinity decides the result: nothing is aligned."];
  return roundings.filter((each) => each.flags & ROUNDING.MADE).map((each) => `round: ${roundingWords(each)}`);
}

function tablesOf({ sums, terms }, named, known) {
  let first = 0;
  return named.flatMap(({ title, terms: names }, number) => {
    const records = terms.slice(first, (first += names.length));
    const sum = sums[number];
    if (!(sum.flags & SUM.MADE)) return [];
    const rows = withoutZeros(names.map((name, n) => termRow(name, records[n], sum.e_max, known[name])));
    const total = sum.flags & SUM.NONZERO ? `${sum.flags & SUM.NEGATIVE ? "−" : "+"}, leading one at 2^${sum.lead}` : "zero";
    return [{ caption: `${title}: e_max = ${sum.e_max}; total ${total}`, header: ["term", "exact value", "exponent", "bits kept", "cut off", "aligned bits"], rows }];
  });
}

function termRow(name, record, eMax, exact) {
  const sign = record.flags & TERM.NEGATIVE ? "−" : "+";
  if (!(record.flags & TERM.NONZERO)) return exact?.sig ? [name, decimal(exact), "", "none: flushed", "", ""] : [name, "0", "", "", "", ""];
  const cut = !(record.flags & TERM.CUT) ? "" : exact ? decimal(cutOff(exact, record.kept)) : "some bits";
  const kept = record.flags & TERM.GONE ? "none" : record.flags & TERM.CUT ? `${record.kept}` : "all";
  return [name, exact ? decimal(exact) : sign, `${eMax - record.gap}`, kept, cut, exact ? alignedBits(exact, record, eMax) : ""];
}

const WIDEST_BITS = 64; // places of the aligned bits that a row shows

/** The bits of a term at their places below 2^(e_max + 1), those that are cut struck through. */
function alignedBits({ sig, exp }, record, eMax) {
  const digits = sig.toString(2), place = eMax + 1 - (exp + digits.length - 1);
  const kept = record.flags & TERM.GONE ? 0 : record.flags & TERM.CUT ? Math.max(record.kept, 0) : digits.length;
  if (place < 0 || place > WIDEST_BITS) return "";
  const shownDigits = digits.slice(0, WIDEST_BITS - place);
  return made("td", { className: "bits" }, " ".repeat(place) + shownDigits.slice(0, kept), made("s", {}, shownDigits.slice(kept)));
}

/** Rows with three or more zeros in succession as one. */
function withoutZeros(rows) {
  const found = [];
  for (let n = 0; n < rows.length; ) {
    let end = n;
    while (end < rows.length && rows[end].slice(1).join() === "0,,,,") end += 1;
    if (end - n > 2) found.push([`${rows[n][0]} … ${rows[end - 1][0]}`, ...rows[n].slice(1)]);
    else found.push(...rows.slice(n, Math.max(end, n + 1)));
    n = Math.max(end, n + 1);
  }
  return found;
}

/** Indices as text: "0 … 15" where they follow each other. */
function range(ks) {
  const last = ks[ks.length - 1];
  return ks.length > 2 && last - ks[0] === ks.length - 1 ? `${ks[0]} … ${last}` : ks.join(", ");
}

/** Products and sums of a paired chain, each rounded by itself. */
function pairedSteps(data, engine, entry, calls, start, operands, style) {
  const format = data.formats[entry.d];
  return engine.paired(calls, start, operands).steps.map(({ k, even, odd, pair, c, d }, n) => ({
    title: `Step ${n + 1}: products ${k} and ${k + 1}, each operation rounded`,
    facts: [
      `a[${k}]·b[${k}] = ${shown(format, even, style)}`,
      `a[${k + 1}]·b[${k + 1}] = ${shown(format, odd, style)}`,
      `their sum = ${shown(format, pair, style)}`,
      `c = ${shown(format, c, style)}`,
      `d = ${shown(format, d, style)}`,
    ],
    tables: [],
  }));
}
