import { listCatalogue, type CatalogueApp } from "../access/index.ts";
import { findSchool, type SchoolId } from "../directory/index.ts";
import { found, inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result, type Tools } from "./command.ts";
import { timeOf, wholeList, type Columns } from "./lines.ts";
import { option, required } from "./option.ts";
import * as far from "./remote/catalogue.ts";

/** An app that a school can choose, and what it gave it; null where it gave nothing. */
export type OfferedApp = Pick<
  CatalogueApp,
  "clientId" | "name" | "provider" | "purpose" | "scopes" | "lastSignInAt"
> & {
  signOn: NonNullable<CatalogueApp["grant"]>["signOn"]["kind"] | null;
  sync: boolean | null;
};

const columns: Columns<OfferedApp> = {
  "client id": ({ clientId }) => clientId,
  name: ({ name }) => name,
  provider: ({ provider }) => provider,
  "sign-on": ({ signOn }) => signOn,
  sync: ({ sync }) => (sync === null ? null : sync ? "on" : "off"),
  scopes: ({ scopes }) => scopes.join(" "),
  "last sign-in": ({ lastSignInAt }) => timeOf(lastSignInAt),
};

/** Shape: fields in the order in which they are printed. */
const show = (apps: readonly OfferedApp[]): Result =>
  wholeList(
    "apps",
    apps.map(({ clientId, name, provider, purpose, scopes, signOn, sync, lastSignInAt }) => ({
      clientId,
      name,
      provider,
      purpose,
      scopes,
      signOn,
      sync,
      lastSignInAt,
    })),
    { columns, id: ({ clientId }) => clientId },
  );

const partSize = 1000;

type Asked = { schoolId: SchoolId; search: string | undefined; granted: boolean | undefined };

const listAll = (tools: Tools, asked: Asked): Promise<OfferedApp[]> =>
  inDatabase(tools, async (db) => {
    found(await findSchool(db, asked.schoolId), "school_not_found", "The school does not exist.");
    const apps: OfferedApp[] = [];
    for (let after: string | undefined; ;) {
      const part = await listCatalogue(db, { ...asked, limit: partSize, after });
      apps.push(
        ...part.map(({ grant, ...app }) => ({ ...app, signOn: grant?.signOn.kind ?? null, sync: grant?.sync ?? null })),
      );
      after = part.at(-1)?.place;
      if (part.length < partSize) return apps;
    }
  });

const readGranted = (granted: string | undefined) => (granted === undefined ? undefined : granted === "yes");

export const catalogue: Noun = {
  verbs: {
    list: makeCommand({
      summary: "List the apps that a school can choose, with what it gave them.",
      options: {
        school: required(option.school("The school.")),
        search: option.text("Only apps whose name contains this text."),
        granted: option.oneOf(["yes", "no"], "Only apps to which the school gave something, or only the others."),
      },
      run: async (tools, { options: { school: schoolId, search, granted } }) =>
        show(await listAll(tools, { schoolId, search, granted: readGranted(granted) })),
      remote: async (remote, { options: { school: schoolId, search, granted } }) =>
        show(await far.listCatalogue(remote, { schoolId, search, granted: readGranted(granted) })),
    }),
  },
};
