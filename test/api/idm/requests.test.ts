import { request } from "node:http";
import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { demoApp, idm, idmScopes, makeReader, startDemo } from "../../support/api.ts";
import { issueAppToken } from "../../support/token.ts";

const school = "a0000000-0000-4000-8000-000000000001";
const person = "c0000000-0000-4000-8000-000000000002";

const service = await startDemo();
const token = await issueAppToken(service, demoApp("demo-lernapp"), idmScopes);
const read = makeReader(service, token);

// Every other spelling of every parameter: test/security/every-operation.test.ts.
const refused: [path: string, message: string][] = [
  ["/schools?limit=0", "The query parameter limit must be an integer from 1 to 1000."],
  ["/schools?limit=1001", "The query parameter limit must be an integer from 1 to 1000."],
  ["/schools?limit=1&limit=2", "The query parameter limit is given more than once."],
  ["/schools?limit=1&%6cimit=2", "The query parameter limit is given more than once."],
  ["/schools?cursor=abc", "Invalid cursor."],
  ["/schools?cursor=WyJhIiwiYiIsImMiXQ", "Invalid cursor."],
  ["/schools?show-deleted=true", "Unknown query parameter: show-deleted."],
  [`/schools/${school}/users?show-deleted=true`, "Unknown query parameter: show-deleted."],
  [`/schools/${school}/people?showDeleted=true`, "Unknown query parameter: showDeleted. Did you mean 'show-deleted'?"],
  [`/users/${person}?limit=1`, "Unknown query parameter: limit."],
  [`/schools/${school}/people?show-deleted=maybe`, "The query parameter show-deleted must be true or false."],
  [`/schools/${school}/people?show-deleted`, "The query parameter show-deleted must be true or false."],
  ["/schools?__proto__[x]=1", "Unknown query parameter: __proto__?x?."],
  ["/schools?access_token=x", "Unknown query parameter: access_token."],
  ["/schools?x=%zz", "The address is not correctly percent-encoded."],
  ["/users/%ff", "The address is not correctly percent-encoded."],
];

test("a request against the contract is refused as a problem that says why", async () => {
  const answers: unknown[] = [];
  for (const [path] of refused) {
    const { body } = await read(idm + path);
    const { code, message } = body as { code: string; message: string };
    answers.push([path, message]);
    expect(body).toMatchObject({
      type: `${service.url}/docs/errors/${code}`,
      title: "Bad Request",
      status: 400,
      requestId: expect.stringMatching(/.{8,}/) as string,
    });
  }
  expect(answers).toEqual(refused);
});

test("a boolean may be written as PHP and Python write it", async () => {
  const list = async (spelling: string) => {
    const { status, body } = await read(`${idm}/schools/${school}/people?show-deleted=${spelling}`);
    return { status, people: (body as object[]).length };
  };
  const [shown, hidden] = [await list("true"), await list("false")];
  expect(shown.people).toBeGreaterThan(hidden.people);
  const { body } = await read(`${idm}/schools/${school}/people?show-deleted=true`);
  const deleted = (body as { id: string; status: string }[]).find(({ status }) => status !== "ACTIVE")!;
  for (const [query, status] of [
    ["?show-deleted=true", 200],
    ["", 404],
  ] as const)
    expect((await read(`${idm}/people/${deleted.id}${query}`)).status, query).toBe(status);
  for (const spelling of ["1", "True"]) expect(await list(spelling), spelling).toEqual(shown);
  for (const spelling of ["0", "False"]) expect(await list(spelling), spelling).toEqual(hidden);
});

test("the type of a problem is a page that explains it", async () => {
  const { body } = await read(`${idm}/schools?limit=x`);
  const page = await fetch((body as { type: string }).type, { headers: { accept: "text/html" } });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("<code>invalid_request</code>")]);
});

test("the scheme may be written in any case, and what is no token is refused", async () => {
  const ask = async (authorization: string) => {
    const { status, headers } = await fetch(`${service.url}${idm}/schools`, { headers: { authorization } });
    return [authorization, status, headers.get("www-authenticate")];
  };
  for (const scheme of ["bearer", "BEARER", "Bearer"])
    expect(await ask(`${scheme} ${token}`)).toEqual([`${scheme} ${token}`, 200, null]);
  for (const authorization of ["", "Bearer", "Bearer ", "Basic abc", "Token abc"])
    expect(await ask(authorization)).toEqual([authorization, 401, "Bearer"]);
});

