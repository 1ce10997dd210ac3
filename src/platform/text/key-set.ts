/** The keys of a JSON Web Key Set, a list of keys or one key, without what is not registered; null for other texts. */
export function listKeys(text: string): object[] | null {
  try {
    const read = JSON.parse(text) as { keys?: unknown } | null;
    const keys: unknown[] = [Array.isArray(read) ? read : (read?.keys ?? read)].flat();
    return keys.every((key) => typeof key === "object" && key !== null) ? keys.map(withoutExtras) : null;
  } catch {
    return null;
  }
}

const extras = new Set(["key_ops", "ext", "x5c", "x5t", "x5t#S256"]);

const withoutExtras = (key: object): object =>
  Object.fromEntries(Object.entries(key).filter(([name]) => !extras.has(name)));
