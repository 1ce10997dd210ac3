import { PNG } from "pngjs";
import { expect, test } from "vitest";
import type { ClientId } from "../../src/access/index.ts";
import { makeStaff, refusalOf, type AdminClient } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";

// An app that looks like another one gets the trust, and the sign-ins, that people mean for that one.
const service = await startService();
const make = makeMakers(service.db);
const picture = (width: number) => PNG.sync.write(new PNG({ width, height: 2 }));

const foreign = (await make.app({ name: "Mathe-Welt" })).clientId;
const own = [(await make.app({ name: "Mein Heft" })).clientId, (await make.app({ name: "Mein Buch" })).clientId];
const operator = (await makeStaff(service, "OPERATOR")).call;
const partner = (await makeStaff(service, "PARTNER", { clientIds: own })).call;

const names = [
  "Mathe-Welt",
  "mathe-welt",
  " MATHE  WELT",
  "Mathe‑Welt",
  "Mathe–Welt.",
  "Ｍａｔｈｅ-Welt",
  "Mathe_Welt",
];

test("a partner's app is called nothing that looks like the name of somebody else's app", async () => {
  const before = (await partner("GET", `/apps/${own[0]!}`)).body;
  const taken = [409, "app_name_taken"];
  for (const name of names) {
    expect(refusalOf(await partner("POST", "/apps", { body: { name } })), name).toEqual(taken);
    expect(refusalOf(await partner("PATCH", `/apps/${own[0]!}`, { body: { name } })), name).toEqual(taken);
  }
  expect((await partner("GET", `/apps/${own[0]!}`)).body).toEqual(before);
});

test("other names, and those of one's own apps, are taken freely", async () => {
  for (const name of ["Mathe-Welten", "mein buch"])
    expect((await partner("POST", "/apps", { body: { name } })).status).toBe(201);
  expect((await partner("PATCH", `/apps/${own[0]!}`, { body: { name: "Mein-Buch" } })).status).toBe(204);
});

test("an operator says yes by giving the name, and the partner goes on to change the app", async () => {
  const path = `/apps/${own[1]!}`;
  expect((await operator("PATCH", path, { body: { name: "Mathe-Welt" } })).status).toBe(204);
  expect((await partner("PATCH", path, { body: { name: "Mathe Welt" } })).status).toBe(204);
  expect((await operator("POST", "/apps", { body: { name: "Mathe-Welt" } })).status).toBe(201);
});

test("a partner's app has no logo of the app of somebody else; an operator puts it", async () => {
  expect((await operator("PUT", `/apps/${foreign}/logo`, { body: picture(3) })).status).toBe(204);
  const put = (call: AdminClient, app: ClientId, width: number) =>
    call("PUT", `/apps/${app}/logo`, { body: picture(width) });
  expect((await put(partner, own[0]!, 4)).status).toBe(204);
  const before = (await partner("GET", `/apps/${own[0]!}`)).body;
  expect(refusalOf(await put(partner, own[0]!, 3))).toEqual([409, "app_logo_taken"]);
  expect((await partner("GET", `/apps/${own[0]!}`)).body).toEqual(before);
  expect((await put(partner, own[1]!, 4)).status).toBe(204);
  expect((await put(operator, own[1]!, 3)).status).toBe(204);
});
