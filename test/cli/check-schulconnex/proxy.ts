import type { IncomingMessage } from "node:http";
import { serve } from "../../support/serve.ts";

/** A request as it reaches the proxy; what a fault changes of it is what the service gets. */
export type Asked = {
  method: string;
  /** Below the interface, such as `personen-info`. */
  path: string;
  query: URLSearchParams;
  headers: Record<string, string>;
  form: URLSearchParams;
};

export type Answered = { status: number; headers: Record<string, string>; body: string };

/** What a provider does wrong: to the request, to the answer, or both. */
export type Fault = { before?(asked: Asked): void; after?(answered: Answered, asked: Asked): void };

/** A provider that does what the service does but for some faults. Returns its address. */
export function startFaultyProvider(serviceUrl: string, faults: readonly Fault[]): Promise<string> {
  return serve((req, res) => {
    void pass(serviceUrl, req, faults).then(({ status, headers, body }) => {
      res.writeHead(status, headers).end(req.method === "HEAD" ? "" : body);
    });
  });
}

const passed = ["authorization", "accept", "if-none-match", "content-type"];
const returned = ["content-type", "etag", "www-authenticate", "allow", "cache-control", "location"];

async function pass(serviceUrl: string, req: IncomingMessage, faults: readonly Fault[]): Promise<Answered> {
  const { pathname, searchParams: query } = new URL(req.url!, serviceUrl);
  const folder = pathname.slice(0, pathname.lastIndexOf("/") + 1);
  let text = "";
  for await (const part of req.setEncoding("utf8") as AsyncIterable<string>) text += part;
  const known = passed.flatMap((name) => (typeof req.headers[name] === "string" ? [[name, req.headers[name]]] : []));
  const asked: Asked = {
    method: req.method!,
    path: pathname.slice(folder.length),
    query,
    headers: Object.fromEntries(known) as Record<string, string>,
    form: new URLSearchParams(text),
  };
  // What the service is asked may differ from what the faults of the answer see.
  const original = { ...asked, query: new URLSearchParams(query), headers: { ...asked.headers } };
  for (const { before } of faults) before?.(asked);
  const response = await fetch(`${serviceUrl}${folder}${asked.path}?${asked.query.toString()}`, {
    method: asked.method,
    headers: asked.headers,
    redirect: "manual",
    ...(text !== "" && { body: asked.form }),
  });
  const headers = returned.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  const answered: Answered = {
    status: response.status,
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: await response.text(),
  };
  for (const { after } of faults) after?.(answered, original);
  return answered;
}
