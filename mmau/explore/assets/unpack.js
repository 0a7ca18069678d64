// Unpacks LZMA (the file format of .lzma: properties, size, code), as the library of the plots is packed.

function unpacked(data) {
  const [lc, lp, pb] = [data[0] % 9, Math.floor(data[0] / 9) % 5, Math.floor(data[0] / 45)];
  const out = new Uint8Array(new DataView(data.buffer, data.byteOffset).getUint32(5, true));
  const chances = (count) => new Uint16Array(count).fill(1024); // of a 0, in parts of 2048
  let [at, range, code] = [18, 0xffffffff, new DataView(data.buffer, data.byteOffset).getUint32(14)];

  const refill = () => {
    if (range < 0x1000000) {
      range = (range << 8) >>> 0;
      code = ((code << 8) | data[at++]) >>> 0;
    }
  };
  const bit = (of, index) => {
    const bound = (range >>> 11) * of[index];
    const one = code >= bound;
    if (one) {
      range -= bound;
      code -= bound;
      of[index] -= of[index] >>> 5;
    } else {
      range = bound;
      of[index] += (2048 - of[index]) >>> 5;
    }
    refill();
    return one ? 1 : 0;
  };
  const direct = (count) => { // bits that are as often 0 as 1
    let found = 0;
    for (let n = 0; n < count; n += 1) {
      range >>>= 1;
      const one = code >= range;
      if (one) code -= range;
      found = 2 * found + (one ? 1 : 0);
      refill();
    }
    return found;
  };
  const tree = (of, start, count) => { // most significant bit first
    let place = 1;
    for (let n = 0; n < count; n += 1) place = 2 * place + bit(of, start + place);
    return place - (1 << count);
  };
  const reverse = (of, start, count) => {
    let [place, found] = [1, 0];
    for (let n = 0; n < count; n += 1) {
      const one = bit(of, start + place);
      place = 2 * place + one;
      found |= one << n;
    }
    return found;
  };
  const lengths = () => ({ choice: chances(2), low: chances(128), middle: chances(128), high: chances(256) });
  const length = (of, position) => {
    if (!bit(of.choice, 0)) return tree(of.low, position * 8, 3);
    if (!bit(of.choice, 1)) return 8 + tree(of.middle, position * 8, 3);
    return 16 + tree(of.high, 0, 8);
  };

  const literals = chances(0x300 << (lc + lp));
  const [isMatch, isLong] = [chances(192), chances(192)];
  const [isRepeat, isOlder, isSecond, isThird] = [chances(12), chances(12), chances(12), chances(12)];
  const [slots, places, aligned] = [chances(256), chances(115), chances(16)];
  const [ofMatch, ofRepeat] = [lengths(), lengths()];
  const back = [0, 0, 0, 0]; // the last distances, less one
  let [state, end] = [0, 0];

  const literal = () => {
    const before = end ? out[end - 1] : 0;
    const start = 0x300 * (((end & ((1 << lp) - 1)) << lc) + (before >> (8 - lc)));
    let symbol = 1;
    if (state >= 7) { // behind a match: as the byte there, until one bit differs
      let match = out[end - back[0] - 1];
      while (symbol < 0x100) {
        const wanted = (match >> 7) & 1;
        match <<= 1;
        const found = bit(literals, start + ((1 + wanted) << 8) + symbol);
        symbol = 2 * symbol + found;
        if (found !== wanted) break;
      }
    }
    while (symbol < 0x100) symbol = 2 * symbol + bit(literals, start + symbol);
    out[end++] = symbol & 0xff;
    state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
  };
  const distance = (long) => {
    const slot = tree(slots, Math.min(long, 3) * 64, 6);
    if (slot < 4) return slot;
    const count = (slot >> 1) - 1;
    const start = (2 | (slot & 1)) * 2 ** count;
    return start + (slot < 14 ? reverse(places, start - slot, count) : direct(count - 4) * 16 + reverse(aligned, 0, 4));
  };

  while (end < out.length) {
    const position = end & ((1 << pb) - 1);
    if (!bit(isMatch, state * 16 + position)) {
      literal();
      continue;
    }
    let long = 0;
    if (!bit(isRepeat, state)) {
      long = length(ofMatch, position);
      state = state < 7 ? 7 : 10;
      back.unshift(distance(long));
      back.pop();
    } else {
      const older = bit(isOlder, state) ? (bit(isSecond, state) ? (bit(isThird, state) ? 3 : 2) : 1) : 0;
      if (older === 0 && !bit(isLong, state * 16 + position)) {
        state = state < 7 ? 9 : 11;
        out[end] = out[end - back[0] - 1];
        end += 1;
        continue;
      }
      back.unshift(...back.splice(older, 1));
      long = length(ofRepeat, position);
      state = state < 7 ? 8 : 11;
    }
    for (const last = Math.min(out.length, end + long + 2), by = back[0] + 1; end < last; end += 1) out[end] = out[end - by];
  }
  return out;
}
