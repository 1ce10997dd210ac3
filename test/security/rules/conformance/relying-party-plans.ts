import type { Plan } from "./plans.ts";

export type RelyingPartyPlan = "rpBasic" | "rpConfig" | "rpMore" | "rpLogout" | "rpBackchannel";

/** The plans of the suite for relying parties: the service is one at the logins that schools have elsewhere. */
export const relyingPartyPlans: Record<RelyingPartyPlan, Plan> = {
  rpBasic: {
    title: "Basic RP",
    name: "oidcc-client-basic-certification-test-plan",
    text: `Here and in the plans below, the service is a relying party: pupils sign in with a login that their school has elsewhere. Client
registration \`static_client\`.`,
    modules: {
      "oidcc-client-test": "a whole flow: authorization request, token request, userinfo request",
      "oidcc-client-test-invalid-iss": "an ID token of another issuer is refused",
      "oidcc-client-test-missing-sub": "an ID token without `sub` is refused",
      "oidcc-client-test-invalid-aud": "an ID token for another client is refused",
      "oidcc-client-test-missing-iat": "an ID token without `iat` is refused",
      "oidcc-client-test-kid-absent-single-jwks": "an ID token without `kid` is accepted where one key is published",
      "oidcc-client-test-kid-absent-multiple-jwks":
        "an ID token without `kid`, where several keys fit, is refused or checked with each of them",
      "oidcc-client-test-idtoken-sig-rs256": "an ID token with RS256 is accepted",
      "oidcc-client-test-idtoken-sig-none": "an ID token without a signature, which a client may accept",
      "oidcc-client-test-invalid-sig-rs256": "an ID token with a wrong signature is refused",
      "oidcc-client-test-userinfo-invalid-sub": "userinfo about another `sub` is refused",
      "oidcc-client-test-nonce-invalid": "an ID token with another `nonce` is refused",
      "oidcc-client-test-scope-userinfo-claims": "claims that a scope asks for are read from userinfo",
      "oidcc-client-test-client-secret-basic": "the secret is sent in the header, where it is registered so",
    },
  },
  rpConfig: {
    title: "Config RP",
    name: "oidcc-client-config-certification-test-plan",
    text: "Discovery and keys.",
    modules: {
      "oidcc-client-test-discovery-openid-config": "the discovery document is read, and its endpoints are used",
      "oidcc-client-test-discovery-jwks-uri-keys": "the keys at `jwks_uri` are read",
      "oidcc-client-test-discovery-issuer-mismatch": "a discovery document of another issuer is refused",
      "oidcc-client-test-idtoken-sig-none": "an ID token without a signature, which a client may accept",
      "oidcc-client-test-signing-key-rotation-just-before-signing":
        "a key that is published after the keys were read is found",
      "oidcc-client-test-signing-key-rotation": "a new key between two sign-ins is found",
    },
  },
  rpMore: {
    title: "Other modules for relying parties",
    name: "oidcc-client-test-plan",
    text: "Not part of a certification. These are its modules about the code flow that no other table has.",
    modules: {
      "oidcc-client-test-missing-aud": "an ID token without `aud` is refused",
      "oidcc-client-test-userinfo-bearer-header": "the access token is sent in the header",
      "oidcc-client-test-userinfo-bearer-body": "the access token is sent in the form",
      "oidcc-client-test-userinfo-signed": "userinfo as a signed token",
      "oidcc-client-test-invalid-sig-hs256": "an ID token with a wrong HS256 is refused",
      "oidcc-client-test-invalid-sig-es256": "an ID token with a wrong ES256 is refused",
      "oidcc-client-test-aggregated-claims": "claims of others in the token are read or ignored",
      "oidcc-client-test-distributed-claims": "addresses of claims of others are called or ignored",
      "oidcc-client-test-refresh-token": "a new ID token by refresh",
      "oidcc-client-test-dynamic-registration": "the client registers itself",
    },
  },
  rpLogout: {
    title: "RP-Initiated RP",
    name: "oidcc-client-rp-initiated-logout-rp-basic",
    text: "The school wants its session ended at the provider too.",
    modules: {
      "oidcc-client-test-rp-init-logout":
        "`end_session_endpoint` is called with the ID token, the address to come back to and `state`",
      "oidcc-client-test-rp-init-logout-other-state": "a response with another `state` is not taken for this logout",
      "oidcc-client-test-rp-init-logout-no-state": "nor is one without `state`",
    },
  },
  rpBackchannel: {
    title: "Back-Channel RP",
    name: "oidcc-client-back-channel-logout-rp-basic",
    text: "The logout token arrives while the browser is at the `end_session_endpoint`.",
    modules: {
      "oidcc-client-test-rp-backchannel-rpinitlogout": "a logout token gets 200 and ends the sessions",
      "oidcc-client-test-rp-backchannel-rpinitlogout-alg-none": "one without a signature: 400",
      "oidcc-client-test-rp-backchannel-rpinitlogout-no-event": "one without `events`: 400",
      "oidcc-client-test-rp-backchannel-rpinitlogout-with-nonce": "one with a `nonce`: 400",
      "oidcc-client-test-rp-backchannel-rpinitlogout-wrong-alg": "one with another algorithm: 400",
      "oidcc-client-test-rp-backchannel-rpinitlogout-wrong-aud": "one for another client: 400",
      "oidcc-client-test-rp-backchannel-rpinitlogout-wrong-event": "one about another event: 400",
      "oidcc-client-test-rp-backchannel-rpinitlogout-wrong-iss": "one of another issuer: 400",
    },
  },
};
