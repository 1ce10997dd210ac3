import { createClient, type Client, type ClientOptions } from "../../clients/typescript/src/index.ts";

export type Call = { url: URL; headers: Headers; body: string };
type Answer = (call: Call, nth: number) => Response | Promise<Response>;

export const json = (body: unknown, { status = 200, headers = {} } = {}): Response =>
  Response.json(body, { status, headers });

export const problem = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  json(
    {
      type: `https://login.example.org/docs/errors/${code}`,
      title: "",
      status,
      message: `it is ${code}`,
      code,
      requestId: "r-1",
    },
    { status, headers },
  );

/** `firstCall` ends when the first request that is not for a token has arrived. */
export type Stub = { client: Client; calls: Call[]; tokenCalls: Call[]; firstCall: Promise<undefined> };

/** A client whose service is a function; tokens are `token-1`, `token-2` and so on. */
export function makeStub(
  answer: Answer,
  {
    token = (_call, nth) => json({ access_token: `token-${nth}`, token_type: "bearer", expires_in: 3600 }),
    ...options
  }: {
    token?: Answer;
  } & Partial<ClientOptions> = {},
): Stub {
  const [calls, tokenCalls]: Call[][] = [[], []];
  const { promise: firstCall, resolve: arrived } = Promise.withResolvers<undefined>();
  const fetch = async (request: Request): Promise<Response> => {
    const call = { url: new URL(request.url), headers: request.headers, body: await request.text() };
    request.signal.throwIfAborted();
    const [list, answerer] = call.url.pathname === "/oauth2/token" ? [tokenCalls!, token] : [calls!, answer];
    list.push(call);
    if (list === calls) arrived(undefined);
    return answerer(call, list.length);
  };
  const issuer = "https://login.example.org/";
  const scopes = ["schools", "users", "groups", "people"].map((kind) => `urn:schultor:idm:v1:${kind}:read`);
  const client = createClient({ issuer, clientId: "an app", clientSecret: "s:é", scopes, fetch, ...options });
  return { client, calls: calls!, tokenCalls: tokenCalls!, firstCall };
}
