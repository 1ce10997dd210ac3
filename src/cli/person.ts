import { randomBytes } from "node:crypto";
import {
  addMembership,
  createPerson,
  deletePerson,
  findPerson,
  listPeople,
  movePerson,
  restorePerson,
  softDeletePerson,
  updatePerson,
} from "../directory/index.ts";
import type { GroupId, PersonId, PersonName, PersonRole, PersonStatus, SchoolId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import type { Db } from "../platform/db.ts";
import { blockPerson, forgetPerson, setLogin, signOutPerson, unblockPerson } from "../sign-on/index.ts";
import { done, found, inChange, inDatabase, updated } from "./change.ts";
import { makeCommand, type Noun } from "./command.ts";
import { defaultLimit, listOptions, listResult, nameOf, personColumns, recordLines } from "./lines.ts";
import { argument, option, required, UsageError } from "./option.ts";

const roles: readonly PersonRole[] = ["STUDENT", "TEACHER", "OTHER"];
const takes = { person: argument.id<PersonId>() };

const properties = {
  firstFull: option.text("All first names."),
  firstCall: option.text("The first name they go by; the first of --first-full if left out."),
  last: option.text("Last name."),
  role: option.oneOf(roles, "What they are at school."),
  sourceId: option.text("Their identifier in the school's source system."),
};

type NameOptions = { firstFull?: string | undefined; firstCall?: string | undefined; last?: string | undefined };

/** A name is whole or not given. */
function readName({ firstFull, firstCall, last }: NameOptions): PersonName | undefined {
  if (firstFull === undefined && firstCall === undefined && last === undefined) return undefined;
  if (firstFull === undefined || last === undefined) throw new UsageError("A name needs --first-full and --last.");
  return { firstFull, firstCall: firstCall ?? firstFull.trim().split(/\s+/)[0]!, last };
}

/** A change of whether and where a person is signed in. */
const signInVerb = (
  summary: string,
  line: string,
  change: (db: Db, personId: PersonId, origin: Origin) => Promise<void>,
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
  summary: "People: who they are, where they are, and whether they still are.",
  verbs: {
    create: makeCommand({
      summary: "Register a person at one or more schools; without a name where the school keeps none.",
      options: {
        school: required(option.ids<SchoolId>("Their schools; the first one is their home.")),
        ...properties,
        role: required(properties.role),
        group: option.ids<GroupId>("Groups they are in."),
        id: option.id<PersonId>("Their id, where they have one already."),
      },
      run: async (tools, { options }) => {
        const { school, role, sourceId, group = [], id } = options;
        const schools = school as [SchoolId, ...SchoolId[]];
        const name = readName(options) ?? null;
        const made = await inChange(tools, async (change) => {
          const personId = await createPerson(change, { id, schools, role, name, sourceSystemIdentifier: sourceId });
          for (const groupId of new Set(group)) await addMembership(change, { groupId, personId });
          return personId;
        });
        return done(made, { id: made });
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
        const name = options.noName ? null : readName(options);
        const sourceSystemIdentifier = options.noSourceId ? null : options.sourceId;
        const update = { personId, role: options.role, name, sourceSystemIdentifier };
        return updated("person", personId, await inChange(tools, (change) => updatePerson(change, update)));
      },
    }),
    "soft-delete": makeCommand({
      summary: "Delete a person for now: they sign in nowhere and can be restored until the restore window is over.",
      takes,
      run: async (tools, { given: { person: personId } }) => {
        const { restoreWindowDays } = tools.config;
        const purgeAt = await inChange(tools, (change) => softDeletePerson(change, { personId, restoreWindowDays }));
        return done(`The person can be restored until ${purgeAt.toISOString()}.`, {
          id: personId,
          status: "SOFT_DELETED",
          purgeAt,
        });
      },
    }),
    restore: makeCommand({
      summary: "Bring a soft-deleted person back, unchanged.",
      takes,
      run: async (tools, { given: { person: personId } }) => {
        await inChange(tools, (change) => restorePerson(change, { personId }));
        return done("The person is back.", { id: personId, status: "ACTIVE" });
      },
    }),
    delete: makeCommand({
      summary: "Delete a soft-deleted person for good, before the restore window is over. It cannot be undone.",
      takes,
      run: async (tools, { given: { person: personId } }) => {
        await inChange(tools, (change) => deletePerson(change, { personId, forget: forgetPerson }));
        return done("The person is gone.", { id: personId });
      },
    }),
    move: makeCommand({
      summary: "Move a person to another school; the groups of the old one stay behind.",
      takes,
      options: {
        to: required(option.id<SchoolId>("The school they come to.")),
        from: option.id<SchoolId>("The school they leave; their home if left out."),
      },
      run: async (tools, { given: { person: personId }, options: { to, from } }) => {
        await inChange(tools, (change) => movePerson(change, { personId, to, from }));
        return done("The person has moved.", { id: personId, school: to });
      },
    }),
    "set-login": makeCommand({
      summary:
        "Give a person a user name and a new password, which is shown this once; what was signed in with the old one ends.",
      takes,
      options: { username: required(option.text("The user name.")) },
      run: async (tools, { given: { person: personId }, options: { username } }) => {
        const password = randomBytes(12).toString("base64url");
        await tools.withDatabase(({ db }) => setLogin(db, { personId, username, password }, tools.origin()));
        return {
          lines: [`User name: ${username}`, `Password: ${password}`, "The password is not shown again."],
          data: { id: personId, username, password },
        };
      },
    }),
    "sign-out": signInVerb(
      "End all sessions and tokens of a person and forget their devices; the password stays.",
      "The person is signed out everywhere.",
      signOutPerson,
    ),
    block: signInVerb(
      "Keep a person from signing in, and end all they are signed in to; apps go on seeing them.",
      "The person is blocked.",
      blockPerson,
    ),
    unblock: signInVerb("Let a blocked person sign in again.", "The person may sign in again.", unblockPerson),
    show: makeCommand({
      summary: "Show one person with schools and groups.",
      takes,
      run: async (tools, { given }) => {
        const shown = found(
          await inDatabase(tools, (db) => findPerson(db, given.person)),
          "person_not_found",
          "The person does not exist.",
        );
        const { id, name, role, status, sourceSystemIdentifier, homeSchoolId, schools, groups, purgeAt, blockedAt } =
          shown;
        const lines = recordLines({
          id,
          name: nameOf(name),
          role,
          status: purgeAt === null ? status : `${status} until ${purgeAt.toISOString()}`,
          "blocked since": blockedAt?.toISOString() ?? null,
          "source id": sourceSystemIdentifier,
          schools: schools.map((at) => `${at.name} (${at.id}${at.id === homeSchoolId ? ", home" : ""})`).join(", "),
          groups:
            groups
              .map(
                (group) => `${group.name} (${group.id}, ${group.role}${group.status === "DELETED" ? ", deleted" : ""})`,
              )
              .join(", ") || "none",
        });
        return { lines, data: shown };
      },
    }),
    list: makeCommand({
      summary: "List the people of a school by name.",
      options: {
        school: required(option.id<SchoolId>("The school.")),
        group: option.id<GroupId>("Only members of this group."),
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
        return listResult("people", people, limit, personColumns);
      },
    }),
  },
};
