import { SourceError } from "./failure.ts";
import type { SourceRequests } from "./requests.ts";

type Walk<Entry> = {
  url: URL;
  headers: Record<string, string>;
  /** Finds the list in the body of a page. */
  listIn(body: unknown): unknown;
  keyOf(entry: Entry): string;
};

const pageSize = 500;
/** Ends a walk whose source repeats its pages. */
const mostPages = 10_000;

/**
 * Reads a list page by page: by its links (RFC 8288) if there are some, otherwise by `limit` and `offset`. Errors:
 * SourceError ANSWERED_BADLY for pages without end, links to other places, and bodies without the list; HALF if there
 * are fewer entries than the source said.
 */
export async function* walkPages<Entry extends object>(
  requests: Pick<SourceRequests, "json">,
  { url, headers, listIn, keyOf }: Walk<Entry>,
): AsyncGenerator<Entry[]> {
  let next: URL | null = withQuery(url, 0);
  let read = 0;
  let total = 0;
  let firstKey: string | null = null;
  for (let page = 0; next !== null; page++) {
    const { value, header } = await requests.json(next, { headers });
    const list = listIn(value);
    if (!Array.isArray(list) || !list.every((one) => typeof one === "object" && one !== null))
      throw new SourceError("ANSWERED_BADLY", `${url.pathname} sent no list`);
    const entries = list as Entry[];
    const key = entries[0] === undefined ? null : keyOf(entries[0]);
    if (page >= mostPages || (page > 0 && key !== null && key === firstKey))
      throw new SourceError("ANSWERED_BADLY", `${url.pathname} repeats its pages`);
    firstKey = key;
    read += entries.length;
    total = Number(header("x-total-count") ?? total);
    if (entries.length > 0) yield entries;
    const link = header("link");
    if (entries.length === 0) next = null;
    else if (link !== null) next = nextOf(link, next);
    else next = entries.length < pageSize && !(read < total) ? null : withQuery(url, read);
  }
  if (read < total) throw new SourceError("HALF", `${url.pathname} has ${total} entries, and sent ${read}`);
}

function withQuery(url: URL, offset: number): URL {
  const page = new URL(url);
  page.searchParams.set("limit", String(pageSize));
  page.searchParams.set("offset", String(offset));
  return page;
}

/** The token must not go elsewhere, so that a link to another origin is refused. */
function nextOf(link: string, from: URL): URL | null {
  const target = /<([^<>]*)>\s*;[^<]*\brel="?next"?(?=[\s;,]|$)/i.exec(link)?.[1];
  if (target === undefined) return null;
  const next = URL.canParse(target, from.href) ? new URL(target, from) : null;
  if (next === null || next.origin !== from.origin || next.href === from.href)
    throw new SourceError("ANSWERED_BADLY", "the link to the next page leads elsewhere");
  return next;
}
