/**
 * What work costs in a large world, against the same work in a small one, in turns: `npm run bench -- size`. With
 * `--lost never` or `--lost empty` the large world has no statistics: given as many people as the small one has, a row
 * shows what they are worth. Worlds at BENCH_DATABASE_URL and BENCH_LARGE_DATABASE_URL stay and are used again.
 */
import { parseArgs } from "node:util";
import { compareChanges } from "./size/changes.ts";
import { costHead } from "./size/cost.ts";
import { measureLists } from "./size/lists.ts";
import { compareRequests } from "./size/requests.ts";
import { reportScans } from "./size/scans.ts";
import { loseStatistics } from "./statistics.ts";
import { openWorld, takeSample, type World } from "./size/worlds.ts";

const { values } = parseArgs({
  options: {
    small: { type: "string", default: "10000" },
    large: { type: "string", default: "1000000" },
    lost: { type: "string" },
    part: { type: "string", multiple: true, default: ["requests", "changes", "lists"] },
  },
});
const [smallUrl, largeUrl] = [process.env["BENCH_DATABASE_URL"], process.env["BENCH_LARGE_DATABASE_URL"]];
if ((smallUrl === undefined) !== (largeUrl === undefined)) {
  console.error("size takes BENCH_DATABASE_URL and BENCH_LARGE_DATABASE_URL, or neither");
  process.exit(2);
}
if (!["never", "empty", undefined].includes(values.lost)) {
  console.error("size takes --lost never (PostgreSQL never counted) or --lost empty (it counted no rows)");
  process.exit(2);
}
const worlds: World[] = [];
const open = async (url: string | undefined, people: string): Promise<World> => {
  const world = await openWorld(url, Number(people));
  worlds.push(world);
  return world;
};
try {
  const sides = { small: await open(smallUrl, values.small), large: await open(largeUrl, values.large) };
  const samples = { small: await takeSample(sides.small), large: await takeSample(sides.large) };
  const [few, many] = [sides.small.people, sides.large.people].map((people) => people.toLocaleString("en"));
  const known = values.lost === undefined ? "" : `, no statistics (${values.lost})`;
  console.log(`small: ${few!} people; large: ${many!} people${known}`);
  const parts: Record<string, () => Promise<void>> = {
    requests: () => compareRequests(sides, samples),
    changes: () => compareChanges(sides, samples),
    lists: () => measureLists(sides),
  };
  for (const part of values.part) {
    if (part !== "lists") console.log(`\n${costHead}`);
    if (values.lost !== undefined) await loseStatistics(sides.large.db, values.lost === "empty");
    await reportScans(sides.large, part, parts[part]!);
  }
} finally {
  for (const world of worlds) await world.close();
}
