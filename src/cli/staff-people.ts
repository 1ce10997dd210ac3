import type { ClientId } from "../access/index.ts";
import { listPeople, softDeletePerson, type PersonId } from "../directory/index.ts";
import { listRolesOf, refuseLastOperatorLeaves, staffRoleNames, type StaffRoleName } from "../staff/index.ts";
import { found, inChange, inDatabase } from "./change.ts";
import { makeCommand, type Command, type OptionsOf } from "./command.ts";
import { defaultLimit, done, listOptions, listResult, nameOf, type Columns } from "./lines.ts";
import { setLoginHere, showLogin } from "./new-login.ts";
import { argument, option, required } from "./option.ts";
import { softDeletePerson as softDeleteFar } from "./remote/person.ts";
import * as far from "./remote/staff.ts";

const accounts = () => import("../accounts/index.ts");

/** What stands for a role beside its holder. */
export const roleOptions = {
  school: option.schools("The schools it is for; all roles but OPERATOR and PARTNER need one."),
  forApp: option.texts("The apps it is for; PARTNER needs one.", "client-id"),
  reason: option.text("Why; SUPPORT needs it, and the school sees it."),
  ends: option.time("When it ends by itself; SUPPORT needs it, at most SUPPORT_ROLE_DAYS (14) from now."),
};

export const readRole = (role: StaffRoleName, options: OptionsOf<typeof roleOptions>) => ({
  role,
  schoolIds: [...(options.school ?? [])],
  clientIds: [...(options.forApp ?? [])] as ClientId[],
  reason: options.reason ?? null,
  endsAt: options.ends ?? null,
});

const columns: Columns<far.StaffPerson> = {
  id: ({ id }) => id,
  status: ({ status }) => status,
  name: ({ name }) => nameOf(name),
  "user name": ({ username }) => username,
  roles: ({ roles }) => roles.join(" "),
};

const takes = { person: argument.person() };

/** Accounts of staff who are at no school. */
export const staffPeopleVerbs: Readonly<Record<string, Command>> = {
  create: makeCommand({
    summary:
      "Make an account for somebody at no school, with a role; the first password is shown only once, and they choose their own.",
    takes: { role: argument.oneOf(staffRoleNames) },
    options: {
      username: required(option.text("The user name.")),
      first: required(option.text("All first names.")),
      last: required(option.text("Last name.")),
      ...roleOptions,
    },
    run: async (tools, { given: { role }, options: { username, first, last, ...options } }) => {
      const { createStaffPerson, findLogin, makeStaffPassword } = await accounts();
      const { supportRoleDays } = tools.config;
      const { password, passwordHash } = await makeStaffPassword();
      const person = { name: readName(first, last), username, passwordHash, role: readRole(role, options) };
      const made = await inChange(tools, async (change) => {
        const personId = await createStaffPerson(change, person, { giver: null, supportRoleDays });
        return (await findLogin(change.tx, personId, change.now))!;
      });
      return showLogin(made.personId, made.username, password);
    },
    remote: async (remote, { given: { role }, options: { username, first, last, ...options } }) => {
      const person = { name: readName(first, last), username, ...readRole(role, options) };
      const { personId, ...login } = await far.createStaffPerson(remote, person);
      return showLogin(personId, login.username, login.password);
    },
  }),
  people: makeCommand({
    summary: "List the staff who are at no school, with their roles.",
    options: listOptions,
    run: async (tools, { options: { search, after, limit = defaultLimit } }) => {
      const { listUserNames } = await accounts();
      const people = await inDatabase(tools, async (db) => {
        const listed = await listPeople(db, { atNoSchool: true, search, after, limit: limit + 1 });
        const personIds = listed.map(({ id }) => id);
        const [names, roles] = [
          await listUserNames(db, personIds),
          await listRolesOf(db, { personIds, now: tools.clock() }),
        ];
        return listed.map(({ id, status, name }) => ({
          id,
          status,
          name,
          username: names.get(id)?.username ?? null,
          roles: (roles.get(id) ?? []).map(({ role }) => role),
        }));
      });
      return listResult("people", people, limit, columns);
    },
    remote: async (remote, { options: { search, after, limit = defaultLimit } }) =>
      listResult("people", await far.listStaffPeople(remote, { search, after, limit: limit + 1 }), limit, columns),
  }),
  "new-password": makeCommand({
    summary: "Give somebody of the staff a new password, which is shown only once. They are signed out everywhere.",
    takes,
    run: async (tools, { given: { person: personId } }) => {
      const { findLogin } = await accounts();
      const login = await inDatabase(tools, (db) => findLogin(db, personId, tools.clock()));
      const { username } = found(login, "login_not_found", "The person has no login.");
      return showLogin(personId, username, await setLoginHere(tools, personId, username));
    },
    remote: async (remote, { given: { person: personId } }) => {
      const { username, password } = await far.newPassword(remote, personId);
      return showLogin(personId, username, password);
    },
  }),
  delete: makeCommand({
    summary: "Delete an account; never the last operator's. Until the restore window ends: person restore.",
    takes,
    run: async (tools, { given: { person: personId } }) => {
      const { restoreWindowDays } = tools.config;
      const purgeAt = await inChange(tools, async (change) => {
        await refuseLastOperatorLeaves(change.tx, { personId });
        return softDeletePerson(change, { personId, restoreWindowDays });
      });
      return deleted(personId, purgeAt);
    },
    remote: async (remote, { given: { person: personId } }) => deleted(personId, await softDeleteFar(remote, personId)),
  }),
};

const readName = (firstFull: string, last: string) => ({
  firstFull,
  firstCall: firstFull.trim().split(/\s+/)[0]!,
  last,
});

const deleted = (id: PersonId, purgeAt: Date) =>
  done(`Account deleted. It can be restored until ${purgeAt.toISOString()}.`, { id, purgeAt });
