import { expect, test } from "vitest";
import { readConfig } from "../../src/config/index.ts";
import { makeLog } from "../../src/platform/log.ts";
import { startSpan, startTracing } from "../../src/platform/tracing/index.ts";
import { registerEndpoint } from "../../src/webhooks/index.ts";
import { makeAdminClient, makeStaff } from "../support/admin.ts";
import { startCollector, type CollectedSpan } from "../support/collector.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
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

/** The service in the process of the test, which sends its traces to the collector; `end` sends what is left. */
async function startTraced(db: TestDatabase, { url, share = 1 }: { url: string; share?: number }) {
  const losses: string[] = [];
  const settings = { endpoint: url, headers: {}, serviceName: "schultor", share };
  const endTraces = await startTracing(settings, (reason) => void losses.push(reason));
  let output = "";
  const log = makeLog({ level: "info", format: "json", to: { write: (text) => void (output += text) } });
  const env = { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" };
  const service = await startService({ db, clock: makeTestClock(new Date()), env, log });
  const end = async () => {
    await service.close();
    await endTraces();
  };
  return { service, losses, output: () => output, end };
}

test("one trace follows a change through its SQL, in a worker, to the webhook, and holds nothing of the person", async () => {
  const { db, receiver, person } = await makeWorld();
  const collector = await startCollector();
  const worker = await startMain({
    ...{ DATABASE_URL: db.url, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" },
    ...{ ROLE: "worker", OTEL_SERVICE_NAME: "schultor-worker" },
  });
  const web = await startTraced(db, collector);
  const { app } = await makeStaff(web.service, "OPERATOR");
  const token = await getAppToken(web.service, app, ["admin:read", "admin:write"]);
  const office = makeAdminClient(web.service, token);
  const changed = await office("PATCH", `/people/${person}?dry-run=false`, {
    body: { name: { firstFull: "Ada Marie", firstCall: "Ada", last: lastName } },
    headers: { traceparent: `00-${foreignTrace}-00f067aa0ba902b7-01` },
  }).finally(web.end);
  expect(changed.status).toBe(204);
  await expect.poll(() => receiver.received.length).toBe(1);
  worker.child.kill("SIGTERM");
  await worker.ended;

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
  const { service, losses, end } = await startTraced(db, { ...collector, share: 0 });
  try {
    const { call } = await makeStaff(service, "OPERATOR");
    expect((await call("PATCH", `/people/${person}`, { body: { role: "OTHER" } })).status).toBe(204);
    for (const name of ["webhooks.fanOut", "webhooks.deliver"])
      await service.jobs.find((job) => job.name === name)!.run(new AbortController().signal);
    await expect.poll(() => receiver.received.length).toBe(1);
  } finally {
    await end();
  }
  expect([collector.spans, losses]).toEqual([[], []]);
  expect(receiver.received[0]?.headers["traceparent"]).toBeUndefined();
});

test("a collector that refuses is told once, and stops nothing", async () => {
  const refusing = await startCollector(400);
  const { service, losses, end } = await startTraced(await testDatabase(), refusing);
  try {
    // As many as are sent together.
    for (let at = 0; at < 512; at++) startSpan("request", { kind: "server" })!.end();
    await expect.poll(() => losses).toHaveLength(1);
    expect((await fetch(`${service.url}/docs`)).status).toBe(200);
  } finally {
    await end();
  }
  expect(refusing.bodies.length).toBeGreaterThan(1);
  expect(losses).toHaveLength(1);
});

/** Whether modules of OpenTelemetry are loaded before traces start, without a collector, and with one. */
const printLoaded = `
  import { registerHooks } from "node:module";
  let loaded = false;
  registerHooks({ load(url, context, next) { loaded ||= /@opentelemetry.(?!api\\b)/.test(url); return next(url, context); } });
  const { readConfig } = await import("./src/config/index.ts");
  const { startTracing } = await import("./src/platform/tracing/index.ts");
  await import("./src/start.ts");
  const found = [loaded];
  for (const env of [{}, { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }]) {
    const end = await startTracing(readConfig(env).tracing, () => undefined);
    found.push(loaded);
    await end();
  }
  console.log("loaded: " + found.join(" "));
`;

test("without a collector no package of OpenTelemetry is loaded", async () => {
  const program = startProgram(["--input-type=module", "--eval", printLoaded]);
  const [, found] = await program.says(/loaded: (.*)\n/);
  expect(found).toBe("false false true");
});
