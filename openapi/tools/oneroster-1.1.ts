import type { Document, Schema } from "./document.ts";

const paths = [
  ["/ims/oneroster/rostering/v1p2", "/ims/oneroster/v1p1"],
  ["/spec/or/v1p2/scope/", "/spec/or/v1p1/scope/"],
] as const;

/** The values of version 1.1 that version 1.2 writes in another way. */
export const errorCodes11: ReadonlyMap<string, string> = new Map([
  ["unauthorisedrequest", "unauthorized"],
  ["unknownobject", "unknown object"],
  ["invaliddata", "invalid data"],
]);

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/**
 * Makes the bundle of OneRoster 1.1 from that of 1.2: other addresses and scopes, one role for each user, and another
 * body of errors.
 */
export function makeOneRoster11(bundle: Document): Document {
  const document = rewrite(bundle as Json) as Document & { info: { description: string } };
  document.info.description = document.info.description.replace("OneRoster 1.2", "OneRoster 1.1");
  const { OneRosterUser: user, OneRosterStatusInfo: info, OneRosterErrorCode: code } = document.components!.schemas!;
  if (user === undefined || info === undefined || code === undefined)
    throw new Error("openapi/oneroster.yaml lacks a schema of which the bundle of version 1.1 has another one.");
  rewriteUser(user);
  const {
    OneRosterRole: _role,
    OneRosterCodeMinor: _minor,
    OneRosterCodeMinorField: _field,
    ...schemas
  } = document.components!.schemas!;
  const { imsx_CodeMinor: _codes, ...others } = info.properties!;
  schemas["OneRosterStatusInfo"] = {
    type: "object",
    description: "What went wrong, in the form of the standard.",
    required: ["statusInfoSet"],
    properties: {
      statusInfoSet: {
        type: "array",
        description: "One entry.",
        items: { $ref: "#/components/schemas/OneRosterStatus11" },
      },
    },
  };
  schemas["OneRosterStatus11"] = {
    ...info,
    properties: { ...others, imsx_CodeMinor: { $ref: "#/components/schemas/OneRosterErrorCode" } },
  };
  document.components!.schemas = schemas;
  return document;
}

function rewriteUser(user: Schema): void {
  const { roles: _roles, primaryOrg: _org, preferredFirstName: _preferred, enabledUser, ...others } = user.properties!;
  user.properties = {
    ...others,
    enabledUser: { type: "boolean", description: enabledUser!["description"] as string, example: true },
    role: { $ref: "#/components/schemas/OneRosterRoleName" },
    orgs: {
      type: "array",
      description: "The schools of the person that the app sees.",
      items: { $ref: "#/components/schemas/OneRosterReference" },
    },
  };
}

function rewrite(value: Json): Json {
  if (typeof value === "string") return rewriteText(value);
  if (Array.isArray(value)) return value.map(rewrite);
  if (value === null || typeof value !== "object") return value;
  if ("roles" in value && "username" in value && Array.isArray(value["roles"])) return rewrite(oneRole(value));
  if ("imsx_CodeMinor" in value && typeof value["imsx_codeMajor"] === "string")
    return { statusInfoSet: [{ ...value, imsx_CodeMinor: rewriteText(codeOf(value)) }] };
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [rewriteText(key), rewrite(inner)]));
}

function rewriteText(text: string): string {
  // A description of both versions.
  if (text.includes("\n\n")) return text;
  const moved = paths.reduce((before, [from, to]) => before.replaceAll(from, to), text);
  return errorCodes11.get(moved) ?? moved;
}

/** The example of a user. */
function oneRole({ roles, primaryOrg: _org, preferredFirstName: _preferred, ...user }: { [key: string]: Json }): Json {
  const all = roles as { role: string; org: Json }[];
  return { ...user, enabledUser: user["enabledUser"] === "true", role: all[0]!.role, orgs: all.map(({ org }) => org) };
}

const codeOf = ({ imsx_CodeMinor: minor }: { [key: string]: Json }): string =>
  (minor as { imsx_codeMinorField: { imsx_codeMinorFieldValue: string }[] }).imsx_codeMinorField[0]!
    .imsx_codeMinorFieldValue;
