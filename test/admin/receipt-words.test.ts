import { expect, test } from "vitest";
import { receiptWords } from "../../src/admin/document-pdf/receipt.ts";
import { listTexts } from "../support/page-texts.ts";

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
