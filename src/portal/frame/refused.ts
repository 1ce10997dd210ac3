import type { AdminSchemas } from "../../admin/index.ts";

type Problem = AdminSchemas["Problem"];
type Answer<T> = { data?: T; error?: unknown; response: Response };

/** The admin API refused what a page asked of it. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string;
  /** The whole body of the refusal. */
  readonly problem: Partial<Problem> & Record<string, unknown>;

  constructor(status: number, problem: Partial<Problem> & Record<string, unknown>) {
    super(problem.message ?? "The admin API refused a request.");
    this.status = status;
    this.code = problem.code ?? "internal_error";
    this.requestId = problem.requestId ?? "";
    this.problem = problem;
  }
}

async function unwrapResponse<T>(call: Promise<Answer<T>>): Promise<{ data: T; response: Response }> {
  const { data, error, response } = await call;
  if (!response.ok) throw new Refused(response.status, (error ?? {}) as Partial<Problem>);
  return { data: data as T, response };
}

/** What an operation answers. Errors: Refused. */
export const unwrap = async <T>(call: Promise<Answer<T>>): Promise<T> => (await unwrapResponse(call)).data;

/** A record with the tag for `If-Match`. Errors: Refused. */
export async function unwrapRecord<T>(call: Promise<Answer<T>>): Promise<{ record: T; tag: string }> {
  const { data, response } = await unwrapResponse(call);
  return { record: data, tag: response.headers.get("etag") ?? "" };
}

type ListPage<T> = {
  items: T[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
  /** The address of the next page, with its filters; null at the end. */
  more(address: string, filters?: Record<string, string>): string | null;
};

/** One page of a list. Errors: Refused. */
export async function unwrapPage<T>(call: Promise<Answer<T[]>>): Promise<ListPage<T>> {
  const { data, response } = await unwrapResponse(call);
  const link = /<([^>]+)>;\s*rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  const next = link === undefined ? null : new URL(link, "http://inside").searchParams.get("cursor");
  const more = (address: string, filters: Record<string, string> = {}) =>
    next === null ? null : `${address}?${new URLSearchParams({ ...filters, cursor: next }).toString()}`;
  return { items: data, next, more };
}

/** What an operation answers; null where there is no such record. Errors: Refused for every other refusal. */
export async function unwrapIfFound<T>(call: Promise<Answer<T>>): Promise<T | null> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  if (response.status === 404) return null;
  throw new Refused(response.status, (error ?? {}) as Partial<Problem>);
}

/**
 * What a change answers, which counts as made where the record is by now as it was to become: a form was sent twice.
 *
 * Errors: Refused.
 */
export async function unwrapUnlessDone<T>(call: Promise<Answer<T>>, wanted: object): Promise<T | null> {
  return unwrap(call).catch((error: unknown) => {
    if (!(error instanceof Refused) || error.code !== "precondition_failed") throw error;
    if (!isLike(error.problem["current"], wanted)) throw error;
    return null;
  });
}

/** Whether a record holds all that is wanted, lists in any order. */
function isLike(record: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(record) || record.length !== wanted.length) return false;
    return wanted.every((one) => record.some((other) => isLike(other, one)));
  }
  if (typeof wanted !== "object" || wanted === null) return record === wanted;
  if (typeof record !== "object" || record === null) return false;
  return Object.entries(wanted).every(([name, one]) => isLike((record as Record<string, unknown>)[name], one));
}
