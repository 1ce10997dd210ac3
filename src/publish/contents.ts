import { documentsOfRecords, packageNames } from "../../clients/pack/names.ts";
import groups from "../../docs/contents.json" with { type: "json" };

type Entry = string | { path: string; title: string };

/** The table of contents: docs/contents.json names each page. The references join the last group. */
export const contents: readonly { title: string; entries: readonly Entry[] }[] = groups;

/** The published addresses, except files of former versions; the router is made at the first request. */
export const publishedPaths: readonly string[] = [
  ...contents.flatMap(({ entries }) =>
    entries.map((entry) => (typeof entry === "string" ? `/docs/${entry}` : entry.path)),
  ),
  ...packageNames.map((name) => `/downloads/${name}`),
  ...["/docs/search", "/docs/pictures/", "/docs/errors", "/docs/changelog.atom"],
  ...["/guide", "/guide/data-protection", "/guide/own-login"],
  ...[...documentsOfRecords, "sign-on", "admin"].flatMap((name) =>
    ["/docs/", "/openapi/"].flatMap((folder) => ["", ".yaml", ".json"].map((type) => `${folder}${name}${type}`)),
  ),
];
