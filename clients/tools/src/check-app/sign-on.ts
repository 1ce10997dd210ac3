import { createHash, randomBytes } from "node:crypto";
import { findAuthenticationFault, type Authentication } from "./authentication.ts";
import { makeCookieJar, openPage, reasonOf, type CookieJar, type Visited } from "./browser.ts";
import { failed, passed, signOnChecks, skipped, verdictOf, type CheckId, type Verdict } from "./checks.ts";
import type { Attempt, Issuer, Tampering } from "./issuer.ts";

export type SignOnSettings = {
  issuer: Issuer;
  loginUrl: string;
  redirectUri: string;
  clientId: string;
  authentication: Authentication;
  /** A page that only somebody who is signed in sees; undefined: that at the end of a sign-on. */
  sessionUrl: string | undefined;
};

/** `fault` says why the browser did not get to the end of the sign-on. */
type Tried = { attempt: Attempt; hint: string; jar: CookieJar; end: Visited | null; fault: string | null };

const randomText = (): string => randomBytes(12).toString("base64url");

/** Opens the Login URL with a new browser; with `isSwapped` another browser brings the answer. */
async function trySignOn(
  { issuer, loginUrl }: SignOnSettings,
  tampering: Tampering = {},
  isSwapped = false,
): Promise<Tried> {
  const attempt = issuer.expect(tampering);
  const hint = `hint+${randomText()}/=&é`;
  const address = new URL(loginUrl);
  address.searchParams.set("iss", issuer.url);
  address.searchParams.set("login_hint", hint);
  const own = makeCookieJar();
  const jar = isSwapped ? makeCookieJar() : own;
  try {
    const end = await openPage(address, () => (attempt.request === null ? own : jar));
    const way = end.urls.map((url) => url.origin + url.pathname).join(" → ");
    const fault =
      attempt.request === null ? `It never got to ${issuer.url}/oauth2/auth: ${way} (${end.status}).` : null;
    return { attempt, hint, jar, end, fault };
  } catch (error) {
    return { attempt, hint, jar, end: null, fault: reasonOf(error) };
  }
}

type Judge = (tried: Tried) => Promise<boolean>;

const isOfPerson = ({ body }: Visited, { sub, name }: Attempt): boolean => body.includes(sub) || body.includes(name);

/** Opens the page that only somebody who is signed in sees; null where it leads elsewhere or says no. */
async function openSession(issuer: Issuer, sessionUrl: string, jar: CookieJar): Promise<Visited | null> {
  const address = new URL(sessionUrl);
  // The app may begin a sign-on here, which must not sign in.
  issuer.expect({ answer: (answer) => answer.delete("code") });
  const page = await openPage(address, () => jar).catch(() => null);
  const isThere = page?.url.origin === address.origin && page.url.pathname === address.pathname;
  return page !== null && isThere && page.status < 300 ? page : null;
}

/** Learns from a correct sign-on how the app looks to a person who is signed in; else returns why not. */
async function makeJudge(settings: SignOnSettings, good: Tried): Promise<Judge | string> {
  const { attempt, end } = good;
  if (end === null) return good.fault ?? "The browser got no answer.";
  const where = `${end.url.origin}${end.url.pathname}`;
  const isPosted = attempt.request?.get("response_mode") === "form_post";
  const hint = isPosted ? " The form came from another site, without the cookies that are SameSite=Lax or Strict." : "";
  if (end.status >= 400) return `The sign-on ended at ${where} with ${end.status}.${hint}`;
  if (attempt.tokenRequest === null) return `The code was not exchanged; the sign-on ended at ${where}.${hint}`;
  const isAtCallback = where === settings.redirectUri;
  if (settings.sessionUrl !== undefined || (!isAtCallback && !isOfPerson(end, attempt)))
    return makeSessionJudge(settings, good, settings.sessionUrl ?? end.url.href);
  if (isOfPerson(end, attempt)) return async (tried) => tried.end !== null && isOfPerson(tried.end, tried.attempt);
  return async ({ end: other }) =>
    other !== null && other.status < 400 && `${other.url.origin}${other.url.pathname}` === where;
}

