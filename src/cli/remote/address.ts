import { UsageError } from "../option.ts";

const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);

export const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && isLoopback(hostname));

/** Reads the address of a service. Errors: UsageError for one that is none, or that is not encrypted. */
export function readAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`'${text}' is not an address such as https://portal.example.`);
  if (url.username + url.password + url.search + url.hash !== "")
    throw new UsageError("The address must not contain a user name, '?' or '#'.");
  if (!isSafe(url)) throw new UsageError("The address must begin with https. http is allowed for this machine only.");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}
