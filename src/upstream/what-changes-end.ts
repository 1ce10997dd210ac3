import { isDeepStrictEqual } from "node:util";
import type { Prisma } from "../../generated/prisma/client.ts";

/**
 * What the change of a column ends: the links of accounts; the client secret, which was typed for this address, client
 * and way of sending it; the passed test; an operator's trust in its second factor; and, if a set-up link changed the
 * column, the confirmation for people other than pupils.
 */
type Ended = "links" | "secret" | "test" | "trust" | "confirmation";

const otherAccounts = ["links", "test", "trust", "confirmation"] as const;
const nothing = [] as const;

/** Does not compile if a column of the connection is missing: a new one must say what it decides. */
const endedBy = {
  issuer: [...otherAccounts, "secret"],
  tenant: otherAccounts,
  subjectClaim: otherAccounts,
  // The owner of another client may have chosen what its tokens say.
  clientId: ["secret", "test", "trust", "confirmation"],
  authMethod: ["secret", "test", "confirmation"],
  scopes: ["test", "confirmation"],
  // The last test sign-in shows at once what these do with it.
  schoolClaim: ["confirmation"],
  schoolValue: ["confirmation"],
  ruleClaim: ["confirmation"],
  ruleField: ["confirmation"],
  normalisations: ["confirmation"],
  // The client stays the same, and the provider checks its new secret.
  clientSecret: nothing,
  // Fewer or more people, but nobody as another person.
  groupIds: nothing,
  // A set-up link cannot change these.
  createsGuests: nothing,
  confirmedForStaff: nothing,
  trustedForSecondFactor: nothing,
  name: nothing,
  id: nothing,
  schoolId: nothing,
  profile: nothing,
  // What the issuer says at its own address, where the secret goes to no other host (`contact.ts`).
  metadata: nothing,
  keys: nothing,
  metadataReadAt: nothing,
  keysReadAt: nothing,
  refreshAt: nothing,
  // None of these decides who signs in.
  endsUpstreamSession: nothing,
  secretExpiresAt: nothing,
  state: nothing,
  testedAt: nothing,
  lastSuccessAt: nothing,
  failingSince: nothing,
  lastFailure: nothing,
  lastFailureAt: nothing,
  createdAt: nothing,
  updatedAt: nothing,
} as const satisfies Record<keyof Prisma.UpstreamConnectionModel, readonly Ended[]>;

type Column = keyof typeof endedBy;
type Ending<What extends Ended> = {
  [Name in Column]: What extends (typeof endedBy)[Name][number] ? Name : never;
}[Column];

/** Whether the two differ in a column that ends this. */
export const ends = <What extends Ended>(
  what: What,
  before: Readonly<Record<Ending<What>, unknown>>,
  after: Readonly<Record<Ending<What>, unknown>>,
): boolean =>
  (Object.keys(endedBy) as Ending<What>[]).some(
    (name) => (endedBy[name] as readonly Ended[]).includes(what) && !isDeepStrictEqual(before[name], after[name]),
  );
