// @module-tag slow
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { makeDataDir } from "../support/data-dir.ts";
import { serve } from "../support/serve.ts";

const people = 100_000;
const idOf = (kind: string, n: number): string => `${kind}0000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

function recordOf(n: number): object {
  const school = n % 50;
  const organisation = { id: idOf("a", school), kennung: `DE-NI-${school}`, name: `Schule ${school}`, typ: "Schule" };
  const [gruppe, rollen] = [
    { id: idOf("b", n % 4000), bezeichnung: "Klasse", typ: "Klasse", orgid: organisation.id },
    ["Lern"],
  ];
  const gruppen = [{ gruppe, gruppenzugehoerigkeit: { rollen } }];
  const name = { vorname: `Vorname ${n}`, familienname: `Familienname ${n}` };
  const kontext = { id: idOf("d", n), rolle: "Lern", organisation, gruppen, loeschung: null };
  return { pid: idOf("c", n), person: { name, stammorganisation: organisation }, personenkontexte: [kontext] };
}

/** Sends the records of these numbers without holding them. */
async function sendRecords(res: ServerResponse, numbers: Iterable<number>): Promise<void> {
  res.writeHead(200, { "Content-Type": "application/json", ETag: '"1"' }).write("[");
  let [part, comma] = ["", ""];
  let goOn: (value: unknown) => void = () => undefined;
  for (const event of ["drain", "close"]) res.on(event, () => goOn(null));
  for (const n of numbers) {
    part += `${comma}${JSON.stringify(recordOf(n))}`;
    comma = ",";
    if (part.length < 100_000) continue;
    const isFull = !res.write(part);
    part = "";
    if (isFull && !res.destroyed) await new Promise((resolve) => void (goOn = resolve));
    if (res.destroyed) return;
  }
  res.end(`${part}]`);
}

/** Who matches a query: in steps, where a group or a school is asked for. */
function* findNumbers(query: URLSearchParams): Generator<number> {
  const numberOf = (name: string): number =>
    Number(/^.0000000-0000-4000-8000-(\d{12})$/.exec(query.get(name) ?? "")?.[1] ?? NaN);
  const one = query.has("pid") ? numberOf("pid") : numberOf("personenkontext.id");
  if (query.has("pid") || query.has("personenkontext.id")) return yield* Number.isNaN(one) ? [] : [one];
  const [start, step] = query.has("gruppe.id")
    ? [numberOf("gruppe.id"), 4000]
    : query.has("organisation.id")
      ? [numberOf("organisation.id"), 50]
      : [query.has("offset") ? numberOf("offset") + 1 : 0, 1];
  const end = Math.min(people, start + Number(query.get("limit") ?? people) * step);
  for (let n = start; n < end; n += step) yield n;
}

test("100,000 records are checked with 48 MB of memory for the program's objects", async () => {
  const origin = await serve((req, res) => {
    if (req.method !== "GET" || req.headers["if-none-match"] !== undefined) return void res.writeHead(405).end();
    void sendRecords(res, findNumbers(new URL(req.url!, "http://provider").searchParams));
  });
  const tokenFile = join(makeDataDir(), "token");
  writeFileSync(tokenFile, "a-token");
  const args = ["check-schulconnex", `${origin}/v1`, "--standard", "1.8", "--token-file", tokenFile, "--json"];
  const program = ["--max-old-space-size=48", "--max-semi-space-size=4", "src/schultor-partner.ts", ...args];
  const ended = await promisify(execFile)(process.execPath, program, { maxBuffer: 1e7 }).then(
    () => ({ code: 0, stdout: "" }),
    (error: unknown) => error as { code: number; stdout: string },
  );
  expect(ended.code).toBe(1);
  const { checks } = JSON.parse(ended.stdout) as { checks: { id: string; outcome: string }[] };
  const outcomeOf = (id: string) => checks.find((check) => check.id === id)?.outcome;
  const ids = ["in-time", "list-read", "record-fields", "record-codes", "ids-unique", "references", "stable"];
  expect([...ids, "page-walk", "page-order"].map((one) => `${one}: ${outcomeOf(one)}`)).toEqual(
    [...ids, "page-walk", "page-order"].map((one) => `${one}: passed`),
  );
});
