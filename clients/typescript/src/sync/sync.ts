import type { IdmClient } from "../client.ts";
import type { Change } from "../contract.ts";
import { ApiError, CursorExpiredError } from "../errors.ts";
import { sleep } from "../retry.ts";
import type { Webhook } from "../webhook.ts";
import { IdsChanged, makeIdentifiers } from "./identifiers.ts";
import { keepPosition, loadEverything, readPosition } from "./load.ts";
import { resolveHints } from "./resolve.ts";
import type { Copy, RecordKey, RecordType, Store } from "./store.ts";

export type SyncOptions = {
  client: IdmClient;
  store: Store;
  /** Told of each failure to work on webhooks; they are tried again. */
  onError?: ((error: unknown) => void) | undefined;
  /** The wait before webhooks are tried again, in milliseconds; it doubles up to a minute. Default 1000. */
  retryMs?: number | undefined;
};

export type Sync = {
  /**
   * Brings the copy up to date with the change feed; loads everything the first time, when the feed was not read for
   * too long, when the app reads with other scopes or attributes, and when so much changed that a load is faster. Call
   * it from time to time, also beside webhooks: it finds what they missed.
   */
  follow(): Promise<{ hasLoaded: boolean }>;
  /** Loads everything. */
  load(): Promise<void>;
  /** Keeps a webhook in the store and works on it later: confirm the request when this ends. */
  receive(webhook: Webhook): Promise<void>;
  /** Works on webhooks that a process before this one kept. `receive` does so too. */
  resume(): void;
  /** Reads one record anew, such as that of somebody who just signed in for the first time. */
  refresh(key: RecordKey): Promise<void>;
  /** Ends when no webhook is left to work on. */
  settled(): Promise<void>;
  /** Ends what is under way; webhooks stay in the store. */
  close(): Promise<void>;
};

/** `isGone`: the app no longer saw it when the feed was read to its end. */
type ToldSubject = RecordKey & { isGone: boolean };

/** How many webhooks are worked on together. */
const together = 100;
/** How many changed records are written at once. */
const batch = 500;
/** A load takes the time of this many records read one by one, or of one in this many of a copy that is larger. */
const [fewRecords, oneIn] = [200, 20];
/** With more than this, everything is loaded before the feed is read to its end. */
const mostSubjects = 10_000;

