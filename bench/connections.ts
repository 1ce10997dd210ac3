/**
 * The roster of a new school, by a roster connection with a folder and by hand (upload, preview, apply): the time until
 * everybody is there, and the CPU time of the service.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SchoolId } from "../src/directory/index.ts";
import { makeStaff, type Sent } from "../test/support/admin.ts";
import { makeMakers } from "../test/support/make.ts";
import type { TestService } from "../test/support/service.ts";
import { openBenchDatabase } from "./database.ts";
import { startSubject } from "./harness.ts";

const people = Number(process.env["BENCH_PEOPLE"] ?? 20_000);
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5);

const folder = await mkdtemp(join(tmpdir(), "schultor-bench-connections-"));
const database = await openBenchDatabase();
const service = await startSubject("service", "./subjects/service.ts", {
  DATABASE_URL: database.url,
  LOG_LEVEL: "warn",
  ROSTER_FOLDER: folder,
});
try {
  const make = makeMakers(database.db);
  const asked = { url: service.url, db: database.db, clock: () => new Date() } as unknown as TestService;
  const { call } = await makeStaff(asked, "OPERATOR");

  const rows = ["id;role;first_name;last_name;classes"];
  for (let n = 0; n < people; n++)
    rows.push(`${n};${n % 12 === 0 ? "teacher" : "student"};First Änne ${n % 997};Müller-${n % 4999};Class ${n % 400}`);
  const roster = Buffer.from(rows.join("\n"));
  await writeFile(join(folder, "roster.csv"), roster);

  const read = async <Body>(sent: Promise<Sent>): Promise<Body> => {
    const { status, body } = await sent;
    if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body as Body;
  };
  const byHand = async (school: SchoolId) => {
    const headers = { "content-type": "application/octet-stream" };
    type Import = { id: string; state: string };
    const made = await read<Import>(call("POST", `/imports?school=${school}`, { body: roster, headers }));
    const until = async (state: string) => {
      for (;;) {
        const found = await read<Import>(call("GET", `/imports/${made.id}`));
        if (found.state === state) return;
        if (["BROKEN", "FAILED", "CANCELLED"].includes(found.state)) throw new Error(found.state);
        await sleep(20);
      }
    };
    await until("READY");
    await read(call("POST", `/imports/${made.id}/application`, { body: {} }));
    await until("APPLIED");
  };
  const byConnection = async (school: SchoolId) => {
    const body = { name: "Bench", schoolIds: [school], kind: "FOLDER", path: "roster.csv", applies: "UNLESS_HELD" };
    const { id } = await read<{ id: string }>(call("POST", "/roster-connections", { body }));
    await read(call("POST", `/roster-connections/${id}/runs`));
    for (;;) {
      const [run] = await read<{ outcome: string }[]>(call("GET", `/roster-connections/${id}/runs`));
      if (run?.outcome === "APPLIED") return;
      if (run?.outcome !== "RUNNING") throw new Error(JSON.stringify(run));
      await sleep(20);
    }
  };
  const measure = async (bring: (school: SchoolId) => Promise<void>) => {
    const school = await make.school();
    const [cpu, start] = [service.cpuMs(), performance.now()];
    await bring(school);
    const took = { ms: performance.now() - start, cpuMs: service.cpuMs() - cpu };
    const made = await database.db.prisma.person.count({ where: { homeSchoolId: school } });
    if (made !== people) throw new Error(`${made} people were made instead of ${people}`);
    return took;
  };

  console.log(`${people} people of a new school\n`);
  console.log("| Round | By connection | By hand | Ratio of the rates | CPU by connection | CPU by hand |");
  console.log("|---|---|---|---|---|---|");
  const ratios: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const ours = round % 2 === 0 ? await measure(byConnection) : undefined;
    const base = await measure(byHand);
    const { ms, cpuMs } = ours ?? (await measure(byConnection));
    if (round > 0) ratios.push(base.ms / ms);
    const cells = [`${(ms / 1000).toFixed(2)} s`, `${(base.ms / 1000).toFixed(2)} s`, (base.ms / ms).toFixed(2)];
    const name = round === 0 ? "warm-up" : String(round);
    console.log(`| ${[name, ...cells, `${cpuMs.toFixed(0)} ms`, `${base.cpuMs.toFixed(0)} ms`].join(" | ")} |`);
  }
  const [least, median, most] = [0, 0.5, 1].map(
    (at) => ratios.toSorted((a, b) => a - b)[Math.round(at * (rounds - 1))]!,
  );
  console.log(`\nRatio: ${least!.toFixed(2)} / **${median!.toFixed(2)}** / ${most!.toFixed(2)}; wanted 0.95`);
} finally {
  await service.stop();
  await database.close();
  await rm(folder, { recursive: true });
}
