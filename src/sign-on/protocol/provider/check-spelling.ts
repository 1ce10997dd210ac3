import { errors, type KoaContextWithOIDC } from "oidc-provider";

/** Refuses spellings of `max_age` that JavaScript reads as a number and the contract does not, such as 1e2 or 0x10. */
export function checkMaxAgeSpelling({ method, query, oidc }: KoaContextWithOIDC): void {
  const given = ((method === "POST" ? oidc.body : query) ?? {})["max_age"];
  if (typeof given === "string" && given !== "" && !/^(0|[1-9]\d*)$/.test(given))
    throw new errors.InvalidRequest("invalid max_age parameter value");
}
