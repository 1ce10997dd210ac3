import { randomUUID } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import { askFor, exchange, getAppToken, getUserTokens, postToken, signOn } from "../../support/token.ts";
import { countPending, listPeople } from "../faults/compare.ts";
import { makeWorld, startReceiver, type Receiver, type World } from "../faults/world.ts";
import type { Ends } from "../shared/ends.ts";
import { untilReady } from "../shared/ready.ts";
import { startProcess, type, type Process } from "../shared/serve.ts";
import { until } from "../shared/until.ts";
import type { ArchivedServer } from "./pgbackrest.ts";

const root = join(import.meta.dirname, "../../..");
const scopes = ["openid", "offline_access"] as const;
const peopleBefore = 5;

type Given = { server: ArchivedServer; folder: string; ends: Ends };
type Stage = Given & { world: World; receiver: Receiver };
type Service = { url: string; stop(): Promise<number | null> };

/** Plays the loss and the restore; answers what is wrong. */
export async function playAndRestore(given: Given): Promise<string[]> {
  const { server, ends } = given;
  const receiver = await ends.keep(startReceiver(), (started) => started.close());
  const stage = {
    ...given,
    receiver,
    world: await makeWorld(server.url(), receiver.url.replace("receiver.test", "127.0.0.1")),
  };
  await timed("full backup", () => server.backUp());
  const service = await startService(stage);
  const before = await playBefore(stage, service);
  await playAfter(stage, service, before);
  await service.stop();
  await server.archive();
  await timed(`restore to ${before.at.toISOString()}`, () => server.restore(before.at));
  await timed("finish-restore", () => type(root, ["finish-restore", "--yes"], envOf(stage)));
  const restored = await startService(stage);
  const wrongs = await judge(stage, restored, before);
  await restored.stop();
  return wrongs;
}

async function timed(what: string, work: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  await work();
  console.log(`${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

const envOf = ({ server }: Stage) => ({ DATABASE_URL: server.url(), WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" });

async function startService(stage: Stage): Promise<Service> {
  const logFile = join(stage.folder, "service.log");
  const started: Process = await startProcess({ root, role: "all", logFile, env: envOf(stage) });
  stage.ends.add(() => started.stop());
  await untilReady([started]);
  return { url: `http://localhost:${started.port}`, stop: () => started.stop() };
}

/** What there is at the moment that the server is restored to. */
async function playBefore(stage: Stage, service: Service) {
  const { world } = stage;
  const staff = await getAppToken(service, world.staff, ["admin:read", "admin:write"]);
  for (let n = 0; n < peopleBefore; n++) await createPerson(stage, service, staff);
  await untilSent(stage);
  const token = await getAppToken(service, world.app, ["people:read"]);
  const signedOn = await signOn(service, world.app, world.login, { scopes });
  const { browser } = signedOn;
  const tokens = await getUserTokens(service, world.app, world.login, { scopes, browser });
  const before = {
    staff,
    token,
    signedOn,
    refresh: { grant_type: "refresh_token", refresh_token: tokens.refresh_token! },
    cursor: (await readChanges(service, token)).next,
    keys: await readKeys(service),
    people: new Set((await listPeople(service.url, world)).keys()),
  };
  return { ...before, at: await readTime(stage) };
}

type Before = Awaited<ReturnType<typeof playBefore>>;

/** Uses what was there, deletes everybody and makes somebody new. */
async function playAfter(stage: Stage, service: Service, before: Before): Promise<void> {
  const { app } = stage.world;
  const used = [
    (await exchange(service, app, before.signedOn)).status,
    (await postToken(service, app, before.refresh)).status,
  ];
  if (used.some((status) => status !== 200))
    throw new Error(`The code and the refresh token are not good: ${used.join(", ")}.`);
  for (const id of before.people) await send(`${service.url}/admin/v1/people/${id}/soft-deletion`, before.staff);
  await createPerson(stage, service, before.staff);
  await untilSent(stage);
}

async function judge(stage: Stage, service: Service, before: Before): Promise<string[]> {
  const { world, receiver } = stage;
  const wrongs: string[] = [];
  const claim = (what: string, isSo: boolean) => {
    console.log(`  ${isSo ? "ok   " : "FAULT"} ${what}`);
    if (!isSo) wrongs.push(`not so: ${what}`);
  };
  const sentSince = receiver.counts().repeated;
  claim(
    "a code that was used gives nothing",
    (await exchange(service, world.app, before.signedOn)).body.error === "invalid_grant",
  );
  claim(
    "a refresh token that was used gives nothing",
    (await postToken(service, world.app, before.refresh)).body.error === "invalid_grant",
  );
  claim("a token of before is refused", (await readChanges(service, before.token)).status === 401);
  const asked = askFor(service, world.app, { scopes });
  const back = (await before.signedOn.browser.once(asked.address)).headers.get("location");
  claim("a session of before asks for the password", /^[^?]*\/interaction\//.test(back ?? ""));
  claim("the signing keys are the same", (await readKeys(service)) === before.keys);
  const token = await getAppToken(service, world.app, ["people:read"]);
  claim("a cursor of before is gone", (await readChanges(service, token, before.cursor)).status === 410);
  const people = new Set((await listPeople(service.url, world)).keys());
  claim("the deleted are there, and nobody else", same(people, before.people));
  const staff = await getAppToken(service, world.staff, ["admin:read", "admin:write"]);
  const made = await createPerson(stage, service, staff);
  await untilSent(stage);
  claim("a new change is sent", receiver.people.has(made));
  claim("nothing that was sent before is sent again", receiver.counts().repeated === sentSince);
  const tokens = await getUserTokens(service, world.app, world.login, { scopes });
  claim("people sign in again", tokens.id_token !== undefined);
  return wrongs;
}

const same = (one: Set<string>, other: Set<string>): boolean =>
  one.size === other.size && [...one].every((id) => other.has(id));

async function send(url: string, token: string, body: object = {}): Promise<unknown> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
  };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} of ${url}: ${text}`);
  return text === "" ? null : JSON.parse(text);
}

async function createPerson({ world }: Stage, { url }: Service, token: string): Promise<string> {
  const name = { firstFull: "Ada", firstCall: "Ada", last: "Beispiel" };
  const wanted = { schoolIds: [world.school], role: "STUDENT", name, groupIds: [world.group] };
  return ((await send(`${url}/admin/v1/people`, token, wanted)) as { id: string }).id;
}

async function readChanges({ url }: Service, token: string, after?: string): Promise<{ status: number; next: string }> {
  const query = after === undefined ? "" : `?after=${encodeURIComponent(after)}`;
  const answer = await fetch(`${url}/idm/ep/v1/changes${query}`, { headers: { authorization: `Bearer ${token}` } });
  const { next } = (await answer.json()) as { next: string };
  return { status: answer.status, next };
}

async function readKeys({ url }: Service): Promise<string> {
  const discovery = await fetch(`${url}/.well-known/openid-configuration`);
  const { jwks_uri } = (await discovery.json()) as { jwks_uri: string };
  return (await fetch(jwks_uri)).text();
}

const untilSent = ({ server }: Stage): Promise<void> =>
  until("everything is sent", async () => (await countPending(server.url())) === 0);

async function readTime({ server }: Stage): Promise<Date> {
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  const { rows } = await client.query<{ now: Date }>("SELECT clock_timestamp() AS now").finally(() => client.end());
  return rows[0]!.now;
}
