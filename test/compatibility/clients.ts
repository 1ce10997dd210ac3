import type { NewApp } from "../../src/access/index.ts";

/** What is tried with each client, in the order of the table. */
export const steps = {
  signOn: "Sign-on",
  userinfo: "Userinfo",
  refresh: "Refresh",
  logout: "Logout from the app",
  backchannelLogout: "Back-channel logout",
} as const;
export type Step = keyof typeof steps;

export type Client = {
  name: string;
  /** The file in `programs`, without the ending `.js`. */
  program: string;
  /** In package.json, or of Debian; the table shows its version. */
  package: string;
  /** Of Debian: what to run in the folder of the programs. Without it, the file is run by Node. */
  command?: readonly [string, ...string[]];
  offers: readonly Step[];
  /** It is a page without a server. */
  isBrowser?: true;
  /** The path of the redirect URI. */
  callback: string;
  /** Where logout tokens are sent to, if not to /backchannel-logout. */
  backchannelLogoutPath?: string;
  /** Where a person begins, if not at /login: a page with a button for the service. */
  signInPage?: string;
  /** What the registration of the app must say besides its addresses. */
  registration?: Partial<NewApp>;
  /** What somebody who uses it should know. */
  note?: string;
};

export const clients: readonly Client[] = [
  {
    name: "passport-openidconnect",
    program: "passport-openidconnect",
    package: "passport-openidconnect",
    offers: ["signOn", "userinfo"],
    callback: "/callback",
    registration: { pkceRequired: false, tokenEndpointAuthMethod: "client_secret_post" },
    note: "It knows no PKCE, and sends its secret in the form. Signing out ends the session of your app only.",
  },
  {
    name: "express-openid-connect",
    program: "express-openid-connect",
    package: "express-openid-connect",
    offers: ["signOn", "userinfo", "refresh", "logout", "backchannelLogout"],
    callback: "/callback",
    note: "In production, replace the memory store by one that all processes of your app share.",
  },
  {
    name: "Auth.js",
    program: "auth-js",
    package: "@auth/express",
    offers: ["signOn", "userinfo"],
    callback: "/auth/callback/schultor",
    signInPage: "/auth/signin",
    note: "Name the scopes: by default, Auth.js also asks for `email`, which the service does not have. Signing out ends the session of your app only.",
  },
  {
    name: "better-auth",
    program: "better-auth",
    package: "better-auth",
    offers: ["signOn", "userinfo", "refresh", "logout"],
    callback: "/api/auth/callback/schultor",
  },
  {
    name: "Hono",
    program: "hono",
    package: "@hono/oidc-auth",
    offers: ["signOn", "refresh"],
    callback: "/callback",
    note: "Name the scopes: by default, the middleware asks for all that the service knows. Signing out revokes the refresh token and ends the session of your app only.",
  },
  {
    name: "openid-client",
    program: "openid-client",
    package: "openid-client",
    offers: ["signOn", "userinfo", "refresh", "logout"],
    callback: "/callback",
    note: "Back-channel logout needs a few lines of your own; see [Logout](logout.md).",
  },
  {
    name: "oidc-client-ts",
    program: "oidc-client-ts",
    package: "oidc-client-ts",
    offers: ["signOn", "userinfo", "refresh", "logout"],
    isBrowser: true,
    callback: "/callback",
  },
  {
    name: "angular-oauth2-oidc",
    program: "angular-oauth2-oidc",
    package: "angular-oauth2-oidc",
    offers: ["signOn", "userinfo", "refresh", "logout"],
    isBrowser: true,
    callback: "/callback",
  },
  {
    name: "AppAuth-JS",
    program: "appauth-js",
    package: "@openid/appauth",
    offers: ["signOn", "refresh"],
    isBrowser: true,
    callback: "/callback",
    note: "AppAuth-JS does not verify the ID token.",
  },
  {
    name: "keycloak-js",
    program: "keycloak-js",
    package: "keycloak-js",
    offers: ["signOn", "userinfo", "refresh", "logout"],
    isBrowser: true,
    callback: "/callback",
    note: "It reads access tokens and refresh tokens as JWTs, and here they are opaque, so that nobody can sign in. Use oidc-client-ts instead.",
  },
  {
    name: "mod_auth_openidc",
    program: "mod_auth_openidc.conf",
    package: "libapache2-mod-auth-openidc",
    // Apache ends its whole process group.
    command: ["/usr/bin/setsid", "/usr/sbin/apache2", "-DFOREGROUND", "-f"],
    offers: ["signOn", "userinfo", "refresh", "logout", "backchannelLogout"],
    callback: "/callback",
    backchannelLogoutPath: "/callback?logout=backchannel",
  },
  {
    name: "Authlib",
    program: "authlib-flask.py",
    package: "python3-authlib",
    command: ["/usr/bin/python3"],
    offers: ["signOn", "userinfo", "refresh"],
    callback: "/callback",
    note: "Logout in both directions needs a few lines of your own; see [Logout](logout.md).",
  },
  {
    name: "go-oidc",
    program: "go-oidc.go",
    package: "golang-github-coreos-go-oidc-dev",
    command: [
      "/bin/sh",
      "-c",
      'GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$PROGRAMS/../go go build -o $FOLDER/app "$0" && exec $FOLDER/app',
    ],
    offers: ["signOn", "userinfo", "refresh"],
    callback: "/callback",
    registration: { pkceRequired: false },
    note: "Newer versions than that of Debian can use PKCE: `oauth2.S256ChallengeOption`.",
  },
  {
    name: "omniauth-openid-connect",
    program: "omniauth-openid-connect.rb",
    package: "ruby-omniauth-openid-connect",
    command: ["/usr/bin/ruby"],
    offers: ["signOn", "userinfo", "refresh"],
    callback: "/auth/schultor/callback",
    registration: { pkceRequired: false },
    note: "This version knows no PKCE. The address of its own logout does not name your app, so that nobody comes back from it: build one yourself; see [Logout](logout.md).",
  },
];

export const backchannelPathOf = ({ backchannelLogoutPath = "/backchannel-logout" }: Client) => backchannelLogoutPath;
/** Of its program in the folder of the programs. */
export const fileOf = ({ program, command }: Client) => (command ? program : `${program}.js`);
