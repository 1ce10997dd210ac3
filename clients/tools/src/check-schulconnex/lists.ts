import type { ExpectationId } from "./expectations.ts";
import { canonical, compare, findRepeated, hash, sorted } from "./fingerprints.ts";
import { parse, tell } from "./provider.ts";
import { at, findRecordFaults, listAt, textAt } from "./record.ts";
import type { Sent } from "./request.ts";
import { findListFault, readList, sendProbes, type Snapshot, type World } from "./world.ts";

const ofRecords = ["record-fields", "record-codes", "references"] as const;
const mostKinds = 200;

/** Reads the whole list, compares each record with the standard, and keeps samples. */
export async function inspectList(world: World): Promise<Snapshot> {
  const { version, samples } = world;
  const kinds = new Map<string, { id: ExpectationId; expected: string | null; first: number; more: number }>();
  const contentOf = new Map<string, number>();
  const isOther = (id: string, value: unknown): boolean => {
    const content = hash(canonical(value));
    if (!contentOf.has(id)) contentOf.set(id, content);
    return contentOf.get(id) !== content;
  };
  const list = await readList(world, "list-read", {}, (record, position) => {
    // Those at 1, 2, 4, 8 and so on: the last of them is in the second half.
    if (Number.isInteger(Math.log2(position))) samples[Math.min(position - 1, 1)] = record;
    const note = (id: ExpectationId, came: string, expected: string | null = null): void => {
      const known = kinds.get(came);
      if (known !== undefined) known.more += 1;
      else if (kinds.size < mostKinds) kinds.set(came, { id, expected, first: position, more: 0 });
    };
    for (const { isCode, came, expected } of findRecordFaults(record, version))
      note(isCode ? "record-codes" : "record-fields", came, expected);
    for (const context of listAt(record, "personenkontexte")) {
      const organisation = textAt(context, "organisation", "id");
      if (isOther(`o${organisation}`, at(context, "organisation"))) note("references", "organisation: other content");
      for (const gruppe of listAt(context, "gruppen").map((entry) => at(entry, "gruppe"))) {
        if (isOther(`g${textAt(gruppe, "id")}`, gruppe)) note("references", "gruppe: other content");
        if ((at(gruppe, "orgid") ?? organisation) !== organisation) note("references", "gruppe.orgid: another id");
      }
    }
  });
  if (list.pids.length === 0) world.note("not checked", "The list is empty.", ...ofRecords);
  else for (const id of ofRecords) world.judge(id, {}, null);
  for (const [came, { id, expected, first, more }] of kinds)
    world.judge(id, {}, `record ${first}${more > 0 ? ` and ${more} more` : ""}: ${came}`, expected);
  for (const [name, ids] of Object.entries({ pid: list.pids, "personenkontexte[].id": list.contexts })) {
    const place = findRepeated(ids);
    world.judge("ids-unique", {}, place === null ? null : `the ${name} at ${place} a second time`);
  }
  return list;
}

/** Reads the list a second time, then as a client that keeps a copy. */
export async function checkLists(world: World, first: Snapshot): Promise<void> {
  const second = await readList(world, "list-read", {});
  const isSameTag = first.etag !== null && first.etag === second.etag;
  const change = findListFault(first.contents, second.contents);
  const { lacking } = compare(sorted(first.pids), sorted(second.pids));
  // Some people come and go while a school works, but not most of them.
  const fault = lacking > first.pids.length / 2 ? `other pids: ${lacking}` : isSameTag ? change : null;
  world.judge("stable", "GET personen-info, twice", fault);
  if (change === null && !isSameTag) world.judge("etag", "GET personen-info, twice", "two ETags for one list");
  await checkCopy(world, {}, ["etag", "head", "not-modified"]);
}

/** Compares ETag, HEAD and 304. A list that changes meanwhile gets another try. */
async function checkCopy(world: World, sent: Sent, ids: readonly ExpectationId[], tries = 3): Promise<void> {
  const [ofTag, ofHead, ofCondition] = ids as [ExpectationId, ExpectationId, ExpectationId];
  const whole = await world.send(sent);
  const head = await world.send({ ...sent, method: "HEAD" });
  const etag = whole.headers.get("etag") ?? "";
  const conditional = { ...sent, headers: { "If-None-Match": etag } };
  const next = await world.send(conditional);
  if (next.status === 200 && next.headers.get("etag") !== etag && etag !== "" && tries > 1)
    return checkCopy(world, sent, ids, tries - 1);
  world.judge(ofTag, sent, /^(W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/.test(etag) ? null : 'no ETag: "…"');
  const differing = ["etag", "content-type"].find((name) => head.headers.get(name) !== whole.headers.get(name));
  const ofHeaders = differing === undefined ? null : `another ${differing} than GET`;
  world.judge(ofHead, { ...sent, method: "HEAD" }, head.status === 200 ? ofHeaders : String(head.status));
  if (etag === "") return;
  world.judge(
    ofCondition,
    conditional,
    next.status === 304 && next.text === "" ? null : tell(next),
    "304 without a body",
  );
  await sendProbes(world, [[ofCondition, { ...sent, headers: { "If-None-Match": '"other"' } }, [200]]]);
}

/** Reads the record of the person whose token was given. */
export async function checkPerson(world: World): Promise<void> {
  const { send, user } = world;
  const ids = ["person-record", "person-same"] as const;
  if (user === null) return world.note("not checked", "Give --user-token-file to check it.", ...ids);
  const sent = { path: "person-info", by: user };
  const answer = await send(sent);
  const record = parse(answer.text);
  const fault = findRecordFaults(record, world.version).find(({ isCode }) => !isCode);
  const came = answer.status !== 200 ? tell(answer) : (fault?.came ?? null);
  if (!world.judge("person-record", sent, came, fault?.expected)) return;
  await checkCopy(world, sent, ["person-record", "person-record", "person-record"]);
  const { contents } = await readList(world, "person-same", { query: { pid: textAt(record, "pid") } });
  if (contents.length === 0) return world.note("not checked", "The person is not listed.", "person-same");
  world.judge("person-same", sent, findListFault([hash(canonical(record))], contents));
}
