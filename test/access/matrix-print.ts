import { randomBytes } from "node:crypto";
import { findSignOnRight, findSubject, recordFirstSignIn, scopeToWire } from "../../src/access/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { listTiles } from "../../src/portal/index.ts";
import { hashId } from "../../src/sign-on/protocol/storage/artifact.ts";
import type { TestService } from "../support/service.ts";
import { inBatches } from "../support/in-batches.ts";
import { getAppToken } from "../support/token.ts";
import type { TestApp } from "../support/token.ts";
import type { World } from "./matrix-world.ts";

type Row = Record<string, unknown>;
type Reading = { service: TestService; world: World; labels: Map<string, string>; idOf: (personId: string) => string };

/** Prints, app by app, what every endpoint shows of every school, group and person. */
export async function printMatrix(service: TestService, world: World): Promise<string> {
  const { schools, groups, people } = world;
  const lines: string[] = [];
  for (const [name, app] of Object.entries(world.apps)) {
    const idOf = (await placeOwnIds(service, app)) ? ownIdOf : (id: string) => id;
    const labels = new Map([
      ...[schools, groups].flatMap((kind) => Object.entries(kind).map(([label, id]) => [id as string, label] as const)),
      ...Object.entries(people).map(([label, id]) => [idOf(id), label] as const),
    ]);
    const reading = { service, world, labels, idOf };
    lines.push(`## ${name}`, ...(await printAppContext(reading, app)), ...(await printSignOn(reading, app)));
    // Last, because signing in makes a user.
    lines.push(...(await printUserContext(reading, app)), "");
  }
  return lines.join("\n");
}

/** An id that differs from the person's, in the same place of an order. */
const ownIdOf = (personId: string) => `${personId.slice(0, 19)}f${personId.slice(20)}`;

/** Gives the people whom the app knows such ids; returns whether it has ids of its own. */
async function placeOwnIds({ db }: TestService, { clientId }: TestApp): Promise<boolean> {
  const { sector } = await db.prisma.app.findUniqueOrThrow({ where: { clientId } });
  const place =
    "UPDATE pairwise_id SET id = overlay(record_id::text PLACING 'f' FROM 20 FOR 1)::uuid WHERE sector = $1";
  if (sector !== null) await db.pool.query(place, [sector]);
  return sector !== null;
}

async function printAppContext(reading: Reading, app: TestApp): Promise<string[]> {
  if (app.clientSecret === null) return ["no app context: the app is public"];
  const registered = await reading.service.db.prisma.app.findUniqueOrThrow({ where: { clientId: app.clientId } });
  const scopes = registered.scopes.filter((scope) => scope.endsWith(":read"));
  const token = await getAppToken(reading.service, app, scopes as Parameters<typeof getAppToken>[2]);
  const { schools, groups, people } = reading.world;
  const ofSchool = ["", "/users", "/groups", "/groups?show-deleted=true", "/people", "/people?show-deleted=true"];
  const idm = (title: string, path = title) => [title, `/idm/ep/v1${path}`] as const;
  const reads = [
    idm("/schools"),
    ...Object.entries(schools).flatMap(([label, id]) =>
      ofSchool.map((list) => idm(`/schools/${label}${list}`, `/schools/${id}${list}`)),
    ),
    ...Object.entries(groups).map(([label, id]) => idm(`/groups/${label}`, `/groups/${id}`)),
    ...Object.entries(people).map(([label, id]) => idm(`/users/${label}`, `/users/${reading.idOf(id)}`)),
    ...Object.entries(people).map(([label, id]) => idm(`/people/${label}`, `/people/${reading.idOf(id)}`)),
    ["personen-info", "/idm/schulconnex/v1/personen-info"] as const,
  ];
  return inBatches(reads, async ([title, path]) => `${title} → ${await ask(reading, token, path)}`);
}

async function printSignOn(
  { service: { db, clock }, world, labels }: Reading,
  { clientId }: TestApp,
): Promise<string[]> {
  return inBatches(Object.entries(world.people), async ([label, personId]) => {
    const right = await findSignOnRight(db.pool, { clientId, personId }, clock());
    const where =
      right.kind === "allowed" ? `at ${right.schools.map((school) => labels.get(school.id)).join(", ")}` : right.reason;
    const subject = await findSubject(db.pool, { clientId, personId });
    const tile = (await listTiles(db.pool, personId)).some((shown) => shown.clientId === clientId) ? ", tile" : "";
    return `sign-on ${label} → ${where}${tile}, groups ${list(subject?.groups ?? [], labels)}`;
  });
}

