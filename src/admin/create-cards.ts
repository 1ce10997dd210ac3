import { againAfterDeadlock } from "../access/index.ts";
import type { PersonId, SchoolId } from "../directory/index.ts";
import { present } from "../platform/contract-types.ts";
import { withPrismaTransaction, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import {
  createCardIn,
  giveUserNames,
  hashInTurn,
  isCardGrade,
  keepPrint,
  lockPersonSignIn,
  readCardSettings,
  setLoginIn,
  type CardSettings,
  type MadeCard,
} from "../accounts/index.ts";
import { findCardHolders, type CardHolder } from "./card-holders.ts";
import type { AdminDeps, AdminHandler, AdminRequest, Schemas } from "./handler.ts";
import { makeLogin } from "./logins.ts";
import { refuseUnknownSchool } from "./reached.ts";
import { listGuests } from "./whose-person.ts";

type MadeLoginCard = Schemas["MadeLoginCard"];
type Request = AdminRequest<"createLoginCards">;
type Password = Awaited<ReturnType<typeof makeLogin>>;
type Making = {
  settings: CardSettings;
  passwords: ReadonlyMap<PersonId, Password>;
  schoolId: SchoolId;
};

export const createLoginCards: AdminHandler<"createLoginCards"> = async (deps, request) => {
  const { schoolId, reach, body, origin, keep } = request;
  await refuseUnknownSchool(deps.db, reach, schoolId);
  const settings = await readCardSettings(deps.db, schoolId);
  if (body.withQr && !settings.enabled)
    throw new AppError("conflict", "cards_disabled", "The school does not use login cards with a QR code.");
  const subject = { schoolId, reach, now: origin.at };
  const asked = await findCardHolders(deps.db, subject, body);
  // Hashing takes long, and no connection is held meanwhile.
  const wanted = asked.filter(({ skip }) => skip === null || skip === "NO_LOGIN").map(({ personId }) => personId);
  const passwords = body.newPasswords ? await makeLogins(deps, wanted) : new Map<PersonId, Password>();

  return againAfterDeadlock(() =>
    withPrismaTransaction(deps.db, async (tx) => {
      const personIds = asked.map(({ personId }) => personId);
      for (const personId of personIds.toSorted()) await lockPersonSignIn(tx, personId);
      if (body.newPasswords) {
        const guests = await listGuests(tx, { schoolId, personIds: wanted });
        await giveUserNames(tx, { schoolId, people: wanted.filter((id) => !guests.has(id)) }, origin.at);
      }
      const holders = personIds.length === 0 ? [] : await findCardHolders(tx, subject, { personIds });
      const making = { settings, passwords, schoolId };
      const cards: MadeLoginCard[] = [];
      for (const holder of holders) {
        if (holder.skip === null) cards.push(await makeCardOf(tx, deps, { request, making, holder }));
      }
      const skipped = holders.flatMap(({ personId, name, skip }) =>
        skip === null ? [] : [present<Schemas["SkippedCard"]>({ personId, name, reason: skip })],
      );
      const content = { schoolId, printsSecret: settings.printSecondStep, cards };
      const printId = await keepPrint(tx, deps.keys, { caller: origin.actorId, content, now: origin.at });
      return keep(tx, { status: 201 as const, body: present<Schemas["MadeLoginCards"]>({ printId, cards, skipped }) });
    }),
  );
};

/** Passwords hashed at a time, so that several requests take turns. */
const hashesAtOnce = 2;

async function makeLogins({ db }: Pick<AdminDeps, "db">, people: PersonId[]): Promise<Map<PersonId, Password>> {
  const made = new Map<PersonId, Password>();
  const left = people.values();
  const work = async () => {
    for (const personId of left) made.set(personId, await makeLogin(db, personId, hashInTurn));
  };
  await Promise.all(Array.from({ length: hashesAtOnce }, work));
  return made;
}

type OneCard = { request: Request; making: Making; holder: CardHolder };

async function makeCardOf(
  tx: Transaction,
  { makeCard }: Pick<AdminDeps, "makeCard">,
  { request, making, holder }: OneCard,
): Promise<MadeLoginCard> {
  const { body, origin } = request;
  const { settings, schoolId } = making;
  const { personId, name, className, grade } = holder;
  const username = holder.username!;
  const made = making.passwords.get(personId);
  if (made !== undefined) {
    const { passwordHash, mustChange } = made;
    await setLoginIn(tx, { personId, username, passwordHash, mustChange }, origin);
  }
  const { secondStep } = settings;
  const card = body.withQr && isCardGrade(settings, grade) ? makeCard({ secondStep, now: origin.at }) : null;
  if (card !== null) await createCardIn(tx, { personId, schoolId, card }, origin);
  return present<MadeLoginCard>({
    personId,
    name,
    className,
    username,
    password: made?.password ?? null,
    ...presentCard(card),
  });
}

const presentCard = (card: MadeCard | null) => ({
  cardId: card?.id ?? null,
  url: card?.url ?? null,
  secondStep: card?.secondStep ?? "NONE",
  pin: card?.secondStep === "PIN" ? card.answer : null,
  picture: card?.secondStep === "PICTURE" ? card.answer : null,
});
