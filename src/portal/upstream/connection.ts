import type { AdminSchemas } from "../../admin/index.ts";
import { makePage, actOn, Refused, readChoice, readForm, refuseField, requireFields } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
import { base } from "./overview.ts";

export type Connection = AdminSchemas["UpstreamConnection"];
export type Update = AdminSchemas["UpstreamConnectionUpdate"];
type Read = Pick<PageRequest, "field" | "typed">;

/** Profiles whose issuer follows from the tenant. */
const hasTenant = ({ profile }: Pick<Connection, "profile">): boolean => profile === "ENTRA" || profile === "GOOGLE";

/** A day, in whose middle the secret expires; null if it does not. */
const readDay = (day: string): string | null => (/^\d{4}-\d{2}-\d{2}$/.test(day) ? `${day}T12:00:00.000Z` : null);

export const dayOf = (at: string | null): string => at?.slice(0, 10) ?? "";

/** What the provider gave; an empty secret leaves the stored one. */
const readAccess = (read: Read, connection: Connection): Update => ({
  ...(hasTenant(connection) && { issuer: null }),
  ...readForm(read, "updateUpstreamConnection", [hasTenant(connection) ? "tenant" : "issuer", "clientId"]),
  ...(read.field("secret") !== "" && { clientSecret: read.field("secret") }),
  secretExpiresAt: readDay(read.field("secretExpiresOn")),
});

/** The settings of a connection that is filled in. Errors: Refused invalid_request for a missing setting. */
export function readFilledIn(read: Read, connection: Connection): Update {
  const needed = [hasTenant(connection) ? "tenant" : "issuer", "clientId", "scopes", "subjectClaim"];
  requireFields(read, ...needed, ...(connection.hasSecret ? [] : ["secret"]), ...(read.typed["name"] ? ["name"] : []));
  return { ...readAccess(read, connection), ...readDetails(read) };
}

const readDetails = (read: Read): Update => ({
  ...readForm(read, "updateUpstreamConnection", [
    ...["authMethod", "schoolClaim", "schoolValue", "subjectClaim", "endsUpstreamSession"],
  ]),
  scopes: read.field("scopes").split(/\s+/).filter(Boolean),
});

export const readRule = (read: Read) =>
  readForm(read, "updateUpstreamConnection", [
    "ruleClaim",
    "ruleField",
    ["normalisation", "normalisations"],
  ]) as Required<AdminSchemas["UpstreamRuleInput"]>;

/** Reads for whom the connection is switched on. Errors: Refused classes_missing; no class must not mean all. */
export function readClasses({ field, typed }: Read): string[] {
  const selected = field("for") === "classes" ? "classes" : "all";
  if (readChoice({ field, typed }, "for", { selected, boxes: { classes: "group" } }) === "all") return [];
  const chosen = [...(typed["group"] ?? [])];
  if (chosen.length === 0) throw refuseField("groupIds", "classes_missing");
  return chosen;
}

const bare = (claim: string): string => claim.replace(/^iserv[:_](?=(uuid|groups|roles)$)/, "");

/** Whether a received claim is the typed one: IServ spells some claims in several ways. */
export const isClaim = (arrived: string, typed: string | null): boolean =>
  typed !== null && bare(arrived) === bare(typed);

/** The connection with what was typed in a form that was refused. */
export function withTyped(connection: Connection, read: Read): Connection {
  const form = read.field("form");
  if (form === "rule") return { ...connection, ...readRule(read) };
  if (form !== "settings" && form !== "access") return connection;
  const { clientSecret: _, issuer, ...access } = readAccess(read, connection);
  const name = read.field("name") || connection.name;
  const details = form === "settings" ? readDetails(read) : {};
  return { ...connection, ...access, ...details, name, issuer: issuer ?? connection.issuer } as Connection;
}

/** What is typed at the provider. */
const values = {
  appName: ({ redirectUri }: Connection) => new URL(redirectUri).host,
  redirectUri: ({ redirectUri }: Connection) => redirectUri,
  postLogoutRedirectUri: ({ postLogoutRedirectUri }: Connection) => postLogoutRedirectUri,
  backchannelLogoutUri: ({ backchannelLogoutUri }: Connection) => backchannelLogoutUri,
  scopes: ({ scopes }: Connection) => scopes.join(" "),
};

