import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { connectRemote } from "../../src/cli/remote/connect.ts";
import { AppError } from "../../src/platform/errors.ts";
import { serve } from "../support/serve.ts";

type Answer = { status: number; headers?: Record<string, string>; body?: object };

/** A service that gives the answers in turn, the last one again and again, and how it was asked. */
async function startScripted(answers: readonly Answer[], expiresIn = 3600) {
  const asked: { line: string; key: string | undefined; token: string | undefined }[] = [];
  let [tokens, answered] = [0, 0];
  const answerOf = ({ url, method, headers }: IncomingMessage, base: string): Answer => {
    if (url === "/.well-known/openid-configuration")
      return {
        status: 200,
        body: {
          issuer: base,
          authorization_endpoint: `${base}/auth`,
          token_endpoint: `${base}/token`,
          revocation_endpoint: `${base}/revocation`,
          scopes_supported: ["openid", "urn:any:admin:v1:read"],
        },
      };
    if (url === "/token") return { status: 200, body: { access_token: `t${++tokens}`, expires_in: expiresIn } };
    const key = headers["idempotency-key"] as string | undefined;
    asked.push({ line: `${method} ${url}`, key, token: headers.authorization });
    return answers[Math.min(answered++, answers.length - 1)]!;
  };
  const address = await serve((req, res) => {
    const { status, headers = {}, body } = answerOf(req, `http://${req.headers.host}`);
    req.resume().once("end", () => {
      res.writeHead(status, { "content-type": "application/json", ...headers });
      res.end(body === undefined ? undefined : JSON.stringify(body));
    });
  });
  const api = connectRemote({ address, clientId: "app", clientSecret: "secret" }, () => undefined);
  return { api, asked, tokenCount: () => tokens };
}

const busy = (status: number, seconds = "0"): Answer => ({ status, headers: { "Retry-After": seconds } });
const well: Answer = { status: 200, body: [] };

test("a request that finds the service busy is sent again, a creation with the same key", async () => {
  const { api, asked, tokenCount } = await startScripted([busy(429), busy(503), well]);
  await api.POST("/admin/v1/signing-keys/rotation", { params: { header: { "Idempotency-Key": "k" } } });
  expect(asked.map(({ key }) => key)).toEqual(["k", "k", "k"]);
  await api.GET("/admin/v1/schools");
  expect(tokenCount()).toBe(1);
});

test("it is not sent again without end, nor after a long wait, nor where it is open what was done", async () => {
  const often = await startScripted([busy(429)]);
  await expect(often.api.GET("/admin/v1/schools")).rejects.toThrow(AppError);
  expect(often.asked).toHaveLength(5);
  const long = await startScripted([busy(429, "3600")]);
  await expect(long.api.GET("/admin/v1/schools")).rejects.toThrow("429");
  expect(long.asked).toHaveLength(1);
  const open = await startScripted([busy(503), { status: 204 }]);
  const path = { personId: "a0000000-0000-4000-8000-000000000001" };
  await expect(open.api.POST("/admin/v1/people/{personId}/sign-out", { params: { path } })).rejects.toThrow("503");
  expect(open.asked).toHaveLength(1);
});

test("a token that has ended or is refused is renewed", async () => {
  const short = await startScripted([well], 1);
  await short.api.GET("/admin/v1/schools");
  await short.api.GET("/admin/v1/schools");
  expect(short.asked.map(({ token }) => token)).toEqual(["Bearer t1", "Bearer t2"]);
  const refused = await startScripted([{ status: 401, body: { message: "Ended.", code: "token_expired" } }, well]);
  await refused.api.GET("/admin/v1/schools");
  expect(refused.asked.map(({ token }) => token)).toEqual(["Bearer t1", "Bearer t2"]);
});
