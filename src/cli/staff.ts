import type { ClientId } from "../access/index.ts";
import type { PersonId } from "../directory/index.ts";
import { withPrismaTransaction } from "../platform/database/db.ts";
import { everything, giveRole, listRoles, staffRoleNames, withdrawRole } from "../staff/index.ts";
import type { ListedRole, StaffRole, StaffRoleId } from "../staff/index.ts";
import { inDatabase } from "./change.ts";
import { makeCommand, type Noun, type OptionsOf, type Result } from "./command.ts";
import { done, listOptions, listResult, defaultLimit, timeOf, type Columns } from "./lines.ts";
import { argument, option, UsageError } from "./option.ts";
import { refuseHere } from "./admin-api.ts";
import * as far from "./remote/staff.ts";
import { readRole, roleOptions, staffPeopleVerbs } from "./staff-people.ts";

const columns: Columns<ListedRole> = {
  id: ({ id }) => id,
  role: ({ role }) => role,
  holder: ({ holder }) => ("personId" in holder ? holder.personId : holder.clientId),
  name: ({ holderName }) => holderName,
  for: ({ schoolIds, clientIds }) => [...schoolIds, ...clientIds].join(" ") || null,
  ends: ({ endsAt }) => timeOf(endsAt),
  reason: ({ reason }) => reason,
};

function readHolder(person: PersonId | undefined, app: string | undefined): StaffRole["holder"] {
  if ((person === undefined) === (app === undefined)) throw new UsageError("Give either --person or --app.");
  return person === undefined ? { clientId: app as ClientId } : { personId: person };
}

const gives = {
  person: option.person("The person who gets it."),
  app: option.text("The app that gets it, for automation.", "client-id"),
  confirmPartners: option.flag("Give it also to an app that a partner manages: the partner knows the app's secret."),
  ...roleOptions,
};

/** Errors: UsageError. */
function readGiven(role: StaffRole["role"], options: OptionsOf<typeof gives>): far.NewRole {
  const { person, app, confirmPartners } = options;
  return { holder: readHolder(person, app), ...readRole(role, options), ...(confirmPartners && { confirmPartners }) };
}

const shownGiven = (made: StaffRole): Result => ({
  ...done(`${made.role} given: ${made.id}`, made),
  quiet: [made.id],
});

export const staff: Noun = {
  verbs: {
    give: makeCommand({
      summary: "Give a person or an app a role in the admin API. OPERATOR may do everything.",
      takes: { role: argument.oneOf(staffRoleNames) },
      options: gives,
      run: async (tools, { given: { role }, options }) => {
        const given = readGiven(role, options);
        const by = { giver: null, supportRoleDays: tools.config.supportRoleDays, origin: tools.origin() };
        const made = await inDatabase(tools, (_db, whole) =>
          withPrismaTransaction(whole, (tx) => giveRole(tx, given, by)),
        );
        return shownGiven(made);
      },
      remote: async (remote, { given: { role }, options }) =>
        shownGiven(await far.giveRole(remote, readGiven(role, options))),
    }),
    withdraw: makeCommand({
      summary: "Take a role away, at once, for tokens too. The last operator stays.",
      takes: { role: argument.id<StaffRoleId>() },
      run: async (tools, { given: { role: id } }) => {
        await inDatabase(tools, (_db, whole) =>
          withPrismaTransaction(whole, (tx) => withdrawRole(tx, id, { giver: null, origin: tools.origin() })),
        );
        return done("Role withdrawn.", { id });
      },
      remote: async (remote, { given: { role: id } }) => {
        await far.withdrawRole(remote, id);
        return done("Role withdrawn.", { id });
      },
    }),
    list: makeCommand({
      summary: "List the roles that hold, the latest given first.",
      options: {
        school: option.school("Only roles for this school."),
        person: option.person("Only roles of this person."),
        app: option.text("Only roles of this app or for it.", "client-id"),
        role: option.oneOf(staffRoleNames, "Only this role."),
        withEnded: option.flag("With those that have ended."),
        limit: listOptions.limit,
        after: listOptions.after,
      },
      run: async (tools, { options }) => {
        const { school, person, app, role, withEnded, limit = defaultLimit, after } = options;
        const filter = { schoolId: school, personId: person, clientId: app as ClientId | undefined, role };
        const part = { withEnded, reach: everything, now: tools.clock(), limit: limit + 1, after };
        const found = await inDatabase(tools, (db) => listRoles(db, { ...filter, ...part }));
        return listResult("roles", found, limit, columns);
      },
      remote: async (remote, { options }) => {
        const { school, person, app, role, withEnded, limit = defaultLimit, after } = options;
        refuseHere({ withEnded });
        const filter = { schoolId: school, personId: person, clientId: app, role };
        return listResult("roles", await far.listRoles(remote, { ...filter, after, limit: limit + 1 }), limit, columns);
      },
    }),
    ...staffPeopleVerbs,
  },
};