type Steps = readonly (readonly [step: string, ...fields: (keyof typeof values)[]])[];

const steps: Readonly<Record<Connection["profile"], Steps>> = {
  ISERV: [
    ["open"],
    ["general", "appName"],
    ["rights"],
    ["restrictions", "scopes"],
    ["application", "redirectUri", "postLogoutRedirectUri", "backchannelLogoutUri"],
    ["keep"],
  ],
  ENTRA: [
    ["open"],
    ["register", "appName", "redirectUri"],
    ["logout", "postLogoutRedirectUri"],
    ["ids"],
    ["secret"],
    ["claim"],
  ],
  GOOGLE: [["open"], ["audience", "appName"], ["client", "redirectUri"], ["keep"], ["people"]],
  OIDC: [
    ["open", "appName"],
    ["flow"],
    ["addresses", "redirectUri", "postLogoutRedirectUri", "backchannelLogoutUri"],
    ["scopes", "scopes"],
    ["keep"],
  ],
};

/** The steps at the provider, with the exact values; the text of each is `provider.<profile>.<step>`. */
export const listProviderSteps = (connection: Connection) =>
  steps[connection.profile].map(([step, ...fields]) => ({
    step,
    fields: fields.map((name) => ({ name, value: values[name](connection) })),
  }));

export const one = `${base}/:connectionId`;

/** Errors: Refused upstream_connection_not_found, also for a connection of another school. */
export async function readConnection({ getRecord, path }: PageRequest): Promise<{ record: Connection; tag: string }> {
  const read = await getRecord("getUpstreamConnection");
  if (read.record.schoolId !== path.schoolId) throw new Refused(404, { code: "upstream_connection_not_found" });
  return read;
}

type CheckResults = { check?: AdminSchemas["UpstreamCheck"]; preview?: AdminSchemas["UpstreamRulePreview"] };

export async function showConnection(request: PageRequest, { check, preview }: CheckResults = {}): Promise<PageView> {
  const { call } = request;
  const { record, tag } = await readConnection(request);
  const [setUp, links] = await Promise.all([call("getUpstreamSetUp"), call("listSetUpLinks")]);
  const connection = withTyped(record, request);
  return makePage("connection", record.name, {
    connection,
    tag,
    classes: setUp.classes,
    people: setUp.people,
    ruleClaims: setUp.ruleClaims,
    openLinks: links.filter(({ closedAt, expiresAt }) => closedAt === null && new Date(expiresAt) > request.now),
    steps: listProviderSteps(record),
    secretExpiresOn: dayOf(connection.secretExpiresAt),
    check: check ?? null,
    preview: preview ?? null,
    previewField: connection.ruleField,
    mayTrust: request.permissions.reachesAll,
  });
}

/** Only what the reader may change: the trust is the operator's. */
export async function readSettings(request: PageRequest): Promise<Update> {
  const { reachesAll } = request.permissions;
  const { record } = await readConnection(request);
  return {
    name: request.field("name"),
    ...readFilledIn(request, record),
    createsGuests: request.field("createsGuests") === "on",
    ...(reachesAll && { trustedForSecondFactor: request.field("trustedForSecondFactor") === "on" }),
  };
}

const saveRule = actOn("updateUpstreamConnection", "ruleSaved", { fields: readRule });

export async function changeRule(request: PageRequest): Promise<Redirect | PageView> {
  await readConnection(request);
  if (request.field("preview") === "") return saveRule(request);
  return showConnection(request, { preview: await request.call("previewUpstreamRule", { body: readRule(request) }) });
}

export async function checkConnection(request: PageRequest): Promise<PageView> {
  await readConnection(request);
  return showConnection(request, { check: await request.call("updateUpstreamMetadata") });
}

export async function createSetUpLink(request: PageRequest): Promise<PageView> {
  const { record } = await readConnection(request);
  const link = await request.call("createSetUpLink", { body: { days: Number(request.field("days")) } });
  return makePage("set-up-link", request.t("setUpLink.title"), { link, name: record.name });
}
