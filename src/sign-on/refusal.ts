import type { NextFunction, Request, Response } from "express";
import { present } from "../platform/contract-types.ts";
import { addressInLanguage, readLocale } from "../platform/pages/index.ts";
import type { OAuthError } from "./contract.ts";
import { renderErrorPage } from "./pages/index.ts";

type Refusal = {
  status: number;
  /** What a person reads; null where only programs ask. */
  reason: "invalid_request" | "not_found" | null;
  description: string;
};

/** Refuses a request before the provider sees it: with a page for a person, else with OAuth's JSON. */
export function sendRefusal(req: Request, res: Response, { status, reason, description }: Refusal): void {
  res.status(status).set("Cache-Control", "no-store");
  if (reason === null || req.accepts(["json", "html"]) !== "html") {
    res.json(present<OAuthError>({ error: "invalid_request", error_description: description, scope: undefined }));
    return;
  }
  const requestId = (res.locals["requestId"] as string | undefined) ?? null;
  const languageUrl = req.method === "GET" ? addressInLanguage(req.originalUrl) : null;
  const { headers, html } = renderErrorPage({ status, reason, requestId }, { locale: readLocale(req), languageUrl });
  res.set(headers).send(html);
}

const unreadForm: Record<number, string> = {
  400: "the form is incomplete or its compression is broken",
  413: "the form is too large",
  415: "the form has a character set or a compression that is not read",
};

/** Refuses a form that express could not read; passes every other error on. */
export function refuseUnreadForm(error: unknown, req: Request, res: Response, next: NextFunction): void {
  const status = Number((error as { status?: unknown } | null)?.status);
  const description = unreadForm[status];
  if (description === undefined) return next(error);
  sendRefusal(req, res, { status, reason: "invalid_request", description });
}
