import type { ClientId } from "../access/index.ts";
import type { PersonId } from "../directory/index.ts";
import { withPrismaTransaction } from "../platform/database/db.ts";
import type { ConsentOfPerson } from "../sign-on/index.ts";
import { inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result } from "./command.ts";
import { done, timeOf, wholeList, type Columns } from "./lines.ts";
import { argument } from "./option.ts";
import * as far from "./remote/session.ts";
import { checkPerson } from "./session.ts";

const signOn = () => import("../sign-on/index.ts");

const columns: Columns<ConsentOfPerson> = {
  "client id": ({ clientId }) => clientId,
  app: ({ appName }) => appName,
  scopes: ({ scopes }) => scopes.join(" "),
  since: ({ grantedAt }) => timeOf(grantedAt),
};

/** Shape: fields in the order in which they are printed. */
const show = (consents: readonly ConsentOfPerson[]): Result =>
  wholeList(
    "consents",
    consents.map(({ clientId, appName, scopes, grantedAt }) => ({ clientId, appName, scopes, grantedAt })),
    { columns, id: ({ clientId }) => clientId },
  );

const withdrawn = (person: PersonId, clientId: string): Result => done("Consent withdrawn.", { person, clientId });

export const consent: Noun = {
  verbs: {
    list: makeCommand({
      summary: "List what apps may get to know of a person, as the person agreed to it.",
      takes: { person: argument.person() },
      run: async (tools, { given: { person } }) => {
        await checkPerson(tools, person);
        const { listConsents } = await signOn();
        return show(await inDatabase(tools, (db) => listConsents(db, person)));
      },
      remote: async (remote, { given: { person } }) => show(await far.listConsents(remote, person)),
    }),
    withdraw: makeCommand({
      summary: "Withdraw a consent: the app loses its tokens of the person, who is asked again at the next sign-on.",
      takes: { person: argument.person(), app: argument.text<ClientId>() },
      run: async (tools, { given: { person: personId, app: clientId } }) => {
        const { withdrawConsentIn } = await signOn();
        await inDatabase(tools, (_db, whole) =>
          withPrismaTransaction(whole, (tx) => withdrawConsentIn(tx, { personId, clientId }, tools.origin())),
        );
        return withdrawn(personId, clientId);
      },
      remote: async (remote, { given: { person: personId, app: clientId } }) => {
        await far.withdrawConsent(remote, { personId, clientId });
        return withdrawn(personId, clientId);
      },
    }),
  },
};
