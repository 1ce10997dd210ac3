import type { Outcome } from "./flow.ts";
import { relyingPartyPlans, type RelyingPartyPlan } from "./relying-party-plans.ts";

export type Plan = { title: string; name: string; text: string; modules: Record<string, string> };

const basicModules: Record<string, string> = {
  "oidcc-server": "a whole flow; keys with distinct ids and no private part; length and entropy of the code; `at_hash`",
  "oidcc-response-type-missing": "a request without `response_type` is an error",
  "oidcc-idtoken-signature": "RS256 and `kid` where the app chose no algorithm",
  "oidcc-idtoken-unsigned": "an ID token without a signature, if offered",
  "oidcc-userinfo-get": "userinfo by GET: JSON, `sub` of the ID token",
  "oidcc-userinfo-post-header": "userinfo by POST with the token in the header",
  "oidcc-userinfo-post-body": "userinfo by POST with the token in the form",
  "oidcc-ensure-request-without-nonce-succeeds-for-code-flow": "a request without `nonce` succeeds",
  "oidcc-scope-profile": "the claims of `profile` and their types",
  "oidcc-scope-email": "the claims of `email`",
  "oidcc-scope-address": "the claims of `address`",
  "oidcc-scope-phone": "the claims of `phone`",
  "oidcc-scope-all": "all four scopes together",
  "oidcc-alternate-happy-flow": "scopes and parameters in another order",
  "oidcc-display-page": "`display=page` is no error",
  "oidcc-display-popup": "`display=popup` is no error",
  "oidcc-prompt-login": "`prompt=login` asks for the password; `auth_time` is later",
  "oidcc-prompt-none-not-logged-in":
    "`prompt=none` without a session is an error; a `state` of 128 characters comes back",
  "oidcc-prompt-none-logged-in": "`prompt=none` with a session: same `sub` and `auth_time`",
  "oidcc-max-age-1": "`max_age=1` after 2 seconds asks for the password; `auth_time` is later",
  "oidcc-max-age-10000": "`max_age=10000` asks nothing; same `sub` and `auth_time`",
  "oidcc-ensure-request-with-unknown-parameter-succeeds": "`extra=foobar` is ignored",
  "oidcc-id-token-hint": "`prompt=none` with the ID token as a hint succeeds",
  "oidcc-login-hint": "`login_hint` is no error",
  "oidcc-ui-locales": "`ui_locales` is no error",
  "oidcc-claims-locales": "`claims_locales` is no error",
  "oidcc-ensure-request-with-acr-values-succeeds": "`acr_values` is no error; `acr` has one of them",
  "oidcc-codereuse": "a code that is used again is `invalid_grant`",
  "oidcc-codereuse-30seconds": "the same after 30 seconds; the access token is revoked",
  "oidcc-ensure-registered-redirect-uri": "an unregistered redirect URI gets an error page",
  "oidcc-ensure-post-request-succeeds": "the authorization request by POST",
  "oidcc-server-client-secret-post": "a whole flow with the secret in the form",
  "oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported":
    "`request_uri` is processed or refused as unsupported",
  "oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported":
    "`request` is processed or refused as unsupported",
  "oidcc-claims-essential": "an essential claim in the parameter `claims`",
  "oidcc-ensure-request-object-with-redirect-uri": "the redirect URI of a request object comes first",
  "oidcc-refresh-token": "refresh: cache headers, entropy, new tokens, same person and `auth_time`; bound to the app",
  "oidcc-ensure-request-with-valid-pkce-succeeds": "a whole flow with PKCE",
};

/** The plans of the OpenID Foundation's suite, with their modules in its order and what each checks. */
export const plans: Record<
  "basic" | "formPost" | "config" | "thirdParty" | "logout" | "backchannel" | "dynamic" | RelyingPartyPlan,
  Plan
