/** What is checked, why it matters, and what to do if it fails; `docs` is a page below `/docs`. */
type CheckText = { title: string; why: string; remedy: string; docs?: string };

const library =
  "A certified OpenID Connect library does this where it is given the issuer, and the state and nonce that were sent.";
const raw = "Verify over the bytes as they came, before they are parsed; /docs/receive-webhooks has the code.";

export const signOnChecks = {
  "login-url": {
    title: "The Login URL leads to the sign-on at once",
    why: "A tile opens the Login URL, and the person expects to be signed in without another click.",
    remedy: "Answer the Login URL with a redirect (302 or 303) to the authorization endpoint that discovery names.",
    docs: "/sign-on-server",
  },
  "login-hint": {
    title: "The login_hint of the Login URL is passed on",
    why: "Without it somebody else may end up signed in: the person who used the same browser before.",
    remedy: "Copy login_hint from the Login URL into the authorization request unchanged, encoded once.",
    docs: "/sign-on-server",
  },
  "authorization-request": {
    title: "The authorization request asks for a code, as the registered client, with the scope openid",
    why: "The service has the authorization code flow only, and gives an ID token with openid alone.",
    remedy: "Send response_type=code, your client_id, and a scope that has openid in it.",
  },
  "redirect-uri": {
    title: "The redirect URI is exactly the registered one, in both requests",
    why: "It is compared character by character: a slash at the end, another port or localhost for 127.0.0.1 is refused.",
    remedy: "Send the registered redirect URI as it is, in the authorization request and in the token request.",
  },
  "state-random": {
    title: "Each sign-on has a state of its own that nobody can guess",
    why: "Without it another website can sign a person in to your app as somebody else.",
    remedy: "Make at least 128 random bits for each sign-on and send them as state.",
  },
  "nonce-random": {
    title: "Each sign-on has a nonce of its own that nobody can guess",
    why: "It ties the ID token to this sign-on; without it an ID token of another one can be put in its place.",
    remedy: "Make at least 128 random bits for each sign-on and send them as nonce.",
  },
  pkce: {
    title: "PKCE with S256",
    why: "Whoever gets hold of a code cannot use it. Public apps must; without PKCE others will be refused later.",
    remedy:
      "Switch on PKCE in your library: code_challenge and code_challenge_method=S256 of a new verifier for each " +
      "sign-on, and code_verifier in the token request.",
  },
  "client-authentication": {
    title: "The app authenticates at the token endpoint in the way that it is registered for",
    why: "A registration names one way (--auth-method); every other is refused with invalid_client.",
    remedy:
      "Set token_endpoint_auth_method of your library to the registered way, or register the way of your library.",
    docs: "/sign-on-server",
  },
  "sign-in": {
    title: "A sign-on as it should be ends with the person signed in",
    why: "What follows compares with this: where nobody gets in, a refusal proves nothing.",
    remedy: "Look into the log of your app. Give --session-url where a page other than the last one shows who is in.",
    docs: "/sign-on-server",
  },
  "token-type-case": {
    title: "The token type is read in any case: Bearer, bearer and BEARER",
    why: "RFC 6749 section 5.1 says that its case does not matter.",
    remedy: "Compare token_type without regard to case, or leave it to your library.",
  },
  "state-wrong": {
    title: "An answer with another state, or without one, is refused",
    why: "A state that is not compared protects nobody.",
    remedy: `Compare the state of the answer with the one that was sent. ${library}`,
  },
  "state-other-browser": {
    title: "An answer that another browser brings is refused",
    why: "Somebody could send their own answer as a link, and whoever opens it works in their account.",
    remedy: "Keep the state in the session or in a cookie of the browser that began, and compare with that alone.",
  },
  "nonce-wrong": {
    title: "An ID token with another nonce, or without one, is refused",
    why: "A nonce that is not compared protects nobody.",
    remedy: `Compare the nonce of the ID token with the one that was sent. ${library}`,
  },
  "id-token-signature": {
    title: "An ID token with a wrong signature is refused",
    why: "Whoever can put another answer before your app signs in as anybody.",
    remedy:
      "Verify the signature with the published keys (jwks_uri). Some libraries do it on demand only: in openid-client, " +
      "enableNonRepudiationChecks.",
  },
  "id-token-alg-none": {
    title: "An ID token without a signature (alg none) is refused",
    why: "The sender of a token must not choose that nobody signs it.",
    remedy: "Accept the algorithms that discovery names, and no other.",
  },
  "id-token-audience": {
    title: "An ID token for another app is refused",
    why: "Another app that gets an ID token could sign in to yours with it.",
    remedy: "Check that aud is your client ID.",
  },
  "id-token-issuer": {
    title: "An ID token of another issuer is refused",
    why: "The same sub of another issuer is another person.",
    remedy: "Check that iss is the issuer, character by character.",
  },
  "id-token-expired": {
    title: "An ID token that has expired is refused",
    why: "An old token that somebody found would sign them in.",
    remedy: "Check exp, with a leeway of a minute or two at most.",
  },
  "iss-parameter": {
    title: "An answer with the iss of another issuer is refused (advice)",
    why: "It keeps another issuer from getting your codes, where your app knows several (RFC 9207).",
    remedy: "Compare iss of the answer with the issuer; discovery announces it.",
  },
} as const satisfies Record<string, CheckText>;

