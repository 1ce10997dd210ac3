import pg from "pg";
import { Prisma } from "../../generated/prisma/client.ts";
import { checkName, type GroupId, type SchoolId } from "../directory/index.ts";
import { type Origin, recordAudit } from "../events/index.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { Transaction } from "../platform/database/db.ts";
import { checkLimit, makeRun, table } from "../platform/database/sql.ts";
import { AppError, refuseProperty as refuse } from "../platform/errors.ts";
import { connectionNotFound, defaults, findConnection, lockConnection } from "./connection.ts";
import type { Connection, ConnectionSettings, ConnectionUpdate, NewConnection, RuleField } from "./connection.ts";
import type { ConnectionId } from "./ids.ts";
import { type Profile, profiles } from "./profiles.ts";
import { sealJson, secretPurpose } from "./sealed-json.ts";
import { endSessionsIn } from "./sessions.ts";
import { closeSetUpLinksIn } from "./set-up-links.ts";
import { lockSchool } from "./way-in.ts";
import { ends } from "./what-changes-end.ts";
import { isAddress, isUsable, mutableNames } from "./claims.ts";
import { isEndpoint } from "./metadata.ts";

const claimName = /^[!-~]{1,100}$/;
const scopeName = /^[!#-[\]-~]{1,100}$/;
const tenants: Readonly<Partial<Record<Profile, { shape: RegExp; like: string }>>> = {
  ENTRA: { shape: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, like: "the id of a tenant, a UUID in lower case" },
  GOOGLE: { shape: /^([a-z0-9-]+\.)+[a-z]{2,}$/, like: "a domain such as goethe.example" },
};

type Checked = Omit<ConnectionSettings, "groupIds">;

/** Checks the whole settings; the issuer of a profile with tenants follows from the tenant. Errors: invalid. */
function checkSettings<Settings extends Checked>(profile: Profile, settings: Settings, allowHttp: boolean): Settings {
  const { issuerOf, tenantClaim } = profiles[profile];
  const tenant = tenantClaim === null ? null : settings.tenant;
  const form = tenants[profile];
  if (tenant !== null && form !== undefined && !form.shape.test(tenant))
    throw refuse("upstream_tenant_malformed", "tenant", `must look like ${form.like}`);
  // In development, a profile with a fixed issuer can be tried with a provider on this machine.
  const issuer = settings.issuer ?? (tenant === null || issuerOf === null ? null : issuerOf(tenant));
  if (issuer !== null) checkIssuer(issuer, allowHttp);
  if (issuerOf !== null && tenant !== null && !allowHttp && issuer !== issuerOf(tenant))
    throw refuse("upstream_issuer_malformed", "issuer", `must be ${issuerOf(tenant)}`);
  checkSchool(settings);
  checkClaims(settings.subjectClaim, settings.ruleClaim, settings.ruleField);
  const { scopes } = settings;
  if (!scopes.includes("openid") || scopes.length > 20 || !scopes.every((one) => scopeName.test(one)))
    throw refuse("upstream_scopes_malformed", "scopes", "must name at most 20 scopes, among them openid");
  return { ...settings, name: checkName("name", settings.name, 60), tenant, issuer, scopes: [...new Set(scopes)] };
}

/** An issuer is compared exactly: it is stored as it was typed. */
function checkIssuer(issuer: string, allowHttp: boolean): void {
  if (!isEndpoint(issuer, allowHttp) || issuer.length > 500 || new URL(issuer).search !== "" || issuer.includes("?"))
    throw refuse("upstream_issuer_malformed", "issuer", "must be an https address without a query");
}

function checkSchool({ schoolClaim, schoolValue }: Pick<Checked, "schoolClaim" | "schoolValue">): void {
  if ((schoolClaim === null) !== (schoolValue === null))
    throw refuse("upstream_school_value_missing", "schoolValue", "must be given with schoolClaim, and only with it");
  if (schoolClaim === null || schoolValue === null) return;
  if (!claimName.test(schoolClaim) || isAddress(schoolClaim) || mutableNames.has(schoolClaim))
    throw refuse(
      "upstream_claim_malformed",
      "schoolClaim",
      "must be a claim that the provider sets, such as the id of the school",
    );
  if (schoolValue.trim() !== schoolValue || !isUsable(schoolValue))
    throw refuse("upstream_claim_malformed", "schoolValue", "must be a text without spaces around it");
}

function checkClaims(subjectClaim: string, ruleClaim: string | null, ruleField: RuleField): void {
  if (!claimName.test(subjectClaim) || isAddress(subjectClaim) || mutableNames.has(subjectClaim))
    throw refuse("upstream_claim_malformed", "subjectClaim", "must be a claim that never changes, such as sub");
  if (ruleClaim === null) return;
  if (!claimName.test(ruleClaim)) throw refuse("upstream_claim_malformed", "ruleClaim", "must be the name of a claim");
  if (isAddress(ruleClaim) || (mutableNames.has(ruleClaim) && ruleField !== "USERNAME"))
    throw refuse("upstream_claim_mutable", "ruleClaim", "can change its owner, so that it names nobody safely");
}

const printable = /^[!-~]{1,1000}$/;

/** Errors: invalid. */
function checkCredentials({
  clientId,
  clientSecret,
}: {
  clientId?: string | null | undefined;
  clientSecret?: string | undefined;
}): void {
  if (clientId !== undefined && clientId !== null && !printable.test(clientId))
    throw refuse("upstream_credentials_malformed", "clientId", "must be the client id without spaces");
  if (clientSecret !== undefined && !printable.test(clientSecret))
    throw refuse("upstream_credentials_malformed", "clientSecret", "must be the secret without spaces");
}

type Context = { keys: EncryptionKeys; allowHttp: boolean; origin: Origin };

/** Errors: invalid; not_found for a school or group that is not there; conflict upstream_connection_exists. */
export async function createConnectionIn(
  tx: Transaction,
  { schoolId, profile, clientSecret, ...input }: NewConnection,
  { keys, allowHttp, origin }: Context,
): Promise<ConnectionId> {
  const { authMethod, scopeSteps, subjectClaim } = profiles[profile];
  checkCredentials({ clientId: input.clientId, clientSecret });
  const settings = checkSettings(
    profile,
    { ...defaults, authMethod, scopes: [...scopeSteps[0]!], subjectClaim, ...input },
    allowHttp,
  );
  await checkGroups(tx, schoolId, settings.groupIds);
  await checkLimit({
    lock: () => lockSchool(tx, schoolId),
    count: () => tx.prisma.upstreamConnection.count({ where: { schoolId } }),
    most: mostOfSchool,
    full: () => exists(`A school has at most ${mostOfSchool} connections.`),
  });
  const id = makeUuid(origin.at) as ConnectionId;
  const sealed = clientSecret === undefined ? {} : { clientSecret: sealJson(keys, secretPurpose(id), clientSecret) };
  const times = { createdAt: origin.at, updatedAt: origin.at };
  await unique(() =>
    tx.prisma.upstreamConnection.create({ data: { id, schoolId, profile, ...settings, ...sealed, ...times } }),
  );
  const detail = { connectionId: id, profile };
  await recordAudit(tx, { ...origin, action: "upstream_connection_created", schoolId, detail });
  return id;
}

const mostOfSchool = 20;

const exists = (message: string) => new AppError("conflict", "upstream_connection_exists", message);

async function checkGroups({ prisma }: Transaction, schoolId: SchoolId, groupIds: readonly GroupId[]): Promise<void> {
  const wanted = [...new Set(groupIds)];
  const count = await prisma.group.count({ where: { id: { in: wanted }, schoolId, status: "ACTIVE" } });
  if (count < wanted.length) throw new AppError("not_found", "group_not_found", "The group does not exist.");
}

async function unique<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== "23505") throw error;
    throw exists("The school has a connection with this issuer and client id already.");
  }
}

