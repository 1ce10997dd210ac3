import {
  findSchoolLogo,
  schoolLogoAddress,
  takeRecord,
  takeUnlessDone,
  type Gone,
  type Shown,
  type Visit,
} from "../frame/index.ts";
import { readCards, readSchool, readSignIn } from "./read-forms.ts";

const addressOf = ({ part }: Visit): string => `/admin/schools/${part("schoolId")}/settings`;
const paramsOf = ({ part }: Visit) => ({ path: { schoolId: part("schoolId") } });
const withTag = (visit: Visit) => ({ ...paramsOf(visit), header: { "If-Match": visit.field("tag") } });

/** The settings as they are; of a form that was refused as they were typed. */
export async function showSettings(visit: Visit): Promise<Shown> {
  const { api, t, field } = visit;
  const params = paramsOf(visit);
  const [school, signIn, cards, logo] = await Promise.all([
    takeRecord(api.GET("/admin/v1/schools/{schoolId}", { params })),
    takeRecord(api.GET("/admin/v1/schools/{schoolId}/sign-in-settings", { params })),
    takeRecord(api.GET("/admin/v1/schools/{schoolId}/card-settings", { params })),
    findSchoolLogo(visit),
  ]);
  const typed = field("form");
  const model = {
    address: addressOf(visit),
    logo: logo && schoolLogoAddress(visit),
    school: typed === "school" ? { ...school, record: { ...school.record, ...readSchool(visit) } } : school,
    signIn: typed === "sign-in" ? { ...signIn, record: readSignIn(visit) } : signIn,
    cards: typed === "cards" ? { ...cards, record: readCards(visit) } : cards,
    mayChange: visit.may("updateSchool"),
  };
  return {
    title: t("settings.title"),
    view: "settings",
    model,
  };
}

export async function changeSchool(visit: Visit): Promise<Gone> {
  const body = readSchool(visit);
  await takeUnlessDone(visit.api.PATCH("/admin/v1/schools/{schoolId}", { params: withTag(visit), body }), body);
  return { to: addressOf(visit), done: "schoolChanged" };
}

export async function changeSignIn(visit: Visit): Promise<Gone> {
  const body = readSignIn(visit);
  const call = visit.api.PUT("/admin/v1/schools/{schoolId}/sign-in-settings", { params: withTag(visit), body });
  await takeUnlessDone(call, body);
  return { to: addressOf(visit), done: "signInChanged" };
}

export async function changeCards(visit: Visit): Promise<Gone> {
  const body = readCards(visit);
  const call = visit.api.PUT("/admin/v1/schools/{schoolId}/card-settings", { params: withTag(visit), body });
  await takeUnlessDone(call, body);
  return { to: addressOf(visit), done: "cardsChanged" };
}
