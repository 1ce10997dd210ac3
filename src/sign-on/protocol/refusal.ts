import type { NextFunction, Request, Response } from "express";
import { present } from "../../platform/contract-types.ts";
import type { ProblemType } from "../../platform/http/index.ts";
import { addressInLanguage, type Page, type PageContext, readLocale } from "../../platform/pages/index.ts";
import type { OAuthError } from "./contract.ts";

type Refusal = {
  status: number;
  /** What a person reads; null where only programs call. */
  reason: "invalid_request" | "not_found" | null;
  description: string;
};

export type RenderRefusal = (
  model: { status: number; reason: "invalid_request" | "not_found"; requestId: string | null },
  context: PageContext,
) => Page;

export type SendRefusal = (req: Request, res: Response, refusal: Refusal) => void;

export const makeSendRefusal =
  (render: RenderRefusal, typeOf: ProblemType): SendRefusal =>
  (req, res, { status, reason, description }) => {
    res.status(status).set("Cache-Control", "no-store");
    if (reason === null || req.accepts(["json", "html"]) !== "html") {
      const error = "invalid_request";
      res.json(
        present<OAuthError>({
          error,
          error_description: description,
          error_uri: typeOf(error),
          scope: undefined,
        }),
      );
      return;
    }
    const requestId = (res.locals["requestId"] as string | undefined) ?? null;
    const languageUrl = req.method === "GET" ? addressInLanguage(req.originalUrl) : null;
    const { headers, html } = render({ status, reason, requestId }, { locale: readLocale(req), languageUrl });
    res.set(headers).send(html);
  };

const unreadForm: Record<number, string> = {
  400: "the form is incomplete or its compression is broken",
  413: "the form is too large",
  415: "the form has a character set or a compression that is not read",
};

/** Refuses a form that express could not read; passes other errors on. */
export const makeRefuseUnreadForm =
  (sendRefusal: SendRefusal) =>
  (error: unknown, req: Request, res: Response, next: NextFunction): void => {
    const status = Number((error as { status?: unknown } | null)?.status);
    const description = unreadForm[status];
    if (description === undefined) return next(error);
    sendRefusal(req, res, { status, reason: "invalid_request", description });
  };
