import type { SchoolId } from "../directory/index.ts";
import {
  listGroupChanges,
  listGroupMoves,
  listLeavers,
  listLookAlikes,
  withDifference,
  type ExistingGroup,
  type GroupChange,
  type Leaver,
  type RosterGroup,
} from "../imports/index.ts";
import { present } from "../platform/contract-types.ts";
import type { AdminDeps, AdminHandler, AdminRequest, Schemas } from "./handler.ts";
import { showDifference } from "./import-differences.ts";
import { findOfSchool } from "./import-record.ts";
import { readPage, type Range } from "./page.ts";

type Lists = "listImportLeavers" | "listImportChanges" | "listImportLookAlikes" | "listImportGroupMoves";
type Request = AdminRequest<Lists>;
type Entries<Entry, Presented> = {
  reads: "all" | "people";
  find: (tx: Parameters<typeof listLeavers>[0], schoolId: SchoolId, range: Range) => Promise<Entry[]>;
  positionOf: (entry: Entry) => string;
  present: (entry: Entry) => Presented;
};

/** Lists a part of the difference of an import to the directory as it is now. */
async function listOfDifference<Entry, Presented>(
  deps: AdminDeps,
  request: Request,
  { reads, find, positionOf, present: show }: Entries<Entry, Presented>,
) {
  const { range, answer } = readPage(deps, request);
  const { status, schoolId } = await findOfSchool(deps, request);
  const found = await showDifference(deps, request, (db) =>
    withDifference(db, status, { schoolId, now: request.origin.at, reads }, (tx, school) => find(tx, school, range)),
  );
  return answer(found, show, positionOf);
}

export const listImportLeavers: AdminHandler<"listImportLeavers"> = (deps, request) =>
  listOfDifference(deps, request, {
    reads: "people",
    find: (tx, schoolId, { after, limit }) => listLeavers(tx, { schoolId, isKept: request.query.kept, after, limit }),
    positionOf: ({ id }: Leaver) => id,
    present: (leaver) => present<Schemas["ImportLeaver"]>(leaver),
  });

export const listImportChanges: AdminHandler<"listImportChanges"> = (deps, request) =>
  listOfDifference(deps, request, {
    reads: "all",
    find: (tx, schoolId, { after, limit }) => {
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

/** The page after the `after`-th entry of a list that is in memory. */
function cut<Entry>(all: readonly Entry[], { after, limit }: Range): { entry: Entry; next: string }[] {
  const skip = Number(after ?? 0);
  return all.slice(skip, skip + limit).map((entry, index) => ({ entry, next: String(skip + index + 1) }));
}

const presentExisting = (group: ExistingGroup) => present<Schemas["ExistingGroup"]>(group);
const presentOfRoster = (group: RosterGroup) => present<Schemas["RosterGroup"]>(group);

export const listImportLookAlikes: AdminHandler<"listImportLookAlikes"> = (deps, request) =>
  listOfDifference(deps, request, {
    reads: "all",
    find: async (tx, schoolId, range) => cut(await listLookAlikes(tx, schoolId), range),
    positionOf: ({ next }) => next,
    present: ({ entry: { type, inRoster, existing } }) =>
      present<Schemas["ImportLookAlike"]>({
        type,
        inRoster: presentOfRoster(inRoster),
        existing: presentExisting(existing),
      }),
  });

export const listImportGroupMoves: AdminHandler<"listImportGroupMoves"> = (deps, request) =>
  listOfDifference(deps, request, {
    reads: "all",
    find: async (tx, schoolId, range) => cut(await listGroupMoves(tx, schoolId), range),
    positionOf: ({ next }) => next,
    present: ({ entry: { from, to, moving, isCarriedOver } }) =>
      present<Schemas["ImportGroupMove"]>({
        from: presentExisting(from),
        to: presentOfRoster(to),
        moving,
        isCarriedOver,
      }),
  });
