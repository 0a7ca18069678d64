// Numbers of a format: bits to exact values and back, on BigInt. A format has the fields that catalogue.py writes; an exact
// value is {sign, sig, exp}: (−1)^sign · sig · 2^exp.

const ones = (bits) => (1n << BigInt(bits)) - 1n;
const bitLength = (x) => (x ? x.toString(2).length : 0);

/** The parts of a code: sign, sig and exp of its value, and cls as golden has it ("zero" … "nan"). */
function decode(format, code) {
  if (format.integer) {
    const negative = format.signed && code >> BigInt(format.width - 1);
    const magnitude = negative ? (1n << BigInt(format.width)) - code : code;
    return { sign: negative ? 1 : 0, sig: magnitude, exp: 0, cls: magnitude ? "normal" : "zero" };
  }
  const field = (code >> BigInt(format.pad_bits)) & ones(format.exp_bits + format.man_bits);
  const stored = Number(field >> BigInt(format.man_bits));
  const mantissa = field & ones(format.man_bits);
  const sign = format.signed && (code >> BigInt(format.width - 1)) & 1n ? 1 : 0;
  const top = (1 << format.exp_bits) - 1;
  const special = specialClass(format, sign, field, stored === top, mantissa);
  if (special) return { sign, sig: 0n, exp: 0, cls: special };
  if (stored === 0 && format.subnormals) {
    const exp = 1 - format.bias - format.man_bits;
    return { sign, sig: mantissa, exp, cls: mantissa ? "subnormal" : "zero" };
  }
  return { sign, sig: mantissa | (1n << BigInt(format.man_bits)), exp: stored - format.bias - format.man_bits, cls: "normal" };
}

function specialClass(format, sign, field, atTop, mantissa) {
  if (format.specials === "ieee" && atTop) return mantissa ? "nan" : "infinity";
  if (format.specials === "fn" && field === ones(format.exp_bits + format.man_bits)) return "nan";
  if (format.specials === "fnuz" && sign && !field) return "nan";
  return null;
}

/** The code of a fraction num/den ≥ 0 with a sign, rounded to nearest, ties to even; {code, exact}. */
function encode(format, sign, num, den) {
  if (format.integer) return encodeInteger(format, sign, num, den);
  const eMin = format.subnormals ? 1 - format.bias : -format.bias;
  const exponent = (code) => Number((code >> BigInt(format.pad_bits + format.man_bits)) & ones(format.exp_bits));
  if (!num && !format.subnormals) throw new Error(`${format.name} has no zero: its smallest number is 2^${eMin}`);
  let e = num ? Math.max(floorLog2(num, den), eMin) : eMin;
  if (!format.subnormals && floorLog2(num, den) < eMin) throw new Error(`${format.name} has no number below 2^${eMin}`);
  let { kept, exact } = quantised(num, den, e - format.man_bits);
  if (kept >> BigInt(format.man_bits + 1)) {
    kept >>= 1n;
    e += 1;
  }
  const subnormal = format.subnormals && !(kept >> BigInt(format.man_bits));
  const stored = subnormal ? 0 : e + format.bias;
  const negative = sign && (kept || format.specials !== "fnuz") ? 1 : 0;
  if (negative && !format.signed) throw new Error(`${format.name} has no sign`);
  const field = (BigInt(stored) << BigInt(format.man_bits)) | (kept & ones(format.man_bits));
  const code = ((BigInt(negative) << BigInt(format.exp_bits + format.man_bits)) | field) << BigInt(format.pad_bits);
  const { cls } = decode(format, code);
  if (stored >> format.exp_bits || cls === "nan" || cls === "infinity" || exponent(code) !== stored) {
    throw new Error(`${format.name} has no number of this size; write inf, nan or bits where you mean those`);
  }
  return { code, exact };
}

function encodeInteger(format, sign, num, den) {
  if (num % den) throw new Error(`${format.name} takes whole numbers`);
  const value = sign ? -(num / den) : num / den;
  const lowest = format.signed ? -(1n << BigInt(format.width - 1)) : 0n;
  const largest = ones(format.width - (format.signed ? 1 : 0));
  if (value < lowest || value > largest) throw new Error(`${format.name} holds ${lowest} to ${largest}`);
  return { code: value & ones(format.width), exact: true };
}

/** ⌊log2(num/den)⌋ of a positive fraction. */
function floorLog2(num, den) {
  const guess = bitLength(num) - bitLength(den);
  const least = guess >= 0 ? num >= den << BigInt(guess) : num << BigInt(-guess) >= den;
  return least ? guess : guess - 1;
}

/** num/den in units of 2^lsb, rounded to nearest, ties to even. */
function quantised(num, den, lsb) {
  const [n, d] = lsb >= 0 ? [num, den << BigInt(lsb)] : [num << BigInt(-lsb), den];
  const rest = n % d;
  const up = 2n * rest > d || (2n * rest === d && (n / d) & 1n);
  return { kept: n / d + (up ? 1n : 0n), exact: rest === 0n };
}

