import { makeArea } from "../frame/index.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };
import { changeCards, changeSchool, changeSignIn, showSettings } from "./settings.ts";

const settings = "/admin/schools/:schoolId/settings";

/** `/admin/schools/:schoolId/settings`: name and address of a school, how its people sign in, and its login cards. */
export const settingsPages = makeArea({ folder: import.meta.dirname, texts: { de: german, en: english } }, (pages) => {
  pages.get(settings, showSettings);
  pages.post(`${settings}/school`, changeSchool, showSettings);
  pages.post(`${settings}/sign-in`, changeSignIn, showSettings);
  pages.post(`${settings}/cards`, changeCards, showSettings);
});
