import { listAll, omitUndefined, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Verbs } from "./command.ts";
import { wholeList, type Columns } from "./lines.ts";
import { option, required } from "./option.ts";

const columns: Columns<Schemas["CatalogueApp"]> = {
  "client id": ({ clientId }) => clientId,
  name: ({ name }) => name,
  provider: ({ provider }) => provider,
  "sign-on": ({ grant }) => grant?.signOn.kind ?? null,
  sync: ({ grant }) => grant && (grant.sync ? "on" : "off"),
  scopes: ({ scopes }) => scopes.join(" "),
  "last sign-in": ({ lastSignInAt }) => lastSignInAt,
};

export const verbs: Verbs = {
  list: makeApiCommand({
    summary: "List the apps that a school can choose, with what it gave them.",
    options: {
      school: required(option.school("The school.")),
      search: option.text("Only apps whose name contains this text."),
      granted: option.oneOf(["yes", "no"], "Only apps to which the school gave something, or only the others."),
    },
    run: async ({ api }, { options: { school: schoolId, search, granted } }) => {
      const path = { schoolId };
      const query = omitUndefined({ search, granted: granted === undefined ? undefined : granted === "yes" });
      const read = (page: object) =>
        api.GET("/admin/v1/schools/{schoolId}/catalogue", { params: { path, query: { ...query, ...page } } });
      return wholeList("apps", await listAll(read), { columns, id: ({ clientId }) => clientId });
    },
  }),
};
