import type { RequestHandler } from "express";
import { timeHeaders } from "../http/index.ts";

const exposed = ["ETag", "Link", "Retry-After", ...timeHeaders, "WWW-Authenticate", "X-Request-Id"].join(", ");
// `*` does not stand for Authorization. Nothing depends on other headers, such as those of tracing libraries.
const allowed = "Authorization, *";

/** For APIs that identify callers by token only, never by cookie (Fetch standard, section 3.2). */
export const allowAnyOrigin: RequestHandler = (req, res, next) => {
  if (req.headers.origin === undefined) {
    next();
    return;
  }
  res.set("Access-Control-Allow-Origin", "*");
  if (req.method === "OPTIONS" && req.headers["access-control-request-method"] !== undefined) {
    res.set({
      "Access-Control-Allow-Methods": "GET, HEAD",
      "Access-Control-Allow-Headers": allowed,
      "Access-Control-Max-Age": "7200",
    });
    res.status(204).end();
    return;
  }
  res.set("Access-Control-Expose-Headers", exposed);
  next();
};
