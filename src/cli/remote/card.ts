import type { GroupId, PersonId, SchoolId } from "../../directory/index.ts";
import type { CardId, ListedCard } from "../../accounts/index.ts";
import { writeNewFile } from "./new-file.ts";
import { bodyOf, dateOf, firstEntries, given, once, type Remote, type Schemas } from "../admin-api.ts";

const ofSchool = "/admin/v1/schools/{schoolId}/login-cards";

type Asked = { schoolId: SchoolId; personId: PersonId | undefined; after: string | undefined; limit: number };

export async function listCards({ api }: Remote, asked: Asked): Promise<ListedCard[]> {
  const { schoolId, personId, after, limit } = asked;
  const read = (page: object) =>
    api.GET(ofSchool, { params: { path: { schoolId }, query: { ...given({ person: personId }), ...page } } });
  return (await firstEntries(read, { limit, after, idOf: ({ id }) => id })).map((card) => ({
    ...card,
    id: card.id as CardId,
    personId: card.personId as PersonId,
    createdAt: new Date(card.createdAt),
    lastUsedAt: dateOf(card.lastUsedAt),
    revokedAt: dateOf(card.revokedAt),
  }));
}

/** Answers how many there were. */
export async function revokeCards(
  { api }: Remote,
  schoolId: SchoolId,
  personIds: readonly PersonId[] | undefined,
): Promise<number> {
  const body = personIds === undefined ? { everybody: true as const } : { personIds: [...personIds] };
  const params = { path: { schoolId } };
  return (await bodyOf(api.POST(`${ofSchool}/revocation`, { params, body }))).revoked;
}

type Wanted = { groupId: GroupId; file: string; newPasswords: boolean; withQr: boolean };

/**
 * Makes cards of the students of a group and writes them to a new file that only its owner can read.
 *
 * Errors: where the file exists, before anything is made.
 */
export async function printCards(
  { api }: Remote,
  { groupId, file, newPasswords, withQr }: Wanted,
): Promise<Pick<Schemas["MadeLoginCards"], "cards" | "skipped">> {
  const group = await bodyOf(api.GET("/admin/v1/groups/{groupId}", { params: { path: { groupId } } }));
  const path = { schoolId: group.schoolId };
  return writeNewFile(file, async () => {
    const body = { groupId, newPasswords, withQr };
    const made = await bodyOf(api.POST(ofSchool, { params: { path, ...once() }, body }));
    const print = { path: { ...path, cardPrintId: made.printId } };
    const pdf: unknown = await bodyOf(
      api.POST(`${ofSchool}/prints/{cardPrintId}`, { params: print, parseAs: "arrayBuffer" }),
    );
    return { ...made, content: new Uint8Array(pdf as ArrayBuffer) };
  });
}
