import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { loadDocument, makeAnswerCheck } from "../../src/platform/http/index.ts";
import { makeRequestValidator } from "../../src/platform/http/validator-library.ts";
import { makeLog, silentLog } from "../../src/platform/telemetry/log.ts";
import { readContract } from "../../src/sign-on/protocol/contract.ts";
import { serve } from "../support/serve.ts";

const document = await loadDocument("sign-on", "schultor");
const { checkRequest, claimsByScope } = readContract(document);

function serveHeld(listener: RequestListener, log = silentLog): Promise<string> {
  const check = makeAnswerCheck(document, log);
  return serve((req, res) => {
    res.setHeader("X-Request-Id", "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10");
    check(req, res);
    listener(req, res);
  });
}

const tokens = { access_token: "a", token_type: "bearer", expires_in: 60, scope: "openid" };

describe("an answer of sign-on", () => {
  const json = { "Content-Type": "application/json; charset=utf-8" };

  test.each([
    ["the described tokens", "/oauth2/token", "POST", { body: JSON.stringify(tokens) }, ""],
    ["tokens without a scope", "/oauth2/token", "POST", { body: '{"access_token":"a"}' }, "the body of status 200"],
    ["an unknown status", "/oauth2/token", "POST", { status: 418, body: "{}" }, "status 418 is not described"],
    [
      "a page where JSON is described",
      "/oauth2/userinfo",
      "GET",
      { headers: { "Content-Type": "text/html" }, body: "x" },
      "text/html",
    ],
    ["a redirect to nowhere", "/oauth2/auth", "GET", { status: 302 }, "lacks the header Location"],
    ["an address of no operation", "/oauth2/other", "GET", { status: 418 }, ""],
  ])("with %s", async (_what, path, method, given, fault) => {
    const url = await serveHeld((_req, res) => {
      const { status = 200, body = "", headers = json } = given as { status?: number; body?: string; headers?: object };
      res.statusCode = status;
      for (const [name, value] of Object.entries(headers)) res.setHeader(name, value as string);
      res.end(body);
    });
    const response = await fetch(url + path, { method, redirect: "manual" });
    const text = await response.text();
    if (fault === "") expect(response.status).toBe((given as { status?: number }).status ?? 200);
    else expect([response.status, text]).toEqual([500, expect.stringContaining(fault)]);
  });

  test("that nobody gets, because the client has left, is no fault", async () => {
    const lines: string[] = [];
    const log = makeLog({ level: "debug", format: "json", to: { write: (line: string) => void lines.push(line) } });
    const { promise: ended, resolve: end } = Promise.withResolvers<undefined>();
    const url = await serveHeld((req, res) => {
      socket.destroy();
      req.once("close", () => {
        // What the library does where it finds the connection closed.
        res.statusCode = 400;
        res.setHeader("Content-Type", json["Content-Type"]);
        res.end();
        end(undefined);
      });
    }, log);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write("POST /oauth2/token HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na");
    await ended;
    expect(lines).toEqual([]);
  });
});

describe("a request to sign-on", () => {
  test.each([
    ["authorize", { state: "x".repeat(2049) }, "state is longer than 2048 characters"],
    ["authorize", { client_id: "x".repeat(257) }, "client_id is longer than 256 characters"],
    [
      "authorize",
      { redirect_uri: `https://a.example/${"x".repeat(2100)}` },
      "redirect_uri is longer than 2048 characters",
    ],
    ["authorize", { max_age: "99999999999" }, "max_age is not as described"],
    ["authorize", { nonce: "a\0" }, "a parameter contains a NUL character"],
    ["issueToken", { redirect_uri: "nowhere" }, "redirect_uri is not as described"],
    ["endSession", { state: "x".repeat(2049) }, "state is longer than 2048 characters"],
  ] as const)("to %s with %o is refused", (operation, values, message) => {
    expect(checkRequest[operation](values)?.message).toBe(message);
  });

  test.each([
    ["authorize", { client_id: "app", max_age: "0", prompt: "none", unknown: "y", id_token_hint: "x".repeat(9000) }],
    ["issueToken", { grant_type: "password", code_verifier: "short", code: "x".repeat(9000), unknown: "y" }],
    ["introspectToken", { token: "x", token_type_hint: "unknown" }],
  ] as const)("to %s with %o is left to the protocol", (operation, values) => {
    expect(checkRequest[operation](values)).toBeNull();
  });
});

