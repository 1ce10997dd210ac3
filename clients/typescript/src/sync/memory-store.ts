import type { GroupRecord, PersonRecord, ReceivedWebhook, SchoolRecord, Store, StoredRecord } from "./store.ts";

export type MemoryStore = Store & {
  readonly school: ReadonlyMap<string, SchoolRecord>;
  readonly group: ReadonlyMap<string, GroupRecord>;
  readonly person: ReadonlyMap<string, PersonRecord>;
};

const dayMs = 86_400_000;

/** Keeps the copy in memory: for tests, and for apps that read everything again when they start. */
export function makeMemoryStore(): MemoryStore {
  const records = {
    school: new Map<string, SchoolRecord>(),
    group: new Map<string, GroupRecord>(),
    person: new Map<string, PersonRecord>(),
  };
  const waiting = new Map<string, ReceivedWebhook>();
  const doneAt = new Map<string, number>();
  let kept: string | null = null;
  let isOwn = false;

  return {
    ...records,
    async write({ put = [], remove = [], position, done = [], rekey = [], hasOwnIds = isOwn }) {
      for (const record of put) (records[record.type] as Map<string, StoredRecord>).set(record.id, record);
      for (const { type, id } of remove) records[type].delete(id);
      for (const { from, to } of rekey) {
        const person = records.person.get(from);
        if (person && !records.person.has(to)) records.person.set(to, { ...person, id: to });
        records.person.delete(from);
      }
      kept = position ?? kept;
      isOwn = hasOwnIds;
      for (const id of done) {
        waiting.delete(id);
        doneAt.set(id, Date.now());
      }
    },
    get: async ({ type, id }) => records[type].get(id) ?? null,
    listIds: async (type) => [...records[type].keys()],
    getPosition: async () => kept,
    hasOwnIds: async () => isOwn,
    async addWebhook(webhook) {
      for (const [id, at] of doneAt) {
        if (Date.now() - at < dayMs) break;
        doneAt.delete(id);
      }
      if (!waiting.has(webhook.id) && !doneAt.has(webhook.id)) waiting.set(webhook.id, webhook);
    },
    listWebhooks: async (limit) => [...waiting.values()].slice(0, limit),
  };
}
