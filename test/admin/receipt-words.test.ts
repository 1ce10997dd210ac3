import { expect, test } from "vitest";
import { drawDocument } from "../../src/admin/document-pdf/draw.ts";
import { receiptWords } from "../../src/admin/document-pdf/receipt.ts";
import { listTexts } from "../support/page-texts.ts";
import { readPdfText } from "../support/read-cards.ts";

test.each(["de", "en"] as const)("the printed receipt calls roles and data what the pages call them: %s", (locale) => {
  const texts = [...listTexts("src/portal/frame", locale)];
  const under = (prefix: string) =>
    Object.fromEntries(
      texts.flatMap(([key, text]) => (key.startsWith(prefix) ? [[key.slice(prefix.length), text]] : [])),
    );
  const { roles, items } = receiptWords[locale];
  expect(Object.keys(under("staffRoles.")).length).toBeGreaterThan(0);
  expect(roles).toMatchObject(under("staffRoles."));
  expect(items).toMatchObject(under("attribute."));
});

test("the longest agreement without a space can be printed, with all its letters", async () => {
  const wording = "Vereinbarung".repeat(5000);
  const section = { heading: "Wortlaut", lines: [wording] };
  const now = new Date("2026-02-03T08:00:00Z");
  const printed = await drawDocument({ language: "de", title: "T", lead: "L", sections: [section], footer: "F", now });
  expect(readPdfText(printed).replaceAll(/\s|\f|F · \d+\/\d+/g, "")).toContain(wording.slice(0, 3000));
  expect(readPdfText(printed).replaceAll(/[^V]/g, "").length).toBe(5000);
});
