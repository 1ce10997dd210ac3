import type { ClientId } from "../access/index.ts";
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
import type { OpenDb } from "../platform/database/db.ts";
import { found, inChange, inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result } from "./command.ts";
import {
  done,
  made,
  updated,
  defaultLimit,
  listOptions,
  listResult,
  nameOf,
  recordLines,
  tableOf,
  timeOf,
  type Columns,
} from "./lines.ts";
import { setLoginHere, showLogin } from "./new-login.ts";
import { argument, option, required, UsageError } from "./option.ts";
import * as far from "./remote/person.ts";
import { refuseHere, type Remote, type Schemas } from "./admin-api.ts";
import { explainSignIn } from "./remote/watch.ts";

const roles: readonly PersonRole[] = ["STUDENT", "TEACHER", "OTHER"];
const takes = { person: argument.person() };
// Read when it is needed: its libraries take long to load.
const accounts = () => import("../accounts/index.ts");

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
  "official id": ({ homeSchool }) => homeSchool?.officialId ?? null,
  "home school": ({ homeSchool }) => homeSchool?.name ?? null,
};

/** A change of whether and where a person is signed in. */
const signInVerb = (
  summary: string,
  line: string,
  change: (db: OpenDb, personId: PersonId, origin: Origin) => Promise<void>,
  remotely: (remote: Remote, personId: PersonId) => Promise<void>,
) =>
  makeCommand({
    summary,
    takes,
    run: async (tools, { given: { person: personId } }) => {
      await inDatabase(tools, (_db, whole) => change(whole, personId, tools.origin()));
      return done(line, { id: personId });
    },
    remote: async (remote, { given: { person: personId } }) => {
      await remotely(remote, personId);
      return done(line, { id: personId });
    },
  });

const softDeleted = (id: PersonId, purgeAt: Date): Result =>
  done(`Person deleted. They can be restored until ${purgeAt.toISOString()}.`, { id, status: "SOFT_DELETED", purgeAt });

const restored = (id: PersonId): Result => done("Person restored.", { id, status: "ACTIVE" });
const deleted = (id: PersonId): Result => done("Person deleted for good.", { id });
const passwordRequested = (id: PersonId): Result => done("The home school is asked for a new password.", { id });
const moved = (id: PersonId, school: SchoolId): Result => done("Person moved.", { id, school });

function show(shown: Person): Result {
  const { id, name, role, status, sourceSystemIdentifier, homeSchoolId, purgeAt, blockedAt } = shown;
  const schools = shown.schools.map((at) => `${at.name} (${at.id}${at.id === homeSchoolId ? ", home" : ""})`);
  const groups = shown.groups.map(
    (group) => `${group.name} (${group.id}, ${group.role}${group.status === "DELETED" ? ", deleted" : ""})`,
  );
  const lines = recordLines({
    id,
    name: nameOf(name),
    role,
    status: purgeAt === null ? status : `${status} until ${purgeAt.toISOString()}`,
    "blocked since": timeOf(blockedAt),
    "source id": sourceSystemIdentifier,
    schools: schools.join(", "),
    groups: groups.join(", ") || "none",
  });
  return { lines, quiet: [id], data: shown };
}

const stepColumns: Columns<Schemas["SignInStep"]> = {
  step: ({ code }) => code,
  outcome: ({ outcome }) => outcome,
  values: ({ values }) => JSON.stringify(values),
  "changed by": ({ fix }) => fix?.operationId ?? null,
};

