import { makeArea, onlyIf } from "../frame/index.ts";
import { approve, listApps, refuse } from "./apps.ts";
import { showFigures } from "./figures.ts";
import { rotateKeys, showKeys } from "./keys.ts";

export const operatorPages = makeArea({ folder: import.meta.dirname, page: "operator_apps" }, (pages) => {
  const apps = onlyIf("approveScopeRequest", listApps);
  pages.get("/admin/apps", apps);
  pages.post("/admin/apps/requests/:scopeRequestId/approval", approve, apps);
  pages.post("/admin/apps/requests/:scopeRequestId/refusal", onlyIf("refuseScopeRequest", refuse), apps);
  const keys = onlyIf("listSigningKeys", showKeys);
  pages.get("/admin/keys", keys);
  pages.post("/admin/keys/rotation", rotateKeys, keys);
  pages.get("/admin/figures", onlyIf("getHealth", showFigures));
});
