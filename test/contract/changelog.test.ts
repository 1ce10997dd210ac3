/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-member-access,
   @typescript-eslint/no-unsafe-call --
   planted changes reach into a document as a careless hand would */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { listAdditions } from "../../openapi/tools/added-properties.ts";
import { listKinds } from "../../openapi/tools/breaks.ts";
import { listChangedParts } from "../../openapi/tools/changed-parts.ts";
import { checkChangelog, describeAdditions, findChangedParts, readChangelog } from "../../openapi/tools/changelog.ts";
import {
  type Document,
  listVersions,
  readDocument,
  releasedFolder,
  releasesFolder,
  releasesOf,
} from "../../openapi/tools/document.ts";
import { inlineExamples } from "../../openapi/tools/inline-examples.ts";
import { respell } from "../../openapi/tools/spelling.ts";
import { listSums, moveNext, setVersion, whyNotAfter } from "../../openapi/tools/release-steps.ts";

type Loose = any;
const released = readDocument(join(releasedFolder, "idm.yaml"));
const partsAfter = (change: (document: Loose) => unknown): string[] => {
  const after = structuredClone(released);
  change(after);
  return listChangedParts(released, after);
};
const schools = (document: Loose) => document.paths["/idm/ep/v1/schools"];

test.each<[claim: string, parts: string[], change: (document: Loose) => unknown]>([
  ["an operation goes", ["listSchools"], (d) => delete schools(d).get],
  [
    "an operation comes",
    ["listRooms"],
    (d) => (d.paths["/rooms"] = { get: { operationId: "listRooms", responses: {} } }),
  ],
  [
    "an operation moves",
    ["listSchools"],
    (d) => ((d.paths["/all"] = schools(d)), delete d.paths["/idm/ep/v1/schools"]),
  ],
  ["an operation gets a parameter", ["listSchools"], (d) => schools(d).get.parameters.push({ name: "q", in: "query" })],
  ["an operation is deprecated", ["listSchools"], (d) => (schools(d).get.deprecated = true)],
  ["a property called title comes", ["School"], (d) => (d.components.schemas.School.properties.title = {})],
  ["a property is no longer required", ["School"], (d) => d.components.schemas.School.required.pop()],
  ["a limit changes", ["Problem"], (d) => (d.components.schemas.Problem.properties.code.maxLength = 9)],
  ["a security scheme goes", ["appContext"], (d) => delete d.components.securitySchemes.appContext],
])("the changelog has to name what differs when %s", (_claim, parts, change) => {
  expect(partsAfter(change)).toEqual(parts);
});

test("a shared header counts for every operation that answers it", () => {
  const parts = partsAfter((d) => (d.components.headers.RetryAfter.schema.minimum = 1));
  expect(parts).toContain("listSchools");
});

test("words, examples, the version and extensions for the service alone are no difference", () => {
  const parts = partsAfter((d) => {
    d.info.version = "9.0.0";
    d.info.description = "Other words";
    schools(d).get.summary = "Other words";
    schools(d).get["x-roles"] = ["OPERATOR"];
    schools(d).get["x-self"] = true;
    d.components.schemas.School.properties.name.description = "Other words";
    d.components.schemas.School.properties.name.example = "Other";
  });
  expect(parts).toEqual([]);
});

const entry = { kind: "changed", what: "x", who: "nobody", action: "nothing" } as const;

test("a part that no entry names is a fault, and so is one that is named for nothing", () => {
  const next = [{ ...entry, contracts: ["idm"], parts: ["School", "Person"] }];
  const faults = checkChangelog({ next, releases: [] }, { idm: ["School", "User"], webhooks: ["Event"] });
  expect(faults).toEqual([
    "idm differs from its last release; add to `next` an entry with contracts: [idm], parts: [User]",
    "webhooks differs from its last release; add to `next` an entry with contracts: [webhooks], parts: [Event]",
    '"x" names Person, which is as it was released',
  ]);
  expect(checkChangelog({ next: [], releases: [] }, { idm: [] })).toEqual([]);
  const unknown = checkChangelog({ next: [{ ...entry, contracts: ["idn"], parts: [] }], releases: [] }, { idm: [] });
  expect(unknown).toEqual(['"x" names idn, which is no contract']);
});

