import { schoolTexts, type AdminSchemas } from "../../admin/index.ts";
import { listTexts } from "../../platform/contract-texts.ts";
import {
  makePage,
  makeArea,
  nameSchoolingLevels,
  onlyIf,
  readForm,
  type PageRequest,
  type Redirect,
} from "../frame/index.ts";

/** `/admin`: redirects to the reader's school, or offers a choice. */
export const schoolPages = makeArea({ folder: import.meta.dirname, page: "operator_schools" }, (pages) => {
  const schools = pages.at("/admin/schools", listSchools);
  schools.get("/admin", async (request) => findWay(request) ?? listSchools(request));
  schools.form("new", create, onlyIf("createSchool", showNew));
  pages.at("/admin/schools/:schoolId", async ({ base }) => ({ to: `${base}/today` }));
});

/** The redirect for a reader who has no choice. */
function findWay({ me, permissions }: PageRequest): Redirect | null {
  const [school, ...others] = me.schools;
  if (permissions.reachesAll) return null;
  if (school !== undefined && others.length === 0) return { to: `/admin/schools/${school.id}/today` };
  return school === undefined && permissions.isPartner ? { to: "/partner" } : null;
}

/** With what waits at each of them, the page has fewer. */
const [mostSchools, mostWaiting] = [50, 20];

async function listSchools(request: PageRequest) {
  const { list, may, me, permissions, query, t } = request;
  const showsWaiting = !permissions.reachesAll && may("getToday");
  if (me.roles.length === 0) return makePage("none", t("none.title"), {}, { status: 403 });
  const search = query("search");
  const limit = showsWaiting ? mostWaiting : mostSchools;
  const { items, more } = await list("listSchools", { query: { limit, search } });
  const ids = items.map(({ id }) => id).filter((id) => permissions.may("getToday", id));
  const waiting = showsWaiting ? await listWaiting(request, ids) : null;
  return makePage("schools", t("frame.pages.operator_schools"), { schools: items, waiting, search, more });
}

const addressFields = [
  { name: "address", isRequired: true },
  { name: "addressAddition", isRequired: false },
  { name: "zipCode", isRequired: true },
  { name: "city", isRequired: true },
];
const listTextFields = () => [...listTexts<AdminSchemas["SchoolInput"]>("SchoolInput"), ...addressFields];

async function showNew(request: PageRequest) {
  const { t, locale } = request;
  const named = Object.keys(schoolTexts.de.state).map((id) => ({ id, name: t(`frame.state.${id}`) }));
  const sorted = named.sort((a, b) => a.name.localeCompare(b.name, locale));
  const textFields = listTextFields().filter(({ name }) => name !== "schoolingLevel");
  return makePage("new", t("schools.add"), { textFields, levels: nameSchoolingLevels(request), states: sorted });
}

async function create(request: PageRequest) {
  const { location, ...school } = readForm(request, "createSchool", [
    ...listTextFields().map(({ name }) => name),
    "state",
  ]);
  const { id } = await request.call("createSchool", { body: { ...school, location: { ...location, country: "DE" } } });
  return { to: `/admin/schools/${id}/today`, done: "schoolCreated" };
}

/** Something that waits at a school: how much, and the page there that shows it. */
type Waiting = { key: string; count: number; href: string };

/** What waits at each of these schools, with the numbers of their page "Today". */
async function listWaiting({ call, permissions }: PageRequest, schoolIds: readonly string[]) {
  const waitingAt = new Map<string, Waiting[]>();
  // One after another: this page is not urgent, and each of them reads much.
  for (const school of schoolIds) {
    const today = await call("getToday", { query: { school } });
    const { atSchools: at, schoolLogins: logins } = today;
    const mayAgree = permissions.may("acceptAgreement", school);
    const counts: [key: string, page: string, some: { count: number } | null | undefined][] = [
      ["waitingImports", "imports?waiting=yes", today.waitingImports],
      ["handovers", "handovers", at?.handovers],
      ["passwordRequests", "today", at?.passwordRequests],
      ["dataRequests", "privacy/requests", at?.dataRequests],
      ["retentionHolds", "retention", at?.retentionHolds],
      ["openAgreements", "today", mayAgree ? at?.openAgreements : null],
      ["failingLogins", "own-login", logins?.failing],
      ["expiringSecrets", "own-login", logins?.expiringSecrets],
    ];
    const waiting = counts.flatMap(([key, page, some]) =>
      some && some.count > 0 ? [{ key, count: some.count, href: `/admin/schools/${school}/${page}` }] : [],
    );
    waitingAt.set(school, waiting);
  }
  return waitingAt;
}