test("the claims of each scope are those of the contract", () => {
  expect(claimsByScope).toEqual({
    openid: ["sub", "jti", "sid", "at_hash", "auth_time", "rat"],
    profile: ["name", "given_name", "call_name", "family_name"],
    role: ["role"],
    school: ["school", "school_name", "school_official_id", "school_location", "schooling_level"],
    groups: ["groups"],
    pseudonym: ["pseudonym"],
    school_name: ["school_name"],
    school_official_id: ["school_official_id"],
    school_location: ["school_location"],
    school_address: ["school_address"],
    schooling_level: ["schooling_level"],
    "person-info": [
      "given_name",
      "family_name",
      "urn:schulconnex:de:person:name:rufname",
      "urn:schulconnex:de:personenkontext:rolle",
      "urn:schulconnex:de:personenkontext:organisation:kennung",
    ],
  });
});

test("the table of scopes in the text says the same", () => {
  const { tags = [] } = document as unknown as { tags?: { description: string }[] };
  for (const [scope, claims] of Object.entries(claimsByScope).filter(([name]) => name !== "openid"))
    expect(tags[0]?.description).toContain(`| \`${scope}\` | ${claims.map((claim) => `\`${claim}\``).join(", ")} |`);
});

test.each<[what: string, change: (copy: typeof document) => unknown, said: string]>([
  [
    "an operation without code",
    ({ paths }) =>
      (paths["/oauth2/tenant"] = { get: { operationId: "getTenant", security: [], responses: { "200": {} } } }),
    "differ in the operations. Only in the contract: getTenant.",
  ],
  [
    "a claim that no scope brings",
    (copy) => (schemaOf(copy, "IdTokenClaims").properties["tenant"] = { type: "string" }),
    "differ in the claims of an ID token. Only in the contract: tenant.",
  ],
  [
    "a claim that userinfo lacks",
    (copy) => delete schemaOf(copy, "Userinfo").properties["role"],
    "differ in the claims of userinfo. Only in the contract: none. Only in the code: role.",
  ],
  [
    "a scoped claim that is always there",
    (copy) => schemaOf(copy, "IdTokenClaims").required.push("role"),
    "differ in the claims that every sign-on brings. Only in the contract: role.",
  ],
  [
    "a code verifier of another form",
    (copy) => Object.assign(schemaOf(copy, "TokenRequest").properties["code_verifier"]!, { minLength: 64 }),
    "openapi/sign-on.yaml and the library differ in what a code_verifier is.",
  ],
  [
    "a scope that no app can be granted",
    (copy) => (scopesOf(copy)["tenant"] = ""),
    "The contract names a scope that no app can be granted: tenant",
  ],
  [
    "a scope that the contract does not name",
    (copy) => delete scopesOf(copy)["groups"],
    "differ in the scopes. Only in the contract: none. Only in the code: groups.",
  ],
])("a service does not start with %s", (_what, change, said) => {
  const copy = structuredClone(document);
  change(copy);
  expect(() => readContract(copy)).toThrow(said);
});

const schemaOf = ({ components }: typeof document, name: string) =>
  components.schemas![name] as { properties: Record<string, object>; required: string[] };
const scopesOf = ({ components }: typeof document) =>
  components.securitySchemes!["userContext"]!.flows!["authorizationCode"]!.scopes!;

test("the library validates one operation alone, reads its parameters and refuses a wrong one by name", () => {
  const probe = { openapi: "3.0.3", info: { title: "Probe", version: "1" }, paths: {}, components: {} };
  const parameters = [
    { name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } },
    { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 9 } },
  ];
  const operation = { operationId: "probe", parameters, responses: {} };
  const validate = makeRequestValidator(probe)({ path: "/probe/{id}", operation });
  const ask = (query: Record<string, string>, id: string) => {
    const originalUrl = `/probe/${id}?${new URLSearchParams(query).toString()}`;
    const req = { method: "GET", path: "/probe", originalUrl, headers: {}, params: { id }, query };
    validate(req as never, {} as never);
    return req.query;
  };
  const refusal = (query: Record<string, string>, id: string) => {
    try {
      return ask(query, id);
    } catch (error) {
      const { status, path, errors } = error as { status: number; path?: string; errors?: { path: string }[] };
      return `${status} ${errors?.[0]?.path ?? path ?? ""}`;
    }
  };
  const id = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10";
  expect(ask({ limit: "7" }, id)).toEqual({ limit: 7 });
  expect(refusal({}, "7")).toMatch(/^400 \/params\/id/);
  expect(refusal({ limit: "10" }, id)).toMatch(/^400 \/query\/limit/);
});
