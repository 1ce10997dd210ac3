import { makeBreak, type Break, type Direction, type Kind } from "./breaks.ts";
import type { Document, Schema } from "./document.ts";

/** Two documents, what was found between them, the day it is, and which named schemas were compared already. */
export type Comparison = { before: Document; after: Document; found: Break[]; today: string; seen: Set<string> };
export type Report = (kind: Kind, where: string, says: string) => void;

/** Who answers an operation: the service, or an app that receives a webhook. */
export type Side = "service" | "app";
/** A place in a contract: who answers there, and what it is called. */
export type At = { side: Side; where: string };

/** A schema before and after; `inner` is the one whose every value the `outer` one has to allow. */
export type Pair = { old: Schema; now: Schema; inner: Schema; outer: Schema; direction: Direction; where: string };
export type Step = (from: Schema, to: Schema, at: string) => void;

/** What an operation is sent is an input of the service; what the service sends to an app is an output. */
export const requestOf = (side: Side): Direction => (side === "service" ? "input" : "output");
export const answerOf = (side: Side): Direction => (side === "service" ? "output" : "input");

export const reportTo =
  ({ found }: Comparison): Report =>
  (kind, where, says) =>
    found.push(makeBreak(kind, where, says));

type Ending = { deprecated?: unknown; [extension: string]: unknown };

/** Why something may not be removed yet; null after the sunset that was announced for it. */
export function whyNotRemovable({ deprecated, "x-sunset": sunset }: Ending, today: string): string | null {
  if (deprecated !== true) return "it is gone";
  if (typeof sunset !== "string") return "it is gone; it was deprecated without `x-sunset`";
  return sunset.slice(0, 10) < today ? null : `it is gone before its sunset, ${sunset.slice(0, 10)}`;
}

/** Reports a sunset that was announced and now comes earlier, or is no longer said. */
export function compareSunsets(comparison: Comparison, old: Ending, now: Ending, where: string): void {
  const [before, after] = [old["x-sunset"], now["x-sunset"]];
  if (!old.deprecated || !now.deprecated || typeof before !== "string") return;
  if (typeof after !== "string") reportTo(comparison)("sunset-earlier", where, `the sunset, ${before}, is not said`);
  else if (after < before) reportTo(comparison)("sunset-earlier", where, `${before} became ${after}`);
}
