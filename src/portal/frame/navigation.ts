import type { OperationId, Permissions } from "../../admin/index.ts";
import type { Translate } from "../../platform/pages/index.ts";
import type german from "./locales/de.json";
import type english from "./locales/en.json";
import type { Me } from "./page-request.ts";

type NavigationItem = { href: string; label: string; isCurrent: boolean };

/** The names of pages in both languages: a page without one does not compile. */
type Label = Extract<keyof typeof german.frame.pages, keyof typeof english.frame.pages>;
type Links = Partial<Record<Label, OperationId>>;

/** In the order of the navigation, each with the operation that its readers must be allowed to call. */
const schoolPages = {
  today: "getSchool",
  people: "listPeople",
  classes: "listGroups",
  apps: "listCatalogue",
  imports: "listImports",
  audit: "listAudit",
  privacy: "getProcessingRecord",
  staff: "listStaffRoles",
  settings: "updateSchool",
} as const satisfies Links;

const servicePages = {
  operator_schools: "createSchool",
  operator_people: "listPeople",
  operator_apps: "approveScopeRequest",
  operator_staff: "listStaffPeople",
  operator_retention: "getServiceRetention",
  operator_logins: "listUpstreamConnections",
  operator_keys: "listSigningKeys",
  operator_figures: "getHealth",
} as const satisfies Links;

export type SchoolPage = keyof typeof schoolPages;
/** The marked page; null if the page is not in the navigation. */
export type CurrentPage = SchoolPage | keyof typeof servicePages | "partner" | null;

type Reader = { me: Me; permissions: Permissions; t: Translate };

/** The school of a reader who works at one and has no other role. */
function findOnlySchool({ me: { schools }, permissions }: Reader): string | null {
  const [first, ...others] = schools;
  const isElsewhereToo = others.length > 0 || permissions.reachesAll || permissions.isPartner;
  return first === undefined || isElsewhereToo ? null : first.id;
}

/** The pages that the reader may open from here. */
export function listPages(reader: Reader, shownSchoolId: string | null, current: CurrentPage): NavigationItem[] {
  const { permissions, t } = reader;
  const schoolId = shownSchoolId ?? findOnlySchool(reader);
  const pagesOf = <Page extends Label>(links: Record<Page, OperationId>, hrefOf: (page: Page) => string) =>
    (Object.entries(links) as [Page, OperationId][])
      .filter(([, operation]) => permissions.may(operation, schoolId ?? undefined))
      .map(([page]) => ({ href: hrefOf(page), label: t(`frame.pages.${page}`), isCurrent: page === current }));
  const guide = { href: "/guide", label: t("frame.pages.guide"), isCurrent: false };
  if (schoolId !== null) return [...pagesOf(schoolPages, (page) => `/admin/schools/${schoolId}/${page}`), guide];
  const partner = { href: "/partner", label: t("frame.pages.partner"), isCurrent: current === "partner" };
  return [
    ...pagesOf(servicePages, (page) => page.replace("operator_", "/admin/")),
    ...(permissions.isPartner ? [partner] : []),
  ];
}
