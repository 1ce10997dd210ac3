// @module-tag slow
import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import type { Router } from "express";
import { expect, test } from "vitest";
import { ownRights, rights } from "../../src/admin/rights.ts";
import { listOperations, loadDocument } from "../../src/platform/http/index.ts";
import { readConfig } from "../../src/config/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { createConnectionIn } from "../../src/upstream/index.ts";
import { makePortal } from "../../src/portal/index.ts";
import { setLogin } from "../support/sign-ins.ts";
import { staffRoleNames, type StaffRoleName } from "../../src/staff/index.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";

// Opens every page of the portal with every role and sends every form that it shows: each asks only for operations that
// the role allows. A page that is nothing but a form is for those who may send it.
const calls: string[] = [];
subscribe("http.client.request.start", (message) => {
  const { method, path } = (message as { request: ClientRequest }).request;
  if (method !== "GET" && path.startsWith("/admin/v1/")) calls.push(`${method} ${path.split("?")[0]!}`);
});

type Layer = { route?: { path: string; methods: Record<string, boolean> }; handle: Router };
const pathsOf = (router: Router): string[] =>
  (router.stack as unknown as Layer[]).flatMap(({ route, handle }) =>
    route === undefined ? ("stack" in handle ? pathsOf(handle) : []) : route.methods["get"] ? [route.path] : [],
  );
const paths = pathsOf(makePortal({ home: {} as never, frame: {} as never, setUp: {} as never, guides: {} as never }));

const operations = listOperations(await loadDocument("admin", "schultor")).map(({ method, path, operation }) => ({
  id: operation.operationId as keyof typeof rights,
  matches: new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`, "i"),
}));

const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const make = makeMakers(service.db);

async function makeWorld() {
  const school = await make.school();
  const group = await make.group({ school });
  const person = await make.person({ school, groups: [group] });
  await setLogin(
    service.db,
    { personId: person, username: `pupil.${person.slice(-8)}`, password: "password-1" },
    { at: service.clock() },
  );
  const { clientId } = await make.app({ loginUrl: "https://app.example/" });
  await make.grant({ app: clientId, school, groups: [group] });
  const connection = { schoolId: school, profile: "OIDC" as const, name: "IServ" };
  const context = { keys: readConfig({ NODE_ENV: "test" }).encryptionKeys, allowHttp: true };
  const connectionId = await withPrismaTransaction(service.db, (tx) =>
    createConnectionIn(tx, connection, { ...context, origin: { at: service.clock() } }),
  );
  return { school, group, person, clientId, connectionId };
}

const missing = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10";
function fill(path: string, world: Awaited<ReturnType<typeof makeWorld>>): string {
  const { school, group, person, clientId, connectionId } = world;
  const values: Record<string, string> = {
    schoolId: school,
    groupId: group,
    personId: person,
    clientId,
    connectionId,
    guide: "sign-on-server",
  };
  return path.replaceAll(/:(\w+)/g, (_all, name: string) => values[name] ?? missing);
}

type Form = { page: string; action: string; isUpload: boolean; fields: [string, string][] };

const unescape = (text: string) => text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
const valueOf = (tag: string, name: string) => unescape(new RegExp(`${name}="([^"]*)"`).exec(tag)?.[1] ?? "");

function formsOf(page: string, html: string): Form[] {
  return [...html.matchAll(/<form([^>]*)>([\s\S]*?)<\/form>/g)].flatMap(([, tag = "", content = ""]) => {
    const action = new URL(valueOf(tag, "action"), new URL(page, service.url)).pathname;
    // What is only shown has no button; one's own account, and what every page has, everybody may send.
    if (!/method="post"/i.test(tag) || !content.includes("<button") || /^\/(account|sign-out|sign-in)/.test(action))
      return [];
    const fields = [...content.matchAll(/<(?:input|button|textarea)[^>]*>/g)].flatMap(([input]): [string, string][] => {
      const name = valueOf(input, "name");
      return name === "" || /type="file"/.test(input) ? [] : [[name, valueOf(input, "value") || "x"]];
    });
    return [{ page, action, isUpload: tag.includes("multipart"), fields }];
  });
}

const ends = /(delete|deletion|leave|withdrawal|rotation|remove|revoke)$/;
/** In this order; the role of the reader ends last. */
const rankOf = ({ action }: Form): number => (/withdrawal$/.test(action) ? 2 : Number(ends.test(action)));

async function walk(role: StaffRoleName) {
  const world = await makeWorld();
  const isOfSchool = role !== "OPERATOR" && role !== "PARTNER";
  const { browser } = await makePortalUser(service, role, {
    schoolIds: isOfSchool ? [world.school] : [],
    clientIds: role === "PARTNER" ? [world.clientId] : [],
  });
  const forms = new Map<string, Form>();
  for (const path of [
    ...paths,
    "/admin/staff/new?person=:personId",
    "/admin/schools/:schoolId/staff/new?person=:personId",
  ]) {
    const address = fill(path, world);
    const { status, html } = await browser.open(address);
    if (status === 200) for (const form of formsOf(address, html)) forms.set(form.action, form);
  }
  const inOrder = [...forms.values()].sort((a, b) => rankOf(a) - rankOf(b));
  const refused: string[] = [];
  for (const { page, action, isUpload, fields } of inOrder) {
    calls.length = 0;
    const body = isUpload ? new FormData() : new URLSearchParams();
    for (const [name, value] of fields) body.append(name, value);
    if (isUpload) (body as FormData).append("file", new File(["x"], "x.csv"));
    const { status } = await browser.once(action, { method: "POST", body });
    const asked = calls.map((call) => operations.find(({ matches }) => matches.test(call))!.id);
    const beyond = asked.filter((id) => !(rights[id] as readonly string[]).includes(role) && !ownRights.has(id));
    if (status === 403 || beyond.length > 0) refused.push(`${page} → ${action}: ${status} ${beyond.join(" ")}`);
  }
  return { count: forms.size, refused, world };
}

const found = new Map<StaffRoleName, number>();

test.each(staffRoleNames)("%s sees no form that is refused to them", async (role) => {
  const { count, refused } = await walk(role);
  found.set(role, count);
  expect(refused).toEqual([]);
});

test("the walk finds the forms of the pages", () => {
  expect(paths.length).toBeGreaterThan(60);
  expect(found.get("OPERATOR")).toBeGreaterThan(40);
  expect(found.get("PARTNER")).toBeGreaterThan(6);
});

test.each([
  ["SCHOOL_ADMIN", "/admin/schools/new"],
  ["SUPPORT", "/admin/schools/new"],
  ["PARTNER", "/admin/schools/new"],
  ["SCHOOL_ADMIN", "/partner/new"],
] as const)("%s gets 403 for the page %s, which is a form for others", async (role, path) => {
  const { school, clientId } = await makeWorld();
  const of = role === "PARTNER" ? { clientIds: [clientId] } : { schoolIds: [school] };
  const { browser } = await makePortalUser(service, role, of);
  expect((await browser.open(path)).status).toBe(403);
});
