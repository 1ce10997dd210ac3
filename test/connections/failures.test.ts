import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import { makeStaff } from "../support/admin.ts";
import { makeDataDir } from "../support/data-dir.ts";
import { makeMakers } from "../support/make.ts";
import { csvOf, cut, json, oneRosterOf, pupilsOf, startSource, status, text } from "../support/roster-source.ts";
import type { Answer } from "../support/roster-source.ts";
import { startService } from "../support/service.ts";
import type { Asked, Reply } from "./replayed.ts";
import { makeKelvinUser, replayKelvin } from "./replayed-kelvin.ts";
import { makeSvwsExport, replaySvws } from "./replayed-svws.ts";

// What each kind of source ends as when it fails, over the API: a table for each kind.

const folder = makeDataDir();
const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", ROSTER_FOLDER: folder } });
const { db } = service;
const make = makeMakers(db);
const { call } = await makeStaff(service, "OPERATOR");

type Run = { outcome: string; failure: string; importId: string | null };

const makeSchool = (officialId: string) => make.school({ officialId });
const stateOf = (homeSchoolId: SchoolId) =>
  db.prisma.person.findMany({ where: { homeSchoolId }, orderBy: { id: "asc" }, omit: { updatedAt: true } });

/** Fetches a roster, then each broken one; returns how the runs ended, none of which may change the school. */
async function endEach(school: SchoolId, given: object, cases: Record<string, () => void | Promise<void>>) {
  const body = { name: "Source", schoolIds: [school], applies: "UNLESS_HELD", ...given };
  const made = await call("POST", "/roster-connections", { body });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const { id } = made.body as { id: string };
  const runNow = async () => (await call("POST", `/roster-connections/${id}/runs`)).body as Run;
  expect(await runNow()).toMatchObject({ outcome: "APPLIED" });
  const before = await stateOf(school);
  const ended: Record<string, string> = {};
  for (const [what, begin] of Object.entries(cases)) {
    await begin();
    const { outcome, failure, importId } = await runNow();
    vi.restoreAllMocks();
    ended[what] = outcome === "FAILED" ? failure : outcome;
    expect([what, importId, await stateOf(school)]).toEqual([what, null, before]);
  }
  expect(before.length).toBeGreaterThan(0);
  return ended;
}

/** Ends the time of the run when the source is asked. */
function makeSlow() {
  const late = new AbortController();
  vi.spyOn(AbortSignal, "timeout").mockReturnValueOnce(late.signal);
  return () => late.abort(new DOMException("late", "TimeoutError"));
}
const slow = (answers: Record<string, Answer>, path: string) => () => {
  const end = makeSlow();
  answers[path] = () => end();
};

const info = (kennung: string, from = 0, count = 6) =>
  Array.from({ length: count }, (_, at) => ({
    pid: `p-${from + at}`,
    person: { name: { vorname: "Mia", familienname: `Albrecht${from + at}` }, stammorganisation: { kennung } },
    personenkontexte: [{ id: `k-${from + at}`, organisation: { kennung, typ: "Schule" }, rolle: "Lern" }],
  }));
const half = (value: unknown) => JSON.stringify(value).slice(0, -30);
const halfOfZip = Buffer.concat([Buffer.from("PK\u0003\u0004"), Buffer.alloc(900, 7)]);

test("a file at an address: each way in which it fails, over the API", async () => {
  const school = await makeSchool("DE-FILE");
  await make.school({ officialId: "DE-OTHER" });
  const good = json(info("DE-FILE"));
  const { address, answers } = await startSource({ "/r": good });
  const set = (answer: Answer) => () => void (answers["/r"] = answer);
  const endless: Answer = (_req, res) => {
    const chunk = Buffer.alloc(2 ** 20, " ");
    const send = () => {
      while (!res.destroyed && res.write(chunk));
      if (!res.destroyed) res.once("drain", send);
    };
    send();
  };
  const ended = await endEach(
    school,
    { kind: "HTTPS_FILE", address: `${address}/r` },
    {
      "the same again": set(good),
      "no content": set(text("")),
      "blanks alone": set(text(" \n ")),
      "a table with headings alone": set(text(csvOf([]))),
      "an empty list": set(text("[]")),
      "less than it says": set(cut(csvOf(pupilsOf(6)))),
      "half of the JSON": set(text(half(info("DE-FILE")))),
      "half of an archive": set(text(halfOfZip)),
      "without end": set(endless),
      "another school": set(json(info("DE-OTHER", 50))),
      "too late": slow(answers, "/r"),
    },
  );
  expect(ended).toEqual({
    "the same again": "UNCHANGED",
    "no content": "EMPTY",
    "blanks alone": "EMPTY",
    "a table with headings alone": "EMPTY",
    "an empty list": "EMPTY",
    "less than it says": "HALF",
    "half of the JSON": "HALF",
    "half of an archive": "HALF",
    "without end": "TOO_LARGE",
    "another school": "OTHER_SCHOOL",
    "too late": "TOO_SLOW",
  });
});

