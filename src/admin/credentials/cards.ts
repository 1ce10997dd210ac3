import * as accounts from "../../accounts/index.ts";
import type { CardSettings, MadeCard, Prepared } from "../../accounts/index.ts";
import { findSchool, findSchoolLogo, type PersonId, type SchoolId } from "../../directory/index.ts";
import type { Origin } from "../../events/index.ts";
import type { Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { limitThreaded } from "../../platform/threads/index.ts";
import { signInPath } from "../../sign-on/index.ts";
import { groupsInReach, type Reach } from "../../staff/index.ts";
import type { Print } from "../card-pdf/draw.ts";
import type { PrintedCard } from "../card-pdf/layout.ts";
import { cardTexts, type CardLanguage } from "../card-pdf/texts.ts";
import { commit, commitDone } from "../change.ts";
import { present, type AdminDeps, type AdminHandler, type AdminRequest, type Schemas } from "../handler.ts";
import { schoolUnknown, getReachedPerson, listGuests } from "../reached.ts";
import { findCardHolders, listCardHolders, type CardHolder, type CardSkipReason } from "./card-holders.ts";

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
  const cards =
    teacher === null ? [] : await accounts.listCards(deps.db, { schoolId, personId, ...teacher, ...page.range });
  return page.answer(cards, (card) => present("LoginCard", card));
};

export const revokeLoginCards: AdminHandler<"revokeLoginCards"> = (deps, request) =>
  commit(deps, request, async (tx) => {
    const { schoolId, reach, body, origin } = request;
    const { everybody, ...holders } = body;
    const subject = { schoolId, reach, now: origin.at };
    if (everybody && Object.keys(holders).length > 0)
      throw new AppError("invalid", "card_holders_invalid", "Name either personIds or groupId.");
    const isWholeSchool = everybody === true && groupsInReach(reach, schoolId).all;
    const groupIds = holders.groupId === undefined ? undefined : [holders.groupId];
    const personIds = isWholeSchool ? undefined : await listCardHolders(tx, subject, everybody ? null : holders);
    const revoked = await accounts.revokeCardsIn(tx, { schoolId, ...(personIds && { personIds }), groupIds }, origin);
    return { status: 200 as const, body: present("RevokedCards", { revoked }) };
  });

export const revokeLoginCard: AdminHandler<"revokeLoginCard"> = (deps, request) =>
  commitDone(deps, request, async (tx) => {
    const { schoolId, loginCardId, reach, origin } = request;
    const teacher = teacherIn(reach, schoolId);
    const id = loginCardId;
    const cards = teacher === null ? [] : await accounts.listCards(tx, { schoolId, id, ...teacher, limit: 1 });
    if (cards.length === 0) throw new AppError("not_found", "login_card_not_found", "The login card does not exist.");
    await accounts.revokeCardsIn(tx, { schoolId, id }, origin);
  });

export const cardsDisabled = () =>
  new AppError("conflict", "cards_disabled", "The school does not use login cards with a QR code.");

export const createLoginCards: AdminHandler<"createLoginCards"> = async (deps, request) => {
  const { schoolId, reach, body, origin } = request;
  const settings = await accounts.readCardSettings(deps.db, schoolId);
  if (body.withQr && !settings.enabled) throw cardsDisabled();
  const { passwordKind, mustChangePassword: mustChange } = (await accounts.findSignInSettings(deps.db, schoolId))!;
  const subject = { schoolId, reach, now: origin.at };
  const groupIds = body.groupId === undefined ? null : [body.groupId];
  const people = await findCardHolders(deps.db, subject, body);
  const personIds = people.map(({ personId }) => personId);
  const wanted = people.filter(({ skip }) => skip === null || skip === "NO_LOGIN").map(({ personId }) => personId);
  const makeCard = () => deps.makeCard({ secondStep: settings.secondStep, now: origin.at });
  // Hashing takes long, and no connection is held meanwhile.
  const prepared = await accounts.prepareForPeople(wanted, {
    passwordKind: body.newPasswords ? passwordKind : null,
    makeCard: body.withQr ? makeCard : null,
  });

  return commit(deps, request, async (tx) => {
    await accounts.lockPeople(tx, personIds);
    if (body.newPasswords) {
      const guests = await listGuests(tx, { schoolId, personIds: wanted });
      await accounts.giveUserNames(tx, { schoolId, people: wanted.filter((id) => !guests.has(id)) }, origin.at);
    }
    const holders = personIds.length === 0 ? [] : await findCardHolders(tx, subject, { personIds });
    const ready = holders.filter(({ skip, personId }) => skip === null && prepared.has(personId));
    await giveCredentials(tx, ready, { schoolId, settings, prepared, mustChange, groupIds, origin });
    const cards = ready.map((holder) => presentMade(holder, { settings, prepared }));
    const skipped = holders.flatMap(({ personId, name, skip }) =>
      skip === null ? [] : [{ personId, name, reason: skip }],
    );
    const content = { schoolId, printsSecret: settings.printSecondStep, cards };
    const printId = await accounts.keepPrint(tx, deps.keys, { caller: origin.actorId, content, now: origin.at });
    return { status: 201 as const, body: present("MadeLoginCards", { printId, cards, skipped }) };
  });
};

