import { Router } from "express";
import type { PublishedDocument, PublishedRelease } from "./documents.ts";
import type { RenderArticle } from "./guides.ts";
import { render } from "./pages.ts";
import { answerPage, answerStatic, onFirstRequest, runAside } from "./static-answer.ts";

type Versions = {
  documents: PublishedDocument[];
  releases: PublishedRelease[];
  issuerUrl: string;
  renderArticle: RenderArticle;
};

const jsonOfYaml = new URL("./json-of-yaml.ts", import.meta.url);

/** Serves `/openapi` and `/openapi/<version>/<name>.yaml` and `.json`. */
export function makeVersionsRouter({ documents, releases, issuerUrl, renderArticle }: Versions): Router {
  const router = Router();
  const at = (path: string) => `${issuerUrl}/openapi/${path}`;
  const list = {
    documents: documents.map(({ name, title, version }) => ({
      name,
      title,
      version,
      yaml: at(`${name}.yaml`),
      json: at(`${name}.json`),
      reference: `${issuerUrl}/docs/${name}`,
    })),
    versions: releases.map((release) => ({
      version: release.version,
      date: release.date,
      documents: release.documents.map(({ name, sha256 }) => {
        const path = `${release.version}/${name}`;
        return { name, yaml: at(`${path}.yaml`), json: at(`${path}.json`), sha256 };
      }),
    })),
    changelog: `${issuerUrl}/docs/changelog`,
  };
  const html = render("versions", { documents, releases });
  const page = renderArticle({ path: "/openapi", title: "Versions of the contract", html });
  const vary = { Vary: "Accept" };
  const asJson = answerStatic(JSON.stringify(list), { contentType: "application/json", headers: vary });
  const asPage = answerPage({ ...page, headers: { ...page.headers, ...vary } });
  router.get("/openapi", (req, res, next) =>
    (req.accepts(["application/json", "text/html"]) === "text/html" ? asPage : asJson)(req, res, next),
  );
  for (const { version, documents } of releases) {
    for (const { name, yaml } of documents) {
      router.get(`/openapi/${version}/${name}.yaml`, answerStatic(yaml, { contentType: "application/yaml" }));
      const answerJson = async () => {
        const json = (await runAside({ module: jsonOfYaml, seconds: 60 }, yaml)) as string;
        return answerStatic(json, { contentType: "application/json" });
      };
      router.get(`/openapi/${version}/${name}.json`, onFirstRequest(answerJson));
    }
  }
  return router;
}