test("a file of a folder: each way in which it fails, over the API", async () => {
  const school = await makeSchool("DE-FOLDER");
  await make.school({ officialId: "DE-OTHER-FOLDER" });
  const path = join(folder, "roster");
  const write = (content: string | Buffer) => () => writeFile(path, content);
  await write(JSON.stringify(info("DE-FOLDER")))();
  const ended = await endEach(
    school,
    { kind: "FOLDER", path: "roster" },
    {
      "the same again": () => undefined,
      "no content": write(""),
      "a table with headings alone": write(csvOf([])),
      "half of the JSON": write(half(info("DE-FOLDER"))),
      "half of an archive": write(halfOfZip),
      "another school": write(JSON.stringify(info("DE-OTHER-FOLDER", 50))),
      "more than 64 MiB": () => truncate(path, 64 * 2 ** 20 + 1),
    },
  );
  expect(ended).toEqual({
    "the same again": "UNCHANGED",
    "no content": "EMPTY",
    "a table with headings alone": "EMPTY",
    "half of the JSON": "HALF",
    "half of an archive": "HALF",
    "another school": "OTHER_SCHOOL",
    "more than 64 MiB": "TOO_LARGE",
  });
});

test("OneRoster: each way in which it fails, over the API", async () => {
  const school = await makeSchool("DE-ONE");
  await make.school({ officialId: "DE-OTHER-ONE" });
  const pupils = pupilsOf(9);
  const good = oneRosterOf(pupils, { identifier: "DE-ONE", pageSize: 2 });
  const { address, answers } = await startSource(good);
  const base = "/ims/oneroster/rostering/v1p2";
  const set = (path: string, answer: Answer) => () =>
    void Object.assign(answers, original, { [`${base}/${path}`]: answer });
  const original = { ...good };
  /** Of five pages, the third is another one. */
  const third =
    (answer: Answer): Answer =>
    (req, res, url) =>
      (url.searchParams.get("offset") === "4" ? answer : original[`${base}/users`]!)(req, res, url);
  const ended = await endEach(
    school,
    { kind: "ONEROSTER", address: address + base, secret: "hush" },
    {
      "the same again": () => undefined,
      nobody: set("users", json({ users: [] })),
      "a page that fails": set("users", third(status(500))),
      "a page that is cut off": set("users", third(cut('{"users":['))),
      "a page of half its JSON": set("users", third(text('{"users":[{"sourcedId":"p-4"'))),
      "a page without entries": set("users", third(json({ users: [] }, { "x-total-count": "9" }))),
      "fewer than it says": set("enrollments", json({ enrollments: [] }, { "x-total-count": "9" })),
      "a page that is too large": set("users", third(text(`{"users":[${" ".repeat(9 * 2 ** 20)}]}`))),
      "another school": () => void Object.assign(answers, oneRosterOf(pupils, { identifier: "DE-OTHER-ONE" })),
      "too late": slow(Object.assign(answers, original), `${base}/orgs`),
    },
  );
  expect(ended).toEqual({
    "the same again": "UNCHANGED",
    nobody: "EMPTY",
    "a page that fails": "UNREACHABLE",
    "a page that is cut off": "HALF",
    "a page of half its JSON": "HALF",
    "a page without entries": "HALF",
    "fewer than it says": "HALF",
    "a page that is too large": "TOO_LARGE",
    "another school": "OTHER_SCHOOL",
    "too late": "TOO_SLOW",
  });
});

