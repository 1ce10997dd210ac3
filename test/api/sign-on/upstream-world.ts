import { randomUUID } from "node:crypto";
import { beforeAll } from "vitest";
import type { PersonId, SchoolId } from "../../../src/directory/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { giveRole, type StaffRoleName } from "../../../src/staff/index.ts";
import { putWayInIn, type ConnectionId, type NewConnection } from "../../../src/upstream/index.ts";
import type { Shown } from "../../support/browser.ts";
import { makeTestClock } from "../../support/service.ts";
import {
  connectSchool,
  makeTravellingBrowser,
  signInThere,
  type TravellingBrowser,
} from "../../support/upstream-browser.ts";
import { startUpstreamProvider, type UpstreamProvider } from "../../support/upstream-provider.ts";
import { startWorld, type World } from "./world.ts";

export type ConnectedSchool = { school: SchoolId; linkName: string; connectionId: ConnectionId };

export type UpstreamWorld = World & {
  provider: UpstreamProvider;
  /** A school with a login of its own and a link. */
  connect(wishes?: Partial<NewConnection> & { localPasswords?: boolean }): Promise<ConnectedSchool>;
  /** A person of the school with an account at the provider, who signs in there from now on. */
  makePupil(of: { school: SchoolId; role?: "STUDENT" | "TEACHER" }): Promise<{ personId: PersonId; sub: string }>;
  giveStaffRole(personId: PersonId, role: StaffRoleName, schoolIds?: SchoolId[]): Promise<void>;
  openBrowser(): TravellingBrowser;
};

/** A service and a provider on this machine. */
export function startUpstreamWorld(env: Record<string, string> = {}): UpstreamWorld {
  const world = startWorld(
    { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", ...env },
    makeTestClock(new Date()),
  ) as UpstreamWorld;
  beforeAll(async () => {
    const provider = await startUpstreamProvider();
    const { service, make } = world;
    const { db } = service;
    Object.assign(world, {
      provider,
      async connect({ localPasswords = true, ...wishes } = {}) {
        const school = wishes.schoolId ?? (await make.school());
        const connectionId = await connectSchool(service, provider, { school, ...wishes });
        const linkName = `school-${randomUUID()}`;
        const origin = { at: service.clock() };
        await withPrismaTransaction(db, (tx) => putWayInIn(tx, { schoolId: school, linkName, localPasswords }, origin));
        return { school, linkName, connectionId };
      },
      async makePupil({ school, role = "STUDENT" }) {
        const personId = await make.person({ school, role });
        const sourceSystemIdentifier = randomUUID();
        await db.prisma.person.update({ where: { id: personId }, data: { sourceSystemIdentifier } });
        return { personId, sub: signInThere(provider, { import_id: sourceSystemIdentifier }) };
      },
      async giveStaffRole(personId, role, schoolIds = []) {
        const given = { role, holder: { personId }, schoolIds };
        const origin = { at: service.clock() };
        await withPrismaTransaction(db, (tx) => giveRole(tx, given, { giver: null, origin }));
      },
      openBrowser: () => makeTravellingBrowser(service, provider),
    } satisfies Omit<UpstreamWorld, keyof World>);
  });
  return world;
}

/** Presses the button of the login that the school has elsewhere. */
export const pressLogin = (
  browser: TravellingBrowser,
  page: Shown,
  { connectionId }: Pick<ConnectedSchool, "connectionId">,
  fields: Record<string, string> = {},
): Promise<Shown> => browser.submit(page, "/upstream", { connection: connectionId, ...fields });

export const headingOf = ({ html }: Pick<Shown, "html">): string | undefined => /<h1>([^<]*)</.exec(html)?.[1];

/** The address where a browser ended, without its query. */
export const placeOf = ({ url }: Pick<Shown, "url">): string => new URL(url).pathname;
