import { setImmediate } from "node:timers/promises";
import type { InTurn } from "./exports.ts";

const itemsInSlice = 500;

const afterOthers: InTurn = async (part) => {
  await setImmediate();
  return part();
};

export async function mapInSlices<T, R>(items: readonly T[], work: (item: T) => R, inTurn = afterOthers): Promise<R[]> {
  const done: R[] = [];
  for (let at = 0; at < items.length; at += itemsInSlice) {
    const slice = items.slice(at, at + itemsInSlice);
    done.push(...(await inTurn(() => Promise.resolve(slice.map(work)))));
  }
  return done;
}

export async function stringifyInSlices(value: object, inTurn = afterOthers): Promise<string> {
  let text = "";
  for await (const piece of jsonInSlices(value, inTurn)) text += piece;
  return text;
}

export async function* jsonInSlices(value: object, inTurn = afterOthers): AsyncGenerator<string> {
  const isLong = (one: unknown): one is unknown[] => Array.isArray(one) && one.length > itemsInSlice;
  if (Array.isArray(value) || !Object.values(value).some(isLong)) return void (yield JSON.stringify(value));
  let before = "{";
  for (const [name, one] of Object.entries(value)) {
    if (one === undefined) continue;
    before += `${JSON.stringify(name)}:`;
    if (isLong(one)) {
      for (let at = 0; at < one.length; at += itemsInSlice) {
        const slice = one.slice(at, at + itemsInSlice);
        const text = await inTurn(() => Promise.resolve(JSON.stringify(slice).slice(1, -1)));
        yield `${before}${at === 0 ? "[" : ","}${text}`;
        before = "";
      }
      before = "],";
    } else before += `${JSON.stringify(one)},`;
  }
  yield `${before.replace(/,$/, "")}}`;
}
