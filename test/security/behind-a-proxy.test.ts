// @module-tag slow
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { makeLog } from "../../src/platform/telemetry/log.ts";
import { atFileEnd } from "../support/file-end.ts";
import { findPort } from "../support/find-port.ts";
import { isLeftOut, programFolders, whatIsMissing } from "../support/programs.ts";
import { startService } from "../support/service.ts";

const lines: string[] = [];
const log = makeLog({ level: "info", format: "json", to: { write: (line: string) => void lines.push(line) } });
const service = await startService({ log, env: { TRUSTED_PROXIES: "127.0.0.0/8" } });
const port = Number(new URL(service.url).port);

type Answer = { status: number; id: string | undefined; headers: string; body: string };

/** The answers in what came over one connection. Shape: `heads` are the places of answers to HEAD. */
function readAnswers(text: string, heads: ReadonlySet<number> = new Set()): Answer[] {
  const answers: Answer[] = [];
  for (let rest = text; rest !== "";) {
    const end = rest.indexOf("\r\n\r\n");
    const headers = rest.slice(0, end);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(headers)?.[1]);
    expect(status, `no answer begins with ${JSON.stringify(rest.slice(0, 60))}`).toBeGreaterThan(0);
    rest = rest.slice(end + 4);
    if (status === 100) continue;
    let body = "";
    const length = Number(/^content-length: (\d+)/im.exec(headers)?.[1] ?? 0);
    if (heads.has(answers.length) || status === 304 || status === 204) body = "";
    else if (/^transfer-encoding: chunked/im.test(headers)) {
      for (let size = -1; size !== 0;) {
        size = parseInt(rest, 16);
        const from = rest.indexOf("\r\n") + 2;
        body += rest.slice(from, from + size);
        rest = rest.slice(from + size + 2);
      }
    } else [body, rest] = [rest.slice(0, length), rest.slice(length)];
    answers.push({ status, id: /^x-request-id: (\S+)/im.exec(headers)?.[1], headers, body });
  }
  return answers;
}

/** Sends bytes over one connection, each part after what it waits for, until the other side closes it. */
function send(to: number, ...parts: (string | { after: RegExp; text: string })[]): Promise<string> {
  return new Promise((resolve) => {
    let got = "";
    const left = [...parts];
    const socket = connect(to, "127.0.0.1");
    const go = () => {
      for (let next = left[0]; next !== undefined; next = left[0]) {
        if (typeof next !== "string" && !next.after.test(got)) return;
        left.shift();
        socket.write(typeof next === "string" ? next : next.text, "latin1");
      }
    };
    socket.on("connect", go);
    socket.on("data", (chunk) => {
      got += chunk.toString("latin1");
      go();
    });
    // Bytes that come after the answer and before the end make the connection reset.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(got));
  });
}

let made = 0;
const newId = (what: string) => `${what}-request-${(made += 1)}`;
const get = (id: string, more = "") =>
  `GET /.well-known/jwks.json HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${id}\r\n${more}\r\n`;
const last = (id: string) => get(id, "Connection: close\r\n");
const post = (id: string, headers: string, body = "", path = "/oauth2/token", version = "1.1") =>
  `POST ${path} HTTP/${version}\r\nHost: localhost\r\nX-Request-Id: ${id}\r\n${headers}\r\n${body}`;
const smuggled = get("smuggled-request-0");
const length = smuggled.length;
beforeEach(() => void lines.splice(0));
const wasSmuggled = () => lines.some((line) => line.includes("smuggled-request-0"));

type Shape = [name: string, of: (id: string) => string];
const codings = [
  ...["xchunked", "chunked, identity", "identity, chunked", "gzip, chunked", "\x0bchunked", '"chunked"'],
  ...["chunked\r\nTransfer-Encoding: x", "chunked\r\nTransfer-Encoding: chunked"],
];
const lengths = ["0\r\nContent-Length: 5", "0, 5", "+5", "0x5", "-1", "5 5", "99999999999999999999"];
const chunked = `0\r\n\r\n${smuggled}`;
const own = `Content-Length: ${length}\r\n`;
const keptOpen = "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n";

