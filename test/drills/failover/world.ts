import type { ClientId } from "../../../src/access/index.ts";
import type { SchoolId } from "../../../src/directory/index.ts";
import { openDatabase, withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { applyMigrations } from "../../../src/platform/migrations/migrate.ts";
import type { EncryptionKeys } from "../../../src/platform/crypto/seal.ts";
import { giveRole } from "../../../src/staff/index.ts";
import { registerEndpoint } from "../../support/webhook-changes.ts";
import { makeMakers } from "../../support/make.ts";
import { giveLogin, type Login, type TestApp } from "../../support/token.ts";

/** What the load works on. */
export type World = {
  app: TestApp;
  automation: TestApp;
  school: SchoolId;
  logins: Login[];
  people: string[];
  /** Signs in and out again. */
  leaving: { personId: string; login: Login };
  /** Events from then on have an address to go to. */
  startedAt: Date;
};

const counts = { logins: 6, renamed: 6 };

/** Makes a school with an app that is notified of it, people who sign in, and an app for automation. */
export async function makeWorld(url: string, receiverUrl: string, encryptionKeys: EncryptionKeys): Promise<World> {
  await applyMigrations(url, { say: () => undefined });
  const db = openDatabase({ url });
  try {
    const now = new Date();
    const make = makeMakers(db, now);
    const school = await make.school();
    const app = await make.app({ clientId: "drill" as ClientId });
    const automation = await make.app({ scopes: ["admin:read", "admin:write"] });
    const origin = { at: now, actorId: "drill" };
    await withPrismaTransaction(db, (tx) =>
      giveRole(tx, { role: "OPERATOR", holder: { clientId: automation.clientId } }, { giver: null, origin }),
    );
    await make.grant({ app: app.clientId, school, signOn: "EVERYBODY", sync: true });
    const people = [];
    for (let n = 0; n < counts.logins + counts.renamed; n++) people.push(await make.person({ school }));
    const logins = [];
    for (const person of people.slice(0, counts.logins)) logins.push(await giveLogin(db, person));
    const leaver = await make.person({ school });
    const leaving = { personId: leaver, login: await giveLogin(db, leaver) };
    await registerEndpoint(
      db,
      { clientId: app.clientId, url: receiverUrl, eventTypes: ["person", "group", "school"] },
      { origin, keys: encryptionKeys, policy: { allowPrivateAddresses: true } },
    );
    const others = people.slice(counts.logins);
    return { app, automation, school, logins, people: others, leaving, startedAt: new Date() };
  } finally {
    await db.close();
  }
}