async function makeSessionJudge(
  { issuer }: SignOnSettings,
  { attempt, jar }: Tried,
  address: string,
): Promise<Judge | string> {
  const open = (of: CookieJar) => openSession(issuer, address, of);
  const own = await open(jar);
  if (own === null) return `${address} shows nobody signed in after the sign-on.`;
  const isNamed = isOfPerson(own, attempt);
  const [strange, again] = [await open(makeCookieJar()), await open(makeCookieJar())];
  if (strange !== null && !isNamed) {
    if (strange.body === own.body)
      return `${address} shows the same to somebody who is not signed in. Give another page with --session-url.`;
    if (strange.body !== again?.body)
      return `${address} is another page each time it is opened. Give another one with --session-url.`;
  }
  return async (tried) => {
    const page = await open(tried.jar);
    if (page === null) return false;
    if (isNamed) return isOfPerson(page, tried.attempt);
    return strange === null || page.body !== strange.body;
  };
}

type Forgery = { id: CheckId; what: string; tampering: Tampering; isSwapped?: boolean };

const wrong = "https://issuer.example.org";
const dayAgo = (): number => Math.floor(Date.now() / 1000) - 86_400;

const forgeries: readonly Forgery[] = [
  { id: "state-wrong", what: "another state", tampering: { answer: (answer) => answer.set("state", randomText()) } },
  { id: "state-wrong", what: "no state", tampering: { answer: (answer) => answer.delete("state") } },
  { id: "state-other-browser", what: "an answer for another browser", tampering: {}, isSwapped: true },
  { id: "nonce-wrong", what: "another nonce", tampering: { claims: (of) => ({ ...of, nonce: randomText() }) } },
  { id: "nonce-wrong", what: "no nonce", tampering: { claims: ({ nonce: _, ...rest }) => rest } },
  { id: "id-token-signature", what: "a signature of another key", tampering: { signature: "other-key" } },
  { id: "id-token-alg-none", what: "an ID token with alg none", tampering: { signature: "none" } },
  { id: "id-token-audience", what: "another audience", tampering: { claims: (of) => ({ ...of, aud: ["other-app"] }) } },
  { id: "id-token-issuer", what: "another issuer", tampering: { claims: (of) => ({ ...of, iss: wrong }) } },
  {
    id: "id-token-expired",
    what: "an ID token that expired a day ago",
    tampering: { claims: (of) => ({ ...of, iat: dayAgo() - 60, auth_time: dayAgo() - 60, exp: dayAgo() }) },
  },
  { id: "iss-parameter", what: "another iss", tampering: { answer: (answer) => answer.set("iss", wrong) } },
];

/** Signs on correctly, then with one fault at a time. Returns verdicts in the order of the checks. */
export async function checkSignOn(settings: SignOnSettings, tell: (line: string) => void): Promise<Verdict[]> {
  const ids = Object.keys(signOnChecks) as (keyof typeof signOnChecks)[];
  const first = await trySignOn(settings);
  if (first.attempt.request === null)
    return ids.map((id) => (id === "login-url" ? failed(id, first.fault!) : skipped(id, "No sign-on began.")));
  const second = await trySignOn(settings);
  const judge = await makeJudge(settings, first);
  const verdicts = [
    ...checkRequests(settings, first, second),
    verdictOf("client-authentication", await checkAuthentication(settings, first, second)),
  ];
  if (typeof judge === "string") verdicts.push(failed("sign-in", judge));
  else {
    const isIn = await judge(second);
    verdicts.push(verdictOf("sign-in", isIn ? null : "The second sign-on did not end as the first."));
    if (isIn) {
      verdicts.push(await checkTokenTypes(settings, judge));
      for (const id of new Set(forgeries.map((forgery) => forgery.id))) {
        tell(signOnChecks[id as keyof typeof signOnChecks].title);
        verdicts.push(await checkForgeries(settings, id, judge));
      }
    }
  }
  const byId = new Map(verdicts.map((verdict) => [verdict.id, verdict]));
  return ids.map((id) => byId.get(id) ?? skipped(id, "The sign-on does not work as it should be."));
}

async function checkTokenTypes(settings: SignOnSettings, judge: Judge): Promise<Verdict> {
  for (const tokenType of ["bearer", "BEARER"])
    if (!(await judge(await trySignOn(settings, { tokenType }))))
      return failed("token-type-case", `The app refused the token_type ${tokenType}.`);
  return passed("token-type-case");
}

