import { changeDirectory, type ClientId } from "../access/index.ts";
import { listPeople, type Person, type SchoolId } from "../directory/index.ts";
import { recordDifference } from "../events/index.ts";
import { present } from "../platform/contract-types.ts";
import { storeOf } from "../platform/database/db.ts";
import { createStaffPerson as create, listUserNames, makeStaffPassword } from "../accounts/index.ts";
import { listRolesOf } from "../staff/index.ts";
import type { components } from "../../generated/openapi/admin.ts";
import type { AdminHandler } from "./handler.ts";
import { answerPage, readPage } from "./page.ts";
import { readPerson } from "./person-record.ts";
import { presentRole } from "./staff.ts";
import { searchTermsOf } from "./query.ts";

type Schemas = components["schemas"];

const listStaffPeople: AdminHandler<"listStaffPeople"> = async (deps, { query, origin }) => {
  const page = readPage(deps, "listStaffPeople", query);
  const asked = { status: query.status, words: searchTermsOf(query.search), atNoSchool: true };
  const found = await listPeople(storeOf(deps.db), { ...asked, limit: page.take, after: page.after });
  const personIds = found.map(({ id }) => id);
  const logins = await listUserNames(deps.db, personIds);
  const roles = await listRolesOf(deps.db, { personIds, now: origin.at });
  const presentPerson = ({ id, status, name, blockedAt, purgeAt, createdAt }: Person) =>
    present<Schemas["StaffPerson"]>({
      id,
      status,
      name,
      username: logins.get(id)?.username ?? null,
      hasLogin: logins.get(id)?.hasPassword ?? false,
      blockedAt: blockedAt?.toISOString() ?? null,
      purgeAt: purgeAt?.toISOString() ?? null,
      createdAt: createdAt.toISOString(),
      roles: (roles.get(id) ?? []).map(presentRole),
    });
  const list = { list: "listStaffPeople" as const, path: "/admin/v1/staff-people", query, page };
  return answerPage(deps, list, { found, idOf: ({ id }) => id, present: presentPerson });
};

const createStaffPerson: AdminHandler<"createStaffPerson"> = async (deps, { body, caller, reach, origin, keep }) => {
  const { db, supportRoleDays } = deps;
  const { name, username, role, schoolIds = [], clientIds = [], reason = null, endsAt } = body;
  const given = {
    role,
    schoolIds: schoolIds as SchoolId[],
    clientIds: clientIds as ClientId[],
    reason,
    endsAt: endsAt === undefined ? null : new Date(endsAt),
  };
  const { password, passwordHash } = await makeStaffPassword();
  return changeDirectory(db, origin, async (change) => {
    const personId = await create(
      change,
      { name, username, passwordHash, role: given },
      { giver: caller.roles, supportRoleDays },
    );
    const after = await readPerson(change.tx, reach, personId);
    await recordDifference(change.tx, origin, { before: null, after });
    const made = present<Schemas["LoginSecret"]>({ personId, username: after.username!, password });
    const answer = { status: 201 as const, body: made, headers: { Location: `/admin/v1/people/${personId}` } };
    await keep(change.tx, answer);
    return answer;
  });
};

export const staffPeopleHandlers = { listStaffPeople, createStaffPerson };
