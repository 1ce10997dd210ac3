import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import drawDocument from "../../src/admin/document-pdf/draw.ts";
import { pictures } from "../../src/accounts/cards/make-card.ts";
import { checkArea, listTexts } from "../support/page-texts.ts";
import { readPdfText } from "../support/read-cards.ts";

const folders = ["src/admin/card-pdf", "src/admin/document-pdf"];

test.each(folders)("%s has its texts in both languages, and uses all of them", (folder) => {
  expect(checkArea(folder, { users: ["src/admin"] })).toEqual([]);
});

const textsUnder = (folder: string, locale: string, prefix: string): Record<string, string> =>
  Object.fromEntries(
    [...listTexts(folder, locale)].flatMap(([key, text]) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), text]] : [],
    ),
  );

test.each(["de", "en"] as const)("the printed receipt calls roles and data what the pages call them: %s", (locale) => {
  const under = (prefix: string) => textsUnder("src/portal/frame", locale, prefix);
  const [roles, items] = ["role.", "item."].map((prefix) => textsUnder("src/admin/document-pdf", locale, prefix));
  expect(Object.keys(under("staffRoles.")).length).toBeGreaterThan(0);
  expect(roles).toMatchObject(under("staffRoles."));
  expect(items).toMatchObject(under("attribute."));
});

test("every role, attribute, scope, picture and reason that is printed has a text", () => {
  const valuesOf = (schema: string): string[] =>
    (parse(readFileSync(`openapi/schemas/${schema}.yaml`, "utf8")) as { enum: string[] }).enum.toSorted();
  const keysOf = (folder: string, prefix: string) => Object.keys(textsUnder(folder, "de", prefix)).toSorted();
  const [cards, receipt] = folders as [string, string];
  expect(keysOf(receipt, "item.")).toEqual([...valuesOf("AppAttribute"), ...valuesOf("AppScope")].toSorted());
  expect(keysOf(receipt, "role.")).toEqual([...valuesOf("StaffRoleName"), "NONE"].toSorted());
  expect(keysOf(cards, "reason.")).toEqual(valuesOf("CardSkipReason"));
  expect(keysOf(cards, "picture.")).toEqual(pictures.toSorted());
});

test("the longest agreement without a space can be printed, with all its letters", async () => {
  const wording = "Vereinbarung".repeat(5000);
  const section = { heading: "Wortlaut", lines: [wording] };
  const now = new Date("2026-02-03T08:00:00Z");
  const printed = await drawDocument({ language: "de", title: "T", lead: "L", sections: [section], footer: "F", now });
  expect(readPdfText(printed).replaceAll(/\s|\f|F · \d+\/\d+/g, "")).toContain(wording.slice(0, 3000));
  expect(readPdfText(printed).replaceAll(/[^V]/g, "").length).toBe(5000);
});
