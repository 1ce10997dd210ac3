import { listAppsOfGroups } from "../../access/index.ts";
import type { GroupId, SchoolId } from "../../directory/index.ts";
import {
  chooseSchool,
  findImport,
  leaveOutFaultyRows,
  listCarriedOver,
  listFaultyRows,
  listGroupChanges,
  listGroupMoves,
  listLookAlikes,
  listPeopleOfImport,
  listWarnings,
  withDifference,
  type GroupChange,
  type GroupMove,
  type PersonOfImport,
} from "../../imports/index.ts";
import { storeOf } from "../../platform/database/db.ts";
import type { Queryable } from "../../platform/database/sql.ts";
import { present, type AdminDeps, type AdminHandler, type AdminRequest } from "../handler.ts";
import { searchTermsOf, type Page } from "../page.ts";
import { changeByDifference, showDifference } from "./import-record.ts";
import { findOfSchool, importReach, presentFault } from "./import-record.ts";

type Lists =
  "listImportPeople" | "listImportLeavers" | "listImportChanges" | "listImportLookAlikes" | "listImportGroupMoves";
type Entries<Entry, Presented> = {
  find: (tx: Queryable, schoolId: SchoolId, page: Page) => Promise<Entry[]>;
  /** Undefined if `find` goes by the number of entries to skip. */
  positionOf?: (entry: Entry) => Position;
  present: (entry: Entry) => Presented;
};

/** Lists a part of the difference of an import to the directory as it is now. */
async function listOfDifference<Entry, Presented>(
  deps: AdminDeps,
  request: AdminRequest<Lists>,
  { find, positionOf, present: show }: Entries<Entry, Presented>,
) {
  const { page } = request;
  const { status, schoolId } = await findOfSchool(deps, request);
  const entries = await showDifference(deps, request, (db) =>
    withDifference(db, status, { schoolId, now: request.origin.at }, (tx, school) => find(tx, school, page)),
  );
  return positionOf === undefined ? page.answerAfterSkip(entries, show) : page.answer(entries, show, positionOf);
}

/** The sort key of an entry, and a key that separates entries with the same sort key. */
type Position = [sortKey: string, key: string];

type PeopleFilter = Omit<Parameters<typeof listPeopleOfImport>[1], "schoolId" | "sortKey" | "key" | "limit">;

const peopleWhere = (filter: PeopleFilter) => ({
  find: (tx: Queryable, schoolId: SchoolId, page: Page) => {
    const [sortKey, key] = page.position<Position>() ?? [];
    return listPeopleOfImport(tx, { ...filter, schoolId, sortKey, key, limit: page.range.limit });
  },
  positionOf: ({ sortKey, key }: PersonOfImport): Position => [sortKey, key],
});

export const listImportPeople: AdminHandler<"listImportPeople"> = (deps, request) => {
  const { kind, "leaves-group": leavesGroup, search } = request.query;
  return listOfDifference(deps, request, {
    ...peopleWhere({ kind, leavesGroup: leavesGroup as GroupId | undefined, words: searchTermsOf(search) }),
    present: (person) => present("ImportPerson", person),
  });
};

export const listImportLeavers: AdminHandler<"listImportLeavers"> = (deps, request) =>
  listOfDifference(deps, request, {
    ...peopleWhere({ kind: request.query.kept === true ? "KEPT" : "LEAVING" }),
    present: ({ id, before, sourceSystemIdentifier, losesAccess }) => {
      const { name, role, classes } = before!;
      return present("ImportLeaver", { id: id!, name, role, sourceSystemIdentifier, classes, losesAccess });
    },
  });

export const listImportChanges: AdminHandler<"listImportChanges"> = (deps, request) =>
  listOfDifference(deps, request, {
    find: (tx, schoolId, page) => {
      const { "loses-members": onlyLosing, search } = request.query;
      const [naturalKey, key] = page.position<Position>() ?? [];
      return listGroupChanges(tx, { schoolId, onlyLosing, search, naturalKey, key, limit: page.range.limit });
    },
    positionOf: ({ naturalKey, key }: GroupChange) => [naturalKey, key],
    present: (change) => present("ImportGroupChange", change),
  });

export const listImportLookAlikes: AdminHandler<"listImportLookAlikes"> = (deps, request) =>
  listOfDifference(deps, request, {
    find: async (tx, schoolId, page) => page.cut(await listLookAlikes(tx, schoolId)),
    present: (lookAlike) => present("ImportLookAlike", lookAlike),
  });

async function withApps(tx: Queryable, moves: readonly GroupMove[]) {
  const apps = await listAppsOfGroups(tx, { groupIds: moves.map(({ from }) => from.groupId) });
  return moves.map((move) => ({ ...move, apps: apps.filter(({ groupId }) => groupId === move.from.groupId) }));
}

const presentMove = (move: Awaited<ReturnType<typeof withApps>>[number]) => present("ImportGroupMove", move);

export const listImportGroupMoves: AdminHandler<"listImportGroupMoves"> = async (deps, request) => {
  const { page } = request;
  const { status, schoolId } = await findOfSchool(deps, request);
  if (status.state === "APPLIED") {
    const { pool } = deps.db;
    const moves = await listCarriedOver(pool, { importId: status.id, schoolId: chooseSchool(status, schoolId) });
    return page.answerAfterSkip(page.cut(await withApps(pool, moves)), presentMove);
  }
  return listOfDifference(deps, request, {
    find: async (tx, school) => page.cut(await withApps(tx, await listGroupMoves(tx, { schoolId: school }))),
    present: presentMove,
  });
};

export const listImportFaultyRows: AdminHandler<"listImportFaultyRows"> = async (deps, request) => {
  const { range, answer } = request.page;
  const { id, headings } = await findImport(storeOf(deps.db), request.importId, importReach(request));
  const after = range.after === undefined ? undefined : Number(range.after);
  return answer(
    await listFaultyRows(deps.db, id, { after, limit: range.limit }),
    ({ line, fields, sourceId, faults }) =>
      present("ImportFaultyRow", {
        line,
        isIdReadable: sourceId !== null,
        fields: fields.map((value, index) => ({ heading: headings[index]?.trim() ?? "", value })),
        faults: faults.map(presentFault),
      }),
    ({ line }) => String(line),
  );
};

export const listImportWarnings: AdminHandler<"listImportWarnings"> = async (deps, request) => {
  const { range, skip, answerAfterSkip } = request.page;
  const status = await findImport(storeOf(deps.db), request.importId, importReach(request));
  const warnings = await showDifference(deps, request, (db) =>
    listWarnings(db.pool, status, { skip, limit: range.limit }),
  );
  return answerAfterSkip(warnings, (warning) => present("ImportWarning", warning));
};

export const leaveOutImportRows: AdminHandler<"leaveOutImportRows"> = async (deps, request) => {
  const { db, imports } = deps;
  const status = await findImport(storeOf(db), request.importId, importReach(request));
  const { origin } = request;
  await changeByDifference(deps, request, (ofImports) =>
    leaveOutFaultyRows(ofImports, status, imports.holdShare, origin),
  );
  return { status: 204 };
};