export const webhookChecks = {
  "webhook-signed": {
    title: "An event with a correct signature is confirmed in time",
    why: "Whatever is not answered with 2xx within 10 seconds has failed and is sent again.",
    remedy: "Write the event down, answer 204, and work afterwards.",
  },
  "webhook-raw-body": {
    title: "The signature is verified over the bytes as they came",
    why: "JSON that was parsed and written again has other spaces and escapes, and another signature.",
    remedy: raw,
  },
  "webhook-signature-wrong": {
    title: "A signature with another secret is refused",
    why: "Anybody can send your address an event; only the signature shows that it is ours.",
    remedy: `Answer 400 or 401 where the signature does not fit. ${raw}`,
    docs: "/webhooks",
  },
  "webhook-body-changed": {
    title: "A body that was changed after it was signed is refused",
    why: "The signature says who sent these bytes, and not only that somebody knows us.",
    remedy: raw,
    docs: "/webhooks",
  },
  "webhook-signature-missing": {
    title: "An event without a signature is refused",
    why: "Leaving the signature out must not be easier than forging it.",
    remedy: "Answer 400 or 401 where both headers are missing.",
    docs: "/webhooks",
  },
  "webhook-timestamp-old": {
    title: "A request signed ten minutes ago is refused",
    why: "Somebody who recorded a request could send it again.",
    remedy:
      "Refuse a webhook-timestamp that is more than five minutes away from your clock, and verify webhook-signature: " +
      "X-EP-Signature-Sha256 does not cover the time, so whoever recorded a request could change it.",
  },
  "webhook-duplicate": {
    title: "The same event a second time is confirmed",
    why: "An answer may get lost on its way, and then the event comes again with the same webhook-id.",
    remedy: "Keep each webhook-id for a day; to one that you have, answer 2xx and do nothing.",
  },
  "webhook-order": {
    title: "Create, update, delete and restore of one person, and a delete of somebody unknown, are confirmed",
    why: "An event that failed for good, or that came before you were there, leaves gaps.",
    remedy: "Take an event as a hint: read what it names, and answer 2xx to what you need not do.",
  },
  "webhook-unknown-event": {
    title: "An event of an unknown type is ignored with 2xx",
    why: "New types may come; one that is answered with an error is sent again and may pause your address.",
    remedy: "Answer 2xx to types and actions that you do not know, and do nothing.",
  },
  "webhook-unknown-property": {
    title: "An event with unknown properties is taken",
    why: "New properties may be added to each event, and new names to updatedProperties.",
    remedy: "Let your JSON reader ignore what it does not know.",
  },
  "webhook-several-signatures": {
    title: "One good signature among several is enough",
    why: "While a secret is replaced, webhook-signature holds two signatures, the newest first.",
    remedy: "Split webhook-signature at spaces, and take the request if any of them fits.",
    docs: "/webhooks",
  },
  "webhook-rotated-secret": {
    title: "While a secret is replaced, the old and the new one are good",
    why: "X-EP-Signature-Sha256 keeps to the old secret until its time is over, and then changes to the new one.",
    remedy: "Keep both secrets during that time, and take a request that either of them signed.",
    docs: "/webhooks",
  },
} as const satisfies Record<string, CheckText>;

