import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { recordAccessReport } from "../../src/access/index.ts";
import { addSecondFactor, createBatchIn } from "../../src/accounts/index.ts";
import { createRosterConnectionIn, makeSources } from "../../src/connections/index.ts";
import { withPrismaTransaction, type Transaction } from "../../src/platform/database/db.ts";
import { createSetUpLinkIn, type ConnectionId } from "../../src/upstream/index.ts";
import { createConnectionIn } from "../../src/upstream/change-connection.ts";
import { makeListenerIn } from "../../src/webhooks/listener/endpoint.ts";
import { registerEndpointIn } from "../../src/webhooks/endpoint.ts";
import { inBatches } from "../support/in-batches.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { encryptionKeys as keys } from "../support/upstream.ts";
import { makeConnectionRow } from "../support/upstream-rows.ts";

const { db, clock } = await startService();
const make = makeMakers(db);
const at = clock();
const origin = { at, actorId: "app:test", actorName: "Test" };
const [school, { clientId }] = [await make.school(), await make.app()];
const person = await make.person({ school });
await make.grant({ app: clientId, school });
const sources = makeSources({});
const connectionId = (await makeConnectionRow(db, { school, at })) as ConnectionId;

type Limit = { most: number; code: string; add: (tx: Transaction, at: number) => Promise<unknown> };

const limits: Record<string, Limit> = {
  "access/usage/access-report.ts": {
    most: 100,
    code: "access_report_limit",
    add: (tx, count) =>
      recordAccessReport(
        tx,
        { clientId, personId: person, type: "GROUP", identifier: `${count}`, since: null, until: null, trial: false },
        at,
      ),
  },
  "accounts/batches/batch.ts": {
    most: 3,
    code: "too_many_credential_batches",
    add: async (tx) =>
      createBatchIn(
        tx,
        {
          schoolId: school,
          caller: origin.actorId,
          people: [person],
          groupIds: [],
          roles: [],
          newPasswords: true,
          withQr: false,
          withLetters: false,
          onlyMissing: false,
        },
        at,
      ),
  },
  "accounts/second-factor/records.ts": {
    most: 10,
    code: "second_factors_full",
    add: (tx, count) =>
      addSecondFactor(tx, {
        personId: person,
        factor: { id: crypto.randomUUID(), label: `${count}`, kind: "TOTP", secret: Buffer.alloc(20), lastStep: 0 },
        origin,
      }),
  },
  "connections/change-connection.ts": {
    most: 10,
    code: "roster_connections_full",
    add: (tx, count) =>
      createRosterConnectionIn(
        tx,
        { name: `${count}`, kind: "HTTPS_FILE", schoolIds: [school], address: "https://files.example/roster.csv" },
        { keys, sources, origin },
      ),
  },
  "upstream/set-up-links.ts": {
    most: 5,
    code: "set_up_links_open",
    add: (tx) => createSetUpLinkIn(tx, { connectionId, days: 1 }, origin),
  },
  "upstream/change-connection.ts": {
    most: 20 - 1,
    code: "upstream_connection_exists",
    add: (tx, count) =>
      createConnectionIn(
        tx,
        { schoolId: school, profile: "OIDC", name: `${count}` },
        { keys, allowHttp: false, origin },
      ),
  },
  "webhooks/endpoint.ts": {
    most: 20,
    code: "webhook_endpoint_limit",
    add: (tx, count) =>
      registerEndpointIn(
        tx,
        { clientId, url: `https://receiver.example/${count}`, eventTypes: ["person"] },
        { origin, keys },
      ),
  },
  "webhooks/listener/endpoint.ts": {
    most: 5,
    code: "webhook_listener_limit",
    add: (tx) => makeListenerIn(tx, { clientId, eventTypes: ["person"] }, { origin, keys }),
  },
};

const elsewhere = {
  "sandbox/create.ts": "test/api/admin/sandboxes.test.ts asks for more than three at once",
  "access/agreements/draft.ts": "an app has one draft, so that versions are never made at once",
};

test("every limit that is counted is listed here", () => {
  const counted = globSync("src/**/*.ts").filter((file) =>
    /\bawait checkLimit\(|^ {2}checkLimit\(/m.test(readFileSync(file, "utf8")),
  );
  const files = counted.map((file) => file.replace(/^src\//, ""));
  expect(files.toSorted()).toEqual([...Object.keys(limits), ...Object.keys(elsewhere)].toSorted());
});

const readCode = (error: Error & { code?: string }) => error.code ?? error;

test.each(Object.entries(limits))(
  "%s: of twice as many requests at once, as many as allowed succeed",
  async (_, { most, code, add }) => {
    const outcomes = await inBatches(
      Array.from({ length: 2 * most }, (_none, count) => count),
      (count) => withPrismaTransaction(db, (tx) => add(tx, count)).then(() => null, readCode),
      // More would only wait for a connection, and be refused for that on a busy machine.
      db.pool.options.max,
    );
    expect(outcomes.filter((outcome) => outcome !== null)).toEqual(Array(most).fill(code));
  },
);
