import { listOperations, resolve, type OpenApiDocument, type Operation } from "../../src/platform/http/index.ts";

/**
 * Compares what went through the proxy with the documents. Shape: entries are as in `idm getUser 200`; `missing` is an
 * operation without any success (or, where it has none, any answer) and a query parameter that no accepted request had,
 * `untouched` is every other status that never came.
 */
export function findUntouched(
  documents: Record<string, OpenApiDocument>,
  touched: ReadonlySet<string>,
): { missing: string[]; untouched: string[] } {
  const [missing, untouched]: string[][] = [[], []];
  for (const [name, document] of Object.entries(documents)) {
    // They have the operations of another document, in another spelling.
    if (/^(schulconnex|oneroster)-/.test(name)) continue;
    for (const { operation } of listOperations(document)) {
      const entry = (status: string) => `${name} ${operation.operationId} ${status}`;
      const statuses = Object.keys(operation.responses);
      const good = statuses.filter((status) => status < "400");
      const wanted = good.length > 0 ? good : statuses;
      if (!wanted.some((status) => touched.has(entry(status)))) missing!.push(entry(wanted.join(" or ")));
      else untouched!.push(...statuses.map(entry).filter((one) => !touched.has(one)));
      missing!.push(
        ...queryOf(document, operation)
          .map(entry)
          .filter((one) => good.length > 0 && !touched.has(one)),
      );
    }
  }
  return { missing: missing!, untouched: untouched! };
}

/** Read in one place for all operations that have them. */
const readForAll = ["limit", "cursor", "dry-run"];

function queryOf(document: OpenApiDocument, { parameters = [] }: Operation): string[] {
  const all = parameters.map((parameter) => resolve<{ name: string; in: string }>(document, parameter));
  const own = all.filter((parameter) => parameter.in === "query" && !readForAll.includes(parameter.name));
  return own.map(({ name }) => `?${name}`);
}
