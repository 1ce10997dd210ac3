import { ifMatch, nameOf, unwrap, type PageRequest, type PageView, type Redirect } from "../frame/index.ts";
import { addressOf, readPerson } from "./record.ts";

/** `leave` can be undone by restoring the person, `delete` cannot. */
type Step = "leave" | "delete";

function call(step: Step, request: PageRequest, params: { path: { personId: string }; query?: { "dry-run": true } }) {
  if (step === "leave") return request.api.POST("/admin/v1/people/{personId}/soft-deletion", { params });
  return request.api.DELETE("/admin/v1/people/{personId}", { params: { ...params, header: ifMatch(request) } });
}

export const showStep =
  (step: Step) =>
  async (request: PageRequest): Promise<PageView> => {
    const { t } = request;
    const [{ record, tag }, changes] = await Promise.all([
      readPerson(request),
      unwrap(call(step, request, { path: request.path, query: { "dry-run": true } })),
    ]);
    const model = { step, base: addressOf(request), fullName: nameOf(record, request), tag, changes: changes ?? [] };
    return { title: t(`confirm.${step}.title`), view: "confirm", model };
  };

export const confirmStep =
  (step: Step) =>
  async (request: PageRequest): Promise<Redirect> => {
    await unwrap(call(step, request, { path: request.path }));
    if (step === "leave") return { to: addressOf(request), done: "personLeft" };
    return { to: `/admin/schools/${request.param("schoolId")}/people`, done: "personDeleted" };
  };
