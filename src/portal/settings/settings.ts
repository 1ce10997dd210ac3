import { nameWeekday } from "../../platform/pages/index.ts";
import {
  findSchoolLogo,
  nameSchoolingLevels,
  schoolLogoAddress,
  unwrapRecord,
  unwrapUnlessDone,
  type Redirect,
  type PageView,
  type PageRequest,
} from "../frame/index.ts";
import { readCards, readSchool, readSignIn } from "./read-forms.ts";

export const settingsAddress = ({ path }: PageRequest): string => `/admin/schools/${path.schoolId}/settings`;
const withTag = ({ path, field }: PageRequest) => ({ path, header: { "If-Match": field("tag") } });

export async function showSettings(request: PageRequest): Promise<PageView> {
  const { api, path, t, field } = request;
  const params = { path };
  const [school, signIn, cards, logo] = await Promise.all([
    unwrapRecord(api.GET("/admin/v1/schools/{schoolId}", { params })),
    unwrapRecord(api.GET("/admin/v1/schools/{schoolId}/sign-in-settings", { params })),
    unwrapRecord(api.GET("/admin/v1/schools/{schoolId}/card-settings", { params })),
    findSchoolLogo(request),
  ]);
  const typed = field("form");
  const model = {
    address: settingsAddress(request),
    retention: `/admin/schools/${path.schoolId}/retention`,
    mergers: request.may("listSchoolMergers") ? `/admin/schools/${path.schoolId}/mergers` : null,
    ownLogin: request.may("listUpstreamConnections") ? `/admin/schools/${path.schoolId}/own-login` : null,
    logo: logo && schoolLogoAddress(request),
    school: typed === "school" ? { ...school, record: { ...school.record, ...readSchool(request) } } : school,
    signIn: typed === "sign-in" ? { ...signIn, record: readSignIn(request) } : signIn,
    cards: typed === "cards" ? { ...cards, record: readCards(request) } : cards,
    levels: nameSchoolingLevels(request, school.record.schoolingLevel),
    mayChange: request.may("updateSchool"),
    nameWeekday,
  };
  return { title: t("frame.pages.settings"), view: "settings", model };
}

export async function changeSchool(request: PageRequest): Promise<Redirect> {
  const body = readSchool(request);
  await unwrapUnlessDone(request.api.PATCH("/admin/v1/schools/{schoolId}", { params: withTag(request), body }), body);
  return { to: settingsAddress(request), done: "schoolChanged" };
}

export async function changeSignIn(request: PageRequest): Promise<Redirect> {
  const body = readSignIn(request);
  const call = request.api.PUT("/admin/v1/schools/{schoolId}/sign-in-settings", { params: withTag(request), body });
  await unwrapUnlessDone(call, body);
  return { to: settingsAddress(request), done: "signInChanged" };
}

export async function changeCards(request: PageRequest): Promise<Redirect> {
  const body = readCards(request);
  const call = request.api.PUT("/admin/v1/schools/{schoolId}/card-settings", { params: withTag(request), body });
  await unwrapUnlessDone(call, body);
  return { to: settingsAddress(request), done: "cardsChanged" };
}
