import { makeArea, onlyIf } from "../frame/index.ts";
import {
  changeAgreement,
  loadAgreement,
  showAgreement,
  showAgreementWithdrawal,
  withdrawAgreement,
} from "./agreement.ts";
import { showApp } from "./app.ts";
import { listCatalogue } from "./catalogue.ts";
import { changeGrant, showForm } from "./grant-form.ts";
import { listReceipts, loadReceipt, loadReceiptDocument, printReceipt, showReceipt } from "./receipts.ts";
import { handView, showView } from "./view.ts";
import { showWithdrawal, withdraw } from "./withdrawal.ts";

const app = "/admin/schools/:schoolId/apps/:clientId";
const agreement = `${app}/agreement`;
const receipts = "/admin/schools/:schoolId/agreements";
const receipt = `${receipts}/:agreementReceiptId`;

/** `/admin/schools/:schoolId/apps`: the apps that a school can grant, and its grants. */
export const appPages = makeArea({ folder: import.meta.dirname, page: "apps" }, (pages) => {
  pages.get("/admin/schools/:schoolId/apps", listCatalogue);
  pages.get(receipts, onlyIf("listAgreementReceipts", listReceipts));
  pages.get(receipt, onlyIf("getAgreementReceipt", showReceipt));
  pages.get(`${receipt}/pdf`, onlyIf("printAgreementReceipt", printReceipt));
  pages.get(`${receipt}/json`, onlyIf("getAgreementReceipt", loadReceipt));
  pages.get(`${receipt}/document`, onlyIf("getAgreementReceipt", loadReceiptDocument));
  pages.get(agreement, showAgreement);
  pages.post(agreement, changeAgreement, onlyIf("acceptAgreement", showAgreement));
  pages.get(`${agreement}/file`, loadAgreement);
  pages.get(`${agreement}/withdrawal`, onlyIf("withdrawAgreement", showAgreementWithdrawal));
  pages.post(`${agreement}/withdrawal`, withdrawAgreement, onlyIf("withdrawAgreement", showAgreementWithdrawal));
  pages.get(app, showApp);
  pages.get(`${app}/view`, showView);
  pages.get(`${app}/view/file`, handView);
  pages.form(`${app}/change`, changeGrant, onlyIf("putGrant", showForm));
  pages.form(`${app}/withdrawal`, withdraw, onlyIf("deleteGrant", showWithdrawal));
});
