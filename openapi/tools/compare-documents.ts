import { isDeepStrictEqual } from "node:util";
import { compareSchemas, type Break, type Comparison, type Direction } from "./compare-schemas.ts";
import { operationsOf, resolved, type Content, type Document, type Operation } from "./document.ts";

/** Tells what in `after` breaks an app that was written for `before`; both are bundles. */
export function compareDocuments(before: Document, after: Document): Break[] {
  const comparison: Comparison = { before, after, found: [], seen: new Set() };
  const report = reportTo(comparison);
  for (const path of Object.keys(before.paths)) {
    if (!after.paths[path]) {
      report("path-removed", path, "it is gone");
      continue;
    }
    const current = operationsOf(after, path);
    for (const [method, operation] of Object.entries(operationsOf(before, path))) {
      const where = `${method.toUpperCase()} ${path}`;
      const now = current[method];
      if (!now) report("operation-removed", where, "it is gone");
      else compareOperations(comparison, operation, now, where);
    }
  }
  // What no operation refers to stands inside tokens, which apps read.
  for (const [name, schema] of Object.entries(before.components?.schemas ?? {})) {
    if (JSON.stringify(before).includes(`"#/components/schemas/${name}"`)) continue;
    const now = after.components?.schemas?.[name];
    if (now) compareSchemas(comparison, schema, now, "output", name);
    else report("schema-removed", name, "it is gone");
  }
  const schemes = after.components?.securitySchemes ?? {};
  for (const [name, scheme] of Object.entries(before.components?.securitySchemes ?? {})) {
    if (schemes[name] && !isDeepStrictEqual(essence(scheme), essence(schemes[name])))
      report("security-scheme-changed", name, "tokens are had another way now");
  }
  return comparison.found;
}

const reportTo =
  ({ found }: Comparison) =>
  (kind: string, where: string, says: string) =>
    found.push({ kind, where, says });

/** A security scheme without the words for people. */
function essence(scheme: unknown): unknown {
  const { type, in: place, name, scheme: http, flows } = scheme as Record<string, unknown>;
  return { type, place, name, http, flows: Object.keys((flows as object | undefined) ?? {}).sort() };
}

function compareOperations(comparison: Comparison, old: Operation, now: Operation, where: string): void {
  const { before, after } = comparison;
  const report = reportTo(comparison);
  if (old.operationId !== now.operationId)
    report("operation-id-changed", where, `${old.operationId} became ${now.operationId}`);
  if (!staysOpen(old.security ?? before.security, now.security ?? after.security))
    report("security-changed", where, "a token that sufficed no longer does");
  compareParameters(comparison, old, now, where);

  const contents = (from: Content | undefined, to: Content | undefined, direction: Direction, at: string) => {
    for (const [mediaType, { schema }] of Object.entries(from ?? {})) {
      const next = to?.[mediaType];
      if (!next) report("media-type-removed", `${at} ${mediaType}`, "it is gone");
      else if (schema && next.schema) {
        compareSchemas(comparison, schema, next.schema, direction, at);
      } else if (schema ?? next.schema)
        report("type-changed", `${at} ${mediaType}`, "it has a schema on one side only");
    }
  };

  const oldBody = old.requestBody && resolved(before, old.requestBody);
  const newBody = now.requestBody && resolved(after, now.requestBody);
  if (newBody?.required && !oldBody?.required) report("body-required", `${where} body`, "a body has to be sent now");
  contents(oldBody?.content, newBody?.content, "input", `${where} body`);

  for (const [status, oldAnswer] of Object.entries(old.responses)) {
    const at = `${where} ${status}`;
    if (!now.responses[status]) {
      report("status-removed", at, "it is gone");
      continue;
    }
    const [from, to] = [resolved(before, oldAnswer), resolved(after, now.responses[status])];
    for (const name of Object.keys(from.headers ?? {}))
      if (!to.headers?.[name]) report("header-removed", `${at} ${name}`, "it is gone");
    contents(from.content, to.content, "output", at);
  }
  for (const status of Object.keys(now.responses)) {
    if (/^[23]/.test(status) && !old.responses[status])
      report("success-added", `${where} ${status}`, "apps do not expect it");
  }
}

type Security = Record<string, string[]>[];

/** True while every way in that an app may have chosen is open, with no more scopes than it asked for. */
function staysOpen(before: Security = [], after: Security = []): boolean {
  const opens = (held: Record<string, string[]>) =>
    after.length === 0 ||
    after.some((asked) =>
      Object.entries(asked).every(
        ([scheme, scopes]) => scopes.every((scope) => held[scheme]?.includes(scope)) && scheme in held,
      ),
    );
  return (before.length === 0 ? [{}] : before).every(opens);
}

function compareParameters(comparison: Comparison, before: Operation, after: Operation, where: string): void {
  const byKey = (document: Document, operation: Operation) => {
    const parameters = (operation.parameters ?? []).map((parameter) => resolved(document, parameter));
    return new Map(parameters.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter]));
  };
  const [old, now] = [byKey(comparison.before, before), byKey(comparison.after, after)];
  const report: ReturnType<typeof reportTo> = (kind, name, says) =>
    reportTo(comparison)(kind, `${where} ${name}`, says);
  for (const [name, parameter] of old) {
    const next = now.get(name);
    if (!next) {
      report("parameter-removed", name, "it is gone");
      continue;
    }
    if (next.style !== parameter.style || next.explode !== parameter.explode)
      report("parameter-style-changed", name, "it is written another way now");
    if (!parameter.schema || !next.schema) continue;
    compareSchemas(comparison, parameter.schema, next.schema, "input", `${where} ${name}`);
  }
  for (const [name, parameter] of now) {
    if (parameter.required && !old.get(name)?.required) report("parameter-required", name, "it has to be sent now");
  }
}
