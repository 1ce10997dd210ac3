import { randomUUID } from "node:crypto";
import type { Client } from "openapi-fetch";
import type { components, paths } from "../../../generated/openapi/admin.ts";
import { AppError } from "../../platform/errors.ts";
import type { Tools } from "../command.ts";
import { UsageError } from "../option.ts";
import { dashed } from "../read-call.ts";

export type Schemas = components["schemas"];

/** What a command works with on a remote service. */
export type Remote = Pick<Tools, "tell" | "showProgress"> & {
  /** Prints something at once, beside the result at the end: a text, or with --output json one object in one line. */
  emit(text: string, data: object): void;
  /** Aborts when the person stops a command that goes on until then. */
  readonly stop: AbortSignal;
  address: string;
  /** The admin API; a call that is refused throws. */
  api: Client<paths>;
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

/** The first entries of a list. Shape: `after` is the id of the entry before them. */
export async function firstEntries<Item>(
  read: ReadPage<Item>,
  { limit, after, idOf }: { limit: number; after?: string | undefined; idOf?: (item: Item) => string },
): Promise<Item[]> {
  const found: Item[] = [];
  if (limit === 0) return found;
  let isBehind = after === undefined;
  for await (const item of everyEntry(read, isBehind ? Math.min(limit, largestPage) : largestPage)) {
    if (isBehind) found.push(item);
    else isBehind = idOf?.(item) === after;
    if (found.length === limit) break;
  }
  return found;
}

/** Options without those that are left out. */
type Given<Options extends object> = { [Name in keyof Options]?: Exclude<Options[Name], undefined> };

export const given = <Options extends object>(options: Options): Given<Options> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Given<Options>;

/** Refuses options that only the database beside the program knows. Errors: UsageError. */
export function refuseHere(options: object): void {
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && value !== false)
      throw new UsageError(`--${dashed(name)} works beside the database only, not on a remote service.`);
}

export const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));
