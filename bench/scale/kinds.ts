/**
 * A row of docs/scale.md.
 *
 * Shape: `caller` opens a connection for it through the proxy, the worker opens its own, and the hash needs none.
 *        `keycloak` is its figure in Keycloak's sizing guide, whose figures of the database are those of `isWrite`.
 * Units: `keycloak` counts those a second for one processor.
 */
export type Kind = { what: string; caller: "outside" | "worker" | "none"; isWrite: boolean; keycloak?: number };

export const kinds = {
  password: { what: "Sign-on with a password", caller: "outside", isWrite: true, keycloak: 15 },
  hash: { what: "Hash of a password alone", caller: "none", isWrite: false },
  passkey: { what: "Sign-on with a passkey", caller: "outside", isWrite: true },
  card: { what: "Sign-on with a card", caller: "outside", isWrite: true },
  classList: { what: "Sign-on from a class list with pictures", caller: "outside", isWrite: true },
  session: { what: "Sign-on with a session", caller: "outside", isWrite: true },
  refresh: { what: "Refresh", caller: "outside", isWrite: true, keycloak: 120 },
  clientCredentials: { what: "Client credentials", caller: "outside", isWrite: false, keycloak: 120 },
  userRead: { what: "`GET /users/:id`", caller: "outside", isWrite: false },
  delivery: { what: "Delivery of a webhook", caller: "worker", isWrite: false },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as KindName[];

/**
 * For 100 sign-ons, sign-outs and refreshes a second.
 *
 * Source: https://www.keycloak.org/high-availability/single-cluster/concepts-memory-and-cpu-sizing
 */
export const keycloakDatabase = { mostProcessors: 0.7, writes: 1400 };
