import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Router } from "express";
import { addressInLanguage, readLocale, renderPage, type Locale } from "../platform/pages/index.ts";
import { renderMarkdown, titleOf } from "./markdown.ts";
import { guideAssets, render, sendPage } from "./pages.ts";

/** Serves `/guide`, the guide for the staff of schools, in the reader's language. */
export function makeSchoolGuideRouter(): Router {
  const guides = { de: readGuide("de"), en: readGuide("en") };
  return Router().get("/guide", (req, res) => {
    const [locale, languageUrl] = [readLocale(req), addressInLanguage(req.originalUrl)];
    sendPage(res, renderPage({ ...guides[locale], width: "wide", ...guideAssets }, { locale, languageUrl }));
  });
}

function readGuide(locale: Locale): { title: string; body: string } {
  const text = readFileSync(join(import.meta.dirname, `../../docs/school-guide.${locale}.md`), "utf8");
  return { title: titleOf(text), body: render("school-guide", { html: renderMarkdown(text) }) };
}
