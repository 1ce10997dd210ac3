import { findSignOnRight, findSubject } from "../../src/access/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { listTiles } from "../../src/portal/index.ts";
import type { TestService } from "../support/service.ts";
import { getAppToken, getUserTokens, giveLogin } from "../support/token.ts";
import type { Login, TestApp } from "../support/token.ts";
import type { World } from "./matrix-world.ts";

type Row = Record<string, unknown>;
type Reading = { service: TestService; world: World; labels: Map<string, string>; idOf: (personId: string) => string };
/** How the passwords of a world are known; without one they are set. */
export type FindLogin = (personId: PersonId) => Login | undefined;

/** Prints, app by app, what every endpoint shows of every school, group and person. */
export async function printMatrix(
  service: TestService,
  world: World,
  findLogin: FindLogin = () => undefined,
): Promise<string> {
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
    lines.push(...(await printUserContext(reading, app, findLogin)), "");
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
  const lines: string[] = [];
  const read = async (path: string, title = path) =>
    lines.push(`${title} → ${await ask(reading, token, `/idm/ep/v1${path}`)}`);

  await read("/schools");
  for (const [label, id] of Object.entries(schools)) {
    await read(`/schools/${id}`, `/schools/${label}`);
    await read(`/schools/${id}/users`, `/schools/${label}/users`);
    for (const kind of ["groups", "people"]) {
      await read(`/schools/${id}/${kind}`, `/schools/${label}/${kind}`);
      await read(`/schools/${id}/${kind}?show-deleted=true`, `/schools/${label}/${kind}?show-deleted=true`);
    }
  }
  for (const [label, id] of Object.entries(groups)) await read(`/groups/${id}`, `/groups/${label}`);
  for (const [label, id] of Object.entries(people)) await read(`/users/${reading.idOf(id)}`, `/users/${label}`);
  for (const [label, id] of Object.entries(people)) await read(`/people/${reading.idOf(id)}`, `/people/${label}`);
  lines.push(`personen-info → ${await ask(reading, token, "/idm/schulconnex/v1/personen-info")}`);
  return lines;
}

async function printSignOn(
  { service: { db, clock }, world, labels }: Reading,
  { clientId }: TestApp,
): Promise<string[]> {
  const lines: string[] = [];
  for (const [label, personId] of Object.entries(world.people)) {
    const right = await findSignOnRight(db.pool, { clientId, personId }, clock());
    const where =
      right.kind === "allowed" ? `at ${right.schools.map((school) => labels.get(school.id)).join(", ")}` : right.reason;
    const subject = await findSubject(db.pool, { clientId, personId });
    const tile = (await listTiles(db.pool, personId)).some((shown) => shown.clientId === clientId) ? ", tile" : "";
    lines.push(`sign-on ${label} → ${where}${tile}, groups ${list(subject?.groups ?? [], labels)}`);
  }
  return lines;
}

async function printUserContext(reading: Reading, app: TestApp, findLogin: FindLogin): Promise<string[]> {
  const { service, world } = reading;
  const lines: string[] = [];
  for (const [label, personId] of Object.entries(world.people)) {
    const right = await findSignOnRight(service.db.pool, { clientId: app.clientId, personId }, service.clock());
    if (right.kind === "refused") continue;
    const registered = await service.db.prisma.app.findUniqueOrThrow({ where: { clientId: app.clientId } });
    if (!registered.scopes.includes("people:read")) continue;
    const login = findLogin(personId) ?? (await giveLogin(service.db, personId));
    const { access_token } = await getUserTokens(service, app, login, {
      scopes: ["openid", "people:read"],
      pkce: registered.pkceRequired,
    });
    await placeOwnIds(service, app);
    lines.push(`person-info ${label} → ${await ask(reading, access_token, "/idm/schulconnex/v1/person-info")}`);
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