> = {
  basic: {
    title: "Basic OP",
    name: "oidcc-basic-certification-test-plan",
    text: "Response type `code`, client authentication `client_secret_basic`, a registered app without PKCE.",
    modules: basicModules,
  },
  formPost: {
    title: "Form Post OP",
    name: "oidcc-formpost-basic-certification-test-plan",
    text: `All modules of Basic OP with \`response_mode=form_post\`. The response comes as a form that is posted; its address has neither
\`code\` nor \`error\`.`,
    modules: basicModules,
  },
  config: {
    title: "Config OP",
    name: "oidcc-config-certification-test-plan",
    text: "Client registration `static_client`.",
    modules: {
      "oidcc-discovery-endpoint-verification":
        "status and type of the document; issuer, endpoints, algorithms, scopes, claims, grants, languages; keys without private parts; https in production",
    },
  },
  thirdParty: {
    title: "3rd Party-Init OP",
    name: "oidcc-3rdparty-init-login-certification-test-plan",
    text: "The address for a sign-on that others start is the Login URL here.",
    modules: {
      "oidcc-3rd_party-init-login": "the address is registered, returned and read again",
      "oidcc-3rd_party-init-login-nohttps": "an address without https is refused",
    },
  },
  logout: {
    title: "RP-Initiated OP",
    name: "oidcc-rp-initiated-logout-certification-test-plan",
    text: "Each logout is also checked with `prompt=none`, which must then be an error, with a `state` of 128 characters.",
    modules: {
      "oidcc-rp-initiated-logout-discovery-endpoint-verification": "discovery names `end_session_endpoint`",
      "oidcc-rp-initiated-logout": "the browser returns to the registered address with `state` and nothing else",
      "oidcc-rp-initiated-logout-bad-post-logout-redirect-uri": "an unregistered address is not called",
      "oidcc-rp-initiated-logout-modified-id-token-hint": "a hint changed to `alg: none` is refused",
      "oidcc-rp-initiated-logout-no-id-token-hint": "without a hint the address is not called",
      "oidcc-rp-initiated-logout-no-params": "without parameters the person is signed out",
      "oidcc-rp-initiated-logout-no-post-logout-redirect-uri": "without an address the person is signed out",
      "oidcc-rp-initiated-logout-no-state": "without `state` the address is called without it",
      "oidcc-rp-initiated-logout-only-state": "with `state` only the person is signed out",
      "oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri":
        "an address with a query added is not called",
      "oidcc-rp-initiated-logout-bad-id-token-hint": "a hint signed by somebody else is refused",
    },
  },
  backchannel: {
    title: "Back-Channel OP",
    name: "oidcc-backchannel-rp-initiated-logout-certification-test-plan",
    text: "The app registers a back-channel logout address.",
    modules: {
      "oidcc-backchannel-logout-discovery-endpoint-verification":
        "discovery offers back-channel logout with the session",
      "oidcc-backchannel-rp-initiated-logout":
        "one POST with `logout_token` only: signature, `iss`, `aud`, `iat`, `jti`, `events`, `sub` and `sid` of the ID token, no `nonce`",
    },
  },
  dynamic: {
    title: "Dynamic OP",
    name: "oidcc-dynamic-certification-test-plan",
    text: `The plan needs dynamic registration and the implicit flow, which are not offered. These are its modules that no other table has;
they run with apps that an operator registered.`,
    modules: {
      "oidcc-idtoken-rs256": "RS256 and `kid` where the app chose RS256",
      "oidcc-userinfo-rs256": "signed userinfo",
      "oidcc-ensure-redirect-uri-in-authorization-request": "a request without a redirect URI gets an error page",
      "oidcc-redirect-uri-query-OK": "the query of a registered redirect URI is kept",
      "oidcc-redirect-uri-query-mismatch": "a redirect URI with another query gets an error page",
      "oidcc-redirect-uri-query-added": "a redirect URI with a query added gets an error page",
      "oidcc-redirect-uri-regfrag": "a redirect URI with a fragment cannot be registered",
      "oidcc-registration-logo-uri": "registration with a logo",
      "oidcc-registration-policy-uri": "registration with a policy",
      "oidcc-registration-tos-uri": "registration with terms of service",
      "oidcc-registration-jwks-uri": "registration with the address of keys",
      "oidcc-registration-sector-uri": "registration with a sector",
      "oidcc-registration-sector-bad": "registration with a wrong sector",
      "oidcc-server-rotate-keys": "after a rotation the key set has a new key, and the old one still",
      "oidcc-refresh-token-rp-key-rotation": "an app that replaces its keys",
      "oidcc-request-uri-unsigned": "`request_uri` of an unsigned request object",
      "oidcc-request-uri-signed-rs256": "`request_uri` of a signed request object",
      "oidcc-ensure-client-assertion-with-iss-aud-succeeds": "a client assertion for the issuer",
    },
  },
  ...relyingPartyPlans,
};

export const planKeys = Object.keys(plans) as (keyof typeof plans)[];

const words: Record<Outcome["result"], string> = {
  pass: "pass",
  warning: "pass, with a warning by decision",
  "not applicable": "not applicable",
  differs: "differs by decision",
};

const head = `# Conformance

The OpenID Foundation certifies providers and relying parties with its [conformance suite](https://openid.net/certification/). The modules
below have the suite's names and check what the suite checks. They run with all other tests, and \`npm run docs:conformance\` writes this page
from their results. The service is not certified, and the suite itself was not run. The plans for the implicit and the hybrid flow,
front-channel logout and session management are not applicable.

- *pass, with a warning by decision*: the suite ends the module with a warning, which does not prevent a certification.
- *not applicable*: the module is about an option that is not offered; the suite skips it.
- *differs by decision*: the suite ends the module with a failure.
`;

const decisions = `## Decisions that no module checks

The contract has these, and the suite accepts them:

| What | Why |
|---|---|
| \`aud\` of ID tokens and logout tokens is an array with the client ID | Apps can rely on one type. |
| Redirects have the status 302 | The contract says so; clients follow it with GET. |
| Every error of the token endpoint has the status 400, \`invalid_client\` too | With \`WWW-Authenticate\`, common clients would not read the error. |
| \`token_type\` is \`bearer\` in lower case | Its letter case has no meaning (RFC 6749 section 5.1). |
| A claim without a value is null | An app can tell a missing value from a claim that it did not request. The suite would refuse a null name; it tests with people who have names. |
| PKCE is required unless an app is registered without | It stops stolen codes. |
`;

export type Outcomes = Record<keyof typeof plans, Map<string, Outcome>>;

/** Prints the page. Errors: throws for a module without an outcome, and for an outcome without a module. */
export function printPage(outcomes: Outcomes): string {
  const printPlan = (key: keyof typeof plans): string => {
    const { title, name, text, modules } = plans[key];
    const left = new Map(outcomes[key]);
    const rows = Object.entries(modules).map(([module, checks]) => {
      const outcome = left.get(module);
      if (!left.delete(module) || outcome === undefined) throw new Error(`${module} of ${name} did not run`);
      return `| \`${module}\` | ${checks} | ${words[outcome.result]}${outcome.why && `: ${outcome.why}`} |`;
    });
    if (left.size > 0) throw new Error(`${name} has no ${[...left.keys()].join(", ")}`);
    return [`## ${title}`, "", `\`${name}\``, "", text, "", "| Module | Checks | Result |", "|---|---|---|", ...rows]
      .concat("")
      .join("\n");
  };
  return [head, ...planKeys.map(printPlan), decisions].join("\n");
}