/** An access token of a person, as after a sign-in to the app, without the way through the pages. */
async function makeUserToken({ service }: Reading, { clientId }: TestApp, personId: PersonId): Promise<string> {
  const { db, clock } = service;
  const now = clock();
  await recordFirstSignIn(db, { clientId, personId, at: now });
  const credential =
    (await db.prisma.credential.findUnique({ where: { personId } })) ??
    (await db.prisma.credential.create({ data: { personId, username: `user-${personId}`, updatedAt: now } }));
  const token = randomBytes(32).toString("base64url");
  const payload = { scope: `openid ${scopeToWire("schultor", "people:read")}` };
  const { generation } = credential;
  const expiresAt = new Date(now.getTime() + 3_600_000);
  const found = { kind: "AccessToken", clientId, personId, generation, payload, expiresAt };
  await db.prisma.oidcArtifact.create({ data: { ...found, idHash: new Uint8Array(hashId(token)) } });
  return token;
}

async function printUserContext(reading: Reading, app: TestApp): Promise<string[]> {
  const { service, world } = reading;
  const lines: string[] = [];
  const registered = await service.db.prisma.app.findUniqueOrThrow({ where: { clientId: app.clientId } });
  if (!registered.scopes.includes("people:read")) return [];
  for (const [label, personId] of Object.entries(world.people)) {
    const right = await findSignOnRight(service.db.pool, { clientId: app.clientId, personId }, service.clock());
    if (right.kind === "refused") continue;
    const token = await makeUserToken(reading, app, personId);
    await placeOwnIds(service, app);
    lines.push(`person-info ${label} → ${await ask(reading, token, "/idm/schulconnex/v1/person-info")}`);
  }
  return lines;
}

async function ask({ service, labels }: Reading, token: string, path: string): Promise<string> {
  const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });
  const body = (await response.json()) as Row | Row[];
  if (Array.isArray(body)) return list(body, labels);
  if (response.status === 200) return describe(body, labels);
  if (response.status === 403) return `403 ${String(body["code"])}`;
  return `${response.status} ${String(body["message"] ?? `${String(body["code"])}/${String(body["subcode"])}`)}`;
}

function list(rows: Row[], labels: Map<string, string>): string {
  return `[${rows.map((row) => describe(row, labels)).join(", ")}]`;
}

/** The label, then what the record says beside ids and names of its own. */
function describe(row: Row, labels: Map<string, string>): string {
  if ("pid" in row) return describeContexts(row, labels);
  const label = labels.get(row["id"] as string) ?? `unknown ${String(row["id"])}`;
  const said = [row["role"], row["status"]].filter((value) => value !== undefined);
  const missing = ["name", "address", "location", "officialId", "schoolingLevel"].filter((key) => row[key] === null);
  const source = row["sourceSystemIdentifier"];
  const inside = (row["members"] ?? row["groups"]) as Row[] | undefined;
  const without = missing.length > 0 ? [`without ${missing.join(", ")}`] : [];
  return [
    label,
    ...without,
    ...(source ? [`(${String(source)})`] : []),
    ...said,
    ...(inside ? [list(inside, labels)] : []),
  ].join(" ");
}

function describeContexts(row: Row, labels: Map<string, string>): string {
  const { name, stammorganisation } = row["person"] as { name: unknown; stammorganisation: Row & { id: string } };
  const missing = ["kennung", "anschrift"].filter((key) => stammorganisation[key] === null);
  const without = [...(name === null ? ["name"] : []), ...missing].join(", ");
  const contexts = row["personenkontexte"] as {
    organisation: { id: string };
    rolle: string;
    loeschung: unknown;
    gruppen: { gruppe: Row }[];
  }[];
  const told = contexts.map(({ organisation, rolle, loeschung, gruppen }) =>
    [
      labels.get(organisation.id),
      rolle,
      ...(loeschung === null ? [] : ["loeschung"]),
      list(
        gruppen.map(({ gruppe }) => ({ id: gruppe["id"] })),
        labels,
      ),
    ].join(" "),
  );
  const label = labels.get(row["pid"] as string)! + (without === "" ? "" : ` without ${without}`);
  return `${label} of ${labels.get(stammorganisation.id)!} {${told.join("; ")}}`;
}