/** Keeps a copy of what the app sees in a store. Everything is done one after the other, so one sync per store. */
export function makeSync({ client, store, onError, retryMs = 1000 }: SyncOptions): Sync {
  const closing = new AbortController();
  const { signal } = closing;
  const ids = makeIdentifiers({ client, store, signal });
  const load = (copy: Copy, from?: string): Promise<void> => loadEverything({ client, store: copy, signal, from });
  const parts = { client, signal };
  let last: Promise<unknown> = Promise.resolve();
  let working: Promise<void> | null = null;
  /** Whether webhooks may wait. */
  let isWanted = false;

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(() => {
      signal.throwIfAborted();
      return work();
    });
    last = turn.catch(() => undefined);
    return turn;
  }

  /** Does the work or, if people have other ids by then, takes these over, which loads everything. */
  async function withIds<T>(work: () => Promise<T>, instead: T): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof IdsChanged)) throw error;
      await ids.takeOver(load);
      return instead;
    }
  }

  const follow = (): Promise<{ hasLoaded: boolean }> =>
    withIds(
      async () => {
        if (await ids.haveChanged()) throw new IdsChanged();
        const after = readPosition(client, await store.getPosition());
        if (after !== null) return { hasLoaded: !(await followFrom(after)) };
        await load(ids.copy);
        return { hasLoaded: true };
      },
      { hasLoaded: true },
    );

  /** How many records may have changed until a load is faster. */
  async function mostToRead(): Promise<number> {
    let known = 0;
    for (const type of ["school", "group", "person"] as const) known += (await store.listIds(type)).length;
    return Math.max(fewRecords, known / oneIn);
  }

  /** False if it loaded everything: the feed does not go back that far, or too much has changed. */
  async function followFrom(after: string): Promise<boolean> {
    const { subjects, position } = await readChanges(after);
    if (position === null) await load(ids.copy);
    else {
      const gone = subjects.filter(({ isGone }) => isGone);
      const rest = subjects.filter(({ isGone }) => !isGone);
      await ids.copy.write({ remove: gone.map(({ type, id }) => ({ type, id })) });
      if (rest.length > fewRecords && rest.length > (await mostToRead())) await load(ids.copy, position);
      else {
        for (let from = 0; from < rest.length; from += batch)
          await ids.copy.write(await resolveHints(parts, rest.slice(from, from + batch)));
        await store.write({ position: keepPosition(client, position) });
        return true;
      }
    }
    return false;
  }

  /** What the changes are about, each once; `position` is null if they cannot be read to their end. */
  async function readChanges(after: string): Promise<{ subjects: ToldSubject[]; position: string | null }> {
    const subjects = new Map<string, ToldSubject>();
    let position = after;
    try {
      for await (const { changes, next } of client.listChangePages({ after, signal })) {
        for (const change of changes.filter(isNoAnnouncement)) {
          const { type, id } = subjectOf(change.type, change);
          const isGone = change.action === "delete" && change.updatedProperties === undefined;
          subjects.set(`${type} ${id}`, { type, id, isGone });
        }
        position = next;
        if (subjects.size > mostSubjects) return { subjects: [], position: null };
      }
      return { subjects: [...subjects.values()], position };
    } catch (error) {
      const isLost = error instanceof CursorExpiredError;
      if (isLost || (error instanceof ApiError && error.code === "invalid_cursor"))
        return { subjects: [], position: null };
      throw error;
    }
  }

  /** Answers whether more webhooks may wait. */
  async function workOnce(): Promise<boolean> {
    const webhooks = await store.listWebhooks(together);
    if (webhooks.length === 0) return false;
    const resolved = await resolveHints(
      parts,
      webhooks.map(({ hint }) => hint),
    );
    await ids.copy.write({ ...resolved, done: webhooks.map(({ id }) => id) });
    return true;
  }

  const refresh = async (key: RecordKey): Promise<void> => ids.copy.write(await resolveHints(parts, [key]));

  async function work(): Promise<void> {
    let delayMs = retryMs;
    while (isWanted && !signal.aborted) {
      isWanted = false;
      try {
        if (await inTurn(() => withIds(workOnce, true))) isWanted = true;
        delayMs = retryMs;
      } catch (error) {
        if (signal.aborted) break;
        isWanted = true;
        onError?.(error);
        await sleep(delayMs, signal).catch(() => undefined);
        delayMs = Math.min(delayMs * 2, 60_000);
      }
    }
    working = null;
  }

  function resume(): void {
    if (signal.aborted) return;
    isWanted = true;
    working ??= work();
  }

  return {
    follow: () => inTurn(follow),
    load: () => inTurn(() => withIds(() => load(ids.copy), undefined)),
    async receive({ id, isTest, event }) {
      if (isTest || !isNoAnnouncement(event)) return;
      await store.addWebhook({ id, hint: subjectOf(event.event, event) });
      resume();
    },
    resume,
    refresh: (key) => inTurn(() => withIds(() => refresh(key), undefined)),
    settled: async () => {
      while (working) await working;
    },
    async close() {
      closing.abort(new Error("The sync is closed."));
      await working;
      await last;
    },
  };
}

/** New ids are read from the list, all at once. */
const isNoAnnouncement = (told: Change | Webhook["event"]): boolean =>
  !("newPersonId" in told) || told.newPersonId === undefined;

type Ids = { personId?: string; groupId?: string; schoolId?: string | null };
const subjectOf = (type: RecordType, { personId, groupId, schoolId }: Ids): RecordKey => ({
  type,
  id: { person: personId, group: groupId, school: schoolId }[type]!,
});
