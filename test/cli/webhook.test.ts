import { expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { makeOperator, runHere } from "./program.ts";

const db = await testDatabase();
const { ask, refusal } = makeOperator(runHere({ NODE_ENV: "test", DATABASE_URL: db.url }));

test("an address inside the network is refused with its reason", async () => {
  const { clientId } = await ask("app", "create", "--name", "Lernapp");
  for (const url of ["https://127.0.0.1/", "https://localhost/", "http://169.254.169.254/"]) {
    expect(await refusal("webhook", "add", clientId, "--url", url)).toMatchObject({
      exitCode: 3,
      code: "webhook_url_refused",
    });
  }
  expect((await refusal("webhook", "add", clientId, "--url", "https://127.0.0.1/")).error).toContain(
    "set WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true for this command and for the service",
  );
});

test("deleting an app takes its endpoints and their log with it, and leaves those of others", async () => {
  const made = [];
  for (const name of ["Gone", "Stays"]) {
    const { clientId } = await ask("app", "create", "--name", name);
    const { id } = await ask("webhook", "add", clientId, "--url", "https://93.184.216.34/hook");
    await ask("webhook", "test", id);
    made.push({ clientId, id });
  }
  await ask("app", "delete", made[0]!.clientId, "--yes");
  expect((await ask<{ endpoints: { id: string }[] }>("webhook", "list")).endpoints.map(({ id }) => id)).toEqual([
    made[1]!.id,
  ]);
  expect(await db.prisma.webhookDelivery.findMany({ select: { endpointId: true } })).toEqual([
    { endpointId: made[1]!.id },
  ]);
  expect(await db.prisma.webhookSecret.count()).toBe(1);
});
