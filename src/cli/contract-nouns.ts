import described from "../../generated/openapi/admin-commands.json" with { type: "json" };
import type { Commands, NounEntry, Verbs } from "./command.ts";
import type { ContractCommand, Extensions } from "./contract-commands.ts";

/** What is written by hand for a noun: verbs that join several operations, and additions to those of the contract. */
type Part = { verbs?: Verbs; extensions?: Extensions };
export type Parts = Readonly<Record<string, () => Promise<Part>>>;

type Described = { summary: string; isForPartners?: boolean; verbs: Readonly<Record<string, ContractCommand>> };
const nouns = Object.entries(described as unknown as Readonly<Record<string, Described>>);

async function loadVerbs(verbs: Described["verbs"], part: Parts[string] | undefined): Promise<Verbs> {
  const { makeContractCommand } = await import("./contract-commands.ts");
  const { verbs: byHand = {}, extensions = {} } = (await part?.()) ?? {};
  const made = Object.entries(verbs).map(([verb, command]) => [verb, makeContractCommand(command, extensions[verb])]);
  return { ...(Object.fromEntries(made) as Verbs), ...byHand };
}

const makeNouns = (chosen: typeof nouns, parts: Parts): Record<string, NounEntry> =>
  Object.fromEntries(
    chosen.map(([name, { summary, verbs }]) => [
      name,
      { summary, load: async () => ({ verbs: await loadVerbs(verbs, parts[name]) }) },
    ]),
  );

/** The nouns of the admin contract. */
export const contractNouns = (parts: Parts): Commands => makeNouns(nouns, parts);
export const partnerNouns = (parts: Parts): Commands =>
  makeNouns(
    nouns.filter(([, { isForPartners }]) => isForPartners === true),
    parts,
  );
