import { request } from "node:http";
import { expect, test } from "vitest";
import { findBundle } from "../../contract/bundles.ts";
import { startWorld } from "./world.ts";

const world = startWorld();
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

test.each(Object.entries(findBundle("sign-on").document.paths))(
  "%s says which methods it takes, and takes them",
  async (path, item) => {
    const described = Object.keys(item).map((method) => method.toUpperCase());
    const allow = [...described.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))].join(", ");
    for (const method of methods) {
      const { text, ...answer } = await ask(method, path);
      if (described.includes(method)) expect(answer, method).not.toMatchObject({ allow: expect.any(String) });
      else {
        expect(answer, method).toEqual({
          status: path === "/oauth2/token" ? 400 : 405,
          allow,
          type: "application/json; charset=utf-8",
        });
        expect(JSON.parse(text)).toEqual({
          error: "invalid_request",
          error_description: `this address only takes ${allow}`,
          error_uri: expect.stringMatching(/\/docs\/errors\/invalid_request$/) as string,
        });
      }
    }
  },
);

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
