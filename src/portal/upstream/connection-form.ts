import type { AdminSchemas } from "../../admin/index.ts";
import { readChoice, readForm, refuseField, requireFields, type PageRequest } from "../frame/index.ts";

export type Connection = AdminSchemas["UpstreamConnection"];
export type Update = AdminSchemas["UpstreamConnectionUpdate"];
type Read = Pick<PageRequest, "field" | "typed">;

/** Profiles whose issuer follows from the tenant. */
const hasTenant = ({ profile }: Pick<Connection, "profile">): boolean => profile === "ENTRA" || profile === "GOOGLE";

/** A day, in whose middle the secret expires; null if it does not. */
const readDay = (day: string): string | null => (/^\d{4}-\d{2}-\d{2}$/.test(day) ? `${day}T12:00:00.000Z` : null);

export const dayOf = (at: string | null): string => at?.slice(0, 10) ?? "";

/** What the provider gave; an empty secret leaves the stored one. */
function readAccess({ field }: Read, connection: Connection): Update {
  const place = hasTenant(connection)
    ? { tenant: field("tenant") || null, issuer: null }
    : { issuer: field("issuer") || null };
  return {
    ...place,
    clientId: field("clientId") || null,
    ...(field("secret") !== "" && { clientSecret: field("secret") }),
    secretExpiresAt: readDay(field("secretExpiresOn")),
  };
}

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
