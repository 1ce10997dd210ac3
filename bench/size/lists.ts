// The list of everybody whom an app sees, read to its end: rows a second, and the memory of the service.
import { request } from "undici";
import type { ClientId } from "../../src/access/index.ts";
import { getAppToken } from "../../test/support/token.ts";
import { startSubject } from "../harness.ts";
import { appSecret } from "../world/shape.ts";
import { everywhere, type World } from "./worlds.ts";

type List = { world: World; clientId: string };

const path = "/idm/schulconnex/v1/personen-info";

/** Prints a row for the small world, for an app of some schools of the large one, and for one of all its schools. */
export async function measureLists({ small, large }: { small: World; large: World }): Promise<void> {
  const lists: List[] = [
    { world: small, clientId: everywhere },
    { world: large, clientId: await findAppOfSome(large) },
    { world: large, clientId: everywhere },
  ];
  console.log("\n| Whole list `personen-info` | People | Size | Time | People a second | Peak memory of the service |");
  console.log("|---|---|---|---|---|---|");
  for (const list of lists) console.log(await measureList(list));
}

async function findAppOfSome({ db }: World): Promise<string> {
  const { rows } = await db.pool.query<{ client: string }>(
    `SELECT client_id AS client FROM "grant" WHERE sync GROUP BY 1 HAVING count(*) < (SELECT count(*) FROM school)
     ORDER BY count(*) DESC, 1 LIMIT 1`,
  );
  return rows[0]!.client;
}

/** A service of its own for each list, so that its peak is the list's. */
async function measureList({ world, clientId }: List): Promise<string> {
  const service = await startSubject("service", "./subjects/service.ts", {
    DATABASE_URL: world.url,
    ROLE: "web",
    LOG_LEVEL: "error",
    LIST_TOTAL_SECONDS: "3600",
  });
  try {
    const app = { clientId: clientId as ClientId, clientSecret: appSecret, redirectUri: "" };
    const headers = { authorization: `Bearer ${await getAppToken(service, app, ["people:read"])}` };
    const before = await service.readPeakMb();
    const began = performance.now();
    const { statusCode, body } = await request(service.url + path, { headers, bodyTimeout: 0, headersTimeout: 0 });
    if (statusCode !== 200) throw new Error(`the list of ${clientId} was answered ${String(statusCode)}`);
    const { people, bytes } = await count(body);
    const seconds = (performance.now() - began) / 1000;
    const columns = [
      `${clientId} of ${world.people.toLocaleString("en")}`,
      people.toLocaleString("en"),
      `${(bytes / 1e6).toFixed(1)} MB`,
      `${seconds.toFixed(1)} s`,
      (people / seconds).toFixed(0),
      `${(await service.readPeakMb()).toFixed(0)} MB (${before.toFixed(0)} MB before)`,
    ];
    return `| ${columns.join(" | ")} |`;
  } finally {
    await service.stop();
  }
}

/** Every record has one `"pid":`; errors: a list that was cut off. */
async function count(body: AsyncIterable<Buffer>): Promise<{ people: number; bytes: number }> {
  const mark = Buffer.from('"pid":');
  let [people, bytes, rest] = [0, 0, Buffer.alloc(0)];
  for await (const chunk of body) {
    bytes += chunk.length;
    const text = Buffer.concat([rest, chunk]);
    let after = 0;
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, after)) {
      people++;
      after = at + mark.length;
    }
    rest = text.subarray(Math.max(after, text.length - mark.length + 1));
  }
  if (!rest.toString().trimEnd().endsWith("]")) throw new Error("the list was cut off");
  return { people, bytes };
}
