import { signOnAdviceTexts } from "../../platform/advice/sign-on/index.ts";
import { signatureFaultTexts } from "../../../clients/tools/src/signature/index.ts";
import { actOn, makeArea, onlyIf, readImageUpload, type Pages } from "../frame/index.ts";
import { agreement, loadPdf, showAgreement, uploadPdf, writeDraft } from "./agreement.ts";
import { app, checkConfirmed, checkReader, listErasures, listSchools } from "./app-page.ts";
import { makeGuidePages, type AppGuides } from "./guides.ts";
import * as ids from "./overview.ts";
import { createApp, listOwn, showNew } from "./list.ts";
import { createSandbox, showOverview, showSandboxes } from "./overview.ts";
import { readRegistration, registration, showRegistration } from "./list.ts";
import { rotateSecret, scopes, secret, showScopes, showSecret } from "./scopes.ts";
import { debugSignature, showSignature } from "./webhooks.ts";
import { listLog, listRequests, listSignOns } from "./traffic.ts";
import { handUsage, ofSchool, showUsage } from "./usage.ts";
import * as webhooks from "./webhooks.ts";

const { delivery, endpoint } = webhooks;
const guide = `${app}/docs/:guide`;
const sandbox = `${app}/sandbox`;

export type { AppGuides };

const texts = {
  de: { signatureFault: signatureFaultTexts.de, signOnAdvice: signOnAdviceTexts.de },
  en: { signatureFault: signatureFaultTexts.en, signOnAdvice: signOnAdviceTexts.en },
};

/** `/partner`: partners manage their apps, operators all apps. */
export const makePartnerPages = (guides: AppGuides) =>
  makeArea({ folder: import.meta.dirname, texts, page: "partner", check: checkReader }, (pages) =>
    addPages(pages, guides),
  );

/** `/admin/schools/:schoolId/usage`: who used which app at a school, in numbers. */
export const schoolUsagePages = makeArea({ folder: import.meta.dirname, texts, page: "apps" }, (pages) => {
  pages.get(ofSchool, onlyIf("listSeats", showUsage));
  pages.get(`${ofSchool}/file`, onlyIf("listSeats", handUsage));
});

