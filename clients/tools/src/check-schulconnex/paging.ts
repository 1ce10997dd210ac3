import { randomUUID } from "node:crypto";
import { canonical, compare, findRepeated, hash, sorted } from "./fingerprints.ts";
import { textAt } from "./record.ts";
import { expectList, readList, sendProbes, type Probe, type Snapshot, type World } from "./world.ts";

const all = ["page-size", "page-walk", "page-order", "page-offset", "page-limit", "page-filter"] as const;
const [largestPage, pagesOfSecondWalk] = [250, 50];

/** Walks the list page by page while it is read beside that, and compares. `before` is the whole list. */
export async function checkPaging(world: World, before: Snapshot): Promise<void> {
  const { version, send, samples } = world;
  const count = before.pids.length;
  if (count < 2) return world.note("not checked", "The list has fewer than two records.", ...all);
  if (version < "1.8" && (await send({ query: { limit: "1" } })).status === 400)
    return world.note("not offered", "Paging is needed from version 1.8.", ...all);
  const limit = Math.min(largestPage, Math.ceil(count / 4));
  const [walk] = await Promise.all([readPages(world, limit), readList(world, "list-read", {})]);
  const after = await readList(world, "list-read", {});
  world.judge("page-walk", `GET personen-info?limit=${limit} and on`, findWalkFault(walk, before, after));
  const otherLimit = limit + 1;
  const other = await readPages(world, otherLimit, pagesOfSecondWalk);
  const places = new Map(walk.pids.map((pid, place) => [pid, place]));
  const order = other.pids.flatMap((pid) => places.get(pid) ?? []);
  const isOther = order.some((place, at) => at > 0 && order[at - 1]! >= place);
  world.judge("page-order", `GET personen-info?limit=${limit}, and ${otherLimit}`, isOther ? "another order" : null);
  const pid = textAt(samples[0], "pid");
  await sendProbes(world, [
    ...[randomUUID(), "nobody"].map((offset): Probe => ["page-offset", { query: { offset, limit: "1" } }, [400]]),
    ...["0", "-1", "x"].map((wrong): Probe => ["page-limit", { query: { limit: wrong } }, [400]]),
    ["page-limit", { query: { limit: ["1", "1"] } }, [400], "17"],
    ["page-limit", { query: { offset: [pid, pid] } }, [400], "17"],
  ]);
  await expectList(world, "page-filter", { query: { pid, limit: "2" } }, [hash(canonical(samples[0]))]);
}

/** Reads pages to the empty one after the last, or `most` of them, and no page twice. */
async function readPages(world: World, limit: number, most = Infinity): Promise<Snapshot> {
  const walk: Snapshot = { etag: null, pids: [], contents: [], contexts: [] };
  const offsets = new Set([""]);
  let [offset, isEnd] = ["", false];
  for (let page = 1; page <= most; page++) {
    const query = { limit: String(limit), ...(page > 1 && { offset }) };
    const { pids, contents } = await readList(world, "page-walk", { query }, (record) => {
      offset = textAt(record, "pid");
    });
    const isWrong = pids.length > limit || (isEnd && pids.length > 0);
    const came = `records: ${pids.length}${isEnd ? ", after a page that was not full" : ""}`;
    world.judge("page-size", { query }, isWrong ? came : null);
    isEnd = pids.length < limit;
    for (const pid of pids) walk.pids.push(pid);
    for (const content of contents) walk.contents.push(content);
    // A provider that ignores the offset would send pages without an end.
    if (pids.length === 0 || offsets.has(offset)) break;
    offsets.add(offset);
  }
  return walk;
}

/** Who was there before and after was there throughout, as far as it can be seen from outside. */
function findWalkFault(walk: Snapshot, before: Snapshot, after: Snapshot): string | null {
  const repeated = findRepeated(walk.pids);
  if (repeated !== null) return `the pid at ${repeated} a second time`;
  const walked = sorted(walk.pids);
  const missing = compare(compare(sorted(before.pids), sorted(after.pids)).shared, walked).lacking;
  const strange = compare(walked, sorted([...before.pids, ...after.pids])).lacking;
  if (missing + strange > 0) return `records missing: ${missing}, unknown to the whole list: ${strange}`;
  const unchanged = compare(sorted(before.contents), sorted(after.contents)).shared;
  const changed = compare(unchanged, sorted(walk.contents)).lacking;
  return changed > 0 ? `records with other content: ${changed}` : null;
}
