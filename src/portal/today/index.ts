import { makeArea, managers, mayAt, office, take, type Role, type Shown, type Visit } from "../frame/index.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };

/** `/admin/schools/:schoolId/today`: what waits for somebody at this school. */
export const todayPage = makeArea({ folder: import.meta.dirname, texts: { de: german, en: english } }, (pages) => {
  pages.get("/admin/schools/:schoolId/today", showToday);
});

const seeOffice: Role[] = [...office, "SUPPORT"];

async function showToday({ api, me, part, t }: Visit): Promise<Shown> {
  const schoolId = part("schoolId");
  const place = { schoolId, page: "today" };
  const [today] = await Promise.all([
    mayAt(me, schoolId, seeOffice)
      ? take(api.GET("/admin/v1/today", { params: { query: { school: schoolId } } }))
      : null,
    take(api.GET("/admin/v1/schools/{schoolId}", { params: { path: { schoolId } } })),
  ]);
  const can = { office: mayAt(me, schoolId, office), grant: mayAt(me, schoolId, managers) };
  const model = { today, can, address: `/admin/schools/${schoolId}` };
  return { title: t("today.title"), view: "today", model, place };
}
