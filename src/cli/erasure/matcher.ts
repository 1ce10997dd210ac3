import { isUtf8 } from "node:buffer";
import { base64Forms, spellExactly, spellId, spellName } from "./spellings.ts";
import type { Values } from "./values.ts";

export type What = "id" | "userName" | "userNameHash" | "other" | "firstName" | "lastName";

export type Matcher = {
  /** False only if `find` finds nothing in any part of the bytes. */
  mayMatch(bytes: Buffer): boolean;
  find(bytes: Buffer): Set<What>;
};

type Rule = { what: What; text?: RegExp; bytes?: string; base64: readonly string[]; isShort: boolean };

// A word may follow an escape: `\nAda` in JSON, `%20Ada` in an address, `\u003cAda` in what Go writes.
const before = "(?<=^|[^\\p{L}\\p{N}\\p{M}]|\\\\[nrtbfv]|\\\\u[0-9a-f]{4}|%[0-9a-f]{2}|\\\\x[0-9a-f]{2})";
const after = "(?![\\p{L}\\p{N}\\p{M}])";
/** Fewer bytes than these are found by chance in hashes and pictures. */
const surelyText = 6;

function ruleOf(what: What, value: string): Rule {
  const isName = what === "firstName" || what === "lastName";
  const { text, bytes } = isName ? spellName(value) : spellExactly(value);
  return {
    what,
    text: new RegExp(before + text + after, "iu"),
    bytes,
    base64: [...new Set([value, value.toLowerCase()])].flatMap((spelling) => base64Forms(Buffer.from(spelling))),
    isShort: Buffer.byteLength(value) < surelyText,
  };
}

function ruleOfId(id: string): Rule {
  const { text, bytes } = spellId(id);
  const forms = [Buffer.from(id), Buffer.from(id.replaceAll("-", ""), "hex")].flatMap(base64Forms);
  return { what: "id", text: new RegExp(text, "i"), bytes, base64: forms, isShort: false };
}

const ruleOfHash = (hash: Buffer): Rule => {
  const hex = hash.toString("hex");
  return { what: "userNameHash", text: new RegExp(hex, "i"), bytes: hex, base64: [], isShort: false };
};

/** Whether bytes may be text: they have no control characters but tab, line feed and carriage return. */
const isText = (latin1: string): boolean => !/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(latin1);

const decode = (bytes: Buffer): string => bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");

/** Bytes that the text writes in hexadecimal digits, wherever they begin. */
function* bytesIn(text: string): Generator<Buffer> {
  for (const [digits] of text.matchAll(/[0-9a-f]{4,}/gi))
    for (const from of [0, 1]) yield Buffer.from(digits.slice(from), "hex");
}

export function makeMatcher(values: Values, userNameHashes: readonly Buffer[]): Matcher {
  const rules = [
    ...values.ids.map(ruleOfId),
    ...values.userNames.map((value) => ruleOf("userName", value)),
    ...userNameHashes.map(ruleOfHash),
    ...values.others.map((value) => ruleOf("other", value)),
    ...values.firstNames.map((value) => ruleOf("firstName", value)),
    ...values.lastNames.map((value) => ruleOf("lastName", value)),
  ];
  const quick = new RegExp(rules.map(({ bytes }) => bytes).join("|"), "i");
  const forms = rules.flatMap(({ what, base64 }) => (base64.length === 0 ? [] : [{ what, is: anyOf(base64) }]));
  const quickBase64 = new RegExp(forms.map(({ is }) => is.source).join("|"));
  const mayMatch = (latin1: string) => quick.test(latin1) || quickBase64.test(latin1);
  return {
    mayMatch: (bytes) => mayMatch(bytes.toString("latin1")),
    find(bytes) {
      const matches = new Set<What>();
      const latin1 = bytes.toString("latin1");
      if (!mayMatch(latin1)) return matches;
      const note = (text: string, mayBeShort: boolean) => {
        for (const { what, text: is, isShort } of rules)
          if ((mayBeShort || !isShort) && is?.test(text)) matches.add(what);
      };
      note(decode(bytes), isText(latin1));
      for (const hidden of bytesIn(latin1)) note(decode(hidden), isText(hidden.toString("latin1")));
      for (const { what, is } of forms) if (is.test(latin1)) matches.add(what);
      return matches;
    },
  };
}

const anyOf = (sources: readonly string[]): RegExp => new RegExp([...new Set(sources)].join("|"));
