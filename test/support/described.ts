import { expect } from "vitest";
import { listOperations, loadDocument, resolve } from "../../src/platform/http/index.ts";
import type { Sent } from "./admin.ts";
import { makeCheck } from "./schema-check.ts";

const document = await loadDocument("admin", "schultor");
const check = makeCheck(document);

/** Expects that an answer of the admin API is as its contract describes the operation. */
export function expectDescribed(operationId: string, { status, headers, body }: Sent): void {
  const { operation } = listOperations(document).find((place) => place.operation.operationId === operationId)!;
  const { content } = resolve(document, operation.responses[String(status)]!);
  expect(check(content![headers.get("content-type")!.split(";")[0]!]!.schema!, body)).toBe("");
}
