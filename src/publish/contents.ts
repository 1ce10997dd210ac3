import { documentsOfRecords, packageNames } from "../../clients/pack/names.ts";

type Entry = string | { path: string; title: string };

type Group = { title: string; entries: readonly Entry[] };

/** The table of contents; add a new page here. The references join the last group. */
export const contents: readonly Group[] = [
  {
    title: "Start",
    entries: [
      "first-steps",
      "tutorial-typescript",
      "tutorial-python",
      "tutorial-php",
      "client-credentials",
      "going-live",
    ],
  },
  {
    title: "Sign-on",
    entries: [
      "sign-on-server",
      "sign-on-browser",
      "sign-on-mobile",
      "logout",
      "sign-on-without-pkce",
      "compatibility",
      "coming-from-another-provider",
    ],
  },
  {
    title: "Data",
    entries: [
      "first-load",
      "not-found",
      "erasures",
      "access-reports",
      "school-year",
      "roster-connections",
      "people",
      "moving-ids",
      "schulconnex-spelling",
      "connect-oneroster",
      "privacy",
    ],
  },
  { title: "Webhooks", entries: ["receive-webhooks"] },
  { title: "Tools", entries: ["generated-clients", "sandbox", "check-app", "check-schulconnex", "listen"] },
  {
    title: "Operation",
    entries: ["command-line", "configuration", "operation", "scale", "contract-review"],
  },
  {
    title: "Reference",
    entries: [
      "errors",
      "promises",
      "conformance",
      { path: "/docs/changelog", title: "Changelog of the contract" },
      { path: "/openapi", title: "Versions of the contract" },
      { path: "/docs/rules", title: "Rules of the contract" },
      { path: "/docs/status", title: "Status" },
    ],
  },
];

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
