import { createHash } from "node:crypto";
import type { RequestHandler } from "express";
import { isNotModified } from "../platform/http/index.ts";
import type { Page } from "../platform/pages/index.ts";
import { makeThreadPool } from "../platform/threads/index.ts";

/** For answers that take long to make; of lower priority than sign-ons. */
export const runAside = makeThreadPool({ niceness: 10 });

type Static = { contentType: string; headers?: Record<string, string> };

export function answerStatic(content: string | Buffer, { contentType, headers = {} }: Static): RequestHandler {
  const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
  return (req, res) => {
    res.set({ "Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff", ...headers, ETag: etag });
    if (isNotModified(req, etag)) res.status(304).end();
    else res.set("Content-Type", contentType).send(content);
  };
}

export const answerPage = ({ html, headers }: Pick<Page, "html" | "headers">): RequestHandler =>
  answerStatic(html, { contentType: "text/html; charset=utf-8", headers });

/** Makes an answer when it is first asked for, so that the service starts without it; again after a failure. */
export function onFirstRequest(make: () => RequestHandler | Promise<RequestHandler>): RequestHandler {
  let answer: Promise<RequestHandler> | undefined;
  return async (req, res, next) => {
    const making = (answer ??= (async () => make())());
    making.catch(() => (answer = undefined));
    return (await making)(req, res, next);
  };
}

export const refuseOtherMethods: RequestHandler = (req, res, next) => {
  if (req.method === "GET" || req.method === "HEAD") next();
  else
    res
      .set("Allow", "GET, HEAD, OPTIONS")
      .status(req.method === "OPTIONS" ? 204 : 405)
      .end();
};
