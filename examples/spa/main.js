// Signs people in without a server and without a secret. Tokens are kept in memory only: after a reload the person
// signs in again, which takes no password while they are signed in at the service.
import * as oidc from "openid-client";

const { VITE_ISSUER: issuer = "http://localhost:3000", VITE_CLIENT_ID: clientId = "demo-spa" } = import.meta.env;
const redirectUri = `${location.origin}/callback`;

const discover = () =>
  oidc.discovery(new URL(issuer), clientId, undefined, oidc.None(), {
    // Without the first one the library takes an ID token of the token endpoint on trust.
    execute: [oidc.enableNonRepudiationChecks, ...(issuer.startsWith("http:") ? [oidc.allowInsecureRequests] : [])],
  });

async function startSignOn(query = new URLSearchParams()) {
  if ((query.get("iss") ?? issuer) !== issuer) throw new Error("This app does not know that issuer.");
  const attempt = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
  // Of this tab, so that the answer counts here only.
  sessionStorage.setItem("attempt", JSON.stringify(attempt));
  const url = oidc.buildAuthorizationUrl(await discover(), {
    redirect_uri: redirectUri,
    scope: "openid profile",
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: "S256",
    ...(query.has("login_hint") && { login_hint: query.get("login_hint") }),
  });
  location.assign(url);
}

async function finishSignOn() {
  const attempt = JSON.parse(sessionStorage.getItem("attempt"));
  sessionStorage.removeItem("attempt");
  if (!attempt) throw new Error("This tab began no sign-on.");
  const config = await discover();
  const answer = new URL(location.href);
  history.replaceState(null, "", "/"); // The code is in no history.
  const tokens = await oidc.authorizationCodeGrant(config, answer, {
    expectedState: attempt.state,
    expectedNonce: attempt.nonce,
    pkceCodeVerifier: attempt.verifier,
  });
  const person = await oidc.fetchUserInfo(config, tokens.access_token, tokens.claims().sub);
  const signOut = () => location.assign(oidc.buildEndSessionUrl(config, { id_token_hint: tokens.id_token }));
  show(`Hello ${person.given_name ?? "somebody without a name"}!`, "Sign out", signOut);
}

function show(text, label, act) {
  const button = Object.assign(document.createElement("button"), { textContent: label, onclick: act });
  document.querySelector("main").replaceChildren(text, " ", button);
}

const signInAgain = (error) => {
  console.info(error);
  show("That did not work.", "Try again", () => startSignOn());
};

// The Login URL: a tile opens it with iss and login_hint.
if (location.pathname === "/login") startSignOn(new URLSearchParams(location.search)).catch(signInAgain);
else if (location.pathname === "/callback") finishSignOn().catch(signInAgain);
else show("", "Sign in", () => startSignOn().catch(signInAgain));
