import { makeArea } from "../frame/index.ts";
import { approve, listApps, refuse } from "./apps.ts";
import { showFigures } from "./figures.ts";
import { rotateKeys, showKeys } from "./keys.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };

/** `/admin/apps`, `/admin/keys`, `/admin/figures`: what operators look after in the whole service. */
export const operatorPages = makeArea({ folder: import.meta.dirname, texts: { de: german, en: english } }, (pages) => {
  pages.get("/admin/apps", listApps);
  pages.post("/admin/apps/requests/:scopeRequestId/approval", approve, listApps);
  pages.post("/admin/apps/requests/:scopeRequestId/refusal", refuse, listApps);
  pages.get("/admin/keys", showKeys);
  pages.post("/admin/keys/rotation", rotateKeys, showKeys);
  pages.get("/admin/figures", showFigures);
});
