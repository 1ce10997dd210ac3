// better-auth with its OAuth provider, as its documentation sets it up, on PostgreSQL. The limits of requests for an
// address are off. The client is trusted, so nobody is asked for consent.
import { createServer } from "node:http";
import { oauthProvider } from "@better-auth/oauth-provider";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { toNodeHandler } from "better-auth/node";
import { jwt } from "better-auth/plugins";
import pg from "pg";

const { DATABASE_URL, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, SCOPE } = process.env;

const administrator = "administrator@school.example";

const server = createServer();
server.listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const url = `http://127.0.0.1:${server.address().port}`;

const options = {
  baseURL: url,
  secret: "a secret of thirty-two characters or more",
  database: new pg.Pool({ connectionString: DATABASE_URL, max: 16 }),
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  disabledPaths: ["/token"],
  plugins: [
    jwt({ jwks: { keyPairConfig: { alg: "RS256", modulusLength: 2048 } } }),
    oauthProvider({
      loginPage: "/sign-in",
      consentPage: "/consent",
      scopes: ["openid", "profile", "email", "offline_access", SCOPE],
      clientPrivileges: ({ user }) => user.email === administrator,
      generateClientId: () => CLIENT_ID,
      generateClientSecret: () => CLIENT_SECRET,
    }),
  ],
};
await (await getMigrations(options)).runMigrations();
const auth = betterAuth(options);
const signedUp = await auth.api.signUpEmail({
  body: { name: "Administrator", email: administrator, password: "bench-password" },
  returnHeaders: true,
});
const cookies = signedUp.headers.getSetCookie().map((line) => line.split(";", 1)[0]);
await auth.api.adminCreateOAuthClient({
  headers: { cookie: cookies.join("; ") },
  body: {
    client_name: "Bench",
    redirect_uris: [REDIRECT_URI],
    scope: `openid profile ${SCOPE}`,
    token_endpoint_auth_method: "client_secret_basic",
    grant_types: ["authorization_code", "client_credentials"],
    client_credentials_scopes: [SCOPE],
    response_types: ["code"],
    skip_consent: true,
  },
});
server.on("request", toNodeHandler(auth));
process.send({ url });
process.once("SIGTERM", () => process.exit(0));
process.once("disconnect", () => process.exit(1));
