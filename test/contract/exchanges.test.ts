import { expect, test } from "vitest";
import { listOperations, resolve } from "../../src/platform/http/index.ts";
import { loadDocuments, makeExchangeCheck, type Exchange } from "../exchanges/check.ts";
import { findUntouched } from "../exchanges/untouched.ts";
import { demoApp, idmScopes, startDemo } from "../support/api.ts";
import { getAppToken } from "../support/token.ts";

// The check of exchanges is broken on purpose: real exchanges, and the same ones with a fault in them.
const documents = await loadDocuments();
const judge = makeExchangeCheck(documents);
let tell: (exchange: Exchange) => void = () => undefined;
const service = await startDemo({ tell: (exchange) => tell(exchange) });
const app = demoApp("demo-lernapp");
const token = await getAppToken(service, app, idmScopes);
const school = "a0000000-0000-4000-8000-000000000001";

/** One request, as the service's exchanges are told. */
async function exchangeOf(path: string, init: RequestInit = {}): Promise<Exchange> {
  const told = new Promise<Exchange>((resolve) => (tell = resolve));
  const response = await fetch(service.url + path, {
    ...init,
    headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
  });
  await response.text();
  return told;
}

const good = await exchangeOf(`/idm/ep/v1/schools/${school}`);
const withBody = (change: (body: Record<string, unknown>) => object): Exchange => ({
  ...good,
  body: Buffer.from(JSON.stringify(change(JSON.parse(good.body!.toString()) as Record<string, unknown>))),
});
const without = (name: string): Exchange => ({ ...good, headers: { ...good.headers, [name]: undefined } });

test("a real exchange is as the contract has it", () => {
  expect(judge(good)).toEqual({ touched: ["idm getSchool 200"], faults: [] });
});

test.each<[fault: string, exchange: Exchange, said: RegExp]>([
  ["an undocumented property", withBody((body) => ({ ...body, secret: 1 })), /additional properties.*secret/],
  ["a missing property", withBody(({ name: _, ...body }) => body), /required property 'name'/],
  ["a property of another type", withBody((body) => ({ ...body, name: 7 })), /\/value\/name must be string/],
  ["no JSON", { ...good, body: Buffer.from("{") }, /body/],
  ["an undocumented status", { ...good, status: 418 }, /this status is not described/],
  ["a body of another type", { ...good, headers: { ...good.headers, "content-type": "text/html" } }, /text\/html/],
  ["no ETag", without("etag"), /the header ETag is missing/],
  ["no request id", without("x-request-id"), /the header X-Request-Id is missing/],
  ["an undocumented query parameter", { ...good, target: `${good.target}?page=2` }, /query parameter page/],
  ["another method", { ...good, method: "DELETE" }, /no such method/],
])("an exchange with %s is against the contract", (_fault, exchange, said) => {
  const { faults } = judge(exchange);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(said);
});

test("a request that is accepted has the body that is described", () => {
  const target = "/admin/v1/schools";
  const headers = { ...good.headers, location: "/admin/v1/schools/1", etag: '"1"' };
  const request = { method: "POST", target, requestHeaders: { "content-type": "application/json" }, headers };
  const { faults } = judge({
    ...good,
    ...request,
    status: 201,
    body: null,
    requestBody: Buffer.from('{"nonsense":1}'),
  });
  expect(faults.join()).toMatch(/body of the request.*nonsense/);
});

test("a refused request may be against the contract, its answer may not", async () => {
  const refused = await exchangeOf("/idm/ep/v1/schools?limit=0");
  expect([refused.status, judge(refused).faults]).toEqual([400, []]);
});

test("the two spellings of Schulconnex are not mixed", async () => {
  const records = await exchangeOf("/idm/schulconnex/v1/personen-info");
  expect(judge(records)).toEqual({ touched: ["schulconnex listPersonenInfo 200"], faults: [] });
  const text = records.body!.toString();
  const mixed = { ...records, body: Buffer.from(text.replace('"SCHULE"', '"Schule"')) };
  expect(mixed.body).not.toEqual(records.body);
  expect(judge(mixed).faults).not.toEqual([]);
});

test("every operation has to be touched", () => {
  const all = new Set(
    Object.entries(documents).flatMap(([name, document]) =>
      listOperations(document).flatMap(({ operation }) =>
        [
          ...Object.keys(operation.responses),
          ...(operation.parameters ?? []).map((parameter) => `?${resolve<{ name: string }>(document, parameter).name}`),
        ].map((entry) => `${name} ${operation.operationId} ${entry}`),
      ),
    ),
  );
  expect(findUntouched(documents, all)).toEqual({ missing: [], untouched: [] });
  all.delete("idm getUser 404");
  expect(findUntouched(documents, all)).toEqual({ missing: [], untouched: ["idm getUser 404"] });
  all.delete("idm getUser 200");
  all.delete("idm getUser 304");
  expect(findUntouched(documents, all).missing).toEqual(["idm getUser 200 or 304"]);
});

test("every query parameter has to be used by an accepted request", () => {
  const { missing } = findUntouched(
    documents,
    new Set(judge({ ...good, target: `/idm/ep/v1/schools/${school}/people?show-deleted=true` }).touched),
  );
  expect(missing).toContain("idm getPerson ?show-deleted");
  expect(missing).not.toContain("idm listSchoolPeople ?show-deleted");
});