function addPages(pages: Pages, guides: AppGuides): void {
  pages.get("/partner", listOwn);
  pages.form("/partner/new", createApp, showNew);
  const onApp = { to: app, again: showOverview };
  pages.get(app, showOverview);
  pages.act(`${app}/deletion`, "deleteApp", { ...onApp, check: checkConfirmed, to: "/admin/apps", done: "appDeleted" });
  pages.act(`${app}/suspension`, "suspendApp", { ...onApp, fields: ["reason"], done: "appSuspended" });
  pages.act(`${app}/suspension/end`, "resumeApp", { ...onApp, done: "appResumed" });
  const onRegistration = { to: registration, again: showRegistration };
  pages.get(registration, showRegistration);
  pages.act(registration, "updateApp", { ...onRegistration, fields: readRegistration, done: "registrationChanged" });
  const putLogo = actOn("putAppLogo", { fields: readImageUpload, to: registration, done: "logoKept" });
  pages.upload(`${app}/logo`, putLogo, showRegistration);
  pages.act(`${app}/logo/deletion`, "deleteAppLogo", { ...onRegistration, done: "logoRemoved" });
  pages.form(secret, rotateSecret, showSecret);
  pages.act(`${secret}/end`, "endOldSecret", {
    to: secret,
    done: "oldSecretEnded",
    // Also if the old secret has expired.
    repeated: "old_secret_not_found",
    again: showSecret,
  });
  pages.get(`${app}/schools`, listSchools);
  pages.get(`${app}/erasures`, listErasures);
  for (const address of [`${app}/usage`, "/admin/apps/usage"]) {
    pages.get(address, showUsage);
    pages.get(`${address}/file`, handUsage);
  }
  const onScopes = { to: scopes, again: showScopes };
  const scopeField = [["scope", "scopes"]] as const;
  pages.get(scopes, showScopes);
  pages.act(scopes, "requestScopes", { ...onScopes, fields: [...scopeField, "reason"], done: "scopesRequested" });
  pages.act(`${scopes}/set`, "updateApp", { ...onScopes, fields: scopeField, done: "scopesSet" });
  const attributeField = [["attribute", "attributes"]] as const;
  pages.act(`${app}/attributes`, "updateApp", { ...onScopes, fields: attributeField, done: "attributesSet" });
  const onAgreement = { to: agreement, again: showAgreement };
  pages.form(agreement, writeDraft, showAgreement);
  pages.upload(`${agreement}/pdf`, uploadPdf, showAgreement);
  pages.act(`${agreement}/publication`, "publishAgreement", { ...onAgreement, done: "agreementPublished" });
  pages.act(`${agreement}/deletion`, "deleteAgreementDraft", { ...onAgreement, done: "draftDeleted" });
  pages.get(`${agreement}/:agreementId/pdf`, loadPdf);
  pages.get(webhooks.list, webhooks.listEndpoints);
  pages.form(`${webhooks.list}/new`, webhooks.createEndpoint, webhooks.showNewEndpoint);
  pages.form(`${webhooks.list}/signature`, debugSignature, showSignature);
  pages.get(endpoint, webhooks.showEndpoint);
  const onEndpoint = { check: webhooks.readEndpoint, to: endpoint, again: webhooks.showEndpoint };
  pages.act(`${endpoint}/change`, "updateEndpoint", {
    ...onEndpoint,
    fields: webhooks.fields,
    done: "endpointChanged",
  });
  pages.post(`${endpoint}/state`, webhooks.setState, webhooks.showEndpoint);
  pages.post(`${endpoint}/secret`, webhooks.rotateEndpointSecret, webhooks.showEndpoint);
  pages.post(`${endpoint}/test`, webhooks.testEndpoint, webhooks.showEndpoint);
  pages.post(`${endpoint}/redelivery`, webhooks.redeliverFailed, webhooks.showEndpoint);
  pages.act(`${endpoint}/deletion`, "deleteEndpoint", {
    ...onEndpoint,
    to: webhooks.list,
    done: "endpointDeleted",
    repeated: "webhook_endpoint_not_found",
  });
  pages.get(delivery, webhooks.showDelivery);
  pages.act(`${delivery}/redelivery`, "redeliver", {
    check: webhooks.readDelivery,
    to: delivery,
    done: "redelivered",
    repeated: "webhook_delivery_pending",
    again: webhooks.showDelivery,
  });
  const onMove = { to: ids.page, again: ids.showIds };
  pages.get(ids.page, ids.showIds);
  pages.act(ids.page, "createIdMove", { ...onMove, fields: ids.readMove, done: "idMoveStarted" });
  pages.post(`${ids.page}/preview`, ids.previewMove, ids.showIds);
  pages.act(`${ids.page}/date`, "updateIdMove", { ...onMove, fields: ids.readCutOver, done: "cutOverSet" });
  pages.act(`${ids.page}/cut-over`, "applyIdMove", { ...onMove, check: checkConfirmed, done: "idsCutOver" });
  pages.act(`${ids.page}/calling-off`, "deleteIdMove", { ...onMove, done: "idMoveCalledOff" });
  const onSandbox = { to: sandbox, again: showSandboxes };
  pages.form(sandbox, createSandbox, showSandboxes);
  pages.act(`${sandbox}/:sandboxId/steps`, "applySandboxSteps", {
    ...onSandbox,
    fields: [["step", "upTo"]],
    done: "sandboxPlayed",
  });
  pages.act(`${sandbox}/:sandboxId/deletion`, "deleteSandbox", { ...onSandbox, done: "sandboxDeleted" });
  pages.get(`${app}/sign-ons`, listSignOns);
  pages.get(`${app}/requests`, listRequests);
  pages.get(`${app}/log`, listLog);
  const { listGuides, showGuide, runCall } = makeGuidePages(guides);
  pages.get(`${app}/docs`, listGuides);
  pages.get(guide, showGuide);
  pages.form(`${guide}/calls/:number`, runCall, showGuide);
}