// What each way of framing leads one to read that the other one takes for a body.
const shapes: Shape[] = [
  ["a length and chunks", (id) => post(id, `Content-Length: ${5 + length}\r\nTransfer-Encoding: chunked\r\n`, chunked)],
  ["chunks and a length", (id) => post(id, "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", chunked)],
  ...codings.map((coding): Shape => [coding, (id) => post(id, `Transfer-Encoding: ${coding}\r\n`, chunked)]),
  ["a coding before a space", (id) => post(id, "Transfer-Encoding : chunked\r\n", chunked)],
  ["chunks in HTTP/1.0", (id) => post(id, keptOpen, chunked, "/oauth2/token", "1.0")],
  ...lengths.map((value): Shape => [value, (id) => post(id, `Content-Length: ${value}\r\n`, smuggled)]),
  ["a folded header", (id) => post(id, `X-A: b\r\n ${own}`, smuggled)],
  ["a folded coding", (id) => post(id, "Transfer-Encoding:\r\n chunked\r\n", chunked)],
  ["a header before a space", (id) => post(id, ` X-A: b\r\n${own}`, smuggled)],
  ["lines that end with LF alone", (id) => post(id, "X-A: b\nContent-Length: 0\r\n", smuggled)],
  ["headers that end with LF alone", (id) => `${get(id).slice(0, -2)}X-A: b\n\n${smuggled}`],
  ["lines that end with CR alone", (id) => post(id, `X-A: b\r${own}`, smuggled)],
  ["a NUL", (id) => post(id, `X-A: b\0c\r\n${own}`, smuggled)],
  ["two hosts", (id) => get(id, "Host: evil.example\r\n") + smuggled],
  ["a host that cannot be", (id) => get(id).replace("Host: localhost", "Host: localhost/x evil") + smuggled],
  ["an address that is none of http", (id) => get(id).replace(" /", " gopher://evil.example/") + smuggled],
  ["a request of HTTP/0.9", () => `GET /.well-known/jwks.json\r\n\r\n${smuggled}`],
  ["a tunnel", (id) => get(id).replace(/^GET \S+/, "CONNECT evil.example:80") + smuggled],
];

test("an odd request gets one answer, which refuses, and no other request of its connection is read", async () => {
  const outcomes: unknown[] = [];
  for (const [shape, of] of shapes) {
    const answers = readAnswers(await send(port, of(newId("odd")) + last(newId("next"))));
    outcomes.push([shape, ...answers.map(({ status }) => status)]);
  }
  expect(outcomes).toEqual(shapes.map(([shape]) => (shape === "a tunnel" ? [shape] : [shape, 400])));
  expect(wasSmuggled()).toBe(false);
});

test("chunks that do not add up end the connection, and what follows is no request", async () => {
  for (const chunks of ["0x2\r\nxx\r\n", "-1\r\nxx\r\n", "fffffffffffffffff2\r\nxx\r\n", "2\r\nxxx", "2;a\nxx\r\n"]) {
    const body = `${chunks}0\r\n\r\n${smuggled}`;
    const got = await send(port, post(newId("odd"), "Transfer-Encoding: chunked\r\n", body));
    for (const { status } of readAnswers(got)) expect([chunks, status]).toEqual([chunks, 400]);
    expect(wasSmuggled()).toBe(false);
  }
});

test("an address in place of a path is read as its path, and its host counts for nothing", async () => {
  const [one, two] = [newId("absolute"), newId("absolute")];
  const absolute = (id: string, path: string) =>
    get(id).replace(" /.well-known/jwks.json", ` http://evil.example${path}`);
  const got = await send(port, absolute(one, "/.well-known/jwks.json"), absolute(two, "/account"), last(newId("next")));
  const [keys, account, next] = readAnswers(got);
  expect([keys?.status, keys?.id, account?.status, account?.id, next?.status]).toEqual([200, one, 303, two, 200]);
  expect(keys!.body).toContain('"keys"');
  expect(got).not.toContain("evil.example");
});

test("forwarded hosts, protocols and addresses of a caller change no address and pass for no other caller", async () => {
  const forged = [
    ...["X-Forwarded-Host: evil.example", "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: gopher"],
    ...["Forwarded: host=evil.example;proto=https", "X-Forwarded-For: 192.0.2.1"],
    "X-Forwarded-For: 192.0.2.2, 192.0.2.3",
    ...["X-Original-URL: /admin", "X-Rewrite-URL: /admin", "X-Forwarded-Prefix: /evil.example"],
  ];
  const headers = forged.map((line) => `${line}\r\n`).join("");
  const paths = ["/.well-known/openid-configuration", "/account", "/sign-in", "/oauth2/auth?client_id=x", "/?lang=en"];
  for (const path of paths) {
    const of = (more: string) => get(newId("forged"), more).replace("/.well-known/jwks.json", path);
    const got = await send(port, of(headers) + last(newId("next")));
    expect([path, got.includes("evil.example"), got.includes("gopher")]).toEqual([path, false, false]);
    expect(readAnswers(got)).toHaveLength(2);
  }
});

const isClosing = ({ headers }: Answer) => /^connection: close/im.test(headers);

