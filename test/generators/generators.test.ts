import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleFolder, operationsOf, readDocument } from "../../openapi/tools/document.ts";
import { changeDirectory, scopeToWire } from "../../src/access/index.ts";
import { readConfig } from "../../src/config/index.ts";
import {
  renameGroup,
  restorePerson,
  softDeletePerson,
  updatePerson,
  updateSchool,
  type GroupId,
  type PersonId,
  type SchoolId,
} from "../../src/directory/index.ts";
import { registerEndpoint } from "../support/webhook-changes.ts";
import { demoApp, demoLogin, idmScopes, startDemo } from "../support/api.ts";
import { makeErasuresAndMove } from "../support/erasures-and-move.ts";
import { startReceiver } from "../support/receiver.ts";
import { getUserTokens } from "../support/token.ts";
import { inside } from "../support/webhooks.ts";
import settings from "./settings/package.json" with { type: "json" };
import type { Seen, World } from "./programs/world.ts";
import { startPrism, type Prism } from "./prism.ts";

const withSchemas = ["@hey-api/openapi-ts", "orval", "@kubb/cli", "openapi-zod-client"] as const;
const generators = [...withSchemas, "swagger-typescript-api"] as const;
type Generator = (typeof generators)[number];
const programOf: Record<Generator, string> = {
  "@hey-api/openapi-ts": "hey-api",
  orval: "orval",
  "@kubb/cli": "kubb",
  "openapi-zod-client": "openapi-zod-client",
  "swagger-typescript-api": "swagger-typescript-api",
};
const programs = join(import.meta.dirname, "../../.cache/generators/dist/programs");
const run = promisify(execFile);

const id = (kind: string, n: number) => `${kind}0000000-0000-4000-8000-00000000000${String(n)}`;
const [school, group] = [id("a", 1) as SchoolId, id("b", 1) as GroupId];
const [teacher, student, nameless, hidden] = [1, 2, 3, 4].map((n) => id("c", n)) as [
  PersonId,
  PersonId,
  PersonId,
  PersonId,
];

let world: World;
let prism: Prism;
const seen = {} as Record<Generator, Seen>;

