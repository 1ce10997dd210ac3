import type { AdminSchemas } from "../../admin/index.ts";
import type { Locale, Translate } from "../../platform/pages/index.ts";

type ViewChange = AdminSchemas["ViewChange"];
type RoleCounts = AdminSchemas["RoleCounts"];

const roles = ["students", "teachers", "others"] as const;

/** One sentence per change, such as "3 pupils and 2 teachers become visible". */
export function describeViewChange(change: ViewChange, { t, locale }: { t: Translate; locale: Locale }): string[] {
  const list = new Intl.ListFormat(locale, { type: "conjunction" });

  const who = (counts: RoleCounts, all: number): string => {
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
