// @module-tag slow
import { randomUUID } from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import { expect, test } from "vitest";
import { callers } from "../../src/admin/rights.ts";
import { auditActions, personActor, recordAudit, recordDifference } from "../../src/events/index.ts";
import { listOperations, loadDocument } from "../../src/platform/http/index.ts";
import type { StaffRoleName } from "../../src/staff/index.ts";
import { staffRoleNames } from "../../src/staff/index.ts";
import { makeBrowser, type Browser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { fillPath, findCodes, makePortalWorld, portalPaths, type PortalWorld } from "../support/portal-world.ts";
import { startService } from "../support/service.ts";

// Opens every page of the portal in every role, and sends every form that it shows; pages.txt has what each role sees.
const calls: string[] = [];
subscribe("schultor.inner-calls", (message) => {
  const { method, url: path } = message as { method: string; url: string };
  if (method !== "GET" && path.startsWith("/admin/v1/")) calls.push(`${method} ${path.split("?")[0]!}`);
});

const operations = listOperations(await loadDocument("admin", "schultor")).map(({ method, path, operation }) => ({
  id: operation.operationId as keyof typeof callers,
  matches: new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`, "i"),
}));

const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const make = makeMakers(service.db);

/** Pages that show programmers what an app gets. */
const isForProgrammers = (address: string) => /\/apps\/[^/]+\/(view|docs)/.test(address);

// How long a PDF may take depends on the machine.
const paths = portalPaths.filter((path) => !path.endsWith("/pdf"));

/** A world without administrators of its own: who takes the own role away sees nothing afterwards. */
async function makeWorld(): Promise<PortalWorld> {
  const made = await makePortalWorld(service);
  await service.db.prisma.staffRole.deleteMany({ where: { role: "SCHOOL_ADMIN" } });
  return made;
}

type Form = { page: string; action: string; isUpload: boolean; fields: [string, string][] };

const unescape = (text: string) => text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
const valueOf = (tag: string, name: string) => unescape(new RegExp(`${name}="([^"]*)"`).exec(tag)?.[1] ?? "");

function formsOf(page: string, html: string): Form[] {
  return [...html.matchAll(/<form([^>]*)>([\s\S]*?)<\/form>/g)].flatMap(([, tag = "", content = ""]) => {
    const action = new URL(valueOf(tag, "action"), new URL(page, service.url)).pathname;
    // What is only shown has no button; what every page has, everybody may send.
    if (!/method="post"/i.test(tag) || !content.includes("<button") || /^\/(account|sign-out|sign-in)/.test(action))
      return [];
    const fields = [...content.matchAll(/<(?:input|button|textarea)[^>]*>/g)].flatMap(([input]): [string, string][] => {
      const name = valueOf(input, "name");
      return name === "" || /type="file"/.test(input) ? [] : [[name, valueOf(input, "value") || "x"]];
    });
    for (const [, name = "", options = ""] of content.matchAll(/<select[^>]*name="([^"]*)"[^>]*>([\s\S]*?)<\/select>/g))
      fields.push([name, /value="([^"]+)"/.exec(options)?.[1] ?? "x"]);
    return [{ page, action, isUpload: tag.includes("multipart"), fields }];
  });
}

/** Sends a form. Returns its status and the operations that the portal called. */
async function send(browser: Browser, { action, isUpload, fields }: Form, token?: string) {
  calls.length = 0;
  const body = isUpload ? new FormData() : new URLSearchParams();
  for (const [name, value] of fields) body.append(name, name === "token" ? (token ?? value) : value);
  if (isUpload) (body as FormData).append("file", new File(["x"], "x.csv"));
  const { status } = await browser.once(action, { method: "POST", body });
  return { status, asked: calls.map((call) => operations.find(({ matches }) => matches.test(call))?.id ?? call) };
}

const ends = /(delete|deletion|leave|withdrawal|rotation|remove|revoke|accept|cancel|withdraw)$/;
/** In this order; the role of the reader ends last. */
const rankOf = ({ action }: Form): number => (/staff.*withdrawal$/.test(action) ? 2 : Number(ends.test(action)));

/** The table: by address, or form, what is seen in each column. */
const table = new Map<string, Map<string, string>>();
const note = (row: string, column: string, cell: string) => {
  if (!table.has(row)) table.set(row, new Map());
  table.get(row)!.set(column, cell);
};
const others = ["other school", "below other school", "other partner", "no role", "stranger"] as const;
const columns = [...staffRoleNames, ...others];
const writeTable = () =>
  [...table]
    .map(([row, cells]) => `${row.padEnd(96)}${columns.map((column) => (cells.get(column) ?? "-").padEnd(5)).join("")}`)
    .toSorted()
    .join("\n");

const asPattern = (address: string, { values }: PortalWorld): string => {
  const names = new Map(Object.entries(values).map(([name, value]) => [value, `:${name}`]));
  const segments = address.split("/").map((segment) => names.get(segment) ?? segment);
  return segments.join("/").replaceAll(/[0-9a-f-]{36}/g, ":id");
};

async function open(browser: Browser, world: PortalWorld, column: string): Promise<[address: string, html: string][]> {
  const seen: [string, string][] = [];
  for (const path of paths) {
    const address = fillPath(path, world);
    const response = await browser.once(address);
    note(path, column, String(response.status));
    expect(response.status, path).toBeLessThan(500);
    const html = await response.text();
    if (response.status === 200 && response.headers.get("content-type")?.startsWith("text/html"))
      seen.push([address, html]);
  }
  return seen;
}

/** Writes a line of every action, by several actors, with changes of every kind. */
async function recordEverything({ school, pupil, teacher, clientId }: PortalWorld): Promise<void> {
  const actors = [undefined, "purge", personActor(teacher), `app:${clientId}`];
  const before = { role: "STUDENT", scopes: ["openid", "schools:read"], userNameRule: "FIRST_DOT_LAST", groups: [] };
  const after = {
    role: "TEACHER",
    scopes: [],
    type: "KLASSE",
    endsAt: service.clock().toISOString(),
    schoolIds: [school, randomUUID()],
    holder: { personId: randomUUID(), clientId: null },
    groups: [{ id: randomUUID(), name: "5a", status: "ACTIVE" }],
    attributes: ["PERSON_NAME"],
    idTokenAlgorithm: "ES256",
    schulconnexSpelling: "V1_7",
    eventTypes: ["person"],
    reason: "failing",
  };
  for (const [index, action] of auditActions.entries()) {
    const origin = { at: service.clock(), actorId: actors[index % actors.length], requestId: randomUUID() };
    const actorRole = origin.actorId === personActor(teacher) ? "SECRETARY" : undefined;
    await recordAudit(service.db, { ...origin, actorRole, action, schoolId: school, clientId, personId: pupil });
    await recordDifference(service.db, origin, { before, after });
  }
}

/** More addresses, whose pages depend on what follows the path. */
const more = [
  ...["/admin/staff/new?person=:personId", "/admin/schools/:schoolId/staff/new?person=:personId"],
  ...["/admin/schools/:schoolId/people/:personId/sign-in?app=:clientId", "/admin/schools/:schoolId/people?status=ALL"],
  ...["/admin/schools/:schoolId/retention?suggestion=1", "/admin/figures?range=month"],
];

/** An administrator sends forms in a school of their own, because a secretary ends much in this one. */
const world = await makeWorld();
await recordEverything(world);
async function enter(role: StaffRoleName, { school, group, clientId }: PortalWorld): Promise<Browser> {
  const isOfSchool = role !== "OPERATOR" && role !== "PARTNER";
  const schoolIds = isOfSchool ? [school] : [];
  const clientIds = role === "PARTNER" ? [clientId] : [];
  const { browser, personId } = await makePortalUser(service, role, { schoolIds, clientIds });
  if (role === "CLASS_TEACHER") await make.membership({ group, person: personId, role: "TEACHER" });
  return browser;
}

/** What a role sees, which is looked through for codes, and the forms that it finds there. */
async function walk(browser: Browser, role: StaffRoleName, of: PortalWorld): Promise<Form[]> {
  const pages = await open(browser, of, role);
  for (const path of more) {
    const address = fillPath(path, of);
    const { status, html } = await browser.open(address);
    if (status === 200) pages.push([address, html]);
  }
  const found = pages
    .filter(([address]) => !isForProgrammers(address))
    .flatMap(([address, html]) => findCodes(html).map((code) => `${asPattern(address, of)}: ${code}`));
  // The client ID is what its partner knows an app by.
  expect(found.filter((one) => !one.endsWith(of.clientId))).toEqual([]);
  for (const [, html] of pages)
    for (const [, link] of (/<nav class="pages"[\s\S]*?<\/nav>/.exec(html)?.[0] ?? "").matchAll(/href="(\/[^"?#]*)/g)) {
      const pattern = asPattern(link!, of);
      note(`${pattern} in the navigation`, role, "link");
      if (table.has(pattern)) expect([pattern, table.get(pattern)!.get(role)]).toEqual([pattern, "200"]);
    }
  const forms = pages.flatMap(([address, html]) => formsOf(address, html));
  for (const { action } of forms) note(`POST ${asPattern(action, of)}`, role, "form");
  return [...new Map(forms.map((form) => [form.action, form])).values()];
}

test("no page of an operator shows a code or an id, and no form is sent without its token", async () => {
  const browser = await enter("OPERATOR", world);
  for (const form of await walk(browser, "OPERATOR", world)) {
    const pattern = asPattern(form.action, world);
    expect([pattern, await send(browser, form, "x".repeat(43))]).toEqual([pattern, { status: 403, asked: [] }]);
  }
});

test("the lines of the log name every action and change in words", async () => {
  const browser = await enter("SCHOOL_ADMIN", world);
  const found: string[] = [];
  for (let next = `${world.base}/audit`, pages = 0; next !== ""; pages += 1) {
    const { html } = await browser.open(next);
    found.push(...findCodes(html));
    const [pager = ""] = /class="pager"[\s\S]*?<\/\w+>/.exec(html) ?? [];
    next = unescape(
      [...pager.matchAll(/href="([^"]+)"/g)].map(([, address]) => address!).find((one) => one.includes("cursor=")) ??
        "",
    );
    expect(pages).toBeLessThan(10);
  }
  expect(found).toEqual([]);
});

test("no page of a district shows a code or an id", async () => {
  await walk(await enter("DISTRICT", world), "DISTRICT", world);
});

test.each(["SUPPORT", "CLASS_TEACHER", "PARTNER", "SECRETARY", "SCHOOL_ADMIN"] as const)(
  "%s sees no code, no id and no form that is refused to them",
  async (role) => {
    const of = role === "SCHOOL_ADMIN" ? await makeWorld() : world;
    const browser = await enter(role, of);
    const forms = await walk(browser, role, of);
    const refused: string[] = [];
    for (const form of forms.sort((a, b) => rankOf(a) - rankOf(b))) {
      const { status, asked } = await send(browser, form);
      const beyond = asked.filter((id) => {
        const operation = (callers as Partial<Record<string, (typeof callers)["getMe"]>>)[id];
        return operation === undefined || (!operation.self && !operation.roles.includes(role));
      });
      if (status === 403 || beyond.length > 0)
        refused.push(`${form.page} → ${form.action}: ${status} ${beyond.join(" ")}`);
    }
    expect(refused).toEqual([]);
  },
);

test("others see nothing of it", async () => {
  const other = await make.school();
  const admin = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [other] });
  await open(admin.browser, world, "other school");
  // What is of one school, below the address of another.
  const values = { ...world.values, schoolId: other };
  await open(admin.browser, { ...world, values }, "below other school");
  const { clientId } = await make.app();
  await open((await makePortalUser(service, "PARTNER", { clientIds: [clientId] })).browser, world, "other partner");
  await open((await makePortalUser(service, null)).browser, world, "no role");
  await open(makeBrowser(service.url), world, "stranger");
});

test("each role has its pages and forms, and no other", async () => {
  await expect(writeTable()).toMatchFileSnapshot("pages.txt");
});
