import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import pg from "pg";
import { beforeAll, expect, test, vi } from "vitest";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, type PortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";

// Node says of each request that its own client sends, as the pages do to the admin API.
const calls: string[] = [];
subscribe("http.client.request.start", (message) => {
  const { method, path } = (message as { request: ClientRequest }).request;
  calls.push(`${method} ${path.split("?")[0]!}`);
});

const query = vi.spyOn(pg.Client.prototype, "query");

const service = await startService();
const make = makeMakers(service.db);
const [people, classes, mostBytes, mostCalls, mostStatements] = [2000, 80, 60_000, 7, 30];

let admin: PortalUser;
let pages: Record<string, string>;

beforeAll(async () => {
  const school = await make.school();
  const groups = [];
  for (let n = 0; n < classes; n += 1) groups.push(await make.group({ school, name: `Klasse ${String(n)}a` }));
  const ids = await make.people({ school, count: people, groups, groupsEach: 1 });
  admin = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const base = `/admin/schools/${school}`;
  const group = `${base}/classes/${groups[0]!}`;
  pages = {
    ...{ people: `${base}/people`, sorted: `${base}/people?sort=-lastSignIn`, person: `${base}/people/${ids[0]!}` },
    ...{ classes: `${base}/classes`, class: group, member: `${group}/members/${ids[0]!}`, logins: `${group}/logins` },
  };
});

const describe = (asked: unknown): string =>
  typeof asked === "string" ? asked : (asked as { text: string }).text.replace(/\s+/g, " ").slice(0, 200);

test.each(["people", "sorted", "person", "classes", "class", "member", "logins"])(
  "the page %s of a large school is small, sends few statements, and asks the admin API a few times only, beside who the reader is",
  async (name) => {
    calls.length = 0;
    query.mockClear();
    const { html, status } = await admin.browser.open(pages[name]!);
    const statements = query.mock.calls.map(([asked]) => describe(asked));
    expect(status).toBe(200);
    expect(statements.length, statements.join("\n")).toBeLessThanOrEqual(mostStatements);
    expect(Buffer.byteLength(html)).toBeLessThan(mostBytes);
    const asked = calls.filter((call) => call !== "GET /admin/v1/me");
    expect(calls.length).toBeGreaterThan(asked.length);
    expect(asked.length, asked.join("\n")).toBeLessThanOrEqual(mostCalls);
  },
);
