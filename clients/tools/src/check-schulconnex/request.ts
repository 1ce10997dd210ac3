/** Whose request it is; the label says it to readers. */
export type Caller = { label: string; authorization: string | null };

export type Sent = {
  /** Below the interface; `personen-info` if left out. */
  path?: string;
  /** An address elsewhere, such as that of tokens. */
  url?: string;
  query?: Readonly<Record<string, string | readonly string[]>>;
  method?: string;
  /** The app, if left out. */
  by?: Caller;
  headers?: Readonly<Record<string, string>>;
  form?: URLSearchParams;
};

export const listPath = "personen-info";

export const pairsOf = ({ query = {} }: Sent): [name: string, value: string][] =>
  Object.entries(query).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value]));

function show(name: string, value: string): string {
  if (name === "access_token") return "…";
  if (!/^(pid|offset|.*\.id)$/.test(name)) return value;
  return /^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(value) ? `${value.slice(0, 8)}…` : `(${value.length} characters)`;
}

/** The request for readers, without tokens and whole ids. */
export function describe(sent: Sent | string): string {
  if (typeof sent === "string") return sent;
  const { path = listPath, url, method = "GET", by, headers } = sent;
  const search = pairsOf(sent).map(([name, value]) => `${name}=${show(name, value)}`);
  const place = url === undefined ? [path, ...search.slice(0, 1)].join("?") : new URL(url).pathname;
  const details = [by?.label, headers?.["If-None-Match"] && "with If-None-Match"].filter((detail) => detail);
  return [method, [place, ...search.slice(1)].join("&"), ...details].join(" ");
}
