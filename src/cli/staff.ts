import type { ClientId } from "../access/index.ts";
import type { PersonId, SchoolId } from "../directory/index.ts";
import { everything, listRoles, type StaffRoleName } from "../staff/index.ts";
import { bodyOf, listAll, requireMachine, withIdempotencyKey } from "./admin-api.ts";
import type { Machine, Result, Service } from "./command.ts";
import type { Extensions } from "./contract-commands.ts";
import { counted, defaultLimit, done, listResult, timeOf, type Columns } from "./lines.ts";
import { option } from "./option.ts";
import { readName, type NameOptions } from "./person.ts";

type Listed = {
  school?: SchoolId;
  person?: PersonId;
  app?: ClientId;
  role?: StaffRoleName;
  limit?: number;
  after?: string;
};

/** Lists roles with those that have ended, which the admin API does not offer. */
async function listWithEnded(machine: Machine, options: Listed): Promise<Result> {
  const { storeOf } = await import("../platform/database/db.ts");
  const { school: schoolId, person: personId, app, role, limit = defaultLimit, after } = options;
  const filter = { schoolId, personId, clientId: app, role };
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

async function giveClassTeachers({ api }: Service, path: { schoolId: SchoolId }, except: string[]): Promise<Result> {
  const address = "/admin/v1/schools/{schoolId}/class-teacher-proposals";
  const proposed = await listAll((query) => api.GET(address, { params: { path, query } }));
  const ready = proposed.filter(({ id, state }) => state === "READY" && !except.includes(id));
  const personIds = ready.map(({ id }) => id);
  const params = { path, ...withIdempotencyKey() };
  const giving = () => api.POST("/admin/v1/schools/{schoolId}/class-teachers", { params, body: { personIds } });
  const roles = personIds.length === 0 ? [] : await bodyOf(giving());
  return { ...done(`${counted(roles.length, "role")} given.`, { given: roles }), quiet: roles.map(({ id }) => id) };
}

export const extensions: Extensions = {
  list: {
    options: { withEnded: option.flag("With those that have ended.") },
    instead: (service, { withEnded, ...options }) =>
      withEnded === true ? listWithEnded(requireMachine(service, { withEnded }), options) : undefined,
  },
  "class-teachers": {
    options: {
      give: option.flag("Give them the role CLASS_TEACHER."),
      except: option.people("Somebody who does not get it."),
    },
    instead: (service, { give, except = [] }, args) =>
      give === true ? giveClassTeachers(service, args as { schoolId: SchoolId }, except as string[]) : undefined,
  },
  create: { body: ({ name, ...body }) => ({ ...body, name: readName(name as NameOptions) }) },
};
