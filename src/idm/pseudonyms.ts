import type { ClientId } from "../access/index.ts";
import type { PersonId } from "../directory/index.ts";

export type MakePseudonym = (pair: { clientId: ClientId; personId: PersonId }) => string;

/** Puts the pseudonyms into JSON that has the person's id in their place: their key never reaches the database. */
export const makeFillPseudonyms = (makePseudonym: MakePseudonym) => (json: string, clientId: ClientId) =>
  // Inside a value the quotation marks would be escaped.
  json.replace(
    /"pseudonym":"([0-9a-f-]{36})"/g,
    (_, personId: PersonId) => `"pseudonym":${JSON.stringify(makePseudonym({ clientId, personId }))}`,
  );
