import { randomBytes } from "node:crypto";
import {
  addMembership,
  createPerson,
  deletePerson,
  findPeople,
  findPerson,
  listPeople,
  movePerson,
  restorePerson,
  softDeletePerson,
  updatePerson,
} from "../directory/index.ts";
import type {
  FoundPerson,
  Person,
  PersonId,
  PersonName,
  PersonRole,
  PersonStatus,
  SchoolId,
} from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import type { OpenDb } from "../platform/db.ts";
import { done, found, inChange, inDatabase, made, updated } from "./change.ts";
import { makeCommand, type Noun } from "./command.ts";
import { defaultLimit, listOptions, listResult, nameOf, recordLines, timeOf, type Columns } from "./lines.ts";
import { argument, option, required, UsageError } from "./option.ts";

const roles: readonly PersonRole[] = ["STUDENT", "TEACHER", "OTHER"];
const takes = { person: argument.person() };
// Read when it is needed: the provider of sign-on takes a quarter of a second to load.
const signOn = () => import("../sign-on/index.ts");

const properties = {
  firstFull: option.text("All first names."),
  firstCall: option.text("The first name they go by; the first of --first-full if left out."),
  last: option.text("Last name."),
  role: option.oneOf(roles, "Their role at school."),
  sourceId: option.text("Their identifier in the school's source system."),
};

type NameOptions = { firstFull?: string | undefined; firstCall?: string | undefined; last?: string | undefined };

/** The name with what is given of it changed; undefined where nothing is. Errors: UsageError for half a new name. */
function readName(given: NameOptions, before: PersonName | null = null): PersonName | undefined {
  if (given.firstFull === undefined && given.firstCall === undefined && given.last === undefined) return undefined;
  const [firstFull, last] = [given.firstFull ?? before?.firstFull, given.last ?? before?.last];
  if (firstFull === undefined || last === undefined) throw new UsageError("A name needs --first-full and --last.");
  const kept = given.firstFull === undefined ? before?.firstCall : undefined;
  return { firstFull, firstCall: given.firstCall ?? kept ?? firstFull.trim().split(/\s+/)[0]!, last };
}

const columns: Columns<Person> = {
  id: ({ id }) => id,
  status: ({ status }) => status,
  role: ({ role }) => role,
  name: ({ name }) => nameOf(name),
  groups: ({ groups }) => groups.map(({ name }) => name).join(", "),
};

const foundColumns: Columns<FoundPerson> = {
  id: ({ id }) => id,
  status: ({ status }) => status,
  role: ({ role }) => role,
  name: ({ name }) => nameOf(name),
  "official id": ({ homeSchool }) => homeSchool.officialId,
  "home school": ({ homeSchool }) => homeSchool.name,
};

/** A change of whether and where a person is signed in. */
const signInVerb = (
  summary: string,
  line: string,
  change: (db: OpenDb, personId: PersonId, origin: Origin) => Promise<void>,
) =>
  makeCommand({
    summary,
    takes,
    run: async (tools, { given: { person: personId } }) => {
      await inDatabase(tools, (_db, whole) => change(whole, personId, tools.origin()));
      return done(line, { id: personId });
    },
  });

