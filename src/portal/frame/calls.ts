import type { AdminClient, AdminSchemas, DataOf, OperationId, OperationRequest } from "../../admin/index.ts";

type Problem = AdminSchemas["Problem"];
export type PropertyFault = NonNullable<Problem["errors"]>[number];

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

/** Ignores one refusal, of a form that was sent twice. */
export const exceptFor = (code: string | undefined) => (error: unknown) => {
  if (!(error instanceof Refused) || error.code !== code) throw error;
  return undefined;
};

/** For `catch`: a changed record is no refusal if it already has the wanted values, because the form was sent twice. */
export const unlessDone = (wanted: unknown) => (error: unknown) => {
  const isDone = error instanceof Refused && error.code === "precondition_failed" && wanted !== undefined;
  if (!isDone || !isLike(error.problem["current"], wanted)) throw error;
  return undefined;
};

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

type ItemOf<Id extends OperationId> = DataOf<Id> extends readonly (infer Item)[] ? Item : never;
type ListPage<Item> = {
  items: Item[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
  /** The address of the next page of the list that this page shows, with the filters of this one; null at the end. */
  more: string | null;
};

/** Calls of the admin API as the reader. Parameters of the path come from the address of the page. Errors: Refused. */
export type Calls = {
  call<Id extends OperationId>(id: Id, request?: OperationRequest<Id>): Promise<DataOf<Id>>;
  /** Returns null for 404. */
  find<Id extends OperationId>(id: Id, request?: OperationRequest<Id>): Promise<DataOf<Id> | null>;
  /** Returns a record with the tag for `If-Match`. */
  getRecord<Id extends OperationId>(
    id: Id,
    request?: OperationRequest<Id>,
  ): Promise<{ record: DataOf<Id>; tag: string }>;
  /** Reads the page of a list that the address asks for, of 50 entries unless `query` says otherwise. */
  list<Id extends OperationId>(id: Id, request?: OperationRequest<Id>): Promise<ListPage<ItemOf<Id>>>;
  listAll<Id extends OperationId>(id: Id, query?: OperationRequest<Id>["query"]): Promise<ItemOf<Id>[]>;
};

const rowsOnPage = 50;
/** Query parameters that are no filters of a list. */
const notFilters = ["cursor", "done", "count", "lang"];

/** `headers` are those that a form has for its change: the tag and the key; `base` is the address of the list. */
export function makeCalls(
  api: AdminClient,
  {
    path,
    headers,
    search,
    base,
  }: { path: object; headers: Record<string, string>; search: URLSearchParams; base: string },
): Calls {
  async function answer<Id extends OperationId>(id: Id, request: OperationRequest<Id> = {}) {
    const isDry = (request.query as { "dry-run"?: boolean } | undefined)?.["dry-run"] === true;
    const { "Idempotency-Key": _, ...withoutKey } = headers;
    return api.call(id, {
      ...request,
      path: { ...path, ...request.path },
      headers: { ...(isDry ? withoutKey : headers), ...request.headers },
    });
  }
  async function getAnswer<Id extends OperationId>(id: Id, request?: OperationRequest<Id>) {
    const answered = await answer(id, request);
    if (answered.problem !== null) throw new Refused(answered.status, answered.problem);
    return answered;
  }
  const calls: Calls = {
    call: async (id, request) => (await getAnswer(id, request)).data,
    async find(id, request) {
      const answered = await answer(id, request);
      if (answered.problem === null) return answered.data;
      if (answered.status === 404) return null;
      throw new Refused(answered.status, answered.problem);
    },
    async getRecord(id, request) {
      const { data, headers: answered } = await getAnswer(id, request);
      return { record: data, tag: answered.get("etag") ?? "" };
    },
    async list<Id extends OperationId>(id: Id, request: OperationRequest<Id> = {}) {
      const query = {
        limit: rowsOnPage,
        cursor: search.get("cursor"),
        ...request.query,
      } as OperationRequest<Id>["query"];
      const { data, headers: answered } = await getAnswer(id, { ...request, ...(query && { query }) });
      const link = /<([^>]+)>;\s*rel="next"/.exec(answered.get("link") ?? "")?.[1];
      const next = link === undefined ? null : new URL(link, "http://inside").searchParams.get("cursor");
      const filters = [...search].filter(([name]) => !notFilters.includes(name));
      const more = next && `${base}?${new URLSearchParams([...filters, ["cursor", next]]).toString()}`;
      return { items: data as unknown as ItemOf<Id>[], next, more };
    },
    async listAll<Id extends OperationId>(id: Id, query: OperationRequest<Id>["query"]) {
      const all: ItemOf<Id>[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const page = (await calls.list(id, { query: { ...query, cursor } } as OperationRequest<Id>)) as ListPage<
          ItemOf<Id>
        >;
        all.push(...page.items);
        cursor = page.next;
      }
      return all;
    },
  };
  return calls;
}
