import type { AdminSchemas } from "../../admin/index.ts";
import { makePage, leavingOf, type PageRequest, type PageView, type Redirect } from "../frame/index.ts";
import { fullName, ofSchool, one, readImport } from "./import-record.ts";
import { showList } from "./lists.ts";

type Entry = AdminSchemas["ImportUndoEntry"];

/** What undoing the import would bring back, and what stays; at other schools of the file too. */
export async function showUndo(request: PageRequest): Promise<PageView> {
  const { path, t } = request;
  const read = await readImport(request);
  const previews = [];
  const applied = read.schools.filter(({ state }) => state === "APPLIED").map(({ id }) => id);
  // The API refuses the preview of an import that is not applied, with the reason.
  for (const id of applied.length === 0 ? [path.schoolId] : applied) {
    previews.push(await request.call("previewImportUndo", { query: { school: id }, signal: leavingOf(request) }));
  }
  const here = previews.find(({ schoolId }) => schoolId === path.schoolId) ?? null;
  const keptCount = previews.reduce((sum, { kept: { people, groups } }) => sum + people + groups, 0);
  return makePage("undo", t("undo.title"), { read, here, kept: keptCount, figures: figuresOf(here) });
}

function figuresOf(preview: AdminSchemas["ImportUndo"] | null): [name: string, count: number][] {
  if (preview === null) return [];
  const { people, groups, memberships, deletedForGood } = preview;
  const figures = {
    peopleRestored: people.restored,
    peopleRemoved: people.removed,
    peopleChanged: people.changed,
    groupsRestored: groups.restored,
    groupsRemoved: groups.removed,
    groupsChanged: groups.changed,
    memberships: memberships.restored + memberships.removed,
    deletedForGood,
  };
  return Object.entries(figures).filter(([, count]) => count > 0);
}

async function listEntries(request: PageRequest, areKept: boolean) {
  const query = { ...ofSchool(request), kept: areKept };
  const { items, next } = await request.list("listImportUndoEntries", { query, signal: leavingOf(request) });
  const school = `/admin/schools/${request.path.schoolId}`;
  const entries = items.map((entry) => ({
    name: entry.groupName ?? fullName(entry.personName, request),
    address: `${school}/${entry.kind === "GROUP" ? "classes" : "people"}/${entry.id}`,
    words: areKept ? describeKept(entry, request) : describeUndone(entry, request),
  }));
  return { entries, next };
}

/** Says why an entry stays, such as "classes were changed on 3 May, now in 6b". */
function describeKept({ reasons, changedAt, classesNow }: Entry, { t, times }: PageRequest): string {
  const words = reasons.map((reason) => t(`undo.reasons.${reason}`));
  const since = changedAt === null ? [] : [t("undo.changedAt", { time: times.day(changedAt) })];
  const now =
    reasons.includes("GROUPS") && classesNow.length > 0 ? [t("undo.now", { classes: classesNow.join(", ") })] : [];
  return [...words, ...since, ...now].join(", ");
}

function describeUndone({ kind, step, classesNow, classesThen }: Entry, { t }: PageRequest): string {
  const [now, then] = [classesNow.join(", "), classesThen.join(", ")];
  const moves = kind === "PERSON" && step !== "REMOVED" && now !== then;
  return [
    t(`undo.steps.${step}`),
    ...(moves ? [t("undo.classes", { now: now || t("undo.noClass"), then: then || t("undo.noClass") })] : []),
  ].join(", ");
}

export const showUndoKept = async (request: PageRequest): Promise<PageView> =>
  showList(request, "undo-kept", await listEntries(request, true));

export const showUndoChanges = async (request: PageRequest): Promise<PageView> =>
  showList(request, "undo-changes", await listEntries(request, false));

export async function undo({ call, at, field }: PageRequest): Promise<Redirect> {
  const { state } = await call("undoImport", { body: { confirmKept: Number(field("kept")) || 0 } });
  return { to: at(one), ...(state === "UNDONE" && { done: "importUndone" }) };
}
