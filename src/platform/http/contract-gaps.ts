import type { OpenApiDocument, Operation } from "./document.ts";

// A difference between contract and code stops the start.

export function refuseOtherScopes({ components }: OpenApiDocument, operations: { operation: Operation }[]): void {
  const listed = Object.entries(components.securitySchemes ?? {}).flatMap(([scheme, { flows = {} }]) =>
    Object.values(flows).flatMap(({ scopes = {} }) => Object.keys(scopes).map((scope) => `${scheme} ${scope}`)),
  );
  const asked = operations.flatMap(({ operation }) =>
    (operation.security ?? []).flatMap((way) =>
      Object.entries(way).flatMap(([scheme, scopes]) => scopes.map((scope) => `${scheme} ${scope}`)),
    ),
  );
  refuseGaps("The scopes of the security schemes and of the operations differ.", { described: listed, known: asked });
}

export function refuseGaps(what: string, { described, known }: Record<"described" | "known", readonly string[]>): void {
  const missing = [...new Set(described)].filter((id) => !known.includes(id));
  const extra = [...new Set(known)].filter((id) => !described.includes(id));
  if (missing.length + extra.length > 0)
    throw new Error(`${what} Missing: ${missing.join(", ") || "none"}. Unknown: ${extra.join(", ") || "none"}.`);
}
