/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-member-access,
   @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-argument --
   planted changes reach into a document as a careless hand would */
import { readFileSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { parse, stringify } from "yaml";
import { acceptedDifferences } from "../../openapi/tools/accepted-differences.ts";
import { checkReleases, compareFiles, sideOf } from "../../openapi/tools/breaking.ts";
import { listKinds, type Kind } from "../../openapi/tools/breaks.ts";
import { compareDocuments } from "../../openapi/tools/compare-documents.ts";
import {
  allDocumentNames,
  bundleFolder,
  listVersions,
  readDocument,
  releasedFolders,
  releasesOf,
  type Document,
} from "../../openapi/tools/document.ts";
import { change, harmless, narrowing, planted, released } from "./contract-changes.ts";

type Loose = any;

const releasedText = JSON.stringify(parse(released));
const copyOfReleased = (): Document => JSON.parse(releasedText) as Document;

function changed(changes: string): Document {
  const document = copyOfReleased();
  change(document, changes);
  return document;
}

const breaksOf = (before: Document, after: Document): string[] =>
  compareDocuments(before, after, { today: "2026-11-21" }).map(({ kind, where }) => `${kind} ${where}`);

test("each planted change is found, and none when it is taken back, or the kind that is expected", () => {
  const found = planted.map(({ changes }) => {
    const after = changed(changes);
    const back = breaksOf(after, copyOfReleased()).map((text) => text.split(" ")[0]);
    return { changes, breaks: breaksOf(copyOfReleased(), after), back };
  });
  expect(found).toEqual(
    planted.map(({ kind, where, changes, mirror }) => {
      return { changes, breaks: [`${kind} ${where}`], back: mirror ? [mirror] : [] };
    }),
  );
});

test("what allows less breaks those who send it, what allows more those who read it", () => {
  const found = narrowing.map(({ changesOf }) => {
    const [sent, answered] = [changed(changesOf("sent")), changed(changesOf("answered"))];
    return [
      [breaksOf(copyOfReleased(), sent), breaksOf(sent, copyOfReleased())],
      [breaksOf(copyOfReleased(), answered), breaksOf(answered, copyOfReleased())],
    ];
  });
  expect(found).toEqual(
    narrowing.map(({ inSent, inAnswered, at }) => [
      [[`${inSent} POST /people body.${at}`], []],
      [[], [`${inAnswered} POST /people 201.${at}`]],
    ]),
  );
});

test("a change that no app notices is no break", () => {
  expect(breaksOf(copyOfReleased(), copyOfReleased())).toEqual([]);
  const found = harmless.map(([claim, changes = ""]) => [claim, breaksOf(copyOfReleased(), changed(changes))]);
  expect(found).toEqual(harmless.map(([claim]) => [claim, []]));
});

test("every kind of break is planted once at least", () => {
  const found = [
    ...planted.map(({ kind }) => kind),
    ...narrowing.flatMap(({ inSent, inAnswered }) => [inSent, inAnswered]),
  ];
  const ofFolders: Kind[] = ["document-removed"];
  expect([...new Set([...found, ...ofFolders])].toSorted()).toEqual(listKinds().toSorted());
});

test("a finding says where, what, who breaks and what to do instead", () => {
  const [sent] = compareDocuments(copyOfReleased(), changed("sent.name.maxLength = 50"));
  expect(sent).toEqual({
    kind: "limit-changed",
    where: "POST /people body.name",
    says: "maxLength was 100 and is 50",
    breaks: "Apps that send what was allowed before are refused.",
    instead: "Take the old form still. Leave it as it is and add the new form beside it, under another name.",
  });
});

test("in a contract of webhooks the service sends, and apps answer", () => {
  const bundle = () => readDocument(join(bundleFolder, "webhooks.yaml")) as Loose;
  const after = bundle();
  after.components.schemas.PersonEvent?.required?.pop();
  for (const { post } of Object.values<Loose>(after.paths)) {
    delete post.responses["410"];
    post.requestBody.required = false;
  }
  const kinds = (side: "app" | "service") =>
    new Set(compareDocuments(bundle() as Document, after as Document, { side }).map(({ kind }) => kind));
  expect(kinds("app")).toContain("body-optional");
  expect(kinds("service")).not.toContain("body-optional");
});

test("an event may name a further property, as the contract announces, but no further action", () => {
  const bundle = () => readDocument(join(bundleFolder, "webhooks.yaml")) as Loose;
  const after = bundle();
  const { properties } = after.components.schemas.SchoolEvent;
  properties.updatedProperties.items.enum.push("short_name");
  const found = () => compareDocuments(bundle() as Document, after as Document, { side: "app" });
  expect(found()).toEqual([]);
  properties.action.enum.push("archive");
  expect(found().map(({ kind, where }) => `${kind} ${where}`)).toEqual([
    "enum-value-added POST /webhooks/school body.action",
  ]);
});

describe("lint:breaking of two files", () => {
  const compare = (...args: string[]) => {
    const printed: string[] = [];
    const code = compareFiles(args, (text) => printed.push(text));
    return { code, text: printed.join("\n") };
  };
  const files = async () => {
    const old = await folderWith({ "contract.yaml": released });
    const now = await folderWith({ "contract.json": JSON.stringify(changed("paths./people -")) });
    return [join(old, "contract.yaml"), join(now, "contract.json")] as const;
  };

  test("says in JSON and in words what breaks", async () => {
    const [old, now] = await files();
    const { code, text } = compare("--format", "json", old, now);
    expect(code).toBe(1);
    expect(JSON.parse(text)).toMatchObject({ breaks: [{ kind: "path-removed", where: "/people" }] });
    expect(compare(old, now).text).toMatch(
      /^path-removed: \/people: it is gone\n {4}Apps that call it fail\.\n {4}Instead: /,
    );
    expect(compare(now, old)).toEqual({ code: 0, text: "No client breaks." });
  });

  test("ends with 2 when it cannot compare", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const [old] = await files();
    expect(compare(old).code).toBe(2);
    expect(compare(old, "missing.yaml").code).toBe(2);
    expect(compare(old, old, "--format", "html").code).toBe(2);
    expect(log).toHaveBeenCalledTimes(3);
  });
});

