import type { AdminSchemas } from "../../admin/index.ts";
import {
  askedBy,
  drawQrPaths,
  findHasCards,
  findSchoolLogo,
  leavingOf,
  listMembers,
  nameOf,
  schoolLogoAddress,
  unwrap,
  type Download,
  type PageRequest,
  type PageView,
  type QrPath,
  type Redirect,
} from "../frame/index.ts";
import { groupAddress, readGroup } from "./group-record.ts";

type Card = AdminSchemas["MadeLoginCard"];
type Secret = AdminSchemas["NamedLoginSecret"];

/** `missing`, `all` and `chosen` create passwords; `cards` creates cards with a QR code. */
const kinds = ["missing", "all", "chosen", "cards"] as const;
type Kind = (typeof kinds)[number];

const mostChosen = 200;

/** The people who were ticked in the list of the members. */
const readChosen = ({ req, typed }: PageRequest): string[] => {
  const asked = typed["person"] ?? [req.query["person"] ?? []].flat();
  return [...new Set(asked.filter((id) => typeof id === "string"))].slice(0, mostChosen);
};

async function listChosen(request: PageRequest): Promise<{ id: string; name: string }[]> {
  const ids = readChosen(request);
  const members = ids.length === 0 ? [] : await listMembers(request);
  return members
    .filter(({ id, role }) => ids.includes(id) && role === "STUDENT")
    .map((member) => ({ id: member.id, name: nameOf(member, request) }));
}

export async function showLogins(request: PageRequest): Promise<PageView> {
  const { t, field } = request;
  const [{ record: group }, hasCards, chosen] = await Promise.all([
    readGroup(request),
    findHasCards(request),
    listChosen(request),
  ]);
  const passwords: Kind[] = chosen.length > 0 ? ["chosen"] : ["missing", "all"];
  const model = { group, base: groupAddress(request), chosen, kind: field("kind") || passwords[0] };
  const offered: Kind[] = hasCards ? [...passwords, "cards"] : passwords;
  const view = { ...model, kinds: offered, hasCards, newPasswords: field("newPasswords") !== "no" };
  return { title: t("logins.title"), view: "logins", model: view };
}

type Printed = {
  name: string;
  className: string;
  username: string;
  password: string | null;
  code: QrPath | null;
  /** The PIN or picture, which is handed out separately. */
  answer: string | null;
};

/** The QR codes by URL; none if drawing fails, because the PDF has them too. */
async function drawCodes(cards: readonly Card[], request: PageRequest): Promise<Map<string, QrPath>> {
  const urls = cards.flatMap(({ url }) => url ?? []);
  // The passwords are already made and are shown only this time.
  const drawn = urls.length === 0 ? [] : await drawQrPaths(urls, askedBy(request)).catch(() => []);
  return new Map(drawn.map((code, index) => [urls[index]!, code]));
}

function fromCard(card: Card, request: PageRequest, codes: ReadonlyMap<string, QrPath>): Printed {
  const { username, password, url, pin, picture, className } = card;
  const answer = picture === null ? pin : request.t(`pictures.${picture}`);
  const code = codes.get(url ?? "") ?? null;
  return { name: nameOf(card, request), className: className ?? "", username, password, code, answer };
}

const fromSecret = (secret: Secret, request: PageRequest, className: string): Printed => {
  const { username, password } = secret;
  return { name: nameOf(secret, request), className, username, password, code: null, answer: null };
};

/** Creates the passwords or cards and shows them once. */
export async function giveLogins(request: PageRequest): Promise<PageView | Redirect> {
  const { field } = request;
  const kind = kinds.find((one) => one === field("kind"));
  if (kind === undefined) return { to: `${groupAddress(request)}/logins` };
  const { record: group } = await readGroup(request);
  const personIds = readChosen(request);
  if (kind === "chosen" && personIds.length === 0) return { to: `${groupAddress(request)}/logins` };
  if (kind !== "cards") return givePasswords(request, { kind, personIds, className: group.name });
  const whom = personIds.length > 0 ? { personIds } : { groupId: request.path.groupId };
  const body = { ...whom, newPasswords: field("newPasswords") !== "no", withQr: true };
  return makeCards(request, body, pageOf(request));
}

/** Where the page of the cards returns to, where their PDF is, and which page of the navigation it belongs to. */
export type CardPage = { base: string; pdf: string; page: "classes" | "people" };

const pageOf = (request: PageRequest): CardPage => {
  const base = groupAddress(request);
  return { base, pdf: `${base}/cards`, page: "classes" };
};

/** Creates cards and shows them once. */
export async function makeCards(
  request: PageRequest,
  body: AdminSchemas["LoginCardsInput"],
  page: CardPage,
): Promise<PageView> {
  const { api, path, idempotencyKey } = request;
  const params = { path, header: { "Idempotency-Key": idempotencyKey } };
  const made = await unwrap(api.POST("/admin/v1/schools/{schoolId}/login-cards", { params, body }));
  const codes = await drawCodes(made.cards, request);
  const cards = made.cards.map((card) => fromCard(card, request, codes));
  const skipped = made.skipped.map((one) => ({ name: nameOf(one, request), reason: one.reason }));
  return showCards(request, { cards, skipped, printId: made.printId, page });
}

async function givePasswords(
  request: PageRequest,
  { kind, personIds, className }: { kind: Exclude<Kind, "cards">; personIds: string[]; className: string },
): Promise<PageView> {
  const { api, path, idempotencyKey } = request;
  const params = { path, header: { "Idempotency-Key": idempotencyKey } };
  const body = { onlyMissing: kind === "missing", ...(personIds.length > 0 && { personIds }) };
  const made = await unwrap(api.POST("/admin/v1/groups/{groupId}/logins", { params, body }));
  const cards = made.map((secret) => fromSecret(secret, request, className));
  return showCards(request, { cards, skipped: [], printId: null, page: pageOf(request) });
}

type Made = { cards: Printed[]; skipped: { name: string; reason: string }[]; printId: string | null; page: CardPage };

async function showCards(request: PageRequest, { page: { page, ...addresses }, ...made }: Made): Promise<PageView> {
  const { school, signInAddress } = request;
  const model = { ...made, ...addresses, school, signInAddress, logo: await logoFor(request) };
  return { title: request.t("cards.title"), view: "cards", model, page };
}

/** Null if the logo for printed cards cannot be read. */
const logoFor = async (request: PageRequest): Promise<string | null> =>
  // The passwords are already made and are shown only this time.
  (await findSchoolLogo(request).catch(() => null)) && schoolLogoAddress(request);

export async function revokeCards(request: PageRequest): Promise<Redirect> {
  const { api, path } = request;
  const given = { params: { path }, body: { groupId: path.groupId } };
  const { revoked } = await unwrap(api.POST("/admin/v1/schools/{schoolId}/login-cards/revocation", given));
  return { to: groupAddress(request), done: "cardsRevoked", count: revoked };
}

/** The cards as PDF, which can be downloaded once. */
export async function printCards(request: PageRequest): Promise<Download> {
  const { api, field, t, locale: language } = request;
  const path = { ...request.path, cardPrintId: field("printId") };
  const at = "/admin/v1/schools/{schoolId}/login-cards/prints/{cardPrintId}";
  const pdf: unknown = await unwrap(
    api.POST(at, { params: { path, query: { language } }, parseAs: "arrayBuffer", signal: leavingOf(request) }),
  );
  return { file: Buffer.from(pdf as ArrayBuffer), type: "application/pdf", name: `${t("words.loginCards")}.pdf` };
}