export const erasureChecks = {
  "erasure-confirmed": {
    title: "An erasure that an event names is confirmed",
    why: "Schools see what is open and since when, until your app confirms that the data is gone.",
    remedy:
      "On an event with an erasureId, and once a day, read /idm/ep/v1/erasures, erase the data, and confirm each with " +
      '{"outcome":"erased"}, also if you stored nothing.',
  },
  "erasure-repeated": {
    title: "A confirmation that failed is sent again",
    why: "The service may be busy when you confirm; what is not confirmed stays open.",
    remedy:
      "Repeat the confirmation after Retry-After, or read the open erasures again: it does no harm to confirm twice.",
  },
} as const satisfies Record<string, CheckText>;

export const oneRosterChecks = {
  "oneroster-token": {
    title: "The roster is read with a token of the app itself",
    why: "The lists of OneRoster open with a token of the client credentials grant, and with a scope of OneRoster.",
    remedy:
      "Ask the token endpoint for grant_type=client_credentials and the scope " +
      "https://purl.imsglobal.org/spec/or/v1p2/scope/roster.readonly, authenticated as the app is registered.",
  },
  "oneroster-requests": {
    title: "Each request for the roster is one of the contract",
    why: "An address, a parameter or a field that the service does not know is refused.",
    remedy: "Compare the request with the reference: which lists there are, and by which fields they are filtered.",
    docs: "/oneroster",
  },
  "oneroster-busy": {
    title: "A page that got 503 is asked for again",
    why: "The service may be busy for a moment; people on a page that is left out would be missing.",
    remedy: "Repeat the request after Retry-After, and give up the whole reading if it keeps failing.",
  },
  "oneroster-pages": {
    title: "Lists are read to their end",
    why: "A page has 100 records unless the app asks for another number; what comes after it is easily forgotten.",
    remedy: 'Follow rel="next" of Link until there is none. offset counts records, not pages.',
    docs: "/oneroster",
  },
  "oneroster-deletion": {
    title: "The app learns that a pupil was deleted",
    why: "A deleted pupil stays in the lists as tobedeleted, and comes back with a new dateLastModified.",
    remedy:
      "Ask for the lists as a whole, or with dateLastModified alone: with status='active' beside it, whoever was " +
      "deleted is left out. Then remove, or lock, who is tobedeleted or missing.",
  },
} as const satisfies Record<string, CheckText>;

export type CheckId =
  keyof typeof signOnChecks | keyof typeof webhookChecks | keyof typeof erasureChecks | keyof typeof oneRosterChecks;

export const checks: Readonly<Record<CheckId, Required<CheckText>>> = {
  ...withDocs(signOnChecks, "/sign-on"),
  ...withDocs(webhookChecks, "/receive-webhooks"),
  ...withDocs(erasureChecks, "/erasures"),
  ...withDocs(oneRosterChecks, "/connect-oneroster"),
};

function withDocs<Id extends string>(texts: Readonly<Record<Id, CheckText>>, docs: string) {
  const entries = Object.entries<CheckText>(texts).map(([id, text]) => [id, { docs, ...text }]);
  return Object.fromEntries(entries) as Record<Id, Required<CheckText>>;
}

export type Outcome = "passed" | "failed" | "warning" | "skipped";

/** `detail` says what was seen. */
export type Verdict = { id: CheckId; outcome: Outcome; detail: string | null };

export const passed = (id: CheckId): Verdict => ({ id, outcome: "passed", detail: null });
export const failed = (id: CheckId, detail: string): Verdict => ({ id, outcome: "failed", detail });
export const skipped = (id: CheckId, detail: string): Verdict => ({ id, outcome: "skipped", detail });

export const verdictOf = (id: CheckId, fault: string | null): Verdict =>
  fault === null ? passed(id) : failed(id, fault);