async function checkForgeries(settings: SignOnSettings, id: CheckId, judge: Judge): Promise<Verdict> {
  for (const { what, tampering, isSwapped } of forgeries.filter((forgery) => forgery.id === id)) {
    const tried = await trySignOn(settings, tampering, isSwapped);
    if (tried.fault !== null) return failed(id, `This could not be tried: ${tried.fault}`);
    if (!(await judge(tried))) continue;
    const detail = `The app signed the person in with ${what}.`;
    return id === "iss-parameter" ? { id, outcome: "warning", detail } : failed(id, detail);
  }
  return passed(id);
}

/** Reads two sign-ons that should work: what the app sent, and that it is new each time. */
function checkRequests(settings: SignOnSettings, first: Tried, second: Tried): Verdict[] {
  const [one, two] = [first.attempt.request!, second.attempt.request ?? new URLSearchParams()];
  const sent = one.get("login_hint");
  const parameters = `response_type=${one.get("response_type")}, client_id=${one.get("client_id")}, scope=${one.get("scope")}`;
  const isAsked =
    one.get("response_type") === "code" &&
    one.get("client_id") === settings.clientId &&
    (one.get("scope") ?? "").split(" ").includes("openid");
  return [
    passed("login-url"),
    verdictOf(
      "login-hint",
      sent === first.hint ? null : sent === null ? "There was none." : `${first.hint} came as ${sent}.`,
    ),
    verdictOf("authorization-request", isAsked ? null : `It had ${parameters}.`),
    verdictOf("redirect-uri", findRedirectFault(settings.redirectUri, first.attempt)),
    verdictOf("state-random", findGuessable("state", one, two)),
    verdictOf("nonce-random", findGuessable("nonce", one, two)),
    checkPkce(settings, first.attempt, two),
  ];
}

async function checkAuthentication(settings: SignOnSettings, first: Tried, second: Tried): Promise<string | null> {
  const { tokenRequest } = first.attempt;
  if (tokenRequest === null) return notExchanged;
  return findAuthenticationFault(settings, tokenRequest, second.attempt.tokenRequest);
}

const notExchanged = "The code was not exchanged.";

function findRedirectFault(registered: string, { request, tokenRequest }: Attempt): string | null {
  const sent = request!.get("redirect_uri");
  if (sent !== registered) return `The authorization request had ${sent}, and not ${registered}.`;
  if (tokenRequest === null) return notExchanged;
  const repeated = tokenRequest.form.get("redirect_uri");
  return repeated === registered ? null : `The token request had ${repeated ?? "none"}, and not ${registered}.`;
}

/** 128 bits are 22 characters of base64url; a shorter text, or few different characters, holds less. */
const [fewestCharacters, fewestDifferent] = [22, 8];

function findGuessable(name: string, one: URLSearchParams, two: URLSearchParams): string | null {
  const value = one.get(name) ?? "";
  if (value === "") return "There was none.";
  if (value === two.get(name)) return "Two sign-ons had the same.";
  if (value.length < fewestCharacters || new Set(value).size < fewestDifferent)
    return `It was ${value.length} characters long, and ${new Set(value).size} of them differ: somebody may guess it.`;
  return null;
}

function checkPkce(
  { authentication }: SignOnSettings,
  { request, tokenRequest }: Attempt,
  two: URLSearchParams,
): Verdict {
  const challenge = request!.get("code_challenge");
  if (challenge === null)
    return {
      id: "pkce",
      outcome: authentication.method === "none" ? "failed" : "warning",
      detail: "There was no code_challenge.",
    };
  const method = request!.get("code_challenge_method");
  if (method !== "S256") return failed("pkce", `code_challenge_method was ${method ?? "missing"}, and not S256.`);
  if (challenge === two.get("code_challenge")) return failed("pkce", "Two sign-ons had the same code_challenge.");
  if (tokenRequest === null) return failed("pkce", notExchanged);
  const verifier = tokenRequest.form.get("code_verifier");
  if (verifier === null) return failed("pkce", "The token request had no code_verifier.");
  const isOf = createHash("sha256").update(verifier).digest("base64url") === challenge;
  return verdictOf("pkce", isOf ? null : "code_challenge is not the SHA-256 of code_verifier in base64url.");
}
