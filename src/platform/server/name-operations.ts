import { listOperations, type OpenApiDocument } from "../http/index.ts";

/** The parts of the documents' paths that are no parameters, and those of further paths. */
export function listPathWords(documents: readonly OpenApiDocument[], further: readonly string[]): ReadonlySet<string> {
  const paths = [...documents.flatMap((document) => listOperations(document).map(({ path }) => path)), ...further];
  return new Set(paths.flatMap((path) => path.split("/")).filter((part) => part !== "" && !part.startsWith("{")));
}

/**
 * Names requests for log and metrics where no bound operation does it.
 *
 * Shape: an operation of the document by method and path (paths without parameters only); else the first part of the
 *        path, if it is one of `places`; else none.
 */
export function makeOperationNames(
  document: OpenApiDocument,
  places: readonly string[],
): (method: string, path: string) => string | undefined {
  const names = new Map(
    listOperations(document).map(({ method, path, operation }) => [
      `${method.toUpperCase()} ${path}`,
      operation.operationId,
    ]),
  );
  return (method, path) => {
    const [, place = ""] = path.split("/", 2);
    return names.get(`${method} ${path}`) ?? (places.includes(place) ? place : undefined);
  };
}
