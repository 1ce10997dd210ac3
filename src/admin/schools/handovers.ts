import { changeDirectory } from "../../access/index.ts";
import { giveUserNames } from "../../accounts/index.ts";
import {
  acceptHandover as accept,
  closeHandover,
  createHandover as create,
  getHandover as find,
  listHandovers as list,
  listSchools,
  type GroupId,
  type Handover,
  type PersonId,
  type SchoolId,
} from "../../directory/index.ts";
import { recordDifference } from "../../events/index.ts";
import { present } from "../present.ts";
import { storeOf, withPrismaTransaction, type RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { isReached, type Reach } from "../../staff/index.ts";
import { answerCreated, answerRecord } from "../change.ts";
import type { AdminDeps, AdminHandler, AdminRequest } from "../handler.ts";
import { getReachedPerson } from "../whose-person.ts";

export const presentHandover = (handover: Handover) => present("Handover", handover);

export const listReceivingSchools: AdminHandler<"listReceivingSchools"> = async ({ db }, { query, page }) => {
  const schools = await listSchools(storeOf(db), { search: query.search, ...page.range });
  return page.answer(schools, ({ address, ...school }) =>
    present("ReceivingSchool", { ...school, city: address.city }),
  );
};

export const listHandovers: AdminHandler<"listHandovers"> = async ({ db }, { schoolId, origin, page }) =>
  page.answer(await list(db, { schoolId, now: origin.at, ...page.range }), presentHandover);

export const createHandover: AdminHandler<"createHandover"> = ({ db, handoverDays }, request) => {
  const { schoolId, body, reach, origin } = request;
  return withPrismaTransaction(db, async (tx) => {
    for (const personId of body.personIds) await getReachedPerson(tx, reach, personId);
    const offer = { from: schoolId, to: body.toSchoolId, personIds: body.personIds, days: handoverDays };
    const id = await create(tx, offer, origin);
    const made = presentHandover(await find(tx, id, origin.at));
    const recorded = { state: made.state };
    return answerCreated(tx, request, { body: made, location: `/admin/v1/handovers/${id}`, recorded });
  });
};

type OfOne = Pick<AdminRequest<"getHandover">, "handoverId" | "reach" | "origin">;
type Side = "from" | "to";

/** Errors: not_found handover_not_found, also if neither school is reached; forbidden for the other school's step. */
async function getReached(db: RecordStore, { handoverId, reach, origin }: OfOne, side?: Side): Promise<Handover> {
  const handover = await find(db, handoverId, origin.at);
  const reaches = (school: Side, by: Reach) => isReached(by, { schools: [handover[school].id as SchoolId] });
  if (!reaches("from", reach) && !reaches("to", reach))
    throw new AppError("not_found", "handover_not_found", "There is no such hand-over.");
  if (side === undefined || reaches(side, reach)) return handover;
  const message = "The receiving school accepts or declines a hand-over; the offering school withdraws it.";
  throw new AppError("forbidden", "other_school_decides", message);
}

export const getHandover: AdminHandler<"getHandover"> = async ({ db }, request) =>
  answerRecord(presentHandover(await getReached(db, request)));

/** Reads the closed hand-over, and records how its state changed in the lines about the hand-over itself. */
async function finish(tx: RecordStore, { handoverId, origin }: OfOne) {
  const body = presentHandover(await find(tx, handoverId, origin.at));
  const difference = { before: { state: "OFFERED" }, after: { state: body.state } };
  await recordDifference(tx, { ...origin, personId: null }, difference);
  return { status: 200 as const, body };
}

export const acceptHandover: AdminHandler<"acceptHandover"> = async ({ db }, request) => {
  const { handoverId, body, origin } = request;
  const { to } = await getReached(db, request, "to");
  return changeDirectory(db, origin, async (change) => {
    const placements = body.pupils.map(({ personId, groupId, sourceSystemIdentifier }) => ({
      personId: personId as PersonId,
      groupId: groupId as GroupId | undefined,
      sourceSystemIdentifier,
    }));
    const moved = await accept(change, { id: handoverId, placements });
    await giveUserNames(change.tx, { schoolId: to.id as SchoolId, people: moved }, change.now);
    return finish(change.tx, request);
  });
};

async function closeAs(
  { db }: Pick<AdminDeps, "db">,
  request: OfOne,
  { side, state }: { side: Side; state: "DECLINED" | "WITHDRAWN" },
) {
  await getReached(db, request, side);
  return withPrismaTransaction(db, async (tx) => {
    await closeHandover(tx, { id: request.handoverId, state }, request.origin);
    return finish(tx, request);
  });
}

export const declineHandover: AdminHandler<"declineHandover"> = (deps, request) =>
  closeAs(deps, request, { side: "to", state: "DECLINED" });

export const withdrawHandover: AdminHandler<"withdrawHandover"> = (deps, request) =>
  closeAs(deps, request, { side: "from", state: "WITHDRAWN" });
