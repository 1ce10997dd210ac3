import { makeArea, onlyIf } from "../frame/index.ts";
import { showApp } from "./app.ts";
import { listCatalogue } from "./catalogue.ts";
import { changeGrant, showForm } from "./grant-form.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };
import { handView, showView } from "./view.ts";
import { showWithdrawal, withdraw } from "./withdrawal.ts";

const texts = { de: german, en: english };

const app = "/admin/schools/:schoolId/apps/:clientId";

/** `/admin/schools/:schoolId/apps`: the apps that a school can grant, and its grants. */
export const appPages = makeArea({ folder: import.meta.dirname, texts, page: "apps" }, (pages) => {
  pages.get("/admin/schools/:schoolId/apps", listCatalogue);
  pages.get(app, showApp);
  pages.get(`${app}/view`, showView);
  pages.get(`${app}/view/file`, handView);
  pages.get(`${app}/change`, onlyIf("putGrant", showForm));
  pages.post(`${app}/change`, changeGrant, onlyIf("putGrant", showForm));
  pages.get(`${app}/withdrawal`, onlyIf("deleteGrant", showWithdrawal));
  pages.post(`${app}/withdrawal`, withdraw, onlyIf("deleteGrant", showWithdrawal));
});