test("Schulconnex: each way in which it fails, over the API", async () => {
  const school = await makeSchool("DE-SCX");
  await make.school({ officialId: "DE-OTHER-SCX" });
  const good = json(info("DE-SCX"));
  const { address, answers } = await startSource({ "/p": good });
  const set = (answer: Answer) => () => void (answers["/p"] = answer);
  /** Pages of the size that is asked for, as 1.8 has them, until the third. */
  const paged =
    (answer: Answer): Answer =>
    (req, res, url) => {
      const after = Number(url.searchParams.get("offset")?.slice(2) ?? -1) + 1;
      return (after < 2000 ? json(info("DE-SCX", after, 1000)) : answer)(req, res, url);
    };
  const ended = await endEach(
    school,
    { kind: "SCHULCONNEX", address: `${address}/p`, secret: "hush" },
    {
      "the same again": set(good),
      nobody: set(json([])),
      "less than it says": set(cut(JSON.stringify(info("DE-SCX")))),
      "half of the JSON": set(text(half(info("DE-SCX")))),
      "a third page that fails": set(paged(status(500))),
      "a third page that is cut off": set(paged(cut(half(info("DE-SCX", 2000))))),
      "another school": set(json(info("DE-OTHER-SCX"))),
      "too late": slow(answers, "/p"),
    },
  );
  expect(ended).toEqual({
    "the same again": "UNCHANGED",
    nobody: "EMPTY",
    "less than it says": "HALF",
    "half of the JSON": "HALF",
    "a third page that fails": "UNREACHABLE",
    "a third page that is cut off": "HALF",
    "another school": "OTHER_SCHOOL",
    "too late": "TOO_SLOW",
  });
});

test("SVWS-Server: each way in which it fails, over the API", async () => {
  const school = await makeSchool("100815");
  const archive = "/api/external/gymlinde/v1/lernplattformen/4/19/gzip";
  const made = makeSvwsExport({ term: 19 });
  const exports: Record<number, object> = { 19: made };
  let reply: ((path: string) => Reply | undefined) | undefined;
  const { url } = await replaySvws({ exports, answer: (path) => reply?.(path) });
  const set = (of: Reply) => () => void (reply = (path) => (path === archive ? of : undefined));
  const setExport = (value: object) => () => {
    reply = undefined;
    exports[19] = value;
  };
  const bytes = gzipSync(JSON.stringify(made));
  const given = { kind: "SVWS", address: url, userName: "schultor", schema: "gymlinde", secret: "geheim" };
  const ended = await endEach(
    school,
    { ...given, platform: "4" },
    {
      "the same again": () => undefined,
      "no pupils": setExport({ ...made, schueler: [] }),
      "less than it says": set({ body: bytes, cutAt: 200 }),
      "half of the archive": set({ body: bytes.subarray(0, -40) }),
      "half of the JSON in it": set({ body: gzipSync(half(made)) }),
      "another school": setExport(makeSvwsExport({ schulnummer: 100816, term: 19 })),
      "too late": () => {
        const end = makeSlow();
        reply = (path) => (path === archive ? (end(), null) : undefined);
      },
    },
  );
  expect(ended).toEqual({
    "the same again": "UNCHANGED",
    "no pupils": "EMPTY",
    "less than it says": "HALF",
    "half of the archive": "HALF",
    "half of the JSON in it": "HALF",
    "another school": "OTHER_SCHOOL",
    "too late": "TOO_SLOW",
  });
});

test("UCS@school: each way in which it fails, over the API", async () => {
  const school = await make.school({ officialId: "GYM-Mitte", name: "Gymnasium Mitte" });
  const users = ["aydin", "berger", "claassen", "dietz", "ebert", "fuchs"].map((name) => makeKelvinUser(name));
  let answer: ((asked: Asked) => Reply | undefined) | undefined;
  const { url } = await replayKelvin({ users, hasPages: true, answer: (asked) => answer?.(asked) });
  const set = (of: string, reply: Reply) => () => void (answer = ({ path }) => (path.includes(of) ? reply : undefined));
  const given = { kind: "KELVIN", address: url, userName: "schultor", version: "v2", secret: "geheim" };
  const ended = await endEach(school, given, {
    "the same again": () => undefined,
    nobody: set("/users/", { body: { results: [], next_page_url: null } }),
    "a third page that fails": set("cursor=4", { status: 500 }),
    "a third page that is cut off": set("cursor=4", { body: { results: users.slice(4) }, cutAt: 100 }),
    "a third page of half its JSON": set("cursor=4", { body: half({ results: users.slice(4) }) }),
    "another school": set("/users/", { body: [makeKelvinUser("kaya", { schools: ["123456"] })] }),
    "too late": () => {
      const end = makeSlow();
      answer = ({ path }) => (path.includes("cursor=4") ? (end(), null) : undefined);
    },
  });
  expect(ended).toEqual({
    "the same again": "UNCHANGED",
    nobody: "EMPTY",
    "a third page that fails": "UNREACHABLE",
    "a third page that is cut off": "HALF",
    "a third page of half its JSON": "HALF",
    "another school": "OTHER_SCHOOL",
    "too late": "TOO_SLOW",
  });
});
