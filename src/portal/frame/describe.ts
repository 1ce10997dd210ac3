import { auditActions, type AdminSchemas, type AuditAction } from "../../admin/index.ts";
import { valuesOf } from "../../platform/contract-types.ts";
import type { Locale, Translate } from "../../platform/pages/index.ts";
import german from "./locales/de.json" with { type: "json" };

type Writing = { t: Translate; locale: Locale };

/** The first of these texts that there is; `other` without one. */
export function firstText(t: Translate, keys: readonly string[], values: object = {}, other = ""): string {
  for (const key of keys) {
    try {
      return t(key, values as Parameters<Translate>[1]);
    } catch {
      // There is no such text.
    }
  }
  return other;
}

const actions: Record<string, string> = german.frame.action satisfies Record<AuditAction | "unknown", string>;

/** Describes an action of the audit log; an earlier or later release may have recorded one without a text. */
export const describeAction = (action: string, t: Translate): string =>
  t(`frame.action.${action in actions ? action : "unknown"}`);

/** What an app can read of the school by itself, a sentence for each kind of data. */
export function describeReads(reads: NonNullable<AdminSchemas["AppReads"]>, { t, locale }: Writing): string[] {
  const { groups } = reads;
  const names = new Intl.ListFormat(locale, { type: "conjunction" }).format(groups);
  const counts = (["people", "otherPeople", "users", "otherUsers"] as const).filter((key) => reads[key] > 0);
  const said = [
    ...(reads.school ? [t("frame.reads.school")] : []),
    ...(groups.length > 0 ? [t("frame.reads.groups", { count: groups.length, names })] : []),
    ...counts.map((key) => t(`frame.reads.${key}`, { count: reads[key] })),
  ];
  return said.length > 0 ? said : [t("frame.reads.nothing")];
}

const roles = ["students", "teachers", "others"] as const;

/** One sentence per change, such as "3 pupils and 2 teachers become visible". */
export function describeViewChange(change: AdminSchemas["ViewChange"], { t, locale }: Writing): string[] {
  const list = new Intl.ListFormat(locale, { type: "conjunction" });

  const who = (counts: AdminSchemas["RoleCounts"], all: number): string => {
    const known = roles.filter((role) => counts[role] > 0);
    const rest = all - known.reduce((sum, role) => sum + counts[role], 0);
    const said = known.map((role) => t(`frame.changes.${role}`, { count: counts[role] }));
    return list.format(rest > 0 ? [...said, t("frame.changes.deleted", { count: rest })] : said);
  };
  const say = (key: string, count: number, values: Record<string, string> = {}): string[] =>
    count === 0 ? [] : [t(`frame.changes.${key}`, { ...values, count })];
  const sayAll = (kind: "groups" | "schools"): string[] =>
    (["enter", "change", "leave"] as const).flatMap((step) => say(`${kind}_${step}`, change[kind][step]));

  const { people } = change;
  return [
    ...say("people_enter", people.enter, { who: who(change.roles.enter, people.enter) }),
    ...say("people_leave", people.leave, { who: who(change.roles.leave, people.leave) }),
    ...say("people_change", people.change),
    ...sayAll("groups"),
    ...sayAll("schools"),
  ];
}

type AttributeName = AdminSchemas["AppAttribute"];

/** The attributes that an app may be granted, in the order of the pages. */
export const attributeNames: readonly AttributeName[] = valuesOf<AttributeName>({
  PERSON_NAME: true,
  SOURCE_SYSTEM_IDENTIFIER: true,
  SCHOOL_ADDRESS: true,
  SCHOOL_LOCATION: true,
  SCHOOL_OFFICIAL_ID: true,
  SCHOOLING_LEVEL: true,
});

export const nameActions = (pattern: RegExp, { t, locale }: Writing): { id: AuditAction; name: string }[] =>
  auditActions
    .filter((action) => pattern.test(action))
    .map((id) => ({ id, name: describeAction(id, t) }))
    .sort((a, b) => a.name.localeCompare(b.name, locale));
