import { codelisten, codesOf, type Codeliste, type Spelling } from "../../src/schulconnex/codes.ts";
import type { Document } from "./document.ts";

const lists = Object.keys(codelisten) as Codeliste[];
/** The codes of versions 1.7 and 1.8 by those of 1.4. */
const codes = new Map(
  lists.flatMap((list) =>
    codesOf(list, "V1_4").map(({ code }, at) => [code, codesOf(list, "V1_7")[at]!.code] as const),
  ),
);

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

type Lists = { [List in Codeliste]: { enum: string[] } };
type SchulconnexBundle = {
  info: { title: string; description: string };
  components: { schemas: { Loeschung: { properties: { zeitpunkt: Json } } } & Lists };
};

/**
 * Makes the bundle for apps registered for the spelling of version 1.7 or 1.8 from the Schulconnex bundle.
 *
 * Errors: names what this file spells in another way and the bundle has no more, and the file that had it.
 */
export function respell(bundle: Document, spelling: Exclude<Spelling, "V1_4">): Document {
  const document = respellValue(bundle as Json, spelling) as SchulconnexBundle & Document;
  const version = spelling.slice(1).replace("_", ".");
  document.info.title += `, spelling of version ${version}`;
  document.info.description += ` For apps registered for the spelling of version ${version}.`;
  const { Loeschung: deletion } = bundle.components?.schemas ?? {};
  if (deletion?.properties?.["zeitpunkt"] === undefined)
    throw new Error(
      "openapi/schemas/Loeschung.yaml has no property zeitpunkt, or no operation of openapi/schulconnex.yaml returns it. " +
        "The spellings of versions 1.7 and 1.8 have it in another form: put it back, or take it out of openapi/tools/spelling.ts too.",
    );
  for (const list of lists) document.components.schemas[list].enum = codesOf(list, spelling).map(({ code }) => code);
  document.components.schemas.Loeschung.properties.zeitpunkt = {
    type: "string",
    format: "date-time",
    description: "When the person will be deleted for good, in UTC.",
    example: "2026-12-21T10:00:00Z",
  };
  return document;
}

function respellValue(value: Json, spelling: Spelling): Json {
  if (typeof value === "string") return codes.get(value) ?? value.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d)Z$/, "$1:00Z");
  if (Array.isArray(value)) return value.map((inner) => respellValue(inner, spelling));
  if (value === null || typeof value !== "object") return value;
  const { codeliste } = value;
  const list =
    typeof codeliste === "string" && codeliste in codelisten
      ? { werte: codesOf(codeliste as Codeliste, spelling).map(({ code, ...bezeichnung }) => ({ code, bezeichnung })) }
      : {};
  return {
    ...Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, respellValue(inner, spelling)])),
    ...list,
  };
}
