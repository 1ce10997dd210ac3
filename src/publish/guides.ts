import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Router } from "express";
import { marked } from "marked";
import { pageHeaders, renderPage } from "../platform/pages/index.ts";
import { answerStatic } from "./static-answer.ts";

const folder = join(import.meta.dirname, "../../docs");

export type Guide = { name: string; title: string };

/** The guides of `docs/`, each a Markdown file whose first line is its title. */
const guides = readdirSync(folder)
  .filter((file) => file.endsWith(".md"))
  .sort()
  .map((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    return { name: file.slice(0, -3), title: /^# (.+)$/m.exec(text)?.[1] ?? file, text };
  });

const errorsName = "errors";

/** An error as `docs/errors.md` explains it. Shape: `text` is Markdown, a page of its own. */
export type ExplainedError = { code: string; text: string };

/** The errors that `docs/errors.md` explains, each a heading of the third level with its code. */
export function listErrors(): ExplainedError[] {
  const { text } = guides.find(({ name }) => name === errorsName)!;
  return [...text.matchAll(/^### `(\w+)`\n([^]*?)(?=^##|$(?![^]))/gm)].map(([, code, explained]) => ({
    code: code!,
    text: `# \`${code!}\`\n${explained!}\n[All errors](${errorsName}.md)\n`,
  }));
}

/** Without the errors, which are looked up and not read. */
export const listGuides = (): Guide[] =>
  guides.filter(({ name }) => name !== errorsName).map(({ name, title }) => ({ name, title }));

/**
 * Serves each guide at `/docs/<name>`, its pictures, and each error at `/docs/errors/<code>`.
 *
 * Shape: `style` is the address of the stylesheet.
 */
export function makeGuidesRouter(style: string): Router {
  const router = Router();
  const serve = (path: string, { title, text }: { title: string; text: string }) => {
    const html = marked
      .parse(text, { async: false })
      .replaceAll('src="pictures/', 'src="/docs/pictures/')
      .replaceAll(/href="([\w-]+)\.md"/g, 'href="/docs/$1"')
      .replaceAll("<pre>", '<pre tabindex="0">');
    const body = `<link rel="stylesheet" href="${style}"><div class="guide">${html}</div>`;
    const page = renderPage({ title, body, width: "wide" }, { locale: "en" });
    const { "Cache-Control": _, "Content-Type": __, ...headers } = { ...pageHeaders(), ...page.headers };
    router.get(path, answerStatic(page.html, { contentType: "text/html; charset=utf-8", headers }));
  };
  for (const guide of guides) serve(`/docs/${guide.name}`, guide);
  for (const { code, text } of listErrors()) serve(`/docs/errors/${code}`, { title: code, text });
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
