import type { components as Idm, paths as IdmPaths } from "./openapi/idm.ts";
import type * as V1_7 from "./openapi/schulconnex-1.7.ts";
import type * as V1_8 from "./openapi/schulconnex-1.8.ts";
import type * as V1_4 from "./openapi/schulconnex.ts";
import type { components as Webhooks } from "./openapi/webhooks.ts";
export type { IdmPaths };
type Schulconnex = {
    V1_4: V1_4.components["schemas"];
    V1_7: V1_7.components["schemas"];
    V1_8: V1_8.components["schemas"];
};
/** How an app reads the codes of Schulconnex, such as `LERN` and `Lern`; its registration says which. */
export type SchulconnexSpelling = keyof Schulconnex;
export type SchulconnexPaths<Spelling extends SchulconnexSpelling = "V1_4"> = {
    V1_4: V1_4.paths;
    V1_7: V1_7.paths;
    V1_8: V1_8.paths;
}[Spelling];
type Schemas = Idm["schemas"];
export type School = Schemas["School"];
export type Roster = Schemas["Roster"];
export type User = Schemas["User"];
export type ListedGroup = Schemas["ListedGroup"];
export type Group = Schemas["Group"];
export type ListedPerson = Schemas["ListedPerson"];
export type Person = Schemas["Person"];
export type PersonName = Schemas["PersonName"];
export type Change = Schemas["Change"];
export type ChangeList = Schemas["ChangeList"];
export type Erasure = Schemas["Erasure"];
export type ErasureOutcome = Schemas["ErasureOutcome"];
export type EventAction = Schemas["EventAction"];
export type IdentifierChange = Schemas["IdentifierChange"];
export type Personendatensatz<Spelling extends SchulconnexSpelling = "V1_4"> = Schulconnex[Spelling]["Personendatensatz"];
export type Codeliste = V1_4.components["schemas"]["Codeliste"];
/** What a webhook tells: ids only, by `event` of a person, a group or a school. */
export type WebhookEvent = Webhooks["schemas"]["PersonEvent" | "GroupEvent" | "SchoolEvent"];
/** The filters of the list of Schulconnex records. */
export type PersonenInfoFilter = NonNullable<SchulconnexPaths["/idm/schulconnex/v1/personen-info"]["get"]["parameters"]["query"]>;
