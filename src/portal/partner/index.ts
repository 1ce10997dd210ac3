import { signOnAdviceTexts } from "../../platform/advice/sign-on/index.ts";
import { signatureFaultTexts } from "../../../clients/tools/src/signature/index.ts";
import { makeArea, type PageHandler, type Pages } from "../frame/index.ts";
import { deleteDraft, loadPdf, publishDraft, showAgreement, uploadPdf, writeDraft } from "./agreement.ts";
import { refuseOtherApp } from "./app-page.ts";
import { redeliver, showDelivery } from "./deliveries.ts";
import * as endpoints from "./endpoint-actions.ts";
import { listErasures } from "./erasures.ts";
import * as ids from "./ids.ts";
import { createApp, listOwn, showNew } from "./list.ts";
import { makeGuidePages, type AppGuides } from "./guides.ts";
import { listLog } from "./log.ts";
import { deleteApp, resumeApp, showOverview, suspendApp } from "./overview.ts";
import { changeRegistration, putLogo, removeLogo, showRegistration } from "./registration.ts";
import { listRequests } from "./requests.ts";
import { listSchools } from "./schools.ts";
import { createSandbox, deleteSandbox, playSandbox, showSandboxes } from "./sandbox.ts";
import { requestScopes, setAttributes, setScopes, showScopes } from "./scopes.ts";
import { endOldSecret, rotateSecret, showSecret } from "./secret.ts";
import { debugSignature, showSignature } from "./signature.ts";
import { listSignOns } from "./sign-ons.ts";
import { createEndpoint, listEndpoints, showEndpoint, showNewEndpoint } from "./webhooks.ts";

const app = "/partner/apps/:clientId";
const endpoint = `${app}/webhooks/:endpointId`;
const delivery = `${endpoint}/deliveries/:deliveryId`;

const guide = `${app}/docs/:guide`;

export type { AppGuides };

const texts = {
  de: { signatureFault: signatureFaultTexts.de, signOnAdvice: signOnAdviceTexts.de },
  en: { signatureFault: signatureFaultTexts.en, signOnAdvice: signOnAdviceTexts.en },
};

/** `/partner`: partners manage their apps, operators all apps. */
export const makePartnerPages = (guides: AppGuides) =>
  makeArea({ folder: import.meta.dirname, texts, page: "partner" }, (pages) => addPages(pages, guides));

/** Pages of an app, which only those see who manage it. */
function forOwnApps(pages: Pages): Pages {
  const own =
    (handle: PageHandler): PageHandler =>
    async (request) => {
      refuseOtherApp(request);
      return handle(request);
    };
  return {
    get: (path, show) => pages.get(path, own(show)),
    post: (path, act, again) => pages.post(path, own(act), again && own(again)),
    form: (path, act, show) => pages.form(path, own(act), own(show)),
    upload: (path, act, again) => pages.upload(path, own(act), again && own(again)),
  };
}

function addPages(all: Pages, guides: AppGuides): void {
  all.get("/partner", listOwn);
  all.get("/partner/new", showNew);
  all.post("/partner/new", createApp, showNew);
  const pages = forOwnApps(all);
  pages.get(app, showOverview);
  pages.post(`${app}/deletion`, deleteApp, showOverview);
  pages.post(`${app}/suspension`, suspendApp, showOverview);
  pages.post(`${app}/suspension/end`, resumeApp, showOverview);
  pages.form(`${app}/registration`, changeRegistration, showRegistration);
  pages.upload(`${app}/logo`, putLogo, showRegistration);
  pages.post(`${app}/logo/deletion`, removeLogo, showRegistration);
  pages.form(`${app}/secret`, rotateSecret, showSecret);
  pages.post(`${app}/secret/end`, endOldSecret, showSecret);
  pages.get(`${app}/schools`, listSchools);
  pages.get(`${app}/erasures`, listErasures);
  pages.form(`${app}/scopes`, requestScopes, showScopes);
  pages.post(`${app}/scopes/set`, setScopes, showScopes);
  pages.post(`${app}/attributes`, setAttributes, showScopes);
  pages.get(`${app}/agreement`, showAgreement);
  pages.post(`${app}/agreement`, writeDraft, showAgreement);
  pages.upload(`${app}/agreement/pdf`, uploadPdf, showAgreement);
  pages.post(`${app}/agreement/publication`, publishDraft, showAgreement);
  pages.post(`${app}/agreement/deletion`, deleteDraft, showAgreement);
  pages.get(`${app}/agreement/:agreementId/pdf`, loadPdf);
  pages.get(`${app}/webhooks`, listEndpoints);
  pages.form(`${app}/webhooks/new`, createEndpoint, showNewEndpoint);
  pages.form(`${app}/webhooks/signature`, debugSignature, showSignature);
  pages.get(endpoint, showEndpoint);
  pages.post(`${endpoint}/change`, endpoints.changeEndpoint, showEndpoint);
  pages.post(`${endpoint}/state`, endpoints.setState, showEndpoint);
  pages.post(`${endpoint}/secret`, endpoints.rotateEndpointSecret, showEndpoint);
  pages.post(`${endpoint}/test`, endpoints.testEndpoint, showEndpoint);
  pages.post(`${endpoint}/redelivery`, endpoints.redeliverFailed, showEndpoint);
  pages.post(`${endpoint}/deletion`, endpoints.deleteEndpoint, showEndpoint);
  pages.get(delivery, showDelivery);
  pages.post(`${delivery}/redelivery`, redeliver, showDelivery);
  pages.get(`${app}/ids`, ids.showIds);
  pages.post(`${app}/ids`, ids.startMove, ids.showIds);
  pages.post(`${app}/ids/preview`, ids.previewMove, ids.showIds);
  pages.post(`${app}/ids/date`, ids.setCutOver, ids.showIds);
  pages.post(`${app}/ids/cut-over`, ids.cutOver, ids.showIds);
  pages.post(`${app}/ids/calling-off`, ids.callOffMove, ids.showIds);
  pages.form(`${app}/sandbox`, createSandbox, showSandboxes);
  pages.post(`${app}/sandbox/:sandboxId/steps`, playSandbox, showSandboxes);
  pages.post(`${app}/sandbox/:sandboxId/deletion`, deleteSandbox, showSandboxes);
  pages.get(`${app}/sign-ons`, listSignOns);
  pages.get(`${app}/requests`, listRequests);
  pages.get(`${app}/log`, listLog);
  const { listGuides, showGuide, runCall } = makeGuidePages(guides);
  pages.get(`${app}/docs`, listGuides);
  pages.get(guide, showGuide);
  pages.form(`${guide}/calls/:number`, runCall, showGuide);
}