const LONGEST_WORD = 2000; // characters; the longest exact decimal, of fp64's smallest number, has 1,077

/** The code that a text stands for: 1.5, -1e-3, 0x1.8p3, inf, nan, or bits as 0x3c00; {code, exact}. Throws an Error. */
function parse(format, text) {
  const word = text.trim().toLowerCase();
  if (word.length > LONGEST_WORD) throw new Error(`a number has at most ${LONGEST_WORD} characters, got ${word.length}`);
  if (/^0x[0-9a-f]+$/.test(word)) return bits(format, BigInt(word));
  const special = /^([+-]?)(inf|infinity|nan)$/.exec(word);
  if (special) return specialCode(format, special[1] === "-" ? 1n : 0n, special[2] === "nan");
  const hex = /^([+-]?)0x([0-9a-f]*)\.?([0-9a-f]*)p([+-]?\d{1,5})$/.exec(word);
  const decimal = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d{1,4}))?$/.exec(word);
  const found = hex && hex[2] + hex[3] ? hex : decimal && decimal[2] + decimal[3] ? decimal : null;
  if (!found) throw new Error(`"${shortened(text.trim())}" is no number: write 1.5, 1e-3, 0x1.8p3, inf, nan, or bits as 0x3c00`);
  const base = found === hex ? 16n : 10n;
  const digits = BigInt((found === hex ? "0x" : "") + (found[2] + found[3] || "0"));
  const power = Number(found[4] ?? 0);
  const fraction = base ** BigInt(found[3].length);
  const scale = (found === hex ? 2n : 10n) ** BigInt(Math.abs(power));
  const [num, den] = power >= 0 ? [digits * scale, fraction] : [digits, fraction * scale];
  return encode(format, found[1] === "-" ? 1 : 0, num, den);
}

const shortened = (text) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

function bits(format, code) {
  if (code >> BigInt(format.width)) throw new Error(`${format.name} has ${format.width} bits`);
  return { code, exact: true };
}

function specialCode(format, sign, isNan) {
  if (format.integer || format.specials === "finite") throw new Error(`${format.name} has no ${isNan ? "NaN" : "infinity"}`);
  const exponentOnes = ones(format.exp_bits) << BigInt(format.man_bits);
  const signBit = format.signed ? sign << BigInt(format.exp_bits + format.man_bits) : 0n;
  let field = null;
  if (format.specials === "ieee") field = signBit | exponentOnes | (isNan ? 1n << BigInt(format.man_bits - 1) : 0n);
  if (format.specials === "fn" && isNan) field = signBit | ones(format.exp_bits + format.man_bits);
  if (format.specials === "fnuz" && isNan) field = 1n << BigInt(format.exp_bits + format.man_bits);
  if (field === null) throw new Error(`${format.name} has no infinity`);
  return { code: field << BigInt(format.pad_bits), exact: true };
}

/** A code as text that `parse` reads back to the same code: style "decimal", "hex float" or "bits". */
function shown(format, code, style) {
  const value = decode(format, code);
  if (style === "bits") return hexBits(format, code);
  if (value.cls === "nan") return parse(format, "nan").code === code ? "nan" : hexBits(format, code);
  if (value.cls === "infinity") return value.sign ? "-inf" : "inf";
  if (format.integer) return `${value.sign ? "-" : ""}${value.sig}`;
  const text = style === "decimal" ? decimal(value) : hexFloat(value);
  return parse(format, text).code === code ? text : hexBits(format, code); // of ignored bits
}

const hexBits = (format, code) => `0x${code.toString(16).padStart(Math.ceil(format.width / 4), "0")}`;

/** An exact value as a hexadecimal float, its leading digit 1. */
function hexFloat({ sign, sig, exp }) {
  if (!sig) return sign ? "-0" : "0";
  const below = bitLength(sig) - 1;
  const digits = Math.ceil(below / 4);
  const fraction = ((sig - (1n << BigInt(below))) << BigInt(4 * digits - below)).toString(16).padStart(digits, "0");
  const trimmed = fraction.replace(/0+$/, "");
  return `${sign ? "-" : ""}0x1${trimmed && below ? "." + trimmed : ""}p${below + exp}`;
}

const LONGEST_DECIMAL = 24; // digits; longer values are shown as hexadecimal floats

/** An exact value in decimal where that is short, otherwise as a hexadecimal float. */
function decimal(value) {
  const { sign, sig, exp } = value;
  if (!sig) return sign ? "-0" : "0";
  if (exp > 80 || exp < -80) return hexFloat(value);
  const whole = exp >= 0 ? sig << BigInt(exp) : sig >> BigInt(-exp);
  const rest = exp >= 0 ? 0n : sig & ones(-exp);
  const fraction = rest ? "." + (rest * 5n ** BigInt(-exp)).toString().padStart(-exp, "0").replace(/0+$/, "") : "";
  const text = `${sign ? "-" : ""}${whole}${fraction}`;
  return text.length > LONGEST_DECIMAL ? hexFloat(value) : text;
}
