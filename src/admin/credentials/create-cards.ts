import { againAfterDeadlock } from "../../access/index.ts";
import { present } from "../../platform/contract-types.ts";
import { withPrismaTransaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import {
  findSignInSettings,
  giveUserNames,
  keepPrint,
  lockPeople,
  prepareForPeople,
  readCardSettings,
} from "../../accounts/index.ts";
import { findCardHolders } from "./card-holders.ts";
import { giveCredentials, presentMade } from "./give-credentials.ts";
import type { AdminHandler, Schemas } from "../handler.ts";
import { listGuests } from "../whose-person.ts";

export const cardsDisabled = () =>
  new AppError("conflict", "cards_disabled", "The school does not use login cards with a QR code.");

export const createLoginCards: AdminHandler<"createLoginCards"> = async (deps, request) => {
  const { schoolId, reach, body, origin, keep } = request;
  const settings = await readCardSettings(deps.db, schoolId);
  if (body.withQr && !settings.enabled) throw cardsDisabled();
  const { passwordKind, mustChangePassword: mustChange } = (await findSignInSettings(deps.db, schoolId))!;
  const subject = { schoolId, reach, now: origin.at };
  const groupIds = body.groupId === undefined ? null : [body.groupId];
  const asked = await findCardHolders(deps.db, subject, body);
  const personIds = asked.map(({ personId }) => personId);
  const wanted = asked.filter(({ skip }) => skip === null || skip === "NO_LOGIN").map(({ personId }) => personId);
  const makeCard = () => deps.makeCard({ secondStep: settings.secondStep, now: origin.at });
  // Hashing takes long, and no connection is held meanwhile.
  const prepared = await prepareForPeople(wanted, {
    passwordKind: body.newPasswords ? passwordKind : null,
    makeCard: body.withQr ? makeCard : null,
  });

  return againAfterDeadlock(() =>
    withPrismaTransaction(deps.db, async (tx) => {
      await lockPeople(tx, personIds);
      if (body.newPasswords) {
        const guests = await listGuests(tx, { schoolId, personIds: wanted });
        await giveUserNames(tx, { schoolId, people: wanted.filter((id) => !guests.has(id)) }, origin.at);
      }
      const holders = personIds.length === 0 ? [] : await findCardHolders(tx, subject, { personIds });
      const given = holders.filter(({ skip, personId }) => skip === null && prepared.has(personId));
      await giveCredentials(tx, given, { schoolId, settings, prepared, mustChange, groupIds, origin });
      const cards = given.map((holder) => presentMade(holder, { settings, prepared }));
      const skipped = holders.flatMap(({ personId, name, skip }) =>
        skip === null ? [] : [present<Schemas["SkippedCard"]>({ personId, name, reason: skip })],
      );
      const content = { schoolId, printsSecret: settings.printSecondStep, cards };
      const printId = await keepPrint(tx, deps.keys, { caller: origin.actorId, content, now: origin.at });
      return keep(tx, { status: 201 as const, body: present<Schemas["MadeLoginCards"]>({ printId, cards, skipped }) });
    }),
  );
};
