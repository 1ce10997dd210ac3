// @module-tag model
import { beforeAll, expect, test } from "vitest";
import world from "../../demo/demo.json" with { type: "json" };
import type { ClientId } from "../../src/access/index.ts";
import type { SchoolId } from "../../src/directory/index.ts";
import type { Operation } from "../../src/platform/http/index.ts";
import { loadDocuments, makeExchangeCheck, type Exchange } from "../exchanges/check.ts";
import { makeStaff } from "../support/admin.ts";
import { demoApp, demoLogin, idmScopes, startDemo } from "../support/api.ts";
import type { TestService } from "../support/service.ts";
import { basic, getAppToken, getUserTokens } from "../support/token.ts";
import { isFullRun, seed } from "../support/walks.ts";
import { randomRequests, type RandomRequest } from "./random-requests.ts";

// Each answer is held against the contract: its status, headers and body, and that what was accepted is described.
const documents = await loadDocuments();
const judge = makeExchangeCheck(documents);
const count = isFullRun ? 150 : 60;

let service: TestService;
let callersOf: (name: string, operation: Operation) => string[];

beforeAll(async () => {
  service = await startDemo();
  const app = demoApp("demo-lernapp");
  const bearer = (token: string) => `Bearer ${token}`;
  await service.db.pool.query("UPDATE app SET scopes = scopes || '{oneroster:read}' WHERE client_id = $1", [
    app.clientId,
  ]);
  const ofApp = bearer(await getAppToken(service, app, [...idmScopes, "oneroster:read"]));
  const user = await getUserTokens(service, app, demoLogin(2), { scopes: ["openid", "profile", ...idmScopes] });
  const staff = await Promise.all([
    makeStaff(service, "OPERATOR"),
    makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [world.schools[0]!.id as SchoolId] }),
    makeStaff(service, "PARTNER", { clientIds: [app.clientId] as ClientId[] }),
  ]);
  const tokens = await Promise.all(
    staff.map(async (one) => bearer(await getAppToken(service, one.app, ["admin:read", "admin:write"]))),
  );
  const [operator = "", ...others] = tokens;
  const ofUser = bearer(user.access_token);
  callersOf = (name, { security = [] }) => {
    if (name === "admin") return [operator, operator, operator, ...others, ofApp];
    if (security.some((way) => "clientBasic" in way)) return [basic(app)["authorization"]!];
    const right = security.some((way) => "userContext" in way) ? ofUser : ofApp;
    return [right, right, right, right, ofUser, ofApp, operator, bearer("nobody")];
  };
});

async function send({ method, target, headers, body }: RandomRequest): Promise<Exchange> {
  const response = await fetch(service.url + target, { method, headers, body, redirect: "manual" });
  return {
    method,
    target,
    requestHeaders: headers,
    requestBody: Buffer.from(body ?? ""),
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: Buffer.from(await response.arrayBuffer()),
  };
}

test.each(["idm", "schulconnex", "oneroster", "oneroster-1.1", "sign-on", "admin"])(
  "random requests of %s are answered as the contract says",
  async (name) => {
    const faults: string[] = [];
    const statuses: Record<string, number> = {};
    for (const request of randomRequests(documents[name]!, {
      seed,
      count,
      authorizationsFor: (operation) => callersOf(name, operation),
    })) {
      const exchange = await send(request);
      statuses[exchange.status] = (statuses[exchange.status] ?? 0) + 1;
      const { faults: found } = judge(exchange);
      if (exchange.status >= 500) found.push("failed");
      if (found.length > 0) faults.push(`${JSON.stringify(request)}\n  ${exchange.status} ${found.join("\n  ")}`);
    }
    expect(faults.join("\n")).toBe("");
    const accepted = Object.entries(statuses).reduce((sum, [status, many]) => (status < "400" ? sum + many : sum), 0);
    expect(accepted).toBeGreaterThan(count / 20);
  },
);
