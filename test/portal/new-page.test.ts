import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Area, SchoolPage } from "../../src/portal/frame/index.ts";
import type { CurrentPage, Links } from "../../src/portal/frame/navigation.ts";
import { checkArea } from "../support/page-texts.ts";

// Makes a page, and changes its texts and templates.

let folder: string;
const frame = "src/portal/frame";
const check = () => checkArea(folder, { shared: [frame] });
const write = (file: string, text: string) => writeFile(join(folder, file), text);
const writeTexts = (locale: "de" | "en", texts: Record<string, string>) =>
  write(`locales/${locale}.json`, JSON.stringify({ size: texts }));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "size-"));
  await mkdir(join(folder, "templates"));
  await mkdir(join(folder, "locales"));
  await write("index.ts", 'pages.get("/size", ({ t }) => ({ title: t("size.title"), view: "size" }));');
  await write("templates/size.eta", '<p><%= it.t("size.people", { count: it.count }) %></p>');
  await writeTexts("en", { title: "Size", people: "People: {{count}}" });
  await writeTexts("de", { title: "Größe", people: "Personen: {{count}}" });
});
afterEach(() => rm(folder, { recursive: true }));

test("a page with its texts and its template is complete", () => {
  expect(check()).toEqual([]);
});

test("a text that only one language has is named", async () => {
  await writeTexts("en", { title: "Size" });
  expect(check()).toEqual(["no English text size.people"]);
  await writeTexts("de", {});
  expect(check()).toContain("no German text size.title");
});

test("a text that the page or its template names and nobody wrote is named, and so is one that nobody uses", async () => {
  for (const locale of ["de", "en"] as const) await writeTexts(locale, { people: "Planted.", other: "Planted." });
  expect(check()).toEqual(["no text size.title", "nobody uses the text size.other"]);
});

test("a missing template is named, and so is one that nobody uses", async () => {
  await rm(join(folder, "templates/size.eta"));
  await write("templates/another.eta", "");
  const texts = "nobody uses the text size.people";
  expect(check()).toEqual(["no template size", texts, "nobody uses the template another"]);
});

test("a value that only one language has is named", async () => {
  await writeTexts("en", { title: "Size of {{school}}", people: "People: {{count}}" });
  expect(check()).toEqual(["other values in the German text size.title"]);
});

// What the compiler holds: the gate of types fails when one of these lines compiles.
test("a page without its label, its link or its area does not compile", () => {
  // @ts-expect-error src/portal/frame/locales have no label for the page
  const withoutLabel: Links = { rooms: "listGroups" };
  // @ts-expect-error the navigation does not name the page
  const withoutLink: CurrentPage = "rooms";
  const { today: _, ...rest } = {} as Record<SchoolPage, Area>;
  // @ts-expect-error src/portal/index.ts serves no area for the page
  const withoutArea: Record<SchoolPage, Area> = rest;
  expect([withoutLabel, withoutLink, withoutArea]).toHaveLength(3);
});