const explained = (explanation: Schemas["SignInExplanation"]): Result => ({
  table: tableOf(explanation.steps, stepColumns),
  lines: [explanation.isAllowed ? "The person can sign in." : `The person cannot sign in: ${explanation.reason}`],
  quiet: explanation.reason === null ? [] : [explanation.reason],
  data: explanation,
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
        const { giveUserNames } = await accounts();
        const id = await inChange(tools, async (change) => {
          const personId = await createPerson(change, {
            id: options.id,
            schools,
            role,
            name,
            sourceSystemIdentifier: sourceId,
          });
          for (const groupId of new Set(group)) await addMembership(change, { groupId, personId });
          await giveUserNames(change.tx, { schoolId: schools[0], people: [personId] }, change.now);
          return personId;
        });
        return made(id);
      },
      remote: async (remote, { options }) => {
        const { id, school: schools, role, sourceId, group: groups = [] } = options;
        refuseHere({ id });
        const person = { schools, role, name: readName(options) ?? null, sourceSystemIdentifier: sourceId };
        return made(await far.createPerson(remote, { ...person, groups }));
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
      remote: async (remote, { given: { person: personId }, options }) => {
        const sourceSystemIdentifier = options.noSourceId ? null : options.sourceId;
        const name = (before: PersonName | null) => (options.noName ? null : readName(options, before));
        const update = { personId, role: options.role, name, sourceSystemIdentifier };
        return updated("Person", personId, await far.updatePerson(remote, update));
      },
    }),
    "soft-delete": makeCommand({
      summary: "Delete a person who can be restored until the restore window ends. They cannot sign in meanwhile.",
      takes,
      run: async (tools, { given: { person: personId } }) => {
        const { restoreWindowDays } = tools.config;
        const purgeAt = await inChange(tools, (change) => softDeletePerson(change, { personId, restoreWindowDays }));
        return softDeleted(personId, purgeAt);
      },
      remote: async (remote, { given: { person: id } }) => softDeleted(id, await far.softDeletePerson(remote, id)),
    }),
    restore: makeCommand({
      summary: "Restore a soft-deleted person, unchanged.",
      takes,
      run: async (tools, { given: { person: personId } }) => {
        await inChange(tools, (change) => restorePerson(change, { personId }));
        return restored(personId);
      },
      remote: async (remote, { given: { person: personId } }) => {
        await far.restorePerson(remote, personId);
        return restored(personId);
      },
    }),
    delete: makeCommand({
      summary: "Delete a soft-deleted person for good, before the restore window ends.",
      takes,
      irreversible: "This deletes the person for good, with their login, groups and tokens.",
      run: async (tools, { given: { person: personId } }) => {
        const { forgetPerson } = await accounts();
        await inChange(tools, (change) => deletePerson(change, { personId, forget: forgetPerson }));
        return deleted(personId);
      },
      remote: async (remote, { given: { person: personId } }) => {
        await far.deletePerson(remote, personId);
        return deleted(personId);
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
        return moved(personId, to);
      },
      remote: async (remote, { given: { person: personId }, options: { to, from } }) => {
        await far.movePerson(remote, { personId, to, from });
        return moved(personId, to);
      },
    }),
    "set-login": makeCommand({
      summary:
        "Give a person a user name and a new password, which is shown only once. They are signed out everywhere.",
      takes,
      options: { username: required(option.text("The user name.")) },
      run: async (tools, { given: { person: personId }, options: { username } }) =>
        showLogin(personId, username, await setLoginHere(tools, personId, username)),
      remote: async (remote, { given: { person: personId }, options: { username } }) =>
        showLogin(personId, username, await far.setLogin(remote, personId, username)),
    }),
    "request-password": makeCommand({
      summary: "Ask the home school of a guest for a new password, for the school where they are a guest.",
      takes,
      options: { school: required(option.school("The school that asks.")) },
      run: async (tools, { given: { person: personId }, options: { school: schoolId } }) => {
        const { requestPassword } = await accounts();
        await inDatabase(tools, (_db, whole) => requestPassword(whole, { personId, schoolId }, tools.origin()));
        return passwordRequested(personId);
      },
      remote: async (remote, { given: { person: personId }, options: { school: schoolId } }) => {
        await far.requestPassword(remote, { personId, schoolId });
        return passwordRequested(personId);
      },
    }),
    "dismiss-password-requests": signInVerb(
      "Dismiss what schools have asked for a person, without a new password.",
      "Requests dismissed.",
      async (...of) => (await accounts()).withdrawPasswordRequests(...of),
      far.withdrawPasswordRequests,
    ),
    "sign-out": signInVerb(
      "End all sessions and tokens of a person and forget their devices. The password stays.",
      "Person signed out everywhere.",
      async (...of) => (await accounts()).signOutPerson(...of),
      far.signOutPerson,
    ),
    "remove-second-factors": signInVerb(
      "Remove what a person proves beside the password, for one who has lost it. They are signed out everywhere.",
      "Second factors removed.",
      async (...of) => (await accounts()).revokeSecondFactors(...of),
      far.revokeSecondFactors,
    ),
    block: signInVerb(
      "Sign a person out and prevent them from signing in. Apps still see them in users and people.",
      "Person blocked.",
      async (...of) => (await accounts()).blockPerson(...of),
      far.blockPerson,
    ),
    unblock: signInVerb(
      "Let a blocked person sign in again.",
      "Person unblocked.",
      async (...of) => (await accounts()).unblockPerson(...of),
      far.unblockPerson,
    ),
    show: makeCommand({
      summary: "Show one person with schools and groups.",
      takes,
      run: async (tools, { given }) => {
        const shown = await inDatabase(tools, (db) => findPerson(db, given.person));
        return show(found(shown, "person_not_found", "The person does not exist."));
      },
      remote: async (remote, { given }) => show(await far.findPerson(remote, given.person)),
    }),
    explain: makeCommand({
      summary: "Explain step by step whether a person can sign in to an app, and why not.",
      takes: { ...takes, app: argument.text<ClientId>() },
      run: { reason: "The service makes the decision." },
      remote: async (remote, { given }) => explained(await explainSignIn(remote, given.person, given.app)),
    }),
    data: makeCommand({
      summary: "Write everything that is stored about a person to a new file (JSON), as the answer to their request.",
      takes,
      options: { file: required(option.text("The file; it must not exist.", "path")) },
      run: { reason: "The service collects it." },
      remote: async (remote, { given, options: { file } }) => {
        await far.writeData(remote, given.person, file);
        return { lines: [`What is stored about the person is in ${file}.`], quiet: [file], data: { file } };
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
      remote: async (
        remote,
        { options: { school: schoolId, group: groupId, status, search, after, limit = defaultLimit } },
      ) => {
        const wanted = { schoolId, groupId, status, search, after, limit: limit + 1 };
        return listResult("people", await far.listPeople(remote, wanted), limit, columns);
      },
    }),
    find: makeCommand({
      summary:
        "Find people of all schools by parts of their names, their user name or their identifier in the source system.",
      takes: { text: argument.text() },
      options: { limit: listOptions.limit, after: listOptions.after },
      run: async (tools, { given, options: { after, limit = defaultLimit } }) => {
        const wanted = { search: given.text, after, limit: limit + 1 };
        const people = await inDatabase(tools, (_db, whole) => findPeople(whole, wanted));
        return listResult("people", people, limit, foundColumns);
      },
      remote: async (remote, { given, options: { after, limit = defaultLimit } }) => {
        const people = await far.findPeople(remote, { search: given.text, after, limit: limit + 1 });
        return listResult("people", people, limit, foundColumns);
      },
    }),
  },
};
