import { randomUUID } from "node:crypto";
import type { Client } from "openapi-fetch";
import type { components, paths } from "../../generated/openapi/admin.ts";
import { AppError } from "../platform/errors.ts";
import type { Result, Tools } from "./command.ts";
import { defaultLimit, listResult as pageResult, type Columns } from "./lines.ts";
import { UsageError } from "./option.ts";
import { dashed } from "./read-call.ts";

export type Schemas = components["schemas"];

/** What a command works with that calls the admin API, in this process or on a remote service. */
export type Service = Pick<Tools, "tell" | "showProgress"> & {
  /** A call that is refused throws. */
  api: Client<paths>;
  /** What is on the machine of the service; null on a remote one. */
  machine: Tools | null;
};

export type Remote = Service & {
  /** Prints something at once, beside the result at the end: a text, or with --output json one object in one line. */
  emit(text: string, data: object): void;
  /** Aborts when the person stops a command that goes on until then. */
  readonly stop: AbortSignal;
  address: string;
};

type Answered<Body> = { data?: Body; response: Response };

/** The body of an answer. */
export const bodyOf = async <Body>(answer: Promise<Answered<Body>>): Promise<Body> => (await answer).data as Body;

/** A record and its tag, for `If-Match`. */
export async function tagged<Body>(answer: Promise<Answered<Body>>): Promise<{ record: Body; ifMatch: IfMatch }> {
  const { data, response } = await answer;
  const tag = response.headers.get("ETag");
  return { record: data as Body, ifMatch: tag === null ? {} : { "If-Match": tag } };
}

export type IfMatch = { "If-Match"?: string };

/** Names a creation, which can be sent again safely. */
export const once = (): { header: { "Idempotency-Key": string } } => ({ header: { "Idempotency-Key": randomUUID() } });

const mostTries = 3;

/** Reads and changes a record, again from the start where somebody else changed it meanwhile. */
export async function fromLatest<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "precondition_failed" || tries === mostTries) throw error;
    }
}

type Page = { limit: number; cursor?: string };
type ReadPage<Item> = (page: Page) => Promise<Answered<Item[]>>;

const largestPage = 1000;

/** All entries of a list, page by page. Units: `limit` is the size of a page. */
export async function* everyEntry<Item>(read: ReadPage<Item>, limit = largestPage): AsyncGenerator<Item> {
  let cursor: string | undefined;
  do {
    const { data, response } = await read({ limit, ...(cursor !== undefined && { cursor }) });
    yield* data ?? [];
    const [, next] = /<([^>]*)>; rel="next"/.exec(response.headers.get("Link") ?? "") ?? [];
    cursor = next === undefined ? undefined : (new URL(next, "http://any").searchParams.get("cursor") ?? undefined);
  } while (cursor !== undefined);
}

export async function allEntries<Item>(read: ReadPage<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of everyEntry(read)) found.push(item);
  return found;
}

type Part<Item> = { limit: number; after?: string | undefined; idOf?: (item: Item) => string };

/** The first entries of a list, or those after the entry with the id `after`. */
export async function firstEntries<Item>(
  read: ReadPage<Item>,
  { limit, after, idOf = (item) => (item as { id: string }).id }: Part<Item>,
): Promise<Item[]> {
  const found: Item[] = [];
  if (limit === 0) return found;
  let isBehind = after === undefined;
  for await (const item of everyEntry(read, isBehind ? Math.min(limit, largestPage) : largestPage)) {
    if (isBehind) found.push(item);
    else isBehind = idOf(item) === after;
    if (found.length === limit) break;
  }
  return found;
}

/** The result of a command that lists records with an id. */
export async function listResult<Item extends { id: string }>(
  name: string,
  read: ReadPage<Item>,
  {
    limit = defaultLimit,
    after,
    columns,
  }: Omit<Part<Item>, "limit"> & { limit: number | undefined; columns: Columns<Item> },
): Promise<Result> {
  return pageResult(name, await firstEntries(read, { limit: limit + 1, after }), limit, columns);
}

/** Options without those that are left out. */
type Given<Options extends object> = { [Name in keyof Options]?: Exclude<Options[Name], undefined> };

export const given = <Options extends object>(options: Options): Given<Options> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Given<Options>;

/** A type whose properties must all be named, also those that may be undefined. */
export type Every<Whole> = { [Name in keyof Required<Whole>]: Whole[Name] | undefined };

/**
 * Makes the body of a request. A property that the contract adds does not compile until it is named here: with an
 * option, or as undefined.
 */
export const makeBody = <Body extends object>(properties: Every<Body>): Body => given(properties) as unknown as Body;

/** The part of a body; undefined where nothing of it is given. */
export function makePart<Part extends object>(properties: Every<Part>): Part | undefined {
  const part = makeBody<Part>(properties);
  return isEmpty(part) ? undefined : part;
}

export const isEmpty = (body: object): boolean => Object.keys(body).length === 0;

/** A record as its properties, those of its parts among them. */
const flat = (record: object): [string, unknown][] =>
  Object.entries(record).flatMap(([name, value]: [string, unknown]) =>
    typeof value === "object" && value !== null && !Array.isArray(value) ? flat(value) : [[name, value]],
  );

/** The names of the properties that differ, in alphabetical order. */
function listDifferences(before: object, after: object): string[] {
  const old = new Map(flat(before));
  const differs = ([name, value]: [string, unknown]) => JSON.stringify(old.get(name)) !== JSON.stringify(value);
  return flat(after)
    .filter(differs)
    .map(([name]) => name)
    .sort();
}

type Update<Body> = {
  read: () => Promise<Answered<Body>>;
  /** Returns null where there is nothing to change. */
  change: (before: Body, ifMatch: IfMatch) => Promise<unknown> | null;
};

/** Changes a record from its latest state; returns the names of the properties that differ then. */
export const updateRecord = <Body extends object>({ read, change }: Update<Body>): Promise<string[]> =>
  fromLatest(async () => {
    const { record: before, ifMatch } = await tagged(read());
    const changing = change(before, ifMatch);
    if (changing === null) return [];
    await changing;
    return listDifferences(before, await bodyOf(read()));
  });

/** What options need that only the database of this machine offers. Errors: UsageError on a remote service. */
export function machineFor({ machine }: Service, options: object): Tools {
  if (machine !== null) return machine;
  const [name = ""] = Object.keys(options);
  throw new UsageError(`--${dashed(name)} works beside the database only, not on a remote service.`);
}

export const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

/** Refuses options that only the database beside the program knows. Errors: UsageError. */
export function refuseHere(options: object): void {
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && value !== false)
      throw new UsageError(`--${dashed(name)} works beside the database only, not on a remote service.`);
}
