import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { Verdict } from "../../clients/tools/src/check-schulconnex/findings.ts";
import { examine } from "../../clients/tools/src/check-schulconnex/index.ts";
import { runHere } from "../cli/program.ts";
import { makeDataDir } from "../support/data-dir.ts";
import { serve } from "../support/serve.ts";

// Providers that hold up whoever checks them, exhaust their memory, or try to get at tokens and their screen.
const token = "c2VjcmV0LXRva2VuLW9mLXRoZS1hcHA";
const limits = { patienceMs: 10_000, listMs: 10_000, listBytes: 2e6, bodyBytes: 1e5 };
const impatient = { patienceMs: 100 };

type Provider = (req: IncomingMessage, res: ServerResponse) => void;

async function examineProvider(
  provider: Provider,
  own: Partial<typeof limits> = {},
): Promise<{ verdicts: Verdict[]; requests: string[] }> {
  const requests: string[] = [];
  const origin = await serve((req, res) => {
    requests.push(`${req.method} ${req.url}`);
    provider(req, res);
  });
  const given = { version: "1.8" as const, credentials: { token }, userToken: undefined, expiredToken: undefined };
  const verdicts = await examine({
    address: `${origin}/v1`,
    ...given,
    limits: { ...limits, ...own },
    tell: () => undefined,
  });
  return { verdicts, requests };
}

const cameOf = (verdicts: readonly Verdict[], id: string): string[] =>
  verdicts.find((verdict) => verdict.id === id)!.differences.map(({ came }) => came);

const isWholeList = ({ method, url }: IncomingMessage): boolean => method === "GET" && url === "/v1/personen-info?";
const sendJson = (res: ServerResponse, body: string | Buffer, status = 200): void =>
  void res.writeHead(status, { "Content-Type": "application/json", ETag: '"1"' }).end(body);

