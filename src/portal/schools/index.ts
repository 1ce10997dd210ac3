import type { AdminSchemas } from "../../admin/index.ts";
import { makeArea, onlyIf, take, takePage, type Gone, type Show, type Shown, type Visit } from "../frame/index.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };

const texts = { de: german, en: english };

/** `/admin`: the way to one's school, or a choice of schools. */
export const schoolPages = makeArea({ folder: import.meta.dirname, texts, page: "operator_schools" }, (pages) => {
  pages.get("/admin", async (visit) => findWay(visit) ?? listSchools(visit));
  pages.get("/admin/schools", listSchools);
  pages.get("/admin/schools/new", onlyIf("createSchool", showNew));
  pages.post("/admin/schools/new", create, onlyIf("createSchool", showNew));
  pages.get("/admin/schools/:schoolId", (visit) =>
    Promise.resolve({ to: `/admin/schools/${visit.part("schoolId")}/today` }),
  );
});

/** Where somebody is sent who has nothing to choose. */
function findWay({ me, permissions }: Visit): Gone | null {
  const [school, ...others] = me.schools;
  if (permissions.reachesAll) return null;
  if (school !== undefined && others.length === 0) return { to: `/admin/schools/${school.id}/today` };
  return school === undefined && permissions.isPartner ? { to: "/partner" } : null;
}

async function listSchools({ api, may, me, query, t }: Visit): Promise<Shown> {
  const [search, cursor] = [query("search"), query("cursor")];
  if (me.roles.length === 0) return { title: t("none.title"), view: "none", model: {}, status: 403 };
  const { items, next } = await takePage(
    api.GET("/admin/v1/schools", {
      params: { query: { limit: 50, ...(search !== "" && { search }), ...(cursor !== "" && { cursor }) } },
    }),
  );
  const more = next === null ? null : `/admin/schools?${new URLSearchParams({ search, cursor: next }).toString()}`;
  return {
    title: t("schools.title"),
    view: "schools",
    model: { schools: items, search, more, mayAdd: may("createSchool") },
  };
}

const showNew: Show = ({ t }) =>
  Promise.resolve({
    title: t("new.title"),
    view: "new",
    model: { textFields, levels: schoolingLevels, states },
  });

/** The text fields of the form, in their order. */
const textFields = [
  { name: "name", label: "new.name", required: true },
  { name: "officialId", label: "new.officialId", required: true },
  { name: "address", label: "new.address", required: true },
  { name: "addressAddition", label: "new.addressAddition", required: false },
  { name: "zipCode", label: "new.zipCode", required: true },
  { name: "city", label: "new.city", required: true },
] as const;
type TextField = (typeof textFields)[number]["name"];

/** The federal states of Germany by ISO 3166-2. */
const states = ["BB", "BE", "BW", "BY", "HB", "HE", "HH", "MV", "NI", "NW", "RP", "SH", "SL", "SN", "ST", "TH"];

/** Codes that schools use most; the API takes others too. */
const schoolingLevels = [
  ...["GRUNDSCHULE", "HAUPTSCHULE", "REALSCHULE", "OBERSCHULE", "GESAMTSCHULE", "GYMNASIUM"],
  ...["FOERDERSCHULE", "BERUFSBILDENDE_SCHULE"],
];

/** Registers a school and goes to its page with the first steps. */
const create: Show = async ({ api, field, once }) => {
  const text = (name: TextField) => field(name);
  const orNull = (name: TextField | "schoolingLevel") => field(name) || null;
  const body: Required<AdminSchemas["NewSchool"]> = {
    name: text("name"),
    officialId: text("officialId"),
    schoolingLevel: orNull("schoolingLevel"),
    address: {
      address: text("address"),
      addressAddition: orNull("addressAddition"),
      city: text("city"),
      zipCode: text("zipCode"),
    },
    location: { country: "DE", state: field("state") },
  };
  const school = await take(api.POST("/admin/v1/schools", { params: { header: { "Idempotency-Key": once } }, body }));
  return { to: `/admin/schools/${school.id}/today`, done: "schoolCreated" };
};
