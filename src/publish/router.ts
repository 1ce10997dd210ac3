import { Router, type RequestHandler } from "express";
import { loadPublishedDocuments, type Place, type PublishedDocument } from "./documents.ts";
import { makeGuidesRouter } from "./guides.ts";
import { guideStyle, makeReferenceAssets, renderGuide, renderReference } from "./pages.ts";
import { answerStatic, refuseOtherMethods } from "./static-answer.ts";

export type PublishOptions = Place;

/** Serves the contract under `/openapi` and the pages for partners under `/docs`. */
export function makePublishRouter(place: PublishOptions): Router {
  const documents = loadPublishedDocuments(place);
  const router = Router({ strict: false });
  router.use("/openapi", openToEveryOrigin, refuseOtherMethods);
  router.get("/openapi", answerStatic(listDocuments(documents, place.issuerUrl), { contentType: "application/json" }));
  for (const document of documents) {
    router.get(`/openapi/${document.name}.yaml`, answerStatic(document.yaml, { contentType: "application/yaml" }));
    router.get(`/openapi/${document.name}.json`, answerStatic(document.json, { contentType: "application/json" }));
  }

  router.use("/docs", refuseOtherMethods);
  router.use(makeReferenceAssets(), makeGuidesRouter(guideStyle));
  const guide = renderGuide(documents, place);
  router.get("/docs", answerStatic(guide.html, { contentType: "text/html; charset=utf-8", headers: guide.headers }));
  for (const document of documents) {
    const page = renderReference(document, documents);
    router.get(
      `/docs/${document.name}`,
      answerStatic(page.html, { contentType: "text/html; charset=utf-8", headers: page.headers }),
    );
  }
  return router;
}

/** The contract is public: tools in a browser may read it from anywhere. */
const openToEveryOrigin: RequestHandler = (_req, res, next) => {
  res.set({
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "If-None-Match",
    "Access-Control-Expose-Headers": "ETag",
    "Cross-Origin-Resource-Policy": "cross-origin",
  });
  next();
};

function listDocuments(documents: PublishedDocument[], issuerUrl: string): string {
  return JSON.stringify({
    documents: documents.map(({ name, title, version }) => ({
      name,
      title,
      version,
      yaml: `${issuerUrl}/openapi/${name}.yaml`,
      json: `${issuerUrl}/openapi/${name}.json`,
      reference: `${issuerUrl}/docs/${name}`,
    })),
  });
}
