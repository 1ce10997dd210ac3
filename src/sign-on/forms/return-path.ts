/** Where a silent trip to the login of a school goes on: the app's request. */
export const appRequestPath = "/oauth2/auth";

const longest = 2000;
const base = "http://localhost";

/**
 * Returns where a person goes on after signing in; `/` for everything but a path of this service. It starts with one
 * slash, so that no browser takes it for another host.
 */
export function readReturnPath(asked: unknown): string {
  if (typeof asked !== "string" || asked.length > longest || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(asked))
    return "/";
  if (!URL.canParse(asked, base)) return "/";
  const { origin, pathname, search } = new URL(asked, base);
  return origin === base && !pathname.startsWith("//") ? pathname + search : "/";
}
