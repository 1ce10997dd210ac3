import { appNotFound, findApp, findPersonByAppId, type ClientId } from "../../access/index.ts";
import { present } from "../present.ts";
import type { PrismaDb } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { innerOrigin } from "../../platform/http/index.ts";
import { tagOf } from "../change.ts";
import { callerOf } from "./app-views.ts";
import type { AdminHandler } from "../handler.ts";
import { invalidRequest } from "../page.ts";
import { reachesOwnApp } from "../reached.ts";
import { uuidPattern } from "../../platform/crypto/ids.ts";

/** Whom an answer can name: nobody, only people within each of these records, or without a record everybody. */
type Named = "nobody" | readonly Narrowed[];
type Narrowed = { kind: "school" | "group" | "person"; id: string };

const id = String.raw`([0-9A-Fa-f-]{36})`;
const roster = "/ims/oneroster/(?:rostering/v1p2|v1p1)";

/** The operations that an app calls with client credentials. */
const operations: readonly { path: RegExp; named: (id: string, search: URLSearchParams) => Named }[] = [
  { path: /^\/idm\/ep\/v1\/(schools|changes)$/, named: () => "nobody" },
  { path: new RegExp(`^/idm/ep/v1/schools/${id}(?:/groups)?$`), named: () => "nobody" },
  {
    path: new RegExp(`^/idm/ep/v1/schools/${id}/(?:users|people|roster)$`),
    named: (schoolId) => [{ kind: "school", id: schoolId }],
  },
  { path: new RegExp(`^/idm/ep/v1/groups/${id}$`), named: (groupId) => [{ kind: "group", id: groupId }] },
  { path: new RegExp(`^/idm/ep/v1/(?:users|people)/${id}$`), named: (personId) => [{ kind: "person", id: personId }] },
  { path: new RegExp(`^${roster}/(?:orgs|schools|academicSessions|terms|courses|classes)$`), named: () => "nobody" },
  { path: new RegExp(`^${roster}/schools/${id}/(?:classes|courses|terms)$`), named: () => "nobody" },
  {
    path: new RegExp(`^${roster}/schools/${id}/(?:students|teachers|enrollments)$`),
    named: (schoolId) => [{ kind: "school", id: schoolId }],
  },
  {
    path: new RegExp(`^${roster}/classes/${id}/(?:students|teachers)$`),
    named: (groupId) => [{ kind: "group", id: groupId }],
  },
  { path: /^\/idm\/schulconnex\/v1\/codelisten$/, named: () => "nobody" },
  { path: /^\/idm\/schulconnex\/v1\/personen-info$/, named: (_id, search) => namedByFilters(search) },
];

const filters = { "organisation.id": "school", "gruppe.id": "group", pid: "person" } as const;

/** A person in the answer matches every filter. The operation itself rejects repeated and unknown filters. */
const namedByFilters = (search: URLSearchParams): Narrowed[] =>
  [...search].flatMap(([name, value]) =>
    Object.hasOwn(filters, name) && uuidPattern.test(value)
      ? [{ kind: filters[name as keyof typeof filters], id: value.toLowerCase() }]
      : [],
  );

/** Errors: invalid invalid_request for an address that is none of these operations. */
function readNamed(address: string): Named {
  const { pathname, searchParams } = new URL(address, innerOrigin);
  for (const operation of operations) {
    const found = operation.path.exec(pathname);
    if (found !== null) return operation.named(found[1] ?? "", searchParams);
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

async function namesOnlyInvented(db: PrismaDb, named: Named, clientId: ClientId): Promise<boolean> {
  if (named === "nobody") return true;
  return (await Promise.all(named.map((one) => isInvented(db, one, clientId)))).includes(true);
}

/** A record counts as one; the changes and the roster are lists with names. */
function count(body: string): number {
  const read = JSON.parse(body) as unknown[] | Record<string, unknown>;
  if (Array.isArray(read)) return read.length;
  if ("id" in read) return 1;
  return Object.values(read).reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
}

/** Pending calls of each app in this process: a long list takes memory while it is read. */
const calls = new Map<ClientId, number>();
const mostCalls = 4;

/** Errors: rate_limited if `mostCalls` of the app are pending. */
export async function limitCalls<T>(clientId: ClientId, call: () => Promise<T>): Promise<T> {
  const running = calls.get(clientId) ?? 0;
  if (running >= mostCalls)
    throw new AppError(
      "rate_limited",
      "rate_limited",
      "Too many calls for this app are in progress. Wait until they have finished.",
    );
  calls.set(clientId, running + 1);
  try {
    return await call();
  } finally {
    const left = calls.get(clientId)! - 1;
    if (left === 0) calls.delete(clientId);
    else calls.set(clientId, left);
  }
}

export const getAppAnswer: AdminHandler<"getAppAnswer"> = async (
  { db, fetchAsApp },
  { clientId: given, query, reach, requestId },
) => {
  const clientId = given as ClientId;
  const app = reachesOwnApp(reach, clientId) ? await findApp(db.pool, clientId) : null;
  if (app === null) throw appNotFound();
  const named = readNamed(query.path);
  return limitCalls(clientId, async () => {
    const answer = await fetchAsApp(await callerOf(db, app), requestId)(new Request(innerOrigin + query.path));
    const body = await answer.text();
    const isGiven = answer.status === 200;
    const isSeen = !isGiven || reach.all || (await namesOnlyInvented(db, named, clientId));
    const header = (name: string) => (isSeen ? answer.headers.get(name) : null);
    const shown = present("AppAnswer", {
      path: query.path,
      status: answer.status,
      etag: header("etag"),
      link: header("link"),
      contentType: answer.headers.get("content-type") ?? "",
      count: isGiven ? count(body) : null,
      body: isSeen ? body : null,
    });
    // The tag of the answer says all of a body that can be long.
    return { status: 200, body: shown, headers: { ETag: tagOf(shown, shown.etag === null ? [] : ["body"]) } };
  });
};
