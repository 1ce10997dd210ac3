import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ConnectionId } from "../../src/upstream/index.ts";
import { giveLogin } from "../support/token.ts";
import { makeRunningClock } from "../support/service.ts";
import { clientId, clientSecret, startUpstreamProvider } from "../support/upstream-provider.ts";
import { encryptionKeys, makeRelyingParty } from "../support/upstream.ts";
import { makeConfigFolder, makeRemoteWorld } from "./remote-world.ts";

// The provider and the command line beside the database have the present time.
const clock = makeRunningClock();
const keys = { ENCRYPTION_KEYS: encryptionKeys[0]!.toString("base64") };
const world = await makeRemoteWorld({ clock, env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", ...keys } });
const { service, remote, here, there, make, expectSameReading, expectSameDoing } = world;
const { db } = service;
const provider = await startUpstreamProvider();
const party = makeRelyingParty(db, clock);
const secretFile = join(await makeConfigFolder(), "secret");
await writeFile(secretFile, `${clientSecret}\n`);

const create = async (school: string, ...more: string[]) =>
  (await remote.ask<{ id: ConnectionId }>("upstream", "create", "--school", school, "--name", "Own login", ...more)).id;

test("a connection, from the draft until it is deleted, beside the database and from another machine", async () => {
  const school = await make.school();
  const draft = ["upstream", "create", "--school", school, "--profile", "iserv", "--name", "IServ"];
  await expectSameDoing(draft);
  const id = await create(school, "--profile", "oidc", "--issuer", provider.issuer, "--client-id", clientId);
  expect(await remote.refusal("upstream", "check", id)).toMatchObject({ exitCode: 3, code: "upstream_incomplete" });
  const changed = ["--secret-file", secretFile, "--rule-claim", "import_id", "--normalisation", "trim,lower_case"];
  expect(await remote.ask("upstream", "update", id, ...changed, "--scope", "openid")).toEqual({
    id,
    changed: ["hasSecret", "normalisations", "ruleClaim", "scopes"],
  });
  expect(await remote.ask("upstream", "update", id, "--unset", "rule-claim,normalisation")).toMatchObject({
    changed: ["normalisations", "ruleClaim"],
  });
  expect(await remote.ask("upstream", "show", id)).toMatchObject({
    ruleClaim: null,
    normalisations: [],
    hasSecret: true,
  });
  // The addresses to register differ: the command line beside the database has another port.
  const list = ["upstream", "list", "--school", school];
  expect((await there(list)).out).toBe((await here(list)).out);
  expect((await there(["upstream", "show", id])).out).toMatch(/redirect URI +http.*callback/);
  expect((await there(["upstream", "list", "--failing", "--secret-expiring"])).out).toContain("No connections.");
  expect(await remote.ask("upstream", "check", id)).toMatchObject({ isReached: true, failure: "NONE" });
  const preview = ["upstream", "preview", id, "--rule-claim", "employee_id", "--rule-field", "username"];
  expect((await there(preview)).out).toContain("0 of 0 people have the field");
  expect((await there([...preview, "--unset", "issuer,group"])).out).toContain("0 of 0 people have the field");
  expect(await remote.refusal("upstream", "on", id)).toMatchObject({ exitCode: 3, code: "upstream_not_tested" });
  await db.prisma.upstreamConnection.update({ where: { id }, data: { testedAt: clock() } });
  expect(await remote.ask("upstream", "on", id)).toEqual({ id, state: "ON" });
  expect(await remote.ask("upstream", "off", id)).toEqual({ id, state: "OFF" });
  expect((await there(["upstream", "update", id, "--auth-method", "none"])).code).toBe(2);
  expect((await there(["upstream", "delete", id, "--yes"])).out).toContain("Connection deleted.");
  expect(await remote.refusal("upstream", "show", id)).toMatchObject({ code: "upstream_connection_not_found" });
});

test("links and refusals", async () => {
  const school = await make.school();
  const id = await party.connect(provider, school);
  const pupil = await make.person({ school, sourceSystemIdentifier: "1" });
  const { username } = await giveLogin(db, pupil);
  const comeIn = (account: string, claims: object) => {
    provider.account = account;
    provider.claims[account] = claims as Record<string, unknown>;
    return party.codeOf(party.signIn(provider, id));
  };
  expect(await comeIn("stranger", { employee_id: "2", name: "Bo Muster" })).toBe("NOBODY_MATCHES");
  expect((await there(["upstream", "refusals", id])).out).toMatch(/NOBODY_MATCHES +Bo Muster +employee_id = 2/);
  const { refusals } = await remote.ask<{ refusals: { id: string }[] }>("upstream", "refusals", id);
  await remote.ask("upstream", "link", id, refusals[0]!.id, "--person", username);
  await expectSameReading("upstream", "links", id);
  await expectSameReading("upstream", "links-of", pupil);
  expect(await remote.ask("upstream", "unlink", pupil, id)).toEqual({ person: pupil, connection: id });
  expect(await remote.ask("upstream", "links", id)).toEqual({ links: [] });
  await comeIn("stranger", { employee_id: "2" });
  const again = await remote.ask<{ refusals: { id: string }[] }>("upstream", "refusals", id);
  expect(await remote.ask("upstream", "dismiss", id, again.refusals[0]!.id)).toMatchObject({ connection: id });
  expect(await remote.ask("upstream", "refusals", id)).toEqual({ refusals: [], next: null });
});

test("set-up links, the way in and the emergency", async () => {
  const school = await make.school();
  const id = await create(school, "--profile", "google");
  const link = await remote.ask<{ id: string; url: string }>("upstream", "set-up-link", id, "--days", "3");
  expect(link.url).toMatch(/\/set-up\/[\w-]{43}$/);
  await expectSameReading("upstream", "set-up-links", id);
  const closed = await remote.ask("upstream", "close-set-up-link", id, link.id);
  expect(closed).toEqual({ connection: id, "set-up-link": link.id });

  await expectSameReading("upstream", "way-in", school);
  const linkName = `school-${school}`;
  expect(await remote.ask("upstream", "way-in", school, "--link-name", linkName)).toEqual({
    id: school,
    changed: ["linkName", "url"],
  });
  expect((await there(["upstream", "way-in", school])).out).toContain(`${service.url}/s/${linkName}`);
  const noPasswords = await remote.refusal("upstream", "way-in", school, "--local-passwords", "no");
  expect(noPasswords).toMatchObject({ exitCode: 3, code: "school_has_no_connection" });
  expect(await remote.ask("upstream", "way-in", school, "--no-link-name")).toMatchObject({
    changed: ["linkName", "url"],
  });
  expect((await there(["upstream", "way-in", school, "--link-name", "a-b", "--no-link-name"])).code).toBe(2);
  expect(await remote.ask("upstream", "emergency", school)).toEqual({ id: school, isOpen: true });
  expect((await there(["upstream", "way-in", school])).out).toMatch(/accepted until +\d{4}-/);
  expect(await remote.ask("upstream", "emergency", school, "--end")).toEqual({ id: school, isOpen: false });
});
