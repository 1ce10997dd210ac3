import type { AdminSchemas } from "../../admin/index.ts";

type Problem = AdminSchemas["Problem"];
export type PropertyFault = NonNullable<Problem["errors"]>[number];
type Answer<T> = { data?: T; error?: unknown; response: Response };

export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string;
  readonly problem: Partial<Problem> & Record<string, unknown>;

  constructor(status: number, problem: Partial<Problem> & Record<string, unknown>) {
    super(problem.message ?? "The admin API refused a request.");
    this.status = status;
    this.code = problem.code ?? "internal_error";
    this.requestId = problem.requestId ?? "";
    this.problem = problem;
  }
}

/** What a page itself refuses, before it asks the admin API; `property` is that of the field that is wrong. */
export const refuseField = (property: string, code: string, status = 400): Refused =>
  new Refused(status, { code, errors: [{ pointer: `/${property}`, rule: code, message: code }] });

/** For fields that a page needs and the contract does not. Errors: Refused invalid_request. */
export function requireFields({ field }: { field(name: string): string }, ...names: string[]): void {
  const missing = names.filter((name) => field(name) === "");
  const errors = missing.map((name) => ({ pointer: `/${name}`, rule: "required", message: "missing" }));
  if (errors.length > 0) throw new Refused(400, { code: "invalid_request", errors });
}

async function unwrapResponse<T>(call: Promise<Answer<T>>): Promise<{ data: T; response: Response }> {
  const { data, error, response } = await call;
  if (!response.ok) throw new Refused(response.status, (error ?? {}) as Partial<Problem>);
  return { data: data as T, response };
}

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

export async function unwrapPage<T>(call: Promise<Answer<T[]>>): Promise<ListPage<T>> {
  const { data, response } = await unwrapResponse(call);
  const link = /<([^>]+)>;\s*rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  const next = link === undefined ? null : new URL(link, "http://inside").searchParams.get("cursor");
  const more = (address: string, filters: Record<string, string> = {}) =>
    next === null ? null : `${address}?${new URLSearchParams({ ...filters, cursor: next }).toString()}`;
  return { items: data, next, more };
}

/** Returns null for 404. Errors: Refused for every other refusal. */
export async function unwrapIfFound<T>(call: Promise<Answer<T>>): Promise<T | null> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  if (response.status === 404) return null;
  throw new Refused(response.status, (error ?? {}) as Partial<Problem>);
}

/** Ignores a refusal if the record already has the wanted values, because the form was sent twice. */
export async function unwrapUnlessDone<T>(call: Promise<Answer<T>>, wanted: object): Promise<T | null> {
  return unwrap(call).catch((error: unknown) => {
    if (!(error instanceof Refused) || error.code !== "precondition_failed") throw error;
    if (!isLike(error.problem["current"], wanted)) throw error;
    return null;
  });
}

/** Whether a record has all wanted values, with lists in any order. */
function isLike(record: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(record) || record.length !== wanted.length) return false;
    return wanted.every((one) => record.some((other) => isLike(other, one)));
  }
  if (typeof wanted !== "object" || wanted === null) return record === wanted;
  if (typeof record !== "object" || record === null) return false;
  return Object.entries(wanted).every(([name, one]) => isLike((record as Record<string, unknown>)[name], one));
}
