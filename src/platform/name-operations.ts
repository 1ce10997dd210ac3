import type { RequestHandler } from "express";
import { listOperations, type OpenApiDocument } from "./http/index.ts";

/** Names requests for log and metrics after the operations of a contract whose routes are not bound by us; paths without parameters only. */
export function nameOperations(document: OpenApiDocument): RequestHandler {
  const names = new Map(listOperations(document).map(({ method, path, operation }) => [`${method.toUpperCase()} ${path}`, operation.operationId]));
  return (req, res, next) => {
    res.locals["operation"] = names.get(`${req.method} ${req.path}`);
    next();
  };
}
