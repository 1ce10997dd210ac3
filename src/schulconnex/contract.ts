import type { AccessToken } from "../access/index.ts";
import type { Handler } from "../platform/http/index.ts";
import type { EnumsAgree, ParametersAgree } from "../platform/contract-types.ts";
import type { components, operations } from "../../generated/openapi/schulconnex.ts";

export type SchulconnexHandler<Id extends keyof operations> = Handler<operations[Id], AccessToken>;

export const parameters: ParametersAgree<
  operations,
  {
    listPersonenInfo: "vollstaendig" | "pid" | "personenkontext.id" | "gruppe.id" | "organisation.id";
  }
> = true;

/** The codes of the standard; records.ts uses some of them. */
export const enums: EnumsAgree<
  components["schemas"],
  {
    Gruppenrolle: "Lern" | "Lehr" | "KlLeit" | "Foerd" | "SchB" | "GMit" | "GLeit";
    Gruppentyp: "Klasse" | "Kurs" | "Sonstig";
    Organisationstyp: "SCHULE" | "ANBIETER" | "SONSTIGE";
    Rolle: "LERN" | "LEHR" | "SORGBER" | "EXTERN" | "ORGADMIN" | "LEIT" | "SYSADMIN";
  }
> = true;
