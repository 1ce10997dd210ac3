import { serve } from "@hono/node-server";
import { getAuth, initOidcAuthMiddleware, oidcAuthMiddleware, revokeSession } from "@hono/oidc-auth";
import { Hono } from "hono";

// The session is renewed by its refresh token at the first request after a second.
process.env.OIDC_AUTH_REFRESH_INTERVAL = "1";
const app = new Hono();

// configuration
app.use(
  initOidcAuthMiddleware({
    OIDC_ISSUER: process.env.ISSUER,
    OIDC_CLIENT_ID: process.env.CLIENT_ID,
    OIDC_CLIENT_SECRET: process.env.CLIENT_SECRET,
    OIDC_REDIRECT_URI: "/callback",
    OIDC_SCOPES: "openid profile offline_access",
    OIDC_AUTH_SECRET: process.env.SESSION_SECRET,
  }),
);
// end of configuration

app.use(async (c, next) => {
  c.set("oidcClaimsHook", (before, claims, tokens) => ({
    sub: claims?.sub ?? before.sub,
    accessToken: tokens.access_token,
  }));
  await next();
});
app.get("/me", async (c) => {
  const user = await getAuth(c);
  return user ? c.json(user) : c.body(null, 401);
});
app.get("/logout", async (c) => {
  await revokeSession(c);
  return c.text("signed out");
});
app.use("*", oidcAuthMiddleware());
app.get("/login", (c) => c.redirect("/"));
app.get("/refresh", async (c) => c.json(await getAuth(c)));
serve({ fetch: app.fetch, port: Number(process.env.PORT) }, () => console.log("ready"));
