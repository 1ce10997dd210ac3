import type { PersonId } from "../directory/index.ts";
import { bodyOf, listFirst } from "./admin-api.ts";
import type { Schemas } from "./admin-api.ts";
import { makeApiCommand, makeMachineCommand, type Verbs } from "./command.ts";
import { withOwnId, type Extensions } from "./contract-commands.ts";
import { defaultLimit, listOptions, listResult, fullName } from "./lines.ts";
import type { Columns } from "./lines.ts";
import { argument, option, UsageError } from "./option.ts";

type AdminPerson = Schemas["AdminPerson"];
type NewName = NonNullable<Schemas["PersonNameInput"]>;

export type NameOptions = { firstFull?: string | undefined; firstCall?: string | undefined; last?: string | undefined };

/** The name with what is given of it changed; undefined where nothing is. Errors: UsageError for half a new name. */
export function readName(options: NameOptions, before: NewName | null = null): NewName | undefined {
  if (options.firstFull === undefined && options.firstCall === undefined && options.last === undefined)
    return undefined;
  const [firstFull, last] = [options.firstFull ?? before?.firstFull, options.last ?? before?.last];
  if (firstFull === undefined || last === undefined) throw new UsageError("A name needs --first-full and --last.");
  const firstCall = options.firstFull === undefined ? before?.firstCall : undefined;
  return { firstFull, firstCall: options.firstCall ?? firstCall ?? firstFull.trim().split(/\s+/)[0]!, last };
}

type FoundPerson = Omit<AdminPerson, "homeSchool"> & {
  homeSchool: (NonNullable<AdminPerson["homeSchool"]> & { officialId: string | null }) | null;
};

const foundColumns: Columns<FoundPerson> = {
  id: ({ id }) => id,
  status: ({ status }) => status,
  role: ({ role }) => role,
  name: ({ name }) => fullName(name),
  "official id": ({ homeSchool }) => homeSchool?.officialId ?? null,
  "home school": ({ homeSchool }) => homeSchool?.name ?? null,
};

const people = "/admin/v1/people";

export const verbs: Verbs = {
  "prove-erased": makeMachineCommand({
    summary:
      "Search the database, logs and dumps for what is left of a person who was deleted for good; asks for their names. Exits with 1 if something is left that should not be.",
    args: { personId: argument.id<PersonId>("person-id") },
    options: {
      id: option.ids("Another id that the person had."),
      values: option.text(
        "A file with what to search for, one value in each line: 'first: …', 'last: …', 'username: …', 'other: …'; /dev/stdin for what is piped. Left out: it is asked for.",
        "path",
      ),
      log: option.texts("A log file or a folder of them, also packed with gzip or zstd.", "path"),
      dump: option.texts("A dump of the database, of pg_dump or `backup`.", "path"),
      backupDays: option.count("For how many days backups are kept: until then a dump may hold the person."),
      logDays: option.count("For how many days logs are kept: until then a log may hold the id."),
    },
    run: async (machine, { args: { personId }, options }) => {
      const { proveErased } = await import("./erasure/prove.ts");
      const { id = [], values: valuesFile, log: logs = [], dump: dumps = [], backupDays, logDays } = options;
      return proveErased(machine, { personId, ids: id, valuesFile, logs, dumps, backupDays, logDays });
    },
    reason: "The database, logs and dumps are on the machine of the service.",
  }),
  find: makeApiCommand({
    summary:
      "Find people of all schools by parts of their names, their user name, their identifier in the source system or their id.",
    args: { text: argument.text() },
    options: { limit: listOptions.limit, after: listOptions.after },
    run: async ({ api }, { args: { text: search }, options: { after, limit = defaultLimit } }) => {
      const read = (page: object) => api.GET(people, { params: { query: { search, ...page } } });
      const matches = await listFirst(read, { limit: limit + 1, after });
      const officialIds = new Map<string | null, string>();
      // The home school of a guest is not reached.
      const schoolIds = matches.flatMap(({ isGuest, homeSchoolId }) => (isGuest ? [] : (homeSchoolId ?? [])));
      for (const schoolId of new Set(schoolIds)) {
        const params = { path: { schoolId } };
        const school = await bodyOf(api.GET("/admin/v1/schools/{schoolId}", { params }));
        officialIds.set(schoolId, school.officialId);
      }
      const withSchools = matches.map(({ homeSchool, ...one }) => ({
        ...one,
        homeSchool: homeSchool && { ...homeSchool, officialId: officialIds.get(homeSchool.id) ?? null },
      }));
      return listResult("people", withSchools, limit, foundColumns);
    },
  }),
};

const attributesOf = (periods: readonly Schemas["DisclosurePeriod"][]): string =>
  [...new Set(periods.flatMap(({ attributes }) => attributes))].join(", ");

const disclosureColumns: Columns<Schemas["Disclosure"]> = {
  app: ({ name }) => name,
  "can read": ({ periods }) => attributesOf(periods.filter(({ until }) => until === null)),
  "could read": ({ periods }) => attributesOf(periods.filter(({ until }) => until !== null)),
  since: ({ periods, recordedSince }) => periods.map(({ since }) => since ?? `before ${recordedSince}`)[0] ?? null,
  until: ({ periods }) => periods.at(-1)?.until ?? null,
  "last sign-in": ({ signIn }) => signIn?.lastAt ?? null,
  "last read": ({ lastReadAt }) => lastReadAt,
  "last webhook": ({ lastSentAt }) => lastSentAt,
};

const withId = withOwnId(
  async () => (await import("./local/own-ids.ts")).createPersonWithId,
  "Their id, where they have one already.",
);

export const extensions: Extensions = {
  create: {
    ...withId,
    body: (body) => ({ groupIds: [], ...body, name: readName((body["name"] ?? {}) as NameOptions) ?? null }),
  },
  update: {
    options: { noName: option.flag("Remove the name.") },
    body: ({ name, ...body }, { noName }, { before }) => {
      const newName = noName === true ? null : readName((name ?? {}) as NameOptions, (before as AdminPerson).name);
      return newName === undefined ? body : { ...body, name: newName };
    },
  },
  disclosures: { columns: disclosureColumns },
};
