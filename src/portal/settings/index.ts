import { makeArea } from "../frame/index.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };
import { putLogo, removeLogo, showLogo } from "./logo.ts";
import { changeCards, changeSchool, changeSignIn, showSettings } from "./settings.ts";

const texts = { de: german, en: english };

const settings = "/admin/schools/:schoolId/settings";

/** `/admin/schools/:schoolId/settings`: name, address and logo of a school, its sign-in and its login cards. */
export const settingsPages = makeArea({ folder: import.meta.dirname, texts, page: "settings" }, (pages) => {
  pages.get(settings, showSettings);
  pages.post(`${settings}/school`, changeSchool, showSettings);
  pages.get("/admin/schools/:schoolId/logo", showLogo);
  pages.upload(`${settings}/logo`, putLogo, showSettings);
  pages.post(`${settings}/logo/deletion`, removeLogo, showSettings);
  pages.post(`${settings}/sign-in`, changeSignIn, showSettings);
  pages.post(`${settings}/cards`, changeCards, showSettings);
});
