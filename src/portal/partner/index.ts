import { signOnAdviceTexts } from "../../platform/advice/sign-on/index.ts";
import { signatureFaultTexts } from "../../../clients/tools/src/signature/index.ts";
import { actOn, makeArea, onlyIf, readImageUpload, type Pages } from "../frame/index.ts";
import { loadPdf, showAgreement, uploadPdf, writeDraft } from "./agreement.ts";
import { app, checkConfirmed, checkReader, currentPage, listErasures, listSchools } from "./app-page.ts";
import { makeGuidePages, type AppGuides } from "./guides.ts";
import * as ids from "./overview.ts";
import { createApp, listOwn, showNew } from "./list.ts";
import { createSandbox, showOverview, showSandboxes } from "./overview.ts";
import { readRegistration, showRegistration } from "./list.ts";
import { rotateSecret, showScopes, showSecret } from "./scopes.ts";
import { debugSignature, showSignature } from "./webhooks.ts";
import { listLog, listRequests, listSignOns } from "./traffic.ts";
import { handUsage, showUsage } from "./usage.ts";
import * as webhooks from "./webhooks.ts";

const { endpoint } = webhooks;

export type { AppGuides };

const texts = {
  de: { signatureFault: signatureFaultTexts.de, signOnAdvice: signOnAdviceTexts.de },
  en: { signatureFault: signatureFaultTexts.en, signOnAdvice: signOnAdviceTexts.en },
};

/** `/partner`: partners manage their apps, operators all apps. */
export const makePartnerPages = (guides: AppGuides) =>
  makeArea({ folder: import.meta.dirname, texts, page: currentPage, check: checkReader }, (pages) =>
    addPages(pages, guides),
  );

/** `/admin/schools/:schoolId/usage`: who used which app at a school, in numbers. */
export const schoolUsagePages = makeArea({ folder: import.meta.dirname, texts, page: "apps" }, (pages) => {
  pages
    .at("/admin/schools/:schoolId/usage", onlyIf("listSeats", showUsage))
    .get("file", onlyIf("listSeats", handUsage));
});

function addPages(pages: Pages, guides: AppGuides): void {
  pages.at("/partner", listOwn).form("new", createApp, showNew);
  const onApp = pages.at(app, showOverview);
  onApp.act("deletion", "deleteApp", "appDeleted", { check: checkConfirmed, to: "/admin/apps" });
  onApp.act("suspension", "suspendApp", "appSuspended", { fields: ["reason"] });
  onApp.act("suspension/end", "resumeApp", "appResumed");
  const onRegistration = pages.at(`${app}/registration`, showRegistration);
  onRegistration.act("", "updateApp", "registrationChanged", { fields: readRegistration });
  onRegistration.upload(`${app}/logo`, actOn("putAppLogo", "logoKept", { fields: readImageUpload }));
  onRegistration.act(`${app}/logo/deletion`, "deleteAppLogo", "logoRemoved");
  const onSecret = pages.at(`${app}/secret`, showSecret);
  onSecret.post("", rotateSecret);
  // Shown also after the old secret has expired.
  onSecret.act("end", "endOldSecret", "oldSecretEnded", { repeated: "old_secret_not_found" });
  pages.at(`${app}/schools`, listSchools);
  pages.at(`${app}/erasures`, listErasures);
  for (const usage of [`${app}/usage`, "/admin/apps/usage"]) pages.at(usage, showUsage).get("file", handUsage);
  const onScopes = pages.at(`${app}/scopes`, showScopes);
  const scopeField = [["scope", "scopes"]] as const;
  onScopes.act("", "requestScopes", "scopesRequested", { fields: [...scopeField, "reason"] });
  onScopes.act("set", "updateApp", "scopesSet", { fields: scopeField });
  onScopes.act(`${app}/attributes`, "updateApp", "attributesSet", { fields: [["attribute", "attributes"]] });
  const onAgreement = pages.at(`${app}/agreement`, showAgreement);
  onAgreement.post("", writeDraft);
  onAgreement.upload("pdf", uploadPdf);
  onAgreement.act("publication", "publishAgreement", "agreementPublished");
  onAgreement.act("deletion", "deleteAgreementDraft", "draftDeleted");
  onAgreement.get(":agreementId/pdf", loadPdf);
  const onWebhooks = pages.at(webhooks.list, webhooks.listEndpoints);
  onWebhooks.form("new", webhooks.createEndpoint, webhooks.showNewEndpoint);
  onWebhooks.form("signature", debugSignature, showSignature);
  const onEndpoint = pages.at(endpoint, webhooks.showEndpoint, { check: webhooks.readEndpoint });
  onEndpoint.act("change", "updateEndpoint", "endpointChanged", { fields: webhooks.fields });
  onEndpoint.post("state", webhooks.setState);
  onEndpoint.post("secret", webhooks.rotateEndpointSecret);
  onEndpoint.post("test", webhooks.testEndpoint);
  onEndpoint.post("redelivery", webhooks.redeliverFailed);
  const repeated = "webhook_endpoint_not_found";
  onEndpoint.act("deletion", "deleteEndpoint", "endpointDeleted", { to: webhooks.list, repeated });
  const { showDelivery, readDelivery: check } = webhooks;
  onEndpoint.get("deliveries/:deliveryId", showDelivery);
  const again = { check, to: `${endpoint}/deliveries/:deliveryId`, repeated: "webhook_delivery_pending" };
  onEndpoint.post("deliveries/:deliveryId/redelivery", actOn("redeliver", "redelivered", again), showDelivery);
  const onMove = pages.at(`${app}/ids`, ids.showIds);
  onMove.act("", "createIdMove", "idMoveStarted", { fields: ids.readMove });
  onMove.post("preview", ids.previewMove);
  onMove.act("date", "updateIdMove", "cutOverSet", { fields: ids.readCutOver });
  onMove.act("cut-over", "applyIdMove", "idsCutOver", { check: checkConfirmed });
  onMove.act("calling-off", "deleteIdMove", "idMoveCalledOff");
  const onSandbox = pages.at(`${app}/sandbox`, showSandboxes);
  onSandbox.post("", createSandbox);
  onSandbox.act(":sandboxId/steps", "applySandboxSteps", "sandboxPlayed", { fields: [["step", "upTo"]] });
  onSandbox.act(":sandboxId/deletion", "deleteSandbox", "sandboxDeleted");
  pages.at(`${app}/sign-ons`, listSignOns);
  pages.at(`${app}/requests`, listRequests);
  pages.at(`${app}/log`, listLog);
  const { listGuides, showGuide, runCall } = makeGuidePages(guides);
  pages.at(`${app}/docs`, listGuides);
  pages.at(`${app}/docs/:guide`, showGuide).form("calls/:number", runCall, showGuide);
}
