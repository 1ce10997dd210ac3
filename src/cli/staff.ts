import type { ClientId } from "../access/index.ts";
import type { PersonId } from "../directory/index.ts";
import { everything, listRoles, staffRoleNames } from "../staff/index.ts";
import { bodyOf, listAll, listFirst, omitUndefined, requireMachine, withIdempotencyKey } from "./admin-api.ts";
import type { Schemas } from "./admin-api.ts";
import { makeApiCommand, type Machine, type OptionsOf, type Result, type Verbs } from "./command.ts";
import type { Extensions } from "./contract-commands.ts";
import {
  counted,
  defaultLimit,
  done,
  listOptions,
  listResult,
  nameOf,
  timeOf,
  wholeList,
  type Columns,
} from "./lines.ts";
import { argsNamed, option, UsageError } from "./option.ts";
import { readName, softDeletePerson, type NameOptions } from "./person.ts";

type ListedRole = Schemas["ListedStaffRole"];

const holderName = ({ personName, appName }: ListedRole): string | null =>
  personName === null ? appName : `${personName.firstCall} ${personName.last}`;

const columns: Columns<ListedRole> = {
  id: ({ id }) => id,
  role: ({ role }) => role,
  holder: ({ holder }) => holder.personId ?? holder.clientId,
  name: holderName,
  for: ({ schoolIds, clientIds }) => [...schoolIds, ...clientIds].join(" ") || null,
  ends: ({ endsAt }) => endsAt,
  reason: ({ reason }) => reason,
};

/** Lists roles with those that have ended, which the admin API does not offer. */
async function listWithEnded(machine: Machine, options: OptionsOf<typeof listed>): Promise<Result> {
  const { storeOf } = await import("../platform/database/db.ts");
  const { school: schoolId, person: personId, app, role, limit = defaultLimit, after } = options;
  const filter = { schoolId, personId, clientId: app as ClientId | undefined, role };
  const part = { withEnded: true, reach: everything, now: machine.clock(), limit: limit + 1, after };
  const roles = await machine.withDatabase(({ db }) => listRoles(storeOf(db), { ...filter, ...part }));
  const columnsHere: Columns<(typeof roles)[number]> = {
    id: ({ id }) => id,
    role: ({ role: name }) => name,
    holder: ({ holder }) => ("personId" in holder ? holder.personId : holder.clientId),
    name: ({ holderName: name }) => name,
    for: ({ schoolIds, clientIds }) => [...schoolIds, ...clientIds].join(" ") || null,
    ends: ({ endsAt }) => timeOf(endsAt),
    reason: ({ reason }) => reason,
  };
  return listResult("roles", roles, limit, columnsHere);
}

const listed = {
  school: option.school("Only roles for this school."),
  person: option.person("Only roles of this person."),
  app: option.text("Only roles of this app or for it.", "client-id"),
  role: option.oneOf(staffRoleNames, "Only this role."),
  withEnded: option.flag("With those that have ended."),
  limit: listOptions.limit,
  after: listOptions.after,
};

const rolesPath = "/admin/v1/staff-roles";

const proposalColumns: Columns<Schemas["ClassTeacherProposal"]> = {
  id: ({ id }) => id,
  name: ({ name }) => nameOf(name),
  classes: ({ classes }) => classes.map(({ name }) => name).join(" "),
  state: ({ state }) => state,
};

export const verbs: Verbs = {
  list: makeApiCommand({
    summary: "List the roles that hold, the latest given first.",
    options: listed,
    run: async ({ api, ...service }, { options }) => {
      const { withEnded, limit = defaultLimit, after, ...filter } = options;
      if (withEnded) return listWithEnded(requireMachine({ api, ...service }, { withEnded }), options);
      const query = omitUndefined(filter);
      const read = (page: object) => api.GET(rolesPath, { params: { query: { ...query, ...page } } });
      return listResult("roles", await listFirst(read, { limit: limit + 1, after }), limit, columns);
    },
  }),
  "class-teachers": makeApiCommand({
    summary: "List the teachers who have a class but no role for it; with --give, give those who are READY the role.",
    args: argsNamed("schoolId"),
    options: {
      give: option.flag("Give them the role CLASS_TEACHER."),
      except: option.people("Somebody who does not get it."),
    },
    run: async ({ api }, { args: path, options: { give, except = [] } }) => {
      const address = "/admin/v1/schools/{schoolId}/class-teacher-proposals";
      const proposed = await listAll((query) => api.GET(address, { params: { path, query } }));
      if (!give) return wholeList("teachers", proposed, { columns: proposalColumns, id: ({ id }) => id });
      const ready = proposed.filter(({ id, state }) => state === "READY" && !except.includes(id as PersonId));
      const personIds = ready.map(({ id }) => id);
      const params = { path, ...withIdempotencyKey() };
      const giving = () => api.POST("/admin/v1/schools/{schoolId}/class-teachers", { params, body: { personIds } });
      const given = personIds.length === 0 ? [] : await bodyOf(giving());
      return { ...done(`${counted(given.length, "role")} given.`, { given }), quiet: given.map(({ id }) => id) };
    },
  }),
  delete: makeApiCommand({
    summary: "Delete an account; never the last operator's. Until the restore window ends: person restore.",
    args: argsNamed("personId"),
    run: async (service, { args: { personId: id } }) => {
      const purgeAt = await softDeletePerson(service, id);
      return done(`Account deleted. It can be restored until ${purgeAt}.`, { id, purgeAt });
    },
  }),
};

export const extensions: Extensions = {
  create: { body: ({ name, ...body }) => ({ ...body, name: readName(name as NameOptions) }) },
  give: {
    body: (body) => {
      if (Object.keys(body["holder"] ?? {}).length !== 1) throw new UsageError("Give either --person or --app.");
      return body;
    },
  },
};