test("what is answered before its body came leaves nothing of the body to be read as a request", async () => {
  const body = `${"a".repeat(50)}\r\n\r\n${smuggled}`;
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const big = `${"a".repeat(3_000_000)}${smuggled}`;
  const early: [string, string, string][] = [
    ["/admin/v1/schools", `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`, body],
    ["/admin/v1/schools", "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", chunked],
    ["/idm/ep/v1/users", `Content-Length: ${body.length}\r\n`, body],
    ["/no/such/page", `Content-Length: ${body.length}\r\n`, body],
    ["/oauth2/token", `Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n`, body],
    ["/oauth2/token", `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${big.length}\r\n`, big],
    ["/sign-in", `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${big.length}\r\n`, big],
    ["/admin/v1/imports", `Expect: 100-continue\r\nContent-Length: ${big.length}\r\n`, big],
  ];
  for (const [path, headers, content] of early) {
    const [first, next] = [newId("early"), newId("next")];
    // The body comes at once, or when the answer has begun.
    // A form that is too big is read to its end first.
    const waits = path === "/sign-in" ? [/^/] : [/^/, /HTTP\/1\.1 \d/];
    for (const after of waits) {
      const got = await send(port, post(first, headers, "", path), { after, text: content + last(next) });
      const answers = readAnswers(got);
      const where = [path, headers, String(after)];
      expect([...where, answers[0]?.id, answers[0]!.status >= 400]).toEqual([...where, first, true]);
      if (answers.length > 1) expect(answers.slice(1).map(({ id }) => id)).toEqual([next]);
      else expect([...where, isClosing(answers[0]!)]).toEqual([...where, true]);
      expect(wasSmuggled()).toBe(false);
    }
  }
});

test("requests of many clients on one connection get each their own answer, in order", async () => {
  const kinds = [
    (id: string) => get(id),
    (id: string) => get(id).replace("GET", "HEAD"),
    (id: string) => get(id).replace("/.well-known/jwks.json", "/account"),
    (id: string) => get(id).replace("/.well-known/jwks.json", "/idm/ep/v1/users"),
    (id: string) => get(id).replace("/.well-known/jwks.json", "/no/such/page"),
    (id: string) => post(id, `Content-Type: text/plain\r\nContent-Length: ${length}\r\n`, smuggled),
    (id: string) => post(id, "Transfer-Encoding: chunked\r\n", `${length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`),
  ];
  const asked = Array.from({ length: 70 }, (_, at) => ({ id: newId("client"), kind: at % kinds.length }));
  const text = asked.map(({ id, kind }) => kinds[kind]!(id)).join("");
  const heads = new Set(asked.flatMap(({ kind }, at) => (kind === 1 ? [at] : [])));
  const end = newId("next");
  const answers = readAnswers(await send(port, text + last(end)), heads);
  expect(answers.map(({ id }) => id)).toEqual([...asked.map(({ id }) => id), end]);
  expect(wasSmuggled()).toBe(false);
});

/** nginx with what the sample says of a request, and one connection to the service that all clients share. */
async function startNginx(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "schultor-nginx-"));
  const sample = readFileSync(join(import.meta.dirname, "../../deploy/nginx/schultor.conf"), "utf8");
  const location = /    location \/ \{[\s\S]*?\n    \}\n/.exec(sample)![0];
  const at = await findPort();
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const conf = [
    ...[process.getuid?.() === 0 ? "user root root;" : "", `pid ${folder}/pid;`, "daemon off;", "worker_processes 1;"],
    ...["events {}", "http {", "access_log off;", ...places],
    `upstream schultor { server 127.0.0.1:${port}; keepalive 1; }`,
    `server { listen 127.0.0.1:${at}; client_max_body_size 2m;\n${location}}`,
    "}",
  ];
  writeFileSync(join(folder, "nginx.conf"), conf.join("\n"));
  const env = { PATH: programFolders.join(":") };
  const child = spawn("nginx", ["-e", "stderr", "-p", folder, "-c", "nginx.conf"], { env, stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  atFileEnd(async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const answers = () => fetch(`http://127.0.0.1:${at}/.well-known/jwks.json`).then(({ status }) => status, String);
  await expect.poll(answers).toBe(200);
  return at;
}

const behindNginx = "behind nginx no odd request reaches the service as two, and nobody gets the answer of another";
test.skipIf(isLeftOut(behindNginx, whatIsMissing("nginx")))(behindNginx, async () => {
  const at = await startNginx();
  const big = `${"a".repeat(2_500_000)}${smuggled}`;
  const form = `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${40_000 + length}\r\n`;
  const early: Shape[] = [
    ["a body that is not read", (id) => post(id, own, smuggled, "/admin/v1/schools")],
    ["a body that is too big", (id) => post(id, `Content-Length: ${big.length}\r\n`, big)],
    ["a form that is too big", (id) => post(id, form, `${"a".repeat(40_000)}${smuggled}`, "/sign-in")],
  ];
  for (const [shape, of] of [...shapes, ...early]) {
    const odd = newId("odd");
    const end = newId("next");
    const others = Array.from({ length: 4 }, () => newId("other"));
    const [got, ...own] = await Promise.all([
      send(at, of(odd) + last(end)),
      ...others.map((id) => fetch(`http://127.0.0.1:${at}/.well-known/jwks.json`, { headers: { "x-request-id": id } })),
    ]);
    expect([shape, own.map(({ headers }) => headers.get("x-request-id"))]).toEqual([shape, others]);
    for (const answer of own) expect(await answer.text()).toContain('"keys"');
    const ids = [...got.matchAll(/^x-request-id: (\S+)/gim)].map(([, id]) => id!);
    expect([
      shape,
      ids.filter((id) => ![odd, end, "smuggled-request-0"].includes(id) && id.includes("-request-")),
    ]).toEqual([shape, []]);
  }
});
