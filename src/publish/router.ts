import { setImmediate } from "node:timers/promises";
import { type RequestHandler, Router } from "express";
import { makeBilingualRouter } from "./bilingual.ts";
import { makeChangelogRouter } from "./changelog-page.ts";
import { loadPublishedDocuments, loadPublishedReleases, type Addresses } from "./documents.ts";
import { type GuideSettings, listGuides, makeGuidesRouter } from "./guides.ts";
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
import { answerPage, answerStatic, onFirstRequest, refuseOtherMethods, runAside } from "./static-answer.ts";
import { makeVersionsRouter } from "./versions.ts";
import type { Origin } from "../../clients/pack/index.ts";
import { packageNames } from "../../clients/pack/names.ts";
import { addDays, type Clock } from "../platform/clock.ts";

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

/** Where the sources of the packages are and under which licence, as the operator names them. */
export type Packages = Pick<Origin, "repository" | "licence">;

const module = new URL("./make-package.ts", import.meta.url);
const typeOf = (name: string): string => (name.endsWith(".js") ? "text/javascript; charset=utf-8" : "application/gzip");

/** Serves the packages for partners, each made at its first request. */
function makeDownloadsRouter(place: Addresses & { packages: Packages }): Router {
  const { platform, baseUrl, issuerUrl, packages } = place;
  const origin: Addresses & Origin = { platform, baseUrl, issuerUrl, ...packages };
  const router = Router();
  for (const name of packageNames) {
    const makeAnswer = async () => {
      const bytes = (await runAside({ module, seconds: 60 }, { name, origin })) as Uint8Array;
      return answerStatic(Buffer.from(bytes), { contentType: typeOf(name) });
    };
    router.get(`/${name}`, onFirstRequest(makeAnswer));
  }
  return router;
}

const securityPath = "/.well-known/security.txt";
/** Counted from the reading: the contact comes from the configuration of now. */
const validDays = 180;

type WellKnown = { issuerUrl: string; securityContact: string | null; clock: Clock; passwordPage: string };

/**
 * Says whom to tell of a weakness, and leads password managers to the page where a password is changed.
 *
 * Source: RFC 9116; W3C, A Well-Known URL for Changing Passwords.
 */
export function makeWellKnown({ issuerUrl, securityContact, clock, passwordPage }: WellKnown): Router {
  const router = Router();
  router.get("/.well-known/change-password", (_request, response) => response.redirect(302, passwordPage));
  router.get(securityPath, (_request, response, next) => {
    if (securityContact === null) return next();
    const lines = [
      `Contact: ${securityContact}`,
      `Expires: ${addDays(clock(), validDays).toISOString()}`,
      `Canonical: ${new URL(securityPath, issuerUrl).href}`,
      "Preferred-Languages: de, en",
    ];
    response.type("text/plain").send(`${lines.join("\n")}\n`);
  });
  return router;
}
