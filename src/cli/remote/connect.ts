import createClient, { type Client } from "openapi-fetch";
import type { paths } from "../../../generated/openapi/admin.ts";
import type { Remote } from "../admin-api.ts";
import { patiently, refusing, sendOnce, withToken } from "./send.ts";
import { makeTokenSource } from "./token.ts";

type Where = { address: string; clientId: string; clientSecret: string };
type Terminal = Pick<Remote, "tell" | "showProgress"> & Partial<Pick<Remote, "emit" | "stop">>;

/**
 * Connects a command to a remote service; nothing is sent before the first call.
 *
 * Errors: calls end with AppError and the code and message of the service, where it refuses.
 */
export function connect(where: Where, terminal: Terminal): Remote {
  const { tell, showProgress, emit = () => undefined } = terminal;
  const send = patiently(sendOnce, tell);
  const token = makeTokenSource(where, (url, init) => send(new Request(url, { redirect: "error", ...init })));
  const ask = refusing(withToken(send, token));
  let told = false;
  const api: Client<paths> = createClient<paths>({
    baseUrl: where.address,
    redirect: "error",
    fetch: (request) => {
      if (request.method !== "GET" && !told) tell(`At ${where.address}, as ${where.clientId}:`);
      told ||= request.method !== "GET";
      return ask(request);
    },
  });
  return {
    address: where.address,
    machine: null,
    api,
    tell,
    showProgress,
    emit,
    get stop() {
      return terminal.stop ?? never;
    },
  };
}

const never = new AbortController().signal;
