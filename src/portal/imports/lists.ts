import { leavingOf, take, takePage, type Shown, type Visit } from "../frame/index.ts";
import { describeChange, describeFault, importAddress, nameOf, paramsOf, readImport } from "./words.ts";

const size = 50;

/** Shows a list that also stands in the page of the import, where scripts load it. */
function showList(
  visit: Visit,
  name: string,
  { next, ...model }: { next?: string | null; [key: string]: unknown },
): Shown {
  const base = importAddress(visit);
  const more = next ? `${base}/${name}?${new URLSearchParams({ cursor: next }).toString()}` : null;
  return {
    title: visit.t(`lists.${name}.title`),
    view: "part",
    model: { ...model, name, base, more, mayImport: visit.may("applyImport") },
  };
}

function pageOf(visit: Visit) {
  const { path, query } = paramsOf(visit);
  const cursor = visit.query("cursor");
  return { path, query: { ...query, limit: size, ...(cursor !== "" && { cursor }) } };
}

export async function showFaults(visit: Visit): Promise<Shown> {
  const { path, query } = pageOf(visit);
  const { school: _, ...page } = query;
  const [read, { items, next }] = await Promise.all([
    readImport(visit),
    takePage(visit.api.GET("/admin/v1/imports/{importId}/faults", { params: { path, query: page } })),
  ]);
  const faults = items.map((fault) => ({ ...fault, ...describeFault(fault, visit) }));
  return showList(visit, "faults", { faults, next, count: read.errorCount });
}

export async function showChanges(visit: Visit): Promise<Shown> {
  const params = pageOf(visit);
  const { items, next } = await takePage(
    visit.api.GET("/admin/v1/imports/{importId}/changes", { params, signal: leavingOf(visit) }),
  );
  const changes = items.map((change) => ({ ...change, words: describeChange(change, visit).join(", ") }));
  return showList(visit, "changes", { changes, next });
}

async function takeLeavers(visit: Visit, kept: boolean) {
  const { path, query } = pageOf(visit);
  const params = { path, query: { ...query, kept } };
  const { items, next } = await takePage(
    visit.api.GET("/admin/v1/imports/{importId}/leavers", { params, signal: leavingOf(visit) }),
  );
  const leavers = items.map((leaver) => ({ ...leaver, fullName: nameOf(leaver.name, visit) }));
  return { leavers, next, people: `/admin/schools/${visit.part("schoolId")}/people` };
}

export const showLeavers = async (visit: Visit): Promise<Shown> =>
  showList(visit, "leavers", await takeLeavers(visit, false));

/** Who would be removed but stays, for what they are for the staff. */
export const showKept = async (visit: Visit): Promise<Shown> => showList(visit, "kept", await takeLeavers(visit, true));

export async function showLookAlikes(visit: Visit): Promise<Shown> {
  const params = pageOf(visit);
  const { items, next } = await takePage(
    visit.api.GET("/admin/v1/imports/{importId}/look-alikes", { params, signal: leavingOf(visit) }),
  );
  return showList(visit, "look-alikes", { pairs: items, next });
}

/** More classes than any school has: the pairs that are sent take the place of all others. */
const allMoves = 1000;

export async function showMoves(visit: Visit): Promise<Shown> {
  const { path, query } = paramsOf(visit);
  const asked = { path, query: { ...query, limit: allMoves } };
  const [read, { items }] = await Promise.all([
    readImport(visit),
    takePage(visit.api.GET("/admin/v1/imports/{importId}/group-moves", { params: asked, signal: leavingOf(visit) })),
  ]);
  const isSet = items.some(({ isCarriedOver }) => isCarriedOver);
  const typed = visit.refused === null ? null : (visit.typed["move"] ?? []);
  const moves = items.map((move) => {
    const pair = JSON.stringify([move.from.sourceSystemIdentifier, move.to.sourceSystemIdentifier]);
    const isChosen = typed === null ? move.isCarriedOver || !isSet : typed.includes(pair);
    return { ...move, pair: move.from.sourceSystemIdentifier === null ? null : pair, isChosen };
  });
  const year = visit.field("schoolYear") || (read.schoolYear ?? nextYearOf(visit.now));
  return showList(visit, "moves", { moves, isSet, year });
}

/** The school year that begins in the summer of this year. */
const nextYearOf = (now: Date): string => `${now.getFullYear()}/${String(now.getFullYear() + 1).slice(-2)}`;

/** What each app would see differently. */
export async function showViewChanges(visit: Visit): Promise<Shown> {
  const params = paramsOf(visit);
  const changes = await take(
    visit.api.GET("/admin/v1/imports/{importId}/view-changes", { params, signal: leavingOf(visit) }),
  );
  return showList(visit, "apps", { changes });
}
