import { request } from "node:http";
import { expect, test } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, getUserTokens, postToken } from "../../support/token.ts";
import { findBundle } from "../../contract/bundles.ts";
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

test("a form over the limit is refused by each endpoint, in JSON for programs and by a page where browsers are sent", async () => {
  const paths = ["auth", "sessions/logout", "token", "revoke", "introspect", "userinfo"];
  for (const [at, path] of paths.entries()) {
    const [status, isForPeople] = at < 2 ? [413, true] : [400, false];
    const post = (accept: string) => {
      const headers = { accept, "content-type": formType };
      return fetch(`${world.service.url}/oauth2/${path}`, { method: "POST", headers, body: tooLarge });
    };
    const forProgram = await post("application/json");
    expect([path, forProgram.status, await forProgram.json()]).toEqual([
      path,
      status,
      {
        error: "invalid_request",
        error_description: isForPeople ? "the form is too large" : "failed to parse the request body",
        error_uri: `${world.service.url}/docs/errors/invalid_request`,
      },
    ]);
    const forPerson = await post("text/html");
    const type = isForPeople ? "text/html; charset=utf-8" : "application/json; charset=utf-8";
    expect([path, forPerson.status, forPerson.headers.get("content-type")]).toEqual([path, status, type]);
  }
});

test("an odd form is refused where browsers are sent", async () => {
  for (const [status, headers, body] of [
    [413, {}, "a=1&".repeat(2_000)],
    [415, { "content-type": `${formType}; charset=utf-7` }, "state=a"],
    [415, { "content-encoding": "pack200" }, "state=a"],
    [400, { "content-encoding": "gzip" }, "state=a"],
  ] as const)
    for (const path of ["/oauth2/auth", "/oauth2/sessions/logout"]) {
      const init = { method: "POST", headers: { "content-type": formType, ...headers }, body };
      expect([path, headers, (await fetch(world.service.url + path, init)).status]).toEqual([path, headers, status]);
    }
});

const methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];

type Answer = { status: number | undefined; allow: string | undefined; type: string | undefined; text: string };

/** Without what fetch adds of its own to some methods. */
function ask(method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(world.service.url + path, { method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.on("end", () =>
        resolve({
          status: response.statusCode,
          allow: response.headers.allow,
          type: response.headers["content-type"],
          text,
        }),
      );
    });
    sent.on("error", reject).end();
  });
}

test("each address says which methods it takes, and takes them", async () => {
  for (const [path, item] of Object.entries(findBundle("sign-on").document.paths)) {
    const described = Object.keys(item).map((method) => method.toUpperCase());
    const allow = described.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
    const answers = await Promise.all(methods.map((method) => ask(method, path)));
    for (const [at, { text, ...answer }] of answers.entries()) {
      const where = `${methods[at]!} ${path}`;
      if (described.includes(methods[at]!)) expect(answer.allow, where).toBeUndefined();
      else {
        const status = path === "/oauth2/token" ? 400 : 405;
        expect(answer, where).toEqual({ status, allow, type: "application/json; charset=utf-8" });
        expect(JSON.parse(text), where).toEqual({
          error: "invalid_request",
          error_description: `this address only takes ${allow}`,
          error_uri: expect.stringMatching(/\/docs\/errors\/invalid_request$/) as string,
        });
      }
    }
  }
});

test("the address is the same with a slash behind it", async () => {
  expect(await ask("PUT", "/oauth2/introspect/")).toMatchObject({ status: 405, allow: "POST" });
});

test("the token endpoint answers a browser too with what it answers an app", async () => {
  expect(await ask("GET", "/oauth2/token", { accept: "text/html" })).toMatchObject({
    status: 400,
    allow: "POST",
    type: "application/json; charset=utf-8",
  });
});

test("somebody who comes back to the end of a logout sees a page", async () => {
  const answer = await ask("GET", "/oauth2/sessions/logout/confirm", { accept: "text/html,*/*;q=0.8" });
  expect(answer).toMatchObject({
    status: 405,
    allow: "POST",
    type: "text/html; charset=utf-8",
    text: expect.stringContaining("<!doctype html>"),
  });
});

test("a script of another origin that asks first is let in where it may call, and nowhere else", async () => {
  const preflight = { origin: "https://app.example", "access-control-request-method": "POST" };
  expect((await ask("OPTIONS", "/oauth2/token", preflight)).status).toBe(204);
  expect(await ask("OPTIONS", "/oauth2/auth", preflight)).toMatchObject({ status: 405, allow: "GET, HEAD, POST" });
});
