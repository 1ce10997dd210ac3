import { AsyncLocalStorage } from "node:async_hooks";

export type SharedReads = Map<string, Promise<unknown>>;

/** The reads of the page being rendered; null in transactions. */
export const sharedReads = new AsyncLocalStorage<SharedReads | null>();

type Asked = { model?: string | undefined; operation: string; args: unknown };

const isRead = /^(find|count|aggregate|groupBy)/;

export function readOnce(asked: Asked, run: () => Promise<unknown>): Promise<unknown> {
  const shared = sharedReads.getStore();
  if (!shared || !isRead.test(asked.operation)) return run();
  const key = JSON.stringify(asked, (_name, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
  const read = shared.get(key) ?? run();
  shared.set(key, read);
  return read;
}
