import { isDeepStrictEqual } from "node:util";
import type { Break } from "./breaks.ts";
import { compareOperations } from "./compare-operations.ts";
import { compareSchemas } from "./compare-schemas.ts";
import { reportTo, whyNotRemovable, type Comparison, type Side } from "./comparison.ts";
import { operationsIn, resolved, type Document, type Operation, type PathItem } from "./document.ts";

// Ours, because npm has no oasdiff, and openapi-diff 0.24.1 finds 20 of the 82 breaks planted by
// test/contract/contract-changes.ts, reports 5 of its harmless changes and cannot read recursive schemas.

/**
 * Tells what in `after` breaks an app that was written for `before`; both are bundles.
 *
 * Shape: `side` says who answers the paths: the service, or, in a contract of webhooks, the apps. `today` as
 * 2026-11-21: from the day after its `x-sunset`, what is deprecated may be gone.
 */
export function compareDocuments(
  before: Document,
  after: Document,
  { side = "service", today = new Date().toISOString().slice(0, 10) }: { side?: Side; today?: string } = {},
): Break[] {
  const comparison: Comparison = { before, after, found: [], today, seen: new Set() };
  const report = reportTo(comparison);
  for (const { url } of before.servers ?? [])
    if (after.servers && !after.servers.some((server) => server.url === url))
      report("server-removed", url, "it is gone");
  comparePaths(comparison, before.paths ?? {}, after.paths ?? {}, { side, at: "" });
  comparePaths(comparison, before.webhooks ?? {}, after.webhooks ?? {}, { side: "app", at: "webhook " });
  compareUnusedSchemas(comparison);
  compareSecuritySchemes(comparison);
  return comparison.found;
}

type Where = { side: Side; at: string };

function comparePaths(
  comparison: Comparison,
  before: Record<string, PathItem>,
  after: Record<string, PathItem>,
  { side, at }: Where,
): void {
  const report = reportTo(comparison);
  const byShape = new Map(Object.keys(after).map((path) => [shapeOf(path), path]));
  for (const [path, item] of Object.entries(before)) {
    const present = after[path] === undefined ? (byShape.get(shapeOf(path)) ?? path) : path;
    const renamed = renamedParameters(path, present);
    for (const [name, now] of renamed)
      report("path-parameter-renamed", `${at}${path} ${name}`, `it is called ${now} now`);
    const operations = Object.entries(operationsIn(item));
    const current = operationsIn(after[present] ?? {});
    const removed = operations.flatMap(([method, operation]) => {
      const why = current[method] ? null : whyNotRemovable(operation, comparison.today);
      return why === null ? [] : [{ where: `${at}${method.toUpperCase()} ${path}`, why }];
    });
    const [first] = removed;
    if (first && !after[present]) report("path-removed", `${at}${path}`, first.why);
    else for (const { where, why } of removed) report("operation-removed", where, why);
    for (const [method, operation] of operations) {
      const where = `${at}${method.toUpperCase()} ${path}`;
      const now = current[method];
      if (!now) continue;
      compareOperations(comparison, withNames(comparison.before, operation, renamed), now, { side, where });
      for (const [name, callback] of Object.entries(operation.callbacks ?? {})) {
        const old = resolved(comparison.before, callback) as Record<string, PathItem>;
        const calls = resolved(comparison.after, now.callbacks?.[name] ?? {}) as Record<string, PathItem>;
        comparePaths(comparison, old, calls, { side: side === "service" ? "app" : "service", at: `${where} calls ` });
      }
    }
  }
}

const placeholders = /\{([^}]+)\}/g;
const shapeOf = (path: string): string => path.replace(placeholders, "{}");
const namesIn = (path: string): string[] => [...path.matchAll(placeholders)].map(([, name]) => name!);

/** The path parameters with another name in the same place, by their old names. */
function renamedParameters(path: string, present: string): Map<string, string> {
  const now = namesIn(present);
  const pairs = namesIn(path).map((name, index): [string, string] => [name, now[index] ?? name]);
  return new Map(pairs.filter(([name, other]) => name !== other));
}

/** The operation with its path parameters under their new names. */
function withNames(document: Document, operation: Operation, renamed: ReadonlyMap<string, string>): Operation {
  if (renamed.size === 0 || operation.parameters === undefined) return operation;
  const parameters = operation.parameters.map((given) => {
    const parameter = resolved(document, given);
    return parameter.in === "path" ? { ...parameter, name: renamed.get(parameter.name) ?? parameter.name } : parameter;
  });
  return { ...operation, parameters };
}

/** What no operation refers to stands inside tokens, which apps read. */
function compareUnusedSchemas(comparison: Comparison): void {
  const text = JSON.stringify(comparison.before);
  for (const [name, schema] of Object.entries(comparison.before.components?.schemas ?? {})) {
    if (text.includes(`"#/components/schemas/${name}"`)) continue;
    const now = comparison.after.components?.schemas?.[name];
    if (now) compareSchemas(comparison, schema, now, "output", name);
    else reportTo(comparison)("schema-removed", name, "it is gone");
  }
}

type Scheme = Record<string, unknown> & { flows?: Record<string, Flow> };
type Flow = { authorizationUrl?: string; tokenUrl?: string; scopes?: Record<string, string> };

function compareSecuritySchemes(comparison: Comparison): void {
  const report = reportTo(comparison);
  const schemes = (document: Document) => (document.components?.securitySchemes ?? {}) as Record<string, Scheme>;
  const after = schemes(comparison.after);
  for (const [name, old] of Object.entries(schemes(comparison.before))) {
    const now = after[name];
    // One that is gone shows at the operations that took it.
    if (!now) continue;
    const essence = ({ type, in: place, name: called, scheme, openIdConnectUrl }: Scheme) => [
      ...[type, place, called, openIdConnectUrl],
      String(scheme).toLowerCase(),
    ];
    if (!isDeepStrictEqual(essence(old), essence(now))) {
      report("security-scheme-changed", name, "apps authenticate another way now");
      continue;
    }
    for (const [kind, flow] of Object.entries(old.flows ?? {})) {
      const next = now.flows?.[kind];
      if (!next) {
        report("security-scheme-changed", name, `the flow ${kind} is gone`);
        continue;
      }
      if (flow.tokenUrl !== next.tokenUrl || flow.authorizationUrl !== next.authorizationUrl)
        report("security-scheme-changed", name, `the flow ${kind} has other addresses`);
      for (const scope of Object.keys(flow.scopes ?? {}))
        if (!(scope in (next.scopes ?? {}))) report("scope-removed", `${name} ${kind} ${scope}`, "it is gone");
    }
  }
}