/**
 * `what-changes-end.ts` says what a change ends; without a passed test, the connection is a draft. Set-up links close
 * when staff confirm what was entered with them. Errors: as `createConnectionIn`; conflict upstream_incomplete,
 * upstream_not_tested.
 */
export async function updateConnectionIn(
  tx: Transaction,
  { id, update: changed, byContact = false }: { id: ConnectionId; update: ConnectionUpdate; byContact?: boolean },
  { keys, allowHttp, origin }: Context,
): Promise<void> {
  await lockConnection(tx, id);
  const before = await findConnection(tx, id);
  if (before === null) throw connectionNotFound();
  const { clientSecret, state: wanted, ...input } = changed;
  checkCredentials({ clientId: input.clientId, clientSecret });
  const settings = checkSettings(before.profile, { ...settingsOf(before), ...withIssuer(before, input) }, allowHttp);
  if (input.groupIds !== undefined) await checkGroups(tx, before.schoolId, input.groupIds);
  const forgetsSecret = clientSecret === undefined && ends("secret", before, settings);
  const mustBeTested = ends("test", before, settings);
  const areOthers = ends("links", before, settings);
  if (areOthers) await forgetAccounts(tx, id, origin.at);
  if (mustBeTested)
    await tx.prisma.upstreamSetUpLink.updateMany({ where: { connectionId: id }, data: { tested: null } });
  const confirmedForStaff = settings.confirmedForStaff && !(byContact && ends("confirmation", before, settings));
  const testedAt = mustBeTested ? null : before.testedAt;
  // The operator trusted the provider before. Only they can give it again, which is a change of their own.
  const losesTrust = before.trustedForSecondFactor && ends("trust", before, settings);
  const state = wanted ?? (mustBeTested ? "DRAFT" : before.state);
  const hasSecret = clientSecret !== undefined || (before.hasSecret && !forgetsSecret);
  if (state === "ON" || state === "OFF") checkComplete({ ...settings, testedAt, hasSecret });
  const data = {
    ...settings,
    confirmedForStaff,
    trustedForSecondFactor: settings.trustedForSecondFactor && !losesTrust,
    state,
    testedAt,
    // Read again for a new secret too: the secret belongs to the address that the document names at that time.
    ...((clientSecret !== undefined || areOthers) && unread),
    ...(forgetsSecret && { clientSecret: null, secretExpiresAt: null }),
    ...(clientSecret !== undefined && { clientSecret: sealJson(keys, secretPurpose(id), clientSecret) }),
    updatedAt: origin.at,
  };
  await unique(() => tx.prisma.upstreamConnection.update({ where: { id }, data }));
  if (confirmedForStaff && !before.confirmedForStaff)
    await tx.prisma.upstreamRefusal.deleteMany({ where: { connectionId: id, code: "NOT_CONFIRMED" } });
  if (input.confirmedForStaff === true) await closeSetUpLinksIn(tx, id, origin);
  const detail = { connectionId: id, ...(state !== before.state && { state }) };
  await recordAudit(tx, { ...origin, action: "upstream_connection_updated", schoolId: before.schoolId, detail });
}

