import type { AdminSchemas } from "../../admin/index.ts";
import {
  makeFile,
  makePage,
  askedBy,
  drawQrPaths,
  findHasCards,
  findSchoolLogo,
  isMemberPage,
  leavingOf,
  listLoginCards,
  listMembers,
  callName,
  personAddress,
  readMember,
  schoolLogo,
} from "../frame/index.ts";
import type { Download, PageRequest, PageView, QrPath, Redirect } from "../frame/index.ts";
import { group, readGroup } from "./group.ts";

type Card = AdminSchemas["MadeLoginCard"];

/** `missing`, `all` and `chosen` create passwords; `cards` creates cards with a QR code. */
const kinds = ["missing", "all", "chosen", "cards"] as const;

const mostChosen = 200;

const readTicked = ({ req, typed }: PageRequest): string[] => {
  const ids = typed["person"] ?? [req.query["person"] ?? []].flat();
  return [...new Set(ids.filter((id) => typeof id === "string"))].slice(0, mostChosen);
};

async function listTicked(request: PageRequest): Promise<{ id: string; name: string }[]> {
  const ids = readTicked(request);
  const members = ids.length === 0 ? [] : await listMembers(request);
  return members
    .filter(({ id, role }) => ids.includes(id) && role === "STUDENT")
    .map((member) => ({ id: member.id, name: callName(member, request) }));
}

export async function showLogins(request: PageRequest): Promise<PageView> {
  const { t, field } = request;
  const [{ record }, hasCards, chosen] = await Promise.all([
    readGroup(request),
    findHasCards(request),
    listTicked(request),
  ]);
  const passwords: (typeof kinds)[number][] = chosen.length > 0 ? ["chosen"] : ["missing", "all"];
  return makePage("logins", t("logins.title"), {
    group: record,
    chosen,
    kind: field("kind") || passwords[0],
    kinds: hasCards ? [...passwords, "cards"] : passwords,
    hasCards,
    newPasswords: field("newPasswords") !== "no",
  });
}

type Printed = ReturnType<typeof presentCard>;

/** The QR codes by URL; none if drawing fails, because the PDF has them too. */
async function drawCodes(cards: readonly Card[], request: PageRequest): Promise<Map<string, QrPath>> {
  const urls = cards.flatMap(({ url }) => url ?? []);
  // The passwords are already made and are shown only this time.
  const drawn = urls.length === 0 ? [] : await drawQrPaths(urls, askedBy(request)).catch(() => []);
  return new Map(drawn.map((code, index) => [urls[index]!, code]));
}

/** `answer` is the PIN or picture, which is handed out separately. */
function presentCard(card: Card, request: PageRequest, codes: ReadonlyMap<string, QrPath>) {
  const { username, password, url, pin, picture, className } = card;
  const answer = picture === null ? pin : request.t(`pictures.${picture}`);
  const code = codes.get(url ?? "") ?? null;
  return { name: callName(card, request), className: className ?? "", username, password, code, answer };
}

/** Creates the passwords or cards and shows them once. */
export async function giveLogins(request: PageRequest): Promise<PageView | Redirect> {
  const { call, field, path, at } = request;
  const kind = kinds.find((one) => one === field("kind"));
  const personIds = readTicked(request);
  if (kind === undefined || (kind === "chosen" && personIds.length === 0)) return { to: `${at(group)}/logins` };
  const { record } = await readGroup(request);
  const page: CardPage = { base: at(group), pdf: `${at(group)}/cards` };
  if (kind === "cards") {
    const owners = personIds.length > 0 ? { personIds } : { groupId: path.groupId };
    return makeCards(request, { ...owners, newPasswords: field("newPasswords") !== "no", withQr: true }, page);
  }
  const body = { onlyMissing: kind === "missing", ...(personIds.length > 0 && { personIds }) };
  const cards = (await call("createGroupPasswords", { body })).map((secret) => {
    const { username, password } = secret;
    const name = callName(secret, request);
    return { name, className: record.name, username, password, code: null, answer: null };
  });
  return showCards(request, { cards, skipped: [], printId: null, page });
}

/** Where the page of the cards returns to, and where their PDF is. */
type CardPage = { base: string; pdf: string };

async function makeCards(request: PageRequest, body: AdminSchemas["LoginCardsInput"], page: CardPage) {
  const made = await request.call("createLoginCards", { body });
  const codes = await drawCodes(made.cards, request);
  const cards = made.cards.map((card) => presentCard(card, request, codes));
  const skipped = made.skipped.map((one) => ({ name: callName(one, request), reason: one.reason }));
  return showCards(request, { cards, skipped, printId: made.printId, page });
}

type Made = { cards: Printed[]; skipped: { name: string; reason: string }[]; printId: string | null; page: CardPage };

async function showCards(request: PageRequest, { page, ...made }: Made): Promise<PageView> {
  const { school, signInAddress, at } = request;
  // The passwords are already made and are shown only this time, also without a logo that cannot be read.
  const logo = (await findSchoolLogo(request).catch(() => null)) && at(schoolLogo);
  return makePage("cards", request.t("cards.title"), { ...made, ...page, school, signInAddress, logo });
}

export async function revokeCards({ call, path, at }: PageRequest): Promise<Redirect> {
  const { revoked } = await call("revokeLoginCards", { body: { groupId: path.groupId } });
  return { to: at(group), done: "cardsRevoked", count: revoked };
}

/** The cards as PDF, which can be downloaded once. */
export async function printCards(request: PageRequest): Promise<Download> {
  const { call, field, t, locale: language } = request;
  const path = { cardPrintId: field("printId") };
  const file = await call("printLoginCards", { path, query: { language }, signal: leavingOf(request) });
  return makeFile(file, t("words.loginCards"), "pdf");
}

/** A class teacher reads the person from the members of the class. */
const readOwner = (request: PageRequest) => (isMemberPage(request) ? readMember(request) : request.call("getPerson"));

function oneCardPage(request: PageRequest): CardPage {
  const base = personAddress(request);
  return { base, pdf: `${base}/card/pdf` };
}

/** Offers a card for one person. If they have no password, the card gets one unless the reader chooses otherwise. */
export async function showOneCard(request: PageRequest): Promise<PageView> {
  const { t, field } = request;
  const [person, cards, hasCards] = await Promise.all([
    readOwner(request),
    listLoginCards(request),
    findHasCards(request),
  ]);
  const { base } = oneCardPage(request);
  return makePage("one-card", t("oneCard.title"), {
    base,
    fullName: callName(person, request),
    former: cards.find(({ revokedAt }) => revokedAt === null) ?? null,
    hasCards,
    newPasswords: field("newPasswords") === "" ? !person.hasLogin : field("newPasswords") === "yes",
  });
}

export async function makeOneCard(request: PageRequest): Promise<PageView> {
  const { path, field } = request;
  const withQr = await findHasCards(request);
  const newPasswords = !withQr || field("newPasswords") === "yes";
  return makeCards(request, { personIds: [path.personId], newPasswords, withQr }, oneCardPage(request));
}
