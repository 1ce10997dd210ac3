import { addDays } from "../../platform/clock.ts";
import * as upstream from "../../upstream/index.ts";
import type { ConnectionId, SetUpLinkId, TestedSignIn } from "../../upstream/index.ts";
import { AppError } from "../../platform/errors.ts";
import { commitCreated, answerRecord, commitDone } from "../change.ts";
import { present, type AdminDeps, type AdminHandler, type AdminRequest, type Schemas } from "../handler.ts";
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
import { listGroups } from "../../directory/index.ts";
import { storeOf } from "../../platform/database/db.ts";
import { setUpPath } from "../set-up.ts";

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
  const { body: settings, reach, caller, origin } = request;
  await refuseUnknownSchool(deps.db, reach, settings.schoolId);
  refuseTrust(reach, settings.trustedForSecondFactor, false);
  return commitCreated(deps, request, async (tx) => {
    const id = await upstream.createConnectionIn(tx, readSettings(settings), contextOf(deps, origin));
    const body = await readConnection(deps, tx, { connectionId: id, reach, caller });
    const location = `/admin/v1/upstream-connections/${id}`;
    return { body, location, recorded: settingsOf(body), tag: connectionTag(body) };
  });
};

/** What the IT contact of the school may not change with the set-up link. */
const notForContacts = [
  "name",
  "createsGuests",
  "confirmedForStaff",
  "trustedForSecondFactor",
] as const satisfies (keyof Schemas["UpstreamConnectionUpdate"])[];

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

export const previewUpstreamRule: AdminHandler<"previewUpstreamRule"> = async (deps, request) => {
  const { id, ...present } = await getReachedConnection(deps.db, request);
  const { ruleClaim, ruleField, normalisations, groupIds } = { ...present, ...request.body };
  const { roster, signIns, refusals } = await upstream.previewRule(
    deps.db,
    { connectionId: id, rule: { ruleClaim, ruleField, normalisations }, groupIds, at: request.origin.at },
    deps.webhookKeys,
  );
  return { status: 200, body: { roster, signIns, refusals } };
};

/** All classes of a school fit in this. */
const mostClasses = 500;

const presentTest = ({ match, ...tested }: TestedSignIn) =>
  present("UpstreamTest", {
    ...tested,
    refusal: match.kind === "one" ? "NONE" : match.code,
    matches: match.kind === "one" ? 1 : match.matches,
    name: match.kind === "one" ? match.name : null,
  });

export const getUpstreamSetUp: AdminHandler<"getUpstreamSetUp"> = async ({ db, webhookKeys }, request) => {
  const { caller } = request;
  const { schoolId, profile, groupIds, ...rule } = await getReachedConnection(db, request);
  const classes = await listGroups(storeOf(db), { schoolId, withDeleted: false, type: "KLASSE", limit: mostClasses });
  const { people } = await upstream.countKeys(storeOf(db), { schoolId, groupIds, rule });
  const tested = caller.setUp && (await upstream.findTestedSignIn(db, caller.setUp.setUpLinkId, webhookKeys));
  const body = present("UpstreamSetUp", {
    classes,
    people,
    ruleClaims: upstream.profiles[profile].ruleClaims,
    expiresAt: caller.setUp?.expiresAt ?? null,
    test: tested ? presentTest(tested) : null,
  });
  return answerRecord(body);
};

export const createSetUpLink: AdminHandler<"createSetUpLink"> = (deps, request) =>
  commitCreated(deps, request, async (tx) => {
    const { days } = request.body;
    const { id: connectionId } = await getReachedConnection(tx, request);
    const { id, token, expiresAt } = await upstream.createSetUpLinkIn(tx, { connectionId, days }, request.origin);
    const url = new URL(`${setUpPath}/${token}`, deps.issuerUrl).href;
    const body = present("CreatedSetUpLink", { id, url, expiresAt });
    return { body, location: `${request.address}/${id}`, recorded: { setUpLinkId: id, expiresAt: body.expiresAt } };
  });

export const listSetUpLinks: AdminHandler<"listSetUpLinks"> = async (deps, request) => {
  const { page } = request;
  const { id: connectionId } = await getReachedConnection(deps.db, request);
  return page.answerFrom(await upstream.listSetUpLinks(deps.db, connectionId, request.origin.at), (link) =>
    present("UpstreamSetUpLink", link),
  );
};

export const revokeSetUpLink: AdminHandler<"revokeSetUpLink"> = (deps, request) =>
  commitDone(deps, request, async (tx) => {
    const { id: connectionId } = await getReachedConnection(tx, request);
    const id = request.setUpLinkId as SetUpLinkId;
    if ((await tx.prisma.upstreamSetUpLink.count({ where: { id, connectionId } })) === 0)
      throw new AppError("not_found", "set_up_link_not_found", "The set-up link is not open.");
    await upstream.closeSetUpLinkIn(tx, id, request.origin);
  });
