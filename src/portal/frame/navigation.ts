import type { OperationId, Permissions } from "../../admin/index.ts";
import type { Translate } from "../../platform/pages/index.ts";
import type german from "./locales/de.json";
import type english from "./locales/en.json";
import type { Me } from "./page-request.ts";

export type NavigationItem = { href: string; label: string; isCurrent: boolean };

/** The names of pages in both languages: a page without one does not compile. */
type Label = Extract<keyof typeof german.frame.pages, keyof typeof english.frame.pages>;
export type Links = Partial<Record<Label, OperationId>>;

/** The pages of a school, in this order, each for those who may call the operation at the school. */
const schoolPages = {
  today: "getSchool",
  people: "listPeople",
  classes: "listGroups",
  apps: "listCatalogue",
  imports: "listImports",
  audit: "listAudit",
  staff: "listStaffRoles",
  settings: "updateSchool",
} as const satisfies Links;

/** The pages of the whole service. */
const servicePages = {
  operator_schools: "createSchool",
  operator_apps: "approveScopeRequest",
  operator_staff: "listStaffPeople",
  operator_keys: "listSigningKeys",
  operator_figures: "getHealth",
} as const satisfies Links;

export type SchoolPage = keyof typeof schoolPages;
/** The page that is marked in the navigation; null for one that is not in it. */
export type CurrentPage = SchoolPage | keyof typeof servicePages | "partner" | null;

type Reader = { me: Me; permissions: Permissions; t: Translate };

/** The school of somebody who works at one, and does nothing else. */
function findOnlySchool({ me: { schools }, permissions }: Reader): string | null {
  const [first, ...others] = schools;
  const isElsewhereToo = others.length > 0 || permissions.reachesAll || permissions.isPartner;
  return first === undefined || isElsewhereToo ? null : first.id;
}

/** The pages that somebody may go to from a page of a school, or of the service. */
export function listPages(reader: Reader, shownSchoolId: string | null, current: CurrentPage): NavigationItem[] {
  const { permissions, t } = reader;
  const schoolId = shownSchoolId ?? findOnlySchool(reader);
  const pagesOf = <Page extends Label>(links: Record<Page, OperationId>, hrefOf: (page: Page) => string) =>
    (Object.entries(links) as [Page, OperationId][])
      .filter(([, operation]) => permissions.may(operation, schoolId ?? undefined))
      .map(([page]) => ({ href: hrefOf(page), label: t(`frame.pages.${page}`), isCurrent: page === current }));
  if (schoolId !== null) return pagesOf(schoolPages, (page) => `/admin/schools/${schoolId}/${page}`);
  const partner = { href: "/partner", label: t("frame.pages.partner"), isCurrent: current === "partner" };
  return [
    ...pagesOf(servicePages, (page) => page.replace("operator_", "/admin/")),
    ...(permissions.isPartner ? [partner] : []),
  ];
}
