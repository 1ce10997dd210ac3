/** No document of ours or of a standard that is read here is nested deeper. */
const deepestJson = 32;

const [quote, backslash, comma, openList, closeList, openObject, closeObject] = [34, 92, 44, 91, 93, 123, 125];

/** Says why JSON is too costly to parse or walk: nesting, or number of values. Null if it is not, or is not JSON. */
export function findJsonExcess(bytes: Uint8Array, mostValues: number): string | null {
  let [depth, values, opened, isText] = [0, 1, 0, false];
  for (let at = 0; at < bytes.length; at++) {
    const sign = bytes[at];
    if (isText) {
      if (sign === backslash) at += 1;
      else isText = sign !== quote;
    } else if (sign === quote) isText = true;
    else if (sign === comma) {
      if (++values > mostValues) return `has more than ${mostValues} values`;
    } else if (sign === openList || sign === openObject) {
      // A list in a list costs as much as a value, and needs no comma.
      if (++opened > mostValues) return `has more than ${mostValues} values`;
      if (++depth > deepestJson) return `is nested deeper than ${deepestJson} levels`;
    } else if (sign === closeList || sign === closeObject) depth -= 1;
  }
  return null;
}

/** Says why PostgreSQL stores a text neither as text nor in JSON; null if it does. */
function findUnstorable(text: string): string | null {
  if (text.includes("\0")) return "contains a NUL character";
  return text.isWellFormed() ? null : "contains half of a character (a lone surrogate)";
}

/** `path` leads to the value, or to the object with the name that is at fault. */
type JsonFault = { path: string[]; fault: string };

/** Finds what PostgreSQL does not store of a value that was parsed from JSON. */
export function findJsonFault(value: unknown, depth = 0): JsonFault | null {
  if (typeof value === "string") return toFault(findUnstorable(value));
  // A number such as 1e400.
  if (typeof value === "number") return Number.isFinite(value) ? null : toFault("is too large a number");
  if (typeof value !== "object" || value === null) return null;
  if (depth === deepestJson) return toFault(`is nested deeper than ${deepestJson} levels`);
  for (const name in value) {
    const fault = Array.isArray(value) ? null : findUnstorable(name);
    if (fault !== null) return { path: [], fault: `has a name that ${fault}` };
    const inner = findJsonFault((value as Record<string, unknown>)[name], depth + 1);
    if (inner !== null) return { ...inner, path: [name, ...inner.path] };
  }
  return null;
}

const toFault = (fault: string | null): JsonFault | null => (fault === null ? null : { path: [], fault });
