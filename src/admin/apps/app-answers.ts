import { appNotFound, findApp, findPersonByAppId, type ClientId } from "../../access/index.ts";
import type { PrismaDb } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { innerOrigin, makeGate } from "../../platform/http/index.ts";
import { answerShown, callerOf, countRecords } from "./app-views.ts";
import { present, type AdminHandler } from "../handler.ts";
import { invalidRequest } from "../page.ts";
import { reachesOwnApp } from "../reached.ts";
import { uuidPattern } from "../../platform/crypto/ids.ts";

type Narrowed = { kind: "school" | "group" | "person"; id: string };

const id = "([0-9A-Fa-f-]{36})";
const idm = "/idm/ep/v1";
const roster = "/ims/oneroster/(?:rostering/v1p2|v1p1)";

// The operations that an app calls with client credentials.

const withoutPeople = [
  `${idm}/(?:schools|changes)`,
  `${idm}/schools/${id}(?:/groups)?`,
  `${roster}/(?:orgs|schools|academicSessions|terms|courses|classes)`,
  `${roster}/schools/${id}/(?:classes|courses|terms)`,
  "/idm/schulconnex/v1/codelisten",
];

/** Addresses whose responses name only people of the addressed record. */
const withinRecord: readonly [path: string, kind: Narrowed["kind"]][] = [
  [`${idm}/schools/${id}/(?:users|people|roster)`, "school"],
  [`${idm}/groups/${id}`, "group"],
  [`${idm}/(?:users|people)/${id}`, "person"],
  [`${roster}/schools/${id}/(?:students|teachers|enrollments)`, "school"],
  [`${roster}/classes/${id}/(?:students|teachers)`, "group"],
];

const personenInfo = "/idm/schulconnex/v1/personen-info";
const filters = { "organisation.id": "school", "gruppe.id": "group", pid: "person" } as const;

/** A person in the answer matches every filter. The operation itself rejects repeated and unknown filters. */
const namedByFilters = (search: URLSearchParams): Narrowed[] =>
  [...search].flatMap(([name, value]) =>
    Object.hasOwn(filters, name) && uuidPattern.test(value)
      ? [{ kind: filters[name as keyof typeof filters], id: value.toLowerCase() }]
      : [],
  );

/**
 * Returns the records within each of which an answer names people, null if it names nobody. Errors: invalid
 * invalid_request for an address that is none of these operations.
 */
function readNamed(address: string): Narrowed[] | null {
  const { pathname, searchParams } = new URL(address, innerOrigin);
  const match = (path: string) => new RegExp(`^${path}$`).exec(pathname);
  if (withoutPeople.some(match)) return null;
  if (pathname === personenInfo) return namedByFilters(searchParams);
  for (const [path, kind] of withinRecord) {
    const matched = match(path);
    if (matched !== null) return [{ kind, id: matched[1]! }];
  }
  throw invalidRequest("The query parameter path is not the address of an operation that returns data.");
}

async function isInvented({ prisma, pool }: PrismaDb, { kind, id }: Narrowed, clientId: ClientId): Promise<boolean> {
  const ofSandbox = { sandbox: { clientId } };
  if (kind === "school") return (await prisma.school.count({ where: { id, ...ofSandbox } })) > 0;
  if (kind === "group") return (await prisma.group.count({ where: { id, school: ofSandbox } })) > 0;
  const affiliations = { some: { school: ofSandbox }, none: { school: { sandboxId: null } } };
  const personId = await findPersonByAppId(pool, { clientId, id });
  return personId !== null && (await prisma.person.count({ where: { id: personId, affiliations } })) > 0;
}

async function namesOnlyInvented(db: PrismaDb, named: Narrowed[] | null, clientId: ClientId): Promise<boolean> {
  if (named === null) return true;
  return (await Promise.all(named.map((one) => isInvented(db, one, clientId)))).includes(true);
}

/** Pending calls of each app in this process: a long list takes memory while it is read. */
const gate = makeGate(
  { places: 0, placesPerClient: 0, open: Infinity, openPerClient: 4, waitMs: 0 },
  () =>
    new AppError(
      "rate_limited",
      "rate_limited",
      "Too many calls for this app are in progress. Wait until they have finished.",
    ),
);

/** Errors: rate_limited if four calls of the app are pending. */
export async function limitCalls<T>(clientId: ClientId, call: () => Promise<T>): Promise<T> {
  const leave = gate.admit(clientId);
  return call().finally(leave);
}

export const getAppAnswer: AdminHandler<"getAppAnswer"> = async (
  { db, fetchAsApp },
  { clientId, query, reach, requestId },
) => {
  const app = reachesOwnApp(reach, clientId) ? await findApp(db.pool, clientId) : null;
  if (app === null) throw appNotFound();
  const named = readNamed(query.path);
  return limitCalls(clientId, async () => {
    const answer = await fetchAsApp(await callerOf(db, app), requestId)(new Request(innerOrigin + query.path));
    const body = await answer.text();
    const isGiven = answer.status === 200;
    const isSeen = !isGiven || reach.all || (await namesOnlyInvented(db, named, clientId));
    const header = (name: string) => (isSeen ? answer.headers.get(name) : null);
    const presented = present("AppAnswer", {
      path: query.path,
      status: answer.status,
      etag: header("etag"),
      link: header("link"),
      contentType: answer.headers.get("content-type") ?? "",
      count: isGiven ? countRecords(body) : null,
      body: isSeen ? body : null,
    });
    return answerShown(presented);
  });
};
