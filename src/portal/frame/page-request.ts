import { randomUUID } from "node:crypto";
import type { Request, Response } from "express";
import { permissionsOf } from "../../admin/index.ts";
import type { AdminClient, AdminSchemas, InnerCaller, OperationId, PathName, Permissions } from "../../admin/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { Clock } from "../../platform/clock.ts";
import type { EncryptionKeys } from "../../platform/crypto/seal.ts";
import { callerOf } from "../../platform/http/index.ts";
import { readLocale, type Locale, type Translate } from "../../platform/pages/index.ts";
import { limitThreaded, type AskedBy } from "../../platform/threads/index.ts";
import { makeCalls, type Calls, type Refused } from "./calls.ts";
import { fieldOf, readTyped, hide, reveal, type Typed } from "./form.ts";
import type { Upload } from "./upload.ts";
import { makeTimes, readZone, type Times } from "./zone.ts";
import type { QrPath } from "./qr-path.ts";

type Visitor = {
  personId: PersonId;
  sessionUid: string;
  hasSecondFactor: boolean;
  /** Whether pages of the staff require a second factor that is missing. */
  needsSecondFactor: boolean;
};

export type FrameDeps = {
  clock: Clock;
  keys: EncryptionKeys;
  /** Where people sign in, as sheets and cards say it. */
  signInAddress: string;
  findVisitor(req: Request, res: Response): Promise<Visitor | null>;
  clientFor(caller: InnerCaller): AdminClient;
  /** Stores in the browser that the person has signed out. */
  noteSignedOut(req: Request, res: Response): void;
  /** Ends the session of this browser. Returns where the browser goes. */
  signOut(req: Request, res: Response): Promise<string>;
};

export type Me = AdminSchemas["Me"];

export type PageRequest = Calls & {
  req: Request;
  res: Response;
  visitor: Visitor;
  /** The person with their current roles. */
  me: Me;
  permissions: Permissions;
  /** Whether they may call an operation of the admin API: at the school of the address, if it names one. */
  may(operation: OperationId): boolean;
  school: { id: string; name: string } | null;
  signInAddress: string;
  api: AdminClient;
  t: Translate;
  locale: Locale;
  times: Times;
  now: Date;
  /** The parameters of the address, for calls of the admin API. */
  path: Readonly<Record<PathName, string>>;
  param(name: string): string;
  /** The address of the list or record that the page belongs to. */
  base: string;
  /** An address of the portal with the parameters of this one, such as `:schoolId`. */
  at(template: string): string;
  /** The first value of a query parameter; "" if there is none. */
  query(name: string): string;
  /** Encrypts input for an address that only this reader can read. */
  hide(text: string): string;
  /** Decrypts what `hide` encrypted for this reader; "" for anything else. */
  reveal(hidden: string): string;
  typed: Typed;
  field(name: string): string;
  /** Makes a form that is sent twice count once. */
  idempotencyKey: string;
  upload: Upload | null;
  refused: Refused | null;
  noteSignedOut(): void;
  signOut(): Promise<string>;
};

export const requestIdOf = (res: Response): string => String(res.locals["requestId"] ?? "");

/** The headers of a change that a form asks for: its key, and the tag of the record that it was filled in for. */
export const headersOf = ({ typed, idempotencyKey }: Pick<PageRequest, "typed" | "idempotencyKey">) => {
  const tag = fieldOf(typed, "tag");
  return { "Idempotency-Key": idempotencyKey, ...(tag !== "" && { "If-Match": tag }) };
};

export async function openVisit(
  deps: FrameDeps,
  { base: template, ...visit }: Pick<PageRequest, "req" | "res" | "visitor" | "t" | "base">,
): Promise<PageRequest> {
  const { req, res, visitor } = visit;
  const locale = readLocale(req);
  const param = (name: string) => String(req.params[name] ?? "");
  const at = (address: string) => address.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(param(name)));
  const base = at(template);
  const api = deps.clientFor({ personId: visitor.personId, requestId: requestIdOf(res) });
  const typed = req.method === "POST" ? readTyped(req.body) : {};
  const idempotencyKey = fieldOf(typed, "once") || randomUUID();
  const headers = headersOf({ typed, idempotencyKey });
  const { searchParams: search } = new URL(req.originalUrl, "http://here");
  // On pages about no other person, operations on people are about the reader.
  const calls = makeCalls(api, { path: { personId: visitor.personId, ...req.params }, headers, search, base });
  const { schoolId } = req.params as { schoolId?: string };
  const me = await calls.call("getMe");
  const permissions = permissionsOf(me.roles);
  return {
    ...calls,
    ...visit,
    api,
    locale,
    times: makeTimes(locale, readZone(req)),
    me,
    permissions,
    may: (operation) => permissions.may(operation, schoolId),
    school: schoolId === undefined ? null : await findSchool({ ...calls, me, permissions }, schoolId),
    signInAddress: deps.signInAddress,
    now: deps.clock(),
    hide: (text) => hide(deps.keys, visitor.personId, text),
    reveal: (hidden) => reveal(deps.keys, visitor.personId, hidden),
    path: req.params as PageRequest["path"],
    noteSignedOut: () => deps.noteSignedOut(req, res),
    signOut: () => deps.signOut(req, res),
    param,
    at,
    base,
    query: (name) => firstOf(req.query[name]).trim(),
    typed,
    field: (name) => fieldOf(typed, name),
    idempotencyKey,
    upload: (res.locals["upload"] ?? null) as Upload | null,
    refused: null,
  };
}

/** The school of the page; null if it is out of reach, which the page itself reports. */
async function findSchool(
  { find, me, permissions }: Pick<PageRequest, "find" | "me" | "permissions">,
  schoolId: string,
): Promise<PageRequest["school"]> {
  const mine = me.schools.find(({ id }) => id === schoolId);
  if (mine !== undefined || !permissions.reachesAll) return mine ?? null;
  return find("getSchool").catch(() => null);
}

const firstOf = (value: unknown): string => {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" ? first : "";
};

export const hasManySchools = ({ me, permissions }: Pick<PageRequest, "me" | "permissions">): boolean =>
  permissions.reachesAll || me.schools.length > 1;

/** For work in a thread, which ends when the browser leaves. */
export const askedBy = ({ visitor, res }: PageRequest): AskedBy => ({ by: visitor.personId, caller: callerOf(res) });

/** Aborts when the browser disconnects. */
export function leavingOf({ res }: PageRequest): AbortSignal {
  const leaving = new AbortController();
  res.once("close", () => leaving.abort());
  return leaving.signal;
}

export const drawQrPaths = limitThreaded<string[], QrPath[]>({
  module: new URL("./qr-path.ts", import.meta.url),
  seconds: 60,
});
