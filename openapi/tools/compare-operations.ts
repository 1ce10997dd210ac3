import { isDeepStrictEqual } from "node:util";
import type { Direction } from "./breaks.ts";
import { compareParameters } from "./compare-parameters.ts";
import { compareSchemas } from "./compare-schemas.ts";
import {
  answerOf,
  compareSunsets,
  reportTo,
  requestOf,
  whyNotRemovable,
  type At,
  type Comparison,
  type Report,
} from "./comparison.ts";
import { resolved, type Answer, type Content, type Header, type Operation } from "./document.ts";

/** Compares one operation; `where` names it. */
export function compareOperations(comparison: Comparison, old: Operation, now: Operation, { side, where }: At): void {
  const report = reportTo(comparison);
  if (old.operationId !== undefined && old.operationId !== now.operationId)
    report("operation-id-changed", where, `${old.operationId} became ${now.operationId}`);
  if (old.tags?.[0] !== undefined && old.tags[0] !== now.tags?.[0])
    report("tag-changed", where, `its first tag was ${old.tags[0]} and is ${now.tags?.[0] ?? "none"}`);
  compareSunsets(comparison, old, now, where);
  const asked = [old.security ?? comparison.before.security, now.security ?? comparison.after.security] as const;
  if (side === "service" ? !staysOpen(...asked) : !staysOpen(asked[1], asked[0]))
    report("security-changed", where, side === "service" ? "a token that sufficed no longer does" : "less is sent");
  compareParameters(comparison, old, now, { side, where });
  compareBodies(comparison, old, now, { side, where });
  compareAnswers(comparison, old, now, { side, where });
}

function compareContents(
  comparison: Comparison,
  old: Content,
  now: Content,
  { direction, at, report }: { direction: Direction; at: string; report: Report },
): void {
  for (const [mediaType, before] of Object.entries(old)) {
    const after = now[mediaType] ?? now[mediaType.replace(/\/.*/, "/*")] ?? now["*/*"];
    if (!after) {
      report("media-type-removed", `${at} ${mediaType}`, "it is gone");
      continue;
    }
    compareSchemas(comparison, before.schema ?? {}, after.schema ?? {}, direction, at);
    if (!isDeepStrictEqual(before.encoding ?? {}, after.encoding ?? {}))
      report("encoding-changed", `${at} ${mediaType}`, "the parts of the form are written another way now");
  }
}

function compareBodies(comparison: Comparison, old: Operation, now: Operation, { side, where }: At): void {
  const report = reportTo(comparison);
  const before = old.requestBody && resolved(comparison.before, old.requestBody);
  const after = now.requestBody && resolved(comparison.after, now.requestBody);
  const at = `${where} body`;
  if (before && !after) report("body-removed", at, "it is gone");
  if (side === "service") {
    if (after?.required && !before?.required) report("body-required", at, "a body has to be sent now");
  } else if (before?.required && after && !after.required) report("body-optional", at, "it can be missing now");
  if (!before?.content || !after?.content) return;
  if (side === "app") {
    // The service chooses what it sends: an app has to read all of it.
    for (const mediaType of Object.keys(after.content))
      if (!before.content[mediaType]) report("media-type-added", `${at} ${mediaType}`, "it is new");
  }
  const shared = ([mediaType]: [string, unknown]) => side === "service" || after.content![mediaType] !== undefined;
  const sent = Object.fromEntries(Object.entries(before.content).filter(shared));
  compareContents(comparison, sent, after.content, { direction: requestOf(side), at, report });
}

/** The documented answer for a status: its own, that of its range, or the one for all others. */
const answerFor = (answers: Record<string, Answer>, status: string): Answer | undefined =>
  answers[status] ?? answers[`${status[0]!}XX`] ?? answers["default"];

function compareAnswers(comparison: Comparison, old: Operation, now: Operation, { side, where }: At): void {
  const report = reportTo(comparison);
  for (const [status, answer] of Object.entries(old.responses ?? {})) {
    const at = `${where} ${status}`;
    const next = answerFor(now.responses ?? {}, status);
    if (!next) {
      report("status-removed", at, "it is gone");
      continue;
    }
    const [from, to] = [resolved(comparison.before, answer), resolved(comparison.after, next)];
    compareHeaders(comparison, from.headers ?? {}, to.headers ?? {}, { side, where: at });
    compareContents(comparison, from.content ?? {}, to.content ?? {}, { direction: answerOf(side), at, report });
  }
  if (side === "app") return;
  for (const status of Object.keys(now.responses ?? {}))
    if (/^[23]/.test(status) && !answerFor(old.responses ?? {}, status))
      report("success-added", `${where} ${status}`, "apps do not expect it");
}

type Headers = Record<string, Header>;

function compareHeaders(comparison: Comparison, old: Headers, now: Headers, { side, where }: At): void {
  const report = reportTo(comparison);
  const byName = (headers: Headers, document: Comparison["before"]) =>
    new Map(
      Object.entries(headers).map(([name, header]) => [name.toLowerCase(), { name, ...resolved(document, header) }]),
    );
  const [before, after] = [byName(old, comparison.before), byName(now, comparison.after)];
  for (const [key, header] of before) {
    const next = after.get(key);
    const at = `${where} ${header.name}`;
    if (!next) {
      const why = whyNotRemovable(header, comparison.today);
      // A header that apps answer and nobody reads any more hurts none of them.
      if (side === "service" && why !== null) report("header-removed", at, why);
      continue;
    }
    if (side === "service" && header.required && !next.required) report("header-optional", at, "it can be missing now");
    compareSchemas(comparison, header.schema ?? {}, next.schema ?? {}, answerOf(side), at);
  }
  for (const [key, { name, required }] of after)
    if (side === "app" && required && !before.get(key)?.required)
      report("header-required", `${where} ${name}`, "it has to be answered now");
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
