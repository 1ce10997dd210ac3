import type { AdminSchemas } from "../../admin/index.ts";
import { listGroups, nameOf, onlyClasses, postAndRedirect, unwrap, unwrapPage } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";

type Handover = AdminSchemas["Handover"];

export const listAddress = ({ path }: PageRequest): string => `/admin/schools/${path.schoolId}/handovers`;
const handoverAddress = (request: PageRequest): string => `${listAddress(request)}/${request.path.handoverId}`;

const present = (handover: Handover, request: PageRequest) => ({
  ...handover,
  isIncoming: handover.to.id === request.path.schoolId,
  pupils: handover.pupils.map((pupil) => ({
    id: pupil.id,
    name: nameOf(pupil, request),
    classes: pupil.classes.join(", "),
  })),
});

export async function showHandovers(request: PageRequest): Promise<PageView> {
  const { api, path, t } = request;
  const params = { path, query: { limit: 50, ...request.cursor } };
  const { items, more } = await unwrapPage(api.GET("/admin/v1/schools/{schoolId}/handovers", { params }));
  const base = listAddress(request);
  const handovers = items.map((one) => present(one, request));
  const model = { base, handovers, more: more(base), mayOffer: request.may("createHandover") };
  return { title: t("handovers.title"), view: "list", model };
}

export async function showHandover(request: PageRequest): Promise<PageView> {
  const { api, path, t, field } = request;
  const read = await unwrap(api.GET("/admin/v1/handovers/{handoverId}", { params: { path } }));
  const handover = present(read, request);
  const isOpen = read.state === "OFFERED";
  const mayAnswer = isOpen && handover.isIncoming && request.may("acceptHandover");
  const groups = mayAnswer ? await listGroups(request) : [];
  const model = {
    base: handoverAddress(request),
    list: listAddress(request),
    schoolId: path.schoolId,
    handover,
    isOpen,
    mayAnswer,
    mayWithdraw: isOpen && !handover.isIncoming && request.may("withdrawHandover"),
    classes: onlyClasses(groups),
    chosen: (id: string) => field(`class-${id}`),
  };
  return { title: t("handover.title"), view: "handover", model };
}

export async function accept(request: PageRequest): Promise<Redirect> {
  const { api, path, typed, field } = request;
  const people = [...new Set(typed["person"] ?? [])];
  const pupils = people.map((personId) => {
    const [groupId, sourceSystemIdentifier] = [field(`class-${personId}`), field(`number-${personId}`)];
    return {
      personId,
      ...(groupId !== "" && { groupId }),
      ...(sourceSystemIdentifier !== "" && { sourceSystemIdentifier }),
    };
  });
  const params = { path };
  const { moved } = await unwrap(api.POST("/admin/v1/handovers/{handoverId}/acceptance", { params, body: { pupils } }));
  return { to: handoverAddress(request), done: "accepted", count: moved ?? 0 };
}

export const decline = postAndRedirect("declined", listAddress, ({ api, path }) =>
  api.POST("/admin/v1/handovers/{handoverId}/refusal", { params: { path } }),
);

export const withdraw = postAndRedirect("withdrawn", listAddress, ({ api, path }) =>
  api.DELETE("/admin/v1/handovers/{handoverId}", { params: { path } }),
);
