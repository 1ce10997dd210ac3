import { makeRosterArchive } from "./archive.ts";
import { SourceError } from "./failure.ts";
import { walkPages } from "./pages.ts";
import { checkClient, findNamedSchool } from "./source.ts";
import type { RosterSource, SourceSchool, SourceSettings } from "./source.ts";

type Entry = Readonly<Record<string, unknown>>;

const scopes = {
  "1.1": "https://purl.imsglobal.org/spec/or/v1p1/scope/roster.readonly",
  "1.2": "https://purl.imsglobal.org/spec/or/v1p2/scope/roster.readonly",
} as const;
type Version = keyof typeof scopes;

const versionOf = ({ address = "", version }: SourceSettings): Version =>
  (version ?? (/v1p1\/?$/.test(address) ? "1.1" : "1.2")) as Version;

const text = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : "";
const idOf = (reference: unknown): string => text((reference as Entry | null | undefined)?.["sourcedId"]);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const isGone = ({ status }: Entry): boolean => text(status).toLowerCase() === "tobedeleted";

/**
 * A OneRoster API, version 1.1 or 1.2: everything of the schools of the connection becomes an archive.
 *
 * Source: 1EdTech OneRoster 1.1 and 1.2 rostering service.
 */
export const oneRoster: RosterSource = {
  fields: {
    address: "required",
    tokenAddress: "optional",
    clientId: "optional",
    version: "optional",
    sourceSchool: "optional",
  },
  secret: "required",
  checkSettings(settings, refuse) {
    const { version } = settings;
    if (version !== undefined && !Object.hasOwn(scopes, version))
      throw refuse("roster_setting_malformed", "version", "must be 1.1 or 1.2");
    checkClient(settings, refuse);
  },
  async read({ settings, secret, schools }, tools) {
    const { requests } = tools;
    const { address = "", tokenAddress, clientId = "", sourceSchool } = settings;
    const version = versionOf(settings);
    const client = { id: clientId, secret: secret ?? "", scope: scopes[version] };
    const token = tokenAddress === undefined ? (secret ?? "") : await requests.token(new URL(tokenAddress), client);
    const read = (collection: string) =>
      walkPages<Entry>(requests, {
        url: new URL(`${address.replace(/\/+$/, "")}/${collection}`),
        headers: { authorization: `Bearer ${token}`, accept: "application/json" },
        listIn: (body) => (body as Entry | null)?.[collection],
        keyOf: ({ sourcedId }) => text(sourcedId),
      });
    const archive = makeRosterArchive(tools);
    const known = new Map<string, SourceSchool>();
    for await (const page of read("orgs"))
      for (const org of page) {
        const names = [text(org["identifier"]), text(org["sourcedId"])].filter((name) => name !== "");
        const school = isGone(org) ? undefined : findNamedSchool(names, schools, sourceSchool);
        if (school !== undefined) known.set(text(org["sourcedId"]), school);
      }
    if (known.size === 0) throw new SourceError("OTHER_SCHOOL", "none of its organisations is a school here");
    await archive.add(
      "orgs",
      [...known].map(([sourcedId, { id, name }]) => ({ sourcedId, name, type: "school", identifier: id })),
    );
    let people = 0;
    for await (const page of read("users")) {
      const users = page.flatMap((user) => (isGone(user) ? [] : readUser(user, version, known)));
      people += users.length;
      await archive.add(
        "users",
        users.map(({ roles: _, ...user }) => user),
      );
      await archive.add(
        "roles",
        users.flatMap(({ roles }) => roles),
      );
    }
    if (people === 0) throw new SourceError("EMPTY", "no user is of these schools");
    await archive.add("classes", []);
    for await (const page of read("classes"))
      await archive.add(
        "classes",
        page.flatMap((one) => readClass(one, known)),
      );
    await archive.add("enrollments", []);
    for await (const page of read("enrollments"))
      await archive.add(
        "enrollments",
        page.flatMap((one) => readEnrollment(one, known)),
      );
    return archive.finish("oneroster.zip");
  },
};

type Known = ReadonlyMap<string, SourceSchool>;

/** 1.1 has one role for all organisations of a user, 1.2 a role for each. */
function readUser(user: Entry, version: Version, known: Known) {
  const sourcedId = text(user["sourcedId"]);
  const given =
    version === "1.1"
      ? listOf(user["orgs"]).map((org) => ({ role: user["role"], org, roleType: "primary" }))
      : listOf(user["roles"]).map((role) => role as Entry);
  const roles = given
    .filter(({ org }) => known.has(idOf(org)))
    .map(({ role, org, roleType }, at) => ({
      sourcedId: `${sourcedId}-${at}`,
      userSourcedId: sourcedId,
      roleType: text(roleType) || "primary",
      role: text(role),
      orgSourcedId: idOf(org),
    }));
  if (roles.length === 0) return [];
  const names = ["username", "givenName", "middleName", "familyName"] as const;
  const named = Object.fromEntries(names.map((name) => [name, text(user[name])]));
  const preferredGivenName = text(user["preferredFirstName"]) || text(user["preferredGivenName"]);
  return [{ sourcedId, ...named, preferredGivenName, roles }];
}

function readClass(one: Entry, known: Known) {
  const schoolSourcedId = idOf(one["school"]);
  if (isGone(one) || !known.has(schoolSourcedId)) return [];
  const classType = text(one["classType"]) || "scheduled";
  const groupType = text((one["metadata"] as Entry | null | undefined)?.["groupType"]);
  const [sourcedId, title] = [text(one["sourcedId"]), text(one["title"])];
  return [{ sourcedId, title, classType, schoolSourcedId, "metadata.groupType": groupType }];
}

function readEnrollment(one: Entry, known: Known) {
  const schoolSourcedId = idOf(one["school"]);
  if (isGone(one) || !known.has(schoolSourcedId)) return [];
  const [classSourcedId, userSourcedId] = [idOf(one["class"]), idOf(one["user"])];
  return [
    { sourcedId: text(one["sourcedId"]), classSourcedId, schoolSourcedId, userSourcedId, role: text(one["role"]) },
  ];
}
