// The engine: struct mmau_parameters and operands go into the module's memory, results come out (golden/native/include/mmau.h).

const TERM = { SUMMED: 1, NONZERO: 2, NEGATIVE: 4, CUT: 8, GONE: 16 };
const SUM = { MADE: 1, NONZERO: 2, NEGATIVE: 4 };
const ROUNDING = {
  MADE: 1, NONZERO: 2, NEGATIVE: 4, LAST: 8, GUARD: 16, STICKY: 32, AWAY: 64, CARRY: 128, TINY: 256, TO_ZERO: 512,
  SUBNORMAL: 1024, OVERFLOW: 2048, FLUSHED: 4096,
};

class Engine {
  /** A module without a system: what it could ask of one, it never does. */
  constructor(bytes, data) {
    const module = new WebAssembly.Module(bytes);
    const none = () => { throw new Error("the engine asked for a system call"); };
    const system = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) (system[from] ??= {})[name] = none;
    this.wasm = new WebAssembly.Instance(module, system).exports;
    this.wasm._initialize?.();
    this.data = data;
    this.formats = Object.values(data.formats);
  }

  /** d of an instruction; operands {a, b, c, scale_a, scale_b} are codes (BigInt). */
  dot(entry, operands) {
    const [kind, , start, ...calls] = this.data.programs[entry.program];
    const taken = this.taken(entry, operands);
    if (kind === "paired") return this.paired(calls, start, taken).d;
    return kind === "added" ? this.added(calls, start, taken).d : this.call(calls[0], taken);
  }

  /** The operands as the calls take them: with the sign of every a inverted where products are subtracted. */
  taken(entry, operands) {
    const [, subtract] = this.data.programs[entry.program];
    if (!subtract) return operands;
    const sign = 1n << BigInt(this.data.formats[entry.a].width - 1);
    return { ...operands, a: operands.a.map((code) => code ^ sign) };
  }

  /** x + y by one multiply-add, x·1 + y. */
  sum(add, x, y) {
    return this.call(add, { a: [x], b: [parse(this.data.formats[add[0]], "1").code], c: y });
  }

  /** Steps that begin with a zero, and c added to their sum (golden/ordered_chain.py). */
  added([steps, add], start, operands) {
    const first = { ...operands, c: parse(this.data.formats[steps[0]], start).code };
    const products = this.call(steps, first);
    return { first, products, d: this.sum(add, products, operands.c) };
  }

  /** One call of the engine: [format of d, struct mmau_parameters]. */
  call([d, parameters], operands) {
    const placed = this.place(d, parameters, operands);
    this.checked(this.wasm.mmau_dot(...["parameters", "a", "b", "c", "scale_a", "scale_b", "d"].map((name) => placed[name])));
    return this.read(placed.d, placed.formats.d);
  }

  /** Products, their sum and its sum with d, each one multiply-add (golden/paired_chain.py); d and every step. */
  paired([multiply, add], start, { a, b, c }) {
    const zero = parse(this.data.formats[multiply[0]], start).code;
    const product = (k) => this.call(multiply, { a: [a[k]], b: [b[k]], c: zero });
    const steps = [];
    let d = c;
    for (let k = 0; k < a.length; k += 2) {
      const step = { k, c: d, even: product(k), odd: product(k + 1) };
      step.pair = this.sum(add, step.even, step.odd);
      step.d = d = this.sum(add, d, step.pair);
      steps.push(step);
    }
    return { d, steps };
  }

  /** What happens in each step: [{c, d, terms, sums, roundings}], as mmau_observe records it. */
  observe([d, parameters], operands) {
    const placed = this.place(d, parameters, operands);
    this.checked(this.wasm.mmau_count_records(placed.parameters, placed.counts));
    const [steps, terms, sums, roundings] = [0, 4, 8, 12].map((at) => this.view().getInt32(placed.counts + at, true));
    const sizes = [6 * terms, 8 * sums, 4 * roundings, 8, 8].map((size) => size * steps);
    const starts = sizes.map((_, n) => placed.free + sizes.slice(0, n).reduce((x, y) => x + y + (-y & 7), 0));
    if (starts[4] + sizes[4] > placed.end) throw new Error("this instruction has too many steps to show");
    this.writeBatch(placed);
    starts.forEach((start, n) => this.view().setInt32(placed.observation + 4 * n, start, true));
    this.checked(this.wasm.mmau_observe(placed.parameters, placed.batch, placed.observation));
    const numbers = (start, count) => Array.from({ length: count }, (_, n) => this.view().getInt16(start + 2 * n, true));
    return Array.from({ length: steps }, (_, step) => ({
      c: this.view().getBigUint64(starts[3] + 8 * step, true),
      d: this.view().getBigUint64(starts[4] + 8 * step, true),
      terms: grouped(numbers(starts[0] + 6 * terms * step, 3 * terms), ["gap", "kept", "flags"]),
      sums: grouped(numbers(starts[1] + 8 * sums * step, 4 * sums), ["e_max", "lead", "largest", "flags"]),
      roundings: grouped(numbers(starts[2] + 4 * roundings * step, 2 * roundings), ["lead", "flags"]),
    }));
  }

  // The rest is memory.

  view() {
    return new DataView(this.wasm.memory.buffer);
  }

  format(parameters, key) {
    const number = parameters[this.data.keys.indexOf(key)];
    return this.formats.find((format) => format.number === number);
  }

  /** Write parameters and operands; where each lies, and where memory is free. */
  place(d, parameters, operands) {
    const start = this.wasm.mmau_memory();
    const placed = { parameters: start, counts: start + 512, batch: start + 544, observation: start + 640, d: start + 704 };
    parameters.forEach((value, n) => this.view().setInt32(start + 4 * n, value, true));
    let free = start + 768;
    const formats = { d: this.data.formats[d] };
    for (const name of ["a", "b", "c", "scale_a", "scale_b"]) {
      const codes = name === "c" ? [operands.c] : (operands[name] ?? []);
      const format = this.format(parameters, name.startsWith("scale") ? "scale" : name);
      placed[name] = codes.length ? free : 0;
      for (const code of codes) free = this.write(free, format, code);
      free += -free & 7;
      formats[name] = format;
    }
    placed.blocks = operands.scale_a?.length ?? 0;
    placed.K = operands.a.length;
    return { ...placed, formats, free, end: start + this.wasm.mmau_memory_size() };
  }

  write(at, { storage }, code) {
    if (storage === 64) this.view().setBigUint64(at, code, true);
    else this.view()[{ 8: "setUint8", 16: "setUint16", 32: "setUint32" }[storage]](at, Number(code), true);
    return at + storage / 8;
  }

  read(at, { storage }) {
    if (storage === 64) return this.view().getBigUint64(at, true);
    return BigInt(this.view()[{ 8: "getUint8", 16: "getUint16", 32: "getUint32" }[storage]](at, true));
  }

  /** struct mmau_batch of one row. */
  writeBatch({ batch, a, b, c, scale_a, scale_b, K, blocks }) {
    [a, b, c, scale_a, scale_b, 0].forEach((pointer, n) => this.view().setInt32(batch + 4 * n, pointer, true));
    [1, 0, K, K, blocks, blocks].forEach((count, n) => this.view().setBigInt64(batch + 24 + 8 * n, BigInt(count), true));
  }

  checked(status) {
    if (status) throw new Error(`the engine refused the operands (status ${status})`);
  }
}

/** Flat numbers as objects with these keys. */
function grouped(numbers, keys) {
  return Array.from({ length: numbers.length / keys.length }, (_, n) =>
    Object.fromEntries(keys.map((key, at) => [key, numbers[n * keys.length + at]])));
}
