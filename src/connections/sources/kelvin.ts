import { z } from "zod";
import { SourceError, checkShape } from "./failure.ts";
import { readJsonParts } from "./json-parts.ts";
import { writePeople, type GroupOfPerson, type Role, type RosterGroup, type RosterPerson } from "./schulconnex-file.ts";
import type { RosterSource, SourceContext, SourceTools } from "./source.ts";

/**
 * Reads the users of schools from the Kelvin REST API of UCS@school, with their classes and work groups.
 *
 * Source: docs/roster-connections.md.
 */
export const kelvin: RosterSource = {
  fields: { address: "required", userName: "required", sourceSchool: "optional", version: "optional" },
  secret: "required",
  checkSettings({ version }, refuse) {
    if (version !== undefined && !["v1", "v2"].includes(version))
      throw refuse("roster_setting_malformed", "version", "must be v1 or v2");
  },
  async read(from, tools) {
    const { sourceSchool } = from.settings;
    // A school is called by its official id there, if nothing else is set.
    const schools = from.schools.map(({ officialId }) => ({ there: sourceSchool ?? officialId, officialId }));
    return writePeople(readPeople(makeApi(from, tools), schools, tools), tools, "kelvin.json");
  },
};

type School = { there: string; officialId: string };

const pageSize = 500;
const mostPages = 2000;

const tokenShape = z.object({ access_token: z.string().min(1) });
const schoolShape = z.object({ name: z.string(), display_name: z.string().nullish() });
const byName = z.record(z.string(), z.array(z.string())).nullish();
const userShape = z.object({
  name: z.string().min(1),
  firstname: z.string().nullish(),
  lastname: z.string().nullish(),
  record_uid: z.string().nullish(),
  source_uid: z.string().nullish(),
  disabled: z.boolean().nullish(),
  expiration_date: z.string().nullish(),
  school: z.string().nullish(),
  schools: z.array(z.string()),
  roles: z.array(z.string()),
  ucsschool_roles: z.array(z.string()).nullish(),
  school_classes: byName,
  workgroups: byName,
});
type User = z.infer<typeof userShape>;

type Api = ReturnType<typeof makeApi>;

function makeApi({ settings, secret }: SourceContext, { requests, makeFile }: SourceTools) {
  const { address = "", userName = "", version = "v1" } = settings;
  const toUrl = (path: string) => new URL(`/ucsschool/kelvin/${path}`, address);
  const signIn = async (): Promise<Record<string, string>> => {
    const { value } = await requests.json(toUrl("token"), {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ username: userName, password: secret ?? "" }).toString(),
    });
    return { authorization: `Bearer ${checkShape(tokenShape, value, "token").access_token}` };
  };
  return {
    /** A token is valid for an hour, and is fetched anew for each school. */
    async open(school: string) {
      const headers = await signIn();
      const { value } = await requests.json(toUrl(`${version}/schools/${encodeURIComponent(school)}`), { headers });
      return { headers, ...checkShape(schoolShape, value, "schools") };
    },
    /** The whole list, or page by page where the server has pages. */
    async *listUsers(school: string, headers: Record<string, string>): AsyncGenerator<User> {
      const first = toUrl(`${version}/users/?${new URLSearchParams({ school, limit: String(pageSize) }).toString()}`);
      const seen = new Set<string>();
      const path = makeFile();
      for (let url: URL | null = first; url !== null;) {
        if (seen.has(url.href) || seen.size === mostPages)
          throw new SourceError("ANSWERED_BADLY", "the pages do not end");
        seen.add(url.href);
        await requests.save(url, path, { headers });
        let next: unknown = null;
        for await (const { name, value, isItem } of readJsonParts(path)) {
          if (isItem && (name === "" || name === "results")) yield checkShape(userShape, value, "users");
          if (!isItem && name === "next_page_url") next = value;
        }
        url = typeof next === "string" ? toNextPage(next, first) : null;
      }
    },
  };
}

/** The token goes to the same list only. Errors: SourceError ANSWERED_BADLY. */
function toNextPage(next: string, first: URL): URL {
  const url = URL.canParse(next) ? new URL(next) : null;
  if (url?.pathname !== first.pathname) throw new SourceError("ANSWERED_BADLY", "the next page is elsewhere");
  // Behind a proxy, the server may call itself by another name.
  return new URL(url.pathname + url.search, first.origin);
}

async function* readPeople(api: Api, schools: readonly School[], { now }: SourceTools): AsyncGenerator<RosterPerson> {
  const today = now.toISOString().slice(0, 10);
  for (const school of schools) {
    const { headers, name, display_name } = await api.open(school.there);
    // An official id tells its school; by another name, a roster of another school is noticed.
    const called = schools.length > 1 || name === school.officialId ? null : display_name;
    for await (const user of api.listUsers(name, headers)) {
      if (user.disabled === true || (user.expiration_date ?? "9") <= today) continue;
      const here = schools.filter(({ there }) => user.schools.some((url) => isSame(lastStep(url), there)));
      if (!here.includes(school)) throw new SourceError("OTHER_SCHOOL", "a user of the list is at another school");
      const person = toPerson(user, here, called ?? null);
      // A person at several schools is in the list of each. Exam accounts have no role.
      if (here[0] === school && person.contexts.length > 0) yield person;
    }
  }
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const lastStep = (url: string): string => {
  const step = url.replace(/\/+$/, "").split("/").at(-1)!;
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
};

function toPerson(user: User, here: readonly School[], called: string | null): RosterPerson {
  const { name, record_uid, source_uid, firstname, lastname, school: home } = user;
  return {
    // Both together name somebody for good; without them, only the login does.
    id: record_uid ? `${source_uid ?? ""}:${record_uid}` : `login:${name}`,
    first: firstname ?? "",
    last: lastname ?? "",
    home: here.find(({ there }) => isSame(there, lastStep(home ?? "")))?.officialId ?? null,
    contexts: here.flatMap((school) => {
      const role = findRole(user, school);
      const groups = groupsAt(user, school);
      return role === undefined
        ? []
        : [{ school: called === null ? school.officialId : null, name: called, role, groups }];
    }),
  };
}

/** Nearest to teaching first. */
const roles: readonly (readonly [there: string, role: Role])[] = [
  ["teacher", "Lehr"],
  ["student", "Lern"],
  ["school_admin", "OrgAdmin"],
  ["staff", "NLehr"],
  ["legal_guardian", "SorgBer"],
];

function findRole({ roles: everywhere, ucsschool_roles }: User, { there }: School): Role | undefined {
  const atSchool = (ucsschool_roles ?? [])
    .map((text) => text.split(":"))
    .filter(([, kind, school = ""]) => kind === "school" && isSame(school, there))
    .map(([role]) => role);
  // Older servers name the roles at all schools together.
  const named = atSchool.length > 0 ? atSchool : everywhere.map(lastStep);
  return roles.find(([role]) => named.includes(role))?.[1];
}

function groupsAt({ school_classes, workgroups }: User, { there }: School): GroupOfPerson[] {
  const list = (all: Record<string, string[]> | null | undefined, kind: string, type: RosterGroup["type"]) =>
    Object.entries(all ?? {})
      .filter(([school]) => isSame(school, there))
      .flatMap(([, ids]) => ids)
      .map((name) => ({ group: { id: `${kind}:${there.toLowerCase()}:${name}`, name, type } }));
  return [...list(school_classes, "class", "Klasse"), ...list(workgroups, "workgroup", "Sonstig")];
}
