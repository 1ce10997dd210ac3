import { errors, type KoaContextWithOIDC } from "oidc-provider";
import type { FormCheck } from "../../../platform/http/index.ts";

/** Holds the parameters of a request against the contract. Errors: `invalid_request` that names the parameter. */
export function checkParameters(check: FormCheck, params: Record<string, unknown>): void {
  const fault = check(params);
  if (fault !== null) throw new errors.InvalidRequest(fault.message);
}

/** Refuses spellings of `max_age` that JavaScript reads as a number and the contract does not, such as 1e2 or 0x10. */
export function checkMaxAgeSpelling({ method, query, oidc }: KoaContextWithOIDC): void {
  const given = ((method === "POST" ? oidc.body : query) ?? {})["max_age"];
  if (typeof given === "string" && given !== "" && !/^(0|[1-9]\d*)$/.test(given))
    throw new errors.InvalidRequest("invalid max_age parameter value");
}
