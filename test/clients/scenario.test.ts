import { beforeAll, describe, expect, test } from "vitest";
import { bundleFolder, documentNames } from "../../openapi/tools/document.ts";
import { changeDirectory } from "../../src/access/index.ts";
import { readConfig } from "../../src/config/index.ts";
import {
  restorePerson,
  softDeletePerson,
  type GroupId,
  type PersonId,
  type SchoolId,
} from "../../src/directory/index.ts";
import { writeChangeCursor } from "../../src/idm/change-cursor.ts";
import { deriveKeys } from "../../src/platform/crypto/seal.ts";
import { demoApp, demoLogin, getReader, idm, startDemo } from "../support/api.ts";
import { makeErasuresAndMove } from "../support/erasures-and-move.ts";
import type { TestService } from "../support/service.ts";
import { getUserTokens } from "../support/token.ts";
import { fieldsOf, findLosses, type Models } from "./fields.ts";
import { ask, buildDriver, languages, type Program } from "./languages.ts";
import { documentOf, fillSteps, offered, sameInstants, type Access, type Done } from "./scenario.ts";

const app = demoApp("demo-lernapp");
const forPartners = documentNames(bundleFolder);
const [school, group] = [
  "a0000000-0000-4000-8000-000000000001" as SchoolId,
  "b0000000-0000-4000-8000-000000000001" as GroupId,
];
const softDeleted = "c0000000-0000-4000-8000-000000000005" as PersonId;
const cursorKeys = deriveKeys(readConfig({ NODE_ENV: "test" }).encryptionKeys, "cursor");
const lost = writeChangeCursor(cursorKeys, app.clientId, { position: "999999999", attributes: null });

let service: TestService;
let steps: ReturnType<typeof fillSteps>;
let access: Access;

beforeAll(async () => {
  service = await startDemo();
  const [erasure] = await makeErasuresAndMove(service, app, { school, group });
  const read = await getReader(service, app);
  const { next: before } = (await read(`${idm}/changes`)).body as { next: string };
  for (const change of [
    (it: Parameters<typeof restorePerson>[0]) => restorePerson(it, { personId: softDeleted }),
    (it: Parameters<typeof restorePerson>[0]) =>
      softDeletePerson(it, { personId: softDeleted, restoreWindowDays: 30 }).then(() => undefined),
  ])
    await changeDirectory(service.db, { at: service.clock(), actorId: "test" }, change);
  steps = fillSteps({ before, expired: lost, erasure });

  const { access_token } = await getUserTokens(service, app, demoLogin(2), {
    scopes: ["openid", "profile", "people:read"],
  });
  const password = app.clientSecret!;
  access = {
    credentials: { username: app.clientId, password },
    "wrong credentials": { username: app.clientId, password: `${password}x` },
    person: { accessToken: access_token },
    unknown: { accessToken: "no-token-of-anybody" },
  };
});

test("the scenario calls every operation of the APIs that answers an app, and is refused in every way", () => {
  const called = new Set(steps.filter(({ expect: answer }) => answer !== undefined).map(({ operation }) => operation));
  expect(offered.filter((operation) => !called.has(operation))).toEqual([]);
  expect(new Set(steps.flatMap(({ error }) => error?.status ?? []))).toEqual(new Set([400, 401, 403, 404, 410, 501]));
});

describe.each(languages)("the client in $name", (language) => {
  let program: Program;
  let done: Done[];

  beforeAll(async () => {
    program = await buildDriver(language);
    done = await ask<Done[]>(program, "run", { url: service.url, access, steps });
  });

  test.each(fillSteps({}).map(({ name }, at) => ({ name, at })))("$name", ({ at }) => {
    const { expect: value, error, model } = steps[at]!;
    const answer = sameInstants(done[at]);
    if (error) expect(answer).toMatchObject({ error });
    else expect(answer, model ?? "").toMatchObject({ value });
  });

  test("keeps the type of every field for partners, and holds the models of the admin API", async () => {
    const models = await ask<Record<string, Models>>(program, "types", { bundles: [...forPartners, "admin"] });
    expect(Object.keys(models["admin"]!).length).toBeGreaterThan(100);
    for (const bundle of forPartners) {
      const fields = fieldsOf(documentOf(bundle));
      expect(fields).not.toEqual([]);
      expect(findLosses(fields, models[bundle]!, language), bundle).toEqual([]);
    }
  });
});
