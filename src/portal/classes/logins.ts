import type { AdminSchemas } from "../../admin/index.ts";
import { limitThreaded } from "../../platform/threads/index.ts";
import {
  askedBy,
  findSchoolLogo,
  leavingOf,
  schoolLogoAddress,
  take,
  takeIfThere,
  type Gone,
  type Handed,
  type Shown,
  type Visit,
} from "../frame/index.ts";
import type { QrPath } from "./qr-path.ts";
import { groupAddress, nameOf, pathOf, readGroup } from "./words.ts";

type Card = AdminSchemas["MadeLoginCard"];
type Secret = AdminSchemas["NamedLoginSecret"];

/** `missing` and `all` give passwords; `cards` makes cards with a QR code. */
const kinds = ["missing", "all", "cards"] as const;
type Kind = (typeof kinds)[number];

/** Offers what the members may get. Shape: a class teacher does not know whether the school uses QR codes. */
export async function showLogins(visit: Visit): Promise<Shown> {
  const { api, t, part, field } = visit;
  const path = { schoolId: part("schoolId") };
  const [{ record: group }, settings] = await Promise.all([
    readGroup(visit),
    visit.may("getCardSettings")
      ? takeIfThere(api.GET("/admin/v1/schools/{schoolId}/card-settings", { params: { path } }))
      : null,
  ]);
  const model = { group, base: groupAddress(visit), kind: field("kind") || "missing" };
  const view = { ...model, hasCards: settings?.enabled ?? true, newPasswords: field("newPasswords") !== "no" };
  return { title: t("logins.title"), view: "logins", model: view };
}

/** What stands on the page that is printed. */
type Printed = {
  name: string;
  className: string;
  username: string;
  password: string | null;
  code: QrPath | null;
  /** The PIN or the picture, which is handed out apart. */
  answer: string | null;
};

const drawQrPaths = limitThreaded<string[], QrPath[]>({
  module: new URL("./qr-paths.ts", import.meta.url),
  seconds: 60,
});

/** The QR codes of cards by what they say; none where they cannot be drawn now: they are in the PDF too. */
async function drawCodes(cards: readonly Card[], visit: Visit): Promise<Map<string, QrPath>> {
  const urls = cards.flatMap(({ url }) => url ?? []);
  // The passwords are made by now and shown this one time.
  const drawn = urls.length === 0 ? [] : await drawQrPaths(urls, askedBy(visit)).catch(() => []);
  return new Map(drawn.map((code, index) => [urls[index]!, code]));
}

function fromCard(card: Card, visit: Visit, codes: ReadonlyMap<string, QrPath>): Printed {
  const { username, password, url, pin, picture, className } = card;
  const answer = picture === null ? pin : visit.t(`pictures.${picture}`);
  const code = codes.get(url ?? "") ?? null;
  return { name: nameOf(card, visit), className: className ?? "", username, password, code, answer };
}

const fromSecret = (secret: Secret, visit: Visit, className: string): Printed => {
  const { username, password } = secret;
  return { name: nameOf(secret, visit), className, username, password, code: null, answer: null };
};

/** Makes what was chosen, and shows it this one time. */
export async function giveLogins(visit: Visit): Promise<Shown | Gone> {
  const { field } = visit;
  const kind = kinds.find((one) => one === field("kind"));
  if (kind === undefined) return { to: `${groupAddress(visit)}/logins` };
  const { record: group } = await readGroup(visit);
  if (kind === "cards") return makeCards(visit);
  return givePasswords(visit, { kind, className: group.name });
}

async function makeCards(visit: Visit): Promise<Shown> {
  const { api, part, field, once } = visit;
  const body = { groupId: part("groupId"), newPasswords: field("newPasswords") !== "no", withQr: true };
  const params = { path: { schoolId: part("schoolId") }, header: { "Idempotency-Key": once } };
  const made = await take(api.POST("/admin/v1/schools/{schoolId}/login-cards", { params, body }));
  const codes = await drawCodes(made.cards, visit);
  const cards = made.cards.map((card) => fromCard(card, visit, codes));
  const skipped = made.skipped.map((one) => ({ name: nameOf(one, visit), reason: one.reason }));
  return showCards(visit, { cards, skipped, printId: made.printId });
}

async function givePasswords(
  visit: Visit,
  { kind, className }: { kind: Exclude<Kind, "cards">; className: string },
): Promise<Shown> {
  const { api, once } = visit;
  const params = { path: pathOf(visit), header: { "Idempotency-Key": once } };
  const body = { onlyMissing: kind === "missing" };
  const made = await take(api.POST("/admin/v1/groups/{groupId}/logins", { params, body }));
  const cards = made.map((secret) => fromSecret(secret, visit, className));
  return showCards(visit, { cards, skipped: [], printId: null });
}

type Made = { cards: Printed[]; skipped: { name: string; reason: string }[]; printId: string | null };

async function showCards(visit: Visit, made: Made): Promise<Shown> {
  const model = { ...made, base: groupAddress(visit), logo: await logoFor(visit) };
  return { title: visit.t("cards.title"), view: "cards", model };
}

/** Where the logo for printed cards is; null for a school without one, and where it cannot be read now. */
export const logoFor = async (visit: Visit): Promise<string | null> =>
  // The passwords are made by now and shown this one time.
  (await findSchoolLogo(visit).catch(() => null)) && schoolLogoAddress(visit);

/** Ends all cards of the members. */
export async function revokeCards(visit: Visit): Promise<Gone> {
  const { api, part } = visit;
  const [params, body] = [{ path: { schoolId: part("schoolId") } }, { groupId: part("groupId") }];
  const { revoked } = await take(api.POST("/admin/v1/schools/{schoolId}/login-cards/revocation", { params, body }));
  return { to: groupAddress(visit), done: "cardsRevoked", count: revoked };
}

/** The cards as PDF, which is handed out once. */
export async function printCards(visit: Visit): Promise<Handed> {
  const { api, part, field, t, locale: language } = visit;
  const path = { schoolId: part("schoolId"), cardPrintId: field("printId") };
  const at = "/admin/v1/schools/{schoolId}/login-cards/prints/{cardPrintId}";
  const pdf: unknown = await take(
    api.POST(at, { params: { path, query: { language } }, parseAs: "arrayBuffer", signal: leavingOf(visit) }),
  );
  return { file: Buffer.from(pdf as ArrayBuffer), type: "application/pdf", name: `${t("cards.file")}.pdf` };
}
