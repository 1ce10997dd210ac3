import { AppError } from "../platform/errors.ts";

export const notFound = (code: string, message: string) => new AppError("not_found", code, message);

const ambiguous = (code: string, message: string, candidates: readonly string[]) =>
  new AppError("conflict", code, [message, ...candidates.map((line) => `  ${line}`)].join("\n"));

export type NamedGroup = { id: string; status: "ACTIVE" | "DELETED"; school: { officialId: string; name: string } };

/** The only group of a name; deleted ones count where none is active. Errors: not_found, conflict. */
export function onlyGroup(groups: readonly NamedGroup[], { text, name }: { text: string; name: string }): string {
  const active = groups.filter(({ status }) => status === "ACTIVE");
  const named = active.length > 0 ? active : groups;
  const [only, ...others] = named;
  if (only === undefined) throw notFound("group_not_found", `No group is called '${text}'.`);
  if (others.length === 0) return only.id;
  const candidates = named.map(({ id, school }) => `${id}  ${school.officialId}/${name}  ${school.name}`);
  const message = `${named.length} groups are called '${name}'. Give the id of one:`;
  throw ambiguous("group_ambiguous", message, candidates);
}

export function onlyEndpoint(endpoints: readonly { id: string; url: string }[], clientId: string): string {
  const [only, ...others] = endpoints;
  if (only === undefined)
    throw notFound("webhook_endpoint_not_found", `'${clientId}' is neither the id of an endpoint nor an app with one.`);
  if (others.length === 0) return only.id;
  const candidates = endpoints.map(({ id, url }) => `${id}  ${url}`);
  const message = `The app has ${endpoints.length} endpoints. Give the id of one:`;
  throw ambiguous("webhook_endpoint_ambiguous", message, candidates);
}
