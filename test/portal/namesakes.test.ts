import { expect, test } from "vitest";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";

const service = await startService();
const make = makeMakers(service.db);

test("namesakes differ wherever a person is picked", async () => {
  const school = await make.school();
  const [first, second] = [await make.group({ school, name: "5a" }), await make.group({ school, name: "5b" })];
  const target = await make.group({ school, name: "Chor", type: "SONSTIG" });
  const name = { firstFull: "Mia", firstCall: "Mia", last: "Doppelt" };
  const of = (group: typeof first, sourceSystemIdentifier: string) =>
    make.person({ school, groups: [group], name, sourceSystemIdentifier });
  // Two in one class, without a user name, and one in another.
  for (const [group, number] of [
    [first, "N-1"],
    [first, "N-2"],
    [second, "N-3"],
  ] as const)
    await of(group, number);
  const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const { browser: operator } = await makePortalUser(service, "OPERATOR");
  const base = `/admin/schools/${school}`;
  const search = async (reader: typeof browser, path: string, step: string) =>
    (await reader.submit(await reader.open(path), step, { search: "Doppelt" })).html;
  const lists = {
    "into a group": await search(browser, `${base}/classes/${target}/add`, "/add/search"),
    "for a role": await search(browser, `${base}/staff/new`, "/new/search"),
    "to another school": (await browser.open(`${base}/handovers/new?group=${first}`)).html,
    "in the list of people": await search(browser, `${base}/people`, "/people/search"),
    "at all schools": await search(operator, "/admin/people", "/people/search"),
  };
  for (const [place, html] of Object.entries(lists)) {
    const told = html.split("Mia Doppelt").slice(1);
    const texts = told.map((part) =>
      part
        .split(/<\/(?:label|li|tr)>/)[0]!
        .replaceAll(/<[^>]*>/g, " ")
        .replaceAll(/\s+/g, " "),
    );
    expect([place, new Set(texts).size, texts.length >= 2]).toEqual([place, texts.length, true]);
  }
});

test("one handover has the whole class, and begins at a pupil's page, too", async () => {
  const school = await make.school();
  const group = await make.group({ school, name: "6c" });
  const pupils = [await make.person({ school, groups: [group] }), await make.person({ school, groups: [group] })];
  const { browser } = await makePortalUser(service, "SECRETARY", { schoolIds: [school] });
  const page = await browser.open(`/admin/schools/${school}/classes/${group}`);
  const [, whole] = /<a class="secondary" href="([^"]*all=yes)"/.exec(page.html)!;
  const form = await browser.open(whole!.replaceAll("&amp;", "&"));
  for (const id of pupils) expect(form.html).toMatch(new RegExp(`value="${id}" checked`));
  const person = await browser.open(`/admin/schools/${school}/people/${pupils[0]}`);
  const [, own] = /href="([^"]*\/handovers\/new\?person=[^"]*)"/.exec(person.html)!;
  expect((await browser.open(own!)).html).toMatch(new RegExp(`value="${pupils[0]}" checked`));
});
