import type { SchoolId } from "../directory/index.ts";
import {
  findSetUpLink,
  openSetUpLink,
  type Begun,
  type ConnectionId,
  type SetUpLink,
  type SetUpLinkId,
  type Upstream,
} from "../upstream/index.ts";
import type { AdminDeps } from "./handler.ts";

/** The pages of the IT contact. */
export const setUpPath = "/set-up";

/** The IT contact of a school in the browser that opened the set-up link. */
export type SetUpCaller = {
  setUpLinkId: SetUpLinkId;
  connectionId: ConnectionId;
  schoolId: SchoolId;
  expiresAt: Date;
};

export const setUpActor = (setUpLinkId: string): string => `set-up-link:${setUpLinkId}`;

/** `browser` is the secret in the cookie of this browser; null looks the same for every link that it may not use. */
export type SetUp = {
  /** Binds the link to the first browser. */
  open(opened: { token: string; browser: string }): Promise<SetUpCaller | null>;
  find(opened: { id: string; browser: string }): Promise<SetUpCaller | null>;
  startTest(opened: { id: string; browser: string; address: string }): Promise<Begun | null>;
};

const callerOf = (link: SetUpLink | null): SetUpCaller | null =>
  link && {
    setUpLinkId: link.id,
    connectionId: link.connectionId,
    schoolId: link.schoolId,
    expiresAt: link.expiresAt,
  };

type Deps = Pick<AdminDeps, "db" | "clock"> & { upstream: Pick<Upstream, "begin"> };

export function makeSetUp({ db, clock, upstream }: Deps): SetUp {
  const find: SetUp["find"] = async ({ id, browser }) =>
    callerOf(await findSetUpLink(db, { id: id as SetUpLinkId, browser, at: clock() }));
  return {
    open: async ({ token, browser }) => callerOf(await openSetUpLink(db, { token, browser, at: clock() })),
    find,
    async startTest({ id, browser, address }) {
      const caller = await find({ id, browser });
      if (caller === null) return null;
      const { connectionId, setUpLinkId: test } = caller;
      return upstream.begin({ connectionId, browser, address, to: { test } });
    },
  };
}
