import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { Router } from "express";
import type { PersonId } from "../directory/index.ts";
import {
  fetchInside,
  listOperations,
  makeInnerCalls,
  resolve,
  type InnerFetch,
  type OpenApiDocument,
  type Parameter,
} from "../platform/http/index.ts";
import { silentLog, type Log } from "../platform/telemetry/log.ts";
import type { SharedReads } from "../platform/database/prisma.ts";
import type { StaffRole } from "../staff/index.ts";
import type { OperationId, Operations, PathName, Schemas } from "./handler.ts";
import type { SetUpCaller } from "./set-up.ts";

type QueryOf<Id extends OperationId> = NonNullable<Operations[Id]["parameters"]["query"]>;
type BodyIn<Content> = Content extends { content: { "application/json": infer Body } }
  ? Body
  : Content extends { content: object }
    ? Buffer | Readable
    : never;
export type BodyOf<Id extends OperationId> = BodyIn<
  NonNullable<Operations[Id] extends { requestBody?: infer Body } ? Body : never>
>;
type DataIn<Response> = Response extends { content: { "application/json": infer Data } }
  ? Data
  : Response extends { content: { "application/octet-stream": unknown } }
    ? Readable
    : Response extends { content: object }
      ? Buffer
      : undefined;
/** What an operation answers: JSON as it was read, a file as a stream, other content as its bytes. */
export type DataOf<Id extends OperationId> = {
  [Status in Extract<keyof Operations[Id]["responses"], 200 | 201 | 202 | 204>]: DataIn<
    Operations[Id]["responses"][Status]
  >;
}[Extract<keyof Operations[Id]["responses"], 200 | 201 | 202 | 204>];

export type OperationRequest<Id extends OperationId> = {
  /** Parameters that the address does not have are ignored. */
  path?: Partial<Record<PathName, string>>;
  /** A parameter without a value, or with an empty text, is not sent. */
  query?: { [Name in keyof QueryOf<Id>]?: QueryOf<Id>[Name] | "" | null | undefined };
  /** Headers that the operation does not describe are ignored. */
  headers?: Record<string, string>;
  body?: BodyOf<Id>;
  /** Leaves JSON as it came. */
  asBytes?: boolean;
  signal?: AbortSignal;
};
type Refusal = Partial<Schemas["Problem"]> & Record<string, unknown>;
/** `problem` is null unless the operation was refused. */
type OperationAnswer<Id extends OperationId> = { headers: Headers } & (
  { status: number; problem: null; data: DataOf<Id> } | { status: number; problem: Refusal }
);

export type AdminClient = {
  call<Id extends OperationId>(id: Id, request?: OperationRequest<Id>): Promise<OperationAnswer<Id>>;
};

/** A signed-in member of staff or an IT contact with a set-up link, and the request that is being answered. */
export type InnerCaller = ({ personId: PersonId } | { setUp: SetUpCaller }) & { requestId: string };

type OperationAddress = { method: string; path: string; headers: readonly string[]; type: string; isFile: boolean };

function listPlaces(document: OpenApiDocument): ReadonlyMap<string, OperationAddress> {
  return new Map(
    listOperations(document).map(({ path, method, operation }) => {
      const parameters = (operation.parameters ?? []).map((parameter) => resolve<Parameter>(document, parameter));
      const headers = parameters.filter((parameter) => parameter.in === "header").map(({ name }) => name);
      const [type = ""] = Object.keys(operation.requestBody?.content ?? {});
      const { content } = resolve(document, operation.responses["200"] ?? {});
      const isFile = content?.["application/octet-stream"] !== undefined;
      return [operation.operationId, { method: method.toUpperCase(), path, headers, type, isFile }];
    }),
  );
}

