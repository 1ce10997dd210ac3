// @module-tag slow
import { expect, test } from "vitest";
import type { Browser } from "../support/browser.ts";
import { makePortalUser } from "../support/portal.ts";
import { fillPath, makePortalWorld, portalPaths } from "../support/portal-world.ts";
import { startService } from "../support/service.ts";

// Sends each form of the portal with values that the contract refuses: each field is named, in both languages.
const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const world = await makePortalWorld(service);

/** `values` are the options of a select. */
type Field = { name: string; kind: string; tag: string; values: string[] | null };
type Form = { action: string; isUpload: boolean; hidden: [string, string][]; fields: Field[] };

const attributeOf = (tag: string, name: string): string | null =>
  new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]?.replaceAll("&quot;", '"').replaceAll("&amp;", "&") ?? null;

function formsOf(html: string): Form[] {
  return [...html.matchAll(/<form([^>]*method="post"[^>]*)>([\s\S]*?)<\/form>/g)].map(([, form = "", content = ""]) => {
    const tags = [...content.matchAll(/<(select) [^>]*>([^]*?)<\/select>|<(input|textarea) [^>]*>/g)];
    const all = tags.map(([whole, select, options = "", other = ""]) => {
      const tag = whole.slice(0, whole.indexOf(">") + 1);
      const values = [...options.matchAll(/<option value="([^"]*)"/g)].map(([, value]) => value!);
      return { tag, name: attributeOf(tag, "name") ?? "", kind: select ?? other, values: select ? values : null };
    });
    const typeOf = ({ tag, kind }: Field) => (kind === "input" ? (attributeOf(tag, "type") ?? "text") : kind);
    const hidden = all.filter(({ tag }) => tag.includes('type="hidden"'));
    return {
      action: attributeOf(form, "action")!,
      isUpload: form.includes("multipart"),
      hidden: hidden.map(({ tag, name }) => [name, attributeOf(tag, "value") ?? ""]),
      fields: all
        .map((field) => ({ ...field, kind: typeOf(field) }))
        .filter(({ kind, name }) => !unchecked.has(kind) && !unchecked.has(name)),
    };
  });
}

/** A search finds nothing, an unknown format is guessed, and boxes and buttons have tests of their own. */
const unchecked = new Set(["hidden", "search", "checkbox", "radio", "format"]);

/** What is sent in a field that takes not everything, in each language; null for any other. */
const wrongValues: Record<string, (field: Field) => string | null> = {
  de({ tag, kind, values }) {
    if (kind === "number") return "9999999";
    if (kind === "url") return "nonsense";
    if (values !== null) return values.some((value) => /^[A-Z]/.test(value)) ? "no option" : null;
    const longest = attributeOf(tag, "maxlength");
    return longest === null ? null : "x".repeat(Number(longest) + 1);
  },
  en: ({ tag, values }) => (/ required/.test(tag) && (values ?? [""]).includes("") ? "" : null),
};

const others: Record<string, string> = {
  number: "1",
  text: "1",
  password: "1",
  url: "https://a.example/",
  date: "2099-01-01",
};
const valueOf = ({ tag, kind, values }: Field): string =>
  attributeOf(tag, "value") || (values?.[0] ?? others[kind] ?? "");

type Sent = { browser: Browser; language: string; values: [string, string][] };

async function send({ action, isUpload, hidden }: Form, { browser, language, values }: Sent) {
  const body = isUpload ? new FormData() : new URLSearchParams();
  for (const [name, value] of [...hidden, ...values]) body.append(name, value);
  const response = await browser.once(action, { method: "POST", body, headers: { "accept-language": language } });
  return { status: response.status, html: await response.text() };
}

/** Says which fields of a form are not named, have no message beside them or no link above the form. */
async function listFaults(browser: Browser, form: Form, language: string): Promise<string[]> {
  const wrong = wrongValues[language]!;
  const tried = form.fields.filter((field) => wrong(field) !== null);
  if (tried.length === 0) return [];
  const values = form.fields.map((field): [string, string] => [field.name, wrong(field) ?? valueOf(field)]);
  const { status, html } = await send(form, { browser, language, values });
  const faults = tried.flatMap(({ name }) => {
    const tag = new RegExp(`<(?:input|select|textarea)[^>]* name="${name}"[^>]*>`).exec(html)?.[0] ?? "";
    const [, described = ""] = / aria-describedby="[^"]*?([^" ]+-fault)"/.exec(tag) ?? [];
    if (!tag.includes('aria-invalid="true"')) return [`${name} is not named`];
    if (!new RegExp(`id="${described}">[^<]+`).test(html)) return [`${name} has no message`];
    return html.includes(`href="#${attributeOf(tag, "id") ?? ""}"`) ? [] : [`${name} has no link`];
  });
  const isTitled = html.includes(`<title>${language === "de" ? "Fehler: " : "Error: "}`);
  return [...(isTitled ? [] : [`status ${status} and no title that says so`]), ...faults];
}

const paths = portalPaths.filter((path) => !/pdf$|json$|xlsx$|csv$/.test(path));
/** The service refuses more requests of one caller. */
const atOnce = 3;
const seen = new Set<string>();
const withoutLimit = new Set<string>();
/** Lists, and what no operation takes. */
const unlimited = new Set([
  ...["networks", "redirectUris", "postLogoutRedirectUris", "publicKeys", "scopes", "subprocessors"],
  ...["body", "computed", "confirmed", "ep", "id", "standard", "timestamp"],
]);

test.each([["OPERATOR"], ["SCHOOL_ADMIN"], ["PARTNER"]] as const)(
  "each form that %s sees names the fields that are wrong, in both languages",
  async (role) => {
    const reach = {
      SCHOOL_ADMIN: { schoolIds: [world.school] },
      PARTNER: { clientIds: [world.clientId] },
      OPERATOR: {},
    };
    const { browser } = await makePortalUser(service, role, reach[role]);
    const isNew = ({ action }: Form) => !action.endsWith("/search") && !seen.has(action);
    const tryPage = async (path: string): Promise<string[]> => {
      const response = await browser.once(fillPath(path, world));
      if (response.status !== 200 || !response.headers.get("content-type")?.startsWith("text/html")) return [];
      const found: string[] = [];
      for (const form of formsOf(await response.text()).filter(isNew)) {
        seen.add(form.action);
        for (const { name, kind, tag } of form.fields)
          if (["text", "textarea"].includes(kind) && !/ (maxlength|pattern)=/.test(tag)) withoutLimit.add(name);
        for (const language of Object.keys(wrongValues))
          found.push(...(await listFaults(browser, form, language)).map((text) => `${path} ${form.action} ${text}`));
      }
      return found;
    };
    const faults: string[] = [];
    for (let at = 0; at < paths.length; at += atOnce)
      faults.push(...(await Promise.all(paths.slice(at, at + atOnce).map(tryPage))).flat());
    expect(faults).toEqual([]);
    expect(seen.size).toBeGreaterThan(20);
    expect([...withoutLimit].filter((name) => !unlimited.has(name))).toEqual([]);
  },
);
