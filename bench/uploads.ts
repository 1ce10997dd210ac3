// Sign-ons beside three offices that hand in rosters of 63 MiB again and again, against the same service without them.
import { setTimeout as sleep } from "node:timers/promises";
import { makeStaff, type AdminClient } from "../test/support/admin.ts";
import type { TestService } from "../test/support/service.ts";
import { measureSignOnsBeside } from "./beside/sign-ons.ts";

const offices = 3;
const bytes = 63 * 1024 * 1024;

function makeRoster(): Buffer {
  const rows = ["id;role;first_name;last_name;classes"];
  for (let n = 0, size = 0; size < bytes - 100; n++) {
    const row = `${String(n)};student;Vorname-${String(n)};Nachname-${String(n)};Klasse ${String(n % 400)}`;
    size += row.length + 1;
    rows.push(row);
  }
  return Buffer.from(rows.join("\n"));
}

type Import = { id: string; state: string };

/** Hands a roster in, waits until it has been read, and cancels it. Shape: whether it was read. */
async function handIn(call: AdminClient, path: string, body: Buffer, signal: AbortSignal): Promise<boolean> {
  const headers = { "content-type": "application/octet-stream" };
  const sent = await call("POST", path, { body, headers });
  if (sent.status !== 201) return false;
  const { id } = sent.body as Import;
  const isReading = async () => ((await call("GET", `/imports/${id}`)).body as Import).state === "READING";
  while (!signal.aborted && (await isReading())) await sleep(200);
  await call("POST", `/imports/${id}/cancellation`);
  return !signal.aborted;
}

await measureSignOnsBeside({
  title: `${String(offices)} offices that hand in rosters of 63 MiB`,
  async prepare({ service, db, make }) {
    const roster = makeRoster();
    const asked = { url: service.url, db, clock: () => new Date() } as unknown as TestService;
    const calls = await Promise.all(
      Array.from({ length: offices }, async () => {
        const school = await make.school();
        const { call } = await makeStaff(asked, "SECRETARY", { schoolIds: [school] });
        return { call, path: `/imports?school=${school}&in-background=true` };
      }),
    );
    let [read, ended] = [0, 0];
    const repeat = async ({ call, path }: (typeof calls)[number], signal: AbortSignal) => {
      while (!signal.aborted) {
        if (await handIn(call, path, roster, signal)) read++;
        else ended++;
      }
    };
    return {
      run: async (signal) => void (await Promise.all(calls.map((one) => repeat(one, signal)))),
      summary: () => `rosters read meanwhile: ${String(read)}; refused, or cancelled at the end: ${String(ended)}`,
    };
  },
});
