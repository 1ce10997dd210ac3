import { randomUUID } from "node:crypto";
import { readConfig } from "../../src/config/index.ts";
import type { SchoolId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import {
  addressesOf,
  createConnectionIn,
  updateConnectionIn,
  type ConnectionId,
  type NewConnection,
} from "../../src/upstream/index.ts";
import { type Browser, makeBrowser, type Shown } from "./browser.ts";
import type { TestService } from "./service.ts";
import { clientId, clientSecret, type UpstreamProvider } from "./upstream-provider.ts";

const { encryptionKeys: keys } = readConfig({ NODE_ENV: "test" });

/** A connection of a school that is on, between a whole service and the provider. */
export async function connectSchool(
  service: TestService,
  provider: Pick<UpstreamProvider, "issuer" | "redirectUris" | "clock">,
  { school, ...wishes }: { school: SchoolId } & Partial<NewConnection>,
): Promise<ConnectionId> {
  const context = { keys, allowHttp: true, origin: { at: service.clock() } };
  const made = {
    schoolId: school,
    profile: "OIDC" as const,
    name: "IServ",
    issuer: provider.issuer,
    clientId,
    clientSecret,
    ruleClaim: "import_id",
    ruleField: "SOURCE_SYSTEM_IDENTIFIER" as const,
    ...wishes,
  };
  const id = await withPrismaTransaction(service.db, (tx) => createConnectionIn(tx, made, context));
  provider.clock = service.clock;
  provider.redirectUris.push(addressesOf(service.url, id).redirectUri);
  await service.db.prisma.upstreamConnection.update({ where: { id }, data: { testedAt: service.clock() } });
  const on = { id, update: { state: "ON" as const } };
  await withPrismaTransaction(service.db, (tx) => updateConnectionIn(tx, on, context));
  return id;
}

/** From now on this account signs in there. */
export function signInThere(
  provider: UpstreamProvider,
  claims: Record<string, unknown>,
  sub: string = randomUUID(),
): string {
  provider.account = sub;
  provider.claims[sub] = claims;
  provider.inIdToken = true;
  return sub;
}

/** Answers requests to a path so; null for as it is. */
export function spoil(
  provider: UpstreamProvider,
  how: { path: string; status: number; body?: object; location?: (query: URLSearchParams) => string } | null,
): void {
  provider.before =
    how &&
    ((req, res) => {
      const { pathname, searchParams } = new URL(req.url ?? "/", provider.issuer);
      if (pathname !== how.path) return false;
      const location = how.location?.(searchParams);
      res.writeHead(how.status, { "content-type": "application/json", ...(location !== undefined && { location }) });
      res.end(JSON.stringify(how.body ?? {}));
      return true;
    });
}

/** Sends every browser back with an error. */
export const refuseAll = (provider: UpstreamProvider, error: string): void =>
  spoil(provider, {
    path: "/auth",
    status: 303,
    location: (query) => {
      const back = new URL(query.get("redirect_uri")!);
      back.search = new URLSearchParams({ error, state: query.get("state")!, iss: provider.issuer }).toString();
      return back.href;
    },
  });

/** The authorization requests that arrived there. */
export const requestsOf = ({ requests }: UpstreamProvider): URLSearchParams[] =>
  requests.filter(({ path }) => path === "/auth").map(({ query }) => query);

/** A browser that is known at the provider too, and goes to and fro until it shows a page or is at an app. */
export type TravellingBrowser = Browser & { follow(shown: Shown): Promise<Shown> };

export function makeTravellingBrowser(
  service: { url: string },
  provider: { issuer: string },
  headers: Record<string, string> = { "accept-language": "en" },
): TravellingBrowser {
  const [here, there] = [makeBrowser(service.url, headers), makeBrowser(provider.issuer, headers)];
  const follow = async (shown: Shown): Promise<Shown> => {
    const { origin } = new URL(shown.url);
    if (shown.html !== "") return shown;
    if (origin === provider.issuer) return follow(await there.open(shown.url));
    return origin === service.url ? follow(await here.open(shown.url)) : shown;
  };
  return {
    ...here,
    follow,
    open: async (address) => follow(await (address.startsWith(provider.issuer) ? there : here).open(address)),
    submit: async (page, step, fields) => {
      const of = new URL(page.url).origin === provider.issuer ? there : here;
      return follow(await of.submit(page, step, fields));
    },
  };
}