test("added properties and values are described by the contract, unless their schema differs in more", () => {
  const additionsAfter = (change: (schemas: Loose) => unknown) => {
    const after = structuredClone(released) as Loose;
    change(after.components.schemas);
    return listAdditions(released, after as Document);
  };
  const shortName = { type: "string", description: "A short\nname." };
  const additions = additionsAfter(({ School, Group, ListedGroup, Problem }) => {
    Object.assign(School.properties, { shortName });
    School.required.push("shortName");
    School.description = "Other words";
    Object.assign(Group.properties, { shortName });
    ListedGroup.properties.status.enum.push("CHOR");
    Object.assign(Problem.properties, { shortName });
    Problem.properties.code.maxLength = 9;
  });
  expect(parse(describeAdditions("idm", additions))).toEqual([
    {
      ...entry,
      contracts: ["idm"],
      kind: "added",
      parts: ["School", "ListedGroup", "Group"],
      what: "`shortName` of `School`, `Group`: A short name. `CHOR` of `ListedGroup`.",
    },
  ]);
  expect(additionsAfter(({ School }) => School.required.pop()).size).toBe(0);
  expect(additionsAfter(({ School }) => (School.properties.name.maxLength = 9)).size).toBe(0);
  expect(
    additionsAfter(({ Group, ListedGroup }) => (delete Group.properties.name, ListedGroup.properties.status.enum.pop()))
      .size,
  ).toBe(0);
});

test("what a tool looks for in the contract and does not find is named with the file to edit", () => {
  const bundle: Loose = { info: {}, components: { schemas: { Loeschung: { properties: {} } } } };
  expect(() => respell(bundle as never, "V1_7")).toThrow(
    /^openapi\/schemas\/Loeschung\.yaml has no property zeitpunkt/,
  );
  const example = { value: { $ref: "Nobody.yaml#/value" } };
  expect(() => inlineExamples({ components: { examples: { example } } } as never, "openapi/examples")).toThrow(
    "openapi/examples/Nobody.yaml has no value",
  );
});

test("the page of promises names every break that the program knows, and no other", () => {
  const text = readFileSync(join(import.meta.dirname, "../../docs/promises.md"), "utf8");
  const [, section] = /^## What is a break\n([^]*?)^## /m.exec(text)!;
  const named = [...section!.matchAll(/`([a-z]{2,}(?:-[a-z]+)+)`/g)].map(([, kind]) => kind);
  expect([...new Set(named)].sort()).toEqual(listKinds().toSorted());
});

test("the changelog is complete, and has every released version", () => {
  const changelog = readChangelog();
  expect(checkChangelog(changelog, findChangedParts())).toEqual([]);
  expect(changelog.releases.map(({ version }) => version)).toEqual(listVersions());
});

test("a changelog that forgets who has to act is refused", () => {
  expect(() => readChangelog("next: [{ contracts: [idm], kind: changed, parts: [], what: x }]\nreleases: []")).toThrow(
    /changelog.yaml: [^]*who/,
  );
});

const everyRelease = [releasesFolder, releasesOf("admin")].flatMap((folder) =>
  listVersions(folder).map((version) => join(folder, version)),
);
test.each(everyRelease)("%s is as it was released", (folder) => {
  expect(listSums(folder)).toBe(readFileSync(join(folder, "SHA256SUMS"), "utf8"));
});

test("a release takes a version that follows the last one", () => {
  const taken = ["1.2.0", "1.1.4", "2.0.0", "1.1.3", "1.0.9", "", "v1.2.0"].filter(
    (version) => whyNotAfter(version, "1.1.3") === null,
  );
  expect(taken).toEqual(["1.2.0", "1.1.4"]);
  expect(whyNotAfter("1.0.0", undefined)).toBeNull();
});

test("a release moves what comes next to its version, and leaves the words about the file", () => {
  const text = "# How this file works\nnext:\n  - what: a thing\nreleases:\n  - version: 1.0.0\n    entries: []\n";
  const moved = moveNext(text, { version: "1.1.0", date: "2026-11-22" });
  expect(moved).toMatch(/^# How this file works\nnext: \[\]\n/);
  expect(parse(moved)).toEqual({
    next: [],
    releases: [
      { version: "1.1.0", date: "2026-11-22", entries: [{ what: "a thing" }] },
      { version: "1.0.0", entries: [] },
    ],
  });
  expect(setVersion("info:\n  version: 1.0.0\n  x: y\n", "1.1.0")).toBe("info:\n  version: 1.1.0\n  x: y\n");
});
