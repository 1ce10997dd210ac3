import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Router } from "express";
import { contents } from "./contents.ts";
import type { Place } from "./documents.ts";
import { fillAddresses, fillDates, fillPlatform, type EndOfFlow } from "./fill.ts";
import { renderMarkdown, renderOnPage } from "./markdown.ts";
import { listRules, renderRuleList } from "./rules.ts";
import { answerStatic, onFirstRequest } from "./static-answer.ts";
import type { Page } from "../platform/pages/index.ts";

const folder = join(import.meta.dirname, "../../docs");

/** A file of `docs/`; `title` is its first line. */
export type Guide = { name: string; title: string; text: string };

const guides: Guide[] = contents
  .flatMap(({ entries }) => entries.filter((entry) => typeof entry === "string"))
  .sort()
  .map((name) => {
    const text = readFileSync(join(folder, `${name}.md`), "utf8");
    return { name, title: /^# (.+)$/m.exec(text)?.[1] ?? name, text };
  });

const errorsName = "errors";

type ExplainedError = { code: string; text: string };

/** Each heading of the third level in docs/errors.md is a code. */
export function listErrors(): ExplainedError[] {
  const { text } = guides.find(({ name }) => name === errorsName)!;
  return [...text.matchAll(/^### `(\w+)`\n([^]*?)(?=^##|$(?![^]))/gm)].map(([, code, explained]) => ({
    code: code!,
    text: `# \`${code!}\`\n${explained!}\n[All errors](${errorsName}.md)\n`,
  }));
}

export type GuideSettings = Place & { withoutPkce: EndOfFlow };

export function listGuides({ platform, baseUrl, issuerUrl, withoutPkce }: GuideSettings): Guide[] {
  return guides.map(({ text, ...guide }) => {
    const named = fillPlatform(text.replaceAll("urn:schultor:", "urn:<platform>:"), platform);
    const placed = fillAddresses(named, { serverUrl: baseUrl, issuerUrl });
    return { ...guide, text: fillDates(placed, withoutPkce) };
  });
}

export type RenderArticle = (article: { path: string; title: string; html: string }) => Page;

/** Serves `/docs/<guide>`, its pictures, `/docs/errors/<code>` and `/docs/rules/<rule>`. */
export function makeGuidesRouter(settings: GuideSettings, renderArticle: RenderArticle): Router {
  const router = Router();
  const serve = (path: string, title: string, text: string) => {
    const answerPage = () => {
      const html = renderMarkdown(text, renderOnPage(text));
      const page = renderArticle({ path, title, html });
      return answerStatic(page.html, { contentType: "text/html; charset=utf-8", headers: page.headers });
    };
    router.get(path, onFirstRequest(answerPage));
  };
  for (const { name, title, text } of listGuides(settings)) serve(`/docs/${name}`, title, text);
  for (const { code, text } of listErrors()) serve(`/docs/errors/${code}`, code, text);
  serve("/docs/rules", "Rules of the contract", renderRuleList());
  for (const { name, text } of listRules()) serve(`/docs/rules/${name}`, name, text);
  const pictures = new Map(
    readdirSync(join(folder, "pictures")).map((file) => [file, readFileSync(join(folder, "pictures", file))]),
  );
  router.get("/docs/pictures/:file", (req, res, next) => {
    const picture = pictures.get(req.params.file);
    if (picture === undefined) return next();
    const etag = `"${createHash("sha256").update(picture).digest("base64url").slice(0, 22)}"`;
    res.set({ "Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff", ETag: etag });
    if (req.headers["if-none-match"] === etag) res.status(304).end();
    else res.type("image/png").send(picture);
  });
  return router;
}
