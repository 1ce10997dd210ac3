import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import express, { Router } from "express";
import { contents } from "./contents.ts";
import type { Addresses } from "./documents.ts";
import { fillAddresses, fillDates, fillPlatform, type EndOfFlow } from "./fill.ts";
import { renderMarkdown, renderOnPage, titleOf } from "./markdown.ts";
import { readRuleSets, renderRuleList } from "./rules.ts";
import { answerPage, onFirstRequest } from "./static-answer.ts";
import type { Page } from "../platform/pages/index.ts";

const folder = join(import.meta.dirname, "../../docs");

export type Guide = { name: string; title: string; text: string };

const guides: Guide[] = contents
  .flatMap(({ entries }) => entries.filter((entry) => typeof entry === "string"))
  .sort()
  .map((name) => {
    const text = readFileSync(join(folder, `${name}.md`), "utf8");
    return { name, title: titleOf(text), text };
  });

const errorsName = "errors";

export function listErrors(): { code: string; text: string }[] {
  const { text } = guides.find(({ name }) => name === errorsName)!;
  return [...text.matchAll(/^### `(\w+)`\n([^]*?)(?=^##|$(?![^]))/gm)].map(([, code, explained]) => ({
    code: code!,
    text: `# \`${code!}\`\n${explained!}\n[All errors](${errorsName}.md)\n`,
  }));
}

export type GuideSettings = Addresses & { withoutPkce: EndOfFlow };

export function listGuides({ platform, baseUrl, issuerUrl, withoutPkce }: GuideSettings): Guide[] {
  return guides.map(({ text, ...guide }) => {
    const named = fillPlatform(text.replaceAll("urn:schultor:", "urn:<platform>:"), platform);
    return { ...guide, text: fillDates(fillAddresses(named, { serverUrl: baseUrl, issuerUrl }), withoutPkce) };
  });
}

export type RenderArticle = (article: { path: string; title: string; html: string }) => Page;

/** Serves `/docs/<guide>`, its pictures, `/docs/errors/<code>` and `/docs/rules/<rule>`. */
export async function makeGuidesRouter(settings: GuideSettings, renderArticle: RenderArticle): Promise<Router> {
  const router = Router();
  const serve = (path: string, title: string, text: string) => {
    const answer = () => answerPage(renderArticle({ path, title, html: renderMarkdown(text, renderOnPage(text)) }));
    router.get(path, onFirstRequest(answer));
  };
  for (const { name, title, text } of listGuides(settings)) serve(`/docs/${name}`, title, text);
  for (const { code, text } of listErrors()) serve(`/docs/errors/${code}`, code, text);
  const sets = await readRuleSets();
  serve("/docs/rules", "Rules of the contract", renderRuleList(sets));
  for (const { name, text } of sets.flatMap(({ rules }) => rules)) serve(`/docs/rules/${name}`, name, text);
  const setHeaders = (res: ServerResponse) => void res.setHeader("X-Content-Type-Options", "nosniff");
  return router.use("/docs/pictures", express.static(join(folder, "pictures"), { maxAge: 300_000, setHeaders }));
}
