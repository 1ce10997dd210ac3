import type { components, operations } from "../../generated/openapi/oneroster.ts";
import type { AccessToken } from "../access/index.ts";
import type { ParametersAgree } from "../platform/contract-types.ts";
import type { Handlers } from "../platform/http/index.ts";

/** Both versions have the operations of one contract; the bundle of 1.1 is made from that of 1.2. */
export type Version = "v1p1" | "v1p2";

export type OneRosterHandlers = Handlers<operations, AccessToken>;

type Lists = Extract<keyof OneRosterHandlers, `list${string}`>;
type Records = Extract<keyof OneRosterHandlers, `get${string}`>;

export const parameters: ParametersAgree<
  operations,
  { [Id in Lists]: "offset" | "sort" | "orderBy" | "filter" | "fields" } & { [Id in Records]: "fields" }
> = true;

export type ReferenceType = components["schemas"]["OneRosterReferenceType"];
