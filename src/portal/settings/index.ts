import { makeArea, onlyIf } from "../frame/index.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };
import { putLogo, removeLogo, showLogo } from "./logo.ts";
import { changeCards, changeSchool, changeSignIn, showSettings } from "./settings.ts";

const texts = { de: german, en: english };

const settings = "/admin/schools/:schoolId/settings";
// Class teachers may read each setting, for the pages of their classes; this page is for the staff of the whole school.
const show = onlyIf("listPeople", showSettings);

/** `/admin/schools/:schoolId/settings`: name, address and logo of a school, its sign-in and its login cards. */
export const settingsPages = makeArea({ folder: import.meta.dirname, texts, page: "settings" }, (pages) => {
  pages.get(settings, show);
  pages.post(`${settings}/school`, changeSchool, show);
  pages.get("/admin/schools/:schoolId/logo", showLogo);
  pages.upload(`${settings}/logo`, putLogo, show);
  pages.post(`${settings}/logo/deletion`, removeLogo, show);
  pages.post(`${settings}/sign-in`, changeSignIn, show);
  pages.post(`${settings}/cards`, changeCards, show);
});
