import { parse, stringify } from "yaml";

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

/** Turns the Schulconnex bundle into that for apps registered for the spelling of version 1.7. */
export function respell(bundle: string): string {
  const document = respellValue(parse(bundle) as Json) as SchulconnexBundle & Json;
  document.info.title += ", spelling of version 1.7";
  document.info.description += " For apps registered for the spelling of version 1.7.";
  document.components.schemas.Loeschung.properties.zeitpunkt = {
    type: "string",
    format: "date-time",
    description: "When the person will be deleted for good, in UTC.",
    example: "2026-12-21T10:00:00Z",
  };
  return stringify(document, { lineWidth: 0, singleQuote: true });
}

function respellValue(value: Json): Json {
  if (typeof value === "string") return codes.get(value) ?? value.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d)Z$/, "$1:00Z");
  if (Array.isArray(value)) return value.map(respellValue);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, respellValue(inner)]));
}