const record = (n: number): string =>
  JSON.stringify({ pid: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`, personenkontexte: [] });

/** Sends without an end, as fast as it is read. */
function sendForever(res: ServerResponse, begin: string, next: () => string): void {
  res.writeHead(200, { "Content-Type": "application/json" }).write(begin);
  const more = (): void => {
    while (!res.destroyed && res.write(next()));
  };
  res.on("drain", more);
  more();
}

test("a provider that never answers gets two requests, and the rest is not checked", async () => {
  const { verdicts, requests } = await examineProvider(() => undefined, impatient);
  expect(requests).toHaveLength(2);
  expect(cameOf(verdicts, "in-time")).toEqual(["nothing for 0.1 s", "nothing for 0.1 s"]);
  expect(verdicts.filter(({ id }) => id !== "in-time").map(({ outcome }) => outcome)).toEqual(
    verdicts.slice(1).map(() => "not checked"),
  );
});

test("a provider that closes connections, or stops in the middle of headers or of a body, is told so", async () => {
  const ways: Provider[] = [
    (req) => req.socket.destroy(),
    (req) => req.socket.write("HTTP/1.1 200 OK\r\nContent-Type: appl"),
    (_, res) => res.writeHead(200, { "Content-Length": "100" }).write("["),
  ];
  for (const way of ways) {
    const { verdicts, requests } = await examineProvider(way, impatient);
    expect(requests).toHaveLength(2);
    expect(cameOf(verdicts, "in-time")).toHaveLength(2);
  }
});

test("a list without an end, of 2 GB or with a record without an end is read up to the limits", async () => {
  let n = 0;
  const sendRecords = () => `${record(n++)},`.repeat(500);
  const endless = await examineProvider((_, res) => sendForever(res, "[", sendRecords));
  expect(cameOf(endless.verdicts, "in-time")).toEqual(["more than 2 MB"]);
  const spaces = await examineProvider((_, res) => sendForever(res, "[", () => " ".repeat(10_000)));
  expect(cameOf(spaces.verdicts, "list-read")[0]).toBe("record 1 is longer than 1 MB");
  const headers = await examineProvider((req) => {
    req.socket.write(`HTTP/1.1 200 OK\r\n${"X-More: and more\r\n".repeat(10_000)}`);
  });
  expect(cameOf(headers.verdicts, "in-time")).toHaveLength(2);
});

test("what is no list is told without the text of it", async () => {
  const cases: [body: string | Buffer, came: string][] = [
    ["", "no JSON array"],
    ["<h1>Ada</h1>", "no JSON array"],
    [`{"personen":[${record(1)}]}`, "no JSON array"],
    ["\ufeff[]", "no JSON array"],
    ["[] []", "text after the array"],
    [`[${record(1)}`, "an array that stops in record 1"],
    [`[${record(1)},]`, "record 2 is not valid JSON"],
    [`[${record(1)} Ada]`, "record 1 is not valid JSON"],
    [`[{"pid":"Ada]`, "an array that stops in record 1"],
    [`[{"pid":1}}`, "an array that a brace ends"],
    ["[".repeat(1_000_000), "record 1 is nested deeper than 32 levels"],
    [`[${'{"a":'.repeat(100_000)}`, "record 1 is nested deeper than 32 levels"],
    [`[{"pid":"${"a".repeat(1_500_000)}"}]`, "record 1 is longer than 1 MB"],
    [Buffer.from('[{"pid":"Müller"}]', "latin1"), "bytes that are not UTF-8"],
    [Buffer.from('["\ud83d\ude00"]').subarray(0, 4), "bytes that are not UTF-8"],
  ];
  for (const [body, came] of cases) {
    const { verdicts } = await examineProvider((_, res) => sendJson(res, body));
    expect(cameOf(verdicts, "list-read").slice(0, 1), came).toEqual([came]);
  }
});

test("records of any form end no check with a failure of its own", async () => {
  const records = ["null", "1", '"a"', "[]", "{}", "[[]]", '{"pid":null,"personenkontexte":null}'];
  const odd = [
    '{"pid":{},"person":[],"personenkontexte":[null,1,[],{"organisation":[],"gruppen":[null,{"gruppe":1}]}]}',
    '{"pid":"x","person":{"name":"Ada","geburt":{"datum":"31.3.2015"}},"personenkontexte":{}}',
    '{"__proto__":{"pid":"x"},"constructor":1,"pid":"\\ud800","personenkontexte":[{"loeschung":{"zeitpunkt":"bald"}}]}',
  ];
  const { verdicts } = await examineProvider((req, res) =>
    sendJson(res, isWholeList(req) ? `[${[...records, ...odd].join()}]` : "[]"),
  );
  expect(verdicts.find(({ id }) => id === "record-fields")!.outcome).toBe("differs");
  expect(cameOf(verdicts, "in-time")).toEqual([]);
});

test("a redirect to itself or elsewhere is not followed, and no token leaves the address", async () => {
  const elsewhere: string[] = [];
  const other = await serve((req, res) => {
    elsewhere.push(req.url!);
    res.end();
  });
  for (const [location, came] of [
    ["/v1/personen-info", "302, a redirect to the same host, which was not followed"],
    [`${other}/v1/personen-info`, "302, a redirect to another host, which was not followed"],
    [other.replace("http:", "gopher:"), "302, a redirect to another host, which was not followed"],
    ["http://[", "302, a redirect to another host, which was not followed"],
  ] as const) {
    const { verdicts } = await examineProvider((_, res) => res.writeHead(302, { Location: location }).end());
    expect(cameOf(verdicts, "no-redirect")[0]).toBe(came);
  }
  expect(elsewhere).toEqual([]);
});

test("only requests that change nothing are sent, without a body", async () => {
  const bodies: string[] = [];
  const { requests } = await examineProvider((req, res) => {
    req.on("data", (bytes: Buffer) => bodies.push(bytes.toString()));
    sendJson(res, `[${record(1)},${record(2)}]`);
  });
  expect(new Set(requests.map((request) => request.split(" ")[0]))).toEqual(new Set(["GET", "HEAD", "POST", "PUT"]));
  expect(requests.filter((request) => /^P/.test(request))).toEqual([
    "POST /v1/personen-info?",
    "PUT /v1/personen-info?",
  ]);
  expect(bodies).toEqual([]);
});

test("names, tokens, whole ids and control characters of a provider are not printed", async () => {
  const secret = "the-client-secret";
  const pid = "5b0c1a52-0000-4000-8000-1234567890ab";
  const leaks = ["Beispielin", "Ada-Marie", secret, token, pid, pid.slice(9), "ada@example", "\u001b", "\u0007"];
  const body = JSON.stringify([
    { pid, person: { name: { vorname: "Ada-Marie", familienname: "Beispielin" }, geschlecht: "Beispielin" } },
    { pid: "ada@example", person: { name: { vorname: "Ada-Marie", familienname: 1 } }, personenkontexte: "Ada-Marie" },
    { pid, personenkontexte: [{ id: pid, rolle: "\u001b[31m", organisation: { id: pid, typ: token } }] },
    {
      pid: `${pid}2`,
      "Ada-Marie": 1,
      personenkontexte: [{ id: "Beispielin", rolle: "Ada", organisation: { id: "" } }],
    },
  ]);
  const leak = `Beispielin Ada-Marie ${pid} ada@example`;
  const origin = await serve((req, res) => {
    if (req.url === "/token")
      return void res
        .writeHead(200, { "Content-Type": "application/json" })
        .end(JSON.stringify({ access_token: token, token_type: leak, error: secret }));
    const headers = { "Content-Type": `text/${leak}`, "WWW-Authenticate": leak, Location: `https://${token}.example/` };
    const isList = req.url!.startsWith("/v1/personen-info?") && req.method === "GET";
    const error = { code: leak, subcode: `${leak}${token}`, titel: leak, beschreibung: `${token} \u001b]0;x\u0007` };
    res.writeHead(isList ? 200 : 404, { ...headers, ETag: leak }).end(isList ? body : JSON.stringify(error));
  });
  const run = runHere({ SCHULTOR_CLIENT_SECRET: secret, XDG_CONFIG_HOME: makeDataDir() });
  const asked = ["check-schulconnex", `${origin}/v1`, "--client-id", "app", "--token-url", `${origin}/token`];
  for (const more of [[], ["--json"], ["--quiet"], ["--output", "csv"]]) {
    const { code, out, err } = await run([...asked, ...more]);
    expect(code).toBe(1);
    expect(out.length).toBeGreaterThan(20);
    for (const text of leaks) expect(`${out}${err}`, text).not.toContain(text);
  }
});
