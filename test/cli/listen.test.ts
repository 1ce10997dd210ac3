import { expect, test } from "vitest";
import { verifyWebhook } from "../../clients/typescript/src/index.ts";
import { commands, makeLocal, runCommandLine } from "../../src/cli/index.ts";
import { readConfig } from "../../src/config/index.ts";
import { readRemoteSettings } from "../../src/config/remote.ts";
import { makeStaff } from "../support/admin.ts";
import { insertEvents } from "../support/app-events.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import { makeScreen, runHere } from "./program.ts";
import { makeConfigFolder, makeRemoteWorld } from "./remote-world.ts";

const { service, make } = await makeRemoteWorld();
const { clientId } = await make.app();
const { app: partner } = await makeStaff(service, "PARTNER", { clientIds: [clientId] });
const env = { XDG_CONFIG_HOME: await makeConfigFolder(), SCHULTOR_REMOTE: "it" };
await runHere({ ...env, SCHULTOR_CLIENT_SECRET: partner.clientSecret! })([
  ...["login", service.url, "--client-id", partner.clientId, "--name", "it"],
]);
const receiver = await startReceiver();

async function tell(subjectId: string = crypto.randomUUID()): Promise<string> {
  await insertEvents(service.db, service.clock(), [{ clientId, type: "person", subjectId }]);
  await service.runJob("webhooks.fanOut");
  return subjectId;
}

/** Listens until it is stopped. Shape: `lines` are those printed so far. */
function listen(...args: string[]) {
  const forwardTo = args.includes("--forward-to") ? [] : ["--forward-to", `${receiver.url}/hook?token=abc`];
  const stopping = new AbortController();
  const { lines, show, until } = makeScreen();
  const errors: string[] = [];
  const ended = runCommandLine(commands, ["listen", "--app", clientId, ...forwardTo, ...args], {
    out: show,
    err: (text) => void errors.push(text),
    local: makeLocal(async () => readConfig(env)),
    readRemoteSettings: () => readRemoteSettings(env),
    untilStopped: () => stopping.signal,
  });
  const untilShown = (count: number) => until(() => lines.length >= count);
  return { lines, errors, untilShown, stop: () => (stopping.abort(), ended), ended };
}

type Line = { endpointId: string; secret: string; deliveryId: string; status: number | null; error: string | null };
const jsonOf = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as Line);

test("a partner's machine gets each event as it is, with a signature that fits, and prints what came of it", async () => {
  const { lines, errors, untilShown, stop } = listen("--output", "json");
  await untilShown(1);
  const [{ endpointId, secret }] = jsonOf(lines) as [Line];
  const subject = await tell();
  await untilShown(2);
  const received = receiver.received.at(-1);
  expect(received!.path).toBe("/hook?token=abc");
  const webhook = await verifyWebhook(received!.body, received!.headers, secret, { now: service.clock() });
  expect(webhook).toMatchObject({ isTest: false, event: { event: "person", personId: subject } });
  expect(received!.headers["user-agent"]).toBe("Schultor-Webhooks/1");
  const { deliveryId } = jsonOf(lines)[1]!;
  expect(jsonOf(lines)[1]).toMatchObject({ eventType: "person", status: 204, error: null, attempt: 1 });

  receiver.script(answer(500));
  await tell();
  await untilShown(3);
  expect(jsonOf(lines)[2]).toMatchObject({ status: 500 });
  expect(await stop()).toBe(0);
  expect(jsonOf(lines).at(-1)).toMatchObject({ endpointId, delivered: 1, failed: 1 });
  const attempts = await service.db.prisma.webhookAttempt.findMany({ where: { deliveryId: BigInt(deliveryId) } });
  expect(attempts).toMatchObject([{ number: 1, status: 204 }]);
  const shown = [...lines.slice(1), ...errors].join("\n");
  for (const hidden of [secret, partner.clientSecret!, "token=abc", subject]) expect(shown).not.toContain(hidden);
});

test("stopped and continued, it gets what came meanwhile; what it got before comes again when asked for", async () => {
  receiver.script(answer(204));
  const first = listen();
  await first.untilShown(1);
  const [, endpointId] = /Endpoint ([0-9a-f-]{36})/.exec(first.lines[0]!)!;
  expect(await first.stop()).toBe(0);
  expect(first.lines.at(-1)).toContain(`--continue ${endpointId!}`);
  await tell();
  const second = listen("--continue", endpointId!);
  await second.untilShown(2);
  expect(second.lines.join()).not.toContain("whsec_");
  const [, deliveryId] = / {2}person {2}(\d+) {2}204 {2}\d+ ms$/.exec(second.lines[1]!)!;
  await second.stop();

  const third = listen("--continue", endpointId!, "--replay", deliveryId!, "--output", "json");
  await third.untilShown(2);
  await third.stop();
  const fourth = listen("--continue", endpointId!, "--replay-last", "1", "--output", "json");
  await fourth.untilShown(2);
  await fourth.stop();
  const ids = [third, fourth].map(({ lines }) => (jsonOf(lines)[1] as Line & { webhookId: string }).webhookId);
  expect(ids[0]).toBe(ids[1]);
});

test("a machine that nobody listens on is a failed attempt, and calls written wrongly are refused", async () => {
  const closed = "http://127.0.0.1:1/";
  const { lines, untilShown, stop } = listen("--forward-to", closed, "--output", "json");
  await untilShown(1);
  await tell();
  await untilShown(2);
  expect(jsonOf(lines)[1]).toMatchObject({ status: null, error: expect.stringContaining("ECONNREFUSED") as string });
  await stop();
  const refused = async (...args: string[]) => listen(...args).ended;
  expect(await refused("--replay", "1", "--replay-last", "2")).toBe(2);
  expect(await refused("--forward-to", "ftp://localhost/")).toBe(2);
  expect(await refused("--replay-last", "101")).toBe(2);
  expect(await refused("--continue", crypto.randomUUID())).toBe(3);
});
