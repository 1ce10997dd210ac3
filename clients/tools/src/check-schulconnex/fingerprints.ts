/** A number of 53 bits for a text: of a record eight bytes are kept, and no name. Source: cyrb53, by bryc. */
export function hash(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    high = Math.imul(high ^ sign, 2_654_435_761);
    low = Math.imul(low ^ sign, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 4_294_967_296 * (2_097_151 & low) + (high >>> 0);
}

/** The same text for values that differ in the order of fields and of list entries alone. */
export function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map(canonical).sort().join()}]`;
  let text = "";
  for (const name of Object.keys(value).sort())
    text += `${JSON.stringify(name)}:${canonical((value as Record<string, unknown>)[name])},`;
  return `{${text}}`;
}

export const sorted = (numbers: readonly number[]): Float64Array => Float64Array.from(numbers).sort();

/** How many of `some` are in `others`, and how many are not; both sorted. */
export function compare(some: Float64Array, others: Float64Array): { shared: Float64Array; lacking: number } {
  let at = 0;
  const shared = some.filter((one) => {
    while (at < others.length && others[at]! < one) at += 1;
    return others[at] === one && at++ >= 0;
  });
  return { shared, lacking: some.length - shared.length };
}

/** The place in the list, from 1, of what is there a second time; null if all differ. */
export function findRepeated(numbers: readonly number[]): number | null {
  const ordered = sorted(numbers);
  const repeated = ordered.find((one, at) => one === ordered[at + 1]);
  return repeated === undefined ? null : numbers.lastIndexOf(repeated) + 1;
}
