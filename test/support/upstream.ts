import { randomBytes, randomUUID } from "node:crypto";
import type { SchoolId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import {
  addressesOf,
  createConnectionIn,
  createSetUpLinkIn,
  makeUpstream,
  openSetUpLink,
  updateConnectionIn,
  type ConnectionId,
  type Destination,
  type Finished,
  type NewConnection,
  type SetUpLinkId,
  type Start,
  type Upstream,
} from "../../src/upstream/index.ts";
import type { TestDatabase } from "./database.ts";
import { atFileEnd } from "./file-end.ts";
import { failureLog } from "./service-failures.ts";
import { clientId, clientSecret, type UpstreamProvider } from "./upstream-provider.ts";

export const issuerUrl = "http://localhost:4999";
export const encryptionKeys = [Buffer.alloc(32, 7)];

/** The part of a relying party, with a browser that goes to the provider and comes back. */
export function makeRelyingParty(db: TestDatabase, clock: () => Date = () => new Date()) {
  const upstream: Upstream = makeUpstream({
    db,
    jobsDb: db,
    clock,
    log: failureLog,
    encryptionKeys,
    issuerUrl,
    allowPrivateAddresses: true,
  });
  atFileEnd(() => upstream.close());
  const context = () => ({ keys: encryptionKeys, allowHttp: true, origin: { at: clock(), actorId: "test" } });
  const browser = randomBytes(32).toString("base64url");
  const path: Destination = { path: "/" };

  /** A connection that is on, whose provider knows its redirect URI. */
  const connect = async (
    provider: UpstreamProvider,
    schoolId: SchoolId,
    wishes: Partial<NewConnection> & { state?: "DRAFT" | "ON" } = {},
  ): Promise<ConnectionId> => {
    const { state = "ON", ...given } = wishes;
    const made: NewConnection = {
      schoolId,
      profile: "OIDC",
      name: "Own login",
      issuer: provider.issuer,
      clientId,
      clientSecret,
      ruleClaim: "employee_id",
      ruleField: "SOURCE_SYSTEM_IDENTIFIER",
      ...given,
    };
    const id = await withPrismaTransaction(db, (tx) => createConnectionIn(tx, made, context()));
    provider.redirectUris.push(addressesOf(issuerUrl, id).redirectUri);
    if (state === "ON") {
      await db.prisma.upstreamConnection.update({ where: { id }, data: { testedAt: clock() } });
      await withPrismaTransaction(db, (tx) => updateConnectionIn(tx, { id, update: { state } }, context()));
    }
    return id;
  };

  const finish = (connectionId: ConnectionId, params: URLSearchParams, of = browser): Promise<Finished> =>
    upstream.finish({ connectionId, browser: of, address: "192.0.2.1", params, at: clock() });

  const begin = async (connectionId: ConnectionId, more: Partial<Start> = {}): Promise<URL> => {
    const begun = await upstream.begin({ connectionId, browser, address: "192.0.2.1", to: path, ...more });
    if ("failure" in begun) throw new Error(begun.failure.code);
    return begun.redirectTo;
  };

  /** Goes to the provider and back, again where fewer scopes are asked. */
  const signIn = async (
    provider: UpstreamProvider,
    connectionId: ConnectionId,
    more: Partial<Start> = {},
  ): Promise<Finished> => {
    let result = await finish(connectionId, await provider.visit(await begin(connectionId, more)));
    while (result.kind === "again") result = await finish(connectionId, await provider.visit(result.redirectTo));
    return result;
  };

  /** The code of a failure, or what came instead. */
  const codeOf = async (result: Finished | Promise<Finished>): Promise<string> => {
    const finished = await result;
    return finished.kind === "failed" ? finished.failure.code : finished.kind;
  };

  /**
   * Signs in once with each of the claims, by accounts whose latest sign-ins are all kept.
   * Two accounts can have the same place in that list: then it begins again with other accounts.
   */
  const signInApart = async (
    provider: UpstreamProvider,
    connectionId: ConnectionId,
    all: Record<string, unknown>[],
  ): Promise<void> => {
    const { upstreamLink, upstreamRecentSignIn } = db.prisma;
    const where = { connectionId };
    do {
      await upstreamRecentSignIn.deleteMany({ where });
      await upstreamLink.deleteMany({ where });
      for (const claims of all) {
        provider.account = randomUUID();
        provider.claims[provider.account] = claims;
        const code = await codeOf(signIn(provider, connectionId));
        if (code !== "signed_in") throw new Error(code);
      }
    } while ((await upstreamRecentSignIn.count({ where })) < all.length);
  };

  /** A set-up link that this browser has opened. */
  const openLink = async (connectionId: ConnectionId): Promise<SetUpLinkId> => {
    const origin = { at: clock(), actorId: "test" };
    const { token } = await withPrismaTransaction(db, (tx) => createSetUpLinkIn(tx, { connectionId, days: 1 }, origin));
    const link = await openSetUpLink(db, { token, browser, at: clock() });
    return link!.id;
  };

  return { upstream, browser, connect, begin, finish, signIn, signInApart, codeOf, openLink, context };
}
