import type { Document } from "./document.ts";

type Labels = { en: Record<string, string>; de: Record<string, string> };

/**
 * Takes `x-labels` out of the schemas of a bundle: what pages call a property, by language and name.
 *
 * Errors: throws for a label in one language, for a name that is no property, and for a property with two labels.
 */
export function takeLabels({ components = {} }: Document): Labels {
  const labels: Labels = { en: {}, de: {} };
  for (const [schema, description] of Object.entries(components.schemas ?? {})) {
    const own = (description["x-labels"] ?? {}) as Record<string, { en?: string; de?: string }>;
    delete description["x-labels"];
    for (const [name, { en, de }] of Object.entries(own)) {
      if (description.properties?.[name] === undefined) throw new Error(`${schema}: x-labels: it has no '${name}'.`);
      if (!en || !de) throw new Error(`${schema}: x-labels: '${name}' needs a label for en and for de.`);
      if (labels.en[name]) throw new Error(`${schema}: x-labels: another schema has a label for '${name}' already.`);
      labels.en[name] = en;
      labels.de[name] = de;
    }
  }
  return labels;
}
