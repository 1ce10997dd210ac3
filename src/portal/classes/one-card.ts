import {
  findHasCards,
  isMemberPage,
  listLoginCards,
  nameOf,
  personAddress,
  readMember,
  unwrap,
  type PageRequest,
  type PageView,
} from "../frame/index.ts";
import { makeCards, type CardPage } from "./logins.ts";

/** A class teacher reads the person from the members of the class. */
const readOwner = (request: PageRequest) =>
  isMemberPage(request)
    ? readMember(request)
    : unwrap(request.api.GET("/admin/v1/people/{personId}", { params: { path: request.path } }));

function pageOf(request: PageRequest): CardPage {
  const base = personAddress(request);
  return { base, pdf: `${base}/card/pdf`, page: isMemberPage(request) ? "classes" : "people" };
}

/** Offers a card for one person. If they have no password, the card gets one unless the reader chooses otherwise. */
export async function showOneCard(request: PageRequest): Promise<PageView> {
  const { t, field } = request;
  const [person, cards, hasCards] = await Promise.all([
    readOwner(request),
    listLoginCards(request),
    findHasCards(request),
  ]);
  const { page, base } = pageOf(request);
  const model = {
    base,
    fullName: nameOf(person, request),
    former: cards.find(({ revokedAt }) => revokedAt === null) ?? null,
    hasCards,
    newPasswords: field("newPasswords") === "" ? !person.hasLogin : field("newPasswords") === "yes",
  };
  return { title: t("oneCard.title"), view: "one-card", model, page };
}

export async function makeOneCard(request: PageRequest): Promise<PageView> {
  const { path, field } = request;
  const withQr = await findHasCards(request);
  const newPasswords = !withQr || field("newPasswords") === "yes";
  return makeCards(request, { personIds: [path.personId], newPasswords, withQr }, pageOf(request));
}
