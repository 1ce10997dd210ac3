type Value = "name" | "class" | "school" | "address" | "username";
export type LetterValues = Record<Value, string>;

const values = new Map<string, Value>([
  ...(["name", "class", "school", "address", "username"] as const).map((value) => [value, value] as const),
  ["klasse", "class"],
  ["schule", "school"],
  ["adresse", "address"],
  ["benutzername", "username"],
]);

const placeholder = /\{([^{}]*)\}/g;
const valueOf = (name: string): Value | undefined => values.get(name.trim().toLowerCase());

export const listUnknownPlaceholders = (text: string): string[] =>
  [...text.matchAll(placeholder)].flatMap(([whole, name = ""]) => (valueOf(name) === undefined ? [whole] : []));

export const fillLetter = (text: string, given: LetterValues): string =>
  text.replace(placeholder, (whole, name: string) => {
    const value = valueOf(name);
    return value === undefined ? whole : given[value];
  });
