import { setImmediate } from "node:timers/promises";

const itemsInSlice = 500;

/** Does something with each of a long list; other requests have their turn meanwhile. */
export async function mapInSlices<T, R>(items: readonly T[], work: (item: T) => R): Promise<R[]> {
  const done: R[] = [];
  for (let at = 0; at < items.length; at += itemsInSlice) {
    if (at > 0) await setImmediate();
    for (const item of items.slice(at, at + itemsInSlice)) done.push(work(item));
  }
  return done;
}

/** As `JSON.stringify`; see `jsonInSlices`. */
export async function stringifyInSlices(value: object): Promise<string> {
  let text = "";
  for await (const piece of jsonInSlices(value)) text += piece;
  return text;
}

/** As `JSON.stringify`, in pieces; other requests have their turn between those of long lists of a record. */
export async function* jsonInSlices(value: object): AsyncGenerator<string> {
  const isLong = (one: unknown): one is unknown[] => Array.isArray(one) && one.length > itemsInSlice;
  if (Array.isArray(value) || !Object.values(value).some(isLong)) return void (yield JSON.stringify(value));
  let before = "{";
  for (const [name, one] of Object.entries(value)) {
    if (one === undefined) continue;
    before += `${JSON.stringify(name)}:`;
    if (isLong(one)) {
      for (let at = 0; at < one.length; at += itemsInSlice) {
        yield `${before}${at === 0 ? "[" : ","}${JSON.stringify(one.slice(at, at + itemsInSlice)).slice(1, -1)}`;
        before = "";
        await setImmediate();
      }
      before = "],";
    } else before += `${JSON.stringify(one)},`;
  }
  yield `${before.replace(/,$/, "")}}`;
}
