import type { SchoolId } from "../../directory/index.ts";
import { present } from "../present.ts";
import { makePasswords, type MadeLogin, type PasswordsFor } from "../../accounts/index.ts";
import { listHigherHolders } from "../../staff/index.ts";
import type { AdminDeps, AdminHandler, AdminRequest } from "../handler.ts";
import { readGroup } from "../groups/groups.ts";
import { listGuests } from "../whose-person.ts";

type Request = Pick<AdminRequest<"createGroupPasswords">, "origin" | "keep" | "caller">;

function makeFor({ db }: Pick<AdminDeps, "db">, { origin, keep, caller }: Request, asked: PasswordsFor) {
  return makePasswords(db, asked, {
    origin,
    listRefused: async (tx, personIds) => {
      const higher = await listHigherHolders(tx, { personIds, mine: caller.roles, now: origin.at });
      return new Set([...higher, ...(await listGuests(tx, { schoolId: asked.schoolId, personIds }))]);
    },
    finish: async (tx, made: MadeLogin[]) => {
      return keep(tx, { status: 200 as const, body: made.map((login) => present("NamedLoginSecret", login)) });
    },
  });
}

export const createSchoolPasswords: AdminHandler<"createSchoolPasswords"> = (deps, request) => {
  const { schoolId, body } = request;
  return makeFor(deps, request, { schoolId, onlyMissing: body.onlyMissing, roles: body.roles });
};

export const createGroupPasswords: AdminHandler<"createGroupPasswords"> = async (deps, request) => {
  const { groupId, body, reach } = request;
  const { schoolId } = await readGroup(deps.db, reach, groupId);
  const { onlyMissing, personIds } = body;
  return makeFor(deps, request, { schoolId: schoolId as SchoolId, onlyMissing, groupId, personIds });
};
