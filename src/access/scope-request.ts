import type { Prisma } from "../../generated/prisma/client.ts";
import { checkText } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { appNotFound, updateApp } from "./app.ts";
import { lockApp } from "./find-app.ts";
import type { ClientId, ScopeName } from "./token.ts";

type ScopeRequestId = string & { readonly __scopeRequestId: true };

export type ScopeRequest = {
  id: ScopeRequestId;
  clientId: ClientId;
  appName: string;
  scopes: ScopeName[];
  reason: string;
  state: "REQUESTED" | "APPROVED" | "REFUSED";
  requestedAt: Date;
  decidedAt: Date | null;
  note: string | null;
};

const mostOfText = 1000;
const withApp = { app: { select: { name: true } } } as const;

const presentRequest = ({ app, ...row }: Prisma.ScopeRequestGetPayload<{ include: typeof withApp }>): ScopeRequest => ({
  ...row,
  id: row.id as ScopeRequestId,
  clientId: row.clientId as ClientId,
  scopes: row.scopes as ScopeName[],
  appName: app.name,
});

const conflict = (code: string, message: string) => new AppError("conflict", code, message);

/** Errors: not_found app_not_found; conflict scopes_granted_already, scope_request_open; those of `checkText`. */
export async function requestScopes(
  tx: Transaction,
  { clientId, scopes, reason }: Pick<ScopeRequest, "clientId" | "scopes" | "reason">,
  origin: Origin,
): Promise<ScopeRequest> {
  const app = await lockApp(tx, clientId);
  if (app === null) throw appNotFound();
  const missing = [...new Set(scopes)].filter((name) => !app.scopes.includes(name));
  if (missing.length === 0) throw conflict("scopes_granted_already", "The app has all of these scopes.");
  if ((await tx.prisma.scopeRequest.count({ where: { clientId, state: "REQUESTED" } })) > 0)
    throw conflict("scope_request_open", "A request of this app waits for an operator.");
  const made = await tx.prisma.scopeRequest.create({
    data: {
      id: makeUuid(origin.at),
      clientId,
      scopes: missing,
      requestedAt: origin.at,
      reason: checkText("reason", reason, mostOfText),
    },
    include: withApp,
  });
  await recordAudit(tx, { ...origin, action: "scopes_requested", clientId, detail: { scopes: missing } });
  return presentRequest(made);
}

type RequestFilter = {
  clientId?: ClientId | undefined;
  among?: readonly ClientId[] | undefined;
  state?: ScopeRequest["state"] | undefined;
  limit: number;
  after?: string | undefined;
};

export async function listScopeRequests(
  { prisma }: RecordStore,
  { clientId, among, state, limit, after }: RequestFilter,
): Promise<ScopeRequest[]> {
  const conditions: Prisma.ScopeRequestWhereInput[] = [];
  if (clientId !== undefined) conditions.push({ clientId });
  if (among !== undefined) conditions.push({ clientId: { in: [...among] } });
  if (state !== undefined) conditions.push({ state });
  if (after !== undefined) conditions.push({ id: { lt: after } });
  const query = { where: { AND: conditions }, orderBy: { id: "desc" as const }, take: limit, include: withApp };
  return (await prisma.scopeRequest.findMany(query)).map(presentRequest);
}

/** Errors: not_found scope_request_not_found; conflict scope_request_decided; those of `checkText`. */
export async function decideScopeRequest(
  tx: Transaction,
  { id, state, note }: { id: string; state: "APPROVED" | "REFUSED"; note: string | null },
  {
    allowLoopbackHttp,
    demandsAgreements,
    ...origin
  }: Origin & { allowLoopbackHttp: boolean; demandsAgreements: boolean },
): Promise<{ before: ScopeRequest; after: ScopeRequest }> {
  const found = await tx.prisma.scopeRequest.findUnique({ where: { id }, include: withApp });
  const app = found === null ? null : await lockApp(tx, found.clientId as ClientId);
  if (found === null || app === null)
    throw new AppError("not_found", "scope_request_not_found", "There is no such request.");
  const { clientId } = app;
  const decided = { state, decidedAt: origin.at, note: note === null ? null : checkText("note", note, mostOfText) };
  const { count } = await tx.prisma.scopeRequest.updateMany({ where: { id, state: "REQUESTED" }, data: decided });
  if (count === 0) throw conflict("scope_request_decided", "The request was approved or refused already.");
  const before = presentRequest(found);
  if (state === "APPROVED") {
    const scopes = [...new Set([...app.scopes, ...before.scopes])];
    await updateApp(tx, { clientId, scopes }, { ...origin, allowLoopbackHttp, demandsAgreements });
  }
  const action = state === "APPROVED" ? "scope_request_approved" : "scope_request_refused";
  await recordAudit(tx, { ...origin, action, clientId, detail: { scopes: before.scopes } });
  return { before, after: { ...before, ...decided } };
}
