import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { sentProblemTexts, type SentParameter } from "../../platform/advice/sign-on/index.ts";
import { describeAuthorization, describeTokenRequest } from "./diagnosis.ts";

const redirectUri = "https://app.example/callback";
const client = {
  clientId: "lernapp",
  redirectUris: [redirectUri],
  scope: "openid profile urn:schultor:idm:v1:users:read",
  scopePlatforms: ["schultor", "old"],
  isPkceRequired: true,
  authMethod: "client_secret_basic",
};
const verifier = "v".repeat(43);
const challenge = hash("sha256", verifier, "base64url");
const right = {
  client_id: "lernapp",
  redirect_uri: redirectUri,
  response_type: "code",
  scope: "openid",
  state: "s".repeat(22),
  nonce: "n".repeat(22),
  code_challenge: challenge,
  code_challenge_method: "S256",
};

const problemsOf = (sent: readonly SentParameter[]) =>
  sent.flatMap(({ name, problem }) => (problem === null ? [] : [`${name} ${problem}`]));
const ask = (changed: Record<string, unknown>) => describeAuthorization({ ...right, ...changed }, client);
const exchange = (given: Record<string, unknown>, { header = "Basic x", ...code } = {}) =>
  describeTokenRequest(
    { grant_type: "authorization_code", code: "c", redirect_uri: redirectUri, code_verifier: verifier, ...given },
    { client, code: { redirectUri, codeChallenge: challenge, ...code }, header: header || undefined },
  );

test("a right request is described without its secrets, and nothing is wrong with it", () => {
  const sent = ask({ login_hint: "ada.beispiel", max_age: "60" });
  expect(problemsOf(sent)).toEqual([]);
  expect(sent).toContainEqual({ name: "state", value: null, length: 22, problem: null });
  expect(sent).toContainEqual({ name: "login_hint", value: "user_name", length: null, problem: null });
  expect(problemsOf(exchange({}))).toEqual([]);
  const text = JSON.stringify([sent, exchange({ client_secret: "very-secret" })]);
  for (const secret of ["ada.beispiel", challenge, verifier, right.state, right.nonce, "very-secret"])
    expect(text).not.toContain(secret);
});

test.each([
  [{ redirect_uri: `${redirectUri}/` }, "redirect_uri redirect_uri_not_registered"],
  [{ redirect_uri: undefined }, "redirect_uri missing"],
  [{ response_type: "token" }, "response_type response_type"],
  [{ response_mode: "web_message" }, "response_mode response_mode"],
  [{ scope: "openid email" }, "scope scope_ignored"],
  [{ scope: "openid,profile" }, "scope scope_unknown"],
  [{ scope: "openid urn:old:idm:v1:people:read" }, "scope scope_not_given"],
  [{ scope: "openid email urn:other:idm:v1:users:read" }, "scope scope_platform"],
  [{ state: "" }, "state state_missing"],
  [{ state: ["a", "b"] }, "state repeated"],
  [{ code_challenge: verifier.slice(1) }, "code_challenge code_challenge_length"],
  [{ code_challenge_method: undefined }, "code_challenge_method code_challenge_method"],
  [{ code_challenge: undefined, code_challenge_method: undefined }, "code_challenge missing"],
  [{ prompt: "create" }, "prompt prompt"],
  [{ max_age: "1e2" }, "max_age max_age"],
  [{ redirect_url: redirectUri }, "redirect_url unknown"],
])("of an authorization request with %j it is said that %s", (changed, problem) => {
  expect(problemsOf(ask(changed))).toEqual([problem]);
});

test("each response mode is right, but a form for an app on a device", () => {
  for (const mode of ["query", "fragment", "form_post"]) expect(problemsOf(ask({ response_mode: mode }))).toEqual([]);
  const onDevice = { ...client, redirectUris: ["org.example.app:/callback"] };
  const sent = { ...right, redirect_uri: "org.example.app:/callback", response_mode: "form_post" };
  expect(problemsOf(describeAuthorization(sent, onDevice))).toEqual(["response_mode response_mode"]);
});

