import { take, type Gone, type Shown, type Visit } from "../frame/index.ts";
import { addressOf, pathOf, readPerson } from "./record.ts";
import { nameOf } from "./words.ts";

/** Leaving the school, from which one can come back, and being deleted for good. */
type Step = "leave" | "delete";

function call(step: Step, { api, field }: Visit, params: { path: { personId: string }; query?: { "dry-run": true } }) {
  if (step === "leave") return api.POST("/admin/v1/people/{personId}/soft-deletion", { params });
  const tag = field("tag");
  const header = tag === "" ? {} : { "If-Match": tag };
  return api.DELETE("/admin/v1/people/{personId}", { params: { ...params, header } });
}

/** Says what a step does, and what apps no longer see after it. */
export const showStep =
  (step: Step) =>
  async (visit: Visit): Promise<Shown> => {
    const { t } = visit;
    const [{ record, tag }, changes] = await Promise.all([
      readPerson(visit),
      take(call(step, visit, { path: pathOf(visit), query: { "dry-run": true } })),
    ]);
    const model = { step, base: addressOf(visit), fullName: nameOf(record, visit), tag, changes: changes ?? [] };
    return { title: t(`confirm.${step}.title`), view: "confirm", model };
  };

export const confirmStep =
  (step: Step) =>
  async (visit: Visit): Promise<Gone> => {
    await take(call(step, visit, { path: pathOf(visit) }));
    if (step === "leave") return { to: addressOf(visit), done: "personLeft" };
    return { to: `/admin/schools/${visit.part("schoolId")}/people`, done: "personDeleted" };
  };
