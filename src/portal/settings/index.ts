import { makeArea, onlyIf } from "../frame/index.ts";
import { putLogo, removeLogo, showLogo } from "./logo.ts";
import { changeCards, changeSchool, changeSignIn, showSettings } from "./settings.ts";

const settings = "/admin/schools/:schoolId/settings";
// Class teachers may read each setting, for the pages of their classes; this page is for the staff of the whole school.
const show = onlyIf("listPeople", showSettings);

/** `/admin/schools/:schoolId/settings`: name, address and logo of a school, its sign-in and its login cards. */
export const settingsPages = makeArea({ folder: import.meta.dirname, page: "settings" }, (pages) => {
  pages.get(settings, show);
  pages.post(`${settings}/school`, changeSchool, show);
  pages.get("/admin/schools/:schoolId/logo", showLogo);
  pages.upload(`${settings}/logo`, putLogo, show);
  pages.post(`${settings}/logo/deletion`, removeLogo, show);
  pages.post(`${settings}/sign-in`, changeSignIn, show);
  pages.post(`${settings}/cards`, changeCards, show);
});
