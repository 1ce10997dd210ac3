import described from "../../generated/openapi/admin-commands.json" with { type: "json" };
import { checkApp } from "./check-app.ts";
import { checkSchulconnex } from "./check-schulconnex.ts";
import type { Command, Commands, NounEntry, Verbs } from "./command.ts";
import { completion } from "./completion.ts";
import { makeContractCommand, type ContractCommand, type Extension, type Extensions } from "./contract-commands.ts";
import { listen } from "./listen.ts";
import { login, logout } from "./remote-login.ts";

/** What is written by hand for a noun: verbs that join several operations, and additions to those of the contract. */
type Part = { verbs?: Verbs; extensions?: Extensions };
type Parts = Readonly<Record<string, () => Promise<Part>>>;

type Described = { summary: string; isForPartners?: boolean; verbs: Readonly<Record<string, ContractCommand>> };
const { nouns, commands } = described as unknown as {
  nouns: Readonly<Record<string, Described>>;
  commands: Readonly<Record<"health" | "figures" | "rotate-signing-keys", ContractCommand>>;
};

export const contractCommand = (name: keyof typeof commands, extension?: Extension): Command =>
  makeContractCommand(commands[name], extension);

async function loadVerbs(verbs: Described["verbs"], part: Parts[string] | undefined): Promise<Verbs> {
  const { verbs: byHand = {}, extensions = {} } = (await part?.()) ?? {};
  const made = Object.entries(verbs).map(([verb, command]) => [verb, makeContractCommand(command, extensions[verb])]);
  return { ...(Object.fromEntries(made) as Verbs), ...byHand };
}

/** The nouns of the admin contract, or those of them that partners use. */
export const contractNouns = (parts: Parts, areForPartners = false): Commands =>
  Object.fromEntries(
    Object.entries(nouns)
      .filter(([, { isForPartners = false }]) => isForPartners || !areForPartners)
      .map(([name, { summary, verbs }]): [string, NounEntry] => [
        name,
        { summary, load: async () => ({ verbs: await loadVerbs(verbs, parts[name]) }) },
      ]),
  );

/** What nouns of the contract have beside it, by the noun. */
export const partnerParts: Parts = {
  app: () => import("./app.ts"),
  "id-move": async () => ({ extensions: (await import("./app.ts")).idMoveExtensions }),
  sandbox: () => import("./sandbox.ts"),
  agreement: () => import("./agreement.ts"),
  webhook: () => import("./webhook.ts"),
};

export const watchCommands = { health: contractCommand("health"), figures: contractCommand("figures") };

export const remote: NounEntry = {
  summary: "Remote services: log in to one, so that commands act on it with --remote.",
  load: () => import("./remotes.ts"),
};

/** What the package for partners has: commands that need neither a database nor another module of the service. */
export const partnerCommands: Commands = {
  ...contractNouns(partnerParts, true),
  remote,
  login,
  "check-app": checkApp,
  "check-schulconnex": checkSchulconnex,
  listen,
  logout,
  ...watchCommands,
  completion: completion(() => partnerCommands),
};
