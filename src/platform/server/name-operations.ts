import type { RequestHandler } from "express";
import { listOperations, type OpenApiDocument } from "../http/index.ts";

type Routed = { stack?: readonly { route?: { path: unknown }; handle: unknown }[] };

/** The paths of the routes of an express router, with those of the routers in it. */
export const listRoutes = (router: RequestHandler | Routed): string[] =>
  ((router as Routed).stack ?? [])
    .flatMap(({ route, handle }) => (route === undefined ? listRoutes(handle as Routed) : [route.path].flat()))
    .filter((path) => typeof path === "string");

export function listPathWords(documents: readonly OpenApiDocument[], further: readonly string[]): ReadonlySet<string> {
  const paths = [...documents.flatMap((document) => listOperations(document).map(({ path }) => path)), ...further];
  return new Set(paths.flatMap((path) => path.split("/")).filter((part) => /^[\w.-]+$/.test(part)));
}

/** Returns the operationId or, for other requests, the first part of the path if it is one of `routes`. */
export function makeOperationNames(
  document: OpenApiDocument,
  routes: readonly string[],
): (method: string, path: string) => string | undefined {
  const names = new Map(
    listOperations(document).map(({ method, path, operation }) => [
      `${method.toUpperCase()} ${path}`,
      operation.operationId,
    ]),
  );
  const ofContract = new Set(listOperations(document).map(({ path }) => path.split("/", 2)[1]));
  const places = new Set(routes.map((path) => path.split("/", 2)[1] ?? "").filter((place) => !ofContract.has(place)));
  return (method, path) => {
    const [, place = ""] = path.split("/", 2);
    return names.get(`${method} ${path}`) ?? (place !== "" && places.has(place) ? place : undefined);
  };
}
