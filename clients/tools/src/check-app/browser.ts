import { readFormPost } from "./form-post.ts";

/** The cookies of one browser; those of a host are shared by its ports. */
export type CookieJar = {
  take(url: URL, response: Response): void;
  /** `isPosted`: another site posts a form to `url`. */
  header(url: URL, isPosted?: boolean): string;
};

type Cookie = {
  name: string;
  value: string;
  host: string;
  isHostOnly: boolean;
  path: string;
  isSecure: boolean;
  /** SameSite is Lax or Strict. */
  isSameSite: boolean;
};

const isLoopback = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);

/** Source: RFC 6265 section 5, without public suffixes. Loopback counts as secure, as in browsers. */
export function makeCookieJar(): CookieJar {
  const cookies = new Map<string, Cookie>();
  return {
    take(url, response) {
      for (const written of response.headers.getSetCookie()) {
        const [pair = "", ...attributes] = written.split(";").map((part) => part.trim());
        const [, name, value] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
        if (name === undefined || value === undefined) continue;
        const attributeOf = new Map(
          attributes.map((attribute): [string, string] => {
            const [key = "", ...rest] = attribute.split("=");
            return [key.toLowerCase(), rest.join("=")];
          }),
        );
        const domain = attributeOf.get("domain")?.replace(/^\./, "").toLowerCase();
        if (domain && domain !== url.hostname && !url.hostname.endsWith(`.${domain}`)) continue;
        const path = attributeOf.get("path");
        const cookie: Cookie = {
          name,
          value,
          host: domain || url.hostname,
          isHostOnly: !domain,
          isSecure: attributeOf.has("secure"),
          isSameSite: /^(lax|strict)$/i.test(attributeOf.get("samesite") ?? ""),
          path: path?.startsWith("/") ? path : url.pathname.replace(/\/[^/]*$/, "") || "/",
        };
        const key = [cookie.host, cookie.path, name].join(" ");
        const maxAge = attributeOf.get("max-age");
        const expires = Date.parse(attributeOf.get("expires") ?? "");
        const isOver = maxAge !== undefined ? Number(maxAge) <= 0 : expires <= Date.now();
        if (isOver) cookies.delete(key);
        else cookies.set(key, cookie);
      }
    },
    header: (url, isPosted = false) =>
      [...cookies.values()]
        .filter(({ host, isHostOnly }) => host === url.hostname || (!isHostOnly && url.hostname.endsWith(`.${host}`)))
        .filter(({ path }) => url.pathname === path || url.pathname.startsWith(path.endsWith("/") ? path : `${path}/`))
        .filter(({ isSameSite }) => !isPosted || !isSameSite)
        .filter(({ isSecure }) => !isSecure || url.protocol === "https:" || isLoopback(url.hostname))
        .sort((a, b) => b.path.length - a.path.length)
        .map(({ name, value }) => `${name}=${value}`)
        .join("; "),
  };
}

/** `urls` are all that the browser opened; `body` is that of the last response. */
export type Visited = { url: URL; status: number; body: string; urls: URL[] };

const mostRedirects = 20;
const patienceMs = 30_000;

/**
 * Opens a page as a browser without JavaScript, follows redirects and posts the issuer's form.
 *
 * Errors: Error with a message for the reader.
 */
export async function openPage(address: URL, jarAt: (url: URL) => CookieJar): Promise<Visited> {
  const urls: URL[] = [];
  let form: URLSearchParams | null = null;
  for (let url = address; urls.length <= mostRedirects;) {
    urls.push(url);
    const jar = jarAt(url);
    const cookie = jar.header(url, form !== null);
    const response = await fetch(url, {
      redirect: "manual",
      signal: AbortSignal.timeout(patienceMs),
      headers: { Accept: "text/html,*/*;q=0.8", ...(cookie !== "" && { Cookie: cookie }) },
      ...(form !== null && { method: "POST", body: form }),
    }).catch((error: unknown) => {
      throw new Error(`${url.origin}${url.pathname} does not answer: ${reasonOf(error)}`);
    });
    jar.take(url, response);
    const body = await response.text();
    const location = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
    const posted = readFormPost(body);
    if (location === null && posted === null) return { url, status: response.status, body, urls };
    form = posted?.fields ?? null;
    url = posted?.action ?? new URL(location ?? "", url);
    if (!/^https?:$/.test(url.protocol)) throw new Error(`The redirect to ${url.protocol} leads out of the browser.`);
  }
  throw new Error(`There were more than ${mostRedirects} redirects, the last one from ${urls.at(-1)!.pathname}.`);
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "there was no answer in time";
  return error.cause instanceof Error
    ? error.cause.message || String((error.cause as { code?: unknown }).code)
    : error.message;
}
