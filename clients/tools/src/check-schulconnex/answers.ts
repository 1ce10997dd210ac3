import type { ExpectationId } from "./expectations.ts";
import type { Findings } from "./findings.ts";
import { parse, tell, type Answer } from "./provider.ts";
import { at, namesOf, wordsOf } from "./record.ts";
import type { Sent } from "./request.ts";

type Known = { samples: readonly unknown[]; secrets: readonly string[] };

/** Compares with what is expected of every answer; no error may hold what is known. */
export function judgeAnswer({ judge }: Findings, sent: Sent, answer: Answer, { samples, secrets }: Known): void {
  const { status, headers, text } = answer;
  const expect = (id: ExpectationId, fault: string | null) =>
    judge(id, sent, fault === null ? null : `${tell(answer)}: ${fault}`);
  const isJson = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(headers.get("content-type") ?? "");
  if (status === 200 || (status >= 400 && text !== ""))
    expect("content-type", isJson ? null : "another Content-Type or charset");
  const isBearer = /^bearer\b/i.test(headers.get("www-authenticate") ?? "");
  if (status === 401) expect("token-challenge", isBearer ? null : "no WWW-Authenticate: Bearer");
  if (status < 400 || sent.method === "HEAD") return;
  const body = parse(text);
  const [code, subcode] = [at(body, "code"), at(body, "subcode")];
  const wrong = ["code", "subcode", "titel", "beschreibung"].find((field) => typeof at(body, field) !== "string");
  const isGood = code === String(status) && /^\d\d$/.test(String(subcode));
  expect("error-body", wrong !== undefined ? `${wrong} is no text` : isGood ? null : "another code or subcode");
  const words = new Set(wordsOf(text));
  const hasName = samples.flatMap(namesOf).some((name) => name.length > 2 && words.has(name));
  const hasSecret = secrets.some((secret) => text.includes(secret));
  expect("error-private", hasSecret ? "a token in it" : hasName ? "a person's name in it" : null);
}