export const person: Noun = {
  verbs: {
    create: makeCommand({
      summary: "Register a person at one or more schools; without a name where the school keeps none.",
      options: {
        school: required(option.schools("Their schools; the first one is their home.")),
        ...properties,
        role: required(properties.role),
        group: option.groups("Groups they are in, of their first school where a name is given."),
        id: option.id<PersonId>("Their id, where they have one already."),
      },
      run: async (tools, { options }) => {
        const { school, role, sourceId, group = [] } = options;
        const schools = school as [SchoolId, ...SchoolId[]];
        const name = readName(options) ?? null;
        const id = await inChange(tools, async (change) => {
          const personId = await createPerson(change, {
            ...{ id: options.id, schools, role, name, sourceSystemIdentifier: sourceId },
          });
          for (const groupId of new Set(group)) await addMembership(change, { groupId, personId });
          return personId;
        });
        return made(id);
      },
    }),
    update: makeCommand({
      summary: "Change what is given of a person; what is left out stays.",
      takes,
      options: {
        ...properties,
        noName: option.flag("Remove the name."),
        noSourceId: option.flag("Remove the identifier in the source system."),
      },
      run: async (tools, { given: { person: personId }, options }) => {
        const sourceSystemIdentifier = options.noSourceId ? null : options.sourceId;
        const changed = await inChange(tools, async (change) => {
          await change.touch({ people: [personId] });
          const before = await findPerson(change.tx, personId);
          const name = options.noName ? null : readName(options, before?.name);
          return updatePerson(change, { personId, role: options.role, name, sourceSystemIdentifier });
        });
        return updated("Person", personId, changed);
      },
    }),
    "soft-delete": makeCommand({
      summary: "Delete a person who can be restored until the restore window ends. They cannot sign in meanwhile.",
      takes,
      run: async (tools, { given: { person: personId } }) => {
        const { restoreWindowDays } = tools.config;
        const purgeAt = await inChange(tools, (change) => softDeletePerson(change, { personId, restoreWindowDays }));
        return done(`Person deleted. They can be restored until ${purgeAt.toISOString()}.`, {
          id: personId,
          status: "SOFT_DELETED",
          purgeAt,
        });
      },
    }),
    restore: makeCommand({
      summary: "Restore a soft-deleted person, unchanged.",
      takes,
      run: async (tools, { given: { person: personId } }) => {
        await inChange(tools, (change) => restorePerson(change, { personId }));
        return done("Person restored.", { id: personId, status: "ACTIVE" });
      },
    }),
    delete: makeCommand({
      summary: "Delete a soft-deleted person for good, before the restore window ends.",
      takes,
      irreversible: "This deletes the person for good, with their login, groups and tokens.",
      run: async (tools, { given: { person: personId } }) => {
        const { forgetPerson } = await signOn();
        await inChange(tools, (change) => deletePerson(change, { personId, forget: forgetPerson }));
        return done("Person deleted for good.", { id: personId });
      },
    }),
    move: makeCommand({
      summary: "Move a person to another school. They leave the groups of the old one.",
      takes,
      options: {
        to: required(option.school("The school they move to.")),
        from: option.school("The school they leave; their home if left out."),
      },
      run: async (tools, { given: { person: personId }, options: { to, from } }) => {
        await inChange(tools, (change) => movePerson(change, { personId, to, from }));
        return done("Person moved.", { id: personId, school: to });
      },
    }),
    "set-login": makeCommand({
      summary:
        "Give a person a user name and a new password, which is shown only once. They are signed out everywhere.",
      takes,
      options: { username: required(option.text("The user name.")) },
      run: async (tools, { given: { person: personId }, options: { username } }) => {
        const password = randomBytes(12).toString("base64url");
        const { setLogin } = await signOn();
        await tools.withDatabase(({ db }) => setLogin(db, { personId, username, password }, tools.origin()));
        return {
          lines: [`User name: ${username}`, `Password: ${password}`, "The password is not shown again."],
          quiet: [password],
          data: { id: personId, username, password },
        };
      },
    }),
    "sign-out": signInVerb(
      "End all sessions and tokens of a person and forget their devices. The password stays.",
      "Person signed out everywhere.",
      async (...of) => (await signOn()).signOutPerson(...of),
    ),
    block: signInVerb(
      "Sign a person out and prevent them from signing in. Apps still see them in users and people.",
      "Person blocked.",
      async (...of) => (await signOn()).blockPerson(...of),
    ),
    unblock: signInVerb("Let a blocked person sign in again.", "Person unblocked.", async (...of) =>
      (await signOn()).unblockPerson(...of),
    ),
    show: makeCommand({
      summary: "Show one person with schools and groups.",
      takes,
      run: async (tools, { given }) => {
        const shown = found(
          await inDatabase(tools, (db) => findPerson(db, given.person)),
          "person_not_found",
          "The person does not exist.",
        );
        const { id, name, role, status, sourceSystemIdentifier, homeSchoolId, purgeAt, blockedAt } = shown;
        const schools = shown.schools.map((at) => `${at.name} (${at.id}${at.id === homeSchoolId ? ", home" : ""})`);
        const groups = shown.groups.map(
          (group) => `${group.name} (${group.id}, ${group.role}${group.status === "DELETED" ? ", deleted" : ""})`,
        );
        const lines = recordLines({
          ...{ id, name: nameOf(name), role },
          status: purgeAt === null ? status : `${status} until ${purgeAt.toISOString()}`,
          ...{ "blocked since": timeOf(blockedAt), "source id": sourceSystemIdentifier },
          ...{ schools: schools.join(", "), groups: groups.join(", ") || "none" },
        });
        return { lines, quiet: [id], data: shown };
      },
    }),
    list: makeCommand({
      summary: "List the people of a school by name.",
      options: {
        school: required(option.school("The school.")),
        group: option.group("Only members of this group."),
        status: option.oneOf<PersonStatus>(["ACTIVE", "SOFT_DELETED"], "Only people of this status."),
        ...listOptions,
      },
      run: async (
        tools,
        { options: { school: schoolId, group: groupId, status, search, after, limit = defaultLimit } },
      ) => {
        const people = await inDatabase(tools, (db) =>
          listPeople(db, { schoolId, groupId, status, search, after, limit: limit + 1 }),
        );
        return listResult("people", people, limit, columns);
      },
    }),
    find: makeCommand({
      summary: "Find people of all schools by parts of their names or by their identifier in the source system.",
      takes: { text: argument.text() },
      options: { limit: listOptions.limit, after: listOptions.after },
      run: async (tools, { given, options: { after, limit = defaultLimit } }) => {
        const wanted = { search: given.text, after, limit: limit + 1 };
        const people = await inDatabase(tools, (_db, whole) => findPeople(whole, wanted));
        return listResult("people", people, limit, foundColumns);
      },
    }),
  },
};