test("an app that still may go without PKCE reads that this ends", () => {
  const { code_challenge: _, code_challenge_method: __, ...given } = right;
  const confidential = { ...client, isPkceRequired: false };
  expect(problemsOf(describeAuthorization(given, confidential))).toEqual(["code_challenge code_challenge_deprecated"]);
  expect(problemsOf(describeAuthorization(right, confidential))).toEqual([]);
});

test.each([
  [{ grant_type: undefined, code: undefined, redirect_uri: undefined, code_verifier: undefined }, "grant_type missing"],
  [{ grant_type: "password" }, "grant_type grant_type"],
  [{ code: undefined }, "code missing"],
  [{ redirect_uri: `${redirectUri}?a=1` }, "redirect_uri redirect_uri_differs"],
  [{ code_verifier: undefined }, "code_verifier code_verifier_missing"],
  [{ code_verifier: "short" }, "code_verifier code_verifier_length"],
  [{ code_verifier: "w".repeat(43) }, "code_verifier code_verifier_differs"],
])("of a token request with %j it is said that %s", (given, problem) => {
  expect(problemsOf(exchange(given))).toEqual([problem]);
});

test("a token request that proves the app in another way than is registered is marked", () => {
  const problem = ["client_authentication client_authentication"];
  expect(problemsOf(exchange({ client_secret: "secret" }, { header: "" }))).toEqual(problem);
  expect(exchange({ client_secret: "secret" }, { header: "" })[0]).toMatchObject({ value: "client_secret_post" });
  expect(problemsOf(exchange({}, { header: "" }))).toEqual(problem);
});

test("neither values of a query, nor a user name in an address, nor strange names and words are shown", () => {
  const sent = ask({
    redirect_uri: "https://ada@app.example/callback?pupil=ada",
    prompt: "ada",
    response_type: "ada",
    scope: "openid ada@school.example",
    "ada@school.example": "1",
    max_age: "ada",
    ui_locales: "a:da",
  });
  expect(sent).toContainEqual(expect.objectContaining({ value: "https://app.example/callback?pupil=…" }));
  expect(JSON.stringify(sent).replaceAll("=…", "")).not.toMatch(/\bada/);
});

test.each([
  ["https://app.example/pupils/Ada.Muster/callback", "https://app.example/pupils/…/callback"],
  ["https://app.example/ada-muster", "https://app.example/…"],
  ["https://app.example/oidc-callback/4711", "https://app.example/oidc-callback/…"],
  ["https://app.example/api/v1/callback/?ada.muster=1", "https://app.example/api/v1/callback/?…=…"],
  ["http://127.0.0.1:4000", "http://127.0.0.1:4000/"],
  ["mailto:ada.muster@example.org", "mailto:…"],
  ["data:text/html,Ada%20Muster", "data:text/…"],
  ["com.example.app:/callback", "com.example.app:/callback"],
])("of the address %s only %s is shown", (address, shown) => {
  const redirectUris = [redirectUri, "https://app.example/oidc-callback"];
  const sent = describeAuthorization({ ...right, redirect_uri: address }, { ...client, redirectUris });
  expect(sent.find(({ name }) => name === "redirect_uri")!.value).toBe(shown);
});

test("neither names in place of words nor long lists of words are kept", () => {
  const sent = ask({ ui_locales: "Ada Muster", "ada.muster": "1", response_type: "code ".repeat(5000).trim() });
  expect(JSON.stringify(sent)).not.toMatch(/Ada|Muster|muster|code code/);
  const locales = ask({ ui_locales: "de-DE en" }).find(({ name }) => name === "ui_locales");
  expect(locales!.value).toBe("de-DE en");
});

test("a problem is explained in both languages", () => {
  expect(Object.keys(sentProblemTexts.de)).toEqual(Object.keys(sentProblemTexts.en));
});
