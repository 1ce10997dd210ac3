import createClient, { type Client } from "openapi-fetch";
import type { paths } from "../../../generated/openapi/admin.ts";
import type { Fetch } from "./discovery.ts";
import { patiently, readRefusal, sendOnce, withToken } from "./send.ts";
import { makeTokenSource, actorOf, type Credentials } from "./token.ts";

export const makeFetch = (tell: (line: string) => void): Fetch => {
  const send = patiently(sendOnce, tell);
  return (url, init) => send(new Request(url, { redirect: "error", ...init }));
};

/** Makes a client for a remote service. Nothing is sent before the first call; the first change names the service. */
export function connectRemote(remote: Credentials, tell: (line: string) => void): Client<paths> {
  const send = patiently(sendOnce, tell);
  const token = makeTokenSource(remote, makeFetch(tell));
  const call = withToken(send, token);
  let told = false;
  return createClient<paths>({
    baseUrl: remote.address,
    redirect: "error",
    fetch: async (request) => {
      if (request.method !== "GET" && !told) tell(`At ${remote.address}, as ${actorOf(remote)}:`);
      told ||= request.method !== "GET";
      const response = await call(request);
      if (!response.ok) throw await readRefusal(response);
      return response;
    },
  });
}