/** What was read from the provider before. */
const unread = {
  metadata: Prisma.DbNull,
  metadataReadAt: null,
  keys: Prisma.DbNull,
  keysReadAt: null,
  refreshAt: null,
};

/** A new tenant without an issuer means the issuer of that tenant. */
const withIssuer = ({ profile, tenant }: Connection, settings: Partial<ConnectionSettings>) =>
  settings.tenant !== undefined &&
  settings.tenant !== tenant &&
  settings.issuer === undefined &&
  profiles[profile].issuerOf !== null
    ? { ...settings, issuer: null }
    : settings;

function settingsOf(of: Connection): ConnectionSettings {
  const { name, authMethod, scopes, subjectClaim } = of;
  const rest = Object.keys(defaults).map((setting) => [setting, of[setting as keyof typeof defaults]]);
  return { ...(Object.fromEntries(rest) as typeof defaults), name, authMethod, scopes, subjectClaim };
}

function checkComplete(of: Pick<Connection, "issuer" | "clientId" | "hasSecret" | "testedAt">): void {
  if (of.issuer === null || of.clientId === null || !of.hasSecret)
    throw new AppError("conflict", "upstream_incomplete", "The issuer, the client id or the client secret is missing.");
  if (of.testedAt === null)
    throw new AppError(
      "conflict",
      "upstream_not_tested",
      "Sign in once for a test before the connection is switched on.",
    );
}

// Stronger than `lockConnection`: new links wait for it too.
const lockLinks = makeRun<{ id: ConnectionId }>()`
  SELECT FROM ${table("upstreamConnection")} WHERE id = ${"id"} FOR UPDATE`;

/** The links first: a sign-in that starts a session meanwhile waits for its link, and finds none. */
async function forgetAccounts(tx: Transaction, connectionId: ConnectionId, at: Date): Promise<void> {
  await lockLinks(tx, { id: connectionId });
  const where = { connectionId };
  await tx.prisma.upstreamLink.deleteMany({ where });
  await endSessionsIn(tx, { connectionId }, at);
  await tx.prisma.upstreamRefusal.deleteMany({ where });
  await tx.prisma.upstreamRecentSignIn.deleteMany({ where });
  await tx.prisma.upstreamRoundTrip.deleteMany({ where });
}

/** What its sign-ins opened here ends too. Errors: not_found. */
export async function deleteConnectionIn(tx: Transaction, id: ConnectionId, origin: Origin): Promise<void> {
  await lockConnection(tx, id);
  const connection = await findConnection(tx, id);
  if (connection === null) throw connectionNotFound();
  await endSessionsIn(tx, { connectionId: id }, origin.at);
  await tx.prisma.upstreamConnection.delete({ where: { id } });
  const detail = { connectionId: id };
  await recordAudit(tx, { ...origin, action: "upstream_connection_deleted", schoolId: connection.schoolId, detail });
}
