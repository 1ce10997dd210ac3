import { makeArea, onlyIf } from "../frame/index.ts";
import * as agreements from "./agreement.ts";
import { app, listCatalogue, showApp, showWithdrawal } from "./app.ts";
import { changeGrant, showForm } from "./grant-form.ts";
import { handView, showView } from "./view.ts";

const { agreement } = agreements;
const receipt = `${agreements.receipts}/:agreementReceiptId`;

/** `/admin/schools/:schoolId/apps`: the apps that a school can grant, and its grants. */
export const appPages = makeArea({ folder: import.meta.dirname, page: "apps" }, (pages) => {
  pages.get("/admin/schools/:schoolId/apps", listCatalogue);
  pages.get(agreements.receipts, onlyIf("listAgreementReceipts", agreements.listReceipts));
  pages.get(receipt, onlyIf("getAgreementReceipt", agreements.showReceipt));
  pages.get(`${receipt}/pdf`, onlyIf("printAgreementReceipt", agreements.printReceipt));
  pages.get(`${receipt}/json`, onlyIf("getAgreementReceipt", agreements.loadReceipt));
  pages.get(`${receipt}/document`, onlyIf("getAgreementReceipt", agreements.loadReceiptDocument));
  pages.get(agreement, agreements.showAgreement);
  pages.post(agreement, agreements.changeAgreement, onlyIf("acceptAgreement", agreements.showAgreement));
  pages.get(`${agreement}/file`, agreements.loadAgreement);
  const agreementWithdrawal = onlyIf("withdrawAgreement", agreements.showWithdrawal);
  pages.get(`${agreement}/withdrawal`, agreementWithdrawal);
  pages.act(`${agreement}/withdrawal`, "withdrawAgreement", {
    to: agreement,
    done: "agreementWithdrawn",
    repeated: "agreement_not_in_force",
    again: agreementWithdrawal,
  });
  pages.get(app, showApp);
  pages.get(`${app}/view`, showView);
  pages.get(`${app}/view/file`, handView);
  pages.form(`${app}/change`, changeGrant, onlyIf("putGrant", showForm));
  const withdrawal = onlyIf("deleteGrant", showWithdrawal);
  pages.get(`${app}/withdrawal`, withdrawal);
  pages.act(`${app}/withdrawal`, "deleteGrant", {
    to: app,
    done: "withdrawn",
    repeated: "grant_not_found",
    again: withdrawal,
  });
});
