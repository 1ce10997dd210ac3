import { actOn, makeArea, onlyIf } from "../frame/index.ts";
import * as agreements from "./agreement.ts";
import { app, listCatalogue, showApp, showWithdrawal } from "./app.ts";
import { changeGrant, showForm } from "./grant-form.ts";
import { handView, showView } from "./view.ts";

const { agreement } = agreements;
const one = ":agreementReceiptId";

/** `/admin/schools/:schoolId/apps`: the apps that a school can grant, and its grants. */
export const appPages = makeArea({ folder: import.meta.dirname, page: "apps" }, (pages) => {
  pages.at("/admin/schools/:schoolId/apps", listCatalogue);
  const receipts = pages.at(agreements.receipts, onlyIf("listAgreementReceipts", agreements.listReceipts));
  receipts.get(one, onlyIf("getAgreementReceipt", agreements.showReceipt));
  receipts.get(`${one}/pdf`, onlyIf("printAgreementReceipt", agreements.printReceipt));
  receipts.get(`${one}/json`, onlyIf("getAgreementReceipt", agreements.loadReceipt));
  receipts.get(`${one}/document`, onlyIf("getAgreementReceipt", agreements.loadReceiptDocument));
  const onAgreement = pages.at(agreement, agreements.showAgreement);
  onAgreement.post("", agreements.changeAgreement, onlyIf("acceptAgreement", agreements.showAgreement));
  onAgreement.get("file", agreements.loadAgreement);
  const endAgreement = actOn("withdrawAgreement", "agreementWithdrawn", { repeated: "agreement_not_in_force" });
  onAgreement.form("withdrawal", endAgreement, onlyIf("withdrawAgreement", showWithdrawal("agreement")));
  const onApp = pages.at(app, showApp);
  onApp.get("view", showView);
  onApp.get("view/file", handView);
  onApp.form("change", changeGrant, onlyIf("putGrant", showForm));
  const endGrant = actOn("deleteGrant", "withdrawn", { repeated: "grant_not_found" });
  onApp.form("withdrawal", endGrant, onlyIf("deleteGrant", showWithdrawal("apps")));
});
