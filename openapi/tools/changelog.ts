import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { z } from "zod";
import type { Changelog } from "../../src/publish/index.ts";
import { listAdditions, type Addition } from "./added-properties.ts";
import { listChangedParts } from "./changed-parts.ts";
import { allDocumentNames, bundleFolder, readDocument, releasedFolders, releasesFolder } from "./document.ts";

export const changelogFile = join(releasesFolder, "changelog.yaml");

const date = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, "a date is written as 2026-11-21");
const entry = z.strictObject({
  contracts: z.array(z.string()).min(1),
  kind: z.enum(["added", "changed", "clarified", "deprecated", "removed"]),
  parts: z.array(z.string()),
  what: z.string().min(1),
  who: z.string().min(1),
  action: z.string().min(1),
  until: date.optional(),
  more: z.string().startsWith("/docs/").optional(),
});
const changelog = z.strictObject({
  next: z.array(entry),
  releases: z.array(z.strictObject({ version: z.string(), date, entries: z.array(entry).min(1) })).min(1),
});

/** Reads the changelog. Errors: throws with what is wrong in it. */
export function readChangelog(text = readFileSync(changelogFile, "utf8")): Changelog {
  const { data, error } = changelog.safeParse(parse(text));
  if (error) throw new Error(`changelog.yaml: ${z.prettifyError(error)}`);
  return data as Changelog;
}

/** Names of the parts in which each contract differs from its last release. */
export type ChangedParts = Record<string, string[]>;

export const findChangedParts = (): ChangedParts =>
  Object.fromEntries(readContracts().map(({ name, before, after }) => [name, listChangedParts(before, after)]));

/** Each contract as it was released and as it is. */
const readContracts = () =>
  allDocumentNames(bundleFolder).map((name) => {
    const after = readDocument(join(bundleFolder, `${name}.yaml`));
    const old = releasedFolders.map((folder) => join(folder, `${name}.yaml`)).find((file) => existsSync(file));
    const before = old === undefined ? { info: after.info, paths: {}, components: {} } : readDocument(old);
    return { name, before, after };
  });

/** What is wrong with `next`: parts that differ and that no entry names, and parts that entries name for nothing. */
export function checkChangelog({ next }: Changelog, changed: ChangedParts): string[] {
  const missing = Object.entries(changed).flatMap(([name, parts]) => {
    const told = new Set(next.filter(({ contracts }) => contracts.includes(name)).flatMap(({ parts }) => parts));
    const untold = parts.filter((part) => !told.has(part));
    return untold.length === 0
      ? []
      : [
          `${name} differs from its last release; add to \`next\` an entry with contracts: [${name}], parts: [${untold.join(", ")}]`,
        ];
  });
  const idle = next.flatMap(({ contracts, parts, what }) => {
    const unknown = contracts.filter((name) => changed[name] === undefined);
    const same = parts.filter((part) => !contracts.some((name) => changed[name]?.includes(part)));
    return [
      ...unknown.map((name) => `"${what}" names ${name}, which is no contract`),
      ...same.map((part) => `"${what}" names ${part}, which is as it was released`),
    ];
  });
  return [...missing, ...idle];
}

/** Describes added properties in an entry for `next`; the same property of several schemas in one sentence. */
export function describeAdditions(contract: string, additions: ReadonlyMap<string, readonly Addition[]>): string {
  const schemas = new Map<string, string[]>();
  for (const [schema, added] of additions)
    for (const { name, description } of added) {
      const sentence = JSON.stringify([name, description ?? ""]);
      schemas.set(sentence, [...(schemas.get(sentence) ?? []), `\`${schema}\``]);
    }
  const sentences = [...schemas].map(([sentence, names]) => {
    const [name, description] = JSON.parse(sentence) as [string, string];
    return `\`${name}\` of ${names.join(", ")}${description && `: ${description.replace(/\.$/, "")}`}.`;
  });
  return `  - contracts: [${contract}]
    kind: added
    parts: [${[...additions.keys()].join(", ")}]
    what: >-
      ${sentences.join(" ")}
    who: nobody
    action: nothing
`;
}

/** Writes the entries of what was added to schemas, as far as no entry names them. */
function writeAdditions(): void {
  const { next } = readChangelog();
  const entries = readContracts().flatMap(({ name, before, after }) => {
    const told = new Set(next.filter(({ contracts }) => contracts.includes(name)).flatMap(({ parts }) => parts));
    const additions = [...listAdditions(before, after)].filter(([schema]) => !told.has(schema));
    return additions.length === 0 ? [] : [describeAdditions(name, new Map(additions))];
  });
  if (entries.length === 0) return;
  const text = readFileSync(changelogFile, "utf8").replace(/^next:.*\n/m, () => `next:\n${entries.join("")}`);
  writeFileSync(changelogFile, text);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { write: { type: "boolean", default: false } } });
  if (values.write) writeAdditions();
  const faults = checkChangelog(readChangelog(), findChangedParts());
  for (const fault of faults) console.error(`openapi/released/changelog.yaml: ${fault}`);
  if (faults.length === 0) console.log("The changelog names every part that differs from the last release.");
  else console.error("`npm run lint:changelog -- --write` writes the entries of added properties.");
  process.exitCode = faults.length === 0 ? 0 : 1;
}
