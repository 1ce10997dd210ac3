import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Router } from "express";
import { addressInLanguage, readLocale, renderPage, type Locale, type Page } from "../platform/pages/index.ts";
import { renderMarkdown, titleOf } from "./markdown.ts";
import { guideAssets, render, sendPage } from "./pages.ts";

/** Serves `/guide`, the guide for the staff of schools, in the reader's language. */
export function makeSchoolGuideRouter(): Router {
  return Router().get("/guide", (req, res) => {
    const page = renderGuide(readLocale(req), addressInLanguage(req.originalUrl));
    sendPage(res, page);
  });
}

function renderGuide(locale: Locale, languageUrl: (locale: Locale) => string): Page {
  const text = readFileSync(join(import.meta.dirname, `../../docs/school-guide.${locale}.md`), "utf8");
  const body = render("school-guide", { html: renderMarkdown(text) });
  return renderPage({ title: titleOf(text), body, width: "wide", ...guideAssets }, { locale, languageUrl });
}
