import type { AdminSchemas } from "../../admin/index.ts";
import type { PageRequest } from "../frame/index.ts";
import { nameActor } from "./data-sections.ts";
import german from "./locales/de.json" with { type: "json" };
import type { Person } from "./record.ts";

type Line = AdminSchemas["AuditLine"];
type Import = AdminSchemas["PersonImport"];

/** Undoes an event; the form with `fields` is sent to the path that ends with `action`. */
type Undo = { action: string; fields: Record<string, string> };
/** An event of a person's history; `by` is "" if nobody caused it. */
type Moment = { at: string; text: string; by: string; undo: Undo | null };

type About = {
  person: Person;
  lines: readonly Line[];
  imports: readonly Import[];
  groups: ReadonlyMap<string, AdminSchemas["AdminGroup"]>;
  login: AdminSchemas["Login"] | null;
  isMember: ReadonlySet<string>;
};

const shownActions = new Set([
  ...["person_created", "person_updated", "person_soft_deleted", "person_restored", "person_blocked"],
  ...["person_unblocked", "person_signed_out", "credential_set", "membership_added", "membership_removed"],
  ...["membership_role_changed", "affiliation_added", "affiliation_removed", "home_school_changed"],
  ...["sign_in_limits_released", "second_factor_added", "second_factor_removed", "second_factors_removed"],
  ...["login_card_created", "login_card_revoked", "consent_given", "sign_in_refused", "password_requested"],
]);

export function listMoments(about: About, request: PageRequest): Moment[] {
  const { t } = request;
  const lines = about.lines.filter(({ action }) => shownActions.has(action));
  const isTold = (action: string) => lines.some((line) => line.action === action);
  const moment = (at: string, text: string): Moment => ({ at, text, by: "", undo: null });
  const recorded = facts(about).filter(([at, key]) => !isTold(key) && !about.imports.some((one) => one.at === at));
  return [
    ...recorded.map(([at, key]) => moment(at, t(`moments.${key}`, { group: "" }))),
    ...about.imports.map((one) => ({ ...moment(one.at, wordsOfImport(one, request)), by: t("moments.by_import") })),
    ...lines.map((line) => ({
      ...moment(line.at, wordsOf(line, about, request)),
      by: nameActor(line, t),
      undo: request.may("restorePerson") ? undoOf(line, about) : null,
    })),
  ].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

/** Events known from the record; an audit line with the same key has more detail. */
function facts({ person, login, lines }: About): [at: string, key: string][] {
  const { createdAt, firstSignInAt, lastSignInAt, blockedAt, softDeletedAt, sourceSystemIdentifier } = person;
  const wasMadeHere = sourceSystemIdentifier === null || lines.some(({ action }) => action === "person_created");
  const all: [string | null | undefined, string][] = [
    [createdAt, wasMadeHere ? "person_created" : "imported"],
    [firstSignInAt, "first_sign_in"],
    [lastSignInAt === firstSignInAt ? null : lastSignInAt, "last_sign_in"],
    [login?.hasPassword === true ? login.changedAt : null, "credential_set"],
    [blockedAt, "person_blocked"],
    [softDeletedAt, "person_soft_deleted"],
  ];
  return all.flatMap(([at, key]): [string, string][] => (at ? [[at, key]] : []));
}

const groupIdOf = ({ detail }: Line): string => (detail as { groupId?: string }).groupId ?? "";

function wordsOf(line: Line, { groups }: About, { t }: PageRequest): string {
  return t(keyOf(line.action), { group: groups.get(groupIdOf(line))?.name ?? t("moments.goneGroup") });
}

/** The key of an event's text; the audit log describes some in the same words. */
const keyOf = (event: string): string => (event in german.moments ? `moments.${event}` : `frame.action.${event}`);

const keyOfChange: Record<Import["change"], string | null> = {
  CREATED: "imported",
  CHANGED: "person_updated",
  CLASSES: null,
  JOINED: "affiliation_added",
  LEFT: "affiliation_removed",
  REMOVED: "person_soft_deleted",
  RESTORED: "person_restored",
  UNDONE: "import_undone",
};

function wordsOfImport({ change, classesBefore, classesAfter }: Import, { t }: PageRequest): string {
  const [before, after] = [classesBefore ?? [], classesAfter ?? []].map((names) => names.join(", ")) as [
    string,
    string,
  ];
  const keys = [keyOfChange[change]];
  if (before !== "" && after !== "") keys.push("class_changed");
  else if (before !== after) keys.push(after === "" ? "membership_removed" : "membership_added");
  const words = keys.flatMap((key) => (key === null ? [] : [t(keyOf(key), { before, after, group: before + after })]));
  return words.join(", ");
}

/** Null if it cannot be undone, or already is. */
function undoOf(line: Line, { person, groups, isMember, lines }: About): Undo | null {
  const isLatest = lines.find(({ action }) => action === line.action) === line;
  if (line.action === "person_soft_deleted")
    return isLatest && person.status === "SOFT_DELETED" ? { action: "restore", fields: {} } : null;
  if (line.action !== "membership_removed" || person.status !== "ACTIVE") return null;
  const group = groupIdOf(line);
  return groups.has(group) && !isMember.has(group) ? { action: "groups", fields: { group } } : null;
}
