import { expect, test } from "vitest";
import { loadDocument } from "../../../src/platform/http/index.ts";
import { makeReader, schulconnex } from "../../support/api.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { getAppToken } from "../../support/token.ts";

type Codeliste = { codeliste: string; werte: { code: string; bezeichnung: { de: string; en: string } }[] };

const service = await startService();
const make = makeMakers(service.db);

async function readIn(schulconnexSpelling: "V1_4" | "V1_7") {
  const app = await make.app({ schulconnexSpelling });
  const read = makeReader(service, await getAppToken(service, app, ["people:read"]));
  const first = await read(`${schulconnex}/codelisten`);
  return { ...first, lists: first.body as Codeliste[], read };
}

test.each([
  ["V1_4", "schulconnex"],
  ["V1_7", "schulconnex-1.7"],
] as const)("an app of the spelling %s gets every code of its contract, and no other", async (spelling, bundle) => {
  const { status, lists } = await readIn(spelling);
  const { components } = await loadDocument(bundle, "schultor");
  expect(status).toBe(200);
  expect(lists.map(({ werte }) => werte.map(({ code }) => code).sort()).sort()).toEqual(
    [...enumsIn(components.schemas)].map((codes) => codes.split(" ")).sort(),
  );
});

/** Every enum within the schemas, its codes sorted and joined by spaces. */
function enumsIn(schema: unknown): Set<string> {
  if (typeof schema !== "object" || schema === null) return new Set();
  if ("enum" in schema) return new Set([(schema.enum as string[]).toSorted().join(" ")]);
  return new Set(Object.values(schema).flatMap((inner) => [...enumsIn(inner)]));
}

test("each code of a list has a name of its own in German and in English", async () => {
  for (const { codeliste, werte } of (await readIn("V1_4")).lists)
    for (const language of ["de", "en"] as const) {
      const names = werte.map(({ bezeichnung }) => bezeichnung[language]);
      expect(
        names.every((name) => name.trim() !== ""),
        codeliste,
      ).toBe(true);
      expect(new Set(names).size, `${codeliste} ${language}`).toBe(werte.length);
    }
});

test("the tag tells the spellings apart and stays the same for all apps of one", async () => {
  const [one, other, newer] = [await readIn("V1_4"), await readIn("V1_4"), await readIn("V1_7")];
  const tag = (read: { headers: Headers }) => read.headers.get("etag")!;
  expect(tag(other)).toBe(tag(one));
  expect(tag(newer)).not.toBe(tag(one));
  const again = await other.read(`${schulconnex}/codelisten`, { "if-none-match": tag(one) });
  expect([again.status, again.body]).toEqual([304, null]);
});
