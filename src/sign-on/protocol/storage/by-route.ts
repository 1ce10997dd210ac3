import type { Clock } from "../../../platform/clock.ts";
import type { PrismaDb } from "../../../platform/database/db.ts";
import { findRequest } from "./request.ts";
import { makeStore, type Store } from "./store.ts";

type Shares = { signOn: PrismaDb; tokens: PrismaDb };

const isAtTokenEndpoint = (): boolean => findRequest()?.isAtTokenEndpoint === true;

/** The token endpoint has its own connections. Read `pool` and `prisma` at each use. */
export function makeDbByRoute({ signOn, tokens }: Shares): PrismaDb {
  const share = () => (isAtTokenEndpoint() ? tokens : signOn);
  return {
    get pool() {
      return share().pool;
    },
    get prisma() {
      return share().prisma;
    },
  };
}

export function makeStoreByRoute({ signOn, tokens }: Shares, clock: Clock): Store {
  const [store, tokenStore] = [makeStore(signOn, clock), makeStore(tokens, clock)];
  const byRoute =
    <Asked, Answer>(pick: (from: Store) => (asked: Asked) => Promise<Answer>) =>
    (asked: Asked): Promise<Answer> =>
      pick(isAtTokenEndpoint() ? tokenStore : store)(asked);
  return {
    findArtifact: byRoute(({ findArtifact }) => findArtifact),
    findSession: byRoute(({ findSession }) => findSession),
    findInteraction: byRoute(({ findInteraction }) => findInteraction),
    findToken: byRoute(({ findToken }) => findToken),
    findApp: byRoute(({ findApp }) => findApp),
    findRight: byRoute(({ findRight }) => findRight),
    findDecisions: byRoute(({ findDecisions }) => findDecisions),
    put: byRoute(({ put }) => put),
    useToken: byRoute(({ useToken }) => useToken),
  };
}
