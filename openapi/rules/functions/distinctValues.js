const constantOf = (value) =>
  String(value)
    .replace(/[^A-Za-z0-9]/g, "")
    .toUpperCase();

/** Reports values of an enum of which generated clients make the same constant. */
export default function distinctValues(values, _options, { path }) {
  if (!Array.isArray(values)) return;
  const seen = new Map();
  return values.flatMap((value, index) => {
    const twin = seen.get(constantOf(value));
    // Signs and numbers with a sign have constants of their own: PLUS_1, GREATER_THAN.
    if (!/[a-z]/i.test(String(value))) return [];
    seen.set(constantOf(value), value);
    const message = `Generated clients make one constant of ${twin} and ${value}.`;
    return twin === undefined ? [] : [{ message, path: [...path, index] }];
  });
}
