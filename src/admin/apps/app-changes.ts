import * as access from "../../access/index.ts";
import type { ClientId, ProfileUpdate } from "../../access/index.ts";
import { cleanText } from "../../directory/index.ts";
import { present } from "../handler.ts";
import type { Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { forgetAppWithSandboxes } from "../../sandbox/index.ts";
import { forgetClientTokens } from "../../sign-on/index.ts";
import { extendPartnerRole, refuseHigherHolder, refuseLastOperatorLeaves } from "../../staff/index.ts";
import { listEndpoints, removeDeliveries } from "../../webhooks/index.ts";
import { changeIn, changeRecord, commitCreated, type ChangeRequest } from "../change.ts";
import type { AdminDeps, AdminHandler, AdminRequest, KeptAnswer, Schemas } from "../handler.ts";
import { presentApp, readApp, type AdminApp } from "./apps.ts";

const dayInSeconds = 86_400;

const presentCredentials = (made: { clientId: ClientId; clientSecret: string | null; oldSecretEndsAt: Date | null }) =>
  present("AppCredentials", made);

type Written = Pick<Schemas["AppUpdate"], "scopes" | "attributes" | "backchannelLogoutUri" | "jwksUri">;

/** Checks what this service calls before the transaction: that needs a DNS lookup. Errors: invalid uri_refused. */
async function checked({ policy }: AdminDeps, { scopes, backchannelLogoutUri, jwksUri }: Written) {
  const check = async (property: string, uri: string | null) =>
    uri === null ? null : await access.checkCalledUri(uri, policy, property);
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
  if (!all && typeof provider === "string") access.refuseOwnName(provider, operator.name);
  if (all || (scopes === undefined && attributes === undefined && subjectType !== "SHARED")) return;
  const message = "Only an operator changes the scopes and attributes of an app, or gives it shared ids.";
  throw new AppError("forbidden", "role_forbids", message);
}

type Approved = Written & Partial<Pick<Schemas["AppInput"], "subjectType" | "provider">>;

function splitProfile<T extends ProfileUpdate>(written: T) {
  const { provider, description, purpose, privacyUrl, supportAddress, ...rest } = written;
  const input = Object.entries({ provider, description, purpose, privacyUrl, supportAddress });
  const profile = Object.fromEntries(input.filter(([, value]) => value !== undefined)) as ProfileUpdate;
  return { profile, rest };
}

export const createApp: AdminHandler<"createApp"> = async (deps, request) => {
  const { body, caller, reach, origin } = request;
  refuseApproved(reach, body, deps);
  access.checkScopePlatform(body.scopePlatform, deps);
  const { clientId, redirectUris = [], backchannelLogoutUri: _unchecked, jwksUri: _too, ...written } = body;
  const { profile, rest } = splitProfile(written);
  const type = (body as Partial<typeof body>).type ?? "CONFIDENTIAL";
  const id = clientId === undefined ? {} : { clientId: clientId as ClientId };
  const input = { ...rest, profile, scopes: [], ...(await checked(deps, body)), ...id, type, redirectUris };
  return commitCreated(deps, request, async (tx) => {
    const { allowLoopbackHttp } = deps;
    if (!reach.all) {
      access.refuseOwnName(body.name, deps.operator.name);
      await access.refuseTakenName(tx, body.name, reach.clientIds);
      await access.refuseOthersSector(tx, body.sector, reach.clientIds);
    }
    const made = await access.createApp(tx, input, { ...origin, allowLoopbackHttp });
    const role = reach.all ? undefined : caller.roles.find((held) => held.role === "PARTNER");
    if (role !== undefined) await extendPartnerRole(tx, { role, clientId: made.clientId }, origin);
    const location = `/admin/v1/apps/${made.clientId}`;
    const recorded = await readPresented(tx, { clientId: made.clientId, origin });
    return { body: presentCredentials({ ...made, oldSecretEndsAt: null }), location, recorded };
  });
};

type Request = ChangeRequest & Pick<AdminRequest<"updateApp">, "clientId" | "caller">;

const refuseHigherApp = (
  tx: Transaction,
  { clientId, caller, origin }: Pick<Request, "clientId" | "caller" | "origin">,
) => refuseHigherHolder(tx, { holder: { clientId }, mine: caller.roles, now: origin.at });

/** The code sends staff to the redirect URI of the app, and a release changes both. Errors: forbidden app_built_in. */
function refuseBuiltIn(clientId: ClientId): void {
  if (!access.isBuiltIn(clientId)) return;
  throw new AppError("forbidden", "app_built_in", "This app is part of the service: it is suspended, but not changed.");
}

/** Errors: not_found app_not_found; forbidden role_forbids. */
async function lockForChange(tx: Transaction, request: Request): Promise<void> {
  if ((await access.lockApp(tx, request.clientId)) === null) throw access.appNotFound();
  await refuseHigherApp(tx, request);
}

const readPresented = async (tx: Transaction, { clientId, origin }: Pick<Request, "clientId" | "origin">) =>
  presentApp((await readApp(tx, clientId))!, origin.at);

const changeApp = <Result, Answer extends KeptAnswer>(
  deps: AdminDeps,
  request: Request,
  work: (tx: Transaction, before: AdminApp) => Promise<Result>,
  answer?: (changed: { result: Result; headers: Record<string, string> }) => Answer,
) =>
  changeRecord(deps, request, {
    touch: (tx) => lockForChange(tx, request),
    record: (tx) => readPresented(tx, request),
    async work(tx, before) {
      const result = await work(tx, before);
      // The change itself may have let the app work for people of the staff.
      await refuseHigherApp(tx, request);
      return result;
    },
    answer,
  });

export const updateApp: AdminHandler<"updateApp"> = async (deps, request) => {
  const { clientId, body, reach, origin } = request;
  refuseApproved(reach, body, deps);
  access.checkScopePlatform(body.scopePlatform, deps);
  const { backchannelLogoutUri: _unchecked, jwksUri: _too, ...written } = body;
  const { profile, rest } = splitProfile(written);
  const input = { ...rest, profile, ...(await checked(deps, body)), clientId };
  const { allowLoopbackHttp, demandsAgreements } = deps;
  return changeApp(deps, request, async (tx, { name }) => {
    refuseBuiltIn(clientId);
    if (!reach.all && body.name !== undefined && !access.isSameName(body.name, name)) {
      access.refuseOwnName(body.name, deps.operator.name);
      await access.refuseTakenName(tx, body.name, reach.clientIds);
    }
    await access.updateApp(tx, input, { ...origin, allowLoopbackHttp, demandsAgreements });
  });
};

export const deleteApp: AdminHandler<"deleteApp"> = async ({ db }, request) => {
  const clientId = request.clientId;
  const endpoints = await listEndpoints(db, { clientId });
  await access.deleteApp(db, clientId, {
    origin: request.origin,
    forget: forgetAppWithSandboxes,
    async work(tx, deleteRecords) {
      const unit = { unit: tx, tx, request };
      await changeIn(unit, {
        touch: () => lockForChange(tx, request),
        record: () => readPresented(tx, request),
        async work() {
          refuseBuiltIn(clientId);
          await refuseLastOperatorLeaves(tx, { clientId });
          await deleteRecords();
        },
        effect: "ends",
      });
    },
  });
  await removeDeliveries(
    db,
    endpoints.map(({ id }) => id),
  );
  return { status: 204 };
};

export const rotateSecret: AdminHandler<"rotateSecret"> = (deps, request) => {
  const { clientId, body, origin } = request;
  const keepOldSeconds = body?.keepOldSeconds ?? dayInSeconds;
  return changeApp(
    deps,
    request,
    async (tx) => {
      const rotated = await access.rotateClientSecret(tx, { clientId, keepOldSeconds }, origin);
      if (keepOldSeconds === 0) await forgetClientTokens(tx, clientId);
      return rotated;
    },
    ({ result, headers }) => ({ status: 200 as const, body: presentCredentials({ clientId, ...result }), headers }),
  );
};

export const endOldSecret: AdminHandler<"endOldSecret"> = (deps, request) =>
  changeApp(deps, request, (tx) => access.endOldSecret(tx, request.clientId, request.origin));

export const putAppLogo: AdminHandler<"putAppLogo"> = (deps, request) =>
  changeApp(deps, request, async (tx) => {
    const clientId = request.clientId;
    refuseBuiltIn(clientId);
    await access.putLogo(tx, clientId, request.body, request.origin);
    if (!request.reach.all) await access.refuseTakenLogo(tx, clientId, request.reach.clientIds);
  });

export const deleteAppLogo: AdminHandler<"deleteAppLogo"> = (deps, request) =>
  changeApp(deps, request, async (tx) => {
    refuseBuiltIn(request.clientId);
    await access.deleteLogo(tx, request.clientId, request.origin);
  });

export const suspendApp: AdminHandler<"suspendApp"> = (deps, request) =>
  changeApp(deps, request, async (tx) => {
    const { clientId, body, origin } = request;
    await refuseLastOperatorLeaves(tx, { clientId });
    await access.suspendApp(tx, { clientId, reason: cleanText(body.reason) }, origin);
  });

export const resumeApp: AdminHandler<"resumeApp"> = (deps, request) =>
  changeApp(deps, request, (tx) => access.resumeApp(tx, request.clientId, request.origin));
