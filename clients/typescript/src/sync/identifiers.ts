import type { IdmClient } from "../client.ts";
import { ApiError } from "../errors.ts";
import { mayRead } from "./resolve.ts";
import type { Batch, Copy, Rekeyed, Store } from "./store.ts";

type Reader = Pick<IdmClient, "listIdentifierChanges" | "scopes">;

/** What was read may have the new ids of people, and the copy still has the old ones. */
export class IdsChanged extends Error {}

export type Identifiers = {
  /** The store; writes of people fail with `IdsChanged` if they may mix old and new ids. */
  copy: Copy;
  haveChanged(): Promise<boolean>;
  /** Gives everybody in the copy their new id, and calls `load`. It does no harm to begin again after a crash. */
  takeOver(load: (copy: Copy) => Promise<void>): Promise<void>;
};

const together = 500;

const touchesPeople = ({ put = [], remove = [] }: Batch): boolean =>
  [...put, ...remove].some(({ type }) => type === "person");

/** The app may be moved to ids of its own at any time, between two calls too: asked behind each reading. */
export function makeIdentifiers({
  client,
  store,
  signal,
}: {
  client: Reader;
  store: Store;
  signal: AbortSignal;
}): Identifiers {
  let isOver: boolean | null = null;

  async function haveChanged(): Promise<boolean> {
    if (!mayRead(client, "people") && !mayRead(client, "users")) return false;
    isOver ??= (await store.hasOwnIds?.()) ?? false;
    return !isOver && (await isMoved(client, signal));
  }

  const copy: Copy = {
    get: (key) => store.get(key),
    listIds: (type) => store.listIds(type),
    async write(batch) {
      if (touchesPeople(batch) && (await haveChanged())) throw new IdsChanged("The app has ids of its own now.");
      await store.write(batch);
    },
  };

  return {
    copy,
    haveChanged,
    async takeOver(load) {
      let rekey: Rekeyed[] = [];
      for await (const { oldId: from, newId: to } of client.listIdentifierChanges({ signal })) {
        rekey.push({ from, to });
        if (rekey.length < together) continue;
        await store.write({ rekey });
        rekey = [];
      }
      await store.write({ rekey });
      await load(store);
      await store.write({ hasOwnIds: true });
      isOver = true;
    },
  };
}

/** Whether the new ids are in use; a service without the list has none. */
async function isMoved(client: Reader, signal: AbortSignal): Promise<boolean> {
  try {
    const { value } = await client.listIdentifierChanges({ limit: 1, signal }).next();
    return value?.inUse === "NEW";
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}
