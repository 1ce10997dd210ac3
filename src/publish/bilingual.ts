import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Router } from "express";
import { addressInLanguage, readLocale, renderPage, type Locale } from "../platform/pages/index.ts";
import { renderMarkdown, titleOf } from "./markdown.ts";
import { guideAssets, render, sendPage } from "./pages.ts";

/** The pages that staff of schools read, by their address; the files of docs/ have the language in their names. */
const pages = {
  "/guide": "school-guide",
  "/guide/data-protection": "data-protection",
  "/guide/own-login": "own-login",
  // English is for partners too: without a language in its name, the file is one of their guides.
  "/docs/privacy": "privacy",
} as const;

/** Serves pages in the reader's language. */
export function makeBilingualRouter(): Router {
  const router = Router();
  for (const [path, name] of Object.entries(pages)) {
    const texts = new Map<Locale, ReturnType<typeof readPage>>();
    router.get(path, (req, res) => {
      const [locale, languageUrl] = [readLocale(req), addressInLanguage(req.originalUrl)];
      const text = texts.get(locale) ?? readPage(name, locale);
      texts.set(locale, text);
      sendPage(res, renderPage({ ...text, width: "wide", ...guideAssets }, { locale, languageUrl }));
    });
  }
  return router;
}

function readPage(name: string, locale: Locale): { title: string; body: string } {
  const named = [`${name}.${locale}.md`, `${name}.md`].map((file) => join(import.meta.dirname, "../../docs", file));
  const text = readFileSync(
    named.find((file) => existsSync(file))!,
    "utf8",
  );
  return { title: titleOf(text), body: render("plain-article", { html: renderMarkdown(text) }) };
}
