import { errors } from "oidc-provider";
import type { FormCheck } from "../../../platform/http/index.ts";

/** Holds the parameters of a request against the contract. Errors: `invalid_request` that names the parameter. */
export function checkParameters(check: FormCheck, params: Record<string, unknown>): void {
  const fault = check(params);
  if (fault !== null) throw new errors.InvalidRequest(fault.message);
}
