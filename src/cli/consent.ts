import type { ClientId } from "../access/index.ts";
import { listAll, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Noun } from "./command.ts";
import { done, wholeList, type Columns } from "./lines.ts";
import { argument } from "./option.ts";

type Consent = NonNullable<Schemas["PersonConsent"]>;

const columns: Columns<Consent> = {
  "client id": ({ clientId }) => clientId,
  app: ({ appName }) => appName,
  scopes: ({ scopes }) => scopes.join(" "),
  since: ({ grantedAt }) => grantedAt,
};

const consents = "/admin/v1/people/{personId}/consents";

export const consent: Noun = {
  verbs: {
    list: makeApiCommand({
      summary: "List what apps may get to know of a person, as the person agreed to it.",
      args: { person: argument.person() },
      run: async ({ api }, { args: { person: personId } }) => {
        const read = (query: object) => api.GET(consents, { params: { path: { personId }, query } });
        const found = (await listAll(read)).filter((one) => one !== null);
        return wholeList("consents", found, { columns, id: ({ clientId }) => clientId });
      },
    }),
    withdraw: makeApiCommand({
      summary: "Withdraw a consent: the app loses its tokens of the person, who is asked again at the next sign-on.",
      args: { person: argument.person(), app: argument.text<ClientId>() },
      run: async ({ api }, { args: { person: personId, app: clientId } }) => {
        await api.DELETE(`${consents}/{clientId}`, { params: { path: { personId, clientId } } });
        return done("Consent withdrawn.", { person: personId, clientId });
      },
    }),
  },
};