const folders: string[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "released-"));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

test("the check fails when nothing was released, and when a released document is gone", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const empty = await folderWith({});
  expect(checkReleases([empty], empty)).toBe(1);
  expect(checkReleases([join(empty, "missing")], empty)).toBe(1);
  expect(checkReleases([await folderWith({ "idm.yaml": released })], empty)).toBe(1);
  expect(log.mock.calls.at(-1)?.[0]).toMatch(/document-removed/);
});

test("the check counts what breaks in all documents", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const document: Loose = parse(released);
  delete document.paths["/people/{id}"].put;
  const changedText = stringify(document);
  const forPartners = await folderWith({ "idm.yaml": released, "schulconnex.yaml": released });
  const before = [forPartners, await folderWith({ "admin.yaml": released })];
  const after = await folderWith({
    "idm.yaml": changedText,
    "schulconnex.yaml": changedText,
    "admin.yaml": changedText,
  });
  expect(checkReleases(before, after)).toBe(3);
  for (const folder of before) await cp(folder, after, { recursive: true });
  expect(checkReleases(before, after)).toBe(0);
});

test("the contract of staff is held too: a property that is gone is a break, whom an operation reaches is none", () => {
  expect(releasedFolders.flatMap(allDocumentNames)).toContain("admin");
  const before = JSON.parse(readFileSync(join(bundleFolder, "admin.json"), "utf8")) as Document;
  const after: Loose = structuredClone(before);
  for (const operation of Object.values<Loose>(after.paths).flatMap((item) => Object.values<Loose>(item)))
    operation["x-person"] = "home";
  expect(breaksOf(before, after)).toEqual([]);
  delete after.components.schemas.AdminSchool.properties.officialId;
  expect(breaksOf(before, after)).toEqual([expect.stringMatching(/^property-removed GET .*officialId$/)]);
});

test("every difference that is accepted is one, so that none is accepted for longer than it is there", () => {
  for (const [name, accepted] of Object.entries(acceptedDifferences)) {
    const folders = [join(releasesOf(name), listVersions(releasesOf(name))[0]!), bundleFolder];
    const [before, after] = folders.map((folder) => readDocument(join(folder, `${name}.yaml`)));
    const found = compareDocuments(before!, after!, { side: sideOf(name) }).map(
      ({ kind, where }) => `${kind}: ${where}`,
    );
    expect(accepted.filter((difference) => !found.includes(difference))).toEqual([]);
  }
});