const print = limitThreaded<Print, Uint8Array>({
  module: new URL("../card-pdf/draw.ts", import.meta.url),
  seconds: 300,
});

export type LeftOut = { name: Schemas["PersonName"]; className: string | null; reason: CardSkipReason };

/** What a document shows; people who are left out are listed at its end. */
export type Printable = {
  printsSecret: boolean;
  withLetters?: boolean;
  cards: readonly MadeLoginCard[];
  leftOut?: readonly LeftOut[];
};

type PrintRequest = Pick<AdminRequest<"printLoginCards">, "schoolId" | "query" | "origin" | "connection">;

export async function printCards(
  deps: Pick<AdminDeps, "db" | "issuerUrl">,
  { schoolId, query, origin, connection }: PrintRequest,
  { printsSecret, withLetters = false, cards, leftOut = [] }: Printable,
): Promise<Buffer> {
  const language = query.language ?? "de";
  const school = await findSchool(deps.db, schoolId);
  if (school === null) throw schoolUnknown();
  const t = cardTexts(language);
  const job = {
    language,
    schoolName: school.name,
    signInAddress: deps.issuerUrl.replace(/\/$/, "") + signInPath,
    printsSecret,
    letter: withLetters ? ((await accounts.findParentLetter(deps.db, schoolId)) ?? t("letter")) : null,
    cards: cards.map((card) => presentPrinted(card, language)),
    leftOut: leftOut.map(({ name, className, reason }) => {
      return { name: fullName(name) ?? t("nameless"), className, reason: t(`reason.${reason}`) };
    }),
  };
  const logo = await findSchoolLogo(deps.db, schoolId);
  const document = { job, logo: logo && logo.bytes, now: origin.at };
  return Buffer.from(await print(document, { by: origin.actorId, caller: connection }));
}

export const attachmentOf = (language: CardLanguage = "de", type: "pdf" | "csv" = "pdf") => ({
  "Content-Disposition": `attachment; filename="${cardTexts(language)("file")}.${type}"`,
});

export const printLoginCards: AdminHandler<"printLoginCards"> = async (deps, request) => {
  const { schoolId, cardPrintId, query, origin } = request;
  const print = { id: cardPrintId, caller: origin.actorId, now: origin.at };
  const body = await accounts.takePrint(deps.db, deps.keys, print, async (stored) => {
    const content = stored as Printable & { schoolId: SchoolId };
    if (content.schoolId !== schoolId) throw accounts.printUnknown();
    return printCards(deps, request, content);
  });
  return { status: 200, body, headers: attachmentOf(query.language) };
};

export const fullName = (name: Schemas["PersonName"]): string | null => name && `${name.firstCall} ${name.last}`;

const presentPrinted = (card: MadeLoginCard, language: CardLanguage): PrintedCard => ({
  name: fullName(card.name),
  className: card.className,
  username: card.username,
  password: card.password,
  url: card.url,
  secret: card.pin ?? (card.picture && cardTexts(language)(`picture.${card.picture}`)),
});

export type MadeLoginCard = Schemas["MadeLoginCard"];

type MakingCards = { settings: CardSettings; prepared: ReadonlyMap<PersonId, Prepared> };
type Giving = MakingCards & {
  schoolId: SchoolId;
  mustChange: boolean;
  groupIds: readonly string[] | null;
  origin: Origin;
};

/** The holder's card only if cards work for their grade. */
const cardOf = ({ personId, grade }: CardHolder, { settings, prepared }: MakingCards): MadeCard | null =>
  accounts.isCardGrade(settings, grade) ? prepared.get(personId)!.card : null;

/** Sets what was prepared for people who have user names and whom the caller locked; `groupIds` as it was asked. */
export async function giveCredentials(
  tx: Transaction,
  holders: readonly CardHolder[],
  { schoolId, mustChange, groupIds, origin, ...given }: Giving,
): Promise<void> {
  const people = holders.map((holder) => {
    const { personId } = holder;
    return { personId, passwordHash: given.prepared.get(personId)!.passwordHash, card: cardOf(holder, given) };
  });
  await accounts.setSecretsIn(tx, { schoolId, people, mustChange, groupIds }, origin);
}

export function presentMade(holder: CardHolder, params: MakingCards): MadeLoginCard {
  const card = cardOf(holder, params);
  return present("MadeLoginCard", {
    ...holder,
    username: holder.username!,
    password: params.prepared.get(holder.personId)!.password,
    cardId: card?.id ?? null,
    url: card?.url ?? null,
    secondStep: card?.secondStep ?? "NONE",
    pin: card?.secondStep === "PIN" ? card.answer : null,
    picture: card?.secondStep === "PICTURE" ? card.answer : null,
  });
}
