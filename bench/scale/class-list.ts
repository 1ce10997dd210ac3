import type { PrismaDb } from "../../src/platform/database/db.ts";
import { addressOfName, makeClassroom, rabbitCode } from "../../test/support/class-list.ts";
import type { Subject } from "../harness.ts";
import { makeBrowser, type Network } from "../monday/browser.ts";
import { app, exchange } from "../monday/sign-ons.ts";
import { authorizationUrl } from "../sign-on.ts";

const names = Array.from({ length: 25 }, (_, n) => `Kim${String.fromCharCode(97 + n)}`);

/** Sign-ons of a class of 25 on devices where its list is open, each to the app that waits there. */
export async function makeClassListWay(
  service: Subject,
  db: PrismaDb,
  network: Network,
): Promise<(n: number) => Promise<void>> {
  const room = await makeClassroom({ url: service.url, db, clock: () => new Date() });
  const made = [];
  for (const name of names) made.push((await room.makeReadyPupil(name)).personId);
  await room.make.grant({ app: app.clientId, school: room.school, signOn: "EVERYBODY" });
  await db.pool.query(
    `WITH known AS (
       INSERT INTO sign_in (client_id, person_id, first_sign_in_at, last_sign_in_at)
       SELECT $1, id, now(), now() FROM unnest($2::uuid[]) AS id RETURNING person_id)
     INSERT INTO consent (person_id, client_id, scopes, granted_at)
     SELECT person_id, $1, '{openid,profile}', now() FROM known`,
    [app.clientId, made],
  );
  const device = await room.openDevice();
  const kept = device.cookies().map(({ name, value }) => [name, value] as const);
  return async (n) => {
    const browser = makeBrowser(service, network.agentOf(n), new Map(kept));
    const { address, verifier } = authorizationUrl({ ...service, app });
    await browser.open(address);
    const pupil = addressOfName(await browser.open("/class"), `${names[n % names.length]!} M.`)!;
    const fields = { tapped: rabbitCode.slice(0, 2).join(" "), picture: rabbitCode[2]! };
    await exchange(service, network, {
      n,
      page: await browser.post(await browser.open(pupil), pupil, fields),
      verifier,
    });
  };
}
