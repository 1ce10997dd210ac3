import type { Verbs } from "./command.ts";
import { changes, listsAll } from "./verbs.ts";

const consents = "/admin/v1/people/{personId}/consents";

export const verbs: Verbs = {
  list: listsAll(consents, {
    summary: "List which data of a person each app may read with the person's consent.",
    name: "consents",
    columns: {
      "client id": ({ clientId }) => clientId,
      app: ({ appName }) => appName,
      scopes: ({ scopes }) => scopes.join(" "),
      since: ({ grantedAt }) => grantedAt,
    },
    id: ({ clientId }) => clientId,
  }),
  withdraw: changes("delete", `${consents}/{clientId}`, {
    summary: "Withdraw a consent: the app loses its tokens of the person, who is asked again at the next sign-on.",
    line: "Consent withdrawn.",
    data: ({ personId, clientId }) => ({ person: personId, clientId }),
  }),
};
