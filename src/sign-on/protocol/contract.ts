import { isDeepStrictEqual } from "node:util";
import type { components, operations } from "../../../generated/openapi/sign-on.ts";
import { type ScopeName, scopeNames, scopeOfContract } from "../../access/index.ts";
import type { PersonRole } from "../../directory/index.ts";
import { type EnumsAgree, type Except, valuesOf } from "../../platform/contract-types.ts";
import { listFields, listOperations, makeFormCheck } from "../../platform/http/index.ts";
import type { FormCheck, OpenApiDocument, Schema } from "../../platform/http/index.ts";

type Schemas = components["schemas"];
export type TokenResponse = Schemas["TokenResponse"];
export type Introspection = Schemas["Introspection"];
export type LogoutTokenClaims = Schemas["LogoutTokenClaims"];
export type OAuthError = Schemas["OAuthError"];
export type DiscoveryDocument = Schemas["DiscoveryDocument"];
export type JsonWebKey = Schemas["JsonWebKey"];
export type JsonWebKeySet = Schemas["JsonWebKeySet"];
export type GrantType = Schemas["GrantType"];
export const grantTypes = valuesOf<GrantType>({
  authorization_code: true,
  refresh_token: true,
  client_credentials: true,
});

type AuthorizationRequest = operations["authorize"]["parameters"]["query"];
export const responseTypes = valuesOf<AuthorizationRequest["response_type"]>({ code: true });
export type ResponseMode = NonNullable<AuthorizationRequest["response_mode"]>;
export const responseModes = valuesOf<ResponseMode>({ query: true, fragment: true, form_post: true });
export const codeChallengeMethods = valuesOf<NonNullable<AuthorizationRequest["code_challenge_method"]>>({
  S256: true,
});

export const enums: EnumsAgree<
  Schemas,
  {
    GrantType: "authorization_code" | "refresh_token" | "client_credentials";
    TokenTypeHint: "access_token" | "refresh_token";
    UserRole: PersonRole;
  }
> = true;

type ClaimsOfLibrary = "iss" | "aud" | "sub" | "nonce" | "acr" | "amr" | "sid" | "auth_time" | "iat" | "exp";
/** Claims about the person, which userinfo has too. */
export type PersonClaims = Except<Schemas["Userinfo"], "sub">;
/** The other claims of an ID token that this module writes. */
export type TokenClaims = Except<Schemas["IdTokenClaims"], ClaimsOfLibrary | keyof PersonClaims>;

// Checked by the library after it has found the code: a wrong code must be `invalid_grant`, whatever the verifier is.
const verifier = { type: "string", minLength: 43, maxLength: 128, pattern: "^[A-Za-z0-9._~-]+$" };

export type OperationId = keyof operations;
const operationIds = valuesOf<OperationId>({
  authorize: true,
  authorizeWithForm: true,
  issueToken: true,
  introspectToken: true,
  revokeToken: true,
  getUserinfo: true,
  getUserinfoWithForm: true,
  endSession: true,
  endSessionWithForm: true,
  getDiscovery: true,
  listKeys: true,
});

// OAuth has its own errors for other values; an unknown hint is ignored (RFC 7009 section 2.1).
const leftToLibrary = new Set(["grant_type", "response_type", "token_type_hint", "code_verifier"]);

type Names = ReadonlySet<string>;

export type SignOnContract = {
  claimsByScope: Record<string, string[]>;
  checkRequest: Record<OperationId, FormCheck>;
  /** By route of the library: the parameters in the address that it may read. */
  parameters: Record<"authorization" | "end_session" | "userinfo", Names>;
  /** By route of the library: the fields of a form that it may read. */
  fields: Readonly<Record<string, Names>>;
};

/** Errors: throws if contract and code differ. */
export function readContract(document: OpenApiDocument): SignOnContract {
  const operations = new Map(listOperations(document).map(({ operation }) => [operation.operationId, operation]));
  refuseGaps("operations", operationIds, [...operations.keys()]);
  const makeCheck = makeFormCheck(document);
  const checks = operationIds.map((id) => [id, makeCheck(operations.get(id)!, { except: leftToLibrary })] as const);
  const fieldsOf = (id: OperationId) => listFields(document, operations.get(id)!);
  const namesOf = (id: OperationId, ...more: string[]) => new Set([...fieldsOf(id).map(([name]) => name), ...more]);
  for (const [name, schema] of fieldsOf("issueToken")) if (name === "code_verifier") refuseOtherVerifier(schema);
  refuseGaps("scopes", scopeNames, listScopes(document, "userContext"));
  return {
    claimsByScope: readClaims(document),
    checkRequest: Object.fromEntries(checks) as Record<OperationId, FormCheck>,
    parameters: {
      // Parameters that the contract lists only in its text as refused, and the language of the page.
      authorization: namesOf("authorize", "request", "request_uri", "registration", "lang"),
      end_session: namesOf("endSession", "lang"),
      userinfo: new Set(["access_token"]),
    },
    fields: {
      token: namesOf("issueToken"),
      introspection: namesOf("introspectToken"),
      revocation: namesOf("revokeToken"),
      userinfo: namesOf("getUserinfoWithForm"),
    },
  };
}

function refuseOtherVerifier({ type, minLength, maxLength, pattern }: Schema): void {
  if (isDeepStrictEqual({ type, minLength, maxLength, pattern }, verifier)) return;
  throw new Error("openapi/sign-on.yaml and the library differ in what a code_verifier is.");
}

function listScopes({ components }: OpenApiDocument, scheme: string): ScopeName[] {
  const flows = Object.values(components.securitySchemes?.[scheme]?.flows ?? {});
  return flows.flatMap(({ scopes = {} }) => Object.keys(scopes)).map(scopeOfContract);
}

const protocolClaims = ["iss", "aud", "nonce", "acr", "amr", "iat", "exp"];

function readClaims({ components }: OpenApiDocument): Record<string, string[]> {
  const schemaOf = (name: string): Schema => components.schemas?.[name] ?? {};
  const [claims, userinfo] = [schemaOf("IdTokenClaims"), schemaOf("Userinfo")];
  const byScope = Object.fromEntries(
    Object.entries((claims["x-claims-by-scope"] ?? {}) as Record<string, string[]>).map(([scope, names]) => [
      scopeOfContract(scope),
      names,
    ]),
  );
  const { openid = [], ...others } = byScope;
  const ofPerson = Object.values(others).flat();
  refuseGaps(
    "claims of an ID token",
    [...protocolClaims, ...openid, ...ofPerson],
    Object.keys(claims.properties ?? {}),
  );
  refuseGaps("claims of userinfo", ["sub", ...ofPerson], Object.keys(userinfo.properties ?? {}));
  const always = new Set([...protocolClaims, ...openid]);
  const required = [...(claims.required ?? []).filter((name) => !always.has(name)), ...(userinfo.required ?? [])];
  refuseGaps("claims that every sign-on brings", ["sub"], required);
  return byScope;
}

function refuseGaps(what: string, inCode: readonly string[], inContract: readonly string[]): void {
  const missing = inContract.filter((name) => !inCode.includes(name));
  const unknown = inCode.filter((name) => !inContract.includes(name));
  if (missing.length + unknown.length === 0) return;
  throw new Error(
    `openapi/sign-on.yaml and the code differ in the ${what}. Only in the contract: ${missing.join(", ") || "none"}. ` +
      `Only in the code: ${unknown.join(", ") || "none"}.`,
  );
}
