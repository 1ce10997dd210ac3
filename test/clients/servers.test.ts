import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { createInterface } from "node:readline";
import { beforeAll, describe, expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import { readConfig } from "../../src/config/index.ts";
import { renameGroup, softDeletePerson, updateSchool } from "../../src/directory/index.ts";
import type { Change, GroupId, PersonId, SchoolId } from "../../src/directory/index.ts";
import { registerEndpoint } from "../support/webhook-changes.ts";
import { demoApp, startDemo } from "../support/api.ts";
import { atFileEnd } from "../support/file-end.ts";
import type { TestService } from "../support/service.ts";
import { inside } from "../support/webhooks.ts";
import { servers, type Server } from "./servers.ts";

const { clientId } = demoApp("demo-lernapp");
const schoolId = "a0000000-0000-4000-8000-000000000001" as SchoolId;
const groupId = "b0000000-0000-4000-8000-000000000001" as GroupId;
const personId = "c0000000-0000-4000-8000-000000000002" as PersonId;
const events = ["person", "group", "school"] as const;

type Started = { url: string; printed: AsyncIterator<string>; say(line: string): void };

/** Starts a generated server, which ends with the test file. */
async function start(server: Server): Promise<Started> {
  const { program, args, env } = await server.build();
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "inherit"] });
  atFileEnd(() => void child.kill());
  const printed = createInterface(child.stdout)[Symbol.asyncIterator]();
  const { value: url } = await printed.next();
  return { url: String(url), printed, say: (line) => void child.stdin.write(`${line}\n`) };
}

async function send(service: TestService, work: (of: Change) => Promise<unknown>): Promise<void> {
  await changeDirectory(service.db, { at: service.clock(), actorId: "test" }, work);
  await service.runJob("webhooks.fanOut");
  await service.runJob("webhooks.deliver");
}

describe.each(servers)("a server of $name", (server) => {
  let service: TestService;
  let started: Started;
  const secrets: Record<string, string> = {};

  beforeAll(async () => {
    service = await startDemo({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
    // What made the demo world is told to nobody.
    await service.runJob("webhooks.fanOut");
    started = await start(server);
    const { encryptionKeys: keys } = readConfig({ NODE_ENV: "test" });
    for (const event of events) {
      const path = `/webhooks/${event}`;
      const endpoint = { clientId, url: started.url + path, eventTypes: [event] };
      const how = { origin: { at: service.clock(), actorId: "test" }, keys, policy: inside };
      secrets[path] = (await registerEndpoint(service.db, endpoint, how)).secret;
    }
    started.say(JSON.stringify(secrets));
    // Waits until it takes requests: on a busy machine its start may take longer than a delivery waits.
    await fetch(`${started.url}/webhooks/person`, { method: "POST" });
  });

  test.each([
    ["PersonEvent", "delete", personId, (it: Change) => softDeletePerson(it, { personId, restoreWindowDays: 30 })],
    ["GroupEvent", "update", groupId, (it: Change) => renameGroup(it, { groupId, name: "Klasse 6ä" })],
    ["SchoolEvent", "update", schoolId, (it: Change) => updateSchool(it, { schoolId, name: "Schule am Fluß" })],
  ])("takes and confirms a %s of the running service", async (model, action, id, work) => {
    await send(service, work);
    const states = await service.db.prisma.webhookDelivery.findMany({ select: { state: true } });
    expect(new Set(states.map(({ state }) => state))).toEqual(new Set(["DELIVERED"]));
    const { value } = await started.printed.next();
    expect(JSON.parse(String(value))).toEqual({ model, action, id });
  });

  test("refuses an event that somebody else signed, and takes the same one with the right signature", async () => {
    const body = JSON.stringify({ event: "person", action: "update", personId });
    const post = async (secret: string) => {
      const headers = {
        "content-type": "application/json",
        "x-ep-event-type": "person",
        "x-ep-signature-sha256": createHmac("sha256", secret).update(body).digest("hex"),
      };
      return (await fetch(`${started.url}/webhooks/person`, { method: "POST", headers, body })).status;
    };
    expect(await post("whsec_of-somebody-else")).toBe(401);
    expect([200, 204]).toContain(await post(secrets["/webhooks/person"]!));
  });
});
