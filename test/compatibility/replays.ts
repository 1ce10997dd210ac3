import type { NewApp } from "../../src/access/index.ts";
import type { Step } from "./clients.ts";

/** A client that does not run here: what its code sends, read from it and sent by test/api/sign-on/replays.test.ts. */
export type Replay = {
  name: string;
  /** Of the code that was read: a release or a commit. */
  version: string;
  offers: readonly Step[];
  callback: string;
  registration: Partial<NewApp>;
  /** What it sends beside the addresses, its client id, state and PKCE. */
  authorization: Record<string, string>;
  sendsNonce: boolean;
  usesPkce: boolean;
  secretIn: "form" | "header";
  note: string;
};

const claims = { email: null, name: null, quota: null, groups: null };

export const replays: readonly Replay[] = [
  {
    name: "Moodle auth_oidc",
    version: "9fe9f64",
    offers: ["signOn"],
    callback: "/auth/oidc/",
    registration: { pkceRequired: false, tokenEndpointAuthMethod: "client_secret_post" },
    authorization: {
      scope: "openid profile email",
      response_mode: "form_post",
      resource: "https://graph.microsoft.com",
      domain_hint: "school.example",
    },
    sendsNonce: true,
    usesPkce: false,
    secretIn: "form",
    note: "Choose *Other* as the type of the identity provider. It knows no PKCE, and always sends `resource`, which is ignored. The service has no `email`: map the claim `sub`.",
  },
  {
    name: "Nextcloud user_oidc",
    version: "82fefe3",
    offers: ["signOn", "userinfo", "logout"],
    callback: "/apps/user_oidc/code",
    registration: { tokenEndpointAuthMethod: "client_secret_post" },
    authorization: { scope: "openid email profile", claims: JSON.stringify({ id_token: claims, userinfo: claims }) },
    sendsNonce: true,
    usesPkce: true,
    secretIn: "form",
    note: "It sends its secret in the form wherever a service offers that. `claims` is ignored: scopes bring claims. Refresh and back-channel logout were not replayed.",
  },
  {
    name: "assent",
    version: "0.2.7",
    offers: ["signOn", "userinfo", "refresh"],
    callback: "/auth/schultor/callback",
    registration: { pkceRequired: false },
    authorization: { scope: "openid profile offline_access" },
    sendsNonce: false,
    usesPkce: false,
    secretIn: "header",
    note: "Set `nonce`, which it sends only if it is configured. It decodes nothing but `application/json`.",
  },
];
