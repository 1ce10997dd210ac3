// @module-tag slow
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findHits, isRange, type AdvisoryList, type LockFile } from "../../deploy/advisories.ts";
import { readAudit } from "../../deploy/read-audit.ts";

const root = join(import.meta.dirname, "../..");
const readJson = (path: string): unknown => JSON.parse(readFileSync(join(root, path), "utf8"));
const list = readJson("deploy/advisories.json") as AdvisoryList;
const lock = readJson("package-lock.json") as LockFile;
const dayMs = 86_400_000;

test("no advisory of deploy/advisories.json is about a version that is installed, unless a reason says why it does no harm", () => {
  const days = Math.floor((Date.now() - new Date(list.checkedOn).getTime()) / dayMs);
  if (days > 60) console.warn(`deploy/advisories.json was last checked ${days} days ago: npm run advisories`);
  expect(findHits(lock, list)).toEqual([]);
});

test("each advisory has a range, a severity and a source, and each acceptance a reason and an advisory", () => {
  expect(list.advisories.length).toBeGreaterThan(25);
  for (const { id, range, severity, source } of list.advisories) {
    expect(id).toMatch(/^(GHSA(-[0-9a-z]{4}){3}|CVE-\d{4}-\d+)$/);
    expect([id, isRange(range)]).toEqual([id, true]);
    expect(["low", "moderate", "high", "critical"]).toContain(severity);
    expect(source).toMatch(/^https:\/\//);
  }
  const keys = list.advisories.map(({ id, package: name }) => `${name} ${id}`);
  expect(new Set(keys).size).toBe(keys.length);
  for (const { id, package: name, reason } of list.accepted) {
    expect(keys).toContain(`${name} ${id}`);
    expect(reason.length).toBeGreaterThan(20);
  }
});

test("every package of the list is one that is installed", () => {
  const names = new Set(Object.keys(lock.packages).map((path) => path.split("node_modules/").at(-1)!));
  expect(list.advisories.filter(({ package: name }) => !names.has(name))).toEqual([]);
});

/** The lock file with an older version of a package. */
const downgraded = (name: string, version: string): LockFile => ({
  packages: { ...lock.packages, [`node_modules/other/node_modules/${name}`]: { version } },
});

test.each([
  ["qs", "6.14.0", "GHSA-6rw7-vpxm-498p"],
  ["koa", "3.1.1", "GHSA-7gcc-r8m5-44qm"],
  ["path-to-regexp", "0.1.12", "GHSA-37ch-88jc-xwx2"],
  ["multer", "3.0.0-alpha.1", "GHSA-72gw-mp4g-v24j"],
  ["path-to-regexp", "8.3.0", "GHSA-j3q9-mxjg-w52f"],
])("%s %s, wherever it lies, is found by %s, and accepted with a reason only", (name, version, id) => {
  const old = downgraded(name, version);
  expect(findHits(old, list).join("\n")).toContain(`${name}@${version} ${id}`);
  const accept = (reason: string) => ({ ...list, accepted: [{ id, package: name, reason }] });
  expect(findHits(old, accept("")).join("\n")).toContain(id);
  expect(findHits(old, accept("Not called with what others send.")).join("\n")).not.toContain(id);
});

test("what npm audit prints is read, and a registry without audits is told apart from one that knows nothing", () => {
  const via = { name: "qs", title: "A title", url: "https://github.com/advisories/GHSA-6rw7-vpxm-498p" };
  const printed = {
    auditReportVersion: 2,
    vulnerabilities: {
      qs: { via: [{ ...via, severity: "high", range: "<6.14.1" }] },
      express: { via: ["qs"] },
    },
  };
  const advisory = { id: "GHSA-6rw7-vpxm-498p", package: "qs", range: "<6.14.1", severity: "high", title: "A title" };
  expect(readAudit(JSON.stringify(printed))).toEqual({ advisories: [{ ...advisory, source: via.url }] });
  expect(readAudit(JSON.stringify({ vulnerabilities: {} }))).toEqual({ advisories: [] });
  const message = "405 Method Not Allowed";
  expect(readAudit(JSON.stringify({ message, error: {} }))).toEqual({ failure: message });
  expect(readAudit("")).toEqual({ failure: "npm printed no JSON" });
});
