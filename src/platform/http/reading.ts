import type { ReadShare } from "../database/shares.ts";
import { makeGate, type Gate } from "../concurrency/gate.ts";

/** What every reader of the APIs shares in one process. */
export type Reading = {
  share: ReadShare;
  lists: Gate;
  /** Long lists need a place here, too: one for each app. */
  streams: Gate;
  /** Lists that were too long to be held when they were last read. */
  longLists: LongLists;
  /** Single records: short, so that many are read at the same time. */
  records: Gate;
  /** What staff ask and change. Their share of connections decides how much of it is done at the same time. */
  staff: Gate;
  pace: Pace;
};

/** How fast a caller has to take an answer. */
export type Pace = {
  /** Time for each 64 KiB. */
  stallMs: number;
  /** Time for a whole list. */
  totalMs: number;
};

export type ListSettings = { openPerApp: number; waitSeconds: number; stallSeconds: number; totalSeconds: number };

/** How many lists may be open in a process for each that one app may have open. */
const openInAll = 8;
const records = { places: 64, placesPerClient: 32, open: 4096, openPerClient: 1024 };
const staff = { places: 32, placesPerClient: 16 };

/** Makes the limits of one process; of the connections one is kept for single records. */
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

/** The same for requests within one that holds a place: waiting for a second one, they might wait for themselves. */
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
