import { changeDirectory } from "../access/index.ts";
import { listPeople, type Person } from "../directory/index.ts";
import { recordDifference } from "../events/index.ts";
import { present } from "../platform/contract-types.ts";
import { storeOf } from "../platform/database/db.ts";
import { createStaffPerson as create, listUserNames, makeStaffPassword } from "../accounts/index.ts";
import { listRolesOf } from "../staff/index.ts";
import type { AdminHandler, Schemas } from "./handler.ts";
import { readPage } from "./page.ts";
import { readPerson } from "./person-record.ts";
import { presentRole, readRole } from "./staff.ts";
import { searchTermsOf } from "./query.ts";

export const listStaffPeople: AdminHandler<"listStaffPeople"> = async (deps, request) => {
  const { query, origin } = request;
  const page = readPage(deps, request);
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

export const createStaffPerson: AdminHandler<"createStaffPerson"> = async (
  deps,
  { body, caller, reach, origin, keep },
) => {
  const { db, supportRoleDays } = deps;
  const { name, username } = body;
  const { password, passwordHash } = await makeStaffPassword();
  return changeDirectory(db, origin, async (change) => {
    const personId = await create(
      change,
      { name, username, passwordHash, role: readRole(body) },
      { giver: caller.roles, supportRoleDays },
    );
    const after = await readPerson(change.tx, reach, personId);
    await recordDifference(change.tx, origin, { before: null, after });
    const made = present<Schemas["LoginSecret"]>({ personId, username: after.username!, password });
    return keep(change.tx, { status: 201 as const, body: made, headers: { Location: `/admin/v1/people/${personId}` } });
  });
};
