import { request as requestOverHttp } from "node:http";
import { request as requestOverHttps } from "node:https";

type Message = { headers: Record<string, string>; body: string; timeoutMs: number };

/** Sends the headers as they are, to which `fetch` would add its own; follows no redirect. Returns the status. */
export function postTo(url: URL, { headers, body, timeoutMs }: Message): Promise<number> {
  const request = url.protocol === "https:" ? requestOverHttps : requestOverHttp;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, agent: false }, (response) => {
      response.resume();
      response.once("error", reject).once("end", () => resolve(response.statusCode ?? 0));
    });
    const timer = setTimeout(() => {
      sent.destroy(Object.assign(new Error(`no answer within ${timeoutMs / 1000} s`), { code: "ETIMEDOUT" }));
    }, timeoutMs);
    sent.once("error", reject).once("close", () => clearTimeout(timer));
    sent.end(body);
  });
}
