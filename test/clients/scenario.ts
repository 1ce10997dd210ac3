import { join } from "node:path";
import { bundleFolder, operationsOf, readDocument, resolved, type Document } from "../../openapi/tools/document.ts";
import scenario from "./scenario.json" with { type: "json" };

/** A call as the scenario describes it: parameters by the names of the contract, and what is expected. */
export type Step = {
  name: string;
  bundle: string;
  operation: string;
  as: string;
  parameters: Record<string, unknown>;
  keep?: string;
  expect?: unknown;
  error?: { status: number; body: Record<string, unknown> };
};
/** What a driver answers for a step. */
export type Done = { value?: unknown; error?: { status: number; type: string; body: unknown } };
/** How a call is authorized: HTTP Basic, or a token. `keep` of a step adds the token that was answered. */
export type Access = Record<string, { username: string; password: string } | { accessToken: string }>;

export const bundles = ["idm", "schulconnex", "sign-on"];
export const documentOf = (bundle: string): Document => readDocument(join(bundleFolder, `${bundle}.yaml`));

type Told = {
  tags?: string[];
  responses: Record<string, { $ref?: string; content?: Record<string, { schema?: Answered }> }>;
};
type Answered = { $ref?: string; items?: { $ref?: string } };
const operations = new Map(
  bundles.flatMap((bundle) => {
    const document = documentOf(bundle);
    const all = Object.keys(document.paths).flatMap((path) => Object.values(operationsOf(document, path)));
    return all.map((operation) => [
      operation.operationId,
      { bundle, document, operation: operation as unknown as Told },
    ]);
  }),
);

/** The operations of the APIs that can be answered with something other than an error. */
export const offered = [...operations]
  .filter(([, { bundle, operation }]) => bundle !== "sign-on" && "200" in operation.responses)
  .map(([operationId]) => operationId);

/** Puts `values` in for the names in braces, and names what generated code derives from the contract. */
export function fillSteps(values: Record<string, string>) {
  return (scenario.steps as Step[]).map((step) => {
    const { document, operation } = operations.get(step.operation)!;
    const answer = operation.responses["200"] && resolved(document, operation.responses["200"]);
    const schema = Object.values(answer?.content ?? {})[0]?.schema;
    const words = operation.tags![0]!.split(" ");
    const parameters = Object.entries(step.parameters).map(([name, value]) => [
      name,
      typeof value === "string" ? value.replace(/^\{(\w+)\}$/, (_braces, key: string) => values[key]!) : value,
    ]);
    return {
      ...step,
      parameters: Object.fromEntries(parameters) as Step["parameters"],
      api: `${words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("")}Api`,
      model: (schema?.$ref ?? schema?.items?.$ref)?.split("/").at(-1) ?? null,
    };
  });
}

/** Instants in one spelling, as each language writes them in its own. */
export const sameInstants = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_key, entry: unknown) =>
    typeof entry === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/.test(entry)
      ? new Date(entry).toISOString()
      : entry,
  );
