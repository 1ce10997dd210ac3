import type { Translate } from "../../platform/pages/index.ts";
import { managers, mayAt, office, type Role } from "./roles.ts";
import type { Me } from "./visit.ts";

export type NavigationItem = { href: string; label: string; isCurrent: boolean };

const seeOffice: readonly Role[] = [...office, "SUPPORT"];

/** The pages of one school, and who has use for them; the admin API says who may. */
const schoolPages: readonly [page: string, roles: readonly Role[]][] = [
  ["today", [...seeOffice, "CLASS_TEACHER"]],
  ["people", seeOffice],
  ["classes", [...seeOffice, "CLASS_TEACHER"]],
  ["apps", [...managers, "SUPPORT"]],
  ["imports", seeOffice],
  ["audit", [...managers, "SUPPORT"]],
  ["staff", [...managers, "SUPPORT"]],
  ["settings", managers],
];

/** The pages of the whole service. */
const operatorPages = ["schools", "apps", "staff", "keys", "figures"] as const;

export type Place = { schoolId: string | null; page: string };

/** The school of somebody who works at one, and does nothing else. */
function findOnlySchool({ roles, schools }: Me): string | null {
  const [first, ...others] = schools;
  const isElsewhereToo = others.length > 0 || roles.some(({ role }) => role === "OPERATOR" || role === "PARTNER");
  return first === undefined || isElsewhereToo ? null : first.id;
}

/** The pages that somebody may go to from where they are. */
export function listPages(me: Me, t: Translate, { schoolId: shown, page }: Place): NavigationItem[] {
  const item = (key: string, href: string, name: string): NavigationItem => ({
    href,
    label: t(`frame.pages.${key}`),
    isCurrent: name === page,
  });
  const schoolId = shown ?? findOnlySchool(me);
  if (schoolId !== null)
    return schoolPages
      .filter(([, roles]) => mayAt(me, schoolId, roles))
      .map(([name]) => item(name, `/admin/schools/${schoolId}/${name}`, name));
  const isOperator = me.roles.some(({ role }) => role === "OPERATOR");
  const isPartner = me.roles.some(({ role }) => role === "PARTNER");
  return [
    ...(isOperator ? operatorPages.map((name) => item(`operator_${name}`, `/admin/${name}`, `operator/${name}`)) : []),
    ...(isPartner ? [item("partner", "/partner", "partner")] : []),
  ];
}
