import { recordDifference } from "../events/index.ts";
import { present } from "../platform/contract-types.ts";
import { withPrismaTransaction } from "../platform/database/db.ts";
import { giveClassTeacherRoles as give, listProposedTeachers as list } from "../staff/index.ts";
import type { AdminHandler, Schemas } from "./handler.ts";
import { readPage } from "./page.ts";
import { refuseUnknownSchool } from "./reached.ts";
import { presentRole } from "./staff.ts";

export const listProposedTeachers: AdminHandler<"listProposedTeachers"> = async (deps, request) => {
  const { schoolId, reach, origin } = request;
  const page = readPage(deps, request);
  await refuseUnknownSchool(deps.db, reach, schoolId);
  const found = await list(deps.db.pool, { schoolId, now: origin.at });
  return page.answerFrom(found, (proposal) => present<Schemas["ClassTeacherProposal"]>(proposal));
};

export const giveClassTeacherRoles: AdminHandler<"giveClassTeacherRoles"> = async ({ db }, request) => {
  const { schoolId, body, caller, reach, origin, keep } = request;
  await refuseUnknownSchool(db, reach, schoolId);
  return withPrismaTransaction(db, async (tx) => {
    const asked = { schoolId, personIds: body.personIds };
    const given = (await give(tx, asked, { giver: caller.roles, origin })).map(presentRole);
    for (const role of given)
      await recordDifference(tx, { ...origin, personId: role.holder.personId }, { before: null, after: role });
    return keep(tx, { status: 200 as const, body: given });
  });
};
