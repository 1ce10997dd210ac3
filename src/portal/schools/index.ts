import type { AdminSchemas } from "../../admin/index.ts";
import { listTexts, type TextName } from "../../platform/contract-texts.ts";
import { makeArea, nameSchoolingLevels, onlyIf, unwrap, unwrapPage } from "../frame/index.ts";
import type { Redirect, PageHandler, PageView, PageRequest } from "../frame/index.ts";

import { listWaiting } from "./waits.ts";

type NewSchool = AdminSchemas["SchoolInput"];

/** `/admin`: redirects to the reader's school, or offers a choice. */
export const schoolPages = makeArea({ folder: import.meta.dirname, page: "operator_schools" }, (pages) => {
  pages.get("/admin", async (request) => findWay(request) ?? listSchools(request));
  pages.get("/admin/schools", listSchools);
  pages.form("/admin/schools/new", create, onlyIf("createSchool", showNew));
  pages.get("/admin/schools/:schoolId", (request) =>
    Promise.resolve({ to: `/admin/schools/${request.param("schoolId")}/today` }),
  );
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

async function listSchools(request: PageRequest): Promise<PageView> {
  const { api, may, me, permissions, query, cursor, t } = request;
  const showsWaiting = !permissions.reachesAll && may("getToday");
  const limit = showsWaiting ? mostWaiting : mostSchools;
  const search = query("search");
  if (me.roles.length === 0) return { title: t("none.title"), view: "none", model: {}, status: 403 };
  const { items, more } = await unwrapPage(
    api.GET("/admin/v1/schools", {
      params: { query: { limit, ...(search !== "" && { search }), ...cursor } },
    }),
  );
  const ids = items.map(({ id }) => id).filter((id) => permissions.may("getToday", id));
  const waiting = showsWaiting ? await listWaiting(request, ids) : null;
  return {
    title: t("frame.pages.operator_schools"),
    view: "schools",
    model: { schools: items, waiting, search, more: more("/admin/schools", { search }), mayAdd: may("createSchool") },
  };
}

const showNew: PageHandler = (request) => {
  const { t, locale } = request;
  const named = states.map((id) => ({ id, name: t(`frame.state.${id}`) }));
  const sorted = named.sort((a, b) => a.name.localeCompare(b.name, locale));
  return Promise.resolve({
    title: t("schools.add"),
    view: "new",
    model: { textFields, levels: nameSchoolingLevels(request), states: sorted },
  });
};

const schoolTexts = listTexts<NewSchool>("SchoolInput");

/** The text fields of the form, in their order; the schooling level is a list. */
const textFields = [
  ...schoolTexts.filter(({ name }) => name !== "schoolingLevel"),
  { name: "address", isRequired: true },
  { name: "addressAddition", isRequired: false },
  { name: "zipCode", isRequired: true },
  { name: "city", isRequired: true },
];

/** The federal states of Germany by ISO 3166-2. */
const states = ["BB", "BE", "BW", "BY", "HB", "HE", "HH", "MV", "NI", "NW", "RP", "SH", "SL", "SN", "ST", "TH"];

const create: PageHandler = async ({ api, field, idempotencyKey }) => {
  const typed = schoolTexts.map(({ name, isNullable }) => [name, field(name) || (isNullable ? null : "")]);
  const body: Required<NewSchool> = {
    ...(Object.fromEntries(typed) as Required<Pick<NewSchool, TextName<NewSchool>>>),
    address: {
      address: field("address"),
      addressAddition: field("addressAddition") || null,
      city: field("city"),
      zipCode: field("zipCode"),
    },
    location: { country: "DE", state: field("state") },
  };
  const school = await unwrap(
    api.POST("/admin/v1/schools", { params: { header: { "Idempotency-Key": idempotencyKey } }, body }),
  );
  return { to: `/admin/schools/${school.id}/today`, done: "schoolCreated" };
};
