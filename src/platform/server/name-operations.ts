import { listOperations, type OpenApiDocument } from "../http/index.ts";

export function listPathWords(documents: readonly OpenApiDocument[], further: readonly string[]): ReadonlySet<string> {
  const paths = [...documents.flatMap((document) => listOperations(document).map(({ path }) => path)), ...further];
  return new Set(paths.flatMap((path) => path.split("/")).filter((part) => part !== "" && !part.startsWith("{")));
}

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
