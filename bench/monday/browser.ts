import { Agent, request } from "undici";
import type { Subject } from "../harness.ts";

/** An answer in which the service says that it is busy or that somebody has to wait, and for how long. */
export class Refused extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number;
  /** What the page says, without its markup. */
  readonly text: string;
  readonly page: Page;
  constructor(status: number, retryAfterSeconds: number, page: Page) {
    super(`refused with ${status}`);
    Object.assign(this, { name: "Refused" });
    [this.status, this.retryAfterSeconds, this.text, this.page] = [status, retryAfterSeconds, textOf(page.html), page];
  }
}

export type Page = { url: URL; html: string };
export type Browser = {
  open(url: string): Promise<Page>;
  post(page: Page, step: string, fields?: Record<string, string>): Promise<Page>;
};

export type Network = { agentOf(person: number): Agent; close(): Promise<void> };

/** Addresses of the loopback network from which schools call, so that limits of an address count as they would. */
export function openNetwork(schools: number): Network {
  const agents = Array.from(
    { length: schools },
    (_, n) =>
      new Agent({
        localAddress: `127.7.${Math.floor(n / 250)}.${(n % 250) + 1}`,
        connections: 64,
        headersTimeout: 30_000,
        bodyTimeout: 30_000,
      }),
  );
  return {
    agentOf: (person) => agents[person % schools]!,
    close: async () => void (await Promise.all(agents.map((agent) => agent.close()))),
  };
}

/**
 * A browser without scripts that follows redirects inside the service; the address of the app ends the way.
 *
 * Errors: `Refused` for 429 and 503 with Retry-After; an Error for every other status but 200.
 */
export function makeBrowser(
  { url: origin }: Pick<Subject, "url">,
  dispatcher: Agent,
  cookies = new Map<string, string>(),
): Browser {
  async function go(address: URL, body?: string): Promise<Page> {
    let [url, form] = [address, body];
    for (let hops = 0; hops < 12; hops++) {
      const answer = await request(url, {
        dispatcher,
        method: form === undefined ? "GET" : "POST",
        headers: {
          cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
          ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded", origin }),
        },
        ...(form !== undefined && { body: form }),
      });
      const html = await answer.body.text();
      for (const line of [answer.headers["set-cookie"] ?? []].flat()) {
        const [name, value] = line.split(";", 1)[0]!.split("=", 2) as [string, string];
        if (value === "") cookies.delete(name);
        else cookies.set(name, value);
      }
      const location = answer.headers["location"];
      if (location === undefined) {
        refuse(answer.statusCode, answer.headers["retry-after"], { html, url });
        return { url, html };
      }
      [url, form] = [new URL(String(location), url), undefined];
      if (url.origin !== new URL(origin).origin) return { url, html: "" };
    }
    throw new Error("too many redirects");
  }

  return {
    open: (address) => go(new URL(address, origin)),
    post(page, step, fields = {}) {
      const [, action, content] =
        new RegExp(`<form[^>]*action="([^"]*${step})"[^>]*>([\\s\\S]*?)</form>`).exec(page.html) ?? [];
      const hidden = [...(content ?? "").matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
      if (action === undefined || hidden.length === 0) throw new Error(`${page.url.pathname} has no form for ${step}`);
      const own = hidden.map(([, name, value]) => [name!, value!] as const);
      return go(new URL(action, page.url), new URLSearchParams({ ...Object.fromEntries(own), ...fields }).toString());
    },
  };
}

function refuse(status: number, retryAfter: string | string[] | undefined, page: Page): void {
  if (status === 200) return;
  if ((status === 503 || status === 429) && /^\d+$/.test(String(retryAfter)))
    throw new Refused(status, Number(retryAfter), page);
  const path = page.url.pathname.replace(/[\w-]{20,}/, "…");
  throw new Error(`${path} was answered ${status} ${textOf(page.html).slice(0, 200)}`);
}

const textOf = (html: string): string =>
  (/<main[\s\S]*<\/main>/.exec(html)?.[0] ?? html)
    .replace(/<[^>]+>|\s+/g, " ")
    .replace(/ +/g, " ")
    .trim();
