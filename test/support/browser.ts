/** A page as a person without JavaScript has it. */
export type Shown = { status: number; url: string; html: string; headers: Headers };

/** Shape: `field` is the name of the input, `file` without it. */
export type SentFile = { name: string; content: string | Buffer; field?: string };

export type Form = { action: string; fields: Record<string, string> };

type Cookie = { name: string; value: string; path: string };

export type Browser = {
  open(address: string): Promise<Shown>;
  /** One request, no redirect followed. */
  once(address: string, init?: RequestInit): Promise<Response>;
  /** Posts the form whose action ends so, with its hidden fields and what the person fills in. */
  submit(page: Shown, step: string, fields?: Record<string, string>): Promise<Shown>;
  /** As `submit`, of a form with a file. */
  sendFile(page: Shown, step: string, file: SentFile | null, fields?: Record<string, string>): Promise<Shown>;
  cookies(): { name: string; value: string }[];
  /** Every Set-Cookie header so far. */
  setCookies(): readonly string[];
};

/**
 * A browser without scripts: cookies, redirects and forms.
 *
 * Shape: redirects are followed inside `origin` only; one that leaves it is the answer, with its address in `url`.
 */
export function makeBrowser(origin: string, headers: Record<string, string> = {}): Browser {
  let jar: Cookie[] = [];
  const lines: string[] = [];

  function keepCookies(response: Response, url: URL): void {
    for (const line of response.headers.getSetCookie()) {
      lines.push(line);
      const [pair = "", ...attributes] = line.split(";").map((part) => part.trim());
      const [name, value] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)];
      const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? url.pathname;
      jar = jar.filter((cookie) => cookie.name !== name || cookie.path !== path);
      if (!attributes.some((attribute) => /^expires=thu, 01 jan 1970/i.test(attribute)) && value !== "")
        jar.push({ name, value, path });
    }
  }

  const cookiesFor = (url: URL): string =>
    jar
      .filter(({ path }) => path === "/" || url.pathname === path || url.pathname.startsWith(`${path}/`))
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");

  async function once(address: string, init: RequestInit = {}): Promise<Response> {
    const url = new URL(address, origin);
    const response = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: { ...headers, ...(init.headers as object), cookie: cookiesFor(url) },
    });
    keepCookies(response, url);
    return response;
  }

  async function go(address: string, init: RequestInit = {}): Promise<Shown> {
    let [url, response] = [new URL(address, origin), await once(address, init)];
    for (let hops = 0; hops < 20; hops++) {
      const location = response.headers.get("location");
      if (location === null)
        return { status: response.status, url: url.href, html: await response.text(), headers: response.headers };
      url = new URL(location, url);
      if (url.origin !== new URL(origin).origin)
        return { status: response.status, url: url.href, html: "", headers: response.headers };
      response = await once(url.href, {});
    }
    throw new Error("too many redirects");
  }

  return {
    open: (address: string) => go(address),
    once,
    async submit(page, step, fields = {}) {
      const form = readForm(page, step);
      const body = new URLSearchParams({ ...form.fields, ...fields });
      const shown = await go(new URL(form.action, page.url).href, { method: "POST", body });
      checkFormAction(page, new URL(shown.url));
      return shown;
    },
    sendFile(page, step, file, fields = {}) {
      const form = readForm(page, step);
      const body = new FormData();
      for (const [name, value] of Object.entries({ ...form.fields, ...fields })) body.append(name, value);
      const content =
        file === null ? "" : typeof file.content === "string" ? file.content : new Uint8Array(file.content);
      body.append(file?.field ?? "file", new File([content], file?.name ?? ""));
      return go(new URL(form.action, page.url).href, { method: "POST", body });
    },
    cookies: () => jar.map(({ name, value }) => ({ name, value })),
    setCookies: () => lines,
  };
}

/**
 * Chromium checks every redirect after a form against `form-action` of its page. Where the form left this service,
 * the redirects may go on to other origins, so the policy has to name the scheme.
 */
function checkFormAction({ url, headers }: Shown, target: URL): void {
  const [, sources] = /form-action ([^;]*)/.exec(headers.get("content-security-policy") ?? "") ?? [];
  if (sources === undefined || new URL(url).origin === target.origin || sources.split(" ").includes(target.protocol))
    return;
  throw new Error(`form-action ${sources} of ${url} lets no form lead to ${target.protocol}`);
}

/** The first form whose action ends so, with its hidden fields. */
export function readForm({ html }: Pick<Shown, "html">, step: string): Form {
  for (const [, attributes = "", content = ""] of html.matchAll(/<form([^>]*)>([\s\S]*?)<\/form>/g)) {
    const action = unescape(/action="([^"]*)"/.exec(attributes)?.[1] ?? "");
    if (!action.replace(/\?.*$/, "").endsWith(step)) continue;
    const hidden = [...content.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([input]) => [
      /name="([^"]*)"/.exec(input)?.[1] ?? "",
      unescape(/value="([^"]*)"/.exec(input)?.[1] ?? ""),
    ]);
    return { action, fields: Object.fromEntries(hidden) as Record<string, string> };
  }
  throw new Error(
    `the page has no form for ${step}: ${html
      .replace(/<[^>]+>/g, " ")
      .replace(/\s+/g, " ")
      .slice(0, 400)}`,
  );
}

/** What a reader sees of the main part of a page, apart from what can be chosen. */
export const textOf = (html: string): string =>
  html
    .slice(html.indexOf("<main"))
    .replace(/<select[\s\S]*?<\/select>/g, " ")
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ");

const unescape = (text: string): string =>
  text
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&amp;/g, "&");
