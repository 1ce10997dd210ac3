import { makeRosterArchive, type Row } from "./archive.ts";
import { SourceError } from "./failure.ts";
import { checkClient, findNamedSchool, type RosterSource, type SourceSchool, type SourceSettings } from "./source.ts";
import type { SourceRequests } from "./requests.ts";

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
      const [rows, roles] = [users.map(({ roles: _, ...user }) => user), users.flatMap((user) => user.roles)];
      await archive.add("users", rows);
      await archive.add("roles", roles);
    }
    if (people === 0) throw new SourceError("EMPTY", "no user is of these schools");
    const addAll = async <Name extends "classes" | "enrollments">(table: Name, readOne: ReadOne<Name>) => {
      await archive.add(table, []);
      for await (const page of read(table)) {
        const rows = page.flatMap((one) => readOne(one, known));
        await archive.add(table, rows);
      }
    };
    await addAll("classes", readClass);
    await addAll("enrollments", readEnrollment);
    return archive.finish("oneroster.zip");
  },
};

type Known = ReadonlyMap<string, SourceSchool>;
type ReadOne<Name extends "classes" | "enrollments"> = (one: Entry, known: Known) => Row<Name>[];

/** 1.1 has one role for all organisations of a user, 1.2 a role for each. */
function readUser(user: Entry, version: Version, known: Known) {
  const sourcedId = text(user["sourcedId"]);
  const entries =
    version === "1.1"
      ? listOf(user["orgs"]).map((org) => ({ role: user["role"], org, roleType: "primary" }))
      : listOf(user["roles"]).map((role) => role as Entry);
  const roles = entries
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

type Walk<Entry> = {
  url: URL;
  headers: Record<string, string>;
  /** Finds the list in the body of a page. */
  listIn(body: unknown): unknown;
  keyOf(entry: Entry): string;
};

const pageSize = 500;
/** Ends a walk whose source repeats its pages. */
const mostPages = 10_000;

/**
 * Reads a list page by page: by its links (RFC 8288) if there are some, otherwise by `limit` and `offset`. Errors:
 * SourceError ANSWERED_BADLY for pages without end, links to other places, and bodies without the list; HALF if there
 * are fewer entries than the source said.
 */
async function* walkPages<Entry extends object>(
  requests: Pick<SourceRequests, "json">,
  { url, headers, listIn, keyOf }: Walk<Entry>,
): AsyncGenerator<Entry[]> {
  let next: URL | null = withQuery(url, 0);
  let read = 0;
  let total = 0;
  let firstKey: string | null = null;
  for (let page = 0; next !== null; page++) {
    const { value, header } = await requests.json(next, { headers });
    const list = listIn(value);
    if (!Array.isArray(list) || !list.every((one) => typeof one === "object" && one !== null))
      throw new SourceError("ANSWERED_BADLY", `${url.pathname} sent no list`);
    const entries = list as Entry[];
    const key = entries[0] === undefined ? null : keyOf(entries[0]);
    if (page >= mostPages || (page > 0 && key !== null && key === firstKey))
      throw new SourceError("ANSWERED_BADLY", `${url.pathname} repeats its pages`);
    firstKey = key;
    read += entries.length;
    total = Number(header("x-total-count") ?? total);
    if (entries.length > 0) yield entries;
    const link = header("link");
    if (entries.length === 0) next = null;
    else if (link !== null) next = nextOf(link, next);
    else next = entries.length < pageSize && !(read < total) ? null : withQuery(url, read);
  }
  if (read < total) throw new SourceError("HALF", `${url.pathname} has ${total} entries, and sent ${read}`);
}

function withQuery(url: URL, offset: number): URL {
  const page = new URL(url);
  page.searchParams.set("limit", String(pageSize));
  page.searchParams.set("offset", String(offset));
  return page;
}

/** The token must not go elsewhere, so that a link to another origin is refused. */
function nextOf(link: string, from: URL): URL | null {
  const target = /<([^<>]*)>\s*;[^<]*\brel="?next"?(?=[\s;,]|$)/i.exec(link)?.[1];
  if (target === undefined) return null;
  const next = URL.canParse(target, from.href) ? new URL(target, from) : null;
  if (next === null || next.origin !== from.origin || next.href === from.href)
    throw new SourceError("ANSWERED_BADLY", "the link to the next page leads elsewhere");
  return next;
}
