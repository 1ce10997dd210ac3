import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { makeLog } from "../../src/platform/telemetry/log.ts";
import { startService } from "../support/service.ts";

let lines: string[] = [];
beforeEach(() => (lines = []));
let noteRequest = () => undefined;
const write = (line: string) => {
  lines.push(line);
  if (line.includes('"msg":"request"')) noteRequest();
};
const log = makeLog({ level: "debug", format: "json", to: { write } });
const { url } = await startService({ log });

async function askLogged(path: string, headers: Record<string, string> = {}) {
  const { promise: logged, resolve } = Promise.withResolvers<undefined>();
  noteRequest = () => void resolve(undefined);
  const answer = await fetch(url + path, { headers, redirect: "manual" });
  await logged;
  return { answer, line: JSON.parse(lines.at(-1)!) as Record<string, unknown> };
}

test("a request is one line with id, method, path, operation, status and time", async () => {
  const { answer, line } = await askLogged("/idm/ep/v1/schools");
  expect(line).toMatchObject({
    msg: "request",
    method: "GET",
    path: "/idm/ep/v1/schools",
    operation: "listSchools",
    status: 401,
  });
  expect(line["durationMs"]).toBeTypeOf("number");
  expect(line["requestId"]).toBe(answer.headers.get("x-request-id"));
});

test("a sane request id of the caller is kept, in the answer, the error body and the log", async () => {
  const { answer, line } = await askLogged("/idm/ep/v1/schools", { "x-request-id": "gateway-1234.5" });
  expect(answer.headers.get("x-request-id")).toBe("gateway-1234.5");
  expect(await answer.json()).toMatchObject({ requestId: "gateway-1234.5" });
  expect(line["requestId"]).toBe("gateway-1234.5");
});

test("what is not offered is no failure: whoever asks for it leaves one line, which is no error", async () => {
  await askLogged("/idm/schulconnex/v1/gruppen-info");
  await askLogged("/idm/ep/v1/schools");
  const written = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(written.filter(({ status }) => status === 501)).toHaveLength(1);
  expect(written.filter(({ level }) => level === "error")).toEqual([]);
});

test.each(["short", "x".repeat(65), "with space in it", 'quote"quote"quote', "../../../etc"])(
  "the request id %j of the caller is replaced",
  async (given) => {
    const { answer } = await askLogged("/nope", { "x-request-id": given });
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  },
);

test("query strings, tokens and opaque parts of a path never reach the log", async () => {
  await askLogged("/interaction/V1StGXR8_Z5jdHi6B-hush/login?code=hush&login_hint=hush", {
    authorization: "Bearer hush",
    cookie: "session=hush",
  });
  expect(lines.join("")).not.toMatch(/hush|login_hint/);
});

test.each([
  ["/lea.probe", "/:unknown"],
  ["/idm/ep/v1/pupils/lea", "/:unknown"],
  ["/idm/ep/v1/users/lea-probe", "/idm/ep/v1/users/:other"],
  ["/idm/ep/v1/users/a0000000-0000-4000-8000-000000000001", "/idm/ep/v1/users/a0000000-0000-4000-8000-000000000001"],
  ["/idm/ep/v1/users/lea-probe/", "/:unknown"],
  ["/docs/lea-probe", "/docs/:other"],
  ["/openapi/idm.yaml", "/openapi/idm.yaml"],
  ["/interaction/lea-probe", "/interaction/:other"],
  ["/idm/ep/v1/schools/lea/probe", "/:unknown"],
  ["/sessiontokenofsomebody", "/:unknown"],
  [`/idm${"/ep".repeat(20)}`, "/:unknown"],
  ["/oauth2/token/lea", "/:unknown"],
  ["/", "/"],
])("of the path %s the log has %s", async (path, logged) => {
  const { line } = await askLogged(path);
  expect(line).toMatchObject({ msg: "request", path: logged });
});

test("every page, guide, reference and file has its route in the log, and its first part in the metrics", async () => {
  const pages = readFileSync("test/portal/pages.txt", "utf8").match(/^\/\S*(?= +\d)/gm)!;
  const others = ["/docs/first-steps", "/docs/errors/not_found", "/docs/pictures/card.png", "/docs/changelog.atom"];
  const files = [
    "/downloads/schultor-rules.tgz",
    "/openapi/versions/1.2.0/idm.yaml",
    "/guide/own-login",
    "/assets/forms.css",
  ];
  const unknown: string[] = [];
  for (const page of [...pages, ...others, ...files]) {
    const path = page.replaceAll(/:(\w+)/g, (_whole, name: string) =>
      name === "clientId" ? "lernapp.x" : randomUUID(),
    );
    const { line } = await askLogged(path);
    if (line["path"] === "/:unknown" || (path !== "/" && line["operation"] === undefined)) unknown.push(path);
  }
  expect(pages.length).toBeGreaterThan(100);
  expect(unknown).toEqual([]);
});

test.each([
  ["/%zz", 404],
  ["//", 200],
  ["/%00", 404],
  ["/?lang[]=x&lang[a]=y", 200],
  ["/idm/ep/v1/schools/%zz", 400],
  ["/assets/..%2f..%2fpackage.json", 404],
])("the address %s is no failure of ours", async (path, status) => {
  const { answer } = await askLogged(path);
  expect(answer.status).toBe(status);
  expect(lines.join("")).not.toContain('"level":"error"');
});

test("an address of 8,000 characters is no failure of ours", async () => {
  expect((await fetch(`${url}/${"a".repeat(8000)}`)).status).toBe(404);
});

test("an unknown address is a page for people and JSON for programs", async () => {
  const page = await fetch(`${url}/nope`, { headers: { accept: "text/html", "accept-language": "en" } });
  expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  expect(await page.text()).toContain("Nothing here");
  const json = await fetch(`${url}/idm/ep/v2/schools`);
  expect(json.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
  expect(await json.json()).toEqual({
    type: expect.stringMatching(/^http.*\/docs\/errors\/not_found$/) as string,
    title: "Not Found",
    status: 404,
    message: "There is nothing at this address.",
    code: "not_found",
    requestId: json.headers.get("x-request-id"),
  });
});
