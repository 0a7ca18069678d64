// A product over a whole K: many instructions, in an order of golden.GemmOrder (docs/numerics.md, section 12).

const LONGEST_K = 65_536;
const ONES_NAN = 0x7fffffffn, QUIET_NAN = 0x7fc00000n;

/**
 * d over all of K, and the instructions and additions in the order in which they are computed.
 *
 * order: "ascending" or "reverse", the instructions of each part; promote: instructions after which a sum is added to an accumulator
 * in fp32, 0: never; split: parts of K. {d, events: [{title, code, operands}]}; an addition has no operands.
 */
function wholeK(data, engine, entry, given, { order, promote, split }) {
  const k = entry.k, count = Math.ceil(given.a.length / k);
  if (entry.scale) throw new Error("K is one instruction's where operands have scales");
  if (entry.c !== entry.d) throw new Error(`K is one instruction's where c is ${entry.c} and d ${entry.d}`);
  if ((promote || split > 1) && entry.d !== "fp32") throw new Error(`promotion and parts are added in fp32, d is ${entry.d}`);
  const part = (codes, n) => [...codes.slice(n * k, (n + 1) * k), ...Array(Math.max(0, (n + 1) * k - codes.length)).fill(0n)];
  const events = [];
  const chain = (numbers, c) => numbers.reduce((sum, n) => {
    const operands = { a: part(given.a, n), b: part(given.b, n), c: sum, scale_a: [], scale_b: [] };
    const code = engine.dot(entry, operands);
    events.push({ title: `instruction ${n}: products ${n * k} … ${Math.min(given.a.length, (n + 1) * k) - 1}`, code, operands });
    return code;
  }, c);
  const ones = ["T-FDPA", "ST-FDPA", "GST-FDPA"].some((name) => data.descriptions[entry.operation][0].startsWith(`${name}:`));
  const added = (title, x, y) => {
    const code = addedInFp32(x, y, ones ? ONES_NAN : QUIET_NAN);
    events.push({ title, code });
    return code;
  };
  const totals = partsOf(count, split).map(([first, end], number) => {
    const numbers = Array.from({ length: end - first }, (_, n) => (order === "reverse" ? end - 1 - n : first + n));
    const c = number ? 0n : given.c;
    if (!promote) return chain(numbers, c);
    let sum = c;
    for (let n = 0; n < numbers.length; n += promote) sum = added("promotion", sum, chain(numbers.slice(n, n + promote), 0n));
    return sum;
  });
  return { d: totals.reduce((sum, total) => added("the next part is added", sum, total)), events };
}

/** Even parts of so many instructions, the first ones one longer. */
function partsOf(count, split) {
  const parts = Math.min(split, count), each = Math.floor(count / parts), more = count % parts;
  const start = (n) => n * each + Math.min(n, more);
  return Array.from({ length: parts }, (_, n) => [start(n), start(n + 1)]);
}

/** Codes of fp32, added and rounded to nearest even: the sum in fp64 of two numbers of fp32, rounded once more, is that sum. */
function addedInFp32(x, y, nan) {
  const numbers = new Float32Array(new Uint32Array([Number(x), Number(y)]).buffer);
  const sum = new Float32Array([numbers[0] + numbers[1]]);
  return Number.isNaN(sum[0]) ? nan : BigInt(new Uint32Array(sum.buffer)[0]);
}
