import type { PersonId, SchoolId } from "../../directory/index.ts";
import { present } from "../../platform/contract-types.ts";
import { withPrismaTransaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { listCards, revokeCardsIn } from "../../accounts/index.ts";
import { groupsInReach, type Reach } from "../../staff/index.ts";
import { findCardHolders, listCardHolders } from "./card-holders.ts";
import type { AdminHandler, Schemas } from "../handler.ts";
import { getReachedPerson } from "../whose-person.ts";

/** Returns null for a caller who reaches no student of the school, such as an app with the role of a class teacher. */
function teacherIn(reach: Reach, schoolId: SchoolId): { taughtBy?: PersonId } | null {
  const groups = groupsInReach(reach, schoolId);
  if (groups.all) return {};
  return groups.taughtBy === null ? null : { taughtBy: groups.taughtBy };
}

export const listLoginCards: AdminHandler<"listLoginCards"> = async (deps, request) => {
  const { schoolId, query, reach, origin, page } = request;
  const personId = query.person;
  if (personId !== undefined) {
    await findCardHolders(deps.db, { schoolId, reach, now: origin.at }, { personIds: [personId] });
    await getReachedPerson(deps.db, reach, personId);
  }
  const teacher = teacherIn(reach, schoolId);
  const found = teacher === null ? [] : await listCards(deps.db, { schoolId, personId, ...teacher, ...page.range });
  return page.answer(found, (card) => present<Schemas["LoginCard"]>(card));
};

export const revokeLoginCards: AdminHandler<"revokeLoginCards"> = ({ db }, { schoolId, reach, body, origin }) =>
  withPrismaTransaction(db, async (tx) => {
    const { everybody, ...asked } = body;
    const subject = { schoolId, reach, now: origin.at };
    if (everybody && Object.keys(asked).length > 0)
      throw new AppError("invalid", "card_holders_invalid", "Name either personIds or groupId.");
    const isWholeSchool = everybody === true && groupsInReach(reach, schoolId).all;
    const groupIds = asked.groupId === undefined ? undefined : [asked.groupId];
    const personIds = isWholeSchool ? undefined : await listCardHolders(tx, subject, everybody ? null : asked);
    const revoked = await revokeCardsIn(tx, { schoolId, ...(personIds && { personIds }), groupIds }, origin);
    return { status: 200, body: present<Schemas["RevokedCards"]>({ revoked }) };
  });

export const revokeLoginCard: AdminHandler<"revokeLoginCard"> = ({ db }, { schoolId, loginCardId, reach, origin }) =>
  withPrismaTransaction(db, async (tx) => {
    const teacher = teacherIn(reach, schoolId);
    const id = loginCardId;
    const found = teacher === null ? [] : await listCards(tx, { schoolId, id, ...teacher, limit: 1 });
    if (found.length === 0) throw new AppError("not_found", "login_card_not_found", "The login card does not exist.");
    await revokeCardsIn(tx, { schoolId, id }, origin);
    return { status: 204 };
  });
