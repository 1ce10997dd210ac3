import type { AccessToken } from "../access/index.ts";
import type { Handler } from "../platform/http/index.ts";
import type { EnumsAgree, ParametersAgree } from "../platform/contract-types.ts";
import type { components, operations } from "../../generated/openapi/schulconnex.ts";
import type { Code } from "./codes.ts";

export type SchulconnexHandler<Id extends keyof operations> = Handler<operations[Id], AccessToken>;

export const parameters: ParametersAgree<
  operations,
  {
    listPersonenInfo: "vollstaendig" | "pid" | "personenkontext.id" | "gruppe.id" | "organisation.id" | "offset";
  }
> = true;

export const enums: EnumsAgree<
  components["schemas"],
  {
    Gruppenrolle: Code<"Gruppenrolle">;
    Gruppentyp: Code<"Gruppentyp">;
    Organisationstyp: Code<"Organisationstyp">;
    Rolle: Code<"Rolle">;
  }
> = true;
