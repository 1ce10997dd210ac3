import type { ReadShare } from "../database/shares.ts";
import { makeGate, type Gate } from "../concurrency/gate.ts";

export type Reading = {
  share: ReadShare;
  lists: Gate;
  streams: Gate;
  /** Lists that were too long for one statement when last read. */
  longLists: LongLists;
  records: Gate;
  staff: Gate;
  pace: Pace;
};

export type Pace = {
  stallMs: number;
  totalMs: number;
};

type ListSettings = { openPerApp: number; waitSeconds: number; stallSeconds: number; totalSeconds: number };

const openInAll = 8;
const records = { places: 64, placesPerClient: 32, open: 4096, openPerClient: 1024 };
const staff = { places: 32, placesPerClient: 16 };

export function makeReading(share: ReadShare, settings: ListSettings): Reading {
  const places = Math.max(1, (share.pool.options.max ?? 10) - 1);
  const waitMs = settings.waitSeconds * 1000;
  const open = { open: settings.openPerApp * openInAll, openPerClient: settings.openPerApp, waitMs };
  return {
    share,
    lists: makeGate({ places, placesPerClient: Math.max(1, places - 1), ...open }),
    staff: makeGate({ ...staff, ...open }),
    streams: makeGate({ places, placesPerClient: 1, open: Infinity, openPerClient: Infinity, waitMs }),
    longLists: makeLongLists(),
    records: makeGate({ ...records, waitMs }),
    pace: { stallMs: settings.stallSeconds * 1000, totalMs: settings.totalSeconds * 1000 },
  };
}

const openGate: Gate = { admit: () => () => undefined, enter: async () => () => undefined };

/** For requests inside one that already holds a place, to avoid a deadlock. */
export const withoutGates = (reading: Reading): Reading => ({
  ...reading,
  lists: openGate,
  staff: openGate,
  streams: openGate,
  records: openGate,
});

type LongLists = { has(key: string): boolean; add(key: string): void; delete(key: string): void };

const keptLongLists = 10_000;

function makeLongLists(): LongLists {
  const keys = new Set<string>();
  return {
    has: (key) => keys.has(key),
    add(key) {
      if (keys.size >= keptLongLists) keys.clear();
      keys.add(key);
    },
    delete: (key) => void keys.delete(key),
  };
}