test("a body on GET is ignored, whatever it says it is", async () => {
  for (const type of ["application/json", "text/x-odd; charset=nope", "multipart/form-data", ";;;"]) {
    const sent = request(`${service.url}${idm}/schools`, {
      headers: { authorization: `Bearer ${token}`, "content-type": type, "content-length": 5 },
    });
    sent.end("{nope");
    const [response] = (await once(sent, "response")) as [{ statusCode: number; resume(): void }];
    response.resume();
    expect(response.statusCode).toBe(200);
  }
});

test("an error is a problem, and plain JSON for a client that asks for nothing else", async () => {
  const typeFor = async (path: string, accept?: string) => {
    const { headers } = await fetch(service.url + path, { headers: accept === undefined ? {} : { accept } });
    expect(headers.get("vary")).toContain("Accept");
    return headers.get("content-type");
  };
  const [problem, plain] = ["application/problem+json; charset=utf-8", "application/json; charset=utf-8"];
  const both = ["application/json, application/problem+json", "application/json, text/plain, */*"];
  for (const path of [`${idm}/schools`, `${idm}/nothing`, "/nothing", "/admin/v1/schools"]) {
    for (const accept of [undefined, "*/*", "application/problem+json", ...both, "text/plain"])
      expect([path, accept, await typeFor(path, accept)]).toEqual([path, accept, problem]);
    for (const accept of ["application/json", "application/json, text/html;q=0.5"])
      expect([path, accept, await typeFor(path, accept)]).toEqual([path, accept, plain]);
  }
});

test("a refused token is told what is wrong with it, as far as its holder knew it", async () => {
  const app = demoApp("demo-lernapp");
  const ask = async (one: string) => {
    const { status, body } = await makeReader(service, one)(`${idm}/schools`);
    return [status, (body as { message: string }).message];
  };
  const revoked = await issueAppToken(service, app, idmScopes);
  await service.db.pool.query("UPDATE app SET suspended_at = now() WHERE client_id = $1", [app.clientId]);
  const ofSuspended = await ask(revoked);
  await service.db.pool.query("UPDATE app SET suspended_at = NULL WHERE client_id = $1", [app.clientId]);
  expect({
    unknown: await ask("x".repeat(43)),
    idToken: await ask("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln"),
    ofSuspended,
    withoutScope: await ask(await issueAppToken(service, app, ["people:read"])),
  }).toEqual({
    unknown: [401, "The access token is unknown or was revoked."],
    idToken: [401, "The access token is a JWT, such as an ID token; the access tokens of this service are not."],
    ofSuspended: [401, "The access token was revoked, or its app or person may not use it any more."],
    withoutScope: [403, "The access token lacks the scope urn:schultor:idm:v1:schools:read."],
  });
});

test("ids are read in any casing", async () => {
  expect(await read(`${idm}/users/${person.toUpperCase()}`)).toMatchObject({ status: 200, body: { id: person } });
});

test("an answer is for this caller alone, and says which request it was", async () => {
  const { headers } = await read(`${idm}/schools`, { "x-request-id": "partner-call-0001" });
  expect([headers.get("cache-control"), headers.get("x-request-id")]).toEqual([
    "private, no-cache",
    "partner-call-0001",
  ]);
  expect((await read(`${idm}/nothing`, { "x-request-id": "partner-call-0002" })).body).toMatchObject({
    requestId: "partner-call-0002",
  });
});

test("the tag of what changed is another one, and of what an app may not see is none", async () => {
  const first = await read(`${idm}/users/${person}`);
  await service.db.pool.query("UPDATE person SET first_call = 'Bodo' WHERE id = $1", [person]);
  const second = await read(`${idm}/users/${person}`, { "if-none-match": first.headers.get("etag")! });
  expect([second.status, (second.body as { name: { firstCall: string } }).name.firstCall]).toEqual([200, "Bodo"]);
  expect((await read(`${idm}/schools/a0000000-0000-4000-8000-000000000002`, { "if-none-match": "*" })).status).toBe(
    404,
  );
});

test("an expired token is refused as invalid", async () => {
  service.clock.forwardSeconds(3601);
  const { status, headers, body } = await read(`${idm}/schools`);
  service.clock.forwardSeconds(-3601);
  expect([status, headers.get("www-authenticate")]).toEqual([401, 'Bearer error="invalid_token"']);
  expect(body).toMatchObject({ code: "invalid_token", message: "The access token has expired." });
});

test("without its database the service answers 503 and when to try again", async () => {
  const refuse = () => Promise.reject(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
  const { pool } = service.shares.checks;
  const gone = [vi.spyOn(pool, "query"), vi.spyOn(pool, "connect")];
  for (const call of gone) call.mockImplementation(refuse as never);
  const { status, headers, body } = await read(`${idm}/schools`);
  for (const call of gone) call.mockRestore();
  expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
  expect(body).toMatchObject({ code: "unavailable", message: "The service cannot answer just now. Try again later." });
});
