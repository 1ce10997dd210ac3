import { changeDirectory } from "../../access/index.ts";
import { listPeople, type Person } from "../../directory/index.ts";
import { present } from "../../platform/contract-types.ts";
import { storeOf } from "../../platform/database/db.ts";
import { createStaffPerson as create, listUserNames, makeStaffPassword } from "../../accounts/index.ts";
import { listRolesOf } from "../../staff/index.ts";
import { answerCreated } from "../change.ts";
import type { AdminHandler, Schemas } from "../handler.ts";
import { readPerson } from "../people/person-record.ts";
import { presentRole, readRole } from "./staff.ts";
import { searchTermsOf } from "../query.ts";

export const listStaffPeople: AdminHandler<"listStaffPeople"> = async (deps, request) => {
  const { query, origin, page } = request;
  const filter = { status: query.status, words: searchTermsOf(query.search), atNoSchool: true };
  const found = await listPeople(storeOf(deps.db), { ...filter, ...page.range });
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
      blockedAt,
      purgeAt,
      createdAt,
      roles: (roles.get(id) ?? []).map(presentRole),
    });
  return page.answer(found, presentPerson);
};

export const createStaffPerson: AdminHandler<"createStaffPerson"> = async (deps, request) => {
  const { body, caller, reach, origin } = request;
  const { password, passwordHash } = await makeStaffPassword();
  const person = { name: body.name, username: body.username, passwordHash, role: readRole(body) };
  return changeDirectory(deps.db, origin, async (change) => {
    const rules = { giver: caller.roles, supportRoleDays: deps.supportRoleDays };
    const personId = await create(change, person, rules);
    const recorded = await readPerson(change.tx, reach, personId);
    const body = present<Schemas["LoginSecret"]>({ personId, username: recorded.username!, password });
    return answerCreated(change.tx, request, { body, location: `/admin/v1/people/${personId}`, recorded });
  });
};
