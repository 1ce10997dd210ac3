import { addDays } from "../../platform/clock.ts";
import { nameWeekday } from "../../platform/pages/index.ts";
import {
  makePage,
  actOn,
  findSchoolLogo,
  makeArea,
  nameSchoolingLevels,
  onlyIf,
  readForm,
  readImageUpload,
  Refused,
  schoolLogo,
  type PageRequest,
} from "../frame/index.ts";

const schoolFields = [
  ...["name", "officialId", "schoolingLevel"],
  ...([["street", "address/address"], "addressAddition", "zipCode", "city"] as const),
];
const signInFields = [
  ...["userNameRule", "passwordKind", "mustChangePassword", "ownPasswordFromGrade", "passkeys", "passkeysFromGrade"],
  ...["pupilSessionHours", "staffSessionHours", "staySignedInDays", "staySignedInFromGrade", "helpText"],
];
const cardFields = ["enabled", "secondStep", "printSecondStep", "pictureCodeUpToGrade", "classLists"] as const;

/** `/admin/schools/:schoolId/settings`: name, address and logo of a school, its sign-in and its login cards. */
export const settingsPages = makeArea({ folder: import.meta.dirname, page: "settings" }, (pages) => {
  // Class teachers may read each setting, for the pages of their classes; this page is for the staff of the school.
  const onSettings = pages.at("/admin/schools/:schoolId/settings", onlyIf("listPeople", showSettings));
  onSettings.act("school", "updateSchool", "schoolChanged", { fields: schoolFields });
  onSettings.get(schoolLogo, showLogo);
  onSettings.upload("logo", actOn("putSchoolLogo", "logoKept", { fields: readImageUpload }));
  onSettings.act("logo/deletion", "deleteSchoolLogo", "logoRemoved");
  onSettings.act("sign-in", "putSignInSettings", "signInChanged", { fields: signInFields });
  onSettings.act("cards", "putCardSettings", "cardsChanged", { fields: readCards });
});

/** No grade means everybody; no hour means always. */
function readCards(request: PageRequest) {
  const { field, typed } = request;
  const read = readForm(request, "putCardSettings", cardFields);
  const [grades, weekdays] = [typed["grade"] ?? [], typed["weekday"] ?? ["1", "2", "3", "4", "5", "6", "7"]];
  const [from, to] = [field("from"), field("to")];
  return {
    ...read,
    grades: grades.length === 0 ? null : grades.map(Number),
    hours: from === "" && to === "" ? null : { from, to, weekdays: weekdays.map(Number) },
    networks: field("networks").split(/\s+/).filter(Boolean),
  };
}

async function showSettings(request: PageRequest) {
  const { getRecord, at, may, t, typed } = request;
  const [school, signIn, cards, logo, monday] = await Promise.all([
    getRecord("getSchool"),
    getRecord("getSignInSettings"),
    getRecord("getCardSettings"),
    findSchoolLogo(request),
    may("getFigures") ? readLastMonday(request) : null,
  ]);
  return makePage("settings", t("frame.pages.settings"), {
    mergers: may("listSchoolMergers") ? at("/admin/schools/:schoolId/mergers") : null,
    ownLogin: may("listUpstreamConnections") ? at("/admin/schools/:schoolId/own-login") : null,
    logo: logo && at(schoolLogo),
    monday,
    school,
    signIn,
    cards,
    // Boxes of a refused form stay ticked; fields of the contract keep their values by themselves.
    weekdays: (typed["weekday"] ?? []).map(Number),
    levels: nameSchoolingLevels(request, school.record.schoolingLevel),
    nameWeekday,
  });
}

/** How many sign-ins to apps there were on the last whole Monday, and how many percent of them took no password. */
async function readLastMonday({ call, now, path }: PageRequest) {
  const today = new Date(now.toISOString().slice(0, 10));
  const from = addDays(today, -1 - ((today.getUTCDay() + 5) % 7));
  const period = { step: "day", from: from.toISOString(), until: addDays(from, 1).toISOString() } as const;
  const countOf = async (metric: "signIns" | "passwordSignIns") => {
    const { points } = await call("getFigures", { query: { metric, ...period, school: path.schoolId } });
    return points.reduce((sum, point) => sum + point.count, 0);
  };
  const [count, passwords] = await Promise.all([countOf("signIns"), countOf("passwordSignIns")]);
  if (count === 0) return null;
  return { count, percent: Math.floor((100 * (count - passwords)) / count), at: from.toISOString() };
}

/** Errors: Refused for a school that the reader may not see, and for one without a logo. */
async function showLogo(request: PageRequest) {
  const logo = await findSchoolLogo(request);
  if (logo === null) throw new Refused(404, { code: "logo_not_found" });
  return logo;
}
