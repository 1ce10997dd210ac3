import { addDays } from "../../platform/clock.ts";
import { present } from "../present.ts";
import * as upstream from "../../upstream/index.ts";
import type { ConnectionId } from "../../upstream/index.ts";
import { AppError } from "../../platform/errors.ts";
import { commitCreated } from "../change.ts";
import type { AdminDeps, AdminHandler, AdminRequest, Schemas } from "../handler.ts";
import { refuseUnknownSchool } from "../reached.ts";
import { roleForbids } from "../rights.ts";
import { secretNoticeDays } from "../operator/today-sql.ts";
import {
  changeConnection,
  connectionTag,
  connectionUnknown,
  getReachedConnection,
  presentConnections,
  readConnection,
  settingsOf,
} from "./connection-record.ts";

export const listUpstreamConnections: AdminHandler<"listUpstreamConnections"> = async (deps, request) => {
  const { query, reach, origin, page } = request;
  const { school, failing: isFailing, "secret-expiring": isSoon } = query;
  const reached = reach.all ? undefined : [...reach.schoolIds];
  const connections = await upstream.listConnections(deps.db, {
    schoolIds: school === undefined ? reached : [school],
    isFailing,
    secretExpires: isSoon === undefined ? undefined : { isSoon, until: addDays(origin.at, secretNoticeDays) },
    ...page.range,
  });
  return page.answer(await presentConnections(deps, deps.db, connections));
};

export const getUpstreamConnection: AdminHandler<"getUpstreamConnection"> = async (deps, request) => {
  const body = await readConnection(deps, deps.db, request);
  return { status: 200, body, headers: { ETag: connectionTag(body) } };
};

const contextOf = ({ webhookKeys, policy }: AdminDeps, origin: AdminRequest<"getMe">["origin"]) => ({
  keys: webhookKeys,
  allowHttp: policy.allowPrivateAddresses,
  origin,
});

const timeOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

/** The settings with their times read. */
const readSettings = <Given extends { secretExpiresAt?: string | null }>({ secretExpiresAt, ...settings }: Given) => ({
  ...settings,
  ...(secretExpiresAt !== undefined && { secretExpiresAt: timeOf(secretExpiresAt) }),
});

/** Staff of a school cannot decide that its provider replaces our second factor. */
function refuseTrust({ all }: { all: boolean }, wanted: boolean | undefined, present: boolean): void {
  if (!all && wanted !== undefined && wanted !== present)
    throw roleForbids("Only an operator decides whether a provider is trusted for the second factor.");
}

export const createUpstreamConnection: AdminHandler<"createUpstreamConnection"> = async (deps, request) => {
  const { body: given, reach, caller, origin } = request;
  await refuseUnknownSchool(deps.db, reach, given.schoolId);
  refuseTrust(reach, given.trustedForSecondFactor, false);
  return commitCreated(deps, request, async (tx) => {
    const id = await upstream.createConnectionIn(tx, readSettings(given), contextOf(deps, origin));
    const body = await readConnection(deps, tx, { connectionId: id, reach, caller });
    const location = `/admin/v1/upstream-connections/${id}`;
    return { body, location, recorded: settingsOf(body), tag: connectionTag(body) };
  });
};

type Change = keyof Schemas["UpstreamConnectionUpdate"];

/** What the IT contact of the school may not change with the set-up link. */
const notForContacts = [
  "name",
  "createsGuests",
  "confirmedForStaff",
  "trustedForSecondFactor",
] as const satisfies Change[];

export const updateUpstreamConnection: AdminHandler<"updateUpstreamConnection"> = async (deps, request) => {
  const { connectionId, body, reach, caller, origin } = request;
  const byContact = caller.setUp !== undefined;
  if (byContact && notForContacts.some((name) => body[name] !== undefined))
    throw roleForbids("A set-up link does not allow this.");
  return changeConnection(deps, request, async (tx, before) => {
    refuseTrust(reach, body.trustedForSecondFactor, before.trustedForSecondFactor);
    const change = { id: connectionId as ConnectionId, update: readSettings(body), byContact };
    await upstream.updateConnectionIn(tx, change, contextOf(deps, origin));
  });
};

export const deleteUpstreamConnection: AdminHandler<"deleteUpstreamConnection"> = (deps, request) =>
  changeConnection(
    deps,
    request,
    (tx) => upstream.deleteConnectionIn(tx, request.connectionId as ConnectionId, request.origin),
    "ends",
  );

export const updateUpstreamMetadata: AdminHandler<"updateUpstreamMetadata"> = async (deps, request) => {
  const { id, issuer, clientId, hasSecret } = await getReachedConnection(deps.db, request);
  if (issuer === null || clientId === null || !hasSecret)
    throw new AppError("conflict", "upstream_incomplete", "The issuer, the client id or the client secret is missing.");
  const checked = await deps.upstream.checkConnection(id);
  if (checked === null) throw connectionUnknown();
  const endpoints = checked.kind === "reached" ? checked.endpoints : null;
  const body = present("UpstreamCheck", {
    isReached: checked.kind === "reached",
    authorizationEndpoint: endpoints?.authorization ?? null,
    tokenEndpoint: endpoints?.token ?? null,
    userinfoEndpoint: endpoints?.userinfo ?? null,
    jwksUri: endpoints?.jwks ?? null,
    failure: checked.kind === "failed" ? checked.failure.code : "NONE",
    detail: checked.kind === "failed" ? checked.detail : null,
  });
  return { status: 200, body };
};
