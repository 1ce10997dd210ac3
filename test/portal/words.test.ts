import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { auditActions } from "../../src/events/index.ts";
import { staffRoleNames } from "../../src/staff/index.ts";
import { findBundle } from "../contract/bundles.ts";
import { listTexts } from "../support/page-texts.ts";

// test/portal/texts.test.ts holds that English has the same texts.
const areas = globSync("src/portal/*/templates").map((folder) => dirname(folder));
const textsOf = (area: string) =>
  new Set([...listTexts(area, "de").keys()].map((key) => key.replace(/_(one|other)$/, "")));
const frame = textsOf("src/portal/frame");

type Schema = { properties?: Record<string, Schema>; allOf?: Schema[] };
const { document } = findBundle("admin");
const schemas = document.components["schemas"] as Record<string, Schema>;

/** The enumerations of the admin API. */
const enums = [...new Set([...JSON.stringify(document).matchAll(/"enum":\[([^\]]*)\]/g)].map(([, list]) => list!))].map(
  (list) => [...list.matchAll(/"([^"]+)"/g)].map(([, value]) => value!.replace(":", "_")),
);

/** The last parts of keys by the part before. */
function listValues(keys: Iterable<string>): Map<string, Set<string>> {
  const values = new Map<string, Set<string>>();
  for (const key of keys)
    for (const { index } of key.matchAll(/\./g)) {
      const [prefix, value] = [key.slice(0, index), key.slice(index + 1).split(".")[0]!];
      values.set(prefix, (values.get(prefix) ?? new Set()).add(value));
    }
  return values;
}

/** Enumerations of which an area has the texts of half of the values or more, and not of all. */
const listGaps = (area: string): string[] =>
  [...listValues(textsOf(area))].flatMap(([prefix, values]) =>
    enums.flatMap((all) => {
      const missing = all.filter((value) => !values.has(value));
      const found = all.length - missing.length;
      return missing.length > 0 && found > 1 && found * 2 >= all.length
        ? [`${area} ${prefix}: no ${missing.join(" ")} of ${all.join(" ")}`]
        : [];
    }),
  );

test("where pages name the values of an enumeration, each has a text, apart from those in the file", async () => {
  await expect(areas.flatMap(listGaps).sort().join("\n")).toMatchFileSnapshot("values-without-text.txt");
});

test("audit actions, roles and the properties of changed records have texts", () => {
  const people = ["AdminSchool", "SignInSettings", "CardSettings", "ParentLetterInput", "AdminPerson", "AdminGroup"];
  const apps = ["AdminApp", "Grant", "RetentionPolicy", "StaffRole", "WebhookEndpoint", "ScopeRequest", "StaffPerson"];
  const propertiesOf = ({ properties = {}, allOf = [] }: Schema): string[] => [
    ...Object.keys(properties).filter((name) => name !== "id"),
    ...allOf.flatMap(propertiesOf),
  ];
  const keys = [
    ...auditActions.map((action) => `frame.action.${action}`),
    ...staffRoleNames.map((role) => `staffRoles.${role}`),
    ...[...people, ...apps, "Login"].flatMap((name) =>
      propertiesOf(schemas[name]!).map((one) => `frame.difference.property.${one}`),
    ),
  ];
  expect(keys.filter((key) => !frame.has(key))).toEqual([]);
});

test("problems have texts, apart from those that only programs cause", () => {
  // The pages have no token, and call the addresses of the contract.
  const ofPrograms = new Set([
    ...["missing_token", "invalid_token", "insufficient_scope", "wrong_context", "repeated_parameter"],
    ...["path_not_found", "not_found", "method_not_allowed", "unsupported_type", "invalid", "cursor_expired"],
    ...["organization_not_found", "user_not_found", "client_secret_refused", "webhook_listener_limit"],
    ...[
      "erasure_not_found",
      "unavailable",
      "internal_error",
      "contract_broken",
      "bug",
      "keys_not_lost",
      "access_report_limit",
    ],
  ]);
  const texts = new Set(areas.flatMap((area) => [...textsOf(area)]));
  // OAuth and the error pages of the sign-on have no problems in the portal.
  const [ofApis = ""] = readFileSync("docs/errors.md", "utf8").split("\n## OAuth and sign-on");
  const codes = [...ofApis.matchAll(/^### `(\w+)`$/gm)].map(([, code]) => code!);
  expect(codes.filter((code) => !texts.has(`problems.${code}`) && !ofPrograms.has(code))).toEqual([]);
});

test("of what is not found no page says that it does not exist: it may be another school's", () => {
  const claims = areas.flatMap((area) =>
    (["de", "en"] as const).flatMap((language) =>
      [...listTexts(area, language)]
        .filter(([key, text]) => /(^|\.)problems\./.test(key) && key.endsWith("_not_found") && isClaim(String(text)))
        .map(([key]) => `${area} ${language} ${key}`),
    ),
  );
  expect(claims).toEqual([]);
});

const isClaim = (text: string) =>
  /gibt es nicht(?!, oder)|existiert nicht|no longer exists|does not exist(?!, or)/.test(text) &&
  !/moved|gewechselt/.test(text);
