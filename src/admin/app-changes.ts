import {
  isBuiltIn,
  againAfterDeadlock,
  appNotFound,
  appWithSecretNotFound,
  checkCalledUri,
  checkScopePlatform,
  createApp as create,
  deleteApp as remove,
  deleteLogo,
  endOldSecret as end,
  findProfile,
  isSameName,
  lockApp,
  putLogo,
  refuseTakenLogo,
  refuseOthersSector,
  refuseOwnName,
  refuseTakenName,
  resumeApp as resume,
  rotateClientSecret,
  suspendApp as suspend,
  updateApp as update,
} from "../access/index.ts";
import type { ClientId, ProfileUpdate } from "../access/index.ts";
import { cleanText } from "../directory/index.ts";
import { recordDifference } from "../events/index.ts";
import { present } from "../platform/contract-types.ts";
import { withPrismaTransaction, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { forgetAppWithSandboxes } from "../sandbox/index.ts";
import { forgetClientTokens } from "../sign-on/index.ts";
import { extendPartnerRole, refuseHigherHolder, refuseLastOperatorLeaves } from "../staff/index.ts";
import { listEndpoints, removeDeliveries } from "../webhooks/index.ts";
import { differenceOf, refuseStale, tagOf } from "./change.ts";
import type { AdminDeps, AdminHandler, AdminRequest, Schemas } from "./handler.ts";
import { reachesApp } from "./reached.ts";
import { presentApp, readApp, type AdminApp } from "./apps.ts";

const appsPath = "/admin/v1/apps";
const dayInSeconds = 86_400;

const presentCredentials = (made: { clientId: ClientId; clientSecret: string | null; oldSecretEndsAt: Date | null }) =>
  present<Schemas["AppCredentials"]>(made);

type Written = Pick<Schemas["AppUpdate"], "scopes" | "attributes" | "backchannelLogoutUri" | "jwksUri">;

/** Checks what this service calls before the transaction: that needs a DNS lookup. Errors: invalid uri_refused. */
async function checked({ policy }: AdminDeps, { scopes, backchannelLogoutUri, jwksUri }: Written) {
  const check = async (property: string, uri: string | null) =>
    uri === null ? null : await checkCalledUri(uri, policy, property);
  return {
    ...(scopes !== undefined && { scopes }),
    ...(backchannelLogoutUri !== undefined && {
      backchannelLogoutUri: await check("backchannelLogoutUri", backchannelLogoutUri),
    }),
    ...(jwksUri !== undefined && { jwksUri: await check("jwksUri", jwksUri) }),
  };
}

/**
 * Only operators set scopes, attributes and shared ids, or name the service as the provider. Errors: forbidden
 * role_forbids; conflict app_name_taken.
 */
function refuseApproved(
  { all }: { all: boolean },
  { scopes, attributes, subjectType, provider }: Approved,
  { operator }: AdminDeps,
): void {
  if (!all && typeof provider === "string") refuseOwnName(provider, operator.name);
  if (all || (scopes === undefined && attributes === undefined && subjectType !== "SHARED")) return;
  const message = "Only an operator changes the scopes and attributes of an app, or gives it shared ids.";
  throw new AppError("forbidden", "role_forbids", message);
}

type Approved = Written & Partial<Pick<Schemas["AppInput"], "subjectType" | "provider">>;

function splitProfile<T extends ProfileUpdate>(written: T) {
  const { provider, description, purpose, privacyUrl, supportAddress, ...rest } = written;
  const given = Object.entries({ provider, description, purpose, privacyUrl, supportAddress });
  const profile = Object.fromEntries(given.filter(([, value]) => value !== undefined)) as ProfileUpdate;
  return { profile, rest };
}

export const createApp: AdminHandler<"createApp"> = async (deps, { body, caller, reach, origin, keep }) => {
  refuseApproved(reach, body, deps);
  checkScopePlatform(body.scopePlatform, deps);
  const { clientId, redirectUris = [], backchannelLogoutUri: _unchecked, jwksUri: _too, ...written } = body;
  const { profile, rest } = splitProfile(written);
  const type = (body as Partial<typeof body>).type ?? "CONFIDENTIAL";
  const id = clientId === undefined ? {} : { clientId: clientId as ClientId };
  const given = { ...rest, profile, scopes: [], ...(await checked(deps, body)), ...id, type, redirectUris };
  return withPrismaTransaction(deps.db, async (tx) => {
    const { allowLoopbackHttp } = deps;
    if (!reach.all) {
      refuseOwnName(body.name, deps.operator.name);
      await refuseTakenName(tx, body.name, reach.clientIds);
      await refuseOthersSector(tx, body.sector, reach.clientIds);
    }
    const made = await create(tx, given, { ...origin, allowLoopbackHttp });
    const role = reach.all ? undefined : caller.roles.find((held) => held.role === "PARTNER");
    if (role !== undefined) await extendPartnerRole(tx, { role, clientId: made.clientId }, origin);
    const after = presentApp((await readApp(tx, made.clientId))!, origin.at);
    await recordDifference(tx, origin, { before: null, after });
    const answered = presentCredentials({ ...made, oldSecretEndsAt: null });
    return keep(tx, { status: 201 as const, body: answered, headers: { Location: `${appsPath}/${made.clientId}` } });
  });
};

type Change = "updateApp" | "endOldSecret" | "deleteApp" | "putAppLogo" | "deleteAppLogo" | "suspendApp" | "resumeApp";
type Request = Pick<AdminRequest<Change>, "clientId" | "headers" | "caller" | "reach" | "origin">;

const refuseHigherApp = (
  tx: Transaction,
  { clientId, caller, origin }: Pick<Request, "clientId" | "caller" | "origin">,
) => refuseHigherHolder(tx, { holder: { clientId }, mine: caller.roles, now: origin.at });

/** The code sends staff to the redirect URI of the app, and a release changes both. Errors: forbidden app_built_in. */
function refuseBuiltIn(clientId: ClientId): void {
  if (!isBuiltIn(clientId)) return;
  throw new AppError("forbidden", "app_built_in", "This app is part of the service: it is suspended, but not changed.");
}

/** Errors: not_found app_not_found; forbidden role_forbids; StaleRecord. */
async function lockForChange(tx: Transaction, request: Request): Promise<AdminApp> {
  const { clientId, headers, reach, origin } = request;
  const found = reachesApp(reach, clientId) ? await lockApp(tx, clientId) : null;
  if (found === null) throw appNotFound();
  await refuseHigherApp(tx, request);
  const before = presentApp({ ...found, ...(await findProfile(tx, clientId)) }, origin.at);
  refuseStale(headers, before);
  return before;
}

/** Records the difference in the audit log and returns the app. */
async function recordChange(tx: Transaction, { origin }: Pick<Request, "origin">, before: AdminApp): Promise<AdminApp> {
  const after = presentApp((await readApp(tx, before.clientId as ClientId))!, origin.at);
  await recordDifference(tx, origin, differenceOf(before, after));
  return after;
}

const changeApp = ({ db }: AdminDeps, request: Request, work: (tx: Transaction, before: AdminApp) => Promise<void>) =>
  againAfterDeadlock(() =>
    withPrismaTransaction(db, async (tx) => {
      const before = await lockForChange(tx, request);
      await work(tx, before);
      // The change itself may have let the app work for people of the staff.
      await refuseHigherApp(tx, request);
      return { status: 204 as const, headers: { ETag: tagOf(await recordChange(tx, request, before)) } };
    }),
  );

export const updateApp: AdminHandler<"updateApp"> = async (deps, request) => {
  const { clientId, body, reach, origin } = request;
  if (!reachesApp(reach, clientId)) throw appNotFound();
  refuseApproved(reach, body, deps);
  checkScopePlatform(body.scopePlatform, deps);
  const { backchannelLogoutUri: _unchecked, jwksUri: _too, ...written } = body;
  const { profile, rest } = splitProfile(written);
  const given = { ...rest, profile, ...(await checked(deps, body)), clientId };
  const { allowLoopbackHttp, demandsAgreements } = deps;
  return changeApp(deps, request, async (tx, { name }) => {
    refuseBuiltIn(clientId);
    if (!reach.all && body.name !== undefined && !isSameName(body.name, name)) {
      refuseOwnName(body.name, deps.operator.name);
      await refuseTakenName(tx, body.name, reach.clientIds);
    }
    await update(tx, given, { ...origin, allowLoopbackHttp, demandsAgreements });
  });
};

export const deleteApp: AdminHandler<"deleteApp"> = async ({ db }, request) => {
  const clientId = request.clientId;
  const endpoints = await listEndpoints(db, { clientId });
  await remove(db, clientId, {
    origin: request.origin,
    forget: forgetAppWithSandboxes,
    work: async (tx, deleteRecords) => {
      const before = await lockForChange(tx, request);
      refuseBuiltIn(clientId);
      await refuseLastOperatorLeaves(tx, { clientId });
      await deleteRecords();
      await recordDifference(tx, request.origin, { before, after: null });
    },
  });
  await removeDeliveries(
    db,
    endpoints.map(({ id }) => id),
  );
  return { status: 204 };
};

export const rotateSecret: AdminHandler<"rotateSecret"> = async ({ db }, request) => {
  const { clientId, body, reach, origin, keep } = request;
  if (!reachesApp(reach, clientId)) throw appWithSecretNotFound();
  const keepOldSeconds = body?.keepOldSeconds ?? dayInSeconds;
  return withPrismaTransaction(db, async (tx) => {
    const found = await lockApp(tx, clientId);
    if (found === null) throw appWithSecretNotFound();
    await refuseHigherApp(tx, request);
    const before = presentApp({ ...found, ...(await findProfile(tx, clientId)) }, origin.at);
    const rotated = await rotateClientSecret(tx, { clientId, keepOldSeconds }, origin);
    if (keepOldSeconds === 0) await forgetClientTokens(tx, clientId);
    const after = await recordChange(tx, { origin }, before);
    const answered = presentCredentials({ clientId, ...rotated });
    return keep(tx, { status: 200 as const, body: answered, headers: { ETag: tagOf(after) } });
  });
};

export const endOldSecret: AdminHandler<"endOldSecret"> = (deps, request) =>
  changeApp(deps, request, (tx) => end(tx, request.clientId, request.origin));

export const putAppLogo: AdminHandler<"putAppLogo"> = (deps, request) =>
  changeApp(deps, request, async (tx) => {
    const clientId = request.clientId;
    refuseBuiltIn(clientId);
    await putLogo(tx, clientId, request.body, request.origin);
    if (!request.reach.all) await refuseTakenLogo(tx, clientId, request.reach.clientIds);
  });

export const deleteAppLogo: AdminHandler<"deleteAppLogo"> = (deps, request) =>
  changeApp(deps, request, async (tx) => {
    refuseBuiltIn(request.clientId);
    await deleteLogo(tx, request.clientId, request.origin);
  });

export const suspendApp: AdminHandler<"suspendApp"> = (deps, request) =>
  changeApp(deps, request, async (tx) => {
    const { clientId, body, origin } = request;
    await refuseLastOperatorLeaves(tx, { clientId });
    await suspend(tx, { clientId, reason: cleanText(body.reason) }, origin);
  });

export const resumeApp: AdminHandler<"resumeApp"> = (deps, request) =>
  changeApp(deps, request, (tx) => resume(tx, request.clientId, request.origin));
