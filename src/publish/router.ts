import { setImmediate } from "node:timers/promises";
import { Router, type RequestHandler } from "express";
import { makeBilingualRouter } from "./bilingual.ts";
import { makeChangelogRouter } from "./changelog-page.ts";
import { makeDownloadsRouter, type Packages } from "./downloads.ts";
import { loadPublishedDocuments, loadPublishedReleases } from "./documents.ts";
import { listGuides, makeGuidesRouter, type GuideSettings } from "./guides.ts";
import {
  listContents,
  makeArticles,
  renderOverview,
  renderReference,
  renderSearch,
  renderStatus,
  sendPage,
} from "./pages.ts";
import { makeSearch, type Search } from "./search.ts";
import { answerPage, answerStatic, onFirstRequest, refuseOtherMethods } from "./static-answer.ts";
import { makeVersionsRouter } from "./versions.ts";

type PublishOptions = GuideSettings & { packages: Packages; isReady(): Promise<boolean> };

/** Serves the contract at `/openapi`, pages at `/docs` and `/guide` (for schools), and packages at `/downloads`. */
export function makePublishRouter(options: PublishOptions): RequestHandler {
  let router: Promise<Router> | undefined;
  return async (req, res, next) =>
    isPublished.test(req.url) ? (await (router ??= makeRouter(options)))(req, res, next) : next();
}

const isPublished = /^\/(docs|openapi|downloads|guide)(?![^/?])/i;

/** Made at the first request, so that the service starts without it, and in several turns of the event loop. */
async function makeRouter({ isReady, ...place }: PublishOptions): Promise<Router> {
  const documents = await loadPublishedDocuments(place);
  await setImmediate();
  const router = Router({ strict: false });
  router.use("/openapi", openToEveryOrigin, refuseOtherMethods);
  const guides = listGuides(place);
  await setImmediate();
  const pages = listContents(guides, documents);
  const shared = { issuerUrl: place.issuerUrl, renderArticle: makeArticles(pages) };
  await setImmediate();
  const releases = await loadPublishedReleases(place);
  await setImmediate();
  router.use(makeVersionsRouter({ ...shared, documents, releases }));
  await setImmediate();
  for (const document of documents) {
    await setImmediate();
    router.get(`/openapi/${document.name}.yaml`, answerStatic(document.yaml, { contentType: "application/yaml" }));
    router.get(`/openapi/${document.name}.json`, answerStatic(document.json, { contentType: "application/json" }));
  }

  router.use("/downloads", refuseOtherMethods, makeDownloadsRouter(place));
  router.use(["/docs", "/guide"], refuseOtherMethods);
  await setImmediate();
  router.use(makeBilingualRouter());
  let search: Promise<Search> | undefined;
  router.use(await makeGuidesRouter(place, shared.renderArticle));
  await setImmediate();
  router.use(makeChangelogRouter(shared));
  router.get("/docs", answerPage(renderOverview(pages, documents)));
  router.get("/docs/search", async (req, res) => {
    const query = typeof req.query["q"] === "string" ? req.query["q"].slice(0, longestQuery) : "";
    search ??= makeSearch(guides, documents);
    sendPage(res, renderSearch(pages, query, (await search)(query)));
  });
  router.get("/docs/status", async (_req, res) => sendPage(res, renderStatus(pages, await isReady())));
  for (const document of documents) {
    const answerReference = () => answerPage(renderReference(document, documents));
    router.get(`/docs/${document.name}`, onFirstRequest(answerReference));
  }
  return router;
}

const longestQuery = 200;

/** The contract is public, also for scripts of other origins. */
const openToEveryOrigin: RequestHandler = (_req, res, next) => {
  res.set({
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "If-None-Match",
    "Access-Control-Expose-Headers": "ETag",
    "Cross-Origin-Resource-Policy": "cross-origin",
  });
  next();
};
