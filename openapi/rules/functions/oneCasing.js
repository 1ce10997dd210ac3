const casings = {
  camelCase: /^[a-z][A-Za-z0-9]*$/,
  snake_case: /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/,
  "kebab-case": /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/,
  PascalCase: /^[A-Z][A-Za-z0-9]*$/,
};
/** The words of a name in one casing: `filter[name]` has two, and a sign or digit at the head belongs to none. */
const wordsOf = (name) =>
  name
    .split(/[^\w-]+/)
    .map((word) => word.replace(/^[^A-Za-z]+/, ""))
    .filter(Boolean);
const fits = (name, casing) => wordsOf(name).every((word) => casings[casing].test(word));

/** Names that a standard writes in its own way in every contract (RFC 6749, 7636, 7662, OpenID Connect). */
const standard =
  /^(access|refresh|id)_token$|^(token_type|expires_in|grant_type|response_type|redirect_uri|error_(description|uri)|client_(id|secret|assertion|assertion_type)|code_(verifier|challenge|challenge_method)|token_type_hint)$/;

/** Names by kind, each with the first place where it stands. */
function collectNames(document) {
  const kinds = Object.fromEntries(
    ["operation ids", "path segments", "path parameters", "query parameters", "properties"].map((kind) => [
      kind,
      new Map(),
    ]),
  );
  const add = (kind, name, path) => standard.test(name) || kinds[kind].has(name) || kinds[kind].set(name, path);
  // The names of RFC 8615 are kebab-case everywhere.
  for (const address of Object.keys(document.paths ?? {}).filter((one) => !one.startsWith("/.well-known/")))
    for (const segment of address.replaceAll(/\{[^}]*\}/g, "").split("/"))
      add("path segments", segment, ["paths", address]);
  const seen = new Set();
  const walk = (value, path) => {
    if (!value || typeof value !== "object" || seen.has(value)) return;
    seen.add(value);
    if (typeof value.operationId === "string") add("operation ids", value.operationId, [...path, "operationId"]);
    if (["path", "query"].includes(value.in) && value.name)
      add(`${value.in} parameters`, value.name, [...path, "name"]);
    for (const [key, inner] of Object.entries(value)) {
      if (/^(x-.*|examples?|default|enum|const|mapping|security|securitySchemes|scopes)$/.test(key)) continue;
      if (key === "properties") for (const name of Object.keys(inner)) add("properties", name, [...path, key, name]);
      walk(inner, [...path, key]);
    }
  };
  walk(document, []);
  return kinds;
}

const lettersOf = (name) => name.replace(/[^A-Za-z0-9]/g, "").toLowerCase();

/** Reports names of a document in another casing than most names of their kind, and one name in two spellings. */
export default function oneCasing(document) {
  return Object.entries(collectNames(document)).flatMap(([kind, names]) => {
    const count = (casing) => [...names.keys()].filter((name) => fits(name, casing)).length;
    const [usual] = Object.keys(casings).toSorted((one, other) => count(other) - count(one));
    const spelled = new Map();
    return [...names].flatMap(([name, path]) => {
      if (!fits(name, usual)) return [{ message: `${name} is not ${usual}, as most ${kind} here are.`, path }];
      if (wordsOf(name).length === 0) return [];
      const twin = spelled.get(lettersOf(name));
      spelled.set(lettersOf(name), name);
      return twin === undefined ? [] : [{ message: `${name} is also spelled ${twin}.`, path }];
    });
  });
}
