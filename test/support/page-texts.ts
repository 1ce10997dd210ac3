import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

type Texts = { [key: string]: string | Texts };

/** None if a file is missing. */
function readTexts(folder: string, locale: string): Texts {
  const file = join(folder, "locales", `${locale}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Texts) : {};
}

/** What the contract calls its properties. */
const labels = JSON.parse(readFileSync("generated/openapi/property-labels.json", "utf8")) as Record<string, Texts>;

/** The texts of a folder by their keys, such as `people.title`. */
export function listTexts(folder: string, locale: string): Map<string, string> {
  const flatten = (texts: Texts, path: string): [string, string][] =>
    Object.entries(texts).flatMap(([key, text]) =>
      typeof text === "string" ? [[path + key, text]] : flatten(text, `${path}${key}.`),
    );
  return new Map([
    ...flatten(readTexts(folder, locale), ""),
    ...(folder === "src/portal/frame" ? flatten(labels[locale]!, "frame.difference.property.") : []),
  ]);
}

/** One key for the plural forms of a text. */
const withoutPlural = (key: string): string => key.replace(/_(zero|one|other)$/, "");

const valuesIn = (text: string): string =>
  [...text.matchAll(/{{(\w+)}}/g)]
    .map(([, name]) => name)
    .sort()
    .join(" ");

const sourcesIn = (folder: string): string[] =>
  globSync(`${folder}/**/*.{ts,eta}`)
    .filter((file) => !file.endsWith(".test.ts"))
    .map((file) => readFileSync(file, "utf8"));

const escape = (text: string): string => text.replace(/[.*+?^$()[\]{}|\\]/g, String.raw`\$&`);

/** Returns whether sources use a key: as a string, or as one that a template string or a sum makes. */
function makeIsUsed(sources: readonly string[]): (key: string) => boolean {
  const all = sources.join("\n");
  const strings = new Set([...all.matchAll(/["'`]([\w.-]+)["'`]/g)].map(([, text]) => text!));
  const made = [
    ...[...all.matchAll(/`([\w.-]*\$\{[^`]*)`/g)]
      .map(([, text]) =>
        text!
          .split(/\$\{(?:[^{}]|\{[^{}]*\})*\}/)
          .map(escape)
          .join("[\\w:-]*"),
      )
      .filter((pattern) => /\w/.test(pattern.replaceAll("[\\w:-]*", ""))),
    ...[...all.matchAll(/"([\w.-]+[._])" \+/g)].map(([, text]) => `${escape(text!)}.+`),
  ].map((pattern) => new RegExp(`^${pattern}$`));
  return (key) => strings.has(key) || made.some((pattern) => pattern.test(key));
}

/** The codes of refusals of the admin API. */
const codes = new Set(
  [...readFileSync("docs/errors.md", "utf8").matchAll(/^#+ `?(\w+)`?$/gm)].map(([, code]) => code!),
);

/** What the form of any area can lead to: `done.<name>` of the page that it redirects to. */
const isDone = makeIsUsed(sourcesIn("src/portal"));

/** What a page looks up by a code: `problems.<code>` of a refusal, `done.<name>` of a form. */
function isLookedUp(key: string, isUsed: (key: string) => boolean): boolean {
  const [, kind, name = ""] = /^(problems|done)\.(\w+)$/.exec(key) ?? [];
  if (kind === "problems" && (codes.has(name) || /^(status_\d{3}|other)$/.test(name))) return true;
  return kind === "done" ? isDone(name) : isUsed(kind === undefined ? key : name);
}

/**
 * Lists what is wrong with the texts and templates of an area of pages: a text that only one language has, a text or a
 * template that a page names and nobody wrote, and one that no page uses.
 *
 * `shared` are the folders whose texts and templates the area uses too, and `users` those that use the area's.
 */
export function checkArea(folder: string, { shared = [], users = [] }: { shared?: string[]; users?: string[] } = {}) {
  const [german, english] = [listTexts(folder, "de"), listTexts(folder, "en")];
  const [own, sources] = [sourcesIn(folder), [folder, ...users].flatMap(sourcesIn)];
  const isUsed = makeIsUsed([...sources, ...shared.flatMap(sourcesIn)]);
  const known = new Set([folder, ...shared].flatMap((one) => [...listTexts(one, "de").keys()].map(withoutPlural)));
  const named = (pattern: RegExp) =>
    new Set(own.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name!)));
  const hasTemplate = (name: string, folders: string[]) =>
    folders.some((one) => existsSync(join(one, "templates", `${name}.eta`)));
  const templates = globSync(`${folder}/templates/*.eta`).map((file) => basename(file, ".eta"));
  return [
    ...[...german.keys()].filter((key) => !english.has(key)).map((key) => `no English text ${key}`),
    ...[...english.keys()].filter((key) => !german.has(key)).map((key) => `no German text ${key}`),
    ...[...german]
      .filter(([key, text]) => english.has(key) && valuesIn(text) !== valuesIn(english.get(key)!))
      .map(([key]) => `other values in the German text ${key}`),
    ...[...named(/\bt\(\s*"([\w.-]*\w)"/g)].filter((key) => !known.has(key)).map((key) => `no text ${key}`),
    ...[
      ...named(/\bview: "([\w-]+)"/g),
      ...named(/\b(?:makePage\(|showAppPage\(request,)\s*"([\w-]+)"/g),
      ...named(/\.fragment\("([\w-]+)"/g),
    ]
      .filter((name) => !hasTemplate(name, [folder]))
      .map((name) => `no template ${name}`),
    ...[...named(/\bit\.partial\("([\w-]+)"/g)]
      .filter((name) => !hasTemplate(name, [folder, ...shared]))
      .map((name) => `no template ${name}`),
    ...new Set(
      [...german.keys()]
        .map(withoutPlural)
        .filter((key) => !isLookedUp(key, isUsed))
        .map((key) => `nobody uses the text ${key}`),
    ),
    ...templates.filter((name) => !isUsed(name)).map((name) => `nobody uses the template ${name}`),
  ];
}
