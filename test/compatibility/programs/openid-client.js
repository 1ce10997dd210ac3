import express from "express";
import session from "express-session";
import * as client from "openid-client";

const app = express();
app.use(session({ secret: process.env.SESSION_SECRET, resave: false, saveUninitialized: false }));

// configuration
const issuer = new URL(process.env.ISSUER);
const config = await client.discovery(
  issuer,
  process.env.CLIENT_ID,
  undefined,
  client.ClientSecretBasic(process.env.CLIENT_SECRET),
  // Only for a service on this machine.
  issuer.protocol === "http:" ? { execute: [client.allowInsecureRequests] } : undefined,
);
const redirect_uri = `${process.env.BASE_URL}/callback`;
const scope = "openid profile offline_access";
// end of configuration

app.get("/login", async (req, res) => {
  const attempt = {
    verifier: client.randomPKCECodeVerifier(),
    state: client.randomState(),
    nonce: client.randomNonce(),
  };
  req.session.attempt = attempt;
  const { state, nonce } = attempt;
  const code_challenge = await client.calculatePKCECodeChallenge(attempt.verifier);
  const parameters = { redirect_uri, scope, state, nonce, code_challenge, code_challenge_method: "S256" };
  res.redirect(client.buildAuthorizationUrl(config, parameters).href);
});
app.get("/callback", async (req, res) => {
  const { verifier, state, nonce } = req.session.attempt;
  const tokens = await client.authorizationCodeGrant(config, new URL(req.url, redirect_uri), {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  });
  req.session.user = { sub: tokens.claims().sub, accessToken: tokens.access_token };
  req.session.tokens = tokens;
  res.redirect("/");
});
app.get("/me", ({ session: { user } }, res) => (user ? res.json(user) : res.sendStatus(401)));
app.get("/userinfo", async ({ session: { user } }, res) =>
  res.json(await client.fetchUserInfo(config, user.accessToken, user.sub)),
);
app.get("/refresh", async (req, res) => {
  const tokens = await client.refreshTokenGrant(config, req.session.tokens.refresh_token);
  res.json({ accessToken: tokens.access_token });
});
app.get("/logout", (req, res) => {
  const id_token_hint = req.session.tokens.id_token;
  const post_logout_redirect_uri = `${process.env.BASE_URL}/`;
  req.session.destroy(() =>
    res.redirect(client.buildEndSessionUrl(config, { id_token_hint, post_logout_redirect_uri }).href),
  );
});
app.listen(process.env.PORT, () => console.log("ready"));
