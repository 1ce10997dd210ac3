import { giveUserNames } from "../../accounts/index.ts";
import * as directory from "../../directory/index.ts";
import type { GroupId, Handover, PersonId, SchoolId } from "../../directory/index.ts";
import { storeOf, type RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { isReached, type Reach } from "../../staff/index.ts";
import { answerAfter, answerRecord, changeRecord, changeSeen, commitCreated } from "../change.ts";
import { present, type AdminHandler, type AdminRequest, type Schemas } from "../handler.ts";
import { getReachedPerson } from "../reached.ts";

export const presentHandover = (handover: Handover) => present("Handover", handover);

export const listReceivingSchools: AdminHandler<"listReceivingSchools"> = async ({ db }, { query, page }) => {
  const schools = await directory.listSchools(storeOf(db), { search: query.search, ...page.range });
  return page.answer(schools, ({ address, ...school }) =>
    present("ReceivingSchool", { ...school, city: address.city }),
  );
};

export const listHandovers: AdminHandler<"listHandovers"> = async ({ db }, { schoolId, origin, page }) =>
  page.answer(await directory.listHandovers(db, { schoolId, now: origin.at, ...page.range }), presentHandover);

export const createHandover: AdminHandler<"createHandover"> = (deps, request) =>
  commitCreated(deps, request, async (tx) => {
    const { schoolId, body, reach, origin } = request;
    for (const personId of body.personIds) await getReachedPerson(tx, reach, personId);
    const offer = { from: schoolId, to: body.toSchoolId, personIds: body.personIds, days: deps.handoverDays };
    const id = await directory.createHandover(tx, offer, origin);
    const made = presentHandover(await directory.getHandover(tx, id, origin.at));
    return { body: made, location: `/admin/v1/handovers/${id}`, recorded: { state: made.state } };
  });

type OfOne = Pick<AdminRequest<"getHandover">, "handoverId" | "reach" | "origin">;
type Side = "from" | "to";

/** Errors: not_found handover_not_found, also if neither school is reached; forbidden for the other school's step. */
async function getReached(db: RecordStore, { handoverId, reach, origin }: OfOne, side?: Side): Promise<Handover> {
  const handover = await directory.getHandover(db, handoverId, origin.at);
  const reaches = (school: Side, by: Reach) => isReached(by, { schools: [handover[school].id as SchoolId] });
  if (!reaches("from", reach) && !reaches("to", reach))
    throw new AppError("not_found", "handover_not_found", "There is no such hand-over.");
  if (side === undefined || reaches(side, reach)) return handover;
  const message = "The receiving school accepts or declines a hand-over; the offering school withdraws it.";
  throw new AppError("forbidden", "other_school_decides", message);
}

export const getHandover: AdminHandler<"getHandover"> = async ({ db }, request) =>
  answerRecord(presentHandover(await getReached(db, request)));

/** How each decision reads, records and answers with the hand-over. */
const steps = ({ handoverId, origin }: OfOne) => ({
  record: async (tx: RecordStore) => presentHandover(await directory.getHandover(tx, handoverId, origin.at)),
  recorded: ({ state }: Schemas["Handover"]) => ({ state }),
  personId: null,
  answer: answerAfter<Schemas["Handover"]>,
});

export const acceptHandover: AdminHandler<"acceptHandover"> = async (deps, request) => {
  const { handoverId: id, body } = request;
  const { to } = await getReached(deps.db, request, "to");
  return changeSeen(deps, request, {
    ...steps(request),
    async work(change) {
      const placements = body.pupils.map(({ personId, groupId, sourceSystemIdentifier }) => ({
        personId: personId as PersonId,
        groupId: groupId as GroupId | undefined,
        sourceSystemIdentifier,
      }));
      const people = await directory.acceptHandover(change, { id, placements });
      await giveUserNames(change.tx, { schoolId: to.id as SchoolId, people }, change.now);
    },
  });
};

const closeAs =
  (side: Side, state: "DECLINED" | "WITHDRAWN"): AdminHandler<"declineHandover" | "withdrawHandover"> =>
  async (deps, request) => {
    const { handoverId: id, origin } = request;
    await getReached(deps.db, request, side);
    return changeRecord(deps, request, {
      ...steps(request),
      work: (tx) => directory.closeHandover(tx, { id, state }, origin),
    });
  };

export const declineHandover = closeAs("to", "DECLINED");
export const withdrawHandover = closeAs("from", "WITHDRAWN");
