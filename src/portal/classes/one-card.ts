import type { AdminSchemas } from "../../admin/index.ts";
import {
  findHasCards,
  listLoginCards,
  nameOf,
  Refused,
  unwrap,
  unwrapPage,
  type PageRequest,
  type PageView,
} from "../frame/index.ts";
import { groupAddress } from "./group-record.ts";
import { makeCards, type CardPage } from "./logins.ts";

const mostMembers = 1000;

/** Errors: Refused for a person who is not in the group. */
export async function readMember({ api, path }: PageRequest): Promise<AdminSchemas["AdminMember"]> {
  const params = { path, query: { limit: mostMembers } };
  const { items } = await unwrapPage(api.GET("/admin/v1/groups/{groupId}/members", { params }));
  const member = items.find(({ id }) => id === path.personId);
  if (member === undefined) throw new Refused(404, { code: "person_not_found" });
  return member;
}

const isMemberPage = ({ param }: PageRequest): boolean => param("groupId") !== "";

/** A class teacher reads the person from the members of the class. */
const readOwner = (request: PageRequest) =>
  isMemberPage(request)
    ? readMember(request)
    : unwrap(request.api.GET("/admin/v1/people/{personId}", { params: { path: request.path } }));

function pageOf(request: PageRequest): CardPage {
  const { path } = request;
  const base = isMemberPage(request)
    ? `${groupAddress(request)}/members/${path.personId}`
    : `/admin/schools/${path.schoolId}/people/${path.personId}`;
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
