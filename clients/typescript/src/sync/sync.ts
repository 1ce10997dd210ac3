import type { IdmClient } from "../client.ts";
import type { Change } from "../contract.ts";
import { ApiError, CursorExpiredError } from "../errors.ts";
import { sleep } from "../retry.ts";
import type { Webhook } from "../webhook.ts";
import { IdsChanged, makeIdentifiers } from "./identifiers.ts";
import { loadEverything } from "./load.ts";
import { resolveHints } from "./resolve.ts";
import type { Copy, Hint, RecordKey, Store } from "./store.ts";

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
   * Brings the copy up to date with the change feed; loads everything the first time, and when the feed was not read
   * for too long. Call it from time to time, also beside webhooks: it finds what they missed.
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

/** How many webhooks are worked on together. */
const together = 100;

/** Keeps a copy of what the app sees in a store. Everything is done one after the other, so one sync per store. */
export function makeSync({ client, store, onError, retryMs = 1000 }: SyncOptions): Sync {
  const closing = new AbortController();
  const { signal } = closing;
  const ids = makeIdentifiers({ client, store, signal });
  const load = (copy: Copy): Promise<void> => loadEverything({ client, store: copy, signal });
  const parts = { client, store: ids.copy, signal };
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
        const after = await store.getPosition();
        const isFollowed = after !== null && (await followFrom(after));
        if (!isFollowed) await load(ids.copy);
        return { hasLoaded: !isFollowed };
      },
      { hasLoaded: true },
    );

  /** False if the feed does not go back that far. */
  async function followFrom(after: string): Promise<boolean> {
    try {
      for await (const { changes, next } of client.listChangePages({ after, signal })) {
        const hints = changes.filter(isNoAnnouncement).map(hintOfChange);
        await ids.copy.write({ ...(await resolveHints(parts, hints)), position: next });
      }
      return true;
    } catch (error) {
      const isLost = error instanceof CursorExpiredError;
      if (isLost || (error instanceof ApiError && error.code === "invalid_cursor")) return false;
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

  const refresh = async (key: RecordKey): Promise<void> =>
    ids.copy.write(await resolveHints(parts, [{ ...key, action: "update" }]));

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
      await store.addWebhook({ id, hint: hintOfEvent(event) });
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

const hintOfChange = ({ type, action, updatedProperties, personId, groupId, schoolId }: Change): Hint => ({
  type,
  id: { person: personId, group: groupId, school: schoolId }[type]!,
  action,
  updatedProperties,
});

function hintOfEvent(event: Webhook["event"]): Hint {
  const { action, updatedProperties } = event;
  switch (event.event) {
    case "person":
      return { type: "person", id: event.personId, action, updatedProperties };
    case "group":
      return { type: "group", id: event.groupId, action, updatedProperties };
    case "school":
      return { type: "school", id: event.schoolId, action, updatedProperties };
  }
}
