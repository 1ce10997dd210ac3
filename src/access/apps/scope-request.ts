import type { Prisma } from "../../../generated/prisma/client.ts";
import { checkText } from "../../directory/index.ts";
import { recordAudit, type Origin } from "../../events/index.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { makeUuid } from "../../platform/crypto/ids.ts";
import { updateApp } from "./app.ts";
import { getLockedApp, lockApp } from "./find.ts";
import { checkRosterScopes } from "./rules.ts";
import type { ClientId, ScopeName } from "../token.ts";

type WithApp = Prisma.ScopeRequestGetPayload<{ include: typeof withApp }>;

export type ScopeRequest = Omit<WithApp, "app"> & { clientId: ClientId; appName: string; scopes: ScopeName[] };

const mostOfText = 1000;
const withApp = { app: { select: { name: true } } } as const;

const presentRequest = ({ app, ...row }: WithApp): ScopeRequest => ({
  ...(row as Omit<ScopeRequest, "appName">),
  appName: app.name,
});

const conflict = (code: string, message: string) => new AppError("conflict", code, message);

/**
 * Errors: not_found app_not_found; conflict scopes_granted_already, scope_request_open; invalid roster_scopes_refused;
 *         those of `checkText`.
 */
export async function requestScopes(
  tx: Transaction,
  { clientId, scopes, reason }: Pick<ScopeRequest, "clientId" | "scopes" | "reason">,
  origin: Origin,
): Promise<ScopeRequest> {
  const app = await getLockedApp(tx, clientId);
  const missing = [...new Set(scopes)].filter((name) => !app.scopes.includes(name));
  if (missing.length === 0) throw conflict("scopes_granted_already", "The app has all of these scopes.");
  if ((await tx.prisma.scopeRequest.count({ where: { clientId, state: "REQUESTED" } })) > 0)
    throw conflict("scope_request_open", "A request of this app waits for an operator.");
  checkRosterScopes([...app.scopes, ...missing]);
  const row = { clientId, scopes: missing, reason: checkText("reason", reason, mostOfText) };
  const made = await tx.prisma.scopeRequest.create({
    data: { id: makeUuid(origin.at), ...row, requestedAt: origin.at },
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
  const conditions: Prisma.ScopeRequestWhereInput[] = [
    clientId === undefined ? {} : { clientId },
    among === undefined ? {} : { clientId: { in: [...among] } },
    state === undefined ? {} : { state },
    after === undefined ? {} : { id: { lt: after } },
  ];
  const query = { where: { AND: conditions }, orderBy: { id: "desc" as const }, take: limit, include: withApp };
  return (await prisma.scopeRequest.findMany(query)).map(presentRequest);
}

type Rules = { allowLoopbackHttp: boolean; demandsAgreements: boolean };

/** Errors: not_found scope_request_not_found; conflict scope_request_decided; those of `updateApp` and `checkText`. */
export async function decideScopeRequest(
  tx: Transaction,
  { id, state, note }: { id: string; state: "APPROVED" | "REFUSED"; note: string | null },
  { allowLoopbackHttp, demandsAgreements, ...origin }: Origin & Rules,
): Promise<{ before: ScopeRequest; after: ScopeRequest }> {
  const request = await tx.prisma.scopeRequest.findUnique({ where: { id }, include: withApp });
  const app = request && (await lockApp(tx, request.clientId as ClientId));
  if (request === null || app === null)
    throw new AppError("not_found", "scope_request_not_found", "There is no such request.");
  const { clientId } = app;
  const decided = { state, decidedAt: origin.at, note: note === null ? null : checkText("note", note, mostOfText) };
  const { count } = await tx.prisma.scopeRequest.updateMany({ where: { id, state: "REQUESTED" }, data: decided });
  if (count === 0) throw conflict("scope_request_decided", "The request was approved or refused already.");
  const before = presentRequest(request);
  if (state === "APPROVED") {
    const scopes = [...new Set([...app.scopes, ...before.scopes])];
    await updateApp(tx, { clientId, scopes }, { ...origin, allowLoopbackHttp, demandsAgreements });
  }
  const action = state === "APPROVED" ? "scope_request_approved" : "scope_request_refused";
  await recordAudit(tx, { ...origin, action, clientId, detail: { scopes: before.scopes } });
  return { before, after: { ...before, ...decided } };
}
