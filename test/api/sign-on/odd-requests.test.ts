import { expect, test } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, getUserTokens, postToken } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();

test("a nonce without the scope openid is no mistake: there is no ID token to put it into", async () => {
  const app = await world.app({ scopes: ["openid", "people:read"] });
  const { scope, id_token } = await getUserTokens(world.service, app, world.login, { scopes: ["people:read"] });
  expect([scope, id_token]).toEqual(["urn:schultor:idm:v1:people:read", undefined]);
});

test("a grant that is not for the app is unauthorized_client", async () => {
  const app = await world.app({ type: "PUBLIC", scopes: ["openid"] });
  for (const fields of [{ grant_type: "client_credentials" }, { grant_type: "refresh_token", refresh_token: "x" }]) {
    const { status, body } = await postToken(world.service, app, fields);
    expect([status, body.error]).toEqual([400, "unauthorized_client"]);
  }
});

test("a NUL character in a user name or a password is a wrong one", async () => {
  const app = await world.app();
  const { username, password } = world.login;
  for (const typed of [
    { username: `${username}\0`, password },
    { username, password: `${password}\0` },
  ]) {
    const browser = makeBrowser(world.service.url);
    const page = await browser.open(askFor(world.service, app).address);
    expect((await browser.submit(page, "/login", typed)).status).toBe(422);
  }
});

test("a NUL character in a logout request is an error page", async () => {
  const browser = makeBrowser(world.service.url);
  for (const method of ["GET", "POST"]) {
    const address = `${world.service.url}/oauth2/sessions/logout`;
    const fields = new URLSearchParams({ state: "a\0b" });
    const first = await browser.once(method === "GET" ? `${address}?${fields.toString()}` : address, {
      method,
      ...(method === "POST" && { body: fields }),
    });
    const location = first.headers.get("location");
    const { status, headers } = location === null ? first : await browser.once(new URL(location, address).href, {});
    expect([status, headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
  }
});

const tooLarge = `state=${"a".repeat(60_000)}`;
const formType = "application/x-www-form-urlencoded";

test.each([
  ["/oauth2/auth", 413],
  ["/oauth2/sessions/logout", 413],
  ["/oauth2/token", 400],
  ["/oauth2/revoke", 400],
  ["/oauth2/introspect", 400],
  ["/oauth2/userinfo", 400],
])("a form over the limit of %s is answered %i", async (path, expected) => {
  const post = (accept: string) =>
    fetch(world.service.url + path, { method: "POST", headers: { accept, "content-type": formType }, body: tooLarge });
  const forProgram = await post("application/json");
  expect([forProgram.status, await forProgram.json()]).toEqual([
    expected,
    {
      error: "invalid_request",
      error_description: expected === 413 ? "the form is too large" : "failed to parse the request body",
      error_uri: `${world.service.url}/docs/errors/invalid_request`,
    },
  ]);
  const forPerson = await post("text/html");
  expect([forPerson.status, forPerson.headers.get("content-type")]).toEqual([
    expected,
    expected === 413 ? "text/html; charset=utf-8" : "application/json; charset=utf-8",
  ]);
});

test.each([
  ["too many fields", 413, { "content-type": formType }, "a=1&".repeat(2_000)],
  ["a character set that is not read", 415, { "content-type": `${formType}; charset=utf-7` }, "state=a"],
  ["a compression that is not read", 415, { "content-type": formType, "content-encoding": "pack200" }, "state=a"],
  ["a broken compression", 400, { "content-type": formType, "content-encoding": "gzip" }, "state=a"],
])("a form with %s is refused with %i where browsers are sent", async (_what, expected, headers, body) => {
  for (const path of ["/oauth2/auth", "/oauth2/sessions/logout"]) {
    const { status } = await fetch(world.service.url + path, { method: "POST", headers, body });
    expect(status, path).toBe(expected);
  }
});
