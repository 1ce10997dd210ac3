import type { AddressInfo } from "node:net";
import { createServer } from "node:http";
import { readConfig } from "../../../src/config/index.ts";
import { openDatabase, withPrismaTransaction, type OpenDb } from "../../../src/platform/database/db.ts";
import { applyMigrations } from "../../../src/platform/migrations/migrate.ts";
import { giveRole } from "../../../src/staff/index.ts";
import { registerEndpoint } from "../../support/webhook-changes.ts";
import { makeMakers } from "../../support/make.ts";
import { giveLogin } from "../../support/token.ts";

export type World = Awaited<ReturnType<typeof makeWorld>>;

/** A school with an app that sees its people, a program of the staff that changes them, and a person who signs in. */
export async function makeWorld(url: string, receiverUrl: string) {
  await applyMigrations(url, { say: () => undefined });
  const db: OpenDb = openDatabase({ url, poolSize: 2 });
  const make = makeMakers(db, new Date());
  const [school, app] = [await make.school(), await make.app()];
  const group = await make.group({ school });
  await make.grant({ app: app.clientId, school, groups: [group] });
  const staff = await make.app({ scopes: ["admin:read", "admin:write"] });
  const origin = { at: new Date() };
  await withPrismaTransaction(db, (tx) =>
    giveRole(
      tx,
      { role: "OPERATOR", holder: { clientId: staff.clientId }, schoolIds: [], clientIds: [] },
      { giver: null, origin },
    ),
  );
  const here = { address: "127.0.0.1", family: 4 };
  await registerEndpoint(
    db,
    { clientId: app.clientId, url: receiverUrl, eventTypes: ["person"] },
    {
      origin,
      keys: readConfig({ NODE_ENV: "development" }).encryptionKeys,
      policy: { allowPrivateAddresses: true, lookup: (_name, _options, done) => done(null, [here]) },
    },
  );
  const person = await make.person({ school, groups: [group] });
  const login = await giveLogin(db, person);
  await db.close();
  return { school, group, app, staff, login };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** A receiver that keeps which people it was told of. */
export async function startReceiver() {
  const [people, seen] = [new Set<string>(), new Set<string>()];
  let repeated = 0;
  const take = (id: string, { personId, action }: { personId: string; action: string }) => {
    if (seen.has(id)) repeated += 1;
    else if (action === "delete") people.delete(personId);
    else people.add(personId);
    seen.add(id);
  };
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      take(String(request.headers["webhook-id"]), JSON.parse(body) as { personId: string; action: string });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://receiver.test:${(server.address() as AddressInfo).port}/`,
    people,
    counts: () => ({ received: seen.size, repeated }),
    close: () => server.close(),
  };
}
