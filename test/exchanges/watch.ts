import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { atFileEnd } from "../support/file-end.ts";
import { loadDocuments, makeExchangeCheck, type Exchange } from "./check.ts";

const judge = makeExchangeCheck(await loadDocuments());
const written = new Set<string>();

/** Whether the services of this file of tests are watched: where tests are callers of the APIs. */
export const isWatched = (): boolean =>
  /[\\/]test[\\/](admin|api|contract|flows)[\\/]/.test(expect.getState().testPath ?? "");

/**
 * Judges the exchanges of one service; the file of tests fails at its end when one was against the contract.
 *
 * Shape: with EXCHANGES_FOLDER, what was touched is added to a file in it, a line each.
 */
export function watchExchanges(): (exchange: Exchange) => void {
  const found = new Set<string>();
  atFileEnd(() => {
    if (found.size > 0) throw new Error(`Exchanges against the contract:\n${[...found].join("\n")}`);
  });
  const folder = process.env["EXCHANGES_FOLDER"];
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  return (exchange) => {
    const { touched, faults } = judge(exchange);
    for (const fault of faults) found.add(fault);
    const fresh = touched.filter((line) => !written.has(line));
    for (const line of fresh) written.add(line);
    if (folder !== undefined && fresh.length > 0)
      appendFileSync(join(folder, `${process.pid}.txt`), `${fresh.join("\n")}\n`);
  };
}
