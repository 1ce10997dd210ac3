import { expect } from "vitest";
import { listOperations, loadDocument } from "../../src/platform/http/index.ts";
import type { Sent } from "./admin.ts";
import { makeSchemaCheck } from "./schema-check.ts";

const document = await loadDocument("admin", "schultor");

/** Expects that an answer of the admin API is as its contract describes the operation. */
export function expectDescribed(operationId: string, { status, headers, body }: Sent): void {
  const { operation } = listOperations(document).find((place) => place.operation.operationId === operationId)!;
  const type = headers.get("content-type")?.split(";")[0] ?? "";
  expect(makeSchemaCheck(document)(operation.responses[String(status)], type, body)).toEqual([]);
}
