// @module-tag slow
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/index.ts";
import { startTracing } from "../../src/platform/telemetry/tracing/index.ts";
import { registerEndpoint } from "../support/webhook-changes.ts";
import { makeAdminClient, makeStaff } from "../support/admin.ts";
import { startCollector, type CollectedSpan } from "../support/collector.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { startMain, startProgram } from "../support/program.ts";
import { startReceiver } from "../support/receiver.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { getAppToken } from "../support/token.ts";
import { inside } from "../support/webhooks.ts";

const foreignTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const lastName = "Zweifelsfrei-Kowalczyk";

/** A person whom an app sees, the app's receiver, and an office that may change the person. */
async function makeWorld() {
  const db = await testDatabase();
  const make = makeMakers(db, new Date());
  const receiver = await startReceiver();
  const [school, app] = [await make.school(), await make.app()];
  const group = await make.group({ school });
  const person = await make.person({ school, groups: [group] });
  await make.grant({ app: app.clientId, school, groups: [group] });
  await db.pool.query("DELETE FROM app_event");
  const { encryptionKeys: keys } = readConfig({ NODE_ENV: "test" });
  await registerEndpoint(
    db,
    { clientId: app.clientId, url: receiver.url, eventTypes: ["person"] },
    { origin: { at: new Date() }, keys, policy: inside },
  );
  return { db, receiver, person };
}

const valueOf = ({ attributes }: CollectedSpan, key: string) =>
  attributes.find((attribute) => attribute.key === key)?.value.stringValue;

test("one trace follows a change through its SQL, in a worker, to the webhook, and holds nothing of the person", async () => {
  const { db, receiver, person } = await makeWorld();
  const collector = await startCollector();
  const env = {
    DATABASE_URL: db.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
  };
  const [web, worker] = await Promise.all([
    startMain({ ...env, ROLE: "web" }),
    startMain({ ...env, ROLE: "worker", OTEL_SERVICE_NAME: "schultor-worker" }),
  ]);
  const { app } = await makeStaff({ url: web.url, db, clock: () => new Date() } as never, "OPERATOR");
  const token = await getAppToken(web, app, ["admin:read", "admin:write"]);
  const office = makeAdminClient(web, token);
  const changed = await office("PATCH", `/people/${person}?dry-run=false`, {
    body: { name: { firstFull: "Ada Marie", firstCall: "Ada", last: lastName } },
    headers: { traceparent: `00-${foreignTrace}-00f067aa0ba902b7-01` },
  });
  expect(changed.status).toBe(204);
  await expect.poll(() => receiver.received.length).toBe(1);
  web.child.kill("SIGTERM");
  worker.child.kill("SIGTERM");
  await Promise.all([web.ended, worker.ended]);

  const request = collector.spans.find(({ name }) => name === "updatePerson")!;
  const ofTrace = collector.spans.filter(({ traceId }) => traceId === request.traceId);
  expect(request.parentSpanId ?? "").toBe("");
  expect(request.links?.map(({ traceId }) => traceId)).toEqual([foreignTrace]);
  expect(collector.spans.filter(({ traceId }) => traceId === foreignTrace)).toEqual([]);

  const statements = ofTrace.filter((span) => valueOf(span, "db.system.name") === "postgresql");
  expect(statements.map(({ name }) => name)).toEqual(expect.arrayContaining(["access.emitDiff", "UPDATE person"]));
  expect(new Set(statements.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([request.spanId]));

  const [webhook] = ofTrace.filter(({ name }) => name === "webhook");
  expect(webhook?.parentSpanId).toBe(request.spanId);
  expect(receiver.received[0]?.headers["traceparent"]).toBe(`00-${request.traceId}-${webhook!.spanId}-01`);

  const sent = collector.bodies.join("\n");
  expect(new Set(collector.paths)).toEqual(new Set(["/v1/traces"]));
  for (const personal of [lastName, "Ada", person, token, app.clientSecret!, "dry-run", "$1", "WHERE"])
    expect(sent, personal).not.toContain(personal);
  expect(web.output()).toContain(request.traceId);
});

test("a share of none keeps no trace, and the receiver is told of none", async () => {
  const { db, receiver, person } = await makeWorld();
  const collector = await startCollector();
  const failures: string[] = [];
  const settings = { endpoint: collector.url, headers: {}, serviceName: "schultor", share: 0 };
  const endTraces = await startTracing(settings, (message) => void failures.push(message));
  const env = { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" };
  const service = await startService({ db, clock: makeTestClock(new Date()), env });
  try {
    const { call } = await makeStaff(service, "OPERATOR");
    expect((await call("PATCH", `/people/${person}`, { body: { role: "OTHER" } })).status).toBe(204);
    for (const name of ["webhooks.fanOut", "webhooks.deliver"]) await service.runJob(name);
    await expect.poll(() => receiver.received.length).toBe(1);
  } finally {
    await service.close();
    await endTraces();
  }
  expect([collector.spans, failures]).toEqual([[], []]);
  expect(receiver.received[0]?.headers["traceparent"]).toBeUndefined();
});

test("a collector that refuses or does not answer is told once in the log, and stops nothing", async () => {
  const db = await testDatabase();
  const refusing = await startCollector(400);
  const service = await startMain({ DATABASE_URL: db.url, OTEL_EXPORTER_OTLP_ENDPOINT: refusing.url });
  expect((await fetch(`${service.url}/docs`)).status).toBe(200);
  await expect.poll(() => service.output()).toContain("traces are lost");
  expect((await fetch(`${service.url}/docs`)).status).toBe(200);
  service.child.kill("SIGTERM");
  expect(await service.ended).toEqual({ code: 0, signal: null });
  expect(service.output().match(/traces are lost/g)).toHaveLength(1);
});

/** How many modules of OpenTelemetry are loaded before traces start, and whether any are then; others bring its API. */
async function listLoaded(env: Record<string, string>): Promise<string> {
  const program = startProgram(["--input-type=module", "--eval", printLoaded], env);
  const [, found] = await program.says(/loaded: (.*)\n/);
  return found!;
}

const printLoaded = `
  import { registerHooks } from "node:module";
  const loaded = new Set();
  registerHooks({ load(url, context, next) { if (/@opentelemetry.(?!api\\b)/.test(url)) loaded.add(url); return next(url, context); } });
  const { readConfig } = await import("./src/config/index.ts");
  const { startTracing } = await import("./src/platform/telemetry/tracing/index.ts");
  await import("./src/start.ts");
  const before = loaded.size;
  const end = await startTracing(readConfig().tracing, () => undefined);
  console.log("loaded: " + before + " " + (loaded.size > 0));
  await end();
`;

test("without a collector no package of OpenTelemetry is loaded", async () => {
  expect(await listLoaded({})).toBe("0 false");
  expect(await listLoaded({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" })).toBe("0 true");
});
