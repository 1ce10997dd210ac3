import type { ExpectationId } from "./expectations.ts";
import { NotAsked, type Findings } from "./findings.ts";
import { canonical, compare, hash, sorted } from "./fingerprints.ts";
import { tell, type Answer, type OnRecord, type Send } from "./provider.ts";
import { listAt, textAt, type Version } from "./record.ts";
import type { Caller, Sent } from "./request.ts";
import type { Token } from "./token.ts";

/** What all checks work with. */
export type World = Findings & {
  send: Send;
  version: Version;
  token: Token;
  /** The person who signed in; null without a token of theirs. */
  user: Caller | null;
  expired: Caller | null;
  /** Two records of the list, or one, or none. */
  samples: unknown[];
};

/** What is kept of a list: a few numbers for each record. */
export type Snapshot = { etag: string | null; pids: number[]; contents: number[]; contexts: number[] };

/** Reads a list. Errors: NotAsked if it is none, which `id` tells. */
export async function readList(world: World, id: ExpectationId, sent: Sent, onRecord?: OnRecord): Promise<Snapshot> {
  const [pids, contents, contexts]: [number[], number[], number[]] = [[], [], []];
  const answer = await world.send(sent, (record, position) => {
    pids.push(hash(textAt(record, "pid")));
    contents.push(hash(canonical(record)));
    for (const context of listAt(record, "personenkontexte")) contexts.push(hash(textAt(context, "id")));
    onRecord?.(record, position);
  });
  if (answer.status !== 200) {
    world.judge(id, sent, tell(answer), "200 and a JSON array");
    throw new NotAsked();
  }
  world.judge("list-read", sent, null);
  return { etag: answer.headers.get("etag"), pids, contents, contexts };
}

export function findListFault(wanted: readonly number[], contents: readonly number[]): string | null {
  if (contents.length !== wanted.length) return `records: ${contents.length}`;
  const { lacking } = compare(sorted(wanted), sorted(contents));
  return lacking === 0 ? null : `records with other content: ${lacking}`;
}

/** Reads a list that is to have these contents, and no other. */
export async function expectList(
  world: World,
  id: ExpectationId,
  sent: Sent,
  wanted: readonly number[],
): Promise<void> {
  const { contents } = await readList(world, id, sent);
  world.judge(id, sent, findListFault(wanted, contents), `records: ${wanted.length}, as in the whole list`);
}

/** A request, the statuses that are expected, and the subcode. */
export type Probe = readonly [id: ExpectationId, sent: Sent, statuses: readonly number[], subcode?: string];
type Look = (answer: Answer, sent: Sent) => void;

/** Sends requests one after the other and compares status and subcode. */
export async function sendProbes(world: World, probes: readonly Probe[], look?: Look): Promise<void> {
  for (const [id, sent, statuses, subcode] of probes)
    await world.attempt(async () => {
      const answer = await world.send(sent);
      const expected = statuses.map((status) =>
        subcode === undefined ? `${status}` : `${status}, subcode ${subcode}`,
      );
      const came = subcode === undefined ? String(answer.status) : tell(answer);
      world.judge(id, sent, expected.includes(came) ? null : tell(answer), expected.join(" or "));
      look?.(answer, sent);
    });
}
