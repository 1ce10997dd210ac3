import { join } from "node:path";
import type { Request, Response } from "express";
import {
  makeTemplates,
  makeTranslator,
  readLocale,
  renderPage,
  type Locale,
  type Translate,
} from "../../platform/pages/index.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };

const translator = makeTranslator({ de: german, en: english });
const render = makeTemplates(join(import.meta.dirname, "templates"));

type PageContent = { title(t: Translate): string; model: object };

export function showPage(req: Request, res: Response, name: "tiles" | "welcome", { title, model }: PageContent): void {
  const locale = readLocale(req);
  const t = translator(locale);
  const page = renderPage(
    {
      title: title(t),
      body: render(name, { ...model, t, locale }),
      width: name === "tiles" ? "wide" : "narrow",
    },
    { locale, languageUrl: (other: Locale) => `/?lang=${other}` },
  );
  res.status(page.status).set(page.headers).send(page.html);
}
