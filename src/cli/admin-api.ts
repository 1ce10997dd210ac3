import { randomUUID } from "node:crypto";
import type { components } from "../../generated/openapi/admin.ts";
import { AppError } from "../platform/errors.ts";
import type { Machine, Service } from "./command.ts";
import { UsageError } from "./option.ts";
import { dashed } from "./program.ts";

export type Schemas = components["schemas"];

export type ApiResponse<Body> = { data?: Body; response: Response };

export const bodyOf = async <Body>(response: Promise<ApiResponse<Body>>): Promise<Body> =>
  (await response).data as Body;

/** Reads a record and its ETag, for `If-Match`. */
export async function readTagged<Body>(
  response: Promise<ApiResponse<Body>>,
): Promise<{ record: Body; ifMatch: IfMatch }> {
  const { data, response: head } = await response;
  const tag = head.headers.get("ETag");
  return { record: data as Body, ifMatch: tag === null ? {} : { "If-Match": tag } };
}

type IfMatch = { "If-Match"?: string };

export const withIdempotencyKey = (): { header: { "Idempotency-Key": string } } => ({
  header: { "Idempotency-Key": randomUUID() },
});

const maxTries = 3;

/** Repeats a read and its change if somebody else changed the record in between. */
export async function retryStale<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "precondition_failed" || tries === maxTries) throw error;
    }
}

type ReadPage<Item> = (page: { limit: number; cursor?: string }) => Promise<ApiResponse<Item[]>>;

const maxPage = 1000;

/** Reads a list page by page. Units: `limit` is the size of a page. */
export async function* iterateList<Item>(read: ReadPage<Item>, limit = maxPage): AsyncGenerator<Item> {
  let cursor: string | undefined;
  do {
    const { data, response } = await read({ limit, ...(cursor !== undefined && { cursor }) });
    yield* data ?? [];
    const [, next] = /<([^>]*)>; rel="next"/.exec(response.headers.get("Link") ?? "") ?? [];
    cursor = next === undefined ? undefined : (new URL(next, "http://any").searchParams.get("cursor") ?? undefined);
  } while (cursor !== undefined);
}

export async function listAll<Item>(read: ReadPage<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of iterateList(read)) items.push(item);
  return items;
}

type Range<Item> = { limit: number; after?: string | undefined; idOf?: (item: Item) => string };

export async function listFirst<Item>(
  read: ReadPage<Item>,
  { limit, after, idOf = (item) => (item as { id: string }).id }: Range<Item>,
): Promise<Item[]> {
  const items: Item[] = [];
  if (limit === 0) return items;
  let isAfter = after === undefined;
  for await (const item of iterateList(read, isAfter ? Math.min(limit, maxPage) : maxPage)) {
    if (isAfter) items.push(item);
    else isAfter = idOf(item) === after;
    if (items.length === limit) break;
  }
  return items;
}

type Defined<Options extends object> = { [Name in keyof Options]?: Exclude<Options[Name], undefined> };

export const omitUndefined = <Options extends object>(options: Options): Defined<Options> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<Options>;

export const isEmpty = (body: object): boolean => Object.keys(body).length === 0;

const flatten = (record: object): [string, unknown][] =>
  Object.entries(record).flatMap(([name, value]: [string, unknown]) =>
    typeof value === "object" && value !== null && !Array.isArray(value) ? flatten(value) : [[name, value]],
  );

function listDifferences(before: object, after: object): string[] {
  const old = new Map(flatten(before));
  const differs = ([name, value]: [string, unknown]) => JSON.stringify(old.get(name)) !== JSON.stringify(value);
  return flatten(after)
    .filter(differs)
    .map(([name]) => name)
    .filter((name) => name !== "updatedAt")
    .sort();
}

type Update<Body> = {
  read: () => Promise<ApiResponse<Body>>;
  /** Resolves to null if there is nothing to change. */
  change: (before: Body, ifMatch: IfMatch) => Promise<unknown>;
};

/** Changes the latest state of a record; returns the names of the properties that differ afterwards, not its time. */
export const updateRecord = <Body extends object>({ read, change }: Update<Body>): Promise<string[]> =>
  retryStale(async () => {
    const { record: before, ifMatch } = await readTagged(read());
    if ((await change(before, ifMatch)) === null) return [];
    return listDifferences(before, await bodyOf(read()));
  });

/** The machine, for an option that only its database offers. Errors: UsageError for a remote service. */
export function requireMachine({ machine }: Service, options: object): Machine {
  if (machine !== null) return machine;
  const [name = ""] = Object.keys(options);
  throw new UsageError(`--${dashed(name)} works only on the local database, not on a remote service.`);
}
