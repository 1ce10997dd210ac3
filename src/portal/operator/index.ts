import { makeArea, onlyIf } from "../frame/index.ts";
import { approve, listApps, refuse } from "./apps.ts";
import { showFigures } from "./figures.ts";
import { rotateKeys, showKeys } from "./keys.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };

const texts = { de: german, en: english };

export const operatorPages = makeArea({ folder: import.meta.dirname, texts, page: "operator_apps" }, (pages) => {
  const apps = onlyIf("approveScopeRequest", listApps);
  pages.get("/admin/apps", apps);
  pages.post("/admin/apps/requests/:scopeRequestId/approval", approve, apps);
  pages.post("/admin/apps/requests/:scopeRequestId/refusal", onlyIf("refuseScopeRequest", refuse), apps);
  const keys = onlyIf("listSigningKeys", showKeys);
  pages.get("/admin/keys", keys);
  pages.post("/admin/keys/rotation", rotateKeys, keys);
  pages.get("/admin/figures", onlyIf("getHealth", showFigures));
});