/** Makes clients whose calls `router` answers; `findCaller` returns null for requests from outside. */
export function makeInnerClients(document: OpenApiDocument): {
  findCaller(req: IncomingMessage): InnerCaller | null;
  makeClients(router: Router): (caller: InnerCaller) => AdminClient;
} {
  const { findCaller, serve } = makeInnerCalls<InnerCaller>();
  const places = listPlaces(document);
  return {
    findCaller,
    makeClients(router) {
      const send = serve(router);
      return (caller) => ({
        async call<Id extends OperationId>(id: Id, request: OperationRequest<Id> = {}) {
          const { method, path, headers: described, type, isFile } = places.get(id)!;
          const { body, signal, headers = {}, asBytes = false } = request;
          const isJson = type === "application/json" && body !== undefined;
          const pathname = path.replaceAll(/\{(\w+)\}/g, (_, name: PathName) =>
            encodeURIComponent(request.path?.[name] ?? ""),
          );
          const sent = described.flatMap((name) =>
            headers[name] === undefined ? [] : [[name.toLowerCase(), headers[name]] as const],
          );
          const answer = await send(caller, {
            method,
            url: pathname + searchOf(request.query),
            // If the operation takes several types, the API detects the type from the bytes.
            headers: { ...Object.fromEntries(sent), ...(body !== undefined && { "content-type": type }) },
            body: isJson ? Buffer.from(JSON.stringify(body)) : (body as Buffer | Readable | undefined),
            signal,
            isFile,
          });
          const { status, headers: answered, body: bytes } = answer;
          const isJsonRead = answered.get("content-type")?.includes("json") === true && !(asBytes && status < 400);
          const isRead = isJsonRead && Buffer.isBuffer(bytes);
          const isNone = Buffer.isBuffer(bytes) && bytes.length === 0;
          const data: unknown = isRead ? JSON.parse(bytes.toString()) : isNone ? undefined : bytes;
          const outcome = status < 400 ? { problem: null, data } : { problem: isRead ? data : {} };
          return { status, headers: answered, ...outcome } as OperationAnswer<Id>;
        },
      });
    },
  };
}

/** Encodes spaces as %20, as the contract has them. */
function searchOf(query: object = {}): string {
  const filled = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null || value === "" ? [] : `${name}=${encodeURIComponent(String(value))}`,
  );
  return filled.length === 0 ? "" : `?${filled.join("&")}`;
}

type BindOne = (operation: OperationId, log: Log) => Promise<Router>;

/** Loads each operation at its first call. Errors: a call throws what the operation throws, unless it is a refusal. */
export function makeLazyFetch(document: OpenApiDocument, bind: BindOne): InnerFetch {
  const places = [...listPlaces(document)].map(([id, { method, path, isFile }]) => ({
    id: id as OperationId,
    method,
    isFile,
    path: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
  }));
  const failures = new Map<string, unknown>();
  const note = ({ requestId, err }: { requestId: string; err: unknown }) => void failures.set(requestId, err);
  const log = Object.assign(Object.create(silentLog) as Log, { error: note });
  const serve = async (id: OperationId) => makeInnerCalls().serve(await bind(id, log));
  const serving = new Map<OperationId, ReturnType<typeof serve>>();
  return async (request) => {
    const { pathname } = new URL(request.url);
    const place = places.find(({ method, path }) => method === request.method && path.test(pathname));
    if (place === undefined) throw new Error(`The contract has no ${request.method} ${pathname}.`);
    const served = serving.get(place.id) ?? serve(place.id);
    serving.set(place.id, served);
    // A call in this process arrives once.
    request.headers.delete("Idempotency-Key");
    const requestId = randomUUID();
    const call = await served;
    const response = await fetchInside((one) => call({ requestId }, { ...one, isFile: place.isFile }))(request);
    if (failures.has(requestId)) throw failures.get(requestId);
    return response;
  };
}

/** `reads` is null if earlier reads may no longer be used. */
type HeldReads = { roles: StaffRole[]; reads: SharedReads | null };

/** Caches the roles of an inner caller, and the records that a page reads, until the caller changes something. */
export function makeHeldReads(): (
  caller: InnerCaller,
  method: string | undefined,
  readRoles: () => Promise<StaffRole[]>,
) => Promise<HeldReads> {
  const held = new WeakMap<InnerCaller, { roles: Promise<StaffRole[]>; reads: SharedReads | null }>();
  const changing = new WeakSet<InnerCaller>();
  return async (caller, method, readRoles) => {
    if (method !== "GET") {
      held.delete(caller);
      changing.add(caller);
      return { roles: await readRoles(), reads: null };
    }
    const { roles, reads } = held.get(caller) ?? { roles: readRoles(), reads: changing.has(caller) ? null : new Map() };
    held.set(caller, { roles, reads });
    return { roles: await roles, reads };
  };
}
