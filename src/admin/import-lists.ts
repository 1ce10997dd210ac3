import { listAppsOfGroups } from "../access/index.ts";
import type { SchoolId } from "../directory/index.ts";
import {
  chooseSchool,
  listGroupChanges,
  listCarriedOver,
  listGroupMoves,
  listLeavers,
  listLookAlikes,
  withDifference,
  type ExistingGroup,
  type GroupChange,
  type GroupMove,
  type Leaver,
  type RosterGroup,
} from "../imports/index.ts";
import { present } from "../platform/contract-types.ts";
import type { Queryable } from "../platform/database/sql.ts";
import type { AdminDeps, AdminHandler, AdminRequest, Schemas } from "./handler.ts";
import { showDifference } from "./import-differences.ts";
import { findOfSchool } from "./import-record.ts";
import { readPage, type Page } from "./page.ts";

type Lists = "listImportLeavers" | "listImportChanges" | "listImportLookAlikes" | "listImportGroupMoves";
type Entries<Entry, Presented> = {
  reads: "all" | "people";
  find: (tx: Parameters<typeof listLeavers>[0], schoolId: SchoolId, page: Page) => Promise<Entry[]>;
  /** Undefined if `find` goes by the number of entries to skip. */
  positionOf?: (entry: Entry) => string;
  present: (entry: Entry) => Presented;
};

/** Lists a part of the difference of an import to the directory as it is now. */
async function listOfDifference<Entry, Presented>(
  deps: AdminDeps,
  request: AdminRequest<Lists>,
  { reads, find, positionOf, present: show }: Entries<Entry, Presented>,
) {
  const page = readPage(deps, request);
  const { status, schoolId } = await findOfSchool(deps, request);
  const found = await showDifference(deps, request, (db) =>
    withDifference(db, status, { schoolId, now: request.origin.at, reads }, (tx, school) => find(tx, school, page)),
  );
  return positionOf === undefined ? page.answerAfterSkip(found, show) : page.answer(found, show, positionOf);
}

export const listImportLeavers: AdminHandler<"listImportLeavers"> = (deps, request) =>
  listOfDifference(deps, request, {
    reads: "people",
    find: (tx, schoolId, { range: { after, limit } }) =>
      listLeavers(tx, { schoolId, isKept: request.query.kept, after, limit }),
    positionOf: ({ id }: Leaver) => id,
    present: (leaver) => present<Schemas["ImportLeaver"]>(leaver),
  });

export const listImportChanges: AdminHandler<"listImportChanges"> = (deps, request) =>
  listOfDifference(deps, request, {
    reads: "all",
    find: (tx, schoolId, { range: { after, limit } }) => {
      const [naturalKey, key] = after === undefined ? [] : (JSON.parse(after) as [string, string]);
      const place = naturalKey === undefined || key === undefined ? undefined : { naturalKey, key };
      return listGroupChanges(tx, { schoolId, after: place, limit });
    },
    positionOf: ({ naturalKey, key }: GroupChange) => JSON.stringify([naturalKey, key]),
    present: ({ naturalKey: _naturalKey, key: _key, members, ...change }) =>
      present<Schemas["ImportGroupChange"]>({
        ...change,
        members: present<Schemas["ImportMemberCounts"]>(members),
      }),
  });

const cut = <Entry>(all: readonly Entry[], { skip, range }: Page): Entry[] => all.slice(skip, skip + range.limit);

const presentExisting = (group: ExistingGroup) => present<Schemas["ExistingGroup"]>(group);
const presentOfRoster = (group: RosterGroup) => present<Schemas["RosterGroup"]>(group);

export const listImportLookAlikes: AdminHandler<"listImportLookAlikes"> = (deps, request) =>
  listOfDifference(deps, request, {
    reads: "all",
    find: async (tx, schoolId, page) => cut(await listLookAlikes(tx, schoolId), page),
    present: ({ type, inRoster, existing }) =>
      present<Schemas["ImportLookAlike"]>({
        type,
        inRoster: presentOfRoster(inRoster),
        existing: presentExisting(existing),
      }),
  });

async function withApps(tx: Queryable, moves: readonly GroupMove[]) {
  const apps = await listAppsOfGroups(tx, { groupIds: moves.map(({ from }) => from.groupId) });
  return moves.map((move) => ({ ...move, apps: apps.filter(({ groupId }) => groupId === move.from.groupId) }));
}

const presentMove = ({
  from,
  to,
  moving,
  isCarriedOver,
  endsOtherwise,
  apps,
}: Awaited<ReturnType<typeof withApps>>[number]) =>
  present<Schemas["ImportGroupMove"]>({
    from: presentExisting(from),
    to: presentOfRoster(to),
    moving,
    isCarriedOver,
    endsOtherwise,
    apps: apps.map(({ clientId, name }) => present<Schemas["NamedApp"]>({ clientId, name })),
  });

export const listImportGroupMoves: AdminHandler<"listImportGroupMoves"> = async (deps, request) => {
  const { status, schoolId } = await findOfSchool(deps, request);
  if (status.state === "APPLIED") {
    const page = readPage(deps, request);
    const { pool } = deps.db;
    const moves = await listCarriedOver(pool, { importId: status.id, schoolId: chooseSchool(status, schoolId) });
    return page.answerAfterSkip(cut(await withApps(pool, moves), page), presentMove);
  }
  return listOfDifference(deps, request, {
    reads: "all",
    find: async (tx, school, page) => cut(await withApps(tx, await listGroupMoves(tx, { schoolId: school })), page),
    present: presentMove,
  });
};
