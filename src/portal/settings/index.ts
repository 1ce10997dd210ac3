import { addDays } from "../../platform/clock.ts";
import { nameWeekday } from "../../platform/pages/index.ts";
import {
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

const settings = "/admin/schools/:schoolId/settings";

const schoolFields = [
  ...["name", "officialId", "schoolingLevel"],
  ...([["street", "address/address"], "addressAddition", "zipCode", "city"] as const),
];
const signInFields = [
  "userNameRule",
  "passwordKind",
  "mustChangePassword",
  "ownPasswordFromGrade",
  "passkeys",
  "passkeysFromGrade",
  "pupilSessionHours",
  "staffSessionHours",
  "staySignedInDays",
  "staySignedInFromGrade",
  "helpText",
];
const cardFields = ["enabled", "secondStep", "printSecondStep", "pictureCodeUpToGrade", "classLists"] as const;

/** `/admin/schools/:schoolId/settings`: name, address and logo of a school, its sign-in and its login cards. */
export const settingsPages = makeArea({ folder: import.meta.dirname, page: "settings" }, (pages) => {
  // Class teachers may read each setting, for the pages of their classes; this page is for the staff of the school.
  const form = { to: settings, again: onlyIf("listPeople", showSettings) };
  pages.get(settings, form.again);
  pages.act(`${settings}/school`, "updateSchool", { ...form, fields: schoolFields, done: "schoolChanged" });
  pages.get(schoolLogo, showLogo);
  const putLogo = actOn("putSchoolLogo", { fields: readImageUpload, to: settings, done: "logoKept" });
  pages.upload(`${settings}/logo`, putLogo, form.again);
  pages.act(`${settings}/logo/deletion`, "deleteSchoolLogo", { ...form, done: "logoRemoved" });
  pages.act(`${settings}/sign-in`, "putSignInSettings", { ...form, fields: signInFields, done: "signInChanged" });
  pages.act(`${settings}/cards`, "putCardSettings", { ...form, fields: readCards, done: "cardsChanged" });
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
  const model = {
    address: at(settings),
    mergers: may("listSchoolMergers") ? at("/admin/schools/:schoolId/mergers") : null,
    ownLogin: may("listUpstreamConnections") ? at("/admin/schools/:schoolId/own-login") : null,
    logo: logo && at(schoolLogo),
    monday,
    school,
    signIn,
    cards,
    // Of a form that was refused; the fields of the contract keep theirs.
    weekdays: (typed["weekday"] ?? []).map(Number),
    levels: nameSchoolingLevels(request, school.record.schoolingLevel),
    nameWeekday,
  };
  return { title: t("frame.pages.settings"), view: "settings", model };
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
