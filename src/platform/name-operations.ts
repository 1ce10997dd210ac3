import type { RequestHandler } from "express";
import { listOperations, type OpenApiDocument } from "./http/index.ts";

/**
 * Names requests for log and metrics where no bound operation does it later.
 *
 * Shape: an operation of the document by method and path (paths without parameters only); else the first part of the
 *        path, if it is one of `places`; else none.
 */
export function nameOperations(document: OpenApiDocument, places: readonly string[]): RequestHandler {
  const names = new Map(listOperations(document).map(({ method, path, operation }) => [`${method.toUpperCase()} ${path}`, operation.operationId]));
  return (req, res, next) => {
    const [, place = ""] = req.path.split("/");
    res.locals["operation"] = names.get(`${req.method} ${req.path}`) ?? (places.includes(place) ? place : undefined);
    next();
  };
}
