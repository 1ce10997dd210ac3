import type { PersonId, PersonName } from "../directory/index.ts";
import type { RuleField } from "./connection.ts";
import type { AccountRefusal } from "./failures.ts";

/** What one claim and one field of the roster would do with the account that signed in. */
export type Suggestion = { claim: string; field: RuleField; matches: number };

export type TestedSignIn = {
  at: Date;
  issuer: string;
  subject: string | null;
  scopes: string[];
  /** Each claim that arrived, with its values as text. */
  claims: { name: string; values: string[] }[];
  /** What the present rule does with it. */
  match:
    | { kind: "one"; personId: PersonId; name: PersonName | null }
    | { kind: "refused"; code: AccountRefusal; matches: number };
  suggestions: Suggestion[];
};
