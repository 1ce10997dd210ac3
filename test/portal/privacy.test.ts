import { expect, test } from "vitest";
import type { components } from "../../generated/openapi/admin.ts";
import { makeBrowser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, signIn } from "../support/portal.ts";
import { startService } from "../support/service.ts";

const service = await startService();
const make = makeMakers(service.db);

const hostile = '<script>alert(1)</script>"&';

async function makeWorld() {
  const school = await make.school({ name: "Waldschule" });
  const group = await make.group({ school, name: "5a" });
  const profile = { provider: '=HYPERLINK("http://x")', purpose: { de: hostile, en: "To practise" } };
  const app = await make.app({ name: "+Lernapp", scopes: ["openid", "people:read"], attributes: [], profile });
  await make.grant({ app: app.clientId, school, groups: [group] });
  const user = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const english = makeBrowser(service.url, { "accept-language": "en" });
  await signIn(english, user);
  return { school, german: user.browser, english, address: `/admin/schools/${school}/privacy` };
}
const world = await makeWorld();

/** Reads a file as Excel does: quoted cells, which may have several lines. */
function readCsv(text: string, delimiter: string): string[][] {
  const cells = new RegExp(`(${delimiter}|\\r?\\n|^)(?:"((?:[^"]|"")*)"|([^${delimiter}\\r\\n]*))`, "g");
  const rows: string[][] = [];
  for (const [, before, quoted, plain = ""] of text.trimEnd().matchAll(cells)) {
    if (before !== delimiter) rows.push([]);
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain);
  }
  return rows;
}

test("the page is in the navigation, says who processes what, and runs no script of an app", async () => {
  const { german, english, address } = world;
  const { html } = await german.open(address);
  expect(html).toContain(`<a href="${address}" aria-current="page">Datenschutz</a>`);
  for (const text of [
    "Waldschule",
    "Anmeldung",
    "400 Tage",
    "+Lernapp",
    "Schülerinnen und Schüler",
    "Nicht weitergegeben",
  ])
    expect(html).toContain(text);
  expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;");
  expect(html).not.toContain("<script>alert");
  const other = (await english.open(address)).html;
  for (const text of ["Record of processing", "To practise", "400 days", "Not passed on"])
    expect(other).toContain(text);
});

test.each([
  ["german", ";", "Verarbeitungstätigkeit", "Vornamen, Rufname, Nachname"],
  ["english", ",", "Processing activity", "First names, name they go by, last name"],
] as const)("the file opens as a table in Excel: %s", async (reader, delimiter, heading, withheld) => {
  const { headers, html } = await world[reader].open(`${world.address}/csv`);
  expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(headers.get("content-disposition")).toContain("attachment");
  const bytes = Buffer.from(await (await world[reader].once(`${world.address}/csv`)).arrayBuffer());
  expect(bytes.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
  const [head, ...rows] = readCsv(html.replace(/^\uFEFF/, ""), delimiter);
  expect(head).toHaveLength(15);
  expect(rows.every((row) => row.length === 15)).toBe(true);
  const cell = (column: string) => rows.at(-1)![head!.indexOf(column)];
  expect(rows.map(([, name]) => name)).toHaveLength(9);
  expect(cell(heading)).toBe("'+Lernapp");
  expect(rows.at(-1)).toContain(`'=HYPERLINK("http://x")`);
  expect(rows.at(-1)!.some((value) => value.split("\n").includes(withheld))).toBe(true);
  expect(rows.flat().filter((value) => /^[=+@-]/.test(value))).toEqual([]);
});

test("the same as JSON, as the admin API has it", async () => {
  const { html } = await world.german.open(`${world.address}/json`);
  const record = JSON.parse(html) as components["schemas"]["ProcessingRecord"];
  expect(record.activities.at(-1)).toMatchObject({ kind: "APP", name: { de: "+Lernapp" } });
});

test("a school without apps says so", async () => {
  const school = await make.school();
  const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  expect((await browser.open(`/admin/schools/${school}/privacy`)).html).toContain("Keine App bekommt Daten");
});