beforeAll(async () => {
  const service = await startDemo({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
  const app = demoApp("demo-lernapp");
  const receiver = await startReceiver();
  const { encryptionKeys: keys } = readConfig({ NODE_ENV: "test" });
  const origin = { at: service.clock(), actorId: "school" };
  const wish = { clientId: app.clientId, url: receiver.url, eventTypes: ["person", "group", "school"] as const };
  await registerEndpoint(service.db, wish, { origin, keys, policy: inside });
  const [erasure] = await makeErasuresAndMove(service, app, { school, group });
  const change = (work: Parameters<typeof changeDirectory>[2]) => changeDirectory(service.db, origin, work);
  await change((it) =>
    updatePerson(it, { personId: teacher, name: { firstFull: "Jörg", firstCall: "Jörg", last: "Groß-Weißmüller" } }),
  );
  await change((it) => renameGroup(it, { groupId: group, name: "Fördergruppe ß" }));
  await change((it) => updateSchool(it, { schoolId: school, name: "Goethe-Gymnasium Übersee" }));
  await change((it) => softDeletePerson(it, { personId: student, restoreWindowDays: 30 }));
  await change((it) => restorePerson(it, { personId: student }));
  // The deletion would end what was issued before.
  const user = await getUserTokens(service, app, demoLogin(2), {
    scopes: ["openid", "profile", "role", "school", "groups", "people:read"],
  });
  for (const job of ["webhooks.fanOut", ...Array<string>(4).fill("webhooks.deliver")]) await service.runJob(job);
  const eventsOf = (type: string) => receiver.events().filter(({ event }) => event === type);

  prism = await startPrism(["idm", "schulconnex", "sign-on"], service.url);
  world = {
    urls: { idm: prism.url("idm"), schulconnex: prism.url("schulconnex"), signOn: prism.url("sign-on") },
    clientId: app.clientId,
    clientSecret: app.clientSecret!,
    scope: idmScopes.map((scope) => scopeToWire("schultor", scope)).join(" "),
    userToken: user.access_token,
    school,
    group,
    person: teacher,
    personWithoutName: nameless,
    hiddenPerson: hidden,
    erasure,
    movedPerson: student,
    events: { person: eventsOf("person"), group: eventsOf("group"), school: eventsOf("school") },
  };
  for (const generator of generators) seen[generator] = await runProgram(programOf[generator]);
});

async function runProgram(name: string): Promise<Seen> {
  const { urls, ...rest } = world;
  const env = {
    ...process.env,
    WORLD: JSON.stringify({ urls, ...rest }),
    IDM_URL: urls.idm,
    SCHULCONNEX_URL: urls.schulconnex,
    SIGN_ON_URL: urls.signOn,
  };
  const { stdout } = await run(process.execPath, [join(programs, `${name}.js`)], { env, maxBuffer: 1 << 26 });
  return JSON.parse(stdout) as Seen;
}

const readable = ["idm", "schulconnex"].flatMap((name) => {
  const document = readDocument(join(bundleFolder, `${name}.yaml`));
  return Object.keys(document.paths).flatMap((path) =>
    Object.values(operationsOf(document, path))
      .filter(({ responses }) => "200" in responses)
      .map(({ operationId }) => operationId!),
  );
});

test("there are webhooks of every type to be parsed", () => {
  for (const events of Object.values(world.events)) expect(events.length).toBeGreaterThan(0);
});

describe.each(generators)("a client of %s", (generator) => {
  test("gets a token with HTTP Basic, and reads the refusal of a wrong secret", () => {
    expect(seen[generator].token).toMatchObject({ token_type: "bearer", expires_in: 3600 });
    expect(seen[generator].wrongSecret).toEqual({ status: 400, error: "invalid_client" });
  });

  test("reads every operation of the IDM API and Schulconnex, and those of sign-on", () => {
    const signOn = ["getUserinfo", "getDiscovery", "listKeys", "introspectToken", "revokeToken"];
    expect(Object.keys(seen[generator].read).toSorted()).toEqual([...readable, ...signOn].toSorted());
    expect(seen[generator].read).toMatchObject({
      getGroup: { id: group },
      acknowledgeErasure: { id: world.erasure, state: "kept", reason: "legal_claims" },
      listErasures: [{ cause: "deleted", state: "open", acknowledgedAt: null }],
      listIdentifierChanges: [{ oldId: student, inUse: "OLD" }],
      getPersonInfo: { pid: student },
      introspectToken: { active: true },
      revokeToken: 200,
    });
  });

  test("keeps null, letters beyond ASCII and dates as they are", () => {
    const { read } = seen[generator];
    expect(read["getPerson"]).toMatchObject({ id: nameless, name: null });
    expect(read["getUser"]).toMatchObject({ name: { last: "Groß-Weißmüller" } });
    expect(read["getGroup"]).toMatchObject({ name: "Fördergruppe ß" });
    expect(read["getSchool"]).toMatchObject({ name: "Goethe-Gymnasium Übersee", address: { addressAddition: null } });
  });

  test("sends booleans, numbers, cursors and lists in queries", () => {
    const { firstPage, deletedGroups, withParts, changed, read } = seen[generator];
    expect(firstPage).toHaveLength(1);
    expect(deletedGroups.length).toBe((read["listSchoolGroups"] as unknown[]).length + 1);
    expect(changed).toBe(0);
    expect(withParts).toMatchObject([{ pid: teacher, person: {} }]);
    expect(JSON.stringify(withParts)).not.toContain("gruppen");
  });

  test("reads the code of a refusal", () => {
    expect(seen[generator]).toMatchObject({
      hidden: { status: 404, code: "user_not_found" },
      wrongLimit: { status: 400, code: "invalid_request" },
      wrongToken: { status: 401, code: "invalid_token" },
      notOffered: {
        listOrganisationenInfo: { status: 501, code: "501", subcode: "00" },
        listGruppenInfo: { status: 501, code: "501", subcode: "00" },
      },
    });
  });

  test("reads the same as the others", () => {
    const { revokeToken: _, introspectToken: __, getDiscovery: ___, ...read } = seen[generator].read;
    const { revokeToken: ____, introspectToken: _____, getDiscovery: ______, ...first } = seen[generators[0]].read;
    expect(read).toEqual(first);
  });
});

test.each(withSchemas)("schemas of %s parse real webhooks without losing a field", (generator) => {
  expect(seen[generator].events).toEqual(world.events);
});

test("Prism finds no answer against the contract, and no request but the wrong limit", async () => {
  const violations = await prism.violations();
  expect(violations.filter((line) => line.includes("response"))).toEqual([]);
  expect(violations.filter((line) => !line.includes("limit"))).toEqual([]);
  expect(violations.length).toBeGreaterThan(0);
});

test("the table of generators says what was done with which version", () => {
  const rows = generators.map((generator) => ({
    generator,
    version: settings.dependencies[generator],
    language: "TypeScript",
    did: [
      "every document compiles (tsc --strict)",
      "token with HTTP Basic",
      `${readable.length} operations of idm and schulconnex`,
      "refusals with code",
      ...(withSchemas.some((one) => one === generator) ? ["Zod schemas parse answers and webhooks"] : []),
    ],
  }));
  const kept = JSON.parse(readFileSync(join(import.meta.dirname, "results.json"), "utf8")) as unknown;
  expect(kept).toEqual(rows);
});
