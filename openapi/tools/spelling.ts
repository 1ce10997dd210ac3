import type { Document } from "./document.ts";

const codes = new Map([
  ["LERN", "Lern"],
  ["LEHR", "Lehr"],
  ["SORGBER", "SorgBer"],
  ["EXTERN", "Extern"],
  ["ORGADMIN", "OrgAdmin"],
  ["LEIT", "Leit"],
  ["SYSADMIN", "SysAdmin"],
  ["SCHULE", "Schule"],
  ["ANBIETER", "Anbieter"],
  ["SONSTIGE", "Sonstige"],
]);

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

type SchulconnexBundle = {
  info: { title: string; description: string };
  components: { schemas: { Loeschung: { properties: { zeitpunkt: Json } } } };
};

/**
 * Makes the bundle for apps registered for the spelling of version 1.7 from the Schulconnex bundle.
 *
 * Errors: names what this file spells in another way and the bundle has no more, and the file that had it.
 */
export function respell(bundle: Document): Document {
  const document = respellValue(bundle as Json) as SchulconnexBundle & Document;
  document.info.title += ", spelling of version 1.7";
  document.info.description += " For apps registered for the spelling of version 1.7.";
  const { Loeschung: deletion } = bundle.components?.schemas ?? {};
  if (deletion?.properties?.["zeitpunkt"] === undefined)
    throw new Error(
      "openapi/schemas/Loeschung.yaml has no property zeitpunkt, or no operation of openapi/schulconnex.yaml returns it. " +
        "The spelling of version 1.7 has it in another form: put it back, or take it out of openapi/tools/spelling.ts too.",
    );
  document.components.schemas.Loeschung.properties.zeitpunkt = {
    type: "string",
    format: "date-time",
    description: "When the person will be deleted for good, in UTC.",
    example: "2026-12-21T10:00:00Z",
  };
  return document;
}

function respellValue(value: Json): Json {
  if (typeof value === "string") return codes.get(value) ?? value.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d)Z$/, "$1:00Z");
  if (Array.isArray(value)) return value.map(respellValue);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, respellValue(inner)]));
}
